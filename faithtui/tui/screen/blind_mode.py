"""`B`: hides the judge until a claim has its verdict, on the screens that show it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.text.visible_text import make_visible_line
from faithtui.tui.screen.controller import Controller
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.tui.session import Session


def describe_keys_ending_blind_work(session: "Session", *, in_review: bool = False) -> str:
    """Name the keys that stop hiding the judge, in the order they are pressed in.

    Args:
        session: What screens share.
        in_review: The review screen is shown; else its key comes first, as what the others call
            by these letters is something else.
    """
    queue = session.claim_queue
    words = "{review.blind} ends blind work"
    if queue is not None and (queue.blind or queue.reveals_judge):
        words = "{review.leave-queue} leaves the queue and {review.blind} ends blind work"
    return session.keys.fill_in_keys(words if in_review else f"{{go.review}}, then {words}")


class BlindMode(Controller[Any]):
    """Hides the judge from now on, or stops hiding it.

    Args:
        screen: The screen it is a part of.
        read_again: Called when something else is hidden than before.
        was_judge_in_view: Tells whether the judge of what is shown was seen already.
        may_uncover: Tells whether the judge may be shown now; says why not.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "B",
            "toggle_blind",
            "blind",
            tooltip="Hide the judge until a claim has your verdict, or stop hiding it",
            id="review.blind",
        ),
    ]

    def __init__(
        self,
        screen: Any,
        read_again: Callable[[], None],
        was_judge_in_view: Callable[[], bool] = lambda: False,
        may_uncover: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(screen)
        self._read_again = read_again
        self._was_judge_in_view = was_judge_in_view
        self._may_uncover = may_uncover

    def action_toggle_blind(self) -> None:
        """Hide the judge from now on, or stop hiding it."""
        queue = self.session.claim_queue
        if queue is not None and queue.blind:
            title = make_visible_line(queue.title, 40)
            in_review = self.screen.app.current_screen_name == "review"
            way_out = describe_keys_ending_blind_work(self.session, in_review=in_review)
            self.refuse(f"{title} is blind: {way_out}")
            return
        if queue is not None and queue.reveals_judge:
            words = "these were chosen by the judge's verdict: {review.leave-queue} in review "
            words += "leaves them; then {review.blind} works"
            self.refuse(self.keys.fill_in_keys(words))
            return
        if self.session.is_judge_hidden and not self._may_uncover():
            return
        self.session.set_judge_hidden(not self.session.is_judge_hidden)
        self.screen.refresh_bindings()
        if self.session.is_judge_hidden and self._was_judge_in_view():
            # Its labels do not count as blind: who thinks so labels for nothing.
            words = ", too late for this conversation: its judge was in view"
            self.show_message(Piece("blind from now on", "human strong"), Piece(words, "warn"))
        elif self.session.is_judge_hidden:
            self.show_message(
                Piece("blind", "human strong"), Piece(": the judge is hidden until you answer")
            )
        else:
            in_review = self.screen.app.current_screen_name == "review"
            cost = ": labels here do not count as blind from now on" if in_review else ""
            self.show_message(Piece(f"judge shown again{cost}", "warn"))
        self._read_again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key where there is nothing to hide."""
        return self.session.run is not None
