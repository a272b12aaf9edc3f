"""`?`: what a screen is for and which keys it has, made from the bindings themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.screen import Screen

from faithtui.tui.keys import display
from faithtui.tui.lines import BLANK, Line, Piece, line, wrap


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """What one binding does."""

    scope: str
    id: str
    keys: str
    words: str


def active_keys(screen: Screen[Any]) -> list[KeyHelp]:
    """Explain every key that works now: the focused pane's, the screen's, then everywhere."""
    return explained(
        (
            "pane"
            if each.node is not screen and not isinstance(each.node, App)
            else "screen"
            if each.node is screen
            else "everywhere",
            each,
        )
        for each in screen.active_bindings.values()
    )


def explained(bindings: Iterable[tuple[str, ActiveBinding]]) -> list[KeyHelp]:
    """Combine keys of one binding."""
    found: dict[tuple[str, str], tuple[list[str], str]] = {}
    for scope, each in bindings:
        binding = each.binding
        if binding.id is None or not each.enabled:
            continue
        keys, _ = found.setdefault((scope, binding.id), ([], words_of(binding)))
        key = display(binding)
        if key not in keys:
            keys.append(key)
    return [
        KeyHelp(scope, name, " ".join(keys), words)
        for (scope, name), (keys, words) in found.items()
    ]


def words_of(binding: Binding) -> str:
    """Give the longer words of a binding."""
    return binding.tooltip or binding.description


def help_lines(words: str, keys: Sequence[KeyHelp], width: int) -> list[Line]:
    """Draw help: what the screen is for, then keys by scope."""
    lines = wrap([Piece(words)], width - 1, first=[Piece(" ")]) if words else []
    names = {"pane": "In this pane", "screen": "On this screen", "everywhere": "Everywhere"}
    for scope, name in names.items():
        own = [each for each in keys if each.scope == scope]
        if not own:
            continue
        lines += [BLANK, line(Piece(f" {name}", "strong"))]
        for each in own:
            lines += wrap(
                [Piece(each.words)], width - 1, first=[Piece(f"  {each.keys:<14} ", "key")]
            )
    return lines
