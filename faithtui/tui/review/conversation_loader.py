"""Reading the conversation that is reviewed, and the next one that has a claim to answer.

Each reading says what was hidden when it was made, and is shown only if that still holds.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.worker import Worker

from faithtui.domain.ids import ClaimId, ItemId, LabelId
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.annotations.guidelines import Guideline
from faithtui.store.records import FreshVerdict, ItemRow, ReviewView
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.review import position
from faithtui.tui.review.labels.other_app import OutdatedVerdict
from faithtui.tui.review.labels.verdict_keys import (
    drop_verdicts_typed_ahead,
    refuse_early_keys,
)
from faithtui.tui.review.lines import evidence_lines
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.samples.queue import QueuePosition, find_nearest_open_conversation
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.label_undo import UndoneStep
from faithtui.tui.screen.main_screen import CONTENT_GROUP
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.review.review_screen import ReviewScreen

ConversationMark = tuple[ItemRow, LabelId]
"""A conversation of a run as lists have it, and the newest thing that anybody said: as long as they
are the same, so is everything that is read of it."""


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation that was read."""

    view: ReviewView
    tokenised: evidence_lines.TokenisedView
    spec: "MetricSpec"
    claim: ClaimId | None
    edge: int
    """1: begin at the first claim without a verdict; -1: at the last; 0: stay."""
    undone: UndoneStep | None = None
    """The undo or redo that led here."""
    queue_position: QueuePosition | None = None
    """The queue that is worked through."""
    position_changes: int = 0
    """`changes` of the position there was when it was read."""
    outdated_verdict: OutdatedVerdict | None = None
    """The verdict that was given last, if another app replaced it or took it back."""
    hiding_state: tuple[object, ...] = ()
    """`Session.hiding_state` when it was read."""
    mark: ConversationMark | None = None
    """What the conversation was known by when it was read."""
    asked_again: tuple[FreshVerdict, ...] = ()
    """What the judge said when it was asked again, as far as that may be seen."""
    guideline: Guideline | None = None
    """What says how to judge."""


