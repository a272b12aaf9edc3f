"""The main screens by name, each imported when it is first wanted.

A screen costs tens of milliseconds to import, and only one is painted first.
"""

from faithtui.tui.screens.base import FaithScreen

LETTERS = {
    "runs": "r",
    "conversations": "c",
    "review": "v",
    "metrics": "m",
    "agreement": "a",
    "progress": "p",
}
"""Key after `g`, by name of the screen."""

WORDS = {
    "runs": "All runs of this store",
    "conversations": "Conversations of the chosen run",
    "review": "Claims, evidence and verdicts of a conversation",
    "metrics": "What every metric says about a conversation",
    "agreement": "How far judge and people agree",
    "progress": "How a run goes on",
}
"""What a screen shows."""


def main_screen(name: str) -> type[FaithScreen]:
    """Give the class of a main screen.

    Raises:
        KeyError: There is no such screen.
    """
    match name:
        case "runs":
            from faithtui.tui.screens.runs import RunsScreen

            return RunsScreen
        case "conversations":
            from faithtui.tui.screens.conversations import ConversationsScreen

            return ConversationsScreen
        case "review":
            from faithtui.tui.screens.review import ReviewScreen

            return ReviewScreen
        case "metrics":
            from faithtui.tui.screens.metrics import MetricsScreen

            return MetricsScreen
        case "agreement":
            from faithtui.tui.screens.agreement import AgreementScreen

            return AgreementScreen
        case "progress":
            from faithtui.tui.screens.progress import ProgressScreen

            return ProgressScreen
    raise KeyError(name)


def load_all() -> None:
    """Import every screen; meant for a thread while the first one is already shown."""
    for name in LETTERS:
        main_screen(name)
