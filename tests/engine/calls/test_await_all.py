import asyncio
from collections.abc import Coroutine

import pytest

from faithtui.engine.calls.await_all import BEGUN_TOGETHER, await_all
from faithtui.errors import JudgeTimeout


async def later(value: int, turns: int, log: list[str]) -> int:
    log.append(f"begin {value}")
    try:
        for _ in range(turns):
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        log.append(f"cancel {value}")
        raise
    if value < 0:
        raise JudgeTimeout(f"{value}")
    log.append(f"end {value}")
    return value


@pytest.mark.parametrize("at_once", [True, False])
async def test_results_come_in_order_whatever_ends_first(at_once: bool) -> None:
    log: list[str] = []
    waits = [(1, 15), (2, 1), (3, 8)]
    found = await await_all((later(value, turns, log) for value, turns in waits), at_once=at_once)
    assert found == [1, 2, 3]
    ended = [line for line in log if line.startswith("end")]
    assert ended == (["end 2", "end 3", "end 1"] if at_once else ["end 1", "end 2", "end 3"])


async def test_the_first_begins_before_the_last_is_made() -> None:
    log: list[str] = []

    def made(value: int) -> Coroutine[object, object, int]:
        log.append(f"make {value}")
        return later(value, 0, log)

    await await_all(made(value) for value in range(BEGUN_TOGETHER + 1))
    assert log.index("begin 0") < log.index(f"make {BEGUN_TOGETHER}")


@pytest.mark.parametrize("at_once", [True, False])
async def test_nothing_gives_nothing(at_once: bool) -> None:
    nothing: list[int] = []
    assert await await_all((later(n, 0, []) for n in nothing), at_once=at_once) == []


async def test_an_error_comes_out_itself_and_cancels_the_others() -> None:
    log: list[str] = []
    with pytest.raises(JudgeTimeout, match="-1"):
        await await_all(later(value, turns, log) for value, turns in [(1, 9), (-1, 1), (-2, 5)])
    assert "cancel 1" in log
    assert "cancel -2" in log


async def test_an_error_of_an_inner_wait_comes_out_itself() -> None:
    async def inner() -> list[int]:
        return await await_all(later(value, 1, []) for value in (1, -1))

    with pytest.raises(JudgeTimeout, match="-1"):
        await await_all(inner() for _ in range(2))


async def test_one_after_the_other_nothing_begins_after_an_error() -> None:
    log: list[str] = []
    with pytest.raises(JudgeTimeout):
        await await_all((later(value, 0, log) for value in (1, -1, 2)), at_once=False)
    assert log == ["begin 1", "end 1", "begin -1"]


async def test_cancelling_the_wait_cancels_what_is_waited_for() -> None:
    log: list[str] = []
    waiting = asyncio.create_task(await_all(later(value, 99, log) for value in (1, 2)))
    for _ in range(3):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert log[-2:] == ["cancel 1", "cancel 2"]
