"""Looking whether anybody wrote into the store, in this process or in another one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp

POLL_S = 1.0
"""How often another process's writes are looked for."""


class StoreWatcher:
    """Lets screens read again when the store has changed.

    Args:
        app: The app.

    Attributes:
        data_version: The version of the store's data that screens know.
    """

    def __init__(self, app: "FaithApp") -> None:
        self.app = app
        self.data_version = -1

    def start_polling(self) -> None:
        """Look for changes from now on."""
        self.data_version = self.app.session.store.read_change_number()
        self.app.set_interval(POLL_S, self.reload_screens_if_store_changed)

    def reload_screens_if_store_changed(self) -> None:
        """Read again when anybody wrote, unless a screen still reads what changed before.

        Raises:
            Exception: The bug that ended a run.
        """
        if self.app.shutdown.is_leaving:
            return  # the store closes
        self.app.background_runs.raise_bug_of_ended_run()
        version = self.app.session.store.read_change_number()
        if version != self.data_version and not self._is_shown_screen_still_reading():
            self.data_version = version
            self.app.screen_switcher.reload_open_screens()

    def _is_shown_screen_still_reading(self) -> bool:
        """Whether a screen still reads what changed before: threads that read do not stop."""
        shown = self.app.screen_stack
        return any(not each.is_finished and each.node in shown for each in self.app.workers)
