"""What agreement is computed from: one reading per unique claim, one per rated answer."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from faithtui.agreement.population import Population
from faithtui.domain.ids import ClaimId, ClaimSetId, ConversationId, RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import Score

Duplicates = Literal["first_window", "majority", "worst", "latest"]
"""Which of a claim's windows the judge's label is taken from. `first_window` and `latest` take what
was said there, no verdict included; the others combine the verdicts there are, and a majority that
is tied goes to the most severe."""


@dataclass(frozen=True, slots=True)
class UnitSettings:
    """What of a run is read, and how it counts."""

    duplicates: Duplicates = "first_window"
    sample: SampleId | None = None
    """The sample to rest on; None: the one with the most labelled claims."""
    claim_set: ClaimSetId | None = None
    """The version of a claim set to rest on, to whose claims the run's own are matched."""
    blind_only: bool = False
    """Labels given with the judge's verdict in view are read as if they were not there, so that an
    earlier blind one of the same annotator stands."""
    metadata_keys: tuple[str, ...] = ()
    """Keys of the conversations' metadata to read the values of."""


class LabelState(StrEnum):
    """Whether a claim is labelled, by all annotators together."""

    UNREVIEWED = "unreviewed"
    """Nobody said anything: neither agreed nor disagreed."""
    LABELLED = "labelled"
    """An annotator gave a label that counts, `x` included."""
    SKIPPED = "skipped"
    """An annotator skipped it, and nobody labelled it."""
    BULK = "bulk"
    """Labelled in bulk, or by taking over the judge's verdict, alone: not counted in agreement."""
    STALE = "stale"
    """Labelled with the judge's verdict in view, and this run's judge says otherwise by now."""
    IN_VIEW = "in_view"
    """Labelled with a judge's verdict in view alone, where only blind labels count."""


class Opinion(NamedTuple):
    """One annotator's label that counts.

    A tuple, as there may be a million: it is made seven times as fast as a frozen dataclass.
    """

    reviewer: str
    verdict: str
    """In the words of the run's metric, `x` included, or a word that means nothing there."""
    action: Action
    blind: bool | None
    """Given before the judge's verdict was known; None: not known. Imported ones are blind unless
    their data say otherwise."""
    seconds: float | None = None
    """How long the claim was on screen."""
    code: str | None = None
    """Reason code: the stage that failed."""
    order: int = 0
    """Place in the log: larger is later. Draws the progress."""
    unverified: bool = False
    """It came with a bundle of which nothing says that it is what was exported."""
    came_with_data: bool = False
    """It was given elsewhere; `action` is then `IMPORTED`, or `ADJUDICATED` of a final label."""


def count_votes_or_final_verdict(
    opinions: Iterable[Opinion], words: Mapping[str, str]
) -> Counter[str]:
    """Count human labels on a unit; the last final label stands for all.

    Args:
        opinions: Labels that count, in the order in which they were given.
        words: What each verdict is read as; others mean nothing.
    """
    known = [each for each in opinions if each.verdict in words]
    final = [each for each in known if each.action is Action.ADJUDICATED]
    return Counter(words[each.verdict] for each in (final[-1:] or known))


def list_most_voted_labels(votes: Counter[str]) -> tuple[str, ...]:
    """Name the labels with the most votes: one, several for a tie, or none."""
    most = max(votes.values(), default=0)
    return tuple(word for word, count in votes.items() if count == most)


def is_tied(opinions: Sequence[Opinion], labels: Collection[str]) -> bool:
    """Say whether a unit is a tie between labels of a metric, or `x`."""
    return bool(list_tied_labels(opinions, labels))


def list_tied_labels(opinions: Sequence[Opinion], labels: Collection[str]) -> tuple[str, ...]:
    """List the labels, `x` among them, between which a unit is a tie; () where it is none."""
    if len(opinions) < 2:
        return ()
    words = {
        each.verdict: each.verdict
        for each in opinions
        if not labels or each.verdict in labels or each.verdict == NOT_A_CLAIM
    }
    winners = list_most_voted_labels(count_votes_or_final_verdict(opinions, words))
    return winners if len(winners) > 1 else ()


