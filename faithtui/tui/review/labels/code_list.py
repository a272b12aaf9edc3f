"""The list from which a reason code is chosen, by its key, by enter or by a click."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events

from faithtui.domain.annotations import REASON_CODES
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.theme.lines import Line, Piece, fit_text, truncate_pieces
from faithtui.tui.widgets.scroll_pane import Pane, RowPane


class CodeDialog(PickDialog):
    """Reason codes with what they mean; answers with the row of one, as their keys do too."""

    def __init__(self, keys: KeyNames, given: str | None) -> None:
        """List the codes.

        Args:
            keys: What keys are called.
            given: Name of the code that the verdict has, where the list begins.
        """
        self._code_keys = [keys(f"review.code-{code.name}") for code in REASON_CODES]
        names = [code.name for code in REASON_CODES]
        chosen = names.index(given) if given in names else 0
        super().__init__("Reason code of the last verdict", self._lines, chosen=chosen)

    def make_pane(self) -> Pane:
        """Make the pane; one click is enough, as in the footer that led here."""
        return RowPane(id="text", title=self._title, opens_on_first_click=True)

    def on_key(self, event: events.Key) -> None:
        """Choose by the key that gives the code on the screen below."""
        if event.character in self._code_keys:
            event.stop()
            self.dismiss(str(self._code_keys.index(event.character)))

    def _lines(self, width: int) -> Sequence[Line]:
        room = max(cell_len(code.title) for code in REASON_CODES)
        return [
            Line(
                tuple(
                    truncate_pieces(
                        [
                            Piece(f" {key}  ", "strong"),
                            Piece(fit_text(code.title, room), "strong"),
                            Piece(f"  {code.meaning}", "quiet"),
                        ],
                        width - 1,
                    )
                ),
                row=row,
            )
            for row, (key, code) in enumerate(zip(self._code_keys, REASON_CODES, strict=True))
        ]
