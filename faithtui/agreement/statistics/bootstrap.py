"""The cluster bootstrap: as many conversations drawn again, with replacement, many times.

A second opinion beside the jackknife. The same seed gives the same interval, in each of the two
ways of drawing: with numpy where it is installed and there are many conversations, else in plain
Python.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from operator import mul
from typing import Self

from faithtui.agreement.statistics.jackknife import Statistic, measures
from faithtui.agreement.statistics.table_groups import (
    Grouped,
    ReadableT,
    WholeT,
    collapsed_groups,
    collapsed_parts,
    read,
)
from faithtui.domain.estimates import LEVEL, Estimate, Method, Reason

RESAMPLES = 2_000

_CELLS = 500_000
"""Numbers held at a time, about 12 MB with their copies."""
_READ_TOGETHER = 100
"""Resamples that are read at once."""
_NUMPY_FROM = 250
"""Groups from which drawing in plain Python takes longer than importing numpy."""
_FEW_KINDS = 16
"""Drawing a kind's number costs about as much as drawing this many single groups."""
_EXPECTED = 16
"""Heads that are counted one by one; more are split first."""
_DEFINED = 0.95
"""Share of the resamples that must have a value for an interval."""


def has_numpy() -> bool:
    """Say whether resamples can be drawn with numpy."""
    return find_spec("numpy") is not None


def resampled(
    groups: Grouped[WholeT], *, resamples: int, seed: int, with_numpy: bool
) -> Iterator[Sequence[float]]:
    """Draw as many groups as there are, with replacement, many times.

    Args:
        groups: At least one.
        resamples: How many times.
        seed: Decides all draws.
        with_numpy: Needs numpy; the draws are others than in plain Python.

    Yields:
        The parts of each resample's total.

    Source:
        Efron 1979, Annals of Statistics 7:1-26, with conversations as what is drawn.
    """
    return (_with_numpy if with_numpy else _plain)(groups, resamples, seed)


@lru_cache(maxsize=1)
def _totals(
    groups: Grouped[WholeT], resamples: int, seed: int, with_numpy: bool
) -> Sequence[Sequence[float]]:
    """Draw resamples; the figures of a level are read off the same ones."""
    return tuple(resampled(groups, resamples=resamples, seed=seed, with_numpy=with_numpy))


def bootstrap_measures(
    statistics: Mapping[str, Statistic],
    groups: Grouped[ReadableT],
    positive: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
    with_numpy: bool | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, Estimate]:
    """Estimate figures with percentile intervals over resamples of the groups.

    Where the jackknife gives no interval or Wilson's, for too few groups or no variation, its
    answer stands: resampling cannot know more.

    Args:
        statistics: Figures by name; all are read off the same resamples.
        groups: Groups of counted, weighted or stratified tables.
        positive: Labels that are put together, and all the others too; None: all stay apart. The
            resamples are the same ones.
        resamples: How many.
        seed: Decides the draws.
        level: Confidence level in (0, 1).
        with_numpy: Draw with numpy or without; None: with it where it is installed and there are
            so many groups that importing it pays.
        on_progress: Told now and then how many resamples are done.

    Returns:
        An estimate by name. A figure that more than one in twenty resamples leaves undefined has
        no interval, `too_few_clusters`.

    Source:
        Efron & Tibshirani, An Introduction to the Bootstrap (1993), 13.3: percentile interval.
    """
    shown = groups if positive is None else Grouped(*collapsed_groups(groups, positive))
    found = measures(statistics, shown, level)
    values: dict[str, list[float]] = {
        name: [] for name, each in found.items() if each.method not in (None, Method.WILSON)
    }
    if not values:
        return found
    use_numpy = with_numpy
    if use_numpy is None:
        use_numpy = groups.groups >= _NUMPY_FROM and has_numpy()
    totals = _totals(groups, resamples, seed, use_numpy)
    for first in range(0, resamples, _READ_TOGETHER):
        drawn = totals[first : first + _READ_TOGETHER]
        if positive is not None:
            drawn = collapsed_parts(groups.total, drawn, positive)
        cells = list(read(shown.total, drawn))
        for name, known in values.items():
            compute = statistics[name].compute
            computed = [each if isinstance(each, Reason) else compute(each) for each in cells]
            known += [value for value in computed if not isinstance(value, Reason)]
        if on_progress is not None:
            on_progress(first + len(drawn))
    for name, known in values.items():
        found[name] = _percentiles(found[name], known, resamples, level)
    return found


def quantile(ordered: Sequence[float], share: float) -> float:
    """Give a quantile of ordered values, between two of them by linear interpolation.

    Source:
        Hyndman & Fan 1996, American Statistician 50:361-365, definition 7.
    """
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _percentiles(
    found: Estimate, values: Sequence[float], resamples: int, level: float
) -> Estimate:
    if len(values) < max(2.0, _DEFINED * resamples):
        return replace(
            found,
            reason=Reason.TOO_FEW_CLUSTERS,
            ci_low=None,
            ci_high=None,
            level=None,
            method=None,
            se=None,
        )
    ordered = sorted(values)
    return replace(
        found,
        ci_low=quantile(ordered, (1 - level) / 2),
        ci_high=quantile(ordered, (1 + level) / 2),
        method=Method.BOOTSTRAP,
        se=_spread(ordered),
    )


