"""A coroutine in a thread and an event loop of its own, for what may import or wait for long.

The thread does not keep the process: who quits meanwhile gives the work up.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def run_in_own_loop(
    make: Callable[[], Coroutine[Any, Any, T]], *, can_cancel: bool = False
) -> T:
    """Run a coroutine elsewhere and wait for it without holding up keys.

    Args:
        make: Makes the coroutine, there; it may import what is slow.
        can_cancel: Cancel it there when whoever waits is cancelled; else it goes on to its end.

    Raises:
        BaseException: Whatever it raises.
    """
    future: Future[T] = Future()
    given_up = threading.Event()
    under_way: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def await_coroutine() -> T:
        task = asyncio.current_task()
        assert task is not None
        under_way.append((asyncio.get_running_loop(), task))
        if given_up.is_set():
            raise asyncio.CancelledError
        return await make()

    def run_in_thread() -> None:
        # All of it goes to whoever waits; here nobody would see it.
        try:
            future.set_result(asyncio.run(await_coroutine()))
        except asyncio.CancelledError:
            future.cancel()
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run_in_thread, name="faithtui-apart", daemon=True).start()
    try:
        return await asyncio.shield(asyncio.wrap_future(future))
    except asyncio.CancelledError:
        if can_cancel:
            given_up.set()
            for loop, task in under_way:
                with suppress(RuntimeError):  # it has ended meanwhile
                    loop.call_soon_threadsafe(task.cancel)
        raise
