"""Keys in words: which work now for the lines below the panes, and all of them for the docs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.keys import Keys, key_to_character
from textual.screen import Screen
from textual.widgets import Input

from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.tui.theme.lines import Line, Piece

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
_KEY_WORDS = frozenset(key.value for key in Keys)
"""Names of keys that users know as names."""
_EVERYWHERE = ("screen.", "app.")
"""Beginnings of the ids of what every screen has."""
_RANKS = {
    "window.help": 2,
    "list.order": 0.4,
    "list.views": 0.5,
    "list.mark": 0.3,
    "review.redo": 0.2,
    "screen.close": 0.9,
}
"""Places of what every list has: behind its own keys (0), before those of every screen (1); last
what every window has. Redo, which is needed least, leaves its place to the raw replies at 80
columns."""
PINNED = ("app.go", "app.back", "app.help", "window.help")
"""Ids of what stands at the right end of the last line and is never dropped for room."""


DEFAULT_KEYS_IN_TEXT: Final[Mapping[str, str]] = {
    "adjudicate.filter": "f",
    "adjudicate.final-3": "i",
    "adjudicate.final-2": "n",
    "adjudicate.final-unfair": "x",
    "adjudicate.final-1": "y",
    "adjudicate.next-passage": "right_square_bracket",
    "adjudicate.previous-passage": "left_square_bracket",
    "adjudicate.raters": "d",
    "adjudicate.source": "t",
    "adjudicate.take-a": "a",
    "adjudicate.take-b": "b",
    "adjudicate.undo": "u",
    "agreement.level": "m",
    "agreement.open-cell": "enter",
    "app.commands-colon": "colon",
    "app.go": "g",
    "app.help": "question_mark",
    "app.quit": "ctrl+q",
    "draw.draw": "ctrl+s",
    "draw.field": "tab",
    "go.adjudicate": "d",
    "go.agreement": "a",
    "go.conversations": "c",
    "go.integrity": "i",
    "go.queues": "u",
    "go.review": "v",
    "go.runs": "r",
    "integrity.check": "c",
    "integrity.entries": "l",
    "list.filter": "slash",
    "list.open": "enter",
    "missed.complete": "c",
    "missed.write": "e",
    "metrics.back": "M,escape",
    "new-run.choose": "space,enter",
    "new-run.close": "escape",
    "new-run.field": "tab",
    "new-run.start": "ctrl+s",
    "new-run.test": "ctrl+t",
    "progress.budget": "b",
    "progress.cancel": "ctrl+x",
    "progress.continue": "r",
    "progress.failed": "f",
    "progress.pause": "p",
    "progress.retry": "R",
    "progress.review": "v",
    "queue-end.stay": "enter",
    "queue-end.undo": "u",
    "queues.draw": "n",
    "queues.repeats": "R",
    "queues.spot-check": "c",
    "replies.copy": "C",
    "replies.open": "W",
    "replies.pane": "tab",
    "review.blind": "B",
    **{f"review.code-{code.name}": str(key) for key, code in enumerate(REASON_CODES, start=1)},
    "review.edit-note": "ctrl+e",
    "review.find": "slash",
    "review.guideline": "h",
    "review.leave-queue": "Q",
    "review.mark-evidence": "E",
    "review.metrics": "M",
    "review.missed-claims": "plus",
    "review.next-passage": "right_square_bracket",
    "review.next-unlabelled": "N",
    "review.previous-unlabelled": "P",
    "review.previous-passage": "left_square_bracket",
    "review.range": "m",
    "review.redo": "ctrl+r",
    "review.reveal": "v",
    "review.source": "t",
    "review.truths": "T",
    "review.undo": "u",
    "review.verdict-idk": "i",
    "review.verdict-no": "n",
    "review.verdict-unfair": "x",
    "review.verdict-yes": "y",
    "review.weighting": "w",
    "review.windows": "L",
    "conversations.queue": "Q",
    **{f"conversations.filter-{number}": str(number) for number in range(1, 7)},
    "filter.complete": "tab",
    "runs.agreement": "a",
    "runs.continue": "r",
    "runs.export": "X",
    "runs.failing": "f",
    "runs.new": "n",
    "runs.progress": "p",
    "runs.retry": "R",
    "runs.spot-check": "c",
    "runs.undo": "u",
    "screen.close": "escape",
    "screen.judge": "A",
    "screen.pane": "tab",
    "screen.zoom": "z",
    "settings.change": "e",
    "settings.check": "c",
    "settings.test-judge": "ctrl+t",
    "views.save": "s",
    "missed.remove": "u",
    "words.from": "space",
    "words.select": "enter",
}
"""Keys of bindings that sentences name, by id, as they are by default. Finding them in the classes
would import every screen."""

_BINDING_PLACEHOLDER: Final = re.compile(r"\{([a-z.-]+)\}")


class KeyNames:
    """What keys are called in sentences: as the person's key map has them.

    A sentence of ours names a key by the id of its binding in braces: `{runs.new} starts one`.
    Texts that are not ours never come here.

    Args:
        keymap: Keys by id where they are not the default ones. Held, not copied: changes count.
    """

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self._keymap = keymap

    def __call__(self, name: str) -> str:
        """Name the first key of a binding; of one after `g`, both keys.

        Raises:
            KeyError: Sentences name no such binding.
        """
        key = format_keys_by_id(self._keymap, name, DEFAULT_KEYS_IN_TEXT[name])[0]
        return f"{self('app.go')} {key}" if name.startswith("go.") else key

    def fill_in_keys(self, text: str) -> str:
        """Put keys where a sentence has the ids of their bindings."""
        return _BINDING_PLACEHOLDER.sub(lambda found: self(found[1]), text)

    def fill_in_keys_as_pieces(self, text: str, look: str = "") -> list[Piece]:
        """Do the same, keys in their own look and the words in another."""
        parts = _BINDING_PLACEHOLDER.split(text)
        return [
            Piece(self(part), "key") if at % 2 else Piece(part, look)
            for at, part in enumerate(parts)
            if part
        ]


@dataclass(frozen=True, slots=True)
class KeyHint:
    """One or several keys and what they do."""

    keys: str
    words: str
    id: str = ""

    @property
    def is_pinned(self) -> bool:
        """Whether it must be seen whatever the room."""
        return self.id in PINNED

    @property
    def width(self) -> int:
        """Cells of `keys words`."""
        return cell_len(self.keys) + 1 + cell_len(self.words)

    @classmethod
    def list_for_screen(cls, screen: Screen[Any]) -> list["KeyHint"]:
        """List what works on a screen now: the focused pane's keys, the screen's, the app's.

        Where text is typed, a letter is a letter and no key.
        """
        active = sort_by_definition_order(screen.active_bindings.values())
        active = [each for each in active if _is_offered(each)]
        if isinstance(screen.focused, Input):
            active = [each for each in active if len(format_key(each.binding)) > 1]
        return make_key_hints(active)


def _is_offered(active: ActiveBinding) -> bool:
    """Whether whoever has a key wants it named now: screens say so of their controllers' keys."""
    offers = getattr(active.node, "is_key_shown", None)
    return offers is None or offers(active.binding.action.partition("(")[0])


