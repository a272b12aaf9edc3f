"""Letting a run rest while somebody waits for the app.

Only one thread of a process runs at a time, and a run under way has always something to do: what
the app draws after a key would wait for it. So a run asks before each of its steps (a question, a
reply, a part of the embedded judge's work) whether it may be taken. The loop may be held up: nobody
but the run is on it, and answers that arrive wait in their sockets.
"""

import time
from collections.abc import Callable
from typing import Final

_AT_LEAST_S: Final = 0.01
"""Seconds a run goes on between two rests, so that keys without end make it slow and not still."""
_AT_MOST_S: Final = 0.1
"""Seconds it rests at a time: keys that come meanwhile make a rest longer, up to this."""


class UiYielder:
    """Decides when a run rests.

    Args:
        seconds: Tells the time.
        sleep: Holds the thread up for seconds.
    """

    def __init__(
        self,
        seconds: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds = seconds
        self._sleep = sleep
        self._until = 0.0
        self._next = 0.0

    def pause_run_for(self, seconds: float) -> None:
        """Let the run rest from now on for so long. Any thread."""
        self._until = self._seconds() + seconds

    def wait_until_pause_ends(self) -> None:
        """Come back when a step may be taken."""
        now = self._seconds()
        if not self._next <= now < self._until:
            return
        latest = now + _AT_MOST_S
        while (rest := min(self._until, latest) - now) > 0:
            self._sleep(rest)
            now = self._seconds()
        self._next = now + _AT_LEAST_S
