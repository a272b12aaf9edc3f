"""What people say among themselves: each against the judge, each other, blind against shown."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, compress
from statistics import median

from faithtui.domain.intervals import Scale
from faithtui.domain.levels import Compared
from faithtui.domain.readings import ClaimReading
from faithtui.domain.report_tables import Figures
from faithtui.domain.reported.people import AnchoringReport, HumanReport, PairReport, RaterReport
from faithtui.domain.review import Action
from faithtui.domain.statistics import ratings
from faithtui.domain.statistics.alpha import MeasurementLevel
from faithtui.domain.statistics.leaving_out import measure_ratings
from faithtui.domain.statistics.shares import share_difference
from faithtui.domain.statistics.table_groups import cross_table

MOST_PAIRS = 45
"""Pairs of people listed: those of ten people. More are a table nobody reads."""


class Said:
    """What people said of claims one by one, without final words after a talk."""

    def __init__(self, compared: Compared) -> None:
        """Put the opinions on the claims that the figures are about into columns."""
        figures, claims = compared.figures, compared.inside
        owners = [claim for claim in claims for _ in claim.opinions]
        opinions = [opinion for claim in claims for opinion in claim.opinions]
        own = [opinion.action is not Action.ADJUDICATED for opinion in opinions]
        if not all(own):
            owners, opinions = list(compress(owners, own)), list(compress(opinions, own))
        self.opinions = opinions
        """All of them, words that are no label of the metric included."""
        verdicts = [opinion.verdict for opinion in opinions]
        known = set(figures.categories)
        if not known.issuperset(verdicts):
            is_known = [verdict in known for verdict in verdicts]
            owners, opinions = list(compress(owners, is_known)), list(compress(opinions, is_known))
            verdicts = list(compress(verdicts, is_known))
        self.valid = opinions
        """Those that are a label of the metric."""
        self.reviewers = [opinion.reviewer for opinion in opinions]
        """Of the valid ones."""
        units = figures.units(
            [claim.group for claim in owners],
            verdicts,
            [str(claim.judge) for claim in owners],
            [claim.stratum for claim in owners] if figures.frame is not None else (),
        )
        alike = units == compared.units
        self.units = units
        """The valid ones beside the judge."""
        self.part = compared.part if alike else figures.part(units)
        """Their tables by group. Where one person labelled, they are those of the claims."""


def rater_reports(said: Said, figures: Figures) -> tuple[RaterReport, ...]:
    """Hold the judge against each person, by name."""
    own = _by_reviewer([each.reviewer for each in said.opinions])
    places = _by_reviewer(said.reviewers)
    agreed = figures.agreed_cells
    found = []
    for reviewer in sorted(own):
        opinions = [said.opinions[place] for place in own[reviewer]]
        mine = places.get(reviewer, ())
        alone = len(mine) == len(said.units)
        units = said.units if alone else said.units.taken(mine)
        seconds = [each.seconds for each in opinions if each.seconds is not None]
        found.append(
            RaterReport(
                reviewer=reviewer,
                labels=len(opinions),
                blind=sum([each.blind is True for each in opinions]),
                overrides=sum([cell not in agreed for cell in units.cells]),
                median_s=median(seconds) if seconds else None,
                agreement=figures.agreement(said.part if alone else figures.part(units)),
            )
        )
    return tuple(found)


def _by_reviewer(reviewers: Sequence[str]) -> dict[str, Sequence[int]]:
    """Give the places of each person."""
    names = set(reviewers)
    if len(names) == 1:
        return {name: range(len(reviewers)) for name in names}
    found: dict[str, list[int]] = {name: [] for name in names}
    for place, name in enumerate(reviewers):
        found[name].append(place)
    return {**found}


def human_report(claims: Sequence[ClaimReading], figures: Figures) -> HumanReport | None:
    """Compare people with each other; None unless two of them labelled the same unit.

    The judge does not enter, and every unit counts once: who labels a second time is not drawn by
    the sample's design.
    """
    numbers = [len(claim.opinions) for claim in claims]
    if max(numbers, default=0) < 2:
        return None
    several = [claim for claim, number in zip(claims, numbers, strict=True) if number > 1]
    shared = [(claim.group, words) for claim in several if len(words := _words(claim, figures)) > 1]
    if not shared:
        return None
    whole = ratings.grouped_ratings(
        ((group, [word for _, word in words]) for group, words in shared), figures.categories
    )
    level = figures.settings.level
    measured = MeasurementLevel.ORDINAL if figures.settings.ordinal else MeasurementLevel.NOMINAL
    return HumanReport(
        raters=len({reviewer for claim in claims for reviewer, _ in _words(claim, figures)}),
        units=len(shared),
        percent=measure_ratings(ratings.percent_agreement, whole, Scale.LOGIT, level),
        krippendorff_alpha=measure_ratings(
            lambda found: ratings.krippendorff_alpha(found, measured), whole, Scale.ATANH, level
        ),
        gwet_ac1=measure_ratings(ratings.gwet_ac1, whole, Scale.ATANH, level),
        fleiss_kappa=measure_ratings(ratings.fleiss_kappa, whole, Scale.ATANH, level),
        pairs=tuple(_pairs(shared, figures)),
    )


def _words(claim: ClaimReading, figures: Figures) -> list[tuple[str, str]]:
    """List who said what of a claim, in words of the metric."""
    return [
        (each.reviewer, each.verdict)
        for each in claim.opinions
        if each.action is not Action.ADJUDICATED and each.verdict in figures.categories
    ]


def _pairs(
    shared: Sequence[tuple[str, list[tuple[str, str]]]], figures: Figures
) -> Iterator[PairReport]:
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for group, words in shared:
        for (first, one), (second, other) in combinations(sorted(words), 2):
            found[first, second].append((group, one, other))
    most = Counter({pair: len(rows) for pair, rows in found.items()}).most_common(MOST_PAIRS)
    for pair in sorted(pair for pair, _ in most):
        whole = cross_table(found[pair], figures.categories)
        yield PairReport(*pair, figures.agreement(whole))


def anchoring_report(said: Said, figures: Figures) -> AnchoringReport | None:
    """Compare verdicts given blind with verdicts given with the judge's word in view.

    Both weigh as the sample has it.

    Returns:
        None unless there are both.
    """
    known = [each.blind for each in said.valid]
    # Of a million labels most often all are of one kind, and nothing is to be compared.
    if True not in known or False not in known:
        return None
    blind = said.units.taken([place for place, each in enumerate(known) if each is True])
    shown = said.units.taken([place for place, each in enumerate(known) if each is False])
    agreed = figures.agreed_cells
    difference = share_difference(
        (
            (group, is_shown, cell in agreed, weight)
            for is_shown, units in ((True, shown), (False, blind))
            for group, cell, weight in zip(
                units.groups, units.cells, figures.weights(units), strict=True
            )
            if weight
        ),
        figures.settings.level,
    )
    return AnchoringReport(
        blind=figures.agreement(figures.part(blind)),
        shown=figures.agreement(figures.part(shown)),
        difference=difference,
    )
