"""Letting a run rest while somebody waits for the app.

Only one thread of a process runs at a time, and a run under way has always something to do: what
the app draws after a key would wait for it. So every step of every task of the run asks first
whether it may be taken. The loop may be held up: nobody but the run is on it, and answers that
arrive wait in their sockets.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Final

_AT_LEAST_S: Final = 0.02
"""Seconds a run goes on between two rests, so that keys without end make it slow and not still."""


class _YieldingCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine that asks before each of its steps."""

    __slots__ = ("_ask", "_inner")

    def __init__(self, inner: Coroutine[Any, Any, Any], ask: Callable[[], None]) -> None:
        self._inner = inner
        self._ask = ask

    def send(self, value: Any) -> Any:
        self._ask()
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


class UiYielder:
    """Decides when tasks of one event loop rest.

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

    def rest_for(self, seconds: float) -> None:
        """Let tasks rest from now on for so long. Any thread."""
        self._until = self._seconds() + seconds

    def install(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make every task that is begun on a loop from now on ask before each step."""

        def make_task(
            loop: asyncio.AbstractEventLoop, coroutine: Any, **how: Any
        ) -> asyncio.Task[Any]:
            return asyncio.Task(_YieldingCoroutine(coroutine, self.wait_for_turn), loop=loop, **how)

        loop.set_task_factory(make_task)

    def wait_for_turn(self) -> None:
        """Come back when a step may be taken."""
        now = self._seconds()
        if self._next <= now < self._until:
            self._sleep(self._until - now)
            self._next = self._seconds() + _AT_LEAST_S
