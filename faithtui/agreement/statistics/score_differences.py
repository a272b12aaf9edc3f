"""How far the judge's scores lie from people's: bias, spread and size of the differences.

Differences are the judge's score minus people's. Windows of one conversation overlap, so intervals
leave out whole conversations.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.agreement.statistics.packing import packed_kinds, spans_of
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason

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


def mean_estimate(
    groups: Sequence[str],
    places: Sequence[int],
    values: Sequence[tuple[float, float]],
    level: float = LEVEL,
) -> Estimate:
    """Estimate a weighted mean, leaving out one group at a time.

    Args:
        groups: Of each unit.
        places: Of each unit's value, among the values.
        values: The different values, each with its weight above 0.
        level: Confidence level in (0, 1).
    """
    parts = [
        (
            math.fsum(count * value * by for (value, by), count in held),
            math.fsum(count * by for (_, by), count in held),
            times,
        )
        for held, times in _kinds(groups, places, values)
    ]
    total = math.fsum(times * value for value, _, times in parts)
    whole = math.fsum(times * weight for _, weight, times in parts)
    last = sum(times for *_, times in parts) == 1
    left_out: list[tuple[Point, int]] = [
        (Reason.NO_ITEMS if last else (total - value) / (whole - weight), times)
        for value, weight, times in parts
    ]
    mean: Point = total / whole if parts else Reason.NO_ITEMS
    return estimate(mean, left_out, Scale.NATURAL, n=len(places), level=level)


_Held = Sequence[tuple[tuple[float, float], int]]
"""Values of a group, and how often it has each."""
_MOST_PLACES = 64
"""Different values up to which a group is a count of each."""


def _kinds(
    groups: Sequence[str], places: Sequence[int], values: Sequence[tuple[float, float]]
) -> list[tuple[_Held, int]]:
    """Give what the different groups hold, and how many groups hold that."""
    if len(values) <= _MOST_PLACES:
        packed = sorted(packed_kinds(spans_of(groups), places, len(values)).items())
        return [
            ([each for each in zip(values, counts, strict=True) if each[1]], times)
            for counts, times in packed
        ]
    by_group: dict[str, list[int]] = defaultdict(list)
    for group, place in zip(groups, places, strict=True):
        by_group[group].append(place)
    kinds = Counter(tuple(sorted(held)) for held in by_group.values())
    return [
        ([(values[place], count) for place, count in Counter(held).items()], times)
        for held, times in sorted(kinds.items())
    ]


def mae_estimate(readings: Readings, level: float = LEVEL) -> Estimate:
    """Estimate the mean size of the differences."""
    sizes = ((group, abs(judge - human), 0.0) for group, judge, human in readings)
    return bias_estimate(sizes, level)


def _parts(readings: Readings) -> list[tuple[_Moments, int]]:
    """Add up the differences of each conversation; those that are alike are counted."""
    by_group: dict[str, list[float]] = defaultdict(list)
    for group, judge, human in readings:
        by_group[group].append(judge - human)
    kinds = Counter(tuple(sorted(differences)) for differences in by_group.values())
    return [(_moments(differences), times) for differences, times in sorted(kinds.items())]


def _estimate(parts: Sequence[tuple[_Moments, int]], compute: _Figure, level: float) -> Estimate:
    """Estimate a figure of number, sum and sum of squares of the differences."""
    n = sum(times * size for (size, _, _), times in parts)
    total = math.fsum(times * value for (_, value, _), times in parts)
    squares = math.fsum(times * square for (_, _, square), times in parts)
    left_out = [
        (compute(n - size, total - value, squares - square), times)
        for (size, value, square), times in parts
    ]
    return estimate(compute(n, total, squares), left_out, Scale.NATURAL, n=n, level=level)


def _moments(values: Sequence[float]) -> _Moments:
    return len(values), math.fsum(values), math.fsum(value * value for value in values)


def _mean(n: int, total: float) -> Point:
    return total / n if n else Reason.NO_ITEMS


def _sd(n: int, total: float, squares: float) -> Point:
    if n < 2:
        return Reason.NO_VARIATION if n else Reason.NO_ITEMS
    return math.sqrt(max(0.0, squares - total * total / n) / (n - 1))
