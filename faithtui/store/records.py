"""What readers of the store get: frozen, complete, named after who needs it.

Tables never leave the package; these do.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import add
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId, TruthId
from faithtui.domain.integrity.run_summary import (
    EMPTY_SUMMARY,
    NO_COUNTS,
    IntegritySummary,
    TextCounts,
)
from faithtui.domain.scores import Score, ScoreSet
from faithtui.store.runs.run_records import RunRow as RunRow
from faithtui.store.runs.run_records import RunSettings as RunSettings
from faithtui.store.runs.run_records import RunSpec as RunSpec
from faithtui.store.runs.run_records import RunState as RunState
from faithtui.store.runs.run_records import SavedView as SavedView

if TYPE_CHECKING:
    # Only named here, and slow to import.
    from faithtui.domain.claims.verdicts import ClaimKind, Stance
    from faithtui.domain.conversation import Image, Role, Span
    from faithtui.domain.integrity.findings import Finding, FindingKind
    from faithtui.domain.labels.label_events import HumanVerdict


class ItemState(StrEnum):
    """Where one conversation of a run stands."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    """At least one window failed; the others are there."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One imported data set."""

    source: str
    conversations: int
    ratings: int
    """Imported human labels, of answers and of claims."""


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """What importing a batch did."""

    new: int = 0
    unchanged: int = 0
    new_ratings: int = 0
    same_content: tuple[tuple[str, str], ...] = ()
    """Pairs of keys (new one, stored one) whose turns are equal. Both are kept, or merged."""
    merged: tuple[tuple[str, str], ...] = ()
    """Those of the pairs whose new one was not stored: its labels went to the stored one."""
    conflicting: tuple[str, ...] = ()
    """Keys that are stored with other turns. Nothing of them was written."""
    unchanged_keys: tuple[str, ...] = field(default=(), compare=False)
    """Keys of those that are unchanged, as often as each came."""
    ratings_left_out: int = 0
    """Skips, labels in bulk and accepted ones of conversations that were there already."""

    def __add__(self, later: "ImportCounts") -> "ImportCounts":
        """Count what was imported afterwards, too."""
        return ImportCounts(
            self.new + later.new,
            self.unchanged + later.unchanged,
            self.new_ratings + later.new_ratings,
            self.same_content + later.same_content,
            self.merged + later.merged,
            self.conflicting + later.conflicting,
            self.unchanged_keys + later.unchanged_keys,
            self.ratings_left_out + later.ratings_left_out,
        )


@dataclass(frozen=True, slots=True)
class EqualElsewhere:
    """New conversations of a data set whose turns another one has."""

    source: str
    """The data set."""
    other: str
    """The other one."""
    count: int
    """How many conversations of the first."""


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A conversation of a run in a list."""

    id: ItemId
    run: RunId
    conversation: ConversationId
    number: int
    """Place in the run, from 1."""
    source: str
    key: str
    opening: str
    """First characters of the first user message, for recognising it."""
    turns: int
    state: ItemState
    reason: str | None
    """Why it was skipped or failed."""
    windows: int
    scores: ScoreSet | None
    """The judge's; None while pending."""
    corrected: ScoreSet | None
    """With human labels in place; equal to `scores` while there are none."""
    claims: int
    labels: Mapping[str, int]
    """How many unique claims have each label of the judge; labels nobody got may be left out."""
    missing: int
    labelled: int
    """Claims with a human label."""
    overridden: int
    """Claims whose human consensus differs from the judge; no ties."""
    failed_windows: int = 0
    undefined_windows: int = 0
    """Windows of which the judge's labels make no score: nothing was judged or compared."""
    skipped_windows: int = 0
    """Windows to which the metric does not apply."""
    integrity: IntegritySummary = EMPTY_SUMMARY
    """Whether what the judge wrote can be found where it must come from."""
    reviewers: int = 0
    """Annotators who labelled a claim of it; only read for lists."""
    lacks_passages: bool = False
    """An answer has no passages behind it; only read for lists."""
    own_labels: int = 0
    """Claims of it that the current reviewer labelled; only read for lists."""
    answer_labels: Mapping[str, int] = field(default_factory=dict)
    """How many of its answers annotators gave each label as a whole, by majority; a tie is `tie`.
    Only read for lists."""


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A retrieved document of a turn."""

    number: int
    """P number on screen, from 1, through the conversation; the same text has one number."""
    text: str
    source: str | None
    images: "tuple[Image, ...]" = ()
    hash: str = field(default="", compare=False)
    """Names it in every store."""


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn with its documents."""

    position: int
    role: "Role"
    content: str
    documents: tuple[DocumentView, ...] | None
    """None: unknown; (): retrieval returned nothing."""
    images: "tuple[Image, ...]" = ()


