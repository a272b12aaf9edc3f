"""Working through a queue: what comes next, read ahead, and what came of it at the end."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId, ItemId, LabelId
from faithtui.store.records import FreshVerdict, ItemRow, ReviewView
from faithtui.tui.messages import ShowScreen
from faithtui.tui.navigation import holds_keys
from faithtui.tui.review.lines import evidence as draw_evidence
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.review.search import ClaimSearchScreen
from faithtui.tui.samples.queue import ClaimQueue, QueueCursor
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.engine.review.sample_queues import QueueOutcome
    from faithtui.metrics.base import MetricSpec

ConversationMark = tuple[ItemRow, LabelId | None]
"""A conversation of a run as lists have it, and the newest thing that anybody said: as long as they
are the same, so is everything that is read of it."""

CLAIMS_READ_AHEAD = 3
"""Claims of a queue whose conversations are read ahead."""


class ReviewQueueScreen(ClaimSearchScreen):
    """A screen that walks through a queue of claims. Subclasses read conversations."""

    @dataclass
    class Loaded(Message):
        """A conversation was read."""

        view: ReviewView
        tokenised: draw_evidence.TokenisedView
        spec: "MetricSpec"
        claim: ClaimId | None
        edge: int
        """1: begin at the first claim without a verdict; -1: at the last; 0: stay."""
        taken_back: ClaimSearchScreen.TakenBack | None = None
        """The undo or redo that led here."""
        queue_cursor: QueueCursor | None = None
        """The queue that is worked through."""
        hiding_terms: tuple[object, ...] = ()
        """`Session.hiding` when it was read."""
        mark: ConversationMark | None = None
        """What the conversation was known by when it was read."""
        asked_again: tuple[FreshVerdict, ...] = ()
        """What the judge said when it was asked again, as far as that may be seen."""

    @dataclass
    class ConversationReadAhead(Message):
        """A conversation that comes soon was read ahead."""

        loaded: "ReviewQueueScreen.Loaded"

    @dataclass
    class QueueProgressRead(Message):
        """How far the queue is was read."""

        words: str

    @dataclass
    class QueueEnded(Message):
        """What came of a queue was read."""

        queue: ClaimQueue
        end: "QueueOutcome | None"
        """None for one that is no sample."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.queue_cursor: QueueCursor | None = None
        """The queue that is worked through; None: conversation by conversation."""
        self.conversations_ahead: dict[ItemId, ReviewQueueScreen.Loaded] = {}
        """Conversations read ahead."""
        self.progress_words = ""
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
            self.update_view(ReviewPosition(None, claim), fresh=True)
            return
        ready = self.conversations_ahead.pop(item, None)
        if ready is None or ready.hiding_terms != self.session.hiding_terms:
            self.panes.claims.block_keys()
            # A save that ends meanwhile reads again, and must come to the same claim.
            self.session.claim = claim
            self.load(item, claim, 0)
            return
        self.show_loaded(replace(ready, claim=claim))
        if not self.in_flight:
            self.handle_store_change()

    @work(exclusive=True, group="ahead", exit_on_error=False)
    async def read_ahead(self) -> None:
        """Read the conversations ahead that come next in the queue."""
        if self.queue_cursor is None:
            return
        here = self.session.item
        for item in dict.fromkeys(
            item for item, _ in self.queue_cursor.list_next(CLAIMS_READ_AHEAD)
        ):
            if item != here and item not in self.conversations_ahead:
                self.post_message(
                    self.ConversationReadAhead(
                        await self.read(self.read_conversation, item, None, 0)
                    )
                )

    @on(ConversationReadAhead)
    def keep_read_ahead(self, event: ConversationReadAhead) -> None:
        """Keep what was read ahead, as long as it is ahead and may still be shown."""
        loaded = event.loaded
        if (
            loaded.queue_cursor is not self.queue_cursor
            or loaded.hiding_terms != self.session.hiding_terms
        ):
            return
        wanted = (
            {item for item, _ in self.queue_cursor.list_next(CLAIMS_READ_AHEAD)}
            if self.queue_cursor is not None
            else set()
        )
        self.conversations_ahead[loaded.view.item.id] = loaded
        for item in set(self.conversations_ahead) - wanted:
            del self.conversations_ahead[item]

    def forget_read_ahead(self) -> None:
        """Drop what was read ahead: it may show, or hide, what must be otherwise now."""
        self.conversations_ahead.clear()

    def set_queue_cursor(self, walk: QueueCursor | None) -> None:
        """Walk through another queue, or none."""
        if walk is not self.queue_cursor:
            self.queue_cursor = walk
            self.progress_words = ""
            self.forget_read_ahead()

    def advance_in_queue(self, claim: ClaimId, *, later: bool) -> None:
        """Go on after a claim of the queue was answered or put off."""
        if self.queue_cursor is None:
            return
        (self.queue_cursor.mark_skipped if later else self.queue_cursor.mark_answered)(claim)
        if not self.session.preferences.auto_advance:
            self.update_view(self.review_position)
            return
        following = self.queue_cursor.list_next(1)
        if following:
            self.go_to_entry(following[0])
        else:
            self.update_view(self.review_position)
            self.panes.claims.block_keys()
        if not following or (later and following[0][1] in self.queue_cursor.skipped_claims):
            # Only what was put off is left.
            self.finish_queue(self.queue_cursor.queue)

    @on(ClaimSearchScreen.SaveFailed)
    def reopen_unsaved_claim(self, event: ClaimSearchScreen.SaveFailed) -> None:
        """Let a claim come again whose answer could not be saved."""
        if self.queue_cursor is not None:
            self.queue_cursor.mark_open(event.claim)

    def undo_in_queue(self, event: ClaimSearchScreen.TakenBack) -> None:
        """Let claims come again whose answers were taken back."""
        walk = self.queue_cursor
        self.forget_read_ahead()
        if walk is None:
            return
        if walk.queue.sample is not None:
            walk.is_outdated = True  # The store knows what is answered.
            return
        for act in event.acts:
            if act.verdict is None and act.action is not Action.SKIPPED:
                continue
            if event.words == "undone":
                walk.mark_open(act.claim)
            elif act.verdict is None:
                walk.mark_skipped(act.claim)
            else:
                walk.mark_answered(act.claim)

    def step_in_queue(self, direction: int) -> None:
        """Go to the next or the previous open claim of the queue."""
        if self.queue_cursor is None:
            return
        following = self.queue_cursor.list_next(1)
        entry = (
            self.queue_cursor.find_previous()
            if direction < 0
            else following[0]
            if following
            else None
        )
        if entry is None:
            self.show_message(Piece("nothing open in the queue on that side", "warn"))
        else:
            self.go_to_entry(entry)

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="queue", exit_on_error=False)
    async def finish_queue(self, queue: ClaimQueue) -> None:
        """Say what came of a queue, once its last verdict is saved."""
        from faithtui.engine.review.sample_queues import conclude_queue

        walk = self.queue_cursor
        await self.saves_done.wait()
        if walk is None or self.queue_cursor is not walk or not walk.is_over:
            return  # The last verdict could not be saved, or was taken back.
        end = None
        if queue.sample is not None:
            end = await self.read(
                conclude_queue, self.session.store, queue.sample, self.session.reviewer
            )
        self.post_message(self.QueueEnded(queue, end))

    @on(QueueEnded)
    def show_end(self, event: QueueEnded) -> None:
        """Show what came of a queue and where to go from here."""
        if self.session.claim_queue is not event.queue:
            return
        from faithtui.tui.samples.queue_end import QueueEndDialog

        def go_to_answer(screen: str | None) -> None:
            if screen is not None:
                self.post_message(ShowScreen(screen))

        self.navigation.open_window(QueueEndDialog(event.queue, event.end), go_to_answer)

    @work(exclusive=True, group="how-far", exit_on_error=False)
    async def read_queue_progress(self) -> None:
        """Read how far the queue is, and say it at the right of the status line."""
        from faithtui.engine.review.sample_queues import read_queue_progress
        from faithtui.tui.samples.sample_lines import queue_status

        queue = self.session.claim_queue
        if queue is None or queue.sample is None:
            self.post_message(self.QueueProgressRead(""))
            return
        progress = await self.read(
            read_queue_progress, self.session.store, queue.sample, self.session.reviewer
        )
        self.post_message(self.QueueProgressRead(queue_status(progress)))

    @on(QueueProgressRead)
    def show_queue_progress(self, event: QueueProgressRead) -> None:
        """Say how far the queue is."""
        self.progress_words = event.words
        self.follow_runs()

    def make_idle_status(self) -> tuple[Piece, ...]:
        """Say how far the queue is, beside who reviews."""
        if not self.progress_words:
            return super().make_idle_status()
        return (Piece(f"{self.progress_words} · ", "quiet"), *super().make_idle_status())