class ClaimUnit(NamedTuple):
    """A unique claim, statement or answer, the judge's verdict and the human labels.

    A tuple, as `Opinion` is.
    """

    claim: ClaimId
    conversation: ConversationId
    key: str
    """The conversation's own id, for readers."""
    group: str
    """What must stay together when conversations are left out."""
    turn: int
    text: str
    judge: str | None
    """Label of the claim's home window (the first that holds it), or by another rule for
    duplicates if the report was asked for one; None: no verdict."""
    human: str | None
    """Consensus of annotators in the words of the run's metric, `x` included, or a word that means
    nothing there; None: unreviewed, which is not agreement."""
    reviewers: int
    """How many annotators gave a label that counts."""
    windows: int
    """How many windows hold the claim."""
    steady: bool
    """The judge gave the same label in all of them."""
    blind: bool | None = None
    """Every verdict in the consensus was given before the judge's was shown, as imported ones
    are; None: not known, or unreviewed."""
    state: LabelState = LabelState.UNREVIEWED
    opinions: tuple[Opinion, ...] = ()
    """Labels that count, one per annotator, in the order in which they were given. A final label
    (`ADJUDICATED`) stands beside the earlier label of its giver, or annotators who differed and
    then settled it would seem to have agreed."""
    confidence: float | None = None
    """The judge's probability in [0, 1] that the claim is supported, in its home window."""
    stratum: str | None = None
    """Stratum of the claim in the frame of the sample the report rests on, drawn or not; None
    where no sample was drawn by strata."""
    position: int | None = None
    """Place in the drawn order of that sample, from 0; None: not drawn."""
    audit: bool = False
    """Drawn to be served with the judge's verdict in view, to measure its pull: in no figure but
    that one."""


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """An answer that annotators rated as a whole, and the judge's score of that answer alone."""

    conversation: ConversationId
    key: str
    group: str
    turn: int
    score: Score
    """Passing claims of this answer / its claims; by the metric's rule."""
    claims: int
    """0: nothing to judge, so the score says nothing about the judge."""
    passes: bool | None
    """The score meets the threshold; None when there is none."""
    human: str | None
    """Majority of human labels in the words of the run's metric; None when none of them means
    anything there, and when the answer is labelled `x`."""
    rating: float | None
    """Mean of annotators' ratings, in [0, 1]; None when the scale has none."""
    raters: int
    opinions: tuple[Opinion, ...] = ()
    """Labels of the answer as a whole, one per annotator, imported and given here."""
    claim: ClaimId | None = None
    """What these labels belong to in the store; None: they are from elsewhere."""


def decide_answer_by_majority(
    answer: AnswerUnit, passing: Collection[str], labels: Collection[str]
) -> bool | None:
    """Say whether most annotators pass an answer; None without a label, or for a tie.

    Args:
        answer: With their labels.
        passing: Labels that pass.
        labels: All labels of the metric; (): any word is one.
    """
    if answer.human is None:
        return None
    words = {
        each.verdict: "pass" if each.verdict in passing else "fail"
        for each in answer.opinions
        if not labels or each.verdict in labels
    }
    winners = list_most_voted_labels(count_votes_or_final_verdict(answer.opinions, words))
    if not winners:
        return answer.human in passing
    return winners[0] == "pass" if len(winners) == 1 else None


def is_answer_passed_by_judge(answer: AnswerUnit) -> bool | None:
    """Say whether the judge passes an answer; None: nothing was judged in it, or no threshold."""
    return answer.passes if answer.claims and answer.score.value is not None else None


class UnratedAnswer(NamedTuple):
    """An answer of a run that nobody rated as a whole, while others were."""

    conversation: ConversationId
    group: str
    passes: bool | None
    """By the judge's score of that answer alone; None: nothing was judged in it, or it has no
    score or no threshold to meet."""
    key: str = ""
    """The conversation's own id."""
    turn: int = 0
    score: float | None = None
    claims: int = 0


