"""`m`: one verdict on a range of claims."""

from dataclasses import replace
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ClaimView
from faithtui.tui.review import position
from faithtui.tui.review.labels.other_app import describe_replaced_labels
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

ASK_ABOVE = 5
"""Claims that get one verdict at once without a question."""


class ClaimRange(Controller["ReviewScreen"]):
    """A range of claims that get one verdict. Its key is one of the list of claims."""

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.start: ClaimId | None = None
        """Where the marked range begins; None: there is none."""

    def begin_or_drop_range(self, claim: ClaimView) -> None:
        """Begin a range at a claim, or drop it."""
        queue = self.session.claim_queue
        if self.start is not None:
            self.drop_range_with_message()
            return
        if queue is not None and queue.sample is not None:
            self.refuse("in a sample each claim needs a verdict of its own")
            return
        self.start = claim.id
        self.show_message(
            Piece(f"range from {self.screen.format_claim_name(claim)}", "human strong"),
            Piece(f": move, then one verdict for all · {self.keys('review.range')} drops it"),
        )
        self.screen.repaint()

    def give_verdict_to_range(self, verdict: str) -> None:
        """Give one verdict on all claims of the marked range, as one step."""
        state = self.screen.review_state
        if state is None:
            return
        chosen = position.list_claims_in_range(state.view, state.position, self.start)
        if not chosen:
            self.clear_range()
            key = self.keys("review.range")
            self.refuse(f"the range is not in this list: {key} marks a new one")
            self.screen.repaint()
            return
        words = (
            f"{fmt.format_count_with_noun(len(chosen), *state.spec.units)} = "
            f"{fmt.describe_label(verdict, state.label_set)}"
        )
        mine = [each.mine.verdict for each in chosen if each.mine is not None]
        replaced = [word for word in mine if word not in (None, verdict)]
        if replaced:
            words += f", replacing {describe_replaced_labels(replaced, state.label_set)}"

        def save_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self._save_range(chosen, verdict, f"{words}, in bulk")

        if len(chosen) > ASK_ABOVE:
            self.input_queue.open_window(
                ConfirmDialog(
                    f"{words}?",
                    "Labels given in bulk are not counted in agreement. "
                    "One undo takes all of them back.",
                ),
                save_if_confirmed,
            )
        else:
            save_if_confirmed("yes")

    def _save_range(self, chosen: tuple[ClaimView, ...], verdict: str, words: str) -> None:
        self.clear_range()
        self.screen.verdicts.forget_last_verdict(in_bulk=True)
        self.screen.verdicts.repeated.remember(verdict)
        self.screen.writer.save_bulk_verdict(chosen, verdict, words)
        self.screen.paint_at_position(replace(self.screen.review_position, claim=chosen[-1].id))
        self.screen.moves.move_on_after_verdict(chosen[-1].id)

    def clear_range(self) -> None:
        """Mark no range any more."""
        self.start = None

    def drop_range_with_message(self) -> None:
        """Mark no range any more, and say so."""
        self.clear_range()
        self.show_message(Piece("no range any more", "quiet"))
        self.screen.repaint()
