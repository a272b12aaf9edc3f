"""Intervals for figures over units that come in groups.

Claims of one conversation resemble each other, so an interval that treats them as independent is
too narrow. Here whole groups are left out, one at a time: deterministic, no seed, no resampling.

Source: delete-one-group jackknife as in Efron & Stein 1981 (Annals of Statistics 9:586-596),
computed on the logit scale for shares and on the atanh scale for kappa-type figures, where it
keeps its promised coverage from about ten groups on.
"""

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from statistics import NormalDist

from faithtui.domain.estimates import (
    LEVEL,
    Estimate,
    Method,
    Point,
    Reason,
    Status,
    undefined,
    withheld,
)

FEWEST_GROUPS = 5
"""Below this the leave-one-out values say nothing reliable about their spread."""

_SAME = 1e-12
"""Differences below this are rounding."""


class Scale(StrEnum):
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


def wilson(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
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


def jackknife_se(left_out: Sequence[tuple[float, int]]) -> float:
    """Compute a standard error from the values without one group.

    Args:
        left_out: Pairs of a value and how many groups give just this value when left out; two
            groups or more in all.

    Returns:
        sqrt((G - 1) / G * sum of squared distances from their mean), G groups.
    """
    groups = sum([times for _, times in left_out])
    mean = math.fsum([value * times for value, times in left_out]) / groups
    spread = math.fsum([times * (value - mean) ** 2 for value, times in left_out])
    return math.sqrt((groups - 1) / groups * spread)


def jackknife_interval(
    value: float,
    left_out: Sequence[tuple[float, int]],
    scale: Scale,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Make an interval around a value from the values without one group.

    Args:
        value: The figure over all groups.
        left_out: As for `jackknife_se`.
        scale: Where standard error and ends are computed.
        level: Confidence level in (0, 1).

    Returns:
        Lower and upper end on the natural scale: value +- t * se with G - 1 degrees of freedom on
        `scale`, transformed back. Values are clipped before (shares to 0.0001..0.9999, kappa-type
        figures to -0.999..0.999); if that moves the value itself, the ends are widened to include
        it.
    """
    there, _ = _TRANSFORMS[scale]
    return _around(value, [(there(each), times) for each, times in left_out], scale, level)


def _around(
    value: float, moved: Sequence[tuple[float, int]], scale: Scale, level: float
) -> tuple[float, float]:
    """Make an interval from values that are on the scale already."""
    there, back = _TRANSFORMS[scale]
    groups = sum([times for _, times in moved])
    half = t_quantile(level, groups - 1) * jackknife_se(moved)
    centre = there(value)
    return min(value, back(centre - half)), max(value, back(centre + half))


def estimate(
    value: Point,
    left_out: Sequence[tuple[Point, int]],
    scale: Scale,
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
        left_out: Per group that enters the figure, the figure without it; groups that give the
            same value may be put together (value, how many groups).
        scale: What kind of figure it is.
        n: Units that entered.
        level: Confidence level in (0, 1).
        fewest: Groups an interval takes, at least 2.
    """
    groups = sum([times for _, times in left_out])
    if isinstance(value, Reason):
        return undefined(value, n, groups)
    if scale is Scale.ATANH and abs(value) >= 1 - _SAME:
        return withheld(Reason.NO_VARIATION, n, groups)
    known = [(each, times) for each, times in left_out if not isinstance(each, Reason)]
    if groups < fewest or len(known) < len(left_out):
        return Estimate(value, Status.OK, n, groups, Reason.TOO_FEW_CLUSTERS)
    there, _ = _TRANSFORMS[scale]
    moved = [(there(each), times) for each, times in known]
    # On a scale without ends, one group that holds all there is would be infinitely far away.
    at_an_end = _at_an_end([value, *_values(known)], scale)
    if max(moved)[0] - min(moved)[0] > _SAME and not at_an_end:
        method = _METHODS[scale]
        low, high = _around(value, moved, scale, level)
        se: float | None = jackknife_se(known)
    elif scale is Scale.LOGIT:
        method, se = Method.WILSON, None
        low, high = wilson(value, groups, level)
    elif scale is Scale.ATANH and at_an_end:
        method, se = Method.WILSON, None
        low, high = (2 * end - 1 for end in wilson((1 + value) / 2, groups, level))
    elif scale is Scale.NATURAL:
        return Estimate(value, Status.OK, n, groups, Reason.NO_VARIATION)
    else:
        return withheld(Reason.NO_VARIATION, n, groups)
    return Estimate(
        value,
        Status.OK,
        n,
        groups,
        ci_low=low,
        ci_high=high,
        level=level,
        method=method,
        se=se,
    )


def _at_an_end(values: Sequence[float], scale: Scale) -> bool:
    """Say whether a value is where its scale has no number for it."""
    match scale:
        case Scale.LOGIT:
            return min(values) <= 0 or max(values) >= 1
        case Scale.ATANH:
            return max(map(abs, values)) >= 1 - _SAME
        case Scale.NATURAL:
            return False


def _values(known: Sequence[tuple[float, int]]) -> list[float]:
    return [value for value, _ in known]


def _logit(share: float) -> float:
    inside = 0.0001 if share < 0.0001 else min(share, 0.9999)
    return math.log(inside / (1 - inside))


def _expit(value: float) -> float:
    # tanh does not overflow where exp would.
    return (1 + math.tanh(value / 2)) / 2


def _atanh(value: float) -> float:
    return math.atanh(-0.999 if value < -0.999 else min(value, 0.999))


_TRANSFORMS: dict[Scale, tuple[Callable[[float], float], Callable[[float], float]]] = {
    Scale.LOGIT: (_logit, _expit),
    Scale.ATANH: (_atanh, math.tanh),
    Scale.NATURAL: (float, float),
}
_METHODS = {
    Scale.LOGIT: Method.JACKKNIFE_LOGIT,
    Scale.ATANH: Method.JACKKNIFE_ATANH,
    Scale.NATURAL: Method.JACKKNIFE,
}
