"""What all screens share: the store, who reviews, where they are, and the runs under way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels import FAITHFULNESS, LabelSet
from faithtui.engine.events import RunSnapshot
from faithtui.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from faithtui.engine.background import BackgroundRun
    from faithtui.metrics.base import MetricSpec
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
    options: str = ""
    """Options of the metric, as the form writes them."""


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
    run: RunId | None = None
    item: ItemId | None = None
    claim: ClaimId | None = None
    """Claim to go to when the review screen opens next."""
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
            self.run, self.item, self.claim, self.queue = run, None, None, ()

    def snapshots(self) -> list[RunSnapshot]:
        """Describe all runs of this process that have not ended, newest last."""
        return [run.snapshot() for run in self.active if not run.finished]

    def running(self, run: RunId | None) -> "BackgroundRun | None":
        """Find a run of this process, finished or not; the newest attempt."""
        return next((each for each in reversed(self.active) if each.run_id == run), None)


def labels_of(metric: str) -> LabelSet:
    """Give the vocabulary of a metric; the three words for one we do not know."""
    spec = spec_of(metric)
    return spec.labels if spec is not None else FAITHFULNESS


def spec_of(metric: str) -> "MetricSpec | None":
    """Give what is known of a metric; None for one that a newer faithtui may have stored."""
    from faithtui.metrics import registry  # pydantic must not hold up the first paint

    try:
        return registry.entry(metric).spec
    except ConfigError:
        return None