def format_key(binding: Binding) -> str:
    """Write a key as users read it."""
    if binding.key_display:
        return binding.key_display
    *modifiers, last = binding.key.split("+")
    if not modifiers and last not in _NAMES and len(last) > 1:
        # `plus` is +, but `enter` is a name.
        return key_to_character(last) or last if last not in _KEY_WORDS else last
    return "+".join((*modifiers, _NAMES.get(last, last)))


def format_keys_by_id(keymap: Mapping[str, str], name: str, default: str) -> list[str]:
    """Write the keys of a binding as users read them, when it is not at hand.

    Args:
        keymap: Keys by id where they are not the default ones.
        name: Id of the binding.
        default: Its keys by default, separated by commas.
    """
    made = Binding.make_bindings([Binding(keymap.get(name, default), "")])
    return [format_key(each) for each in made]


def sort_by_definition_order(active: Iterable[ActiveBinding]) -> list[ActiveBinding]:
    """Give bindings the order they were written in: another key map leaves its own at the end."""

    def rank_binding(binding: ActiveBinding) -> tuple[int, int]:
        written = _number_bindings(type(binding.node))
        depth = len(binding.node.ancestors_with_self)
        return -depth, written.get(binding.binding.id or "", len(written))

    return sorted(active, key=rank_binding)


