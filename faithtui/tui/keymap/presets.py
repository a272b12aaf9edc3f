"""The key maps that come with the program, as changes of the default one.

A preset says which key a binding moves to, by the binding's id or by the key it has by default, so
that a binding added later is moved with its neighbours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from faithtui.config import Preset


@dataclass(frozen=True, slots=True)
class KeyChanges:
    """What a preset changes."""

    words: str
    """What it is, for users."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Keys by id of the binding, separated by commas."""
    moves: Mapping[str, str] = field(default_factory=dict)
    """For bindings of claims under review: new keys by default key."""


MOVED_PREFIX: Final = "review."
"""Beginning of the ids that `moves` is about."""

CHANGES: Final[Mapping[Preset, KeyChanges]] = {
    "default": KeyChanges("Verdicts by their letters, y n i x."),
    "vim": KeyChanges(
        "The default with gg G ctrl+d ctrl+u, and h l between panes.",
        ids={
            "go.first": "g",
            "move.end": "end,G",
            "move.page-down": "pagedown,ctrl+d",
            "move.page-up": "pageup,ctrl+u",
            "screen.pane": "tab,l",
            "screen.pane-back": "shift+tab,h",
            "metrics.left": "left",
            "metrics.right": "right",
            "integrity.entries": "L",
        },
        moves={"h": "ctrl+g"},
    ),
    "digits": KeyChanges(
        "Verdicts on 1 to 4, reason codes on letters.",
        moves={
            **{"y": "1", "n": "2", "i": "3", "x": "4"},
            **{"1": "b", "2": "l", "3": "i", "4": "r", "5": "n", "6": "d", "7": "x"},
        },
    ),
    "left-hand": KeyChanges(
        "Verdicts on d f s a, with what else a verdict needs in reach of the left hand.",
        moves={"y": "d", "n": "f", "i": "s", "x": "a", "f": "r", "a": "x", "s": "S", "u": "u,b"},
    ),
}
"""Changes by preset."""
