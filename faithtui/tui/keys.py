"""Keys in words: which work now for the lines below the panes, and all of them for the docs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.keys import Keys, key_to_character
from textual.screen import Screen
from textual.widgets import Input

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
_TYPED = frozenset(key.value for key in Keys)
"""Names of keys that people know as names."""
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
        """List what works on a screen now: the focused pane's keys, the screen's, the app's.

        Where text is typed, a letter is a letter and no key.
        """
        active = as_written(screen.active_bindings.values())
        if isinstance(screen.focused, Input):
            active = [each for each in active if len(display(each.binding)) > 1]
        return hints(active)


def display(binding: Binding) -> str:
    """Write a key as people read it."""
    if binding.key_display:
        return binding.key_display
    *modifiers, last = binding.key.split("+")
    if not modifiers and last not in _NAMES and len(last) > 1:
        # `plus` is +, but `enter` is a name.
        return key_to_character(last) or last if last not in _TYPED else last
    return "+".join((*modifiers, _NAMES.get(last, last)))


def keys_by_id(keymap: Mapping[str, str], name: str, default: str) -> list[str]:
    """Write the keys of a binding as people read them, when it is not at hand.

    Args:
        keymap: Keys by id where they are not the default ones.
        name: Id of the binding.
        default: Its keys by default, separated by commas.
    """
    made = Binding.make_bindings([Binding(keymap.get(name, default), "")])
    return [display(each) for each in made]


def renamed(bindings: Iterable[object], keymap: Mapping[str, str]) -> dict[str, str]:
    """Say what keys are called where bindings have others than by default.

    Args:
        bindings: Bindings as a class lists them.
        keymap: Keys by id where they are not the default ones.

    Returns:
        The first key that counts by the first default one, both as people read them.
    """
    return {
        display(next(iter(Binding.make_bindings([each])))): keys_by_id(keymap, each.id, each.key)[0]
        for each in bindings
        if isinstance(each, Binding) and each.id is not None and each.id in keymap
    }


def as_written(active: Iterable[ActiveBinding]) -> list[ActiveBinding]:
    """Give bindings the order they were written in: another key map leaves its own at the end."""

    def place(each: ActiveBinding) -> tuple[int, int]:
        written = _order(type(each.node))
        depth = len(each.node.ancestors_with_self)
        return -depth, written.get(each.binding.id or "", len(written))

    return sorted(active, key=place)


@cache
def _order(kind: type[DOMNode]) -> Mapping[str, int]:
    """Number the ids of a class's bindings, inherited ones first."""
    ids: dict[str, int] = {}
    for each in reversed(kind.__mro__):
        for binding in vars(each).get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id is not None:
                ids.setdefault(binding.id, len(ids))
    return ids


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
    if len(keys) > 2 and all(key.isdigit() for key in keys):
        return f"{keys[0]}-{keys[-1]}"
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