@cache
def _number_bindings(kind: type[DOMNode]) -> Mapping[str, int]:
    """Number the ids of a class's bindings, inherited ones first."""
    ids: dict[str, int] = {}
    for each in reversed(kind.__mro__):
        for binding in vars(each).get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id is not None:
                ids.setdefault(binding.id, len(ids))
    return ids


def make_key_hints(active: Iterable[ActiveBinding]) -> list[KeyHint]:
    """Combine bindings into hints: one per action, one per group."""
    found: dict[object, tuple[list[str], str, str]] = {}
    for each in active:
        binding = each.binding
        if not binding.show or not each.enabled:
            continue
        owner: object = binding.group or (binding.action, binding.id)
        words = binding.group.description if binding.group else binding.description
        keys, _, _ = found.setdefault(owner, ([], words, binding.id or ""))
        key = format_key(binding)
        if key not in keys and (binding.group or not keys):
            keys.append(key)
    listed = [KeyHint(_join_keys(keys), words, name) for keys, words, name in found.values()]
    # What every list or screen has is known soonest, so it is the first to go where room is short.
    return sorted(listed, key=lambda hint: _RANKS.get(hint.id, hint.id.startswith(_EVERYWHERE)))


def pack_hints(all_hints: Sequence[KeyHint], width: int, lines: int) -> list[Line]:
    """Put hints into lines, whole words only.

    Args:
        all_hints: Most important first; pinned ones go to the end of the last line.
        width: Cells of a line.
        lines: How many lines there are, at least 1.

    Returns:
        Exactly `lines` lines. What finds no room is left out, pinned ones last of all.
    """
    pinned = sorted(
        (hint for hint in all_hints if hint.is_pinned), key=lambda h: PINNED.index(h.id)
    )
    while pinned and _compute_hint_row_width(pinned) > width - 2:
        pinned.pop(0)
    rows: list[list[KeyHint]] = [[] for _ in range(lines)]
    rooms = [width - 2] * lines
    rooms[-1] -= _compute_hint_row_width(pinned) + (2 if pinned else 0)
    row = 0
    for hint in (each for each in all_hints if not each.is_pinned):
        while row < lines and _compute_hint_row_width([*rows[row], hint]) > rooms[row]:
            row += 1
        if row == lines:
            break
        rows[row].append(hint)
    packed = []
    for number, row_hints in enumerate(rows):
        tail = pinned if number == lines - 1 else []
        gap = width - 2 - _compute_hint_row_width(row_hints) - _compute_hint_row_width(tail)
        packed.append(
            Line((Piece(" "), *_hint_pieces(row_hints), Piece(" " * gap), *_hint_pieces(tail)))
        )
    return packed


def _join_keys(keys: Sequence[str]) -> str:
    if len(keys) > 2 and all(key.isdigit() for key in keys):
        return f"{keys[0]}-{keys[-1]}"
    plain = len(keys) == 2 and all(key.isalnum() for key in keys)
    return ("/" if plain else " ").join(keys)


def _compute_hint_row_width(row: Sequence[KeyHint]) -> int:
    return sum(hint.width for hint in row) + 2 * max(0, len(row) - 1)


def _hint_pieces(row: Sequence[KeyHint]) -> list[Piece]:
    pieces: list[Piece] = []
    for hint in row:
        if pieces:
            pieces.append(Piece("  "))
        pieces += [Piece(hint.keys, "key"), Piece(f" {hint.words}", "quiet")]
    return pieces
