"""What people say among themselves: each against the judge, each other, blind against shown."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median

from faithtui.domain.intervals import Scale
from faithtui.domain.readings import ClaimReading, Opinion
from faithtui.domain.report_tables import Figures, Unit
from faithtui.domain.report_values import (
    AnchoringReport,
    HumanReport,
    PairReport,
    RaterReport,
)
from faithtui.domain.review import Action
from faithtui.domain.statistics import ratings
from faithtui.domain.statistics.alpha import MeasurementLevel
from faithtui.domain.statistics.leaving_out import measure_ratings
from faithtui.domain.statistics.shares import share_difference

MOST_PAIRS = 45
"""Pairs of people listed: those of ten people. More are a table nobody reads."""


def own_opinions(claim: ClaimReading) -> Iterator[Opinion]:
    """Give people's readings of a claim, without final words after a talk."""
    return (each for each in claim.opinions if each.action is not Action.ADJUDICATED)


def rater_reports(claims: Sequence[ClaimReading], figures: Figures) -> tuple[RaterReport, ...]:
    """Hold the judge against each person, by name.

    Args:
        claims: What the figures of the report are about.
        figures: How they are computed.
    """
    said: dict[str, list[tuple[ClaimReading, Opinion]]] = defaultdict(list)
    for claim in claims:
        for opinion in own_opinions(claim):
            said[opinion.reviewer].append((claim, opinion))
    found = []
    for reviewer, own in sorted(said.items()):
        units = [
            Unit(claim.group, opinion.verdict, claim.judge, claim.stratum)
            for claim, opinion in own
            if opinion.verdict in figures.categories
            and claim.judge is not None
            and claim.judge in figures.categories
        ]
        seconds = [opinion.seconds for _, opinion in own if opinion.seconds is not None]
        found.append(
            RaterReport(
                reviewer=reviewer,
                labels=len(own),
                blind=sum(opinion.blind is True for _, opinion in own),
                overrides=sum(unit.reference != unit.rated for unit in units),
                median_s=median(seconds) if seconds else None,
                agreement=figures.agreement(figures.part(units)),
            )
        )
    return tuple(found)


def human_report(claims: Sequence[ClaimReading], figures: Figures) -> HumanReport | None:
    """Compare people with each other; None unless two of them labelled the same unit.

    The judge does not enter, and every unit counts once: who labels a second time is not drawn by
    the sample's design.
    """
    units: list[tuple[str, list[tuple[str, str]]]] = []
    for claim in claims:
        words = [
            (each.reviewer, each.verdict)
            for each in own_opinions(claim)
            if each.verdict in figures.categories
        ]
        if words:
            units.append((claim.group, words))
    shared = [(group, words) for group, words in units if len(words) > 1]
    if not shared:
        return None
    whole = ratings.grouped_ratings(
        ((group, [word for _, word in words]) for group, words in shared), figures.categories
    )
    level = figures.settings.level
    measured = MeasurementLevel.ORDINAL if figures.settings.ordinal else MeasurementLevel.NOMINAL
    return HumanReport(
        raters=len({reviewer for _, words in units for reviewer, _ in words}),
        units=len(shared),
        percent=measure_ratings(ratings.percent_agreement, whole, Scale.LOGIT, level),
        krippendorff_alpha=measure_ratings(
            lambda found: ratings.krippendorff_alpha(found, measured), whole, Scale.ATANH, level
        ),
        gwet_ac1=measure_ratings(ratings.gwet_ac1, whole, Scale.ATANH, level),
        fleiss_kappa=measure_ratings(ratings.fleiss_kappa, whole, Scale.ATANH, level),
        pairs=tuple(_pairs(shared, figures)),
    )


def _pairs(
    shared: Sequence[tuple[str, list[tuple[str, str]]]], figures: Figures
) -> Iterator[PairReport]:
    found: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for group, words in shared:
        for (first, one), (second, other) in combinations(sorted(words), 2):
            found[first, second].append(Unit(group, one, other))
    most = Counter({pair: len(units) for pair, units in found.items()}).most_common(MOST_PAIRS)
    for pair in sorted(pair for pair, _ in most):
        yield PairReport(*pair, figures.agreement(figures.plain(found[pair])))


def anchoring_report(claims: Sequence[ClaimReading], figures: Figures) -> AnchoringReport | None:
    """Compare verdicts given blind with verdicts given with the judge's word in view.

    Returns:
        None unless there are both.
    """
    blind: list[Unit] = []
    shown: list[Unit] = []
    for claim in claims:
        if claim.judge is None or claim.judge not in figures.categories:
            continue
        for each in own_opinions(claim):
            if each.verdict in figures.categories and each.blind is not None:
                unit = Unit(claim.group, each.verdict, claim.judge, claim.stratum)
                (blind if each.blind else shown).append(unit)
    if not blind or not shown:
        return None
    difference = share_difference(
        [
            *((unit.group, True, unit.reference == unit.rated) for unit in shown),
            *((unit.group, False, unit.reference == unit.rated) for unit in blind),
        ],
        figures.settings.level,
    )
    return AnchoringReport(
        blind=figures.agreement(figures.part(blind)),
        shown=figures.agreement(figures.part(shown)),
        difference=difference.difference,
    )
