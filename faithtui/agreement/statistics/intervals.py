"""Intervals for figures over units that come in groups.

Claims of one conversation resemble each other, so an interval that treats them as independent is
too narrow. Here whole groups are left out, one at a time: deterministic, no seed, no resampling.

Source: delete-one-group jackknife as in Efron & Stein 1981 (Annals of Statistics 9:586-596),
computed on the logit scale for shares and on the atanh scale for kappa-type figures, where it
keeps its promised coverage from about ten groups on.
"""

import math
from collections import Counter
from enum import StrEnum
from statistics import NormalDist
from typing import assert_never

import numpy as np
import numpy.typing as npt

from faithtui.agreement.statistics.matrices import Floats, GroupedMatrix
from faithtui.domain.estimates import (
    FEWEST_GROUPS,
    LEVEL,
    Estimate,
    EstimateMethod,
    EstimateStatus,
    Point,
    make_undefined_estimate,
    make_withheld_estimate,
)
from faithtui.domain.withheld_reasons import WithheldReason

_SAME = 1e-12
"""Differences below this are rounding."""


class IntervalScale(StrEnum):
    """The scale an interval is made on; it keeps the ends inside the range of the figure."""

    LOGIT = "logit"
    """For shares, [0, 1]."""
    ATANH = "atanh"
    """For chance-corrected figures and correlations, [-1, 1]."""
    NATURAL = "natural"
    """For means and differences: as they are."""


