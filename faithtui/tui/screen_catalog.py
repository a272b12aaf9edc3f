"""The main screens by name, each imported when it is first wanted.

A screen costs tens of milliseconds to import, and only one is painted first.
"""

import pkgutil
from typing import TYPE_CHECKING, NamedTuple

from faithtui.tui.screen.main_screen import FaithScreen

if TYPE_CHECKING:
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
    from faithtui.tui.agreement.agreement_screen import AgreementScreen
    from faithtui.tui.conversations.conversations_screen import ConversationsScreen
    from faithtui.tui.integrity.integrity_screen import IntegrityScreen
    from faithtui.tui.metrics.metrics_screen import MetricsScreen
    from faithtui.tui.progress.progress_screen import ProgressScreen
    from faithtui.tui.review.review_screen import ReviewScreen
    from faithtui.tui.runs.runs_screen import RunsScreen
    from faithtui.tui.samples.queues_screen import QueuesScreen
    from faithtui.tui.settings.settings_screen import SettingsScreen

    # A class that lacks a hook of `FaithScreen` is abstract: the type checker refuses it here.
    COMPLETE_SCREENS: list[type[FaithScreen]] = [
        RunsScreen,
        ConversationsScreen,
        ReviewScreen,
        MetricsScreen,
        AgreementScreen,
        ProgressScreen,
        IntegrityScreen,
        QueuesScreen,
        AdjudicationScreen,
        SettingsScreen,
    ]


class ScreenEntry(NamedTuple):
    """A main screen."""

    letter: str
    """Its key after `g`."""
    words: str
    """What it shows."""
    screen: str
    """Its class, behind its module in `faithtui.tui`."""


SCREENS = {
    "runs": ScreenEntry(
        "r",
        "All runs of this store",
        "runs.runs_screen:RunsScreen",
    ),
    "conversations": ScreenEntry(
        "c",
        "Conversations of the chosen run",
        "conversations.conversations_screen:ConversationsScreen",
    ),
    "review": ScreenEntry(
        "v", "Claims, evidence and verdicts of a conversation", "review.review_screen:ReviewScreen"
    ),
    "metrics": ScreenEntry(
        "m", "What every metric says about a conversation", "metrics.metrics_screen:MetricsScreen"
    ),
    "agreement": ScreenEntry(
        "a", "Agreement of judge and human labels", "agreement.agreement_screen:AgreementScreen"
    ),
    "progress": ScreenEntry(
        "p",
        "How far the chosen run is, or what happened in it",
        "progress.progress_screen:ProgressScreen",
    ),
    "integrity": ScreenEntry(
        "i", "What looks wrong in the judge's replies", "integrity.integrity_screen:IntegrityScreen"
    ),
    "queues": ScreenEntry(
        "u",
        "Samples to label: draw one, see how far they are",
        "samples.queues_screen:QueuesScreen",
    ),
    "adjudicate": ScreenEntry(
        "d",
        "Where annotators differ, and how good each rater is",
        "adjudication.adjudication_screen:AdjudicationScreen",
    ),
    "settings": ScreenEntry(
        "s",
        "Judge, review, keys, colours, the store: what is set",
        "settings.settings_screen:SettingsScreen",
    ),
}
"""Every main screen, in the order in which they are listed."""

SCREENS_CLOSED_WHILE_BLIND = frozenset({"metrics", "adjudicate"})
"""Screens that show only verdicts and human labels of single claims: none while blind."""

SCREENS_SHOWING_JUDGE = SCREENS_CLOSED_WHILE_BLIND | {
    "conversations",
    "review",
    "agreement",
    "integrity",
    "progress",
}
"""Screens on which the judge's verdicts may be drawn."""

LETTERS = {name: entry.letter for name, entry in SCREENS.items()}
"""Key after `g`, by name of the screen."""

WORDS = {name: entry.words for name, entry in SCREENS.items()}
"""What a screen shows, by its name."""


def load_screen_class(name: str) -> type[FaithScreen]:
    """Give the class of a main screen.

    Raises:
        KeyError: There is no such screen.
    """
    kind = pkgutil.resolve_name(f"faithtui.tui.{SCREENS[name].screen}")
    assert isinstance(kind, type)
    assert issubclass(kind, FaithScreen)
    return kind


def import_all_screens() -> None:
    """Import every screen; meant for a thread while the first one is already shown."""
    for name in SCREENS:
        load_screen_class(name)
