"""What is written and read of batches: questions that were handed to a provider together."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.records import StoredReply

BY_FILE = "file"
"""In place of a provider's name of a batch: its questions were written into a file."""


class BatchState(StrEnum):
    """Where a batch stands."""

    PLANNED = "planned"
    """About to be sent; whether the provider has it is not known."""
    SENT = "sent"
    ENDED = "ended"
    """Its results are in the store."""
    FAILED = "failed"
    """It never came to be, was refused as a whole, or was given up; see the reason."""


class RequestState(StrEnum):
    """Where one question of a batch stands."""

    WAITING = "waiting"
    ANSWERED = "answered"
    """Its reply is in the store."""
    UNUSABLE = "unusable"
    """So it is, and it was found to be of no use."""
    FAILED = "failed"
    """It ended without an answer; see the reason."""
    LEFT = "left"
    """It was not asked, or is to be asked afresh: as if it had never been in a batch."""


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """A question that goes into a batch."""

    key: str
    """Hash of everything that determines the reply."""
    step: str
    item: ItemId | None
    """Conversation of the run that asked first."""
    window: int | None
    """Its window; None: the conversation as a whole."""
    tries: int
    """Which try of the question it is, from 1."""
    replicate: int
    is_plain: bool
    """It has no schema."""
    tokens_likely: int
    """What it reads, where the provider does not say."""
    tokens_worst: int
    """What it may read and write at most."""
    nusd_worst: int
    """What it may cost at most, in units of 1e-9 US dollars; 0 where the price is not known."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A batch."""

    uid: str
    run: RunId
    provider_id: str | None
    """What the provider calls it; None: not known to have arrived. `BY_FILE` for a file."""
    state: BatchState
    reason: str | None
    requests: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question of a batch that has no result yet."""

    number: int
    """Place in the batch, from 0."""
    step: str
    is_plain: bool
    tokens_likely: int
    has_images: bool = False
    """The conversation it is asked for has some."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What came of a question: a reply, or the reason why there is none."""

    number: int
    reply: StoredReply | None
    reason: str | None = None
    """`JudgeUnavailable: …`."""


@dataclass(frozen=True, slots=True)
class LastBatchRequest:
    """What became of a question the last time it was in a batch."""

    batch: str
    run: RunId
    """Whose batch it was."""
    state: RequestState
    tries: int
    reason: str | None
    number: int
    failures: tuple[str, ...] = ()
    """Why it failed in batches of the run that asks, each time."""


@dataclass(frozen=True, slots=True)
class OutstandingBatches:
    """What is out and has not come back."""

    batches: int = 0
    questions: int = 0
    by_file: int = 0
    """Of the questions, those that were written into files."""
    tokens_worst: int = 0
    """What they may use at most."""
    nusd_worst: int = 0
    """What they may cost at most, in units of 1e-9 US dollars."""
