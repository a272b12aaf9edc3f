import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_places_are_given_in_the_order_of_arrival() -> None:
    slots = ConcurrencyLimit(1)
    order: list[int] = []

    async def use(number: int) -> None:
        async with slots:
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(use(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert slots.in_use == 0


async def test_more_places_let_those_who_wait_in_and_fewer_take_none_away() -> None:
    slots = ConcurrencyLimit(1)
    await slots.acquire()
    waiting = [asyncio.create_task(slots.acquire()) for _ in range(3)]
    await settle()
    assert slots.in_use == 1
    slots.resize(3)
    await settle()
    assert [task.done() for task in waiting] == [True, True, False]
    slots.resize(1)
    assert slots.in_use == 3
    slots.release()
    slots.release()
    await settle()
    assert not waiting[2].done()
    slots.release()
    await waiting[2]
    assert slots.in_use == 1


async def test_while_paused_nobody_is_let_in() -> None:
    slots = ConcurrencyLimit(2)
    slots.pause()
    waiting = asyncio.create_task(slots.acquire())
    await settle()
    assert (waiting.done(), slots.is_paused) == (False, True)
    slots.resume()
    await waiting
    assert not slots.is_paused


@pytest.mark.parametrize("turns", range(4))
async def test_a_place_on_its_way_to_somebody_who_gave_up_is_not_lost(turns: int) -> None:
    slots = ConcurrencyLimit(1)
    await slots.acquire()
    gone, next_one = asyncio.create_task(slots.acquire()), asyncio.create_task(slots.acquire())
    await settle()
    slots.release()
    for _ in range(turns):
        await asyncio.sleep(0)
    got_it = gone.done()
    gone.cancel()
    if got_it:
        slots.release()
    await asyncio.wait_for(next_one, 300)
    assert slots.in_use == 1


async def test_a_place_passes_between_loops() -> None:
    slots = ConcurrencyLimit(1)
    await slots.acquire()
    had = threading.Event()

    async def elsewhere() -> None:
        async with slots:
            had.set()

    thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
    thread.start()
    await asyncio.sleep(0.01)
    assert not had.is_set()
    slots.release()
    await asyncio.to_thread(thread.join)
    assert had.is_set()
    assert slots.in_use == 0


@given(
    limit=st.integers(1, 4),
    acts=st.lists(st.sampled_from(["come", "go", "give up", "more", "fewer", "turn"]), max_size=40),
)
def test_never_more_than_the_limit_enter_and_everybody_gets_in(limit: int, acts: list[str]) -> None:
    async def play() -> None:
        slots = ConcurrencyLimit(limit)
        inside = 0
        tasks: list[asyncio.Task[None]] = []
        leave = asyncio.Event()

        async def visit() -> None:
            nonlocal inside
            async with slots:
                inside += 1
                assert slots.in_use >= inside
                try:
                    await leave.wait()
                finally:
                    inside -= 1

        for act in acts:
            match act:
                case "come":
                    tasks.append(asyncio.create_task(visit()))
                case "go":
                    leave.set()
                    await settle()
                    leave.clear()
                case "give up" if tasks:
                    tasks[len(tasks) // 2].cancel()
                case "more":
                    slots.resize(slots.limit + 1)
                case "fewer":
                    slots.resize(slots.limit - 1)
                case _:
                    await asyncio.sleep(0)
        leave.set()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 300)
        assert (inside, slots.in_use) == (0, 0)

    asyncio.run(play())
