"""What a run tells whoever listens: frozen values with ids and totals.

The store is the truth, events are a hint: each is emitted after its rows are committed, carries
totals instead of increments, and no text for people.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.records import ItemState, RunState


@dataclass(frozen=True, slots=True)
class Progress:
    """Totals of a run so far, this process and earlier ones together unless named otherwise."""

    conversations: int = 0
    """Planned."""
    done: int = 0
    failed: int = 0
    skipped: int = 0
    windows: int = 0
    """Stored."""
    calls: int = 0
    """Replies received in this process."""
    calls_stored: int = 0
    """Questions answered from the store in this process."""
    in_flight: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def finished(self) -> int:
        """Conversations that need nothing more."""
        return self.done + self.failed + self.skipped


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The first conversation is about to be judged."""

    run: RunId
    progress: Progress


@dataclass(frozen=True, slots=True)
class WindowAssessed:
    """A window is in the store."""

    run: RunId
    item: ItemId
    window: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class WindowFailed:
    """A window could not be judged; the store has the reason."""

    run: RunId
    item: ItemId
    window: int
    error: str
    """Class name of the error."""
    progress: Progress


@dataclass(frozen=True, slots=True)
class ItemFinished:
    """A conversation needs nothing more."""

    run: RunId
    item: ItemId
    state: ItemState
    progress: Progress


@dataclass(frozen=True, slots=True)
class CallRetried:
    """An attempt failed in a way that may pass, and is made again."""

    run: RunId
    step: str
    error: str
    wait_s: float
    progress: Progress


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Nothing more comes: done, cancelled or stopped."""

    run: RunId
    state: RunState
    reason: str | None
    progress: Progress


RunEvent = RunStarted | WindowAssessed | WindowFailed | ItemFinished | CallRetried | RunEnded

EventSink = Callable[[RunEvent], None]
"""Called from the engine's thread; must neither block nor raise."""


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """A run at one moment, for a screen that looks ten times a second."""

    run: RunId
    state: RunState
    reason: str | None
    progress: Progress
    elapsed_s: float
    eta_s: float | None
    """Seconds to go at the pace so far; None until something has finished."""
    recent: tuple[tuple[float, RunEvent], ...] = field(default_factory=tuple)
    """The latest events, newest last, each with its seconds since the run began."""
