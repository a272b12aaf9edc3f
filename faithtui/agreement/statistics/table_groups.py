"""Tables of two raters by group: what must be left out together is counted together."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, repeat
from operator import add, mul
from typing import Generic, TypeVar

from faithtui.agreement.statistics.packing import PackedGroups, Spans, packed_kinds
from faithtui.agreement.statistics.tables import (
    Counted,
    NumberT,
    Readable,
    Separable,
    Summed,
    Sums,
    Table,
    WeightedTable,
    empty_table,
    square,
)
from faithtui.domain.estimates import Estimate, Reason

WholeT = TypeVar("WholeT", bound=Separable)
ReadableT = TypeVar("ReadableT", bound=Readable)
PlainT = TypeVar("PlainT", Table, WeightedTable)


@dataclass(frozen=True)  # without slots, so that groups are made when asked for
class Grouped(Generic[WholeT]):
    """A whole that knows which units belong together.

    Groups that are alike are kept once with their number: leaving out any of them gives the same
    figure, and a hundred thousand conversations have a few thousand different tables.
    """

    total: WholeT
    counted: tuple[tuple[tuple[float, ...], int], ...]
    """Parts of the different groups, and how many groups there are of each. Sorted."""

    @cached_property
    def kinds(self) -> tuple[tuple[WholeT, int], ...]:
        """Different groups, and how many there are of each; in the same order."""
        rebuilt = self.total.rebuilt
        return tuple((rebuilt(parts), times) for parts, times in self.counted)

    @cached_property
    def estimates(self) -> dict[tuple[Hashable, float], Estimate]:
        """Figures that are computed already, by statistic and level; see `leaving_out`."""
        return {}

    @property
    def groups(self) -> int:
        """Number of groups."""
        return sum([times for _, times in self.counted])

    @property
    def columns(self) -> list[tuple[float, ...]]:
        """Parts of the different groups, part by part."""
        parts = [parts for parts, _ in self.counted]
        return list(zip(*parts, strict=True)) if parts else [() for _ in self.total.parts]


class GroupedTable(Grouped[Table]):
    """Groups of counted tables."""

    def collapsed(self, positive: Sequence[str]) -> "GroupedTable":
        """Collapse the total and every group, see `Table.collapsed`."""
        return GroupedTable(*collapsed_groups(self, positive))


Kinds = tuple[WholeT, tuple[tuple[tuple[float, ...], int], ...]]
"""Total and counted groups, as `Grouped` takes them."""


def grouped(empty: WholeT, groups: Iterable[WholeT]) -> Kinds[WholeT]:
    """Put groups together.

    Args:
        empty: A whole of the same kind; only its shape is read.
        groups: Any number, in any order.
    """
    return summed(empty, Counter(group.parts for group in groups))


def collapsed_groups(whole: Grouped[ReadableT], positive: Sequence[str]) -> Kinds[ReadableT]:
    """Collapse the total and every group."""
    kinds = collapsed_parts(whole.total, [parts for parts, _ in whole.counted], positive)
    found: Counter[tuple[float, ...]] = Counter()
    for parts, (_, times) in zip(kinds, whole.counted, strict=True):
        found[parts] += times
    return whole.total.collapsed(positive), tuple(sorted(found.items()))


def collapsed_parts(
    shape: ReadableT, wholes: Sequence[Sequence[float]], positive: Sequence[str]
) -> list[tuple[float, ...]]:
    """Collapse many wholes, given by their parts, at once.

    Args:
        shape: A whole of the same kind.
        wholes: Their parts.
        positive: As for `Table.collapsed`.
    """
    if not wholes:
        return []
    none = [0] * len(wholes)
    into: list[list[Sequence[float]]] = [[none] for _ in shape.collapsed(positive).parts]
    columns = zip(*wholes, strict=True)
    for column, place in zip(columns, shape.collapsing(positive), strict=True):
        into[place].append(column)
    return list(zip(*map(_sum, into), strict=True))


def rests(groups: Grouped[Table]) -> list[tuple[Sums, int, Sums]]:
    """Give each different group of whole numbers, how many there are, and all without one.

    Computed part by part for all groups together, which is several times as fast as by group.
    """
    total = groups.total
    cells = groups.columns
    rows, columns, sums = _sums(cells, len(total.categories))
    parts = _tables(total.categories, cells, rows, columns, sums)
    others = _tables(
        total.categories,
        _left(total.parts, cells),
        _left(total.rows, rows),
        _left(total.columns, columns),
        _left((total.n, total.agreed), sums),
    )
    return list(zip(parts, [times for _, times in groups.counted], others, strict=True))


def read(shape: ReadableT, wholes: Sequence[Sequence[float]]) -> Iterator[Counted | Reason]:
    """Read the cells of many wholes, given by their parts, at once.

    Args:
        shape: A whole of the same kind.
        wholes: Their parts; at least one.
    """
    if not isinstance(shape, Table):
        for parts in wholes:
            cells = shape.rebuilt(parts).read()
            yield cells if isinstance(cells, Reason) else Summed(cells)
        return
    columns = list(zip(*wholes, strict=True))
    yield from _tables(shape.categories, columns, *_sums(columns, len(shape.categories)))


_Columns = Sequence[Sequence[float]]
"""Numbers of many tables: one column for each cell, row, column or sum."""


def _sums(cells: _Columns, size: int) -> tuple[_Columns, _Columns, _Columns]:
    """Add up rows, columns, and all units and the agreed ones of many tables."""
    rows = [_sum(cells[start : start + size]) for start in range(0, size * size, size)]
    columns = [_sum(cells[start::size]) for start in range(size)]
    return rows, columns, [_sum(rows), _sum(cells[:: size + 1])]


def _tables(
    names: tuple[str, ...], cells: _Columns, rows: _Columns, columns: _Columns, sums: _Columns
) -> Iterator[Sums]:
    by_table = (zip(*each, strict=True) for each in (cells, rows, columns))
    return map(Sums, repeat(names), *by_table, *sums)


def _left(wholes: Sequence[float], parts: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[whole - each for each in part] for whole, part in zip(wholes, parts, strict=True)]


def _sum(columns: Sequence[Sequence[NumberT]]) -> Sequence[NumberT]:
    return reduce(_added, columns)


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
        Spans([group for group, *_ in readings]),
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
    for parts, times in whole.counted:
        # A weighted table has its cells twice: by weight, and by number at the end.
        units = parts[-size:]
        if any(units[cell] for cell in kept):
            found[tuple([part if at % size in kept else 0 for at, part in enumerate(parts)])] += (
                times
            )
    return Grouped(*summed(whole.total, found))


def summed(
    shape: WholeT, kinds: Mapping[tuple[int, ...], int] | Mapping[tuple[float, ...], int]
) -> Kinds[WholeT]:
    """Add groups up that are counted already, by their parts."""
    columns = zip(*kinds, strict=True) if kinds else ([] for _ in shape.parts)
    times = list(kinds.values())
    total = [_inner(column, times) for column in columns]
    return shape.rebuilt(total), tuple(sorted(kinds.items()))


def _inner(values: Sequence[float], times: Sequence[int]) -> float:
    found = sum(map(mul, values, times))
    # Whole numbers are exact, and what is not whole must not depend on its order.
    return found if isinstance(found, int) else math.fsum(map(mul, values, times))


def _added(first: Sequence[NumberT], second: Sequence[NumberT]) -> Sequence[NumberT]:
    return list(map(add, first, second))
