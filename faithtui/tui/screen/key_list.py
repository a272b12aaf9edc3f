"""A list of keys that do much the same, from which one is chosen by key, enter or click."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events

from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme.lines import Line, Piece, count_cells_of_pieces, fit_text, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane


class KeyEntry(NamedTuple):
    """A key of the screen below, and what it is for."""

    key: str
    words: str
    meaning: str


class KeyListDialog(Dialog):
    """Keys of the screen below with what they do; answers with the row of one.

    Args:
        title: What they have in common.
        entries: The keys.
        chosen: The row to begin at.
    """

    def __init__(self, title: str, entries: Sequence[KeyEntry], *, chosen: int = 0) -> None:
        self._entries = entries
        self._chosen = chosen
        super().__init__(title, self._key_entry_lines)

    def on_mount(self) -> None:
        """Begin at the chosen row."""
        # Textual calls the `on_mount` of `Dialog` besides.
        self.call_after_refresh(self.query_one("#text", RowPane).move_to, self._chosen)

    def make_pane(self) -> Pane:
        """Make the pane; one click is enough, as in the footer that led here."""
        return RowPane(id="text", title=self._title, opens_on_first_click=True)

    def on_row_pane_chosen(self, event: RowPane.Chosen) -> None:
        """Answer with the row."""
        self.dismiss(str(event.row))

    def on_key(self, event: events.Key) -> None:
        """Choose by the key that does it on the screen below."""
        keys = [each.key for each in self._entries]
        if event.character in keys:
            event.stop()
            self.dismiss(str(keys.index(event.character)))

    def _key_entry_lines(self, width: int) -> Sequence[Line]:
        room = max(cell_len(each.words) for each in self._entries)
        lines: list[Line] = []
        for row, each in enumerate(self._entries):
            named = [Piece(f" {each.key}  {fit_text(each.words, room)}", "strong")]
            gap = Piece("  ")
            pad = [Piece(" " * (count_cells_of_pieces(named) + 2))]
            meaning = [Piece(each.meaning, "quiet")]
            lines += wrap(meaning, width - 1, first=[*named, gap], rest=pad, row=row)
        return lines


def make_chosen_row_callback(choose: Callable[[int], None]) -> Callable[[str | None], None]:
    """Make what takes the answer of a list: nothing is done where it was closed."""

    def take_answer(row: str | None) -> None:
        if row is not None:
            choose(int(row))

    return take_answer
