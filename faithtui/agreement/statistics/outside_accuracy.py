"""A rate of positives corrected by a judge's accuracy that was measured elsewhere.

For one calibration that is applied to later runs, where the base rate differs and the judge errs
as before. On the labels of the same run it wastes half of what they tell: `corrected_rate` is for
those. "Positive" is what sensitivity speaks of; here usually an unfaithful claim.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from faithtui.agreement.statistics.intervals import wilson
from faithtui.domain.estimates import (
    LEVEL,
    Estimate,
    Method,
    Point,
    Reason,
    Status,
    undefined,
)

_SAME = 1e-12
"""Differences below this are rounding: 0.4 + 0.6 - 1 is no information."""


@dataclass(frozen=True, slots=True)
class OutsideAccuracy:
    """What a judge found in a run, and how well it did where the truth is known."""

    apparent: float
    """Share the judge called positive, in [0, 1]."""
    tested: int
    sensitivity: float
    """Share of the positives it called positive, in [0, 1]."""
    n_sensitivity: int
    """Positives this was measured on."""
    specificity: float
    """Share of the negatives it called negative, in [0, 1]."""
    n_specificity: int
    """Negatives this was measured on."""


@dataclass(frozen=True, slots=True)
class OutsideRate:
    """A corrected rate, and what to know about it."""

    raw: float | None
    """As the formula gives it: below 0 when the judge flags less than its own false alarms."""
    estimate: Estimate
    """The same, clipped to [0, 1], with its interval."""
    information: tuple[float, float] | None
    """Interval of sensitivity + specificity - 1; None when either was measured on nothing."""

    @property
    def out_of_range(self) -> bool:
        """Whether the raw value is no share."""
        return self.raw is not None and not 0 <= self.raw <= 1

    @property
    def maybe_uninformative(self) -> bool:
        """Whether the judge may be guessing for all that is known: the interval touches 0."""
        return self.information is not None and self.information[0] <= 0 <= self.information[1]


def rogan_gladen(apparent: float, sensitivity: float, specificity: float) -> Point:
    """Correct a share of positives for known sensitivity and specificity.

    Returns:
        Not clipped, so it may lie outside [0, 1]; undefined when the judge is uninformative.

    Source:
        Rogan & Gladen 1978, American Journal of Epidemiology 107:71-76:
        (apparent + specificity - 1) / (sensitivity + specificity - 1).
    """
    information = sensitivity + specificity - 1
    if abs(information) < _SAME:
        return Reason.UNINFORMATIVE_JUDGE
    return (apparent + specificity - 1) / information


def lang_reiczigel(accuracy: OutsideAccuracy, level: float = LEVEL) -> tuple[float, float] | Reason:
    """Make the interval of `rogan_gladen` when sensitivity and specificity are estimates.

    Returns:
        Lower and upper end, clipped to [0, 1]; `NO_ITEMS` when one of the three samples is empty,
        `UNINFORMATIVE_JUDGE` when there is nothing to divide by, before or after the adjustment.

    Source:
        Lang & Reiczigel 2014, Preventive Veterinary Medicine 113:13-22: z² pseudo-items in the run,
        one success and one failure in each accuracy sample, and a shift of the middle.
    """
    if not (accuracy.tested and accuracy.n_sensitivity and accuracy.n_specificity):
        return Reason.NO_ITEMS
    z = NormalDist().inv_cdf((1 + level) / 2)
    tested = accuracy.tested + z * z
    apparent = (accuracy.tested * accuracy.apparent + z * z / 2) / tested
    n_hits, n_rejections = accuracy.n_sensitivity + 2, accuracy.n_specificity + 2
    hits = (accuracy.n_sensitivity * accuracy.sensitivity + 1) / n_hits
    rejections = (accuracy.n_specificity * accuracy.specificity + 1) / n_rejections
    plain = rogan_gladen(accuracy.apparent, accuracy.sensitivity, accuracy.specificity)
    rate = rogan_gladen(apparent, hits, rejections)
    if isinstance(plain, Reason) or isinstance(rate, Reason):
        return Reason.UNINFORMATIVE_JUDGE
    of_hits = hits * (1 - hits) / n_hits
    of_rejections = rejections * (1 - rejections) / n_rejections
    shift = 2 * z * z * (rate * of_hits - (1 - rate) * of_rejections)
    variance = (
        apparent * (1 - apparent) / tested + rate**2 * of_hits + (1 - rate) ** 2 * of_rejections
    )
    half = z * math.sqrt(variance) / abs(hits + rejections - 1)
    return _inside(rate + shift - half), _inside(rate + shift + half)


def outside_rate(accuracy: OutsideAccuracy, level: float = LEVEL) -> OutsideRate:
    """Estimate a rate of positives by an accuracy measured elsewhere, with what to doubt in it."""
    information = _information(accuracy, level)
    ends = lang_reiczigel(accuracy, level)
    raw = rogan_gladen(accuracy.apparent, accuracy.sensitivity, accuracy.specificity)
    if isinstance(ends, Reason) or isinstance(raw, Reason):
        reason = ends if isinstance(ends, Reason) else Reason.UNINFORMATIVE_JUDGE
        return OutsideRate(None, undefined(reason, accuracy.tested), information)
    value = _inside(raw)
    estimate = Estimate(
        value,
        Status.OK,
        accuracy.tested,
        0,
        # The adjusted middle may leave a value at 0 or 1 outside.
        ci_low=min(value, ends[0]),
        ci_high=max(value, ends[1]),
        level=level,
        method=Method.LANG_REICZIGEL,
    )
    return OutsideRate(raw, estimate, information)


def _information(accuracy: OutsideAccuracy, level: float) -> tuple[float, float] | None:
    """Make an interval of sensitivity + specificity - 1.

    Source:
        Newcombe 1998, Statistics in Medicine 17:873-890, method 10, for a sum.
    """
    if not (accuracy.n_sensitivity and accuracy.n_specificity):
        return None
    hits, rejections = accuracy.sensitivity, accuracy.specificity
    low_hits, high_hits = wilson(hits, accuracy.n_sensitivity, level)
    low_rejections, high_rejections = wilson(rejections, accuracy.n_specificity, level)
    middle = hits + rejections - 1
    return (
        middle - math.hypot(hits - low_hits, rejections - low_rejections),
        middle + math.hypot(high_hits - hits, high_rejections - rejections),
    )


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)
