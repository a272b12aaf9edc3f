"""How far two raters agree, computed from their confusion table.

Every figure here is arithmetic on the counts of one square table over the *declared* categories,
so leaving out a conversation is subtracting its table. A figure without a value is a `Reason`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.intervals import Scale, estimate

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Counts of units by the reference's label (rows) and the judge's (columns)."""

    categories: tuple[str, ...]
    """Declared labels, in the order of the label set, used or not."""
    counts: Counts
    """counts[i][j]: units the reference puts in category i and the judge in category j."""

    @property
    def n(self) -> int:
        """Number of units."""
        return sum(map(sum, self.counts))

    @property
    def agreed(self) -> int:
        """Units with the same label from both."""
        return sum(row[i] for i, row in enumerate(self.counts))

    @property
    def rows(self) -> tuple[int, ...]:
        """The reference's count of each category."""
        return tuple(map(sum, self.counts))

    @property
    def columns(self) -> tuple[int, ...]:
        """The judge's count of each category."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    def without(self, part: "Table") -> "Table":
        """Leave out the units of a part of this table."""
        return Table(
            self.categories,
            tuple(
                tuple(mine - theirs for mine, theirs in zip(row, out, strict=True))
                for row, out in zip(self.counts, part.counts, strict=True)
            ),
        )

    def transposed(self) -> "Table":
        """Swap reference and judge."""
        return Table(self.categories, tuple(zip(*self.counts, strict=True)))

    def collapsed(self, positive: Sequence[str]) -> "Table":
        """Put the categories together into two: first the positive ones, then the rest.

        Returns:
            A 2x2 table ((tp, fn), (fp, tn)).
        """
        sides = [0 if name in positive else 1 for name in self.categories]
        cells = [[0, 0], [0, 0]]
        for side, row in zip(sides, self.counts, strict=True):
            for other, count in zip(sides, row, strict=True):
                cells[side][other] += count
        return Table(("positive", "negative"), tuple(map(tuple, cells)))


@dataclass(frozen=True, slots=True)
class GroupedTable:
    """A table that knows which units belong together.

    Groups with equal tables are kept once with their number: leaving out any of them gives the
    same figure, and a hundred thousand conversations have a few thousand different tables.
    """

    total: Table
    kinds: tuple[tuple[Table, int], ...]
    """Different tables of groups, and how many groups have each. Sorted."""

    @property
    def groups(self) -> int:
        """Number of groups."""
        return sum(times for _, times in self.kinds)

    def collapsed(self, positive: Sequence[str]) -> "GroupedTable":
        """Collapse the total and every group, see `Table.collapsed`."""
        parts: Counter[Counts] = Counter()
        for kind, times in self.kinds:
            parts[kind.collapsed(positive).counts] += times
        return _grouped(self.total.collapsed(positive).categories, parts)


def cross_table(
    readings: Iterable[tuple[str, str, str]], categories: Sequence[str]
) -> GroupedTable:
    """Count readings into a table.

    Args:
        readings: (group, reference's label, judge's label) of each unit, in any order; both
            labels are in `categories`.
        categories: Declared labels.
    """
    position = {name: i for i, name in enumerate(categories)}
    size = len(position)
    by_group: dict[str, list[int]] = {}
    for group, reference, judge in readings:
        cells = by_group.setdefault(group, [0] * (size * size))
        cells[position[reference] * size + position[judge]] += 1
    kinds: Counter[Counts] = Counter(
        tuple(tuple(cells[i * size : (i + 1) * size]) for i in range(size))
        for cells in by_group.values()
    )
    return _grouped(tuple(categories), kinds)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure of a table, with what its interval needs to know."""

    compute: Callable[[Table], Point]
    units: Callable[[Table], int]
    """Units that enter: all of them, or the denominator of a share."""
    scale: Scale