def _spread(values: Sequence[float]) -> float:
    """Compute the standard deviation of a sample of two or more."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum([(each - mean) ** 2 for each in values]) / (len(values) - 1))


def _plain(groups: Grouped[WholeT], resamples: int, seed: int) -> Iterator[Sequence[float]]:
    """Draw how often each kind comes, or each group where hardly two are alike, and sum."""
    packing = _Packing.of(groups)
    columns = packing.columns
    times = [times for _, times in groups.counted]
    kind_of = [kind for kind, count in enumerate(times) for _ in range(count)]
    chance = random.Random(seed)
    for _ in range(resamples):
        if len(times) * _FEW_KINDS <= len(kind_of):
            drawn = _multinomial(chance, times)
            sums = [sum(map(mul, drawn, column)) for column in columns]
        else:
            places = chance.choices(kind_of, k=len(kind_of))
            sums = [sum(map(column.__getitem__, places)) for column in columns]
        yield packing.unpacked(sums)


@dataclass(frozen=True, slots=True)
class _Packing:
    """The parts of all kinds, part by part; whole numbers side by side in one long number.

    Adding long numbers adds all their parts at once.
    """

    columns: list[list[float]]
    width: int
    """Bits of a part; 0: not packed."""
    size: int
    """Parts of a kind."""

    @classmethod
    def of(cls, groups: Grouped[WholeT]) -> Self:
        """Pack the kinds of some groups."""
        kinds = [parts for parts, _ in groups.counted]
        size = len(groups.total.parts)
        if not all(isinstance(part, int) for parts in kinds for part in parts):
            return cls([list(column) for column in zip(*kinds, strict=True)], 0, size)
        largest = max((int(part) for parts in kinds for part in parts), default=0)
        width = (largest * groups.groups).bit_length() + 1
        packed = [
            sum(int(part) << (width * place) for place, part in enumerate(parts)) for parts in kinds
        ]
        return cls([list(packed)], width, size)

    def unpacked(self, sums: Sequence[float]) -> Sequence[float]:
        """Give the parts of a sum of kinds."""
        if not self.width:
            return sums
        total, mask = int(sums[0]), (1 << self.width) - 1
        return [(total >> (self.width * place)) & mask for place in range(self.size)]


def _multinomial(chance: random.Random, times: Sequence[int]) -> list[int]:
    """Draw as many groups as there are, and count each kind: one binomial after the other."""
    left = rest = sum(times)
    drawn = []
    for count in times:
        got = _binomial(chance, left, count / rest) if left else 0
        drawn.append(got)
        left -= got
        rest -= count
    return drawn


def _binomial(chance: random.Random, n: int, share: float) -> int:
    """Draw how many of n coins show heads.

    Source:
        Devroye, Non-Uniform Random Variate Generation (1986), X.4.3: splitting at the median until
        few heads or tails are expected; then Kachitvichyanukul & Schmeiser 1988, Communications
        of the ACM 31:216-222, algorithm BINV.
    """
    heads = 0
    while n * min(share, 1 - share) > _EXPECTED:
        middle = (n + 1) // 2
        median = chance.betavariate(middle, n + 1 - middle)
        if median <= share:
            heads += middle
            n, share = n - middle, (share - median) / (1 - median)
        else:
            n, share = middle - 1, share / median
    if share > 0.5:
        return heads + n - _binomial(chance, n, 1 - share)
    odds = share / (1 - share)
    mass, left, found = (1 - share) ** n, chance.random(), 0
    while left > mass and found < n:
        left -= mass
        found += 1
        mass *= (n + 1 - found) / found * odds
    return heads + found


def _with_numpy(groups: Grouped[WholeT], resamples: int, seed: int) -> Iterator[Sequence[float]]:
    """Draw how often each kind comes, some resamples at a time, and sum by matrix product."""
    import numpy as np  # optional and slow to import, so only where it is used

    chance = np.random.default_rng(seed)
    parts = np.array([parts for parts, _ in groups.counted], dtype=np.float64)
    times = np.array([times for _, times in groups.counted], dtype=np.int64)
    count, size = int(times.sum()), len(times)
    kind_of = np.repeat(np.arange(size), times)
    at_once = max(1, _CELLS // size)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        if size * _FEW_KINDS <= count:
            drawn = chance.multinomial(count, times / count, size=rows).astype(np.float64)
        else:
            drawn = np.empty((rows, size))
            for row in range(rows):
                places = chance.integers(count, size=count)
                drawn[row] = np.bincount(kind_of[places], minlength=size)
        yield from (drawn @ parts).tolist()