@dataclass(frozen=True, slots=True)
class TruthView:
    """A truth the judge drew."""

    id: TruthId
    number: int
    """T number on screen, from 1, through the conversation."""
    text: str
    document: int | None
    """P number of its document, None when the judge saw several at once."""
    span: "Span | None"
    windows: tuple[int, ...]
    """Positions of the windows in whose view it is."""
    quote: str | None = None
    """The words of the document that the judge says state it; None: it was not asked for any."""


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A truth named for a claim."""

    truth: TruthId
    stance: "Stance"
    sets: tuple[int, ...] = ()
    """Numbers of the sets of several truths that are enough only together and that it belongs to;
    () where it supports the claim alone, and for other stances."""


@dataclass(frozen=True, slots=True)
class WindowVerdictView:
    """The judge's verdict on a claim in one window."""

    window: int
    """Position of the window."""
    label: str | None
    word: str | None
    reason: str | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A unique claim with everything said about it in this run."""

    id: ClaimId
    number: int
    """From 1, through the conversation, in the order of the answers."""
    turn: int
    text: str
    """Of a whole answer, what the turn says."""
    span: "Span | None"
    """In the turn's content; of a statement, in its document."""
    verdicts: tuple[WindowVerdictView, ...]
    """One per window that holds it, in order; the first is the home verdict. Never empty."""
    evidence: tuple[EvidenceView, ...]
    mine: "HumanVerdict | None"
    """What the current reviewer said."""
    others: "tuple[HumanVerdict, ...]"
    """The labels of other annotators."""
    human: str | None
    """Consensus of everybody, in the words of the run's metric, `x` included; `TIE` where they are
    tied, and no score counts it; None: unreviewed."""
    kind: "ClaimKind" = "claim"
    document: int | None = None
    """P number of the document a statement belongs to; None for the other kinds."""
    seen: bool = False
    """The current reviewer knows the judge's verdict on it: revealed, or shown at an earlier
    verdict, or the conversation was open with the judge in view."""

    @property
    def first_window_verdict(self) -> WindowVerdictView:
        """The home verdict."""
        return self.verdicts[0]


@dataclass(frozen=True, slots=True)
class MissedClaim:
    """A claim that annotators found in an answer and the judge of the run did not extract."""

    id: ClaimId
    turn: int
    text: str
    span: "Span | None"
    """In the answer; None: it is in other words there."""
    reviewers: tuple[str, ...]
    """Who added it."""
    is_mine: bool
    """The current reviewer did."""


