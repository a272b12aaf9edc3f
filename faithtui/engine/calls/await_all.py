"""Waiting for several answers without losing the error that ended the wait."""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import TypeVar

T = TypeVar("T")

BEGUN_TOGETHER = 16
"""After so many the loop gets a turn: the first questions of hundreds are in flight while the
last ones are still being written."""


async def await_all(
    answers: Iterator[Coroutine[object, object, T]], *, at_once: bool = True
) -> list[T]:
    """Wait for several things and give their results in order.

    Args:
        answers: What to wait for. A generator, so that none is made that an earlier error keeps
            from being awaited.
        at_once: All at the same time; False: one after the other.

    Raises:
        Exception: The first that any of them raised, itself and not in a group; the others are
            cancelled.
    """
    if not at_once:
        return [await answer for answer in answers]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = []
            for answer in answers:
                tasks.append(group.create_task(answer))
                if len(tasks) % BEGUN_TOGETHER == 0:
                    await asyncio.sleep(0)
    except BaseExceptionGroup as failures:
        first = _find_first_exception(failures)
        raise first from first.__cause__  # and not from the group that held it
    return [task.result() for task in tasks]


def _find_first_exception(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _find_first_exception(first) if isinstance(first, BaseExceptionGroup) else first
