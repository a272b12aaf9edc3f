"""Verdicts and human labels of a run, as exports write them: one value per conversation.

Nothing in here is a key of a store: ids are made of names, so that two exports of the same store,
and of copies of it, name the same conversation, claim and label alike.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from faithtui.domain.claims.verdicts import ClaimKind, Stance
from faithtui.domain.conversation import Role
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, Action
from faithtui.domain.scores import ScoringRule


class ExportPassage(NamedTuple):
    """A retrieved document."""

    document: str
    """Its hash, 64 hexadecimal digits."""
    text: str
    source: str | None


class ExportTurn(NamedTuple):
    """A message."""

    role: Role
    content: str
    passages: tuple[ExportPassage, ...] | None
    """() where retrieval returned nothing, None where nobody knows."""


class ExportMark(NamedTuple):
    """A stretch of a document that an annotator marked as evidence."""

    document: str
    start: int
    end: int
    text: str


class ExportLabel(NamedTuple):
    """One annotator's label of one claim."""

    id: str
    """Names the label event in every store; of notes and marks without a verdict made of names."""
    annotator: str
    label: str | None
    """A label, or `x`; None: a note, a flag or marked evidence without a label, or a skip."""
    action: Action | None
    note: str | None
    code: str | None
    at: datetime | None
    """UTC; None: there is no label."""
    seconds: float | None
    saw_judge: bool
    judge_verdict: str | None
    """The judge's verdict then."""
    guideline: str | None
    stratum: str | None
    probability: float | None
    """Of being in the sample that the claim was served from."""
    flagged: bool
    unsure: bool
    evidence: tuple[ExportMark, ...]
    scale: str | None
    raw_label: str | None
    declared: Literal["missed", "complete"] | None = None
    """What was declared beside any label: a claim that the judge missed, or a complete answer."""

    @property
    def is_counted(self) -> bool:
        """Whether it is a verdict of its own, not given in bulk or accepted unread."""
        return self.label is not None and self.action in COUNTED_ACTIONS


class ExportEvidence(NamedTuple):
    """A truth that the judge named for a claim."""

    truth: str
    stance: Stance
    document: str | None


class ExportRepeat(NamedTuple):
    """What a window after its home window says of a claim."""

    window: int
    verdict: str | None
    word: str | None
    reason: str | None


class ExportClaim(NamedTuple):
    """A claim with the judge's verdict and every annotator's label."""

    id: str
    kind: ClaimKind
    turn: int
    text: str
    """Of a whole answer what the turn says."""
    span: tuple[int, int] | None
    document: str | None
    """Hash of the document that a statement belongs to."""
    judged: bool
    """Whether the run judged it; else it is here for its labels."""
    window: int | None
    """Position of its home window: the first that holds it."""
    verdict: str | None
    word: str | None
    reason: str | None
    confidence: float | None
    judged_at: datetime | None
    judge_call: str | None
    """Key of the stored reply that gave the verdict; None: the reply was not asked by this run."""
    passages: tuple[ExportPassage, ...]
    """What it was judged against: documents in view of its home window, in reading order."""
    evidence: tuple[ExportEvidence, ...]
    human: str | None
    """Consensus of the annotators in the run's words; None: none counts, or they are tied."""
    tied: bool
    labels: tuple[ExportLabel, ...]
    stratum: str | None
    probability: float | None
    """Of being in the sample of the export; None: it is not in it."""
    repeats: tuple[ExportRepeat, ...] = ()
    """What the windows behind its home window say of it, in order."""


class ExportVerdict(NamedTuple):
    """The judge's verdict on a claim in one window."""

    claim: str
    """Text of the claim."""
    label: str | None
    word: str | None
    reason: str | None


class ExportWindow(NamedTuple):
    """A window with its score."""

    position: int
    turns: tuple[int, ...]
    score: float | None
    state: str
    reason: str | None
    judged_at: datetime
    verdicts: tuple[ExportVerdict, ...] = ()
    """Of every claim in view; () where only home windows were asked for."""
    truths: tuple[str, ...] = ()
    """In view, in reading order; () as before."""
    surplus: tuple[str | None, ...] = ()
    """Labels beyond the last claim."""


@dataclass(frozen=True, slots=True)
class ExportConversation:
    """A conversation of a run."""

    number: int
    """Place in the run, from 1."""
    id: str
    source: str
    key: str
    group: str
    metadata: Mapping[str, object]
    turns: tuple[ExportTurn, ...]
    claims: tuple[ExportClaim, ...]
    """In the order of the answers; those the run did not judge come last in each."""
    windows: tuple[ExportWindow, ...]
    state: str
    score: float | None
    """The judge's windowed score."""
    corrected: float | None
    """The same with overrides."""
    reason: str | None
    """The judge's final reason, or why there is no score."""


@dataclass(frozen=True, slots=True)
class ExportRun:
    """The run that an export is of."""

    id: str
    number: int
    metric: str
    judge: str
    """For display, with how it was recalibrated."""
    model: str
    """As the user calls it: `openai:gpt-6-luna`."""
    prompts: str
    """Digest of its prompts, 64 hexadecimal digits."""
    strategy: str
    rule: ScoringRule
    created_at: datetime
    conversations: int
    claims: int
    labelled: int
    sample: str | None
    """Name of the sample that weights are of; None: no claim was drawn."""
    data_sets: int = 1
    """How many its conversations are of; two may use the same ids."""
    options: Mapping[str, object] = field(default_factory=dict)
    """All options of its metric, JSON values: with them the same verdicts give the same scores."""

    @property
    def threshold(self) -> float | None:
        """From which score on a conversation passes; None: no pass or fail."""
        return self.rule.effective_threshold


def make_stable_uuid(*names: object) -> str:
    """Make an id of names that hold in every store: the same for the same names, as a UUID."""
    text = json.dumps(names, ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return str(UUID(bytes=digest[:16], version=5))
