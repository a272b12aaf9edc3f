"""What is shown when the store cannot be opened."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, escape_text, make_line, wrap
from faithtui.tui.widgets.bars import KeyBar, TitleBar
from faithtui.tui.widgets.scroll_pane import Pane


class StoreErrorScreen(Screen[None]):
    """Why there is no store, and what can be done."""

    HELP_WORDS: ClassVar[str] = "The store could not be opened. Nothing in it was changed."

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q,enter",
            "app.leave",
            "quit",
            key_display="q",
            tooltip="Quit",
            id="refused.quit",
        ),
    ]

    def __init__(self, words: str, path: Path) -> None:
        super().__init__()
        self._words = words
        self._path = path

    def compose(self) -> ComposeResult:
        """Stack title, words and keys."""
        yield TitleBar(id="title")
        yield Pane(id="refusal", title="The store cannot be opened")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Write it down."""
        self.query_one(TitleBar).left = (Piece("faithtui", "strong"),)
        pane = self.query_one(Pane)
        pane.show(self._lines)
        pane.focus()

    def _lines(self, width: int) -> Sequence[Line]:
        pad = [Piece("  ")]
        return [
            BLANK,
            *wrap([escape_text(self._words, "bad strong")], width - 2, first=pad),
            BLANK,
            *wrap([Piece("file  ", "quiet"), escape_line(str(self._path))], width - 2, first=pad),
            BLANK,
            make_line(Piece("  Nothing was changed. Another store opens with", "quiet")),
            make_line(Piece("    faithtui --store FILE", "human")),
            make_line(Piece("  and this one is checked with", "quiet")),
            make_line(Piece("    faithtui doctor", "human")),
        ]
