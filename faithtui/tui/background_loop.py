"""A coroutine in a thread and an event loop of its own, for what may import or wait for long.

The thread does not keep the process: who quits meanwhile gives the work up.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


async def run_in_own_loop(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine elsewhere and wait for it without holding up keys.

    Args:
        make: Makes the coroutine, there; it may import what is slow.

    Raises:
        BaseException: Whatever it raises.
    """
    future: Future[T] = Future()

    def run_in_thread() -> None:
        # All of it goes to whoever waits; here nobody would see it.
        try:
            future.set_result(asyncio.run(_await_coroutine(make)))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run_in_thread, name="faithtui-apart", daemon=True).start()
    return await asyncio.shield(asyncio.wrap_future(future))


async def _await_coroutine(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await make()
