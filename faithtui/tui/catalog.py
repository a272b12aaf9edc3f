"""The main screens by name, each imported when it is first wanted.

A screen costs tens of milliseconds to import, and only one is painted first. The screen `NAME` is
the class `NameScreen` in `faithtui/tui/screens/NAME.py`.
"""

import importlib
from typing import NamedTuple

from faithtui.tui.screens.base import FaithScreen


class Entry(NamedTuple):
    """A main screen."""

    letter: str
    """Its key after `g`."""
    words: str
    """What it shows."""


SCREENS = {
    "runs": Entry("r", "All runs of this store"),
    "conversations": Entry("c", "Conversations of the chosen run"),
    "review": Entry("v", "Claims, evidence and verdicts of a conversation"),
    "metrics": Entry("m", "What every metric says about a conversation"),
    "agreement": Entry("a", "How far judge and people agree"),
    "progress": Entry("p", "How a run goes on"),
    "integrity": Entry("i", "What looks wrong in what the judge said"),
    "queues": Entry("u", "Samples drawn from the chosen run, and how far they are"),
    "adjudicate": Entry("d", "Where people differ, and how far each rater can be trusted"),
    "settings": Entry("s", "Judge, review, keys, colours and the store: what is set, and where"),
}
"""Every main screen, in the order in which they are listed."""

TELL_OF_CLAIMS = frozenset({"metrics", "adjudicate"})
"""Screens that are nothing but what judge and people said of single claims: none while blind."""

HOLD_THE_JUDGE = TELL_OF_CLAIMS | {
    "conversations",
    "review",
    "agreement",
    "integrity",
    "progress",
}
"""Screens on which the judge's words may be drawn."""

LETTERS = {name: entry.letter for name, entry in SCREENS.items()}
"""Key after `g`, by name of the screen."""

WORDS = {name: entry.words for name, entry in SCREENS.items()}
"""What a screen shows, by its name."""


def main_screen(name: str) -> type[FaithScreen]:
    """Give the class of a main screen.

    Raises:
        KeyError: There is no such screen.
    """
    if name not in SCREENS:
        raise KeyError(name)
    module = importlib.import_module(f"faithtui.tui.screens.{name}")
    kind = getattr(module, f"{name.capitalize()}Screen")
    assert isinstance(kind, type)
    assert issubclass(kind, FaithScreen)
    return kind


def load_all() -> None:
    """Import every screen; meant for a thread while the first one is already shown."""
    for name in SCREENS:
        main_screen(name)
