"""Leaving out one group at a time: what a figure is without each conversation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from faithtui.agreement.statistics.intervals import FEWEST_GROUPS, Scale, estimate
from faithtui.agreement.statistics.ratings import RatingFigure, Ratings
from faithtui.agreement.statistics.table_groups import Grouped, ReadableT, WholeT, rests
from faithtui.agreement.statistics.tables import Counted, Readable, Summed, Table
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure of a table, with what its interval needs to know."""

    compute: Callable[[Counted], Point]
    units: Callable[[Counted], float]
    """Units that enter: all of them, or the denominator of a share."""
    scale: Scale

    def of(self, table: Readable) -> Point:
        """Compute the figure of a table, weighted or not."""
        cells = table.read()
        return cells if isinstance(cells, Reason) else self.compute(cells)

    def units_of(self, table: Readable) -> int:
        """Count the units that enter, each once."""
        return int(self.units(table.raw))


def measure(statistic: Statistic, table: Grouped[ReadableT], level: float = LEVEL) -> Estimate:
    """Compute a figure with its interval, leaving out one group at a time.

    Args:
        statistic: The figure.
        table: Groups of counted, weighted or stratified tables.
        level: Confidence level in (0, 1).
    """
    if table.groups < FEWEST_GROUPS:
        return jackknifed(statistic.of, statistic.units_of, table, statistic.scale, level)
    return measures({"": statistic}, table, level)[""]


def measures(
    statistics: Mapping[str, Statistic], groups: Grouped[ReadableT], level: float = LEVEL
) -> dict[str, Estimate]:
    """Compute figures with their intervals as `measure` does, leaving each group out only once."""
    if groups.groups < FEWEST_GROUPS:
        return {name: measure(each, groups, level) for name, each in statistics.items()}
    # A report asks for some figures of the same groups more than once: of all and of each part
    # that is all, of the only person, at the end of the progress.
    known = groups.estimates
    missing = {each for each in statistics.values() if (each, level) not in known}
    if missing:
        cells = _summed(groups.total.read())
        raw = groups.total.raw
        kinds = _rests(groups)
        for each in missing:
            value = cells if isinstance(cells, Reason) else each.compute(cells)
            without: list[tuple[Point, int]] = [
                (rest if isinstance(rest, Reason) else each.compute(rest), times)
                for kind, times, rest in kinds
                if each.units(kind)
            ]
            n = int(each.units(raw))
            known[each, level] = estimate(value, without, each.scale, n=n, level=level)
    return {name: known[each, level] for name, each in statistics.items()}


def _rests(groups: Grouped[ReadableT]) -> Sequence[tuple[Counted, int, Counted | Reason]]:
    """Give the units of each different group, how many such groups there are, and all the rest."""
    if isinstance(groups.total, Table):
        return rests(cast(Grouped[Table], groups))
    total = groups.total
    return [
        (Summed(kind.raw), times, _summed(total.without(kind).read()))
        for kind, times in groups.kinds
    ]


def _summed(cells: Counted | Reason) -> Counted | Reason:
    return cells if isinstance(cells, Reason) else Summed(cells)


def left_out(
    compute: Callable[[WholeT], Point], groups: Grouped[WholeT]
) -> list[tuple[Point, int]]:
    """Compute a figure without each group.

    Returns:
        Per different group the figure without one such group, and how many such groups there are.
    """
    return [(compute(groups.total.without(kind)), times) for kind, times in groups.kinds]


def jackknifed(
    compute: Callable[[WholeT], Point],
    units: Callable[[WholeT], int],
    groups: Grouped[WholeT],
    scale: Scale,
    level: float = LEVEL,
) -> Estimate:
    """Compute a figure with its interval, leaving out one group at a time.

    Args:
        compute: The figure.
        units: How many units enter it.
        groups: Only those with units that enter are counted and left out: a conversation without
            a flagged claim says nothing about precision.
        scale: What kind of figure it is.
        level: Confidence level in (0, 1).
    """
    total = groups.total
    entering = [(kind, times) for kind, times in groups.kinds if units(kind)]
    count = sum([times for _, times in entering])
    value = compute(total)
    # Of so few groups only their number matters, and most parts of a breakdown have so few.
    without = (
        [(value, count)]
        if count < FEWEST_GROUPS
        else [(compute(total.without(kind)), times) for kind, times in entering]
    )
    return estimate(value, without, scale, n=units(total), level=level)


def measure_ratings(
    compute: RatingFigure, groups: Grouped[Ratings], scale: Scale, level: float = LEVEL
) -> Estimate:
    """Estimate a figure of several raters; `n` counts units with two ratings or more."""
    return jackknifed(compute, lambda ratings: ratings.pairable, groups, scale, level)
