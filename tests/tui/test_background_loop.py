import asyncio
import threading

import pytest

from faithtui.tui.background_loop import run_in_own_loop


async def test_what_it_gives_and_raises_reaches_whoever_waits() -> None:
    async def give() -> str:
        return threading.current_thread().name

    async def fail() -> None:
        raise LookupError("nothing there")

    assert await run_in_own_loop(give) == "faithtui-apart"
    with pytest.raises(LookupError, match="nothing there"):
        await run_in_own_loop(fail)


@pytest.mark.parametrize("can_cancel", [True, False])
async def test_it_is_cancelled_there_only_where_that_is_asked_for(can_cancel: bool) -> None:
    begun, may_end = threading.Event(), threading.Event()
    ended: list[str] = []
    is_over = threading.Event()

    async def work() -> None:
        begun.set()
        try:
            if can_cancel:
                await asyncio.Event().wait()
            await asyncio.to_thread(may_end.wait)
            ended.append("done")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        finally:
            is_over.set()

    waiting = asyncio.create_task(run_in_own_loop(work, can_cancel=can_cancel))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    if not can_cancel:
        may_end.set()
    await asyncio.to_thread(is_over.wait)
    assert ended == ["cancelled" if can_cancel else "done"]
