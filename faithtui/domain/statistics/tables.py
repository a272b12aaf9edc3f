"""Square tables of two raters' categories, plain, weighted or drawn by strata, and groups of them.

A figure is computed from cells alone, so the same formula serves counts, sums of weights and
tables put together from strata. Whole numbers stay whole numbers: leaving a group out is exact.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from faithtui.domain.estimates import Reason

Counts = tuple[tuple[int, ...], ...]
Weighted = tuple[tuple[float, ...], ...]

NumberT = TypeVar("NumberT", int, float)


class Counted(Protocol):
    """What a figure reads: the cells of a square table and their sums."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Declared labels, used or not."""

    @property
    def counts(self) -> Sequence[Sequence[float]]:
        """Cell (i, j): units the reference puts in category i and the judge in category j."""

    @property
    def n(self) -> float:
        """All units."""

    @property
    def agreed(self) -> float:
        """Units with the same label from both."""

    @property
    def rows(self) -> Sequence[float]:
        """The reference's number of each category."""

    @property
    def columns(self) -> Sequence[float]:
        """The judge's number of each category."""


class Separable(Protocol):
    """A whole that groups can be taken out of, and put together from."""

    @property
    def parts(self) -> tuple[float, ...]:
        """The numbers that add up over groups, in a fixed order."""

    def rebuilt(self, parts: Sequence[float]) -> Self:
        """Make another whole of the same kind from such numbers."""

    def without(self, part: Self) -> Self:
        """Leave out the units of a part of this whole."""


class Readable(Separable, Protocol):
    """A separable whole that is a table of two raters, or stands for one."""

    @property
    def raw(self) -> "Table":
        """The units themselves, each counted once."""

    def read(self) -> Counted | Reason:
        """Give the cells to compute with, or say why they are not known."""

    def collapsed(self, positive: Sequence[str]) -> Self:
        """Put the categories together into two: first the positive ones, then the rest."""


@dataclass(frozen=True, slots=True)
class Cells(Generic[NumberT]):
    """A square table of numbers, not negative."""

    categories: tuple[str, ...]
    """Declared labels, in the order of the label set, used or not."""
    counts: tuple[tuple[NumberT, ...], ...]
    """counts[i][j]: units the reference puts in category i and the judge in category j."""

    @property
    def n(self) -> NumberT:
        """Number of units."""
        return sum(map(sum, self.counts))

    @property
    def agreed(self) -> NumberT:
        """Units with the same label from both."""
        return sum(row[i] for i, row in enumerate(self.counts))

    @property
    def rows(self) -> tuple[NumberT, ...]:
        """The reference's count of each category."""
        return tuple(map(sum, self.counts))

    @property
    def columns(self) -> tuple[NumberT, ...]:
        """The judge's count of each category."""
        return tuple(map(sum, zip(*self.counts, strict=True)))


@dataclass(frozen=True, slots=True)
class Table(Cells[int]):
    """Counts of units by the reference's label (rows) and the judge's (columns)."""

    @property
    def parts(self) -> tuple[int, ...]:
        """The cells, row by row."""
        return tuple(count for row in self.counts for count in row)

    def rebuilt(self, parts: Sequence[float]) -> Self:
        """Make a table over the same categories."""
        size = len(self.categories)
        return type(self)(self.categories, _square([int(part) for part in parts], size))

    @property
    def raw(self) -> "Table":
        """The table itself."""
        return self

    def read(self) -> Counted:
        """Give the table itself."""
        return self

    def without(self, part: Self) -> Self:
        """Leave out the units of a part of this table."""
        return type(self)(self.categories, _subtracted(self.counts, part.counts))

    def transposed(self) -> "Table":
        """Swap reference and judge."""
        return Table(self.categories, tuple(zip(*self.counts, strict=True)))

    def collapsed(self, positive: Sequence[str]) -> Self:
        """Put the categories together into two: first the positive ones, then the rest.

        Returns:
            A 2x2 table ((tp, fn), (fp, tn)).
        """
        return type(self)(TWO, collapsed_cells(self.categories, self.counts, positive))