def t_quantile(level: float, df: int) -> float:
    """Give the half-width factor of a two-sided interval: P(|T| <= factor) = level.

    Args:
        level: In (0, 1).
        df: Degrees of freedom, at least 1.

    Returns:
        A positive number; exact for 1 and 2 degrees of freedom, error below 2e-5 from 3 on.

    Source:
        Hill 1970, Algorithm 396, Communications of the ACM 13:619-620.
    """
    tails = 1 - level
    if df == 1:
        return 1 / math.tan(tails * math.pi / 2)
    if df == 2:
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    a = 1 / (df - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * df
    y = (d * tails) ** (2 / df)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(tails / 2)
        y = x * x
        if df < 5:
            c += 0.3 * (df - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = math.expm1(a * y * y)
    else:
        y = (
            (1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y
            - 1
        ) * (df + 1) / (df + 2) + 1 / y
    return math.sqrt(df * y)


def wilson_interval(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Make the score interval of a share, without continuity correction.

    Args:
        share: In [0, 1].
        n: Number of independent trials, at least 1; of weighted ones, of how many equal ones.
        level: Confidence level in (0, 1).

    Returns:
        Lower and upper end, in [0, 1].

    Source:
        Wilson 1927; Newcombe 1998, Statistics in Medicine 17:857-872, method 3.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At 0 and 1 one end is the share itself; rounding may put it a hair beside.
    return min(max(0.0, centre - half), share), max(min(1.0, centre + half), share)


def compute_jackknife_se(left_out: npt.ArrayLike, times: npt.ArrayLike = 1) -> float:
    """Compute a standard error from the values without one group.

    Args:
        left_out: A value per group, or per kind of group.
        times: How many groups give just this value when left out; two groups or more in all.

    Returns:
        sqrt((G - 1) / G * sum of squared distances from their mean), G groups.

    Source:
        Efron & Stein 1981, Annals of Statistics 9:586-596.
    """
    values = np.asarray(left_out, dtype=np.float64)
    weights = np.broadcast_to(np.asarray(times), values.shape)
    groups = weights.sum()
    mean = weights @ values / groups
    return math.sqrt((groups - 1) / groups * (weights @ (values - mean) ** 2))


def make_jackknife_interval(
    value: float,
    left_out: npt.ArrayLike,
    times: npt.ArrayLike,
    scale: IntervalScale,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Make an interval around a value from the values without one group.

    Args:
        value: The figure over all groups.
        left_out: As for `compute_jackknife_se`.
        times: As for `compute_jackknife_se`.
        scale: Where standard error and ends are computed.
        level: Confidence level in (0, 1).

    Returns:
        Lower and upper end on the natural scale: value +- t * se with G - 1 degrees of freedom on
        `scale`, transformed back. Values are clipped before (shares to 0.0001..0.9999, kappa-type
        figures to -0.999..0.999); if that moves the value itself, the ends are widened to include
        it.
    """
    moved = _transform_values_to_scale(np.asarray(left_out, dtype=np.float64), scale)
    weights = np.broadcast_to(np.asarray(times), moved.shape)
    return _make_interval_on_scale(value, moved, weights, scale, level)


def _make_interval_on_scale(
    value: float, moved: Floats, times: npt.NDArray[np.int64], scale: IntervalScale, level: float
) -> tuple[float, float]:
    """Make an interval from values that are on the scale already."""
    half = t_quantile(level, int(times.sum()) - 1) * compute_jackknife_se(moved, times)
    centre = float(_transform_values_to_scale(np.float64(value), scale))
    low, high = centre - half, centre + half
    match scale:
        case IntervalScale.LOGIT:
            # tanh does not overflow where exp would.
            low, high = (1 + math.tanh(low / 2)) / 2, (1 + math.tanh(high / 2)) / 2
        case IntervalScale.ATANH:
            low, high = math.tanh(low), math.tanh(high)
        case IntervalScale.NATURAL:
            pass
    return min(value, low), max(value, high)


def make_estimate_with_jackknife_interval(
    value: Point,
    left_out: npt.ArrayLike,
    times: npt.ArrayLike,
    scale: IntervalScale,
    *,
    n: int,
    level: float = LEVEL,
    fewest: int = FEWEST_GROUPS,
) -> Estimate:
    """Put a figure and its interval together, or say why one of them is not there.

    - No value: undefined, with the value's reason.
    - Fewer than `fewest` groups, or a figure that one group alone decides (it is undefined without
      that group): the point estimate only, `too_few_clusters`.
    - A share of 0 or 1, or one that is 0 or 1 without one of its groups, or leave-one-out values
      that are all equal: Wilson over the *groups*, as if each were one trial; conservative.
    - A kappa-type figure that is 1 or -1 without one of its groups, which holds all there is of
      disagreement: the same of (1 + value) / 2, moved back. On a scale without ends that group
      would be infinitely far away, and the interval would be nearly everything.
    - A kappa-type figure of 1 or -1, or with leave-one-out values that are all equal, is withheld,
      `no_variation`: there is nothing to make an interval from, and "1.00 [1.00, 1.00]" would say
      the opposite of what is known. A mean or a difference keeps its value, without an interval.
    - Otherwise the jackknife.

    Args:
        value: The figure over all groups.
        left_out: Per group that enters the figure, the figure without it, NaN where it is then
            undefined; groups that give the same value may be put together.
        times: How many groups each value is of.
        scale: What kind of figure it is.
        n: Units that entered.
        level: Confidence level in (0, 1).
        fewest: Groups an interval takes, at least 2.
    """
    values = np.asarray(left_out, dtype=np.float64)
    weights = np.broadcast_to(np.asarray(times, dtype=np.int64), values.shape)
    groups = int(weights.sum())
    if isinstance(value, WithheldReason):
        return make_undefined_estimate(value, n, groups)
    if scale is IntervalScale.ATANH and abs(value) >= 1 - _SAME:
        return make_withheld_estimate(WithheldReason.NO_VARIATION, n, groups)
    if groups < fewest:
        return Estimate(value, EstimateStatus.OK, n, groups, WithheldReason.TOO_FEW_CLUSTERS)
    lowest, highest = float(values.min()), float(values.max())  # NaN where one of them is
    if lowest != lowest:
        return Estimate(value, EstimateStatus.OK, n, groups, WithheldReason.TOO_FEW_CLUSTERS)
    moved = _transform_values_to_scale(values, scale)
    # On a scale without ends, one group that holds all there is would be infinitely far away.
    at_an_end = _is_at_scale_end(min(value, lowest), max(value, highest), scale)
    se: float | None = None
    if float(moved.max() - moved.min()) > _SAME and not at_an_end:
        method = _METHODS[scale]
        low, high = _make_interval_on_scale(value, moved, weights, scale, level)
        se = compute_jackknife_se(values, weights)
    elif scale is IntervalScale.LOGIT:
        method = EstimateMethod.WILSON
        low, high = wilson_interval(value, groups, level)
    elif scale is IntervalScale.ATANH and at_an_end:
        method = EstimateMethod.WILSON
        low, high = (2 * end - 1 for end in wilson_interval((1 + value) / 2, groups, level))
    elif scale is IntervalScale.NATURAL:
        return Estimate(value, EstimateStatus.OK, n, groups, WithheldReason.NO_VARIATION)
    else:
        return make_withheld_estimate(WithheldReason.NO_VARIATION, n, groups)
    return Estimate(
        value,
        EstimateStatus.OK,
        n,
        groups,
        ci_low=low,
        ci_high=high,
        level=level,
        method=method,
        se=se,
    )


def _is_at_scale_end(lowest: float, highest: float, scale: IntervalScale) -> bool:
    """Say whether a value is where its scale has no number for it."""
    match scale:
        case IntervalScale.LOGIT:
            return lowest <= 0 or highest >= 1
        case IntervalScale.ATANH:
            return max(-lowest, highest) >= 1 - _SAME
        case IntervalScale.NATURAL:
            return False
        case _:
            assert_never(scale)


def _transform_values_to_scale(values: npt.ArrayLike, scale: IntervalScale) -> Floats:
    """Move values to the scale, those too near to an end being clipped before."""
    match scale:
        case IntervalScale.LOGIT:
            inside = np.minimum(np.maximum(values, 0.0001), 0.9999)
            return np.asarray(np.log(inside / (1 - inside)))
        case IntervalScale.ATANH:
            return np.asarray(np.arctanh(np.minimum(np.maximum(values, -0.999), 0.999)))
        case IntervalScale.NATURAL:
            return np.asarray(values, dtype=np.float64)
        case _:
            assert_never(scale)


_METHODS = {
    IntervalScale.LOGIT: EstimateMethod.JACKKNIFE_LOGIT,
    IntervalScale.ATANH: EstimateMethod.JACKKNIFE_ATANH,
    IntervalScale.NATURAL: EstimateMethod.JACKKNIFE,
}


def compute_linearised_agreement_se(groups: GroupedMatrix) -> Point:
    """Compute the standard error of percent agreement, taking whole groups as drawn.

    Args:
        groups: Whose units all weigh the same.

    Returns:
        sqrt(G / (G - 1) * sum (a_g - r n_g)²) / n, a_g of n_g units of a group agreeing and r of
        all; undefined without units and for one group.

    Source:
        Cochran, Sampling Techniques (1977), 2.9 and 9A.1: a ratio of two totals.
    """
    own, n, count = groups.unweighted_by_group, groups.unweighted_total.n, groups.group_count
    if not n:
        return WithheldReason.NO_ITEMS
    if count < 2:
        return WithheldReason.NO_VARIATION
    spread = groups.times @ (own.agreed - groups.unweighted_total.agreed_count / n * own.n) ** 2
    return math.sqrt(count / (count - 1) * spread) / n


def enumerate_agreement_bootstrap(groups: GroupedMatrix) -> tuple[float, float] | WithheldReason:
    """Compute mean and standard error of percent agreement over all resamples of the groups.

    What the drawn bootstrap approaches.

    Args:
        groups: Whose units all weigh the same.

    Returns:
        Mean and standard deviation over the G^G equally likely resamples of G groups; `NO_ITEMS`
        without groups.

    Source:
        Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 6.4, the ideal
        bootstrap. Enumerated by sums instead of by resamples: many resamples have the same.
    """
    count = groups.group_count
    if not count:
        return WithheldReason.NO_ITEMS
    types = Counter[tuple[int, int]]()
    for agreed, n, times in zip(
        groups.unweighted_by_group.agreed, groups.unweighted_by_group.n, groups.times, strict=True
    ):
        types[int(agreed), int(n)] += int(times)
    sums = Counter({(0, 0): 1})
    for _ in range(count):
        drawn = Counter[tuple[int, int]]()
        for (agreed, n), ways in sums.items():
            for (more_agreed, more), times in types.items():
                drawn[agreed + more_agreed, n + more] += ways * times
        sums = drawn
    # Divided as whole numbers: G^G soon leaves the range of floats.
    everything = count**count
    shares = [(agreed / n, ways / everything) for (agreed, n), ways in sums.items()]
    mean = math.fsum(share * chance for share, chance in shares)
    spread = math.fsum(chance * (share - mean) ** 2 for share, chance in shares)
    return mean, math.sqrt(spread)
