"""What people say among themselves: each against the judge, each other, blind against shown."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, compress
from statistics import median
from typing import NamedTuple, TypeVar

from faithtui.agreement.labelled_units import ClaimReading
from faithtui.agreement.report.level_figures import Compared
from faithtui.agreement.report.tables import Figures
from faithtui.agreement.report.unit_columns import ClaimColumns, OpinionColumns
from faithtui.agreement.report.values.annotators import (
    AnchoringReport,
    HumanReport,
    PairReport,
    RaterReport,
)
from faithtui.agreement.statistics import ratings
from faithtui.agreement.statistics.alpha import MeasurementLevel
from faithtui.agreement.statistics.intervals import Scale
from faithtui.agreement.statistics.jackknife import measure_ratings
from faithtui.agreement.statistics.shares import share_difference
from faithtui.agreement.statistics.table_groups import cross_table
from faithtui.domain.annotations import Action

ValueT = TypeVar("ValueT")

MOST_PAIRS = 45
"""Pairs of people listed: those of ten people. More are a table nobody reads."""


class Given(NamedTuple):
    """What is kept of opinions, in columns."""

    reviewer: Sequence[str]
    blind: Sequence[bool | None]
    seconds: Sequence[float | None]

    @classmethod
    def of(cls, opinions: OpinionColumns) -> "Given":
        """Let go of the rest: of a million opinions a column takes 8 MB."""
        return cls(opinions.reviewer, opinions.blind, opinions.seconds)


class Said:
    """What people said of claims one by one, without final words after a talk."""

    def __init__(self, compared: Compared) -> None:
        """Put the opinions on the claims that the figures are about into columns."""
        figures, claims = compared.figures, compared.inside
        numbers = [*map(len, claims.opinions)]
        owners: Sequence[int] = range(len(numbers))
        """Place of the claim of each opinion."""
        if set(numbers) != {1}:
            owners = [place for place, number in enumerate(numbers) for _ in range(number)]
        opinions = OpinionColumns.of(chain.from_iterable(claims.opinions))
        self.came = (
            opinions.order
            if isinstance(owners, range)
            else [max([each.order for each in said], default=0) for said in claims.opinions]
        )
        """Place in the log of the last verdict that each claim's consensus rests on."""
        # Of a million opinions hardly any has a code.
        coded = zip(opinions.code, owners, strict=True) if any(opinions.code) else ()
        self.coded = [(code, place) for code, place in coded if code is not None]
        """Reason codes, and the place of the claim that each is about."""
        if Action.ADJUDICATED in opinions.action:
            own = [action is not Action.ADJUDICATED for action in opinions.action]
            owners, opinions = list(compress(owners, own)), opinions.where(own)
        self.opinions = Given.of(opinions)
        """All of them, words that are no label of the metric included."""
        known = set(figures.categories)
        if not known.issuperset(opinions.verdict):
            valid = [verdict in known for verdict in opinions.verdict]
            owners, opinions = list(compress(owners, valid)), opinions.where(valid)
        self.valid = Given.of(opinions)
        """Those that are a label of the metric."""
        # Where one person labelled, what people say is what that person says.
        alike = isinstance(owners, range) and opinions.verdict == claims.human
        self.units = (
            compared.units
            if alike
            else figures.units(
                [claims.group[place] for place in owners],
                opinions.verdict,
                [str(claims.judge[place]) for place in owners],
                [claims.stratum[place] for place in owners] if figures.frame is not None else (),
            )
        )
        """The valid ones beside the judge."""
        self.part = compared.part if alike else figures.part(self.units)
        """Their tables by group."""


def rater_reports(said: Said, figures: Figures) -> tuple[RaterReport, ...]:
    """Hold the judge against each person, by name."""
    own = _by_reviewer(said.opinions.reviewer)
    places = _by_reviewer(said.valid.reviewer)
    agreed = figures.agreed_cells
    found = []
    for reviewer in sorted(own):
        blind = _taken(said.opinions.blind, own[reviewer])
        seconds = _taken(said.opinions.seconds, own[reviewer])
        mine = places.get(reviewer, ())
        alone = len(mine) == len(said.units)
        units = said.units if alone else said.units.taken(mine)
        timed = [each for each in seconds if each is not None]
        found.append(
            RaterReport(
                reviewer=reviewer,
                labels=len(blind),
                blind=blind.count(True),
                overrides=sum([cell not in agreed for cell in units.cells]),
                median_s=median(timed) if timed else None,
                agreement=figures.agreement(said.part if alone else figures.part(units)),
            )
        )
    return tuple(found)


def _taken(column: Sequence[ValueT], places: Sequence[int]) -> Sequence[ValueT]:
    """Take what is at some places; a range is all of them."""
    return column if isinstance(places, range) else [column[place] for place in places]


def _by_reviewer(reviewers: Sequence[str]) -> dict[str, Sequence[int]]:
    """Give the places of each person; a range if there is only one."""
    names = set(reviewers)
    if len(names) == 1:
        return {name: range(len(reviewers)) for name in names}
    found: dict[str, list[int]] = {name: [] for name in names}
    for place, name in enumerate(reviewers):
        found[name].append(place)
    return {**found}


def human_report(claims: ClaimColumns, figures: Figures) -> HumanReport | None:
    """Compare people with each other; None unless two of them labelled the same unit.

    The judge does not enter, and every unit counts once: who labels a second time is not drawn by
    the sample's design.
    """
    numbers = [*map(len, claims.opinions)]
    if max(numbers, default=0) < 2:
        return None
    several = [claim for claim, number in zip(claims.rows, numbers, strict=True) if number > 1]
    shared = [(claim.group, words) for claim in several if len(words := _words(claim, figures)) > 1]
    if not shared:
        return None
    whole = ratings.grouped_ratings(
        ((group, [word for _, word in words]) for group, words in shared), figures.categories
    )
    level = figures.settings.level
    measured = MeasurementLevel.ORDINAL if figures.settings.ordinal else MeasurementLevel.NOMINAL
    return HumanReport(
        raters=len({reviewer for claim in claims.rows for reviewer, _ in _words(claim, figures)}),
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
    known = said.valid.blind
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