class ConversationLoader(Controller["ReviewScreen"]):
    """Reads the conversation of the review screen and shows it."""

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.must_reread = False
        """The store changed while a conversation was being read."""
        self.mark: ConversationMark | None = None
        """What the conversation shown is known by; None: there is none."""

    def reload_if_changed(self) -> None:
        """Read again if it was this conversation that changed."""
        if self.mark is None:
            self.reread_now_or_after_jump()
        else:
            self.reread_if_changed()

    @run_in_worker("follow")
    async def reread_if_changed(self) -> None:
        """Look whether anything of the conversation changed, which costs little."""
        item = self.session.item
        if (
            item is not None
            and await self.read_in_thread(self._read_change_stamp, item) != self.mark
        ):
            self.reread_now_or_after_jump()

    def _read_change_stamp(self, item: ItemId) -> ConversationMark | None:
        store = self.session.store
        newest = store.label_log.read_newest_event_id()
        rows = store.runs.read_item_rows([item])
        return (rows[0], newest) if rows else None

    def reread_now_or_after_jump(self) -> None:
        """Read again, but never in the way of a jump to another conversation."""
        if any(
            each.group == CONTENT_GROUP and not each.is_finished for each in self.screen.workers
        ):
            self.must_reread = True
        else:
            self.reload()

    def reload(self) -> None:
        """Read the conversation again, or the one that was chosen elsewhere."""
        view = self.screen.view
        if view is None or self.session.item not in (None, view.item.id):
            # They are not about what is still drawn.
            self.screen.panes.claims.block_keys_until_repaint()
        if self.screen.writer.in_flight:
            return  # The last save reads again; until then the screen is ahead of the store.
        # Kept until it is shown: what is being read may be read again before that.
        wanted, turn, item = self.session.claim, self.session.turn, self.session.item
        if item is None:
            self._hold_keys_while_waiting(self.find_and_show_conversation_to_review())
        else:
            known = view is not None and item == view.item.id
            self.load_and_show_conversation(item, wanted, 0 if known or wanted else 1, turn=turn)

    def load_and_show_conversation(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: UndoneStep | None = None,
        turn: int | None = None,
    ) -> None:
        """Read one conversation and show it; begin at a claim, else at the first one of a turn.

        While the list of claims waits for it, keys do too: they are meant for what comes.
        """
        if self.screen.view is None or self.screen.view.item.id != item:
            refuse_early_keys(self.screen)  # also where it cannot be read
        self._hold_keys_while_waiting(
            self._read_and_show_conversation(item, claim, edge, after, turn)
        )

    def _hold_keys_while_waiting(self, worker: Worker[None]) -> None:
        if self.screen.panes.claims.is_waiting:
            self.input_queue.hold_keys_for(worker, can_give_up=False)

    @run_in_worker(CONTENT_GROUP)
    async def _read_and_show_conversation(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: UndoneStep | None,
        turn: int | None,
    ) -> None:
        try:
            loaded = await self.read_in_thread(self.read_conversation, item, claim, edge)
        except Exception:
            # The app says what failed. A list that waits takes keys again that come from now on.
            if after is not None:
                self.screen.call_later(self.screen.undo.refuse_keys_behind_step)
            self.screen.call_later(self.screen.repaint)
            raise
        if claim is None and turn is not None:
            at_turn = (each.id for each in loaded.view.claims if each.turn == turn)
            loaded = replace(loaded, claim=next(at_turn, None))
        self.screen.call_later(self.show_loaded_if_still_wanted, replace(loaded, undone=after))

    @run_in_worker(CONTENT_GROUP)
    async def find_and_show_conversation_to_review(self) -> None:
        """Find a conversation to review when none was chosen."""
        refuse_early_keys(self.screen)
        store = self.session.store
        run = self.session.run or await self.read_in_thread(store.runs.find_newest_run_id)
        if run is None:
            words = "There is no run yet: {go.runs}, then {runs.new} starts one."
            self.screen.call_later(self.explain_nothing_to_review, self.keys.fill_in_keys(words))
            return
        self.session.switch_run(run)
        queue = await self.read_in_thread(store.runs.list_item_ids, run, "number")
        item = await self.read_in_thread(
            find_nearest_open_conversation, store, self.session.reviewer, queue, None, 1
        )
        if item is None and queue:
            item = queue[0]
        if item is None:
            self.screen.call_later(self.explain_nothing_to_review, "This run has no conversations.")
            return
        self.session.choose_conversation(item)
        self.screen.call_later(
            self.show_loaded_if_still_wanted,
            await self.read_in_thread(self.read_conversation, item, None, 1),
        )

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker(CONTENT_GROUP)
    async def load_next_conversation_with_open_claim(
        self, direction: int, *, after_verdict: bool = False
    ) -> None:
        """Go to the next conversation that has a claim without a verdict."""
        refuse_early_keys(self.screen)
        here = self.session.item
        store, run = self.session.store, self.session.run
        if run is None or here is None:
            return
        queue = self.session.item_queue or await self.read_in_thread(
            store.runs.list_item_ids, run, "number"
        )
        item = await self.read_in_thread(
            find_nearest_open_conversation, store, self.session.reviewer, queue, here, direction
        )
        if item is None:
            words, unit = "after" if direction > 0 else "before", self.screen.unit_word
            text = f"no {unit} without a verdict {words} this one in the run"
            item = here
            if after_verdict and (typed := drop_verdicts_typed_ahead(self.screen)):
                text += f"; typed ahead and not saved: {typed}"
            self.show_message(*self.screen.writer.take_last_saved_message(), Piece(text, "warn"))
        self.session.choose_conversation(item)
        edge = 0 if item == here else direction
        self.screen.call_later(
            self.show_loaded_if_still_wanted,
            await self.read_in_thread(self.read_conversation, item, None, edge),
        )

    def read_conversation(
        self, item: ItemId, claim: ClaimId | None, edge: int
    ) -> LoadedConversation:
        """Read a conversation, without what is hidden. Meant for a thread."""
        session = self.session
        hiding = session.hiding_state
        mark = self._read_change_stamp(item)  # first: a change after it is seen at the next look
        view = session.store.runs.read_conversation_for_review(item, session.reviewer)
        queue = session.claim_queue
        other_app = self.screen.queue_navigator.other_app
        position, changes = other_app.read_queue_position(queue)
        if session.is_blind:
            view = hide_judge_verdicts(
                view,
                revealed=session.revealed | (queue.shown if queue is not None else set()),
                sample=queue.sample if queue is not None else None,
                truths=item in session.revealed_truths,
            )
        asked_again = session.store.calls.list_re_asked_verdicts(item)
        # A run may still add windows to the conversation, and with them truths.
        before = self.screen.review_state
        known = before is not None and before.view.item.id == item
        if before is not None and known and before.view.truths == view.truths:
            read = before.tokenised
        else:
            read = evidence_lines.tokenise_view(view, at_once=False)
        return LoadedConversation(
            view,
            read,
            get_metric_spec(view.run.spec),
            claim,
            edge,
            queue_position=position,
            position_changes=changes,
            outdated_verdict=other_app.find_outdated_verdict(),
            hiding_state=hiding,
            mark=mark,
            asked_again=tuple(each for each in asked_again if each.claim not in view.hidden),
            guideline=session.store.guidelines.find_version_or_default(view.run.spec.metric),
        )

    def show_loaded_if_still_wanted(self, loaded: LoadedConversation) -> None:
        """Take a conversation that was read, unless another one is wanted by now."""
        if loaded.view.item.id != self.session.item:
            return
        if loaded.hiding_state != self.session.hiding_state:
            # Something is to be hidden by now that was not when this was read, or the other way.
            if all(each.is_finished for each in self.screen.workers if each.group == CONTENT_GROUP):
                self.load_and_show_conversation(
                    loaded.view.item.id, loaded.claim, loaded.edge, loaded.undone
                )
            return
        # The screen may have been emptied since it was asked for: what was chosen stays.
        claim = loaded.claim or (None if loaded.edge else self.session.claim)
        self._show_conversation_with_queue_and_undo(replace(loaded, claim=claim))

    def _show_conversation_with_queue_and_undo(self, loaded: LoadedConversation) -> None:
        self.session.choose_conversation(loaded.view.item.id)
        if not self.screen.writer.in_flight:
            self.screen.verdicts.clear_pending_flags()
            self.screen.marking.drop_unsaved_marks()
        self.mark = loaded.mark
        # Labels that are still being saved are on the screen, and not in what was read.
        view = position.overlay_pending_verdicts(
            loaded.view, self.session.reviewer, self.screen.writer.pending_verdicts
        )
        same = self.screen.view is not None and self.screen.view.item.id == view.item.id
        before = self.screen.review_position if same else None
        at = self._choose_position(loaded, view, before or ReviewPosition())
        other_app = self.screen.queue_navigator.other_app
        labelled_there = other_app.switch_queue_and_find_label(loaded, view, at.claim)
        if not same:
            self.screen.claim_range.clear_range()
            self.screen.search.clear_search()
            self.screen.writer.clear_message_of_other_conversation()
        # Before the paint: no more is ever seen than is known to have been seen.
        self.session.record_judge_in_view(view.item.id, view.claims_with_judge)
        state = ReviewState(
            view,
            before or at,
            loaded.spec,
            loaded.tokenised,
            asked_again=loaded.asked_again,
            guideline=loaded.guideline,
        )
        self.screen.show_conversation(state, at, fresh=not same)
        other_app.warn_of_label_if_any(labelled_there)
        self._start_what_follows_the_paint(loaded, is_same=same)

    def _choose_position(
        self, loaded: LoadedConversation, view: ReviewView, at: ReviewPosition
    ) -> ReviewPosition:
        """Choose where to be: at the claim that is wanted, at an end, else where one is."""
        if loaded.claim is not None:
            listed = position.list_claims_of_window(view, at.window)
            held = any(claim.id == loaded.claim for claim in listed)
            at = ReviewPosition(at.window if held else None, loaded.claim)
        elif loaded.edge:
            at = position.find_first_or_last_open_claim(view, loaded.edge) or ReviewPosition()
        return position.fit_position_to_view(view, at)

    def _start_what_follows_the_paint(self, loaded: LoadedConversation, *, is_same: bool) -> None:
        """Read ahead, count, say what was undone, and read again where that is due."""
        if not loaded.tokenised.is_filled:
            # Behind the first paint, beside which a thread would take its share of the
            # interpreter. Panes ask for it by messages of their own, so one of them is asked.
            after = self.screen.call_after_refresh
            self.screen.panes.claims.call_after_refresh(
                after, self.compare_rest_of_long_texts, loaded.tokenised
            )
        self.screen.queue_navigator.read_ahead()
        self.screen.session_line.load_and_show_progress()
        if not is_same:
            self.screen.refresh_bindings()
        if loaded.undone is not None:
            self.screen.undo.report_undone_step(loaded.undone)
        elif not is_same:
            refuse_early_keys(self.screen)
        if self.must_reread:
            self.must_reread = False
            self.reload()

    @run_in_worker("rest")
    async def compare_rest_of_long_texts(self, tokenised: evidence_lines.TokenisedView) -> None:
        """Compare the rest of a long conversation beside the keys, and show what it adds."""
        await self.read_in_thread(tokenised.compute_lazy_parts)
        self.screen.call_later(self._repaint_after_comparing_rest, tokenised)

    def _repaint_after_comparing_rest(self, tokenised: evidence_lines.TokenisedView) -> None:
        state = self.screen.review_state
        if state is not None and state.tokenised is tokenised:
            self.screen.repaint()

    def force_reload_at_next_change(self) -> None:
        """Read again at the next change of the store, whatever it is."""
        self.mark = None

    def explain_nothing_to_review(self, words: str) -> None:
        """Say why there is nothing to review."""
        self.force_reload_at_next_change()
        self.screen.show_nothing_to_review(words)
