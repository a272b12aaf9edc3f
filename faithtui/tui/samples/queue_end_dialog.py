"""What is shown when every claim of a queue has its verdict, and where to go from there."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from faithtui.engine.review.samples.sample_queues import QueueOutcome
from faithtui.tui import screen_catalog
from faithtui.tui.input_queue import get_input_queue
from faithtui.tui.refusals import show_refusal_box
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.samples.sample_lines import queue_end_lines
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, wrap

UNDO = "undo"
"""Answer of the dialog where the last label is to be taken back."""


class QueueEndDialog(Dialog):
    """What came of a queue; answers with the main screen to go to, or with `UNDO`.

    Args:
        queue: The queue.
        end: What came of it; None for one that is no sample.
        is_blind: The judge is hidden: screens that would show it are not offered.
    """

    HELP_WORDS: ClassVar[str] = (
        "Everything is saved. {queue-end.undo} takes the last verdict back, {queue-end.stay} stays "
        "with the claims, where skipped ones can still be answered."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u",
            "undo_last_verdict",
            "undo",
            tooltip="Take the last verdict back and stay with its claim",
            id="queue-end.undo",
        ),
        Binding(
            "a",
            "choose_screen('agreement')",
            "agreement",
            tooltip="Agreement of judge and human labels now",
            id="queue-end.agreement",
        ),
        Binding(
            "plus",
            "choose_screen('queues')",
            "draw more",
            key_display="+",
            tooltip="To the queues: draw more of this one, or another one",
            id="queue-end.queues",
        ),
        Binding(
            "d",
            "choose_screen('adjudicate')",
            "adjudicate",
            tooltip="Settle the claims on which annotators differ",
            id="queue-end.adjudicate",
        ),
        Binding(
            "enter",
            "close",
            "stay",
            tooltip="Stay with the claims",
            id="queue-end.stay",
        ),
    ]

    def __init__(
        self, queue: ClaimQueue, end: QueueOutcome | None, *, is_blind: bool = False
    ) -> None:
        super().__init__("This queue is through", lambda width: _end_lines(queue, end, width))
        self._is_blind = is_blind

    def on_mount(self) -> None:
        """Drop what was typed behind the last verdict: it was not meant for this window."""
        get_input_queue(self).drop_input_until_painted(
            lambda: show_refusal_box(
                self.app, "what was typed before this window was shown did nothing"
            )
        )

    def action_choose_screen(self, name: str) -> None:
        """Answer with a screen."""
        self.dismiss(name)

    def action_undo_last_verdict(self) -> None:
        """Answer that the last label is to be taken back."""
        self.dismiss(UNDO)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what leads nowhere."""
        if action == "choose_screen":
            closed = screen_catalog.SCREENS_CLOSED_WHILE_BLIND if self._is_blind else ()
            return parameters[0] in screen_catalog.SCREENS and parameters[0] not in closed
        return True


def _end_lines(queue: ClaimQueue, end: QueueOutcome | None, width: int) -> Sequence[Line]:
    if end is not None:
        return queue_end_lines(end, width)
    words = "nothing more is open in it. It is not a random sample: labels given here say "
    words += "nothing certain about the rest."
    pieces = [escape_line(queue.title, "strong", limit=200), Piece(f": {words}")]
    return [BLANK, *wrap(pieces, width - 1, first=[Piece(" ")]), BLANK]
