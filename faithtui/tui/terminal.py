"""What the app draws on, which may go away at any moment: a closed window, a lost ssh, a signal.

Systems have drivers of their own, and a module here imports none that another system lacks: that of
POSIX terminals is in `posix_terminal`.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Final

from textual.driver import Driver

from faithtui.tui.allowed_actions import is_in_browser

HANGUP_EXIT_CODE: Final = 129
"""Exit code when the terminal went away: what a shell gives a program that a hang-up ended, 128 and
the number of SIGHUP, which Windows does not have."""


class HangupDriver(Driver):
    """A driver that can do without what it draws on, once that is gone."""

    @abstractmethod
    def detach(self) -> None:
        """Read and write no more. Any thread."""

    @abstractmethod
    def watch_for_hangup(
        self, on_hangup: Callable[[], object], on_timeout: Callable[[], object]
    ) -> None:
        """Call `on_hangup` once there is nobody to draw for.

        `on_timeout` is called before the process is ended, since it did not end by itself. Both
        are called on a thread of their own.
        """


def choose_driver(textual_driver: type[Driver], environment: Mapping[str, str]) -> type[Driver]:
    """Take a driver that can do without the terminal or the page it draws on, where there is one.

    Args:
        textual_driver: What Textual chose.
        environment: The environment of the process.
    """
    if is_in_browser(environment):
        from faithtui.tui.browser_driver import BrowserDriver

        return BrowserDriver
    if textual_driver.__name__ != "LinuxDriver":  # its module is only there on POSIX systems
        return textual_driver
    from faithtui.tui.posix_terminal import DetachableDriver

    return DetachableDriver
