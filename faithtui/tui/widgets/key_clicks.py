"""Keys that are drawn can be clicked: a click on `[y]` or `r resume` presses the key.

Which piece of a line is a key is said by its look, and which key it is by the bindings that work
now, so nothing that is drawn has to know of it. A click never does more than the key would.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.screen import Screen
from textual.widget import Widget

from faithtui.tui.keymap.key_names import format_key
from faithtui.tui.theme.lines import Line, Piece

_WORD = re.compile(r"\S+")
_RANGE = re.compile(r"(0)-\d")


def list_keys_in_clicked_line(
    pieces: Iterable[Piece], x: int, active: Mapping[str, str]
) -> tuple[events.Key, ...]:
    """Find the keys that a click on a line presses.

    Args:
        pieces: The line.
        x: The cell that was clicked, from 0.
        active: Keys that work now, by the name they are drawn with.

    Returns:
        The keys in order, several for `g r`; () where no key is drawn.
    """
    at = 0
    for text, look in pieces:
        size = cell_len(text)
        if at <= x < at + size:
            return _parse_key_names(text, active) if "key" in look.split() else ()
        at += size
    return ()


def list_keys_in_clicked_hint(
    pieces: Sequence[Piece], x: int, active: Mapping[str, str]
) -> tuple[events.Key, ...]:
    """Do the same in a line of hints: their words count too, and of several keys the one under x.

    Words behind several keys, as in `y n i x verdict`, press none of them. In a range such as
    `0-7 code`, 0 is the key of a list of the others: the range presses it, and so do its words.

    Args:
        pieces: Keys, each followed by its words.
        x: The cell that was clicked, from 0.
        active: Keys that work now, by the name they are drawn with.
    """
    at = 0
    before = ""
    for text, look in pieces:
        size = cell_len(text)
        is_key = "key" in look.split()
        if at <= x < at + size and text.strip():
            named = _get_key_name_at(text, x - at, active) if is_key else before.strip()
            found = _RANGE.fullmatch(named)
            named = found[1] if found else named
            return _parse_key_names(named, active) if named in active else ()
        before = text if is_key else before if not text.strip() else ""
        at += size
    return ()


class KeyDrawer(Protocol):
    """A widget whose lines may hold keys."""

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line of the content, and what its pieces are drawn over."""

    def list_clicked_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the keys that a click on a line presses."""

    @property
    def content_size(self) -> Size:
        """Size of the content."""

    @property
    def screen(self) -> Screen[Any]:
        """Its screen."""


def list_keys_at(widget: KeyDrawer, at: Offset | None) -> tuple[events.Key, ...]:
    """List the keys that a click on a cell of a widget presses; () where none is drawn."""
    if at is None or not 0 <= at.y < widget.content_size.height:
        return ()
    line, _ = widget.get_line_and_style_at(at.y)
    if not any("key" in look for _, look in line.pieces):
        return ()
    return widget.list_clicked_keys(line.pieces, at.x, map_active_keys(widget.screen))


def locate_mouse(widget: Widget) -> Offset | None:
    """Give the cell of the content under the mouse; None: it is not over the content."""
    inside = widget.content_region
    at = widget.app.mouse_position
    return at - inside.offset if inside.contains_point(at) else None


def map_active_keys(screen: Screen[object]) -> dict[str, str]:
    """Give the keys that work now, by the name they are drawn with."""
    bindings = screen.active_bindings.values()
    return {format_key(each.binding): each.binding.key for each in bindings if each.enabled}


def _parse_key_names(text: str, active: Mapping[str, str]) -> tuple[events.Key, ...]:
    """Read the names of keys: all of them, or none where the first one does nothing now."""
    stripped = text.strip()
    if len(stripped) > 2 and stripped[0] == "[" and stripped[-1] == "]":
        stripped = stripped[1:-1]
    names = [stripped] if stripped in active else stripped.split()
    if not names or names[0] not in active:
        return ()
    keys = []
    for name in names:
        known = active.get(name)
        if known is None and not (len(name) == 1 and name.isalnum()):
            return ()
        keys.append(_make_key_event(known or name))
    return tuple(keys)


def _make_key_event(key: str) -> events.Key:
    return events.Key(key, key if len(key) == 1 else None)


def _get_key_name_at(text: str, x: int, active: Mapping[str, str]) -> str:
    """Give the name of a key at a cell; keys are all one cell a character."""
    for found in _WORD.finditer(text):
        if found.start() <= x < found.end():
            word = found[0]
            if word in active or "/" not in word:
                return word
            start = found.start()
            for part in word.split("/"):
                if x <= start + len(part):
                    return part
                start += len(part) + 1
    return ""
