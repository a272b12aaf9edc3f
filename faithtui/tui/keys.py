"""Keys in words: which work now for the lines below the panes, and all of them for the docs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.screen import Screen

from faithtui.tui.lines import Line, Piece

_NAMES = {
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "slash": "/",
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
}
PINNED = ("app.go", "app.back", "app.help")
"""Ids of what stands at the right end of the last line and is never dropped for room."""


@dataclass(frozen=True, slots=True)
class KeyHint:
    """One or several keys and what they do."""

    keys: str
    words: str
    id: str = ""

    @property
    def pinned(self) -> bool:
        """Whether it must be seen whatever the room."""
        return self.id in PINNED

    @property
    def width(self) -> int:
        """Cells of `keys words`."""
        return cell_len(self.keys) + 1 + cell_len(self.words)

    @classmethod
    def of(cls, screen: Screen[Any]) -> list["KeyHint"]:
        """List what works on a screen now: the focused pane's keys, the screen's, the app's."""
        return hints(screen.active_bindings.values())


def display(binding: Binding) -> str:
    """Write a key as people read it."""
    if binding.key_display:
        return binding.key_display
    return "+".join(_NAMES.get(part, part) for part in binding.key.split("+"))


def hints(active: Iterable[ActiveBinding]) -> list[KeyHint]:
    """Combine bindings into hints: one per action, one per group."""
    found: dict[object, tuple[list[str], str, str]] = {}
    for each in active:
        binding = each.binding
        if not binding.show or not each.enabled:
            continue
        owner: object = binding.group or (binding.action, binding.id)
        words = binding.group.description if binding.group else binding.description
        keys, _, _ = found.setdefault(owner, ([], words, binding.id or ""))
        key = display(binding)
        if key not in keys and (binding.group or not keys):
            keys.append(key)
    listed = [KeyHint(_joined(keys), words, name) for keys, words, name in found.values()]
    # What every screen has is known soonest, so it is the first to go where room is short.
    return sorted(listed, key=lambda hint: hint.id.startswith(("screen.", "app.")))


def pack(all_hints: Sequence[KeyHint], width: int, lines: int) -> list[Line]:
    """Put hints into lines, whole words only.

    Args:
        all_hints: Most important first; pinned ones go to the end of the last line.
        width: Cells of a line.
        lines: How many lines there are, at least 1.

    Returns:
        Exactly `lines` lines. What finds no room is left out, pinned ones last of all.
    """
    pinned = sorted((hint for hint in all_hints if hint.pinned), key=lambda h: PINNED.index(h.id))
    while pinned and _total(pinned) > width - 2:
        pinned.pop(0)
    rows: list[list[KeyHint]] = [[] for _ in range(lines)]
    rooms = [width - 2] * lines
    rooms[-1] -= _total(pinned) + (2 if pinned else 0)
    row = 0
    for hint in (each for each in all_hints if not each.pinned):
        while row < lines and _total([*rows[row], hint]) > rooms[row]:
            row += 1
        if row == lines:
            break
        rows[row].append(hint)
    packed = []
    for number, row_hints in enumerate(rows):
        tail = pinned if number == lines - 1 else []
        gap = width - 2 - _total(row_hints) - _total(tail)
        packed.append(Line((Piece(" "), *_pieces(row_hints), Piece(" " * gap), *_pieces(tail))))
    return packed


def _joined(keys: Sequence[str]) -> str:
    plain = len(keys) == 2 and all(key.isalnum() for key in keys)
    return ("/" if plain else " ").join(keys)


def _total(row: Sequence[KeyHint]) -> int:
    return sum(hint.width for hint in row) + 2 * max(0, len(row) - 1)


def _pieces(row: Sequence[KeyHint]) -> list[Piece]:
    pieces: list[Piece] = []
    for hint in row:
        if pieces:
            pieces.append(Piece("  "))
        pieces += [Piece(hint.keys, "key"), Piece(f" {hint.words}", "quiet")]
    return pieces