@dataclass(frozen=True, slots=True)
class CompleteAnswer:
    """An answer of which annotators say that all its claims are known."""

    id: ClaimId
    """What stands for the answer as a whole."""
    turn: int
    reviewers: tuple[str, ...]
    is_mine: bool
    """The current reviewer says so."""


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window of the conversation under review."""

    position: int
    turns: tuple[int, ...]
    score: Score
    corrected: Score
    reason: str | None
    without_context: bool
    claims: tuple[ClaimId, ...]
    """Unique claims it holds, in order."""


@dataclass(frozen=True, slots=True)
class ReviewView:
    """One conversation of a run, complete, for the review screen and `faithtui show`."""

    run: RunRow
    item: ItemRow
    turns: tuple[TurnView, ...]
    windows: tuple[WindowRow, ...]
    """In order, without gaps; one still to be judged has no turns and no claims."""
    claims: tuple[ClaimView, ...]
    truths: tuple[TruthView, ...]
    reason: str | None
    """The final reason."""
    previous: ItemId | None
    """Neighbours in the run that have something to review."""
    next: ItemId | None
    hidden: frozenset[ClaimId] = frozenset()
    """Claims whose judge is kept from the reviewer.

    See `hide_judge_verdicts.hide_judge_verdicts`.
    """
    truths_whole: bool = True
    """All truths are there; while blind, only those named for claims that are open may be."""
    missed: tuple[MissedClaim, ...] = ()
    """In the order of the answers."""
    complete: tuple[CompleteAnswer, ...] = ()
    """In the order of the turns."""

    @property
    def is_blind(self) -> bool:
        """Whether anything is kept from the reviewer: then no score of the whole is shown."""
        return bool(self.hidden)

    @property
    def claims_with_judge(self) -> list[ClaimId]:
        """The claims that show the judge's verdict."""
        return [claim.id for claim in self.claims if claim.id not in self.hidden]


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image as it came: its bytes, or its address alone."""

    image: "Image"
    data: bytes | None
    """None: only the address is known."""


@dataclass(frozen=True, slots=True)
class ComparisonRun:
    """A run that judged the conversation; a column of the comparison."""

    run: RunRow
    item: ItemRow


@dataclass(frozen=True, slots=True)
class ComparisonCell:
    """What one run says about one answer alone."""

    score: Score
    """Of what was judged of this answer, by the run's rule; each once, by its home label."""
    labels: Mapping[str, int]
    """How many of its claims, statements or answers have each label of the judge."""
    missing: int
    """How many have none."""
    corrected: Score
    """The same with human labels in place."""
    reviewed: int = 0
    """How many of what was judged have one."""

    @property
    def judged_count(self) -> int:
        """How many claims, statements or answers were judged, with a label or without."""
        return sum(self.labels.values()) + self.missing


@dataclass(frozen=True, slots=True)
class ComparisonAnswer:
    """One answer and what every run says about it; a row of the comparison."""

    turn: int
    content: str
    human: str | None
    """The human label of the whole answer, or `TIE`; None: there is none."""
    cells: tuple[ComparisonCell | None, ...]
    """One per run; None: the run did not judge this answer."""


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """One conversation, as all metrics and judges see it."""

    conversation: ConversationId
    source: str
    key: str
    runs: tuple[ComparisonRun, ...]
    """The newest run of each metric and judge that has the conversation, in the order of runs."""
    answers: tuple[ComparisonAnswer, ...]


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A judge's answer, found again."""

    text: str
    stop: str
    structured: bool
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    request_id: str | None
    served_model: str | None
    latency_ms: int
    rung: str | None = None
    """The output format it was asked in, `schema`, `tool`, `json` or `text`; None: in none. Stores
    and journals have it under this name."""
    tokens_cache_write: int | None = None
    tokens_reasoning: int | None = None
    cost_nusd: int | None = None
    """In units of 1e-9 US dollars; None: the price was not known."""
    prices: str | None = None
    """Date of the prices."""
    estimated: bool = False
    """The tokens are ours and not the judge's."""
    batch_uid: str | None = None
    """The batch it came in; None: it came by itself."""
    number: int = field(default=0, compare=False)
    """Of its call in the store, rising with time; 0 before it is there."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a reply answers, and for whom."""

    key: str
    """Hash of everything that determines the reply."""
    judge: str
    """What the user calls the judge."""
    step: str
    run: RunId | None = None
    """Run that asked and that the tokens count for; None outside a run."""
    item: ItemId | None = None
    window: int | None = None
    """Position of the window that asked first; None: the conversation as a whole."""
    replicate: int = 0
    worker: str | None = None
    """Whose lease on the question ends; None: there is none."""
    usable: bool = True
    """False for a malformed reply: kept, counted, never found by its key."""


