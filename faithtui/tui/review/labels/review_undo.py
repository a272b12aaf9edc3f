"""`u` and `ctrl+r` in review: the last step taken back, with its claim shown."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.labels.label_events import (
    Action,
    LabelMark,
    Step,
    describe_event_without_verdict,
)
from faithtui.store.records import ClaimView
from faithtui.tui.review import position
from faithtui.tui.review.labels.verdict_keys import make_check_of_keys_about_claims
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.screen.label_undo import LabelUndo, UndoneStep
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

_ANSWER_MARKS: Final = frozenset(
    {LabelMark.MISSED, LabelMark.NOT_MISSED, LabelMark.COMPLETE, LabelMark.INCOMPLETE}
)
"""What is said of an answer as a whole, or of a claim that has no row in the list."""

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen


class ReviewUndo(LabelUndo["ReviewScreen"]):
    """Undo and redo that go to the claim concerned."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u",
            "undo",
            "undo",
            tooltip="Undo the last act, in whichever conversation",
            id="review.undo",
        ),
        Binding("ctrl+r", "redo", "redo", tooltip="Redo what was undone", id="review.redo"),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(
            screen,
            self._go_to_undone_claim,
            partial(make_check_of_keys_about_claims, screen),
        )

    def action_undo(self) -> None:
        """Take back the last step; a code does not belong to a verdict taken back.

        A range that was begun would reach to the claim that it goes back to.
        """
        self.screen.claim_range.clear_range()
        self.screen.verdicts.forget_last_verdict()
        self.screen.verdicts.repeated.forget("nothing to repeat after an undo")
        super().action_undo()

    def action_redo(self) -> None:
        """Do again what was taken back last, which may be another verdict than the last one."""
        self.screen.claim_range.clear_range()
        self.screen.verdicts.repeated.forget("nothing to repeat after a redo")
        super().action_redo()

    def _go_to_undone_claim(self, step: UndoneStep) -> None:
        """Go to the claim concerned."""
        self.screen.writer.cancel_opening_next_conversation()
        if not step.acts:
            self._show_message_behind_refusal(Piece(f"nothing to be {step.words}", "warn"))
        elif step.acts[0].mark in _ANSWER_MARKS:
            words = describe_event_without_verdict(step.acts[0].action, step.acts[0].mark)
            self.screen.writer.set_last_event_text(f"{step.words} {words}")
            self.show_message(Piece(f"{step.words}: ", "human strong"), Piece(words))
            self.screen.reload()
        elif step.item is None:
            self.show_message(Piece(f"{step.words}: a verdict on what is not in this run", "warn"))
        else:
            self._reopen_and_go_to_claim(step, step.acts[0].claim, step.item)

    def _reopen_and_go_to_claim(self, step: UndoneStep, claim: ClaimId, item: ItemId) -> None:
        """Show the claim of a step, in whichever conversation."""
        self.screen.queue_navigator.reopen_undone_claims(step)
        for act in step.acts:
            self.screen.verdicts.discard_pending_flag(act.claim)
        self.screen.panes.claims.block_keys_until_repaint()
        # A save that ends meanwhile reads again, and must come to the same claim.
        self.session.choose_conversation(item, claim)
        self.screen.loader.load_and_show_conversation(item, claim, 0, step)

    def report_undone_step(self, step: UndoneStep) -> None:
        """Say what was taken back, once its claim is shown."""
        state, claim = self.screen.review_state, self.screen.claim
        if not step.acts or state is None or claim is None:
            return
        what = self._describe_undone_events(step.acts, state, claim)
        self.screen.writer.set_last_event_text(f"{step.words} {what}")
        outside = self.screen.queue_navigator.format_warning_if_outside(step.acts[0].claim)
        said = Piece(f"{step.words}: ", "human strong")
        self._show_message_behind_refusal(said, Piece(what), *outside)
        self.screen.paint_at_position(state.position)

    def _show_message_behind_refusal(self, *pieces: Piece) -> None:
        """Say it behind what was typed with it and did nothing: nobody has read that yet."""
        self.show_message(*self.screen.get_unread_refusal(), *pieces)

    def _describe_undone_events(self, acts: Step, state: ReviewState, claim: ClaimView) -> str:
        act, what = acts[0], self.screen.format_claim_name(claim)
        if len(acts) > 1:
            return (
                f"{fmt.format_count_with_noun(len(acts), 'verdict')} given at once, from {what} on"
            )
        if act.verdict is not None:
            word = position.translate_label(state.view, act.verdict) or act.verdict
            final = "final label of " if act.action is Action.ADJUDICATED else ""
            return f"{final}{what} = {fmt.describe_label(word, state.label_set)}"
        if act.action is Action.SKIPPED:
            return f"{what} skipped"
        return f"{describe_event_without_verdict(act.action, act.mark)} on {what}"
