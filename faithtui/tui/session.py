"""What all screens share: the store, who reviews, where they are, and the runs under way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.engine.events import RunSnapshot
from faithtui.errors import StoreError
from faithtui.tui.viewer import Pictures, open_outside

if TYPE_CHECKING:
    from faithtui.engine.background import BackgroundRun
    from faithtui.store.store import Store


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the form for a new run begins with."""

    judge: str = "offline"
    base_url: str | None = None
    concurrency: int = 8


@dataclass
class Session:
    """State of the app that outlives a screen."""

    reviewer: str
    store_path: Path
    """The store's file, as it was named."""
    defaults: Defaults = field(default_factory=Defaults)
    now: Callable[[], datetime] = utc_now
    """Tells the time of day for "saved"."""
    seconds: Callable[[], float] = monotonic
    """Measures how long a claim was looked at."""
    report_directory: Path = field(default_factory=Path.cwd)
    """Reports go into a new directory below it."""
    pictures: Pictures = field(default_factory=Pictures)
    """Files of images that were opened."""
    open_outside: Callable[[str], bool] = open_outside
    """Opens a file or an address with the system's viewer; False: there is none."""
    run: RunId | None = None
    item: ItemId | None = None
    claim: ClaimId | None = None
    """Claim to go to when the review screen opens next."""
    turn: int | None = None
    """Answer to go to when the review screen opens next, where no claim is named."""
    queue: Sequence[ItemId] = ()
    """Conversations of the run, in the order of the list they were chosen from."""
    active: list["BackgroundRun"] = field(default_factory=list)
    """Runs of this process, newest last, the finished ones too."""
    _store: "Store | None" = None

    @property
    def store(self) -> "Store":
        """The open store.

        Raises:
            StoreError: It is not open yet.
        """
        if self._store is None:
            raise StoreError("the store is not open yet; wait a moment")
        return self._store

    @property
    def is_open(self) -> bool:
        """Whether the store is there."""
        return self._store is not None

    def opened(self, store: "Store") -> None:
        """Take the store into use."""
        self._store = store

    def choose_run(self, run: RunId) -> None:
        """Look at a run; the conversation chosen in another one is forgotten."""
        if run != self.run:
            self.run, self.item, self.claim, self.turn, self.queue = run, None, None, None, ()

    def snapshots(self) -> list[RunSnapshot]:
        """Describe all runs of this process that have not ended, newest last."""
        return [run.snapshot() for run in self.active if not run.finished]

    def running(self, run: RunId | None) -> "BackgroundRun | None":
        """Find a run of this process, finished or not; the newest attempt."""
        return next((each for each in reversed(self.active) if each.run_id == run), None)
