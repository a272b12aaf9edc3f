"""Moving: to another claim, another window, the next claim that has no verdict."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.tui.replies.claim_entry import ClaimInWindow
from faithtui.tui.review import position
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.screen.controller import Controller

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

WINDOW = Binding.Group("window", compact=True)
OPEN = Binding.Group("unlabelled", compact=True)
CLAIM = Binding.Group("claim", compact=True)


class ClaimMoves(Controller["ReviewScreen"]):
    """Moves the position of the review screen."""

    screen: "ReviewScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "j",
            "move_to_claim(1)",
            "next claim",
            group=CLAIM,
            tooltip="Next claim",
            id="review.next-claim",
        ),
        Binding(
            "k",
            "move_to_claim(-1)",
            "claim before",
            group=CLAIM,
            tooltip="Claim before",
            id="review.previous-claim",
        ),
        Binding(
            "J",
            "limit_to_window(1)",
            "next window",
            group=WINDOW,
            tooltip="Limit the claims to the next window",
            id="review.next-window",
        ),
        Binding(
            "K",
            "limit_to_window(-1)",
            "window before",
            group=WINDOW,
            tooltip="Limit the claims to the window before; before the first: all of them",
            id="review.previous-window",
        ),
        Binding(
            "N",
            "go_to_unlabelled(1)",
            "next unlabelled",
            group=OPEN,
            tooltip="Next claim without a verdict, also in a later conversation",
            id="review.next-unlabelled",
        ),
        Binding(
            "P",
            "go_to_unlabelled(-1)",
            "unlabelled before",
            group=OPEN,
            tooltip="Claim before without a verdict, also in an earlier conversation",
            id="review.previous-unlabelled",
        ),
    ]

    def get_shown_item_id(self) -> ItemId | None:
        """Give the conversation of the run; None: none is shown."""
        return None if self.screen.view is None else self.screen.view.item.id

    def get_chosen_claim(self) -> ClaimInWindow | None:
        """Give the chosen claim with the window whose verdict is shown."""
        view, claim, here = self.screen.view, self.screen.claim, self.screen.review_position
        if view is None or claim is None:
            return None
        verdict = position.get_judge_verdict(claim, here.window)
        return ClaimInWindow(
            self.screen.format_claim_name(claim),
            claim.text,
            verdict.window,
            verdict.word,
            verdict.reason,
            view.truths,
        )

    def show_claim_of_row(self, row: int) -> None:
        """Show the claim of a row of the list."""
        if self.screen.view is not None:
            claims = position.list_claims_of_window(
                self.screen.view, self.screen.review_position.window
            )
            if row < len(claims):
                self.screen.verdicts.forget_last_verdict()
                self.screen.paint_at_position(
                    ReviewPosition(self.screen.review_position.window, claims[row].id)
                )
                self.screen.queue_navigator.warn_if_outside(claims[row].id)

    def limit_to_window_of_row(self, row: int) -> None:
        """Limit the claims to the window of a row; the first row is all of them."""
        if self.screen.view is not None:
            window = None if row == 0 else row - 1
            claim = self.screen.review_position.claim
            self._show_window(
                position.fit_position_to_view(self.screen.view, ReviewPosition(window, claim))
            )

    def _show_window(self, at: ReviewPosition) -> None:
        """Show the claims of a window; in a queue say that the one chosen there is none of it."""
        before = self.screen.review_position.claim
        self.screen.paint_at_position(at)
        if at.claim is not None and at.claim != before:
            self.screen.queue_navigator.warn_if_outside(at.claim)

    def move_on_after_verdict(self, claim: ClaimId, *, later: bool = False) -> None:
        """Go on after a verdict, or after putting a claim off."""
        state = self.screen.review_state
        if state is None:
            return
        if self.screen.queue_navigator.cursor is not None:
            self.screen.queue_navigator.mark_claim_done_and_advance(claim, later=later)
        elif not self.session.preferences.auto_advance:
            self.screen.paint_at_position(state.position)
        else:
            ahead = position.overlay_pending_verdicts(
                state.view, self.session.reviewer, self.screen.writer.pending_verdicts
            )
            at = position.find_position_after_verdict(ahead, state.position)
            if at is None:
                self.screen.writer.open_next_conversation_when_saved()
            else:
                self.screen.writer.cancel_opening_next_conversation()
            self.screen.paint_at_position(at or state.position)
            if at is None:
                self.screen.panes.claims.block_keys_until_repaint()

    def action_move_to_claim(self, by: int) -> None:
        """Choose another claim from any pane; in a queue, another one of it."""
        if self.screen.view is None or self.screen.queue_navigator.step_in_queue_if_any(by):
            return
        self.screen.verdicts.forget_last_verdict()
        self.screen.paint_at_position(
            position.move_by_claims(self.screen.view, self.screen.review_position, by)
        )

    def action_limit_to_window(self, by: int) -> None:
        """Limit the claims to another window."""
        if self.screen.view is not None:
            self._show_window(
                position.move_by_windows(self.screen.view, self.screen.review_position, by)
            )

    def action_go_to_unlabelled(self, direction: int) -> None:
        """Go to a claim without a verdict; in a queue, to the next one of it."""
        if self.screen.view is None:
            return
        self.screen.verdicts.forget_last_verdict()
        if self.screen.search.go_to_next_match_if_any(direction):
            return
        if self.screen.queue_navigator.cursor is not None:
            self.screen.queue_navigator.go_to_next_open_claim(direction)
            return
        at = position.find_next_open_claim_position(
            self.screen.view, self.screen.review_position, direction
        )
        if at is not None:
            self.screen.paint_at_position(at)
        else:
            self.screen.loader.load_next_conversation_with_open_claim(direction)
