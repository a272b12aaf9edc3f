"""Judges and people on the same claims: where they differ, and how far each can be trusted."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from faithtui.agreement.report.self_consistency import Steadiness
from faithtui.agreement.statistics.detection import RECALL
from faithtui.agreement.statistics.figures import AC1, KAPPA, cross_table, measure
from faithtui.domain.annotations import HumanVerdict, consensus
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.label_sets import NOT_A_CLAIM, LabelSet, Polarity


@dataclass(frozen=True, slots=True)
class ComparedClaim:
    """What everybody says about one claim, in the words of one run."""

    claim: ClaimId
    item: ItemId
    """Its conversation in that run."""
    group: str
    """What must stay together when conversations are left out."""
    opinions: tuple[HumanVerdict, ...]
    """Counted verdicts, one per person, before any final word."""
    final: HumanVerdict | None
    """The final word; None while there is none."""
    judges: Mapping[RunId, str | None]
    """Home label by run, of all runs that judged it; None: that judge gave none."""
    flagged: bool = False
    """Somebody wants to talk about it."""

    @property
    def differs(self) -> bool:
        """Whether people say different things."""
        return len({each.verdict for each in self.opinions}) > 1

    @property
    def is_open(self) -> bool:
        """Whether a final word is needed; until then no judge may be seen."""
        return self.differs and self.final is None

    @property
    def word(self) -> str | None:
        """What people say in the end: the final word, else their consensus; None: nothing."""
        return self.final.verdict if self.final is not None else consensus(self.opinions)


class Filter(StrEnum):
    """Which claims are listed."""

    HUMANS = "humans differ"
    FINAL = "judge vs final"
    """The run's judge says something else than people do in the end. Claims that need a final word
    are left out: being listed would tell what the judge says."""
    JUDGES = "judge vs judge"
    """Judges of different runs say different things."""


def is_listed(claim: ComparedClaim, chosen: Filter, run: RunId) -> bool:
    """Say whether a claim belongs to a list of a run."""
    match chosen:
        case Filter.HUMANS:
            return claim.differs
        case Filter.FINAL:
            word = claim.word
            return word is not None and not claim.is_open and claim.judges.get(run) != word
        case Filter.JUDGES:
            return len(set(claim.judges.values())) > 1


def sides(claim: ComparedClaim) -> tuple[HumanVerdict, ...]:
    """Put opinions in the order in which they are shown without names: A, B, ….

    The order is fixed for a claim and looks random over claims, so that nobody is always A.
    """

    def place(opinion: HumanVerdict) -> bytes:
        name = f"{claim.claim}\x00{opinion.reviewer}".encode(errors="surrogatepass")
        return hashlib.sha256(name).digest()

    return tuple(sorted(claim.opinions, key=place))


@dataclass(frozen=True, slots=True)
class Figures:
    """How far a rater agrees with a reference."""

    kappa: Estimate
    ac1: Estimate
    recall: Estimate
    """Share of what the reference calls bad that the rater calls bad too."""

    @property
    def n(self) -> int:
        """Claims with a word of both."""
        return self.kappa.n


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A run's judge against people's last word."""

    run: RunId
    figures: Figures


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One person against the consensus of the others."""

    reviewer: str
    claims: int
    """Claims with a counted verdict of theirs."""
    figures: Figures
    again: Steadiness | None
    """How steady they are; None without second verdicts."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two people on the claims both judged."""

    first: str
    second: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Raters:
    """Everybody who rated claims of a run."""

    judges: tuple[JudgeRow, ...]
    people: tuple[PersonRow, ...]
    pairs: tuple[PairRow, ...]


def raters(
    claims: Sequence[ComparedClaim],
    runs: Sequence[RunId],
    labels: LabelSet,
    again: Sequence[Steadiness] = (),
) -> Raters:
    """Compare judges with people, and people with each other.

    Args:
        claims: All claims of a run that somebody gave a verdict on.
        runs: Runs to compare, in the order of the rows.
        labels: The metric's. `x` is a word of people alone, so it enters only where people are
            compared.
        again: Own repeats.

    Returns:
        A row per run; per person, in the order of names; per pair of people that share a claim.
    """
    steady = {each.reviewer: each for each in again}
    said = [{each.reviewer for each in claim.opinions} for claim in claims]
    people = sorted({name for words in said for name in words} | steady.keys())
    return Raters(
        tuple(
            JudgeRow(run, _figures(claims, lambda each: each.word, _judge_of(run), labels))
            for run in runs
        ),
        tuple(
            PersonRow(
                name,
                sum(name in words for words in said),
                _figures(claims, _others_than(name), _person(name), labels, among_people=True),
                steady.get(name),
            )
            for name in people
        ),
        tuple(
            PairRow(first, second, figures)
            for first, second in combinations(people, 2)
            if any(first in words and second in words for words in said)
            for figures in [
                _figures(claims, _person(first), _person(second), labels, among_people=True)
            ]
        ),
    )


_Word = Callable[[ComparedClaim], str | None]


def _judge_of(run: RunId) -> _Word:
    return lambda claim: claim.judges.get(run)


def _person(name: str) -> _Word:
    return lambda claim: next(
        (each.verdict for each in claim.opinions if each.reviewer == name), None
    )


def _others_than(name: str) -> _Word:
    return lambda claim: consensus([each for each in claim.opinions if each.reviewer != name])


def _figures(
    claims: Sequence[ComparedClaim],
    reference: _Word,
    rater: _Word,
    labels: LabelSet,
    *,
    among_people: bool = False,
) -> Figures:
    names = (*labels.names, NOT_A_CLAIM) if among_people else labels.names
    readings = [
        (claim.group, expected, found)
        for claim in claims
        if (expected := reference(claim)) in names and (found := rater(claim)) in names
    ]
    table = cross_table(
        ((group, expected, found) for group, expected, found in readings if expected and found),
        names,
    )
    bad = [label.name for label in labels.labels if label.polarity is Polarity.BAD]
    return Figures(
        measure(KAPPA, table), measure(AC1, table), measure(RECALL, table.collapsed(bad))
    )
