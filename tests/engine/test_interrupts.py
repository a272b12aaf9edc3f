"""An interrupt reaches a coroutine on another thread, whenever it comes."""

import _thread
import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from faithtui.engine.interrupts import run_until_done_or_interrupted

LOOKS = 3000
"""How often a coroutine that is never cancelled looks before it gives up."""


def interrupt_process() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    "interrupt",
    [
        pytest.param(interrupt_process, id="signal"),
        # Python notes the interrupt, and nothing wakes the thread that waits: so it is when a
        # signal comes between its last look and its wait, and on Windows always.
        pytest.param(_thread.interrupt_main, id="noted alone"),
    ],
)
def test_an_interrupt_while_waiting_cancels_the_coroutine(interrupt: Callable[[], None]) -> None:
    seen: list[str] = []

    async def work() -> None:
        interrupt()
        try:
            for _ in range(LOOKS):
                await asyncio.sleep(0.01)
            seen.append("never cancelled")
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt):
        wait_in_a_running_loop(work)
    assert seen == ["cancelled"]


def test_an_interrupt_while_the_thread_starts_ends_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread had asked up to its end: who started it was gone already."""
    began: list[str] = []
    threads: list[threading.Thread] = []
    start = threading.Thread.start

    def start_and_interrupt(thread: threading.Thread) -> None:
        threads.append(thread)
        held = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # the new thread does not go on before this one waits
        try:
            start(thread)
            raise KeyboardInterrupt
        finally:
            sys.setswitchinterval(held)

    monkeypatch.setattr(threading.Thread, "start", start_and_interrupt)

    async def work() -> None:
        began.append("began")
        for _ in range(LOOKS):
            await asyncio.sleep(0.01)
        began.append("never cancelled")

    with pytest.raises(KeyboardInterrupt):
        wait_in_a_running_loop(work)
    (thread,) = threads
    thread.join()
    assert began in ([], ["began"])


def test_an_error_of_the_coroutine_is_raised_where_it_is_waited_for() -> None:
    async def work() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        wait_in_a_running_loop(work)


def wait_in_a_running_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run as a notebook's kernel does: interrupts are raised where the code waits."""
    loop = asyncio.new_event_loop()

    async def cell() -> None:
        run_until_done_or_interrupted(work)

    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