class ScoredUnit(StrEnum):
    """What has a score."""

    WINDOW = "window"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class UnitScores:
    """A window or a conversation: the judge's score, and the same formula on human labels."""

    unit: ScoredUnit
    key: str
    """The conversation's own id."""
    group: str
    window: int | None
    """Number of the window in its conversation, from 0; None for a conversation."""
    judge: float | None
    """In [0, 1]; None: no score."""
    human: float | None
    """The metric's formula on human labels; None unless every claim has one."""
    claims: int
    """Unique claims in it; 0: it has no score, or one that a rule fixes and that says nothing."""
    labelled: int
    """Of those, the ones with a human label that counts."""
    human_bounds: tuple[float, float] | None = None
    """The formula on human labels with the claims that have none, or a tie, as failing and as
    passing: equal where every claim has one. None where nobody has come to the unit, as where
    conversations are drawn and it is of none of the first ones, and where there is no formula."""


class DesignKind(StrEnum):
    """How the labelled claims were chosen. Exported word for word."""

    NONE = "none"
    """No claim has a human label."""
    CENSUS = "census"
    """All have."""
    SIMPLE = "simple_random"
    STRATIFIED = "stratified"
    CLUSTER = "cluster"
    """Whole conversations, drawn at random."""
    OVERRIDE_ONLY = "override_only"
    """Only where annotators differ from the judge, as when a reviewer only corrects."""
    CONVENIENCE = "convenience"
    """Some have, and nothing says they were drawn at random."""


RANDOM_DESIGNS: Final = (DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.CLUSTER)
"""Designs that rest on a random sample."""


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """A stratum of the sample a report rests on. All counts are claims."""

    name: str
    population: int
    """In the frame."""
    drawn: int
    labelled: int
    """Drawn and labelled."""
    skipped: int
    """Drawn, skipped, and not labelled."""


@dataclass(frozen=True, slots=True)
class LabelDesign:
    """How the labels a report rests on were chosen."""

    kind: DesignKind
    frame_units: int
    """Claims that could have been drawn: those of the run, but for census and samples alike."""
    strata: tuple[StratumCounts, ...] = ()
    """() without a sample."""
    sample: SampleId | None = None
    name: str = ""
    seed: int | None = None
    random_prefix: bool = False
    """What is labelled follows the drawn order without a gap but for skipped ones, so that
    stopping early is harmless."""
    passed_over: int = 0
    """Claims of the sample, with `CLUSTER` conversations, that are still to do before labelled
    ones, in the drawn order. Where somebody chose what is labelled, and not the draw, `kind` is
    `CONVENIENCE`, and what is skipped is counted too."""
    in_view: int = 0
    """Drawn claims that were to be labelled blind, and were labelled with a judge's verdict in view
    where only blind labels count."""
    outside: int = 0
    """Labelled claims that are not of the sample: left out of its figures."""
    conversations: int = 0
    """Conversations in the frame; with `CLUSTER`, what was drawn from."""
    drawn_conversations: int = 0
    """With `CLUSTER`: labelled conversations, of whose claims at most a few are still to do."""
    rated: bool = False
    """What was judged are whole answers, and ratings of them came with the data: nobody knows how
    these were chosen, so that they are no census even where every answer has one."""
    drawn_in: RunId | None = None
    """The run that the sample was drawn from where that is another one; then every count above is
    of the claims that both judged."""
    claim_set: ClaimSetId | None = None
    """The version of a claim set whose labels these are; counts are as with `drawn_in`."""
    unjudged: int = 0
    """Of the claims the sample was drawn from, those that this run did not judge."""
    beyond: int = 0
    """Claims that this run judged and the sample was not drawn from: no figure is about them."""
    follows_draw: bool = False
    """This run judged claims because they were drawn, or passed them over, so that those which are
    labelled do not stand for it."""
    as_drawn: "LabelDesign | None" = None
    """With `follows_draw`, where this run judged all that was drawn: how it was drawn. A labelled
    claim stands for its stratum whoever judges it, so that judges can be compared; what this one
    says of the rest is not known."""
    population: Population | None = None
    """What was drawn from where that is not in the store: all shares are of it."""

    @property
    def is_biased_by_ignored_strata(self) -> bool:
        """Whether labels drawn by strata are counted alike, so that rare kinds weigh too much."""
        return self.as_drawn is not None and self.as_drawn.kind is DesignKind.STRATIFIED

    @property
    def is_order_broken(self) -> bool:
        """Whether there is a sample, and those who labelled chose what of it has labels."""
        return self.kind is DesignKind.CONVENIENCE and self.passed_over > 0

    @property
    def unlabelled_strata(self) -> tuple[str, ...]:
        """Names of the strata that have claims, and no label that counts; () without strata."""
        if self.kind is not DesignKind.STRATIFIED:
            return ()
        return tuple(each.name for each in self.strata if each.population and not each.labelled)

    @property
    def run_or_population_words(self) -> str:
        """What figures are about, in words for the middle of a sentence."""
        return "this run" if self.population is None else "the population"


