"""Working through a queue: what comes next, read ahead, and what came of it at the end."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.labels.label_events import Action, LabelEvent, Step
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ShowScreen
from faithtui.tui.review.labels.other_app import OtherAppLabels
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.samples.queue import ClaimQueue, QueuePosition
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.label_undo import UndoneStep
from faithtui.tui.theme.lines import Piece, escape_line

if TYPE_CHECKING:
    from faithtui.engine.review.samples.sample_queues import QueueOutcome
    from faithtui.tui.keymap.key_names import KeyNames
    from faithtui.tui.review.conversation_loader import LoadedConversation
    from faithtui.tui.review.review_screen import ReviewScreen

CLAIMS_READ_AHEAD = 3
"""Claims of a queue whose conversations are read ahead."""


class QueueNavigator(Controller["ReviewScreen"]):
    """Walks through a queue of claims on the review screen, and leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "Q",
            "leave_queue",
            "leave queue",
            show=False,
            tooltip="Leave the queue and go on conversation by conversation; what is hidden stays "
            "hidden",
            id="review.leave-queue",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.cursor: QueuePosition | None = None
        """The queue that is worked through; None: conversation by conversation."""
        self.other_app = OtherAppLabels(screen)
        self.conversations_ahead: dict[ItemId, LoadedConversation] = {}
        """Conversations read ahead."""
        self._recorded_as_seen: set[ClaimId] = set()
        """Claims that a queue showed the judge of, as the store knows already."""

    def _list_claims_served_with_judge(self, queue: ClaimQueue) -> list[ClaimView]:
        """List claims here that a blind queue serves with the judge, not on record as seen yet."""
        view = self.screen.view
        claims = () if view is None or not queue.blind else view.claims
        return [
            each
            for each in claims
            if each.id in queue.shown and not each.seen and each.id not in self._recorded_as_seen
        ]

    def record_claims_shown_by_queue(self) -> None:
        """Record what the queue that is left showed of the judge of the conversation in view.

        It stays in view: who was shown a verdict on purpose gives no blind label afterwards.
        """
        queue = None if self.cursor is None else self.cursor.queue
        shown = [] if queue is None else self._list_claims_served_with_judge(queue)
        if queue is not None and shown:
            self.session.keep_judge_in_view(each.id for each in shown)
            self._record_as_seen(shown, queue)

    def _record_claims_passed_over(self, item: ItemId, following: QueuePosition | None) -> None:
        """Record what the queue showed of the judge on claims that are left without a label.

        Args:
            item: The conversation that comes next.
            following: The queue that it comes in; None: none.
        """
        view = self.screen.view
        queue = None if self.cursor is None else self.cursor.queue
        if queue is None or view is None:
            return
        if following is None or following.queue != queue:
            self.record_claims_shown_by_queue()
        elif view.item.id != item and (shown := self._list_claims_served_with_judge(queue)):
            self._record_as_seen(shown, queue)

    def _record_as_seen(self, claims: Sequence[ClaimView], queue: ClaimQueue) -> None:
        numbers = {each.id for each in claims}
        self._recorded_as_seen |= numbers

        def forget_unless_written(written: Future[Step]) -> None:
            if written.cancelled() or written.exception() is not None:
                self._recorded_as_seen -= numbers

        self.screen.reveal.record_reveal_by_queue(claims, queue.sample).add_done_callback(
            forget_unless_written
        )

    def action_leave_queue(self) -> None:
        """Go on conversation by conversation, with the claim that is looked at."""
        queue = self.session.claim_queue
        if queue is None:
            self.refuse("there is no queue to leave: you go conversation by conversation")
            return
        shown = self._list_claims_served_with_judge(queue)
        self.session.leave_queue()
        self.forget_read_ahead()
        hidden = "; the judge stays hidden: {review.blind} ends blind work" if queue.blind else ""
        self.show_message(
            Piece("left ", "human strong"),
            escape_line(queue.title, limit=40),
            Piece(self.keys.fill_in_keys(hidden)),
        )
        if shown:
            words = f"left {queue.title}; that the judge was shown on purpose is recorded"
            self.screen.reveal.record_reveal(shown, words, queue.sample)
        self.screen.reveal.reload_under_new_hiding_state()
        self.screen.refresh_bindings()

    def is_key_shown(self, action: str) -> bool:
        """Name the key in a queue; without one it says so."""
        return self.session.claim_queue is not None

    def go_to_queued_claim(self, entry: tuple[ItemId, ClaimId]) -> None:
        """Show a claim of the queue, at once where it was read ahead."""
        item, claim = entry
        self.session.choose_conversation(item)
        if self.screen.view is not None and self.screen.view.item.id == item:
            self.screen.paint_at_position(ReviewPosition(None, claim), fresh=True)
            return
        ready = self.conversations_ahead.pop(item, None)
        if ready is None or ready.hiding_state != self.session.hiding_state:
            self.screen.panes.claims.block_keys_until_repaint()
            # A save that ends meanwhile reads again, and must come to the same claim.
            self.session.choose_conversation(item, claim)
            self.screen.loader.load_and_show_conversation(item, claim, 0)
            return
        self.screen.loader.show_loaded_if_still_wanted(replace(ready, claim=claim))
        if not self.screen.writer.in_flight:
            self.screen.reload_after_store_change()

    @run_in_worker("ahead")
    async def read_ahead(self) -> None:
        """Read the conversations ahead that come next in the queue."""
        if self.cursor is None:
            return
        here = self.session.item
        for item in dict.fromkeys(
            item for item, _ in self.cursor.list_next_open_claims(CLAIMS_READ_AHEAD)
        ):
            if item != here and item not in self.conversations_ahead:
                read = self.screen.loader.read_conversation
                self.screen.call_later(
                    self.store_conversation_read_ahead,
                    await self.read_in_thread(read, item, None, 0),
                )

    def store_conversation_read_ahead(self, loaded: "LoadedConversation") -> None:
        """Keep what was read ahead, as long as it is ahead and may still be shown."""
        if (
            loaded.queue_position is not self.cursor
            or loaded.hiding_state != self.session.hiding_state
        ):
            return
        wanted = (
            {item for item, _ in self.cursor.list_next_open_claims(CLAIMS_READ_AHEAD)}
            if self.cursor is not None
            else set()
        )
        self.conversations_ahead[loaded.view.item.id] = loaded
        for item in set(self.conversations_ahead) - wanted:
            del self.conversations_ahead[item]

    def forget_read_ahead(self) -> None:
        """Drop what was read ahead: it may show, or hide, what must be otherwise now."""
        self.conversations_ahead.clear()

    def switch_queue(self, position: QueuePosition | None, item: ItemId) -> None:
        """Walk through a queue, or none, from a conversation on."""
        self._record_claims_passed_over(item, position)
        if position is not self.cursor:
            self.cursor = position
            self.forget_read_ahead()

    def mark_claim_done_and_advance(self, claim: ClaimId, *, later: bool) -> None:
        """Go on after a claim of the queue was labelled or skipped."""
        if self.cursor is None:
            return
        was_answered = claim in self.cursor.answered_claims
        (self.cursor.mark_skipped if later else self.cursor.mark_answered)(claim)
        if not self.session.preferences.auto_advance:
            self.screen.repaint()
            return
        following = self.cursor.list_next_open_claims(1)
        if following:
            self.go_to_queued_claim(following[0])
        else:
            self.screen.repaint()
            self.screen.panes.claims.block_keys_until_repaint()
        if was_answered or (later and self.cursor.is_end_reported):
            return  # A correction, or skipped again: the queue was through before.
        if not following or (later and following[0][1] in self.cursor.skipped_claims):
            # Only what was skipped is left.
            self.cursor.is_end_reported = True
            self.close_and_report_finished_queue(self.cursor.queue)

    def count_answers(self, view: ReviewView) -> tuple[int, int] | None:
        """Count the claims of a conversation that are answered in the queue, and all it has of it.

        Returns:
            None without a queue.
        """
        if self.cursor is None:
            return None
        queued = [claim.id for claim in view.claims if claim.id in self.cursor.queue.place]
        return sum(claim in self.cursor.answered_claims for claim in queued), len(queued)

    def reopen_unsaved_claim(self, claim: ClaimId) -> None:
        """Let a claim come again whose answer could not be saved."""
        if self.cursor is not None:
            self.cursor.mark_open(claim)

    def reopen_undone_claims(self, step: UndoneStep) -> None:
        """Let claims come again whose answers were taken back."""
        position = self.cursor
        self.forget_read_ahead()
        if position is None:
            return
        sample = position.queue.sample
        position.is_outdated = sample is not None  # The store knows what is answered.
        for act in filter(_answers_claim, step.acts):
            if sample is not None and (step.words == "undone" or act.sample != sample):
                continue  # Another answer may stand.
            if step.words == "undone":
                position.mark_open(act.claim)
            elif act.verdict is None:
                position.mark_skipped(act.claim)
            else:
                position.mark_answered(act.claim)

    def go_to_next_open_claim(self, direction: int) -> None:
        """Go to the next or the previous open claim of the queue."""
        if self.cursor is None:
            return
        following = iter(self.cursor.list_next_open_claims(1))
        back = direction < 0
        entry = self.cursor.find_previous_open_claim() if back else next(following, None)
        if entry is None:
            self.show_message(Piece("nothing open in the queue on that side", "warn"))
        else:
            self.go_to_queued_claim(entry)

    def warn_if_outside(self, claim: ClaimId) -> None:
        """Say that a claim is not one of the queue, and how to go on with it."""
        if warning := self.format_warning_if_outside(claim):
            self.show_message(*warning[1:])

    def format_warning_if_outside(self, claim: ClaimId) -> tuple[Piece, ...]:
        """Say behind other words that a claim is not one of the queue; () where it is, or none."""
        return () if self.cursor is None else _format_warning(self.cursor.queue, claim, self.keys)

    def step_in_queue_if_any(self, by: int) -> bool:
        """Go to the next or the previous claim of the queue, answered or not.

        Returns:
            False without a queue.
        """
        if (cursor := self.cursor) is None:
            return False
        self.screen.verdicts.forget_last_verdict()
        place = cursor.current_place + by
        if 0 <= place < len(cursor.queue.entries):
            self.go_to_queued_claim(cursor.queue.entries[place])
        else:
            end = "last" if by > 0 else "first"
            words = Piece(f"the {end} claim of ", "warn")
            self.show_message(words, escape_line(cursor.queue.title, limit=40))
        return True

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("queue")
    async def close_and_report_finished_queue(self, queue: ClaimQueue) -> None:
        """Say what came of a queue, once its last label is saved."""
        from faithtui.engine.review.samples.sample_queues import (
            read_outcome_and_close_finished_spot_check,
        )

        position = self.cursor
        await self.screen.writer.saves_done.wait()
        if position is None or self.cursor is not position or not position.is_over:
            return  # The last label could not be saved, or was taken back.
        end, session = None, self.session
        if queue.sample is not None:
            end = await self.read_in_thread(
                read_outcome_and_close_finished_spot_check,
                session.store,
                queue.sample,
                session.reviewer,
                works_blind=session.is_blind,
            )
        self.screen.call_later(self.show_queue_outcome, queue, end)

    def show_queue_outcome(self, queue: ClaimQueue, outcome: "QueueOutcome | None") -> None:
        """Show what came of a queue and where to go from here.

        Args:
            queue: The queue.
            outcome: What came of it; None for one that is no sample.
        """
        if self.session.claim_queue is not queue:
            return
        from faithtui.tui.samples.queue_end_dialog import UNDO, QueueEndDialog

        def follow_answer(answer: str | None) -> None:
            if answer == UNDO:
                self.screen.undo.action_undo()
            elif answer is not None:
                self.screen.post_message(ShowScreen(answer))

        dialog = QueueEndDialog(queue, outcome, is_blind=self.session.is_blind)
        self.input_queue.open_window(dialog, follow_answer)


def _answers_claim(act: LabelEvent) -> bool:
    """Say whether a label event counts in a queue: a final label is no label of a reviewer."""
    is_answer = act.verdict is not None or act.action is Action.SKIPPED
    return is_answer and act.action is not Action.ADJUDICATED


def _format_warning(queue: ClaimQueue, claim: ClaimId, keys: "KeyNames") -> tuple[Piece, ...]:
    """Say that a claim is not one of a queue, and how to go on with it; () where it is."""
    if claim in queue.place:
        return ()
    words = " does not have this claim: {review.next-unlabelled} goes on with it"
    title = escape_line(queue.title, limit=40)
    return Piece(" · "), title, Piece(keys.fill_in_keys(words), "warn")
