"""Boxes that say why a key did nothing."""

from typing import Any

from textual.app import App
from textual.notifications import Notification, Notify


class Refusal(Notification):
    """Such a box."""


def show_refusal_box(app: App[Any], words: str) -> None:
    """Say in a box why a key did nothing; what a box said of an earlier key goes."""
    withdraw_refusals(app)
    app.post_message(Notify(Refusal(words, severity="warning", timeout=app.NOTIFICATION_TIMEOUT)))


def withdraw_refusals(app: App[Any]) -> None:
    """Take away boxes that say why an earlier key did nothing; all others stay."""
    for each in [each for each in app._notifications if isinstance(each, Refusal)]:
        app._unnotify(each)


def clear_status_refusal(app: App[Any]) -> None:
    """Take the refusal of an earlier key from the status line: a key was typed that had it in view.

    A key that was typed before it leaves it there: nobody has read it.
    """
    for screen in app.screen_stack[-1:]:
        # Only our main screens have it; a window has no status line.
        clear = getattr(screen, "clear_refusal", None)
        if clear is not None:
            clear()
