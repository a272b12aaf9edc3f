"""Shown while quitting waits for the answers in flight."""

from collections.abc import Sequence

from faithtui.tui.progress.pace import count_replies_in_flight
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, make_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane

LOOK_EVERY_S = 0.1


class QuitProgressDialog(Dialog):
    """Says how many answers are waited for. Whoever shows it closes the app.

    Args:
        session: Has the runs.
    """

    def __init__(self, session: Session) -> None:
        super().__init__("Quitting", self._lines)
        self._session = session
        self._began = session.seconds()

    def on_mount(self) -> None:
        """Count down."""
        super().on_mount()
        self.set_interval(LOOK_EVERY_S, self.paint_remaining)

    def paint_remaining(self) -> None:
        """Draw how many are left."""
        self.query_one(Pane).show(self._lines)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take away the way back: the runs were asked to stop already."""
        return action != "close"

    def _lines(self, width: int) -> Sequence[Line]:
        left = sum(map(count_replies_in_flight, self._session.list_unfinished_run_snapshots()))
        answers = fmt.format_count_with_noun(left, "reply in flight", "replies in flight")
        passed = fmt.format_duration(self._session.seconds() - self._began)
        words = "They are paid for, so they are waited for and kept. {app.quit} quits at once."
        return [
            make_line(Piece(f" {answers} · {passed}", "strong")),
            BLANK,
            *wrap(self._session.keys.fill_in_keys_as_pieces(words), width - 1, first=[Piece(" ")]),
        ]
