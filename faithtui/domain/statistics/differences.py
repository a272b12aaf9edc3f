"""How far the judge's scores lie from people's: bias, spread and size of the differences.

Differences are the judge's score minus people's. Windows of one conversation overlap, so intervals
leave out whole conversations.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.intervals import Scale, estimate

MULTIPLIER = 1.96
"""Standard deviations between the mean and the limits of agreement."""

Readings = Iterable[tuple[str, float, float]]
"""(conversation, judge's score, people's score) of each unit."""

_Moments = tuple[int, float, float]
"""Number, sum and sum of squares."""

_Figure = Callable[[int, float, float], Point]
"""What is computed from them."""


def mean_difference(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the mean of first minus second value; undefined without pairs."""
    return math.fsum(a - b for a, b in pairs) / len(pairs) if pairs else Reason.NO_ITEMS


def sd_difference(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the standard deviation of first minus second value, divisor n - 1.

    Undefined for less than two pairs.
    """
    return _sd(*_moments([a - b for a, b in pairs]))


def limits_of_agreement(
    pairs: Sequence[tuple[float, float]], multiplier: float = MULTIPLIER
) -> tuple[float, float] | Reason:
    """Compute the mean difference minus and plus some standard deviations.

    Source:
        Bland & Altman 1986, Lancet i:307-310.
    """
    mean, sd = mean_difference(pairs), sd_difference(pairs)
    if isinstance(mean, Reason):
        return mean
    if isinstance(sd, Reason):
        return sd
    return mean - multiplier * sd, mean + multiplier * sd


def mean_absolute_error(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute the mean size of first minus second value; undefined without pairs."""
    return math.fsum(abs(a - b) for a, b in pairs) / len(pairs) if pairs else Reason.NO_ITEMS


def bias_estimate(readings: Readings, level: float = LEVEL) -> Estimate:
    """Estimate the mean difference."""
    return _estimate(_parts(readings), lambda n, total, _: _mean(n, total), level)


def mean_estimate(readings: Readings, level: float = LEVEL) -> Estimate:
    """Estimate the weighted mean of (conversation, value, weight above 0)."""
    by_group: dict[str, list[tuple[float, float]]] = {}
    for group, value, weight in readings:
        by_group.setdefault(group, []).append((value, weight))
    parts = [
        (math.fsum(value * by for value, by in rows), math.fsum(by for _, by in rows), len(rows))
        for _, rows in sorted(by_group.items())
    ]
    total, whole = math.fsum(part[0] for part in parts), math.fsum(part[1] for part in parts)
    last = len(parts) == 1
    left_out: list[tuple[Point, int]] = [
        (Reason.NO_ITEMS if last else (total - value) / (whole - weight), 1)
        for value, weight, _ in parts
    ]
    n = sum(size for *_, size in parts)
    mean: Point = total / whole if parts else Reason.NO_ITEMS
    return estimate(mean, left_out, Scale.NATURAL, n=n, level=level)


def mae_estimate(readings: Readings, level: float = LEVEL) -> Estimate:
    """Estimate the mean size of the differences."""
    sizes = ((group, abs(judge - human), 0.0) for group, judge, human in readings)
    return bias_estimate(sizes, level)


def _parts(readings: Readings) -> list[_Moments]:
    """Add up the differences of each conversation."""
    by_group: dict[str, list[float]] = {}
    for group, judge, human in readings:
        by_group.setdefault(group, []).append(judge - human)
    return [_moments(differences) for _, differences in sorted(by_group.items())]


def _estimate(parts: Sequence[_Moments], compute: _Figure, level: float) -> Estimate:
    """Estimate a figure of number, sum and sum of squares of the differences."""
    n = sum(part[0] for part in parts)
    total, squares = math.fsum(part[1] for part in parts), math.fsum(part[2] for part in parts)
    left_out = [(compute(n - part[0], total - part[1], squares - part[2]), 1) for part in parts]
    return estimate(compute(n, total, squares), left_out, Scale.NATURAL, n=n, level=level)


def _moments(values: Sequence[float]) -> _Moments:
    return len(values), math.fsum(values), math.fsum(value * value for value in values)


def _mean(n: int, total: float) -> Point:
    return total / n if n else Reason.NO_ITEMS


def _sd(n: int, total: float, squares: float) -> Point:
    if n < 2:
        return Reason.NO_VARIATION if n else Reason.NO_ITEMS
    return math.sqrt(max(0.0, squares - total * total / n) / (n - 1))
