"""Square tables of two raters' categories, plain, weighted or drawn by strata.

A figure is computed from cells alone, so the same formula serves counts, sums of weights and
tables put together from strata. Whole numbers stay whole numbers: leaving a group out is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
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
    def differing(self) -> float:
        """Units with two different labels."""

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

    def collapsing(self, positive: Sequence[str]) -> Sequence[int]:
        """Say for each of `parts` to which part of the collapsed table it is added."""


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
        return sum([row[i] for i, row in enumerate(self.counts)])

    @property
    def differing(self) -> NumberT:
        """Units with two different labels."""
        # Off the diagonal only: n minus the agreed units would leave rounding behind.
        return sum(sum(row[:i]) + sum(row[i + 1 :]) for i, row in enumerate(self.counts))

    @property
    def rows(self) -> tuple[NumberT, ...]:
        """The reference's count of each category."""
        return tuple(map(sum, self.counts))

    @property
    def columns(self) -> tuple[NumberT, ...]:
        """The judge's count of each category."""
        return tuple(map(sum, zip(*self.counts, strict=True)))


class Summed:
    """A table of which every sum is known: many figures are read off each."""

    __slots__ = ("agreed", "categories", "columns", "counts", "differing", "n", "rows")

    def __init__(self, cells: Counted) -> None:
        """Add everything up once."""
        counts = cells.counts
        self.categories = cells.categories
        self.counts = counts
        self.rows = tuple(map(sum, counts))
        self.columns = tuple(map(sum, zip(*counts, strict=True)))
        self.n = sum(self.rows)
        self.agreed = cells.agreed
        # Of whole numbers nothing is lost by subtracting.
        whole = isinstance(self.n, int)
        self.differing = self.n - self.agreed if whole else cells.differing


class Sums:
    """A small table that is read once: everything a figure needs, put there from outside."""

    __slots__ = ("_cells", "agreed", "categories", "columns", "n", "rows")

    def __init__(
        self,
        categories: tuple[str, ...],
        cells: Sequence[float],
        rows: Sequence[float],
        columns: Sequence[float],
        n: float,
        agreed: float,
    ) -> None:
        """Take the cells row by row with their sums."""
        self.categories = categories
        self._cells = cells
        self.rows = rows
        self.columns = columns
        self.n = n
        self.agreed = agreed

    @property
    def differing(self) -> float:
        """Units with two different labels."""
        return self.n - self.agreed

    @property
    def counts(self) -> Sequence[Sequence[float]]:
        """The cells, which most figures do without."""
        cells, size = self._cells, len(self.categories)
        return [cells[start : start + size] for start in range(0, size * size, size)]


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
        return type(self)(self.categories, square(tuple(map(int, parts)), size))

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

    def collapsed(self, positive: Sequence[str]) -> Self:
        """Put the categories together into two: first the positive ones, then the rest.

        Returns:
            A 2x2 table ((tp, fn), (fp, tn)).
        """
        return type(self)(TWO, collapsed_cells(self.categories, self.counts, positive))

    def collapsing(self, positive: Sequence[str]) -> Sequence[int]:
        """Say for each of `parts` to which part of the collapsed table it is added."""
        return _places(self.categories, tuple(positive))


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
            square(list(parts[:middle]), size),
            square([int(part) for part in parts[middle:]], size),
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

    def collapsing(self, positive: Sequence[str]) -> Sequence[int]:
        """Say for each of `parts` to which part of the collapsed table it is added."""
        places = _places(self.categories, tuple(positive))
        return (*places, *(4 + place for place in places))


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
            tuple(square(numbers[start : start + size * size], size) for start in starts),
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

    def collapsing(self, positive: Sequence[str]) -> Sequence[int]:
        """Say for each of `parts` to which part of the collapsed table it is added."""
        places = _places(self.categories, tuple(positive))
        strata = len(self.populations)
        starts = range(strata, strata + 4 * strata, 4)
        return (*range(strata), *(start + place for start in starts for place in places))


TWO = ("positive", "negative")
"""Categories of a collapsed table."""


def empty_table(categories: tuple[str, ...]) -> Table:
    """Make a table without units."""
    return Table(categories, ((0,) * len(categories),) * len(categories))


def collapsed_cells(
    categories: Sequence[str], counts: Sequence[Sequence[NumberT]], positive: Sequence[str]
) -> tuple[tuple[NumberT, ...], ...]:
    """Put categories together into two, first the positive ones, then the rest."""
    cells: list[NumberT] = [0, 0, 0, 0]
    places = _places(tuple(categories), tuple(positive))
    for place, count in zip(places, chain.from_iterable(counts), strict=True):
        cells[place] += count
    return (cells[0], cells[1]), (cells[2], cells[3])


@lru_cache(maxsize=64)
def _places(categories: tuple[str, ...], positive: tuple[str, ...]) -> tuple[int, ...]:
    """Say for each cell, row by row, which of the four cells of a collapsed table it goes to."""
    sides = [0 if name in positive else 1 for name in categories]
    return tuple(2 * down + across for down in sides for across in sides)


def _subtracted(
    whole: tuple[tuple[NumberT, ...], ...], part: tuple[tuple[NumberT, ...], ...]
) -> tuple[tuple[NumberT, ...], ...]:
    return tuple(
        tuple([mine - theirs for mine, theirs in zip(row, out, strict=True)])
        for row, out in zip(whole, part, strict=True)
    )


def _added(tables: Sequence[Counts]) -> Counts:
    return tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*tables, strict=True))


def square(cells: Sequence[NumberT], size: int) -> tuple[tuple[NumberT, ...], ...]:
    """Cut numbers into rows of a square table."""
    return tuple(tuple(cells[i * size : (i + 1) * size]) for i in range(size))
