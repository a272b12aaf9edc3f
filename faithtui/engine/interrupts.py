"""Running a coroutine from code that does not await, so that an interrupt reaches it.

In a notebook a loop runs already, so the coroutine gets a loop on a thread of its own. Whoever
waits for that thread hears the interrupt, and hands it on: the thread would go on asking.
"""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

T = TypeVar("T")

INTERRUPTS_NOTICED_AFTER_S: Final = 0.1
"""How long the wait for the other thread lasts before it looks for interrupts again. A signal that
comes just before the wait begins does not end it, and on Windows none does."""


def run_until_done_or_interrupted(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; an interrupt cancels it.

    Args:
        make: Makes the coroutine, on the thread that runs it.

    Raises:
        KeyboardInterrupt: It was interrupted, and did not make a result of that.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        in_loop = False
    else:
        in_loop = True
    # Outside of the handler: every error would name the missing loop as what it came from.
    # `run` cancels it by itself when interrupted.
    return _run_on_thread(make) if in_loop else asyncio.run(make())


async def run_until_done_or_cancelled_twice(
    make: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
) -> T:
    """Let what is cancelled come to an end of its own; cancelled again, it is cancelled.

    Args:
        make: Makes the coroutine from the event that tells it to stop.
    """
    stop = asyncio.Event()
    task = asyncio.create_task(make(stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if task.done():
            raise
        stop.set()
        return await task


def _run_on_thread(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
    outcome: Future[T] = Future()
    is_interrupted = threading.Event()

    async def run() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.set_result((asyncio.get_running_loop(), task))
        if is_interrupted.is_set():  # before anybody could know what to cancel
            raise asyncio.CancelledError
        return await make()

    def run_loop() -> None:
        try:
            outcome.set_result(asyncio.run(run()))
        except BaseException as error:  # whatever it is, it is raised where it is waited for
            outcome.set_exception(error)

    thread = threading.Thread(target=run_loop, name="faithtui-measure", daemon=True)
    with _let_interrupts_raise_while_waiting():
        while True:
            try:
                if thread.ident is None:
                    thread.start()
                while not outcome.done():
                    wait([outcome], timeout=INTERRUPTS_NOTICED_AFTER_S)
                result = outcome.result()
            except KeyboardInterrupt:
                if outcome.done():
                    raise
                is_interrupted.set()
                if not running.done():  # it ends by itself before it begins
                    raise
                loop, task = running.result()
                with contextlib.suppress(RuntimeError):  # the loop came to its end meanwhile
                    loop.call_soon_threadsafe(task.cancel)
            except asyncio.CancelledError:
                if is_interrupted.is_set():
                    raise KeyboardInterrupt from None
                raise
            else:
                thread.join()
                return result


@contextlib.contextmanager
def _let_interrupts_raise_while_waiting() -> Iterator[None]:
    """Have an interrupt raised where it is waited for, also below `asyncio.run`.

    Its handler cancels the task of the loop at the first interrupt, which nobody notices while
    that loop stands still. Handlers of others stay.
    """
    before = signal.getsignal(signal.SIGINT)
    is_of_asyncio = getattr(getattr(before, "func", None), "__module__", "") == "asyncio.runners"
    if not is_of_asyncio or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
