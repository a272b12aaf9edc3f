import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.clock import utc_now
from faithtui.engine.calls.leases import SILENT_S, NoLeases, StoreLeases
from faithtui.store.records import CallContext, StoredReply, WorkerRow
from faithtui.store.store import Store

REPLY = StoredReply("{}", "ok", True, 1, 1, 0, None, None, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


class Clock:
    """Moves only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class LookedEnough(Exception):
    """It would go on waiting for ever."""


def never() -> bool:
    return False


def foreign(store: Store, *, host: str = "elsewhere", pid: int = 1) -> str:
    """Let another process hold the question."""
    store.workers.add_worker(WorkerRow("other", host, pid, 0, utc_now()))
    store.workers.try_to_take_lease("k", "other", lambda holder: False)
    return "other"


async def test_the_second_waits_for_the_reply_of_the_first(store: Store) -> None:
    first, second = StoreLeases(store), StoreLeases(store)
    async with first.hold_worker_registration(), second.hold_worker_registration():
        assert await first.acquire_or_wait_for_others_answer("k", never)
        waiting = asyncio.create_task(
            second.acquire_or_wait_for_others_answer(
                "k", lambda: store.calls.find_usable_reply("k") is not None
            )
        )
        await asyncio.sleep(0.05)
        assert not waiting.done()
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext("k", "j", "s", worker=first.holder), REPLY
        )
        assert await asyncio.wait_for(waiting, 300) is False


async def test_when_the_first_gives_up_the_second_asks(store: Store) -> None:
    first, second = StoreLeases(store), StoreLeases(store)
    async with first.hold_worker_registration(), second.hold_worker_registration():
        await first.acquire_or_wait_for_others_answer("k", never)
        waiting = asyncio.create_task(second.acquire_or_wait_for_others_answer("k", never))
        await asyncio.sleep(0.05)
        await first.release("k")
        assert await asyncio.wait_for(waiting, 300) is True


async def test_a_reply_that_came_just_before_the_lease_is_used(store: Store) -> None:
    leases = StoreLeases(store)
    async with leases.hold_worker_registration():
        assert await leases.acquire_or_wait_for_others_answer("k", lambda: True) is False
        assert store.workers.try_to_take_lease("k", "anybody", lambda holder: False)


async def test_a_process_of_this_machine_that_is_gone_holds_nothing(store: Store) -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    foreign(store, host=socket.gethostname(), pid=gone.pid)
    leases = StoreLeases(store)
    async with leases.hold_worker_registration():
        assert await asyncio.wait_for(leases.acquire_or_wait_for_others_answer("k", never), 300)


async def test_a_process_that_lives_keeps_its_questions(store: Store) -> None:
    foreign(store, host=socket.gethostname(), pid=os.getpid())
    clock = Clock()

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        if clock.now > SILENT_S / 2:
            raise LookedEnough

    leases = StoreLeases(store, clock=clock, sleep=sleep)
    async with leases.hold_worker_registration():
        with pytest.raises(LookedEnough):
            await leases.acquire_or_wait_for_others_answer("k", never)


async def test_a_process_elsewhere_is_dead_after_a_long_silence(store: Store) -> None:
    foreign(store)
    clock = Clock()
    leases = StoreLeases(store, clock=clock, sleep=clock.sleep)
    async with leases.hold_worker_registration():
        assert await asyncio.wait_for(leases.acquire_or_wait_for_others_answer("k", never), 300)
    assert clock.now > SILENT_S


async def test_a_process_elsewhere_that_counts_is_alive(store: Store) -> None:
    other = foreign(store)
    clock = Clock()
    beats = 0

    async def sleep(seconds: float) -> None:
        nonlocal beats
        await clock.sleep(seconds)
        beats += 1
        store.workers.record_heartbeat(other)
        if clock.now > 3 * SILENT_S:
            raise LookedEnough

    leases = StoreLeases(store, clock=clock, sleep=sleep)
    async with leases.hold_worker_registration():
        with pytest.raises(LookedEnough):
            await leases.acquire_or_wait_for_others_answer("k", never)
    assert beats > 100


async def test_leaving_takes_the_entry_and_all_leases_away(store: Store) -> None:
    leases = StoreLeases(store)
    async with leases.hold_worker_registration():
        await leases.acquire_or_wait_for_others_answer("k", never)
    assert store.workers.try_to_take_lease("k", "next", lambda holder: False)


async def test_where_nobody_else_can_ask_nothing_is_waited_for() -> None:
    leases = NoLeases()
    assert await leases.acquire_or_wait_for_others_answer("k", never)
    await leases.release("k")
