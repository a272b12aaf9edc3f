"""What all screens share: the store, who reviews, where they are, and the runs under way."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId
from faithtui.domain.judging.failure_limit import DEFAULT, FailureLimit
from faithtui.errors import StoreError
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.image_viewer import Pictures, open_outside
from faithtui.tui.runs.shared_state import Sharing
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.marks import Marks

if TYPE_CHECKING:
    from faithtui.config import Configured, Settings
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.engine.runs.environment import Circumstances
    from faithtui.engine.runs.events import RunSnapshot
    from faithtui.store.store import Store

IdT = TypeVar("IdT", bound=int)


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the form for a new run begins with."""

    judge: str = "offline"
    base_url: str | None = None
    concurrency: int = 8
    max_failures: FailureLimit = DEFAULT

    @classmethod
    def of(cls, settings: "Settings") -> "Defaults":
        """Take them from the settings."""
        limit = FailureLimit.read(settings.max_failures) or DEFAULT
        return cls(settings.judge, settings.base_url, settings.concurrency, limit)


@dataclass(frozen=True, slots=True)
class Preferences:
    """How somebody wants to review."""

    blind: bool = True
    """Whether new queues hide the judge until a person has answered."""
    audit_share: float = 0.2
    """Share of the claims of a blind sample that show the judge; [0, 1]."""
    auto_advance: bool = True
    """Whether a verdict goes on to the next claim."""

    @classmethod
    def of(cls, settings: "Settings") -> "Preferences":
        """Take them from the settings."""
        return cls(settings.blind, settings.audit_share, settings.auto_advance)


@dataclass(frozen=True, slots=True)
class ListState:
    """What a list shows, and in which order."""

    filter: str = ""
    """As it is typed; "" for none."""
    sort: str = ""
    """Name of the order; "" for the usual one."""


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
    preferences: Preferences = field(default_factory=Preferences)
    configured: "Configured | None" = None
    """The user's settings, and where they come from; None: there are none to change."""
    keymap: dict[str, str] = field(default_factory=dict)
    """Keys by id of the binding, where they are not the default ones."""
    run: RunId | None = None
    item: ItemId | None = None
    claim: ClaimId | None = None
    """Claim to go to when the review screen opens next."""
    turn: int | None = None
    """Answer to go to when the review screen opens next, where no claim is named."""
    queue: Sequence[ItemId] = ()
    """Conversations of the run, in the order of the list they were chosen from."""
    claims: ClaimQueue | None = None
    """Claims that are worked through; None: conversation by conversation."""
    blinded: bool = False
    """The judge is hidden although no queue asks for it."""
    revealed: set[ClaimId] = field(default_factory=set)
    """Claims whose judge was revealed although they are not answered yet."""
    truths_open: set[ItemId] = field(default_factory=set)
    """Conversations whose truths were revealed."""
    lists: defaultdict[str, ListState] = field(default_factory=lambda: defaultdict(ListState))
    """Filter and order of each list, by its name."""
    marks: defaultdict[str, Marks] = field(default_factory=lambda: defaultdict(Marks))
    """Marked rows of each list, by the name of what is listed."""
    exposed: set[tuple[str, str, int]] = field(default_factory=set)
    """Of what the judge was in view of whom, as far as this session has recorded it."""
    active: list["BackgroundRun"] = field(default_factory=list)
    """Runs of this process, newest last, the finished ones too."""
    sharing: Sharing = field(default_factory=Sharing)
    """What these runs share."""
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
    def keys(self) -> KeyNames:
        """What keys are called in sentences."""
        return KeyNames(self.keymap)

    @property
    def is_open(self) -> bool:
        """Whether the store is there."""
        return self._store is not None

    def opened(self, store: "Store") -> None:
        """Take the store into use."""
        self._store = store

    def see(self, items: Iterable[ItemId], *, in_all_runs: bool = False) -> None:
        """Record that this reviewer has the judge's words on conversations in view."""
        fresh = self._first_seen("item in all runs" if in_all_runs else "item", items)
        if fresh:
            # Nobody waits for it: a store that cannot be written says so at the next verdict.
            expose = self.store.reviews.expose_all
            self.store.submit(expose, fresh, self.reviewer, in_all_runs=in_all_runs)

    def see_conversations(self, run: RunId, conversations: Iterable[ConversationId]) -> None:
        """Record the same of conversations as a run judged them."""
        fresh = self._first_seen(f"conversation of {run}", conversations)
        if fresh:
            self.store.submit(self.store.reviews.expose_conversations, run, fresh, self.reviewer)

    def _first_seen(self, kind: str, ids: "Iterable[IdT]") -> "list[IdT]":
        """Keep what was not recorded yet: what is recorded changes the store, and is drawn anew."""
        keys = {each: (self.reviewer, kind, each) for each in ids}
        fresh = [each for each, key in keys.items() if key not in self.exposed]
        self.exposed.update(keys[each] for each in fresh)
        return fresh

    def choose_run(self, run: RunId) -> None:
        """Look at a run; the conversation chosen in another one is forgotten."""
        if run != self.run:
            self.run, self.item, self.claim, self.turn, self.queue = run, None, None, None, ()
            self.claims = None

    @property
    def blind(self) -> bool:
        """Whether the judge must not be seen before a claim has its verdict."""
        return self.blinded or (self.claims is not None and self.claims.blind)

    @property
    def hiding(self) -> tuple[object, ...]:
        """What decides about what is hidden: a reading made under other terms is not shown."""
        return (self.claims, self.blinded, frozenset(self.revealed), frozenset(self.truths_open))

    def take_queue(self, queue: ClaimQueue, start: ClaimId | None = None) -> None:
        """Work through claims from now on.

        Args:
            queue: The claims.
            start: Where to begin; None: at the first one.
        """
        self.choose_run(queue.run)
        self.claims = queue
        if queue.tells:
            self.blinded = False
        if queue.entries:
            self.item, self.claim = queue.entries[queue.place.get(start, 0) if start else 0]

    def leave_queue(self) -> None:
        """Go on conversation by conversation."""
        self.claims = None

    def circumstances(self) -> "Circumstances":
        """Give what all runs of the app share. Imports what is slow: meant for a thread.

        Raises:
            ConfigError: A price table or a redaction is set that cannot be used.
        """
        settings = None if self.configured is None else self.configured.settings
        return self.sharing.of(settings)

    def snapshots(self) -> "list[RunSnapshot]":
        """Describe all runs of this process that have not ended, newest last."""
        return [run.snapshot() for run in self.active if not run.finished]

    def running(self, run: RunId | None) -> "BackgroundRun | None":
        """Find a run of this process, finished or not; the newest attempt."""
        return next((each for each in reversed(self.active) if each.run_id == run), None)
