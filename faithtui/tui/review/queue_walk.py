"""Working through a queue: what comes next, read ahead, and what came of it at the end."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId, ItemId, LabelId
from faithtui.store.records import FreshVerdict, ItemRow, ReviewView
from faithtui.tui.messages import Go
from faithtui.tui.navigation import holds_keys
from faithtui.tui.review.drawing import evidence as draw_evidence
from faithtui.tui.review.position import Focus
from faithtui.tui.review.search import SeekingScreen
from faithtui.tui.samples.queue import ClaimQueue, Walk
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.engine.review.sample_queues import QueueEnd
    from faithtui.metrics.base import MetricSpec

Mark = tuple[ItemRow, LabelId | None]
"""A conversation of a run as lists have it, and the newest thing that anybody said: as long as they
are the same, so is everything that is read of it."""

AHEAD = 3
"""Claims of a queue whose conversations are read ahead."""


class WalkingScreen(SeekingScreen):
    """A screen that walks through a queue of claims. Subclasses read conversations."""

    @dataclass
    class Loaded(Message):
        """A conversation was read."""

        view: ReviewView
        read: draw_evidence.ReadView
        spec: "MetricSpec"
        claim: ClaimId | None
        edge: int
        """1: begin at the first claim without a verdict; -1: at the last; 0: stay."""
        taken_back: SeekingScreen.TakenBack | None = None
        """The undo or redo that led here."""
        walk: Walk | None = None
        """The queue that is worked through."""
        terms: tuple[object, ...] = ()
        """`Session.hiding` when it was read."""
        mark: Mark | None = None
        """What the conversation was known by when it was read."""
        fresh: tuple[FreshVerdict, ...] = ()
        """What the judge said when it was asked again, as far as that may be seen."""

    @dataclass
    class Prepared(Message):
        """A conversation that comes soon was read ahead."""

        loaded: "WalkingScreen.Loaded"

    @dataclass
    class Told(Message):
        """How far the queue is was read."""

        words: str

    @dataclass
    class Ended(Message):
        """What came of a queue was read."""

        queue: ClaimQueue
        end: "QueueEnd | None"
        """None for one that is no sample."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.walk: Walk | None = None
        """The queue that is worked through; None: conversation by conversation."""
        self.prepared: dict[ItemId, WalkingScreen.Loaded] = {}
        """Conversations read ahead."""
        self.how_far = ""
        """How far the queue is, in words."""

    def load(self, item: ItemId, claim: ClaimId | None, edge: int) -> None:
        """Read a conversation and show it."""
        raise NotImplementedError

    def read_conversation(self, item: ItemId, claim: ClaimId | None, edge: int) -> Loaded:
        """Read a conversation. Meant for a thread."""
        raise NotImplementedError

    def show_loaded(self, event: Loaded) -> None:
        """Take a conversation that was read."""
        raise NotImplementedError

    def go_to_entry(self, entry: tuple[ItemId, ClaimId]) -> None:
        """Show a claim of the queue, at once where it was read ahead."""
        item, claim = entry
        self.session.item = item
        if self.view is not None and self.view.item.id == item:
            self.look(Focus(None, claim), fresh=True)
            return
        ready = self.prepared.pop(item, None)
        if ready is None or ready.terms != self.session.hiding:
            self.panes.claims.wait()
            # A save that ends meanwhile reads again, and must come to the same claim.
            self.session.claim = claim
            self.load(item, claim, 0)
            return
        self.show_loaded(replace(ready, claim=claim))
        if not self.in_flight:
            self.changed()

    @work(exclusive=True, group="ahead", exit_on_error=False)
    async def prepare(self) -> None:
        """Read the conversations ahead that come next in the queue."""
        if self.walk is None:
            return
        here = self.session.item
        for item in dict.fromkeys(item for item, _ in self.walk.ahead(AHEAD)):
            if item != here and item not in self.prepared:
                self.post_message(
                    self.Prepared(await self.read(self.read_conversation, item, None, 0))
                )

    @on(Prepared)
    def keep_prepared(self, event: Prepared) -> None:
        """Keep what was read ahead, as long as it is ahead and may still be shown."""
        loaded = event.loaded
        if loaded.walk is not self.walk or loaded.terms != self.session.hiding:
            return
        wanted = {item for item, _ in self.walk.ahead(AHEAD)} if self.walk is not None else set()
        self.prepared[loaded.view.item.id] = loaded
        for item in set(self.prepared) - wanted:
            del self.prepared[item]

    def forget_prepared(self) -> None:
        """Drop what was read ahead: it may show, or hide, what must be otherwise now."""
        self.prepared.clear()

    def take_walk(self, walk: Walk | None) -> None:
        """Walk through another queue, or none."""
        if walk is not self.walk:
            self.walk = walk
            self.how_far = ""
            self.forget_prepared()

    def go_on_in_queue(self, claim: ClaimId, *, later: bool) -> None:
        """Go on after a claim of the queue was answered or put off."""
        if self.walk is None:
            return
        (self.walk.put_off if later else self.walk.answered)(claim)
        if not self.session.preferences.auto_advance:
            self.look(self.at)
            return
        following = self.walk.ahead(1)
        if following:
            self.go_to_entry(following[0])
        else:
            self.look(self.at)
            self.panes.claims.wait()
        if not following or (later and following[0][1] in self.walk.later):
            # Only what was put off is left.
            self.finish(self.walk.queue)

    @on(SeekingScreen.Lost)
    def serve_again(self, event: SeekingScreen.Lost) -> None:
        """Let a claim come again whose answer could not be saved."""
        if self.walk is not None:
            self.walk.reopened(event.claim)

    def take_back_in_queue(self, event: SeekingScreen.TakenBack) -> None:
        """Let claims come again whose answers were taken back."""
        walk = self.walk
        self.forget_prepared()
        if walk is None:
            return
        if walk.queue.sample is not None:
            walk.outdated = True  # The store knows what is answered.
            return
        for act in event.acts:
            if act.verdict is None and act.action is not Action.SKIPPED:
                continue
            if event.words == "undone":
                walk.reopened(act.claim)
            elif act.verdict is None:
                walk.put_off(act.claim)
            else:
                walk.answered(act.claim)

    def step_in_queue(self, direction: int) -> None:
        """Go to the next or the previous open claim of the queue."""
        if self.walk is None:
            return
        following = self.walk.ahead(1)
        entry = self.walk.before() if direction < 0 else following[0] if following else None
        if entry is None:
            self.say(Piece("nothing open in the queue on that side", "warn"))
        else:
            self.go_to_entry(entry)

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="queue", exit_on_error=False)
    async def finish(self, queue: ClaimQueue) -> None:
        """Say what came of a queue, once its last verdict is saved."""
        from faithtui.engine.review.sample_queues import end_of

        walk = self.walk
        await self.settled.wait()
        if walk is None or self.walk is not walk or not walk.is_over:
            return  # The last verdict could not be saved, or was taken back.
        end = None
        if queue.sample is not None:
            end = await self.read(end_of, self.session.store, queue.sample, self.session.reviewer)
        self.post_message(self.Ended(queue, end))

    @on(Ended)
    def show_end(self, event: Ended) -> None:
        """Show what came of a queue and where to go from here."""
        if self.session.claims is not event.queue:
            return
        from faithtui.tui.samples.queue_end import QueueEndDialog

        def chosen(screen: str | None) -> None:
            if screen is not None:
                self.post_message(Go(screen))

        self.navigation.open_window(QueueEndDialog(event.queue, event.end), chosen)

    @work(exclusive=True, group="how-far", exit_on_error=False)
    async def tell_how_far(self) -> None:
        """Read how far the queue is, and say it at the right of the status line."""
        from faithtui.engine.review.sample_queues import progress_of
        from faithtui.tui.samples.drawing import queue_status

        queue = self.session.claims
        if queue is None or queue.sample is None:
            self.post_message(self.Told(""))
            return
        progress = await self.read(
            progress_of, self.session.store, queue.sample, self.session.reviewer
        )
        self.post_message(self.Told(queue_status(progress)))

    @on(Told)
    def show_how_far(self, event: Told) -> None:
        """Say how far the queue is."""
        self.how_far = event.words
        self.follow_runs()

    def resting(self) -> tuple[Piece, ...]:
        """Say how far the queue is, beside who reviews."""
        if not self.how_far:
            return super().resting()
        return (Piece(f"{self.how_far} · ", "quiet"), *super().resting())
