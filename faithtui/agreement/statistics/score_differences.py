"""Numbers that judge and annotators gave the same units: differences, means and their correlation.

Differences are the judge's score minus the annotators'. Windows of one conversation overlap, so
intervals leave out whole conversations.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from faithtui.agreement.statistics.figures import divide_or_nan
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import (
    Flags,
    Floats,
    Ints,
    number_distinct_keys_by_occurrence,
)
from faithtui.domain.estimates import LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

MULTIPLIER = 1.96
"""Standard deviations between the mean and the limits of agreement."""

ScoredUnits = Sequence[tuple[str, float, float]]
"""(conversation, judge's score, annotators' score) of each unit."""

_NOTHING = 1e-9
"""Weights are 1 or more, so what is below this is rounding."""
_SAME = 1e-12
"""Below this part of the whole a mean square is rounding."""


def mean_difference(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the mean of first minus second value; `NO_ITEMS` without pairs."""
    return math.fsum(a - b for a, b in pairs) / len(pairs) if pairs else WithheldReason.NO_ITEMS


def sd_difference(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the standard deviation of first minus second value, divisor n - 1.

    `NO_ITEMS` without pairs, `NO_VARIATION` for one.
    """
    if len(pairs) < 2:
        return WithheldReason.NO_VARIATION if pairs else WithheldReason.NO_ITEMS
    return float(np.std([a - b for a, b in pairs], ddof=1))


def limits_of_agreement(
    pairs: Sequence[tuple[float, float]], multiplier: float = MULTIPLIER
) -> tuple[float, float] | WithheldReason:
    """Compute the mean difference minus and plus some standard deviations.

    Args:
        pairs: Two values of each unit.
        multiplier: How many standard deviations, at least 0.

    Returns:
        Lower and upper limit; undefined as `sd_difference` is.

    Source:
        Bland & Altman 1986, Lancet i:307-310.
    """
    mean, sd = mean_difference(pairs), sd_difference(pairs)
    if isinstance(mean, WithheldReason):
        return mean
    if isinstance(sd, WithheldReason):
        return sd
    return mean - multiplier * sd, mean + multiplier * sd


def mean_absolute_error(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the mean size of first minus second value; `NO_ITEMS` without pairs."""
    return (
        math.fsum(abs(a - b) for a, b in pairs) / len(pairs) if pairs else WithheldReason.NO_ITEMS
    )


def estimate_bias(units: ScoredUnits, level: float = LEVEL) -> Estimate:
    """Estimate the mean difference, leaving out one conversation at a time."""
    groups, _ = number_distinct_keys_by_occurrence([group for group, *_ in units])
    differences = np.array([judge - human for _, judge, human in units], np.float64)
    return estimate_mean(groups, differences, np.ones(len(units)), level)


def estimate_mae(units: ScoredUnits, level: float = LEVEL) -> Estimate:
    """Estimate the mean size of the differences, leaving out one conversation at a time."""
    return estimate_bias([(group, abs(judge - human), 0.0) for group, judge, human in units], level)


def estimate_mean(groups: Ints, values: Floats, weights: Floats, level: float = LEVEL) -> Estimate:
    """Estimate a weighted mean, leaving out one group at a time.

    Args:
        groups: Number of each unit's group, from 0, without gaps; shape (units,).
        values: Of each unit.
        weights: Of each unit, above 0.
        level: Confidence level in (0, 1).
    """
    if not len(values):
        return make_estimate_with_jackknife_interval(
            WithheldReason.NO_ITEMS, (), 1, IntervalScale.NATURAL, n=0, level=level
        )
    sums = np.bincount(groups, weights=values * weights)
    masses = np.bincount(groups, weights=weights)
    total, whole = math.fsum(sums), math.fsum(masses)
    without = np.full(1, np.nan) if len(sums) == 1 else (total - sums) / (whole - masses)
    # Sorted, so that the order of groups does not show in the last digit.
    return make_estimate_with_jackknife_interval(
        total / whole, np.sort(without), 1, IntervalScale.NATURAL, n=len(values), level=level
    )


def estimate_share_difference(
    groups: Ints, is_first: Flags, hits: Flags, weights: Floats, level: float = LEVEL
) -> Estimate:
    """Compare the share of hits among units of a first kind with that among the others.

    Blind against shown: what seeing the judge's verdict does to annotators. Conversations are left
    out whole, with their units of both kinds, so that it does not matter whether the two kinds come
    from the same conversations.

    Args:
        groups: Number of each unit's conversation, from 0; a unit that has both kinds of labels is
            given twice.
        is_first: Whether it is of the first kind.
        hits: Whether it is a hit.
        weights: Above 0.
        level: Confidence level in (0, 1).

    Returns:
        First share minus second, in [-1, 1]; undefined (`NO_ITEMS`) where one kind is missing; `n`
        counts units.
    """
    _, number = np.unique(groups, return_inverse=True)
    count = int(number.max(initial=-1)) + 1
    masses = [np.where(kind, weights, 0.0) for kind in (is_first, ~is_first)]
    sums = np.array(
        [
            np.bincount(number, weights=each, minlength=count)
            for mass in masses
            for each in (mass, np.where(hits, mass, 0.0))
        ]
    )
    total = sums.sum(axis=1)
    value = float(_subtract_second_share_from_first(total))
    found = make_estimate_with_jackknife_interval(
        WithheldReason.NO_ITEMS if math.isnan(value) else value,
        np.sort(_subtract_second_share_from_first(total[:, None] - sums)),
        1,
        IntervalScale.NATURAL,
        n=len(groups),
        level=level,
    )
    if found.ci_low is None or found.ci_high is None:
        return found
    # The ends stay where a difference of shares can be.
    return replace(found, ci_low=max(-1.0, found.ci_low), ci_high=min(1.0, found.ci_high))


def _subtract_second_share_from_first(sums: Floats) -> Floats:
    """Subtract the second share from the first.

    Args:
        sums: Weight and weight of the hits of the first kind, then of the second; shape (4, …).
    """
    first, first_hits, second, second_hits = sums
    # What is left of a weight after its last unit is gone is rounding.
    return divide_or_nan(first_hits, np.where(first <= _NOTHING, 0, first)) - divide_or_nan(
        second_hits, np.where(second <= _NOTHING, 0, second)
    )


class IccForm(StrEnum):
    """Which raters and which ratings an intraclass correlation means."""

    ONE_WAY = "1,1"
    """Each unit has raters of its own."""
    ABSOLUTE = "2,1"
    """Raters are a sample; that one rater is stricter counts against them."""
    CONSISTENCY = "3,1"
    """These raters and no others; a constant difference does not count."""
    ONE_WAY_MEAN = "1,k"
    ABSOLUTE_MEAN = "2,k"
    CONSISTENCY_MEAN = "3,k"


def icc(units: Sequence[Sequence[float]], form: IccForm = IccForm.ABSOLUTE) -> Point:
    """Compute an intraclass correlation.

    Args:
        units: The ratings of each unit, one per rater in the same order; complete; shape
            (units, raters).
        form: Which one.

    Returns:
        At most 1, and possibly far below 0. Undefined: `NO_ITEMS` without units, `NO_OVERLAP` with
        one rater, `NO_VARIATION` with one unit or without variation (0/0).

    Source:
        Shrout & Fleiss 1979, Psychological Bulletin 86:420-428, table 4 and page 426.
    """
    if not len(units):
        return WithheldReason.NO_ITEMS
    values = np.asarray(units, dtype=np.float64)
    n, k = values.shape
    if k < 2:
        return WithheldReason.NO_OVERLAP
    middle = values.mean()
    furthest = float(np.abs(values - middle).max())
    if n < 2 or furthest <= _SAME * float(np.abs(values).max()):
        return WithheldReason.NO_VARIATION
    # Measured from the middle and by the furthest value, so that large numbers cost no digits.
    table = (values - middle) / furthest
    between = float((table.sum(axis=1) ** 2).sum()) / k
    raters = float((table.sum(axis=0) ** 2).sum()) / n
    whole = float((table**2).sum())
    bms = between / (n - 1)
    jms = raters / (k - 1)
    wms = max(0.0, whole - between) / (n * (k - 1))
    ems = max(0.0, whole - between - raters) / ((n - 1) * (k - 1))
    match form:
        case IccForm.ONE_WAY:
            above, below = bms - wms, bms + (k - 1) * wms
        case IccForm.ABSOLUTE:
            above, below = bms - ems, bms + (k - 1) * ems + k * (jms - ems) / n
        case IccForm.CONSISTENCY:
            above, below = bms - ems, bms + (k - 1) * ems
        case IccForm.ONE_WAY_MEAN:
            above, below = bms - wms, bms
        case IccForm.ABSOLUTE_MEAN:
            above, below = bms - ems, bms + (jms - ems) / n
        case IccForm.CONSISTENCY_MEAN:
            above, below = bms - ems, bms
    if abs(below) <= _SAME * whole:
        return WithheldReason.NO_VARIATION
    return float(above / below)
