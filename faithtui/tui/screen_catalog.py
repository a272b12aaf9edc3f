"""The main screens by name, each imported when it is first wanted.

A screen costs tens of milliseconds to import, and only one is painted first.
"""

import pkgutil
from typing import NamedTuple

from faithtui.tui.screen.main_screen import FaithScreen


class Entry(NamedTuple):
    """A main screen."""

    letter: str
    """Its key after `g`."""
    words: str
    """What it shows."""
    screen: str
    """Its class, behind its module in `faithtui.tui`."""


SCREENS = {
    "runs": Entry(
        "r",
        "All runs of this store",
        "runs.runs_screen:RunsScreen",
    ),
    "conversations": Entry(
        "c",
        "Conversations of the chosen run",
        "conversations.conversations_screen:ConversationsScreen",
    ),
    "review": Entry(
        "v", "Claims, evidence and verdicts of a conversation", "review.review_screen:ReviewScreen"
    ),
    "metrics": Entry(
        "m", "What every metric says about a conversation", "metrics.metrics_screen:MetricsScreen"
    ),
    "agreement": Entry(
        "a", "Agreement of judge and human labels", "agreement.agreement_screen:AgreementScreen"
    ),
    "progress": Entry(
        "p",
        "How a run goes on",
        "progress.progress_screen:ProgressScreen",
    ),
    "integrity": Entry(
        "i", "What looks wrong in the judge's replies", "integrity.integrity_screen:IntegrityScreen"
    ),
    "queues": Entry(
        "u",
        "Samples drawn from the chosen run, and how far they are",
        "samples.queues_screen:QueuesScreen",
    ),
    "adjudicate": Entry(
        "d",
        "Where annotators differ, and how far each rater can be trusted",
        "adjudication.adjudication_screen:AdjudicateScreen",
    ),
    "settings": Entry(
        "s",
        "Judge, review, keys, colours and the store: what is set, and where",
        "settings.settings_screen:SettingsScreen",
    ),
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
    kind = pkgutil.resolve_name(f"faithtui.tui.{SCREENS[name].screen}")
    assert isinstance(kind, type)
    assert issubclass(kind, FaithScreen)
    return kind


def load_all() -> None:
    """Import every screen; meant for a thread while the first one is already shown."""
    for name in SCREENS:
        main_screen(name)