@dataclass(frozen=True, slots=True)
class LabelCount:
    """How often the judge of a run gave one label."""

    claims: int
    """Unique claims."""
    conversations: int
    """Conversations with at least one of them."""


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What calls came to."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_nusd: int = 0
    """In units of 1e-9 US dollars, of the calls whose price is known."""
    unpriced_calls: int = 0
    """Calls whose price is not known."""

    def __add__(self, other: "RunTotals") -> "RunTotals":
        """Add up."""
        return RunTotals(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class StepTotals:
    """What the calls of one kind of question came to in a run."""

    step: str
    calls: int
    unusable: int
    """Replies that could not be used."""
    tokens_in: int
    tokens_out: int
    cost_nusd: int
    """In units of 1e-9 US dollars, of the calls whose price is known."""
    latency_ms: float
    """Mean time of a call."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """What became of a run, as far as the store knows."""

    steps: tuple[StepTotals, ...] = ()
    """In the order of their first call."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Conversations that failed, by reason, most frequent first."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, LabelCount] = field(default_factory=dict)
    """Claims by the judge's label; labels not given are left out."""
    started_at: datetime | None = None
    """When the first came of it; None: nothing did."""


@dataclass(frozen=True, slots=True)
class ItemCost:
    """What a conversation of a run came to."""

    total: RunTotals
    windows: Mapping[int | None, RunTotals]
    """By position; None: what no window asked alone."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call, for looking at what a judge really said."""

    id: int
    step: str
    window: int | None
    replicate: int
    usable: bool
    at: datetime
    reply: StoredReply
    key: str = ""
    """Names the question."""
    run: RunId | None = None
    """The run it was made for; None: outside a run, or the run is not there any more."""
    item: ItemId | None = None
    """The conversation of that run; None as above."""
    conversation: str | None = None
    """Name of that conversation."""
    is_reused: bool = False
    """Made for another conversation or run; its window is the one that asks here."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A process that asks judges."""

    uid: str
    host: str
    pid: int
    beats: int
    """Counts up while it lives."""
    started_at: datetime
    run: RunId | None = None
    """The run it works on; None: it works on batches of several."""
    process: str | None = None
    """Tells the process from a later one with its number; None: its system cannot."""
    beat_at: datetime | None = None
    """When it counted last."""


@dataclass(frozen=True, slots=True)
class FreshVerdict:
    """A verdict that was asked for again on purpose."""

    item: ItemId
    claim: ClaimId
    window: int
    replicate: int
    label: str | None
    word: str | None
    reason: str | None
    confidence: float | None
    asked_by: str


@dataclass(frozen=True, slots=True)
class PendingItem:
    """A conversation still to be judged in a run."""

    id: ItemId
    conversation: ConversationId
    stored_windows: frozenset[int] = field(default_factory=frozenset)
    """Positions of windows that are in the store already, did not fail and lack nothing."""
    unfinished_windows: frozenset[int] = field(default_factory=frozenset)
    """Positions of windows that are there, and are judged again: they failed or lack a verdict."""
    asked_after: int = 0
    """Newest call when what it lacked was asked for again; 0: never, everything is as it was."""


@dataclass(frozen=True, slots=True)
class ItemCheckResult:
    """What the checks found in a conversation of a run."""

    item: ItemId
    state: ItemState
    windows: int
    """State and windows when it was read; findings of an older state are not kept."""
    findings: "tuple[Finding, ...]"
    counts: TextCounts = NO_COUNTS


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How often a kind of finding was found in a run."""

    entries: int
    conversations: int
    claims: int
    """Unique claims concerned; 0 for kinds that are about windows or turns."""


@dataclass(frozen=True, slots=True)
class FindingSummary:
    """What the checks found in a run."""

    checked: int
    """Conversations that are checked as they are."""
    waiting: int
    """Judged conversations that are not."""
    counts: "Mapping[FindingKind, FindingCount]"
    """Kinds that were found, in their order."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding in a list."""

    id: int
    item: ItemId
    number: int
    """Place of the conversation in the run, from 1."""
    source: str
    key: str
    finding: "Finding"
    text: str | None
    """What the claim says; "" for a whole answer, None for a finding about no claim."""
