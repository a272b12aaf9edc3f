"""ctrl+o: a letter on every pane and every row that is seen; typing it goes there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget

from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.theme.lines import Line, Piece
from faithtui.tui.widgets.line_widget import LineWidget
from faithtui.tui.widgets.scroll_pane import RowPane
from faithtui.tui.widgets.virtual_list import VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

JUMP_LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""Those under the fingers first."""


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A place to go to."""

    at: Offset
    """Where its letter is drawn, in cells of the screen."""
    go: Callable[[], None]


def make_jump_codes(count: int) -> list[str]:
    """Give that many codes of one or two letters, none the beginning of another.

    As few as possible have two letters; at most 26 × 26 codes are given.
    """
    size = len(JUMP_LETTERS)
    double = 0
    while double < size and size - double + double * size < count:
        double += 1
    single = list(JUMP_LETTERS[: size - double])
    pairs = [first + second for first in JUMP_LETTERS[size - double :] for second in JUMP_LETTERS]
    return [*single, *pairs][:count]


def list_jump_targets(screen: Screen[Any]) -> list[JumpTarget]:
    """List the panes of a screen that are seen, then the rows that are seen in them."""
    panes = [
        pane
        for panes in screen.query(Panes).results(Panes)
        for pane in panes.children
        if _is_shown_and_focusable(pane)
    ]
    found = [
        JumpTarget(
            Offset(pane.region.x + 1, pane.region.y), _make_focus_pane_callback(screen, pane)
        )
        for pane in panes
    ]
    for pane in panes:
        found += [
            JumpTarget(
                Offset(pane.region.x, pane.content_region.y + y),
                _make_choose_row_callback(screen, pane, row),
            )
            for row, y in _list_seen_rows(pane)
        ]
    return found


class JumpLabel(LineWidget, Widget):
    """The letters of a target."""

    def __init__(self, code: str, at: Offset) -> None:
        super().__init__()
        self.code = code
        self.styles.width = len(code)
        self.styles.offset = at

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give the letters."""
        return Line((Piece(self.code),)), self.looks.base_style


class JumpScreen(ModalWindow[JumpTarget | None]):
    """Letters over a screen; answers with the place."""

    CSS_PATH = "dialogs.tcss"
    HELP_WORDS: ClassVar[str] = "Type the letters of a pane or a row to go there."

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", tooltip="Stay where you are", id="jump.close"),
    ]

    def __init__(self, places: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._places = dict(zip(make_jump_codes(len(places)), places, strict=False))
        self._typed_letters = ""

    def compose(self) -> ComposeResult:
        """Put a label on every place."""
        for code, place in self._places.items():
            yield JumpLabel(code, place.at)

    def on_key(self, event: events.Key) -> None:
        """Go to what was typed; any other key closes."""
        event.stop()
        event.prevent_default()
        typed = self._typed_letters + (event.character or " ")
        if typed in self._places:
            self.dismiss(self._places[typed])
        elif any(code.startswith(typed) for code in self._places):
            self._typed_letters = typed
            for label in self.query(JumpLabel):
                label.display = label.code.startswith(typed)
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        """Stay."""
        self.dismiss(None)


def _is_shown_and_focusable(pane: Widget) -> bool:
    return pane.display and pane.can_focus and bool(pane.region)


def _list_seen_rows(pane: Widget) -> Iterator[tuple[int, int]]:
    """List the rows that are seen in a pane with the line each begins on, from its top."""
    height = pane.content_region.height
    top = pane.scroll_offset.y
    if isinstance(pane, RowPane):
        seen: set[int] = set()
        for y in range(min(height, len(pane.lines) - top)):
            line = pane.lines[pane.get_line_index_at(y)]
            if line.row is not None and line.row not in seen:
                seen.add(line.row)
                yield line.row, y
    elif isinstance(pane, VirtualList):
        yield from (
            (top + y - 1, y) for y in range(1, height) if top + y <= pane.virtual_size.height - 1
        )


def _make_focus_pane_callback(screen: Screen[Any], pane: Widget) -> Callable[[], None]:
    return lambda: screen.set_focus(pane)


def _make_choose_row_callback(screen: Screen[Any], pane: Widget, row: int) -> Callable[[], None]:
    def choose_row() -> None:
        screen.set_focus(pane)
        if isinstance(pane, RowPane | VirtualList):
            pane.cursor = row

    return choose_row
