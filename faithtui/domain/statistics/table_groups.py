"""Tables of two raters by group: what must be left out together is counted together."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Generic, TypeVar

from faithtui.domain.statistics.packing import PackedGroups, packed_kinds
from faithtui.domain.statistics.tables import (
    Readable,
    Separable,
    Table,
    WeightedTable,
    empty_table,
    square,
)

WholeT = TypeVar("WholeT", bound=Separable)
ReadableT = TypeVar("ReadableT", bound=Readable)
PlainT = TypeVar("PlainT", Table, WeightedTable)


@dataclass(frozen=True, slots=True)
class Grouped(Generic[WholeT]):
    """A whole that knows which units belong together.

    Groups that are alike are kept once with their number: leaving out any of them gives the same
    figure, and a hundred thousand conversations have a few thousand different tables.
    """

    total: WholeT
    kinds: tuple[tuple[WholeT, int], ...]
    """Different groups, and how many there are of each. Sorted."""

    @property
    def groups(self) -> int:
        """Number of groups."""
        return sum(times for _, times in self.kinds)


@dataclass(frozen=True, slots=True)
class GroupedTable(Grouped[Table]):
    """Groups of counted tables."""

    def collapsed(self, positive: Sequence[str]) -> "GroupedTable":
        """Collapse the total and every group, see `Table.collapsed`."""
        return GroupedTable(*collapsed_groups(self, positive))


def grouped(
    empty: WholeT, groups: Iterable[WholeT]
) -> tuple[WholeT, tuple[tuple[WholeT, int], ...]]:
    """Put groups together.

    Args:
        empty: A whole of the same kind; only its shape is read.
        groups: Any number, in any order.

    Returns:
        Total and kinds, as `Grouped` takes them.
    """
    return summed(empty, Counter(group.parts for group in groups))


def collapsed_groups(
    whole: Grouped[ReadableT], positive: Sequence[str]
) -> tuple[ReadableT, tuple[tuple[ReadableT, int], ...]]:
    """Collapse the total and every group; as `Grouped` takes them."""
    found: Counter[tuple[float, ...]] = Counter()
    for kind, times in whole.kinds:
        found[kind.collapsed(positive).parts] += times
    return summed(whole.total.collapsed(positive), found)


def cross_table(
    readings: Iterable[tuple[str, str, str]], categories: Sequence[str]
) -> GroupedTable:
    """Count readings into a table.

    Args:
        readings: (group, reference's label, judge's label) of each unit, in any order; both
            labels are in `categories`.
        categories: Declared labels.
    """
    names = tuple(categories)
    packed = PackedGroups(len(names) ** 2)
    ones = iter(packed.ones)
    one_of = {(reference, judge): next(ones) for reference in names for judge in names}
    packed.add((group, one_of[reference, judge]) for group, reference, judge in readings)
    return table_of_kinds(packed.kinds(), names)


def table_of_kinds(
    kinds: Mapping[tuple[int, ...], int], categories: tuple[str, ...]
) -> GroupedTable:
    """Put groups together that are counted already.

    Args:
        kinds: Cells of the different groups, row by row, and how many groups have each.
        categories: Declared labels.
    """
    return GroupedTable(*summed(empty_table(categories), kinds))


def weighted_cross_table(
    readings: Sequence[tuple[str, str, str, float]], categories: Sequence[str]
) -> Grouped[WeightedTable]:
    """Sum weighted readings into a table.

    Args:
        readings: (group, reference's label, judge's label, weight) of each unit; the weight is
            one over its probability of being drawn, above 0, and has few different values.
        categories: Declared labels.
    """
    names = tuple(categories)
    weights = sorted({weight for *_, weight in readings})
    size = len(names)
    down = {name: place * size for place, name in enumerate(names)}
    across = {name: place for place, name in enumerate(names)}
    start = {weight: place * size**2 for place, weight in enumerate(weights)}
    kinds = packed_kinds(
        [group for group, *_ in readings],
        (start[weight] + down[row] + across[column] for _, row, column, weight in readings),
        len(weights) * size**2,
    )
    return weighted_table_of_kinds(kinds, weights, names)


def weighted_table_of_kinds(
    kinds: Mapping[tuple[int, ...], int], weights: Sequence[float], categories: tuple[str, ...]
) -> Grouped[WeightedTable]:
    """Put groups together that are counted already, by weight.

    Args:
        kinds: Cells of the different groups, row by row, weight by weight, and how many groups
            have each.
        weights: What a unit weighs, above 0.
        categories: Declared labels.
    """
    size = len(categories) ** 2
    found: Counter[tuple[float, ...]] = Counter()
    for counts, times in kinds.items():
        cells = [counts[place::size] for place in range(size)]
        # Summed exactly: the order of the readings must not show in the last digit.
        sums = (math.fsum(chain.from_iterable(map(repeat, weights, cell))) for cell in cells)
        found[(*sums, *map(sum, cells))] += times
    none = empty_table(categories).counts
    zeros = square([0.0] * size, len(categories))
    return Grouped(*summed(WeightedTable(categories, zeros, none), found))


def with_cells(whole: Grouped[PlainT], kept: Collection[int]) -> Grouped[PlainT]:
    """Keep the units of some cells, counted row by row; groups without any are left out."""
    size = len(whole.total.categories) ** 2
    found: Counter[tuple[float, ...]] = Counter()
    for kind, times in whole.kinds:
        if any(kind.raw.parts[cell] for cell in kept):
            # A weighted table has its cells twice: by weight and by number.
            parts = (part if place % size in kept else 0 for place, part in enumerate(kind.parts))
            found[tuple(parts)] += times
    return Grouped(*summed(whole.total, found))


def summed(
    shape: WholeT, kinds: Mapping[tuple[int, ...], int] | Mapping[tuple[float, ...], int]
) -> tuple[WholeT, tuple[tuple[WholeT, int], ...]]:
    """Add groups up that are counted already, by their parts; as `Grouped` takes them."""
    columns = zip(*kinds, strict=True) if kinds else ([] for _ in shape.parts)
    times = list(kinds.values())
    total = [_inner(column, times) for column in columns]
    ordered = sorted(kinds.items())
    return shape.rebuilt(total), tuple((shape.rebuilt(parts), count) for parts, count in ordered)


def _inner(values: Sequence[float], times: Sequence[int]) -> float:
    products = [value * count for value, count in zip(values, times, strict=True)]
    whole = all(isinstance(value, int) for value in products)
    return sum(products) if whole else math.fsum(products)
