"""Two judges on the same units, each held against people."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from faithtui.domain.agreement import PERCENT
from faithtui.domain.estimates import Estimate, Point, Reason
from faithtui.domain.intervals import Scale, estimate
from faithtui.domain.report_tables import Figures, Unit
from faithtui.domain.report_values import ComparisonReport
from faithtui.domain.statistics.coefficients import cohen_kappa, percent_agreement
from faithtui.domain.statistics.paired import (
    DiscordantGroup,
    durkalski,
    holm,
    mcnemar_mid,
    sign_flip,
)
from faithtui.domain.statistics.tables import Counted, Table, cross_table


@dataclass(frozen=True, slots=True)
class PairedUnit:
    """A unit that both judges gave a label."""

    group: str
    a: str
    b: str
    human: str | None
    """Consensus of people; None: no label of the metric."""


def comparisons(
    pairs: Sequence[tuple[str, str, Sequence[PairedUnit]]], figures: Figures
) -> tuple[ComparisonReport, ...]:
    """Compare pairs of judges; p values are adjusted for all of them together.

    Args:
        pairs: Name of judge A, of judge B, and the units both judged.
        figures: How figures are computed; every unit weighs the same.
    """
    found = [_compared(a, b, units, figures) for a, b, units in pairs]
    known = [each.signflip_p for each in found if each.signflip_p is not None]
    adjusted = iter(holm(known))
    return tuple(
        replace(
            each,
            comparisons=len(found),
            holm_p=None if each.signflip_p is None else next(adjusted),
        )
        for each in found
    )


def _compared(a: str, b: str, units: Sequence[PairedUnit], figures: Figures) -> ComparisonReport:
    level = figures.settings.level
    judges = figures.agreement(figures.plain(Unit(each.group, each.a, each.b) for each in units))
    labelled = [each for each in units if each.human in figures.categories]
    by_group: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for each in labelled:
        by_group[each.group].append((str(each.human), each.a, each.b))
    discordant = []
    differences = []
    for rows in by_group.values():
        only_a = sum(human == first != second for human, first, second in rows)
        only_b = sum(human == second != first for human, first, second in rows)
        discordant.append(DiscordantGroup(len(rows), only_a, only_b))
        differences.append(float(only_b - only_a))
    only_a = sum(each.b for each in discordant)
    only_b = sum(each.c for each in discordant)
    accuracy_a = figures.plain(Unit(each.group, str(each.human), each.a) for each in labelled)
    accuracy_b = figures.plain(Unit(each.group, str(each.human), each.b) for each in labelled)
    flipped = sign_flip(differences, seed=figures.settings.seed)
    clustered = durkalski(discordant)
    plain = mcnemar_mid(only_a, only_b)
    return ComparisonReport(
        a=a,
        b=b,
        common=len(labelled),
        clusters=len(by_group),
        judges=judges,
        accuracy_a=figures.one(PERCENT, accuracy_a),
        accuracy_b=figures.one(PERCENT, accuracy_b),
        difference=_difference(by_group, figures.categories, level, percent_agreement),
        kappa_difference=_difference(by_group, figures.categories, level, cohen_kappa),
        only_a=only_a,
        only_b=only_b,
        signflip_p=None if isinstance(flipped, Reason) else flipped.p,
        durkalski_p=None if isinstance(clustered, Reason) else clustered.p,
        mcnemar_p=None if isinstance(plain, Reason) else plain,
        comparisons=1,
        holm_p=None,
    )


def _difference(
    by_group: Mapping[str, Sequence[tuple[str, str, str]]],
    categories: tuple[str, ...],
    level: float,
    compute: Callable[[Counted], Point],
) -> Estimate:
    """Estimate a figure of judge B minus that of judge A, leaving out one group at a time."""
    kinds: Counter[tuple[Table, Table]] = Counter()
    for rows in by_group.values():
        first = cross_table((("", human, a) for human, a, _ in rows), categories).total
        second = cross_table((("", human, b) for human, _, b in rows), categories).total
        kinds[first, second] += 1
    units = [(human, a, b) for rows in by_group.values() for human, a, b in rows]
    all_a = cross_table((("", human, a) for human, a, _ in units), categories).total
    all_b = cross_table((("", human, b) for human, _, b in units), categories).total

    def gap(first: Table, second: Table) -> Point:
        one, other = compute(first), compute(second)
        if isinstance(one, Reason) or isinstance(other, Reason):
            return one if isinstance(one, Reason) else other
        return other - one

    ordered = sorted(kinds.items(), key=lambda each: (each[0][0].counts, each[0][1].counts))
    left_out = [
        (gap(all_a.without(first), all_b.without(second)), times)
        for (first, second), times in ordered
    ]
    return estimate(gap(all_a, all_b), left_out, Scale.NATURAL, n=len(units), level=level)
