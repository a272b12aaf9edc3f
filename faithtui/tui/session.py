"""What all screens share: the store, who reviews, where they are, and the runs under way."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from faithtui.clock import utc_now
from faithtui.domain.ids import ClaimId, ConversationId, ItemId, LabelId, RunId
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import StoreError
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.evidence.external_image_viewer import ImageFiles, try_to_open_outside_app
from faithtui.tui.runs.shared_state import RunEnvironmentCache
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.row_marks import RowMarks

if TYPE_CHECKING:
    from faithtui.config import Settings, SettingsWithOrigins
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.engine.runs.events import RunSnapshot
    from faithtui.engine.runs.run_environment import RunEnvironment
    from faithtui.store.store import Store

IdT = TypeVar("IdT", bound=int)


@dataclass(frozen=True, slots=True)
class ReviewPreferences:
    """How a reviewer wants to review."""

    blind: bool = True
    """Whether new queues hide the judge until an annotator has answered."""
    audit_share: float = 0.2
    """Share of the claims of a blind sample that show the judge; [0, 1]."""
    auto_advance: bool = True
    """Whether a verdict goes on to the next claim."""
    timer: bool = True
    """Whether the seconds a claim takes, and the time that is left, are shown."""

    @classmethod
    def from_settings(cls, settings: "Settings") -> "ReviewPreferences":
        """Take them from the settings."""
        return cls(settings.blind, settings.audit_share, settings.auto_advance, settings.timer)


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
    defaults: RunRequest = field(default_factory=RunRequest)
    """What the form for a new run begins with."""
    now: Callable[[], datetime] = utc_now
    """Tells the time of day for "saved"."""
    seconds: Callable[[], float] = monotonic
    """Measures how long a claim was looked at."""
    report_directory: Path = field(default_factory=Path.cwd)
    """Reports go into a new directory below it."""
    image_files: ImageFiles = field(default_factory=ImageFiles)
    """Files of images that were opened."""
    open_outside: Callable[[str], bool] = try_to_open_outside_app
    """Opens a file or an address with the system's viewer; False: there is none."""
    preferences: ReviewPreferences = field(default_factory=ReviewPreferences)
    configured: "SettingsWithOrigins | None" = None
    """The user's settings, and where they come from; None: there are none to change."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Where keys of judges are looked for."""
    finds_local_servers: bool = False
    """Whether servers of models on this machine are looked for when a judge is to be chosen."""
    keymap: dict[str, str] = field(default_factory=dict)
    """Keys by id of the binding, where they are not the default ones."""
    run: RunId | None = None
    item: ItemId | None = None
    claim: ClaimId | None = None
    """Claim to go to when the review screen opens next."""
    turn: int | None = None
    """Answer to go to when the review screen opens next, where no claim is named."""
    item_queue: Sequence[ItemId] = ()
    """Conversations of the run, in the order of the list they were chosen from."""
    claim_queue: ClaimQueue | None = None
    """Claims that are worked through; None: conversation by conversation."""
    is_judge_hidden: bool = False
    """The judge is hidden although no queue asks for it."""
    revealed: set[ClaimId] = field(default_factory=set)
    """Claims whose judge was revealed although they are not answered yet."""
    revealed_truths: set[ItemId] = field(default_factory=set)
    """Conversations whose truths were revealed."""
    lists: defaultdict[str, ListState] = field(default_factory=lambda: defaultdict(ListState))
    """Filter and order of each list, by its name."""
    marks: defaultdict[str, RowMarks] = field(default_factory=lambda: defaultdict(RowMarks))
    """Marked rows of each list, by the name of what is listed."""
    final_notes: dict[ClaimId, str] = field(default_factory=dict)
    """Notes on claims without a final label yet, which go with it."""
    discussion_flags: set[LabelId] = field(default_factory=set)
    """Flags that were set or taken away in adjudication: in the log they are like others."""
    saved_events: set[LabelId] = field(default_factory=set)
    """Label events that this app has saved, to be told from what another one has."""
    exposed: set[tuple[str, str, int]] = field(default_factory=set)
    """Of what the judge was in view of whom, as far as this session has recorded it."""
    known_from_list: set[tuple[str, ItemId]] = field(default_factory=set)
    """Conversations whose counts in a list gave the verdict on each claim, and who saw them."""
    judge_in_view: set[tuple[str, ClaimId]] = field(default_factory=set)
    """Claims that showed the judge in blind work, as they had a label, and to whom."""
    labelled: set[tuple[str, ClaimId]] = field(default_factory=set)
    """Claims that got a label in this session, and by whom."""
    process_runs: list["BackgroundRun"] = field(default_factory=list)
    """Runs of this process, newest last, the finished ones too."""
    waiting_runs: list[RunId] = field(default_factory=list)
    """Runs ordered together with the one under way, still to begin."""
    run_environments: RunEnvironmentCache = field(default_factory=RunEnvironmentCache)
    """What these runs share."""
    _store: "Store | None" = None

    def __post_init__(self) -> None:
        """Take over how the user wants to review."""
        if self.configured is not None:
            self.preferences = ReviewPreferences.from_settings(self.configured.settings)

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

    @property
    def is_read_only(self) -> bool:
        """Whether the store is there and can only be read."""
        return self._store is not None and self._store.is_read_only

    def find_named_store(self) -> Path | None:
        """Find the path that commands need with `--store`; None: they find this store alone."""
        if self.configured is None:
            return None
        usual = self.configured.settings.store.absolute()
        return None if self.store_path.absolute() == usual else self.store_path

    def set_store(self, store: "Store") -> None:
        """Take the store into use."""
        self._store = store

    def use_settings(self, configured: "SettingsWithOrigins") -> None:
        """Take settings that were changed into use."""
        self.configured = configured
        self.preferences = ReviewPreferences.from_settings(configured.settings)
        self.defaults = RunRequest.from_settings(configured.settings)

    def change_keymap(self, keymap: Mapping[str, str]) -> None:
        """Take other keys into use, in place: panes that show keys hold the dictionary."""
        self.keymap.clear()
        self.keymap |= keymap

    def record_exposure(self, items: Iterable[ItemId], *, in_all_runs: bool = False) -> None:
        """Record that this reviewer has the judge's verdicts on conversations in view."""
        fresh = self._add_and_list_new_exposures(
            "item in all runs" if in_all_runs else "item", items
        )
        if fresh:
            expose = self.store.exposures.record_many
            # Nobody waits for it: a store that cannot be written says so at the next verdict. As
            # urgent as a verdict, so that none overtakes what was seen before it.
            self.store.submit(expose, fresh, self.reviewer, in_all_runs=in_all_runs, urgent=True)

    def record_conversation_exposure(
        self, run: RunId, conversations: Iterable[ConversationId]
    ) -> None:
        """Record the same of conversations as a run judged them."""
        fresh = self._add_and_list_new_exposures(f"conversation of {run}", conversations)
        if fresh:
            expose = self.store.exposures.record_conversations
            self.store.submit(expose, run, fresh, self.reviewer, urgent=True)

    def record_judge_in_view(self, item: ItemId, claims: Iterable[ClaimId]) -> None:
        """Record that this reviewer has the judge's verdicts on claims of a conversation in view.

        Outside of blind work they are all there, and no later label on any of them is blind. In
        blind work a label shows the one on its claim: that matters once it is taken back, and is
        remembered here.
        """
        if self.is_blind:
            self.judge_in_view.update((self.reviewer, claim) for claim in claims)
        else:
            self.record_exposure([item])

    def remember_verdicts_known_from_list(self, item: ItemId) -> None:
        """Remember that a row of a list gave this reviewer the judge's verdict on each claim."""
        self.known_from_list.add((self.reviewer, item))

    def has_judge_in_view(self, claim: ClaimId) -> bool:
        """Whether a claim has shown this reviewer the judge in blind work of this session."""
        return (self.reviewer, claim) in self.judge_in_view

    def remember_labels(self, claims: Iterable[ClaimId]) -> None:
        """Remember that this reviewer gives claims a label."""
        self.labelled.update((self.reviewer, claim) for claim in claims)

    def list_labelled_without_judge(self) -> frozenset[ClaimId]:
        """List the claims this reviewer labelled in this session that have shown no judge yet."""
        unshown = self.labelled - self.judge_in_view
        return frozenset(claim for who, claim in unshown if who == self.reviewer)

    def _add_and_list_new_exposures(self, kind: str, ids: "Iterable[IdT]") -> "list[IdT]":
        """Keep what was not recorded yet: what is recorded changes the store, and is drawn anew."""
        keys = {each: (self.reviewer, kind, each) for each in ids}
        fresh = [each for each, key in keys.items() if key not in self.exposed]
        self.exposed.update(keys[each] for each in fresh)
        return fresh

    def switch_run(self, run: RunId) -> None:
        """Look at a run; the conversation chosen in another one is forgotten, its queue left."""
        if run != self.run:
            self.leave_queue()
            self.run, self.item, self.claim, self.turn, self.item_queue = run, None, None, None, ()

    def choose_conversation(
        self, item: ItemId | None, claim: ClaimId | None = None, turn: int | None = None
    ) -> None:
        """Look at a conversation of the run.

        Args:
            item: The conversation; None: the first one with a claim to answer.
            claim: Where the review begins in it.
            turn: The answer where it begins when no claim is named.
        """
        self.item, self.claim, self.turn = item, claim, turn

    def remember_claim(self, item: ItemId, claim: ClaimId) -> None:
        """Let the review of a conversation go on at a claim, unless another one was chosen."""
        if self.item == item and self.claim is None and self.turn is None:
            self.claim = claim

    def open_conversation(
        self, item: ItemId, claim: ClaimId | None = None, turn: int | None = None
    ) -> None:
        """Look at a conversation chosen in a list; a queue that it is not in is left.

        Args:
            item: The conversation.
            claim: Where the review begins in it.
            turn: The answer where it begins when no claim is named.
        """
        if self.claim_queue is not None and not self.claim_queue.has_conversation(item):
            self.leave_queue()
        if (self.reviewer, item) in self.known_from_list:
            self.record_exposure([item])
        self.choose_conversation(item, claim, turn)

    def set_conversation_queue(self, items: Sequence[ItemId]) -> None:
        """Go through conversations of the run in this order."""
        self.item_queue = items

    def set_judge_hidden(self, hidden: bool) -> None:
        """Hide the judge although no queue asks for it, or stop that."""
        self.is_judge_hidden = hidden

    @property
    def is_blind(self) -> bool:
        """Whether the judge must not be seen before a claim has its verdict."""
        return self.is_judge_hidden or (self.claim_queue is not None and self.claim_queue.blind)

    @property
    def hiding_state(self) -> tuple[object, ...]:
        """What decides about what is hidden: what was read when it was another is not shown."""
        return (
            self.claim_queue,
            self.is_judge_hidden,
            frozenset(self.revealed),
            frozenset(self.revealed_truths),
        )

    def start_queue(self, queue: ClaimQueue, start: ClaimId | None = None) -> None:
        """Work through claims from now on.

        Args:
            queue: The claims.
            start: Where to begin; None: at the first one that is not among `queue.answered`, which
                knows nothing of the answers of a sample.
        """
        hidden = self.is_judge_hidden and not queue.reveals_judge
        self.switch_run(queue.run)
        # Whether it is blind says a queue that is opened, not the one before it.
        self.claim_queue, self.is_judge_hidden = queue, hidden
        start = start or queue.first_open_claim
        if queue.entries:
            self.item, self.claim = queue.entries[queue.place.get(start, 0) if start else 0]

    def leave_queue(self) -> None:
        """Go on conversation by conversation; what a blind queue hid or showed stays so."""
        self.is_judge_hidden = self.is_blind
        if self.claim_queue is not None:
            self.revealed |= self.claim_queue.shown
        self.claim_queue = None

    def keep_judge_in_view(self, claims: "Iterable[ClaimId]") -> None:
        """Hide the judge of these claims no more: its verdict was shown on purpose."""
        self.revealed.update(claims)

    def get_run_environment(self) -> "RunEnvironment":
        """Give what all runs of the app share. Imports what is slow: meant for a thread.

        Raises:
            ConfigError: A price table or a redaction is set that cannot be used.
        """
        settings = None if self.configured is None else self.configured.settings
        return self.run_environments.get_environment(settings)

    def list_unfinished_run_snapshots(self) -> "list[RunSnapshot]":
        """Describe all runs of this process that have not ended, newest last."""
        return [run.snapshot() for run in self.process_runs if not run.is_finished]

    def find_background_run(self, run: RunId | None) -> "BackgroundRun | None":
        """Find a run of this process, finished or not; the newest attempt."""
        return next((each for each in reversed(self.process_runs) if each.run_id == run), None)

    def list_unqueued_runs(
        self, planned: Iterable[RunId], worked_on: Iterable[RunId]
    ) -> tuple[RunId, ...]:
        """List the runs that nobody begins by itself, but that this process could begin.

        Args:
            planned: Runs that were planned and not started yet.
            worked_on: Runs that some process works on now. Another one that does may have planned
                these too, and begins them in their turn.
        """
        mine = {each.run_id for each in self.process_runs}
        if self.is_read_only or not mine.issuperset(worked_on):
            return ()
        queued = {*self.waiting_runs, *mine}
        return tuple(each for each in planned if each not in queued)
