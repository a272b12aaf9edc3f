"""Limits and budget that several workers share, and what a lost one gives back."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from faithtui.engine.calls.budget import BudgetCaps, Expense
from faithtui.engine.calls.rate_limiter import FIRST_WINDOW, SpeedLimit
from faithtui.engine.shards.account_keeper import AccountKeeper, RemoteAccount
from faithtui.engine.shards.account_socket import connect_keeper, serve_keeper
from faithtui.errors import BudgetReached
from faithtui.judges.base import RateLimits


def make_keeper(tokens: int | None = None) -> AccountKeeper:
    return AccountKeeper(SpeedLimit(), BudgetCaps(tokens=tokens))


async def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 (state of another task, which sets no event)
        await asyncio.sleep(0)


async def test_two_workers_share_a_budget_and_a_lost_one_gives_back() -> None:
    keeper = make_keeper(100)
    async with (
        serve_keeper(keeper, asyncio.Event()) as socket,
        connect_keeper(socket) as first,
        connect_keeper(socket) as second,
    ):
        mine = RemoteAccount(first, has_budget=True).budget
        await mine.reserve(Expense(0, 40))
        mine.settle(Expense(0, 40), Expense(0, 30))
        await mine.reserve(Expense(0, 60))
        theirs = RemoteAccount(second, has_budget=True).budget
        waiting = asyncio.create_task(theirs.reserve(Expense(0, 50)))
        await wait_until(lambda: bool(keeper._budget._changed._waiters))
        assert not waiting.done(), "30 are spent and 60 set aside"
        first._writer.close()  # as a kill does
        await waiting
        theirs.settle(Expense(0, 50), Expense(0, 50))
        with pytest.raises(BudgetReached, match="budget of 100 tokens"):
            await theirs.reserve(Expense(0, 50))


async def test_requests_in_flight_of_a_lost_worker_make_room_for_others() -> None:
    keeper = make_keeper()
    async with (
        serve_keeper(keeper, asyncio.Event()) as socket,
        connect_keeper(socket) as lost,
        connect_keeper(socket) as other,
    ):
        limiter = RemoteAccount(lost, has_budget=False).get_limiter("acme")
        assert limiter is not None
        for _ in range(FIRST_WINDOW):
            await limiter.start_request(1)
        theirs = RemoteAccount(other, has_budget=False).get_limiter("acme")
        assert theirs is not None
        waiting = asyncio.create_task(theirs.start_request(1))
        inner = keeper._limiters.get_limiter("acme")
        assert inner is not None
        await wait_until(lambda: bool(inner._slots._waiting))
        assert inner.in_flight == FIRST_WINDOW
        lost._writer.close()
        await waiting
        assert inner.in_flight == 1


async def test_what_a_provider_says_reaches_the_limiter_of_all() -> None:
    keeper = make_keeper()
    async with serve_keeper(keeper, asyncio.Event()) as socket, connect_keeper(socket) as link:
        limiter = RemoteAccount(link, has_budget=False).get_limiter("acme")
        assert limiter is not None
        await limiter.start_request(1)
        limiter.record_success(RateLimits(requests_per_minute=600))
        inner = keeper._limiters.get_limiter("acme")
        assert inner is not None
        await wait_until(lambda: not inner.in_flight)
        assert inner.pace == 10
        started = await limiter.start_request(1)
        limiter.record_refusal(started)
        await wait_until(lambda: not inner.in_flight)
        assert len(inner._refused_times) == 1


async def test_a_judge_that_nobody_limits_asks_nobody() -> None:
    keeper = make_keeper()
    async with serve_keeper(keeper, asyncio.Event()) as socket, connect_keeper(socket) as link:
        account = RemoteAccount(link, has_budget=False)
        assert account.get_limiter("") is None
        await account.budget.reserve(Expense(10**12, 10**12))
        assert not keeper._held


async def test_whoever_is_given_up_while_it_waits_gives_back_what_comes_later() -> None:
    keeper = make_keeper(100)
    async with serve_keeper(keeper, asyncio.Event()) as socket, connect_keeper(socket) as link:
        budget = RemoteAccount(link, has_budget=True).budget
        await budget.reserve(Expense(0, 80))
        waiting = asyncio.create_task(budget.reserve(Expense(0, 70)))
        await wait_until(lambda: bool(keeper._budget._changed._waiters))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        budget.settle(Expense(0, 80), Expense(0, 10))
        await budget.reserve(Expense(0, 90))  # all that is left


async def test_the_command_to_stop_reaches_workers_of_now_and_later() -> None:
    stop = asyncio.Event()
    async with serve_keeper(make_keeper(), stop) as socket:
        async with connect_keeper(socket) as now:
            stop.set()
            await now.stop.wait()
        async with connect_keeper(socket) as later:
            await later.stop.wait()


async def test_a_worker_whose_command_is_gone_is_told_so() -> None:
    keeper = make_keeper(100)
    async with AsyncExitStack() as command, AsyncExitStack() as worker:
        socket = await command.enter_async_context(serve_keeper(keeper, asyncio.Event()))
        link = await worker.enter_async_context(connect_keeper(socket))
        budget = RemoteAccount(link, has_budget=True).budget
        await budget.reserve(Expense(0, 80))
        waiting = asyncio.create_task(budget.reserve(Expense(0, 70)))
        await wait_until(lambda: bool(keeper._budget._changed._waiters))
        await command.aclose()
        with pytest.raises(ConnectionError, match="is gone"):
            await waiting
        assert link.stop.is_set()


async def test_totals_of_a_shard_are_the_latest() -> None:
    keeper = make_keeper()
    await keeper.report("1", {"shard": "a", "calls": 1})
    await keeper.report("1", {"shard": "a", "calls": 2})
    await keeper.report("2", {"shard": "b", "calls": 5})
    assert await keeper.list_progress() == [
        {"shard": "a", "calls": 2},
        {"shard": "b", "calls": 5},
    ]