@dataclass(frozen=True, slots=True)
class WeightedTable(Cells[float]):
    """Sums of weights by the reference's label (rows) and the judge's (columns)."""

    units: Counts
    """The same cells with every unit counted once."""

    @property
    def parts(self) -> tuple[float, ...]:
        """The weighted cells row by row, then the counts."""
        return tuple(cell for part in (self.counts, self.units) for row in part for cell in row)

    def rebuilt(self, parts: Sequence[float]) -> Self:
        """Make a table over the same categories."""
        size = len(self.categories)
        middle = size * size
        return type(self)(
            self.categories,
            _square(list(parts[:middle]), size),
            _square([int(part) for part in parts[middle:]], size),
        )

    @property
    def raw(self) -> Table:
        """The units, each counted once."""
        return Table(self.categories, self.units)

    def read(self) -> Counted:
        """Give the table itself."""
        return self

    def without(self, part: Self) -> Self:
        """Leave out the units of a part of this table; a cell without units weighs nothing."""
        units = _subtracted(self.units, part.units)
        rest = _subtracted(self.counts, part.counts)
        # Rounding must not leave a trace of weight in a cell whose last unit is gone.
        kept = tuple(
            tuple(weight if count else 0.0 for weight, count in zip(line, row, strict=True))
            for line, row in zip(rest, units, strict=True)
        )
        return type(self)(self.categories, kept, units)

    def collapsed(self, positive: Sequence[str]) -> Self:
        """Put the categories together into two: first the positive ones, then the rest."""
        return type(self)(
            TWO,
            collapsed_cells(self.categories, self.counts, positive),
            collapsed_cells(self.categories, self.units, positive),
        )


@dataclass(frozen=True, slots=True)
class StratifiedTable:
    """Tables of the labelled units of each stratum, and how many units each stratum has.

    A labelled unit weighs the population of its stratum over the labelled units of it. Both are
    counted anew when a group is left out, as they would be in another sample of conversations.
    """

    categories: tuple[str, ...]
    populations: tuple[int, ...]
    """Units of each stratum, labelled or not."""
    labelled: tuple[Counts, ...]
    """Table of the labelled units of each stratum."""

    @property
    def parts(self) -> tuple[int, ...]:
        """Populations, then the cells of each stratum."""
        cells = (count for stratum in self.labelled for row in stratum for count in row)
        return (*self.populations, *cells)

    def rebuilt(self, parts: Sequence[float]) -> Self:
        """Make a table over the same categories and strata."""
        numbers = [int(part) for part in parts]
        size, strata = len(self.categories), len(self.populations)
        starts = range(strata, len(numbers), size * size)
        return type(self)(
            self.categories,
            tuple(numbers[:strata]),
            tuple(_square(numbers[start : start + size * size], size) for start in starts),
        )

    @property
    def raw(self) -> Table:
        """The labelled units, each counted once."""
        return Table(self.categories, _added(self.labelled))

    def read(self) -> WeightedTable | Reason:
        """Weight the strata; a stratum that has units and no label leaves the whole unknown."""
        lines = [[0.0] * len(self.categories) for _ in self.categories]
        for population, cells in zip(self.populations, self.labelled, strict=True):
            labelled = sum(map(sum, cells))
            if not labelled:
                if population:
                    return Reason.NO_ITEMS
                continue
            for line, row in zip(lines, cells, strict=True):
                for j, count in enumerate(row):
                    # Multiplied first, so that a census gives back its whole numbers.
                    line[j] += population * count / labelled
        return WeightedTable(self.categories, tuple(map(tuple, lines)), self.raw.counts)

    def without(self, part: Self) -> Self:
        """Leave out the units of a part of this table, labelled or not."""
        return type(self)(
            self.categories,
            tuple(a - b for a, b in zip(self.populations, part.populations, strict=True)),
            tuple(_subtracted(a, b) for a, b in zip(self.labelled, part.labelled, strict=True)),
        )

    def collapsed(self, positive: Sequence[str]) -> Self:
        """Put the categories together into two: first the positive ones, then the rest."""
        return type(self)(
            TWO,
            self.populations,
            tuple(collapsed_cells(self.categories, cells, positive) for cells in self.labelled),
        )


TWO = ("positive", "negative")
"""Categories of a collapsed table."""

WholeT = TypeVar("WholeT", bound=Separable)
ReadableT = TypeVar("ReadableT", bound=Readable)


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
    return _summed(empty, Counter(group.parts for group in groups))


def collapsed_groups(
    whole: Grouped[ReadableT], positive: Sequence[str]
) -> tuple[ReadableT, tuple[tuple[ReadableT, int], ...]]:
    """Collapse the total and every group; as `Grouped` takes them."""
    found: Counter[tuple[float, ...]] = Counter()
    for kind, times in whole.kinds:
        found[kind.collapsed(positive).parts] += times
    return _summed(whole.total.collapsed(positive), found)


