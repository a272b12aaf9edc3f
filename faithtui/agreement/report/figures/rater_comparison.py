"""Judges and annotators on the same claims: their labels, and their second labels.

The values that the store reads and screens list; `compare` computes figures from them. Nothing here
loads numpy.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import (
    COUNTED_ACTIONS,
    VERDICT_ACTIONS,
    Action,
    HumanVerdict,
    LabelEvent,
    drop_withdrawn_events,
    list_top_verdicts,
)


@dataclass(frozen=True, slots=True)
class ClaimOpinions:
    """The verdicts and labels of one claim, in the words of one run."""

    claim: ClaimId
    item: ItemId
    """Its conversation in that run."""
    group: str
    """What must stay together when conversations are left out."""
    opinions: tuple[HumanVerdict, ...]
    """Counted labels, one per annotator, before any final label."""
    final: HumanVerdict | None
    """The final label; None while there is none."""
    judges: Mapping[RunId, str | None]
    """Home label by run, of all runs that judged it; None: that judge gave none."""
    flagged: bool = False
    """Somebody wants to talk about it."""

    @property
    def has_disagreement(self) -> bool:
        """Whether annotators differ."""
        return len({each.verdict for each in self.opinions}) > 1

    @property
    def is_undecided(self) -> bool:
        """Whether a final label is needed; until then no judge may be seen."""
        return self.has_disagreement and self.final is None

    @property
    def human_label(self) -> str | None:
        """The final label, else the consensus of annotators; None without one."""
        if self.final is not None:
            return self.final.verdict
        words = list_top_verdicts(self.opinions)
        return words[0] if len(words) == 1 else None


class ComparisonFilter(StrEnum):
    """Which claims are listed."""

    HUMANS = "humans differ"
    FINAL = "judge vs final"
    """The run's verdict differs from the final human label. Claims that need a final label are left
    out: being listed would show what the judge says."""
    JUDGES = "judge vs judge"
    """Judges of different runs say different things."""


def matches_filter(claim: ClaimOpinions, chosen: ComparisonFilter, run: RunId) -> bool:
    """Say whether a claim belongs to a list of a run."""
    match chosen:
        case ComparisonFilter.HUMANS:
            return claim.has_disagreement
        case ComparisonFilter.FINAL:
            word = claim.human_label
            return word is not None and not claim.is_undecided and claim.judges.get(run) != word
        case ComparisonFilter.JUDGES:
            return len(set(claim.judges.values())) > 1


def order_opinions_anonymously(claim: ClaimOpinions) -> tuple[HumanVerdict, ...]:
    """Put labels in the order in which they are shown without names: A, B, ….

    The order is fixed for a claim and looks random over claims, so that nobody is always A.
    """

    def make_sort_key(opinion: HumanVerdict) -> bytes:
        name = f"{claim.claim}\x00{opinion.reviewer}".encode(errors="surrogatepass")
        return hashlib.sha256(name).digest()

    return tuple(sorted(claim.opinions, key=make_sort_key))


@dataclass(frozen=True, slots=True)
class RepeatedLabel:
    """A second label in the words of a run, with what statistics need to know."""

    reviewer: str
    group: str
    """What the claim belongs together with."""
    first: str
    second: str
    gap_s: float
    """Seconds between the two."""


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """How often an annotator gives the same label again."""

    reviewer: str
    same: Estimate
    """Share of claims with the same verdict, in [0, 1]."""
    kappa: Estimate
    """Cohen's kappa of second and first verdicts."""
    gap_s: float
    """Median of the seconds between the two."""

    @property
    def n(self) -> int:
        """Claims that were judged again."""
        return self.same.n


def list_repeated_verdicts(log: Iterable[LabelEvent]) -> tuple[tuple[LabelEvent, LabelEvent], ...]:
    """Find labels and the second labels that were given after them.

    Args:
        log: Events in the order of the log; any claims, any annotators. What was withdrawn does not
            count.

    Returns:
        Pairs, in the order in which the log has the second ones. One without a counted first one
        is left out; a third one is compared with the first, because a repeat changes nothing.
    """
    stood: dict[tuple[ClaimId, str], LabelEvent] = {}
    found: list[tuple[LabelEvent, LabelEvent]] = []
    for act in drop_withdrawn_events(log):
        key = (act.claim, act.reviewer)
        if act.action is Action.REPEATED:
            first = stood.get(key)
            if act.verdict is not None and first is not None:
                found.append((first, act))
        elif act.action in VERDICT_ACTIONS and act.action is not Action.SKIPPED:
            if act.action in COUNTED_ACTIONS and act.verdict is not None:
                stood[key] = act
            else:
                stood.pop(key, None)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RaterFigures:
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
    """A run's judge against the final labels."""

    run: RunId
    figures: RaterFigures


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """One annotator against the consensus of the others."""

    reviewer: str
    claims: int
    """Claims with a counted verdict of theirs."""
    figures: RaterFigures
    self_agreement: SelfAgreement | None
    """Their self-agreement; None without second labels."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two annotators on the claims both labelled."""

    first: str
    second: str
    figures: RaterFigures


@dataclass(frozen=True, slots=True)
class RaterComparison:
    """Everybody who rated claims of a run."""

    judges: tuple[JudgeRow, ...]
    people: tuple[ReviewerRow, ...]
    pairs: tuple[PairRow, ...]