class EvidenceUnit(NamedTuple):
    """What one annotator marked as evidence for a claim, and what the judge points at for it."""

    claim: ClaimId
    group: str
    """What must stay together when conversations are left out."""
    reviewer: str
    marked: frozenset[tuple[str, int]]
    """Words, each by the hash of its document and its place there; at least one."""
    cited: frozenset[tuple[str, int]]
    """Words of the truths that the judge named for its verdict; none where it named none."""


class ExtractionUnit(NamedTuple):
    """An answer that annotators declared complete: all its claims are known."""

    conversation: ConversationId
    group: str
    """What must stay together when conversations are left out."""
    turn: int
    fair: int
    """Claims that the judge extracted and that are not labelled `x`."""
    unfair: int
    """Claims that are."""
    unlabelled: int
    """Of the fair ones, those without a label."""
    missed: int
    """Claims that the judge did not extract."""
    reviewers: tuple[str, ...]
    """Who declared it."""


@dataclass(frozen=True, slots=True)
class MetadataValues:
    """What the conversations of a run have under one key of their metadata."""

    key: str
    values: Mapping[ConversationId, tuple[str, ...]]
    """Different values as text, in the order of the data; without conversations that have none."""


@dataclass(frozen=True, slots=True)
class RunUnits:
    """Everything of a run that a report is computed from."""

    claims: tuple[ClaimUnit, ...]
    """In the order of the run."""
    answers: tuple[AnswerUnit, ...]
    scores: tuple[UnitScores, ...]
    """Windows first, in the order of the run."""
    design: LabelDesign
    """Of the claims."""
    unrated: tuple[UnratedAnswer, ...] = ()
    """Beside `answers`, all other answers of the run; () where nobody rated any."""
    evidence: tuple[EvidenceUnit, ...] = ()
    """Of claims that the judge gave a verdict on, in the order of the run."""
    extraction: tuple[ExtractionUnit, ...] = ()
    """In the order of the run; () where the judge extracts nothing from answers."""
    metadata: tuple[MetadataValues, ...] = ()
    """One for each key that was asked for."""


@dataclass(frozen=True, slots=True)
class PairedClaim:
    """A claim that two runs judged, with both verdicts and the human labels."""

    claim: ClaimId
    conversation: ConversationId
    group: str
    """What must stay together when conversations are left out."""
    first: str | None
    """Label of the first run's judge, in the claim's home window there; None: no verdict."""
    second: str | None
    """The same of the second run."""
    human: str | None
    """Consensus of annotators in the words of both runs, `x` included, or a word that means nothing
    there; None: no label that counts, or as many for one as for another."""
    blind: bool | None
    """Every verdict in the consensus was given before a judge's was shown; None: without any. A
    label given with one judge in view favours that one."""


@dataclass(frozen=True, slots=True)
class PairedClaims:
    """Two runs on the claims that both judged."""

    claims: tuple[PairedClaim, ...]
    """In the order of the first run."""
    only_first: int
    """Claims that the first run judged and the second did not."""
    only_second: int
    beyond_first: int = 0
    """Claims of the first run that are none of the claim set which both are matched to."""
    beyond_second: int = 0
    """The same of the second run."""
