"""Words of the app itself about what did not work, or cannot be done in this store."""

from typing import TYPE_CHECKING

from faithtui.errors import FaithtuiError
from faithtui.tui.allowed_actions import WHY_NOTHING_IS_SAVED
from faithtui.tui.refusals import show_refusal_box
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme.lines import escape_text

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp


def notify_failure(app: "FaithApp", error: BaseException) -> None:
    """Say what failed, unless the app is being left.

    Raises:
        BaseException: The error itself, where it is a bug: it ends the app with its traceback.
    """
    if app.shutdown.is_leaving:
        return
    if not isinstance(error, FaithtuiError):
        raise error
    app.notify(
        escape_text(str(error)).text,
        title="That did not work",
        severity="error",
        markup=False,
        timeout=15,
    )


def notify_read_only(app: "FaithApp") -> None:
    """Say that nothing can be saved in this store."""
    notify_refusal(app, WHY_NOTHING_IS_SAVED)


def notify_refusal(app: "FaithApp", words: str) -> None:
    """Say why a key did nothing: on the status line, or beside a window."""
    if isinstance(app.screen, FaithScreen):
        app.screen.refuse(words)
    else:
        app.bell()
        show_refusal_box(app, words)
