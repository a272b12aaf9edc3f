"""A POSIX terminal, which may go away at any moment.

Textual's driver goes on without one. It reads the end of its input again and again, which takes a
whole core, and its writer ends at the first paint, after which a full queue holds the app up for
ever. So somebody waits for the terminal to go, lets the driver rest, and asks the app to leave.

Nothing here may touch a widget: `HangupWatcher` is a thread of its own.
"""

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable, Sequence

from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver

from faithtui.tui.terminal import HANGUP_EXIT_CODE, HangupDriver
from faithtui.tui.terminal_input import PasteParser

HANGUP_TIMEOUT_S = 3.0
"""How long the app has to leave without a terminal before the process ends all the same."""

_STANDARD = range(3)
"""Descriptors of input, output and errors."""


class DetachableDriver(LinuxDriver, HangupDriver):
    """Textual's driver for terminals, which can be told that there is none any more."""

    _is_detached = False

    def detach(self) -> None:
        """Read and write no more. Any thread."""
        self._is_detached = True
        self.exit_event.set()

    def watch_for_hangup(
        self, on_hangup: Callable[[], object], on_timeout: Callable[[], object]
    ) -> None:
        """Wait for the terminal to go away, in a thread."""
        HangupWatcher(on_hangup, on_timeout).start()

    def write(self, data: str) -> None:
        """Write while there is a terminal: nobody empties the queue afterwards."""
        if not self._is_detached:
            super().write(data)

    def run_input_thread(self) -> None:
        """Read until the end, or until there is nothing to read from."""
        # Systems differ in how they say it: an end that comes again and again, or an error.
        linux_driver.XTermParser = PasteParser  # type: ignore[attr-defined]  # made by this name there
        with contextlib.suppress(OSError):
            super().run_input_thread()


class HangupWatcher(threading.Thread):
    """Waits until the terminal goes away, and sees to it that the process ends then.

    Args:
        on_hangup: Called once it went; on this thread.
        on_timeout: What must be done when the app does not leave by itself; on this thread.
    """

    def __init__(self, on_hangup: Callable[[], object], on_timeout: Callable[[], object]) -> None:
        super().__init__(name="faithtui-lookout", daemon=True)
        self._on_hangup = on_hangup
        self._on_timeout = on_timeout
        self._terminals = [number for number in _STANDARD if os.isatty(number)]
        """Descriptors that are the terminal; once it is gone they do not tell any more."""

    def run(self) -> None:
        """Wait without using any time."""
        if not self._terminals or not _wait_for_hangup_if_supported(self._terminals[0]):
            return
        _redirect_to_null(self._terminals)
        try:
            self._on_hangup()
        except RuntimeError:
            return  # The app has left, and its loop is closed.
        time.sleep(HANGUP_TIMEOUT_S)
        # An app that waits for an editor, or for a file system, cannot be asked.
        self._on_timeout()
        os._exit(HANGUP_EXIT_CODE)


def _wait_for_hangup_if_supported(terminal: int) -> bool:
    """Wait for a hang-up; False where the system cannot tell of one: then a signal comes."""
    poll = select.poll()
    poll.register(terminal, 0)  # nothing but its end is waited for
    ((_, events),) = poll.poll()
    return bool(events & (select.POLLHUP | select.POLLERR))


def _redirect_to_null(terminals: Sequence[int]) -> None:
    """Let the process read from and write to nothing, where there was a terminal.

    What is still written at the end must not fail, or the exit code would tell of that alone.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in terminals:
        os.dup2(nothing, number)
    os.close(nothing)