def cross_table(
    readings: Iterable[tuple[str, str, str]], categories: Sequence[str]
) -> GroupedTable:
    """Count readings into a table.

    Args:
        readings: (group, reference's label, judge's label) of each unit, in any order; both
            labels are in `categories`.
        categories: Declared labels.
    """
    return next(growing_cross_tables([readings], categories))


def growing_cross_tables(
    parts: Iterable[Iterable[tuple[str, str, str]]], categories: Sequence[str]
) -> Iterator[GroupedTable]:
    """Count readings into a table that grows, see `cross_table`.

    Args:
        parts: Readings, part by part.
        categories: Declared labels.

    Yields:
        The table of all parts so far, after each part.
    """
    position = {name: i for i, name in enumerate(categories)}
    size = len(position)
    names = tuple(categories)
    by_group: dict[str, list[int]] = {}
    for readings in parts:
        for group, reference, judge in readings:
            cells = by_group.get(group)
            if cells is None:
                cells = by_group[group] = [0] * (size * size)
            cells[position[reference] * size + position[judge]] += 1
        yield GroupedTable(*_summed(empty_table(names), Counter(map(tuple, by_group.values()))))


def weighted_cross_table(
    readings: Iterable[tuple[str, str, str, float]], categories: Sequence[str]
) -> Grouped[WeightedTable]:
    """Sum weighted readings into a table.

    Args:
        readings: (group, reference's label, judge's label, weight) of each unit; the weight is
            one over its probability of being drawn, above 0.
        categories: Declared labels.
    """
    position = {name: i for i, name in enumerate(categories)}
    size = len(position)
    units: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for group, reference, judge, weight in readings:
        units[group][position[reference] * size + position[judge]].append(weight)
    cells = range(size * size)
    found = Counter(
        # Sorted and summed exactly: the order of the readings must not show in the last digit.
        (
            *(math.fsum(sorted(of_group.get(cell, ()))) for cell in cells),
            *(len(of_group.get(cell, ())) for cell in cells),
        )
        for of_group in units.values()
    )
    names = tuple(categories)
    none = empty_table(names).counts
    return Grouped(*_summed(WeightedTable(names, _square([0.0] * size**2, size), none), found))


def empty_table(categories: tuple[str, ...]) -> Table:
    """Make a table without units."""
    return Table(categories, ((0,) * len(categories),) * len(categories))


def collapsed_cells(
    categories: Sequence[str], counts: Sequence[Sequence[NumberT]], positive: Sequence[str]
) -> tuple[tuple[NumberT, ...], ...]:
    """Put categories together into two, first the positive ones, then the rest."""
    sides = [0 if name in positive else 1 for name in categories]
    cells: list[list[NumberT]] = [[0, 0], [0, 0]]
    for side, row in zip(sides, counts, strict=True):
        for other, count in zip(sides, row, strict=True):
            cells[side][other] += count
    return tuple(map(tuple, cells))


def _summed(
    shape: WholeT, kinds: Mapping[tuple[float, ...], int]
) -> tuple[WholeT, tuple[tuple[WholeT, int], ...]]:
    columns = zip(*kinds, strict=True) if kinds else ([] for _ in shape.parts)
    times = list(kinds.values())
    total = [_inner(column, times) for column in columns]
    ordered = sorted(kinds.items())
    return shape.rebuilt(total), tuple((shape.rebuilt(parts), count) for parts, count in ordered)


def _inner(values: Sequence[float], times: Sequence[int]) -> float:
    products = [value * count for value, count in zip(values, times, strict=True)]
    whole = all(isinstance(value, int) for value in products)
    return sum(products) if whole else math.fsum(products)


def _subtracted(
    whole: tuple[tuple[NumberT, ...], ...], part: tuple[tuple[NumberT, ...], ...]
) -> tuple[tuple[NumberT, ...], ...]:
    return tuple(
        tuple([mine - theirs for mine, theirs in zip(row, out, strict=True)])
        for row, out in zip(whole, part, strict=True)
    )


def _added(tables: Sequence[Counts]) -> Counts:
    return tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*tables, strict=True))


def _square(cells: Sequence[NumberT], size: int) -> tuple[tuple[NumberT, ...], ...]:
    return tuple(tuple(cells[i * size : (i + 1) * size]) for i in range(size))
