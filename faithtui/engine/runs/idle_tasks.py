"""Telling when tasks that wait for each other can go no further.

Tasks that wait for answers which are not there wait for good, and nobody can ask them how long. So
every step that any task takes is counted: when none has been taken for some turns of the event
loop, none will be, since what wakes a task is a step of another one. Time plays no part in it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

QUIET_TURNS: Final = 16
"""Turns without a step after which none will come. Between the step that ends a wait and the one
it wakes there are only the callbacks of `gather`, `shield` and the like: one or two turns."""

_LOOK_S: Final = 0.002
"""Seconds between two looks at what is done outside the event loop."""


class _CountedCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine whose every step is told."""

    def __init__(self, inner: Coroutine[Any, Any, Any], tell: Callable[[], None]) -> None:
        self._inner = inner
        self._on_step = tell

    def send(self, value: Any) -> Any:
        self._on_step()
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        self._on_step()
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


class StepCounter:
    """Counts the steps of tasks of one event loop."""

    def __init__(self) -> None:
        self._count = 0

    @contextmanager
    def count_steps(self) -> Iterator[None]:
        """Count the steps of every task that is begun while the context is held."""
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()

        def make_task(
            loop: asyncio.AbstractEventLoop, coroutine: Any, **how: Any
        ) -> asyncio.Task[Any]:
            stepping = _CountedCoroutine(coroutine, self._add_step)
            if before is None:
                return asyncio.Task(stepping, loop=loop, **how)
            return before(loop, stepping, **how)  # type: ignore[return-value]  # it makes tasks

        loop.set_task_factory(make_task)
        try:
            yield
        finally:
            loop.set_task_factory(before)

    async def wait_until_idle(
        self, tasks: Sequence[asyncio.Task[Any]], is_busy: Callable[[], bool]
    ) -> None:
        """Wait until all tasks have ended, or none of those begun under `count_steps` can go on.

        Args:
            tasks: What is waited for.
            is_busy: Whether something outside the event loop will wake a task: a thread, a disk.
        """
        quiet, count = 0, self._count
        while quiet < QUIET_TURNS and not all(task.done() for task in tasks):
            if is_busy():
                await asyncio.sleep(_LOOK_S)
                quiet = 0
                continue
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._count == count else 0
            count = self._count

    def _add_step(self) -> None:
        self._count += 1