def measure(statistic: Statistic, table: GroupedTable, level: float = LEVEL) -> Estimate:
    """Compute a figure with its interval, leaving out one group at a time.

    Only groups with units that enter the figure are counted and left out: a conversation without
    a flagged claim says nothing about precision.
    """
    left_out = [
        (statistic.compute(table.total.without(kind)), times)
        for kind, times in table.kinds
        if statistic.units(kind)
    ]
    return estimate(
        statistic.compute(table.total),
        left_out,
        statistic.scale,
        n=statistic.units(table.total),
        level=level,
    )


def share(flags: Iterable[tuple[str, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the share of units with a property.

    Args:
        flags: (group, has it) of each unit.
        level: Confidence level in (0, 1).
    """
    # A share is percent agreement with a reference that always says yes.
    readings = ((group, "yes", "yes" if flag else "no") for group, flag in flags)
    return measure(PERCENT, cross_table(readings, ("yes", "no")), level)


def percent_agreement(table: Table) -> Point:
    """Compute the share of units with the same label, in [0, 1]."""
    n = table.n
    return table.agreed / n if n else Reason.NO_ITEMS


def chance_agreement(table: Table) -> Point:
    """Compute the agreement kappa expects by chance, in [0, 1]: product of the two margins."""
    n = table.n
    return _margin_product(table) / n**2 if n else Reason.NO_ITEMS


def cohen_kappa(table: Table) -> Point:
    """Compute Cohen's kappa, in [-1, 1].

    Undefined when both raters use one and the same category only (0/0).

    Source:
        Cohen 1960, Educational and Psychological Measurement 20:37-46.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    by_chance = _margin_product(table)
    if by_chance == n * n:
        return Reason.NO_VARIATION
    return (n * table.agreed - by_chance) / (n * n - by_chance)


def krippendorff_alpha(table: Table) -> Point:
    """Compute Krippendorff's nominal alpha of two raters who both rated every unit, in [-1, 1].

    Undefined when only one category was ever used (0/0).

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: one minus
        observed over expected disagreement, the latter from the 2n pooled values drawn in pairs
        without replacement.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    pooled = [row + column for row, column in zip(table.rows, table.columns, strict=True)]
    different_pairs = 2 * n * (2 * n - 1) - sum(count * (count - 1) for count in pooled)
    if not different_pairs:
        return Reason.NO_VARIATION
    return 1 - (n - table.agreed) * 2 * (2 * n - 1) / different_pairs


def gwet_ac1(table: Table) -> Point:
    """Compute Gwet's AC1 over the declared categories, in [-1, 1].

    Undefined when fewer than two categories are declared. A category nobody used still counts.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    size = len(table.categories)
    if size < 2:
        return Reason.NO_VARIATION
    means = [
        (row + column) / (2 * n) for row, column in zip(table.rows, table.columns, strict=True)
    ]
    by_chance = sum(mean * (1 - mean) for mean in means) / (size - 1)
    return (table.agreed / n - by_chance) / (1 - by_chance)


def marginal_distance(table: Table) -> Point:
    """Compute half the L1 distance between the two raters' shares of the categories, in [0, 1]."""
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    gaps = (abs(row - column) for row, column in zip(table.rows, table.columns, strict=True))
    return sum(gaps) / (2 * n)


PERCENT = Statistic(percent_agreement, lambda table: table.n, Scale.LOGIT)
KAPPA = Statistic(cohen_kappa, lambda table: table.n, Scale.ATANH)
ALPHA = Statistic(krippendorff_alpha, lambda table: table.n, Scale.ATANH)
AC1 = Statistic(gwet_ac1, lambda table: table.n, Scale.ATANH)


def _margin_product(table: Table) -> int:
    return sum(row * column for row, column in zip(table.rows, table.columns, strict=True))


def _grouped(categories: tuple[str, ...], kinds: Counter[Counts]) -> GroupedTable:
    size = range(len(categories))
    total = tuple(
        tuple(sum(counts[i][j] * times for counts, times in kinds.items()) for j in size)
        for i in size
    )
    return GroupedTable(
        Table(categories, total),
        tuple((Table(categories, counts), times) for counts, times in sorted(kinds.items())),
    )
