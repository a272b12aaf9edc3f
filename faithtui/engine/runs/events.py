"""What a run reports: frozen values with ids and totals.

The store is the truth, events are a hint: each is emitted after its rows are committed, carries
totals instead of increments, and no text for readers but what a provider said.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.records import ItemState, RunRow, RunState


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Totals of a run so far, this process and earlier ones together unless named otherwise."""

    conversations: int = 0
    """Planned."""
    done: int = 0
    failed: int = 0
    skipped: int = 0
    incomplete: int = 0
    """Of `done`, those that lack a verdict and have no score for it."""
    windows: int = 0
    """Stored."""
    calls: int = 0
    """Replies received in this process."""
    calls_again: int = 0
    """Of `calls`, those that had to be made because earlier answers could not be used, left
    verdicts out, contradicted themselves or did not decide a claim."""
    calls_stored: int = 0
    """Questions answered from the store in this process."""
    in_flight: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_nusd: int = 0
    """In units of 1e-9 US dollars, of the calls whose price is known."""
    unpriced_calls: int = 0
    """Calls whose price is not known."""

    @classmethod
    def from_row(cls, row: RunRow) -> Self:
        """Take the totals of a run from the store; what only a process knows of its calls is 0."""
        return cls(
            conversations=row.conversations,
            done=row.done,
            failed=row.failed,
            skipped=row.skipped,
            incomplete=row.incomplete,
            windows=row.windows,
            tokens_in=row.tokens_in,
            tokens_out=row.tokens_out,
            tokens_cached=row.tokens_cached,
            cost_nusd=row.cost_nusd,
            unpriced_calls=row.unpriced_calls,
        )

    @property
    def finished_conversations(self) -> int:
        """Conversations that need nothing more."""
        return self.done + self.failed + self.skipped


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The first conversation is about to be judged."""

    run: RunId
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class WindowAssessed:
    """A window is in the store."""

    run: RunId
    item: ItemId
    window: int
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class WindowFailed:
    """A window could not be judged; the store has the reason."""

    run: RunId
    item: ItemId
    window: int
    error: str
    """Class name of the error."""
    progress: RunProgress
    said: str = ""
    """What it says, with the status and first words of a provider's answer; "" when nothing. One
    line without any key."""


@dataclass(frozen=True, slots=True)
class ItemFinished:
    """A conversation needs nothing more."""

    run: RunId
    item: ItemId
    state: ItemState
    progress: RunProgress
    lacks_verdict: bool = False
    """It was judged, and has no score because a verdict is missing."""


@dataclass(frozen=True, slots=True)
class CallRetried:
    """An attempt failed in a way that may pass, and is made again."""

    run: RunId
    step: str
    error: str
    """Class name of the error."""
    wait_s: float
    progress: RunProgress
    status: int | None = None
    """HTTP status of the provider's answer; None: it did not answer."""
    said: str = ""
    """The provider's first words, or why it did not answer; "" when nobody said anything. One line
    without any key."""


@dataclass(frozen=True, slots=True)
class WayChanged:
    """The judge is asked for JSON in another way: the one before did not work."""

    run: RunId
    left: str
    """`schema`, `tool`, `json` or `text`."""
    taken: str
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class ParameterRefused:
    """The model does not take a parameter that was set; it is not sent again."""

    run: RunId
    name: str
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class StoreTroubled:
    """The store cannot be written for now; what was answered is held in memory meanwhile."""

    run: RunId
    trouble: str | None
    """What is wrong; None: it can be written again."""
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class BatchSent:
    """Questions were handed to the provider together."""

    run: RunId
    questions: int
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class BatchRead:
    """Results of a batch are in the store; the last report of a batch counts all."""

    run: RunId
    answered: int
    """Of this batch."""
    failed: int
    """Likewise: without an answer; they are asked again, or will be, unless that is pointless."""
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class Draining:
    """Nothing more is asked; the answers in flight are waited for."""

    run: RunId
    progress: RunProgress


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Nothing more comes at present: done, waiting, cancelled or stopped."""

    run: RunId
    state: RunState
    reason: str | None
    progress: RunProgress


RunEvent = (
    RunStarted
    | WindowAssessed
    | WindowFailed
    | ItemFinished
    | CallRetried
    | WayChanged
    | ParameterRefused
    | StoreTroubled
    | BatchSent
    | BatchRead
    | Draining
    | RunEnded
)

EventSink = Callable[[RunEvent], None]
"""Called from the engine's thread; must neither block nor raise."""


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """A run at one moment, for a screen that looks ten times a second."""

    run: RunId
    state: RunState
    reason: str | None
    progress: RunProgress
    elapsed_s: float
    eta_s: float | None
    """Seconds to go at the pace so far; None until something has finished."""
    recent: tuple[tuple[float, RunEvent], ...] = field(default_factory=tuple)
    """The latest events, newest last, each with its seconds since the run began."""
    gauges: "Gauges | None" = None
    """How calls go; None for a run of another process."""
    trouble: str | None = None
    """What keeps the store from being written; None: nothing."""


@dataclass(frozen=True, slots=True)
class StepCount:
    """Calls of one step in this process."""

    step: str
    calls: int
    stored: int
    in_flight: int
    retries: int


@dataclass(frozen=True, slots=True)
class Gauges:
    """How the calls of a run go in this process."""

    workers: int
    """Questions that may be in flight at once."""
    allowed: int | None
    """How many the provider seems to take at once; None: nobody limits it."""
    pace: float | None
    """Requests a second that are sent at most; None: no limit is known."""
    is_paused: bool
    p50_ms: int | None
    """Time of half of the latest calls, at most; None before there are any."""
    p95_ms: int | None
    steps: tuple[StepCount, ...]
    """In the order of their first question."""
    cost_nusd: int = 0
    """Of this process, at this moment; see `RunProgress`."""
    unpriced_calls: int = 0
