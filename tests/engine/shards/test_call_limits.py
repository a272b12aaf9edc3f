"""Limits and budget that several workers share, and what a lost one gives back."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from faithtui.engine.calls.budget import BudgetCaps, Expense
from faithtui.engine.calls.rate_limiter import FIRST_WINDOW, SpeedLimit
from faithtui.engine.shards.call_limits import CallLimitsServer, RemoteCallLimits
from faithtui.engine.shards.call_limits_socket import connect_call_limits, serve_call_limits
from faithtui.engine.shards.ray_measure_workers import RayLink
from faithtui.errors import BudgetReached
from faithtui.judges.base import RateLimits


def make_server(tokens: int | None = None) -> CallLimitsServer:
    return CallLimitsServer(SpeedLimit(), BudgetCaps(tokens=tokens))


async def wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 (state of another task, which sets no event)
        await asyncio.sleep(0)


async def test_two_workers_share_a_budget_and_a_lost_one_gives_back() -> None:
    server = make_server(100)
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as first,
        connect_call_limits(socket) as second,
    ):
        mine = RemoteCallLimits(first, has_budget=True).budget
        await mine.reserve(Expense(0, 40))
        mine.replace_reserve_by_cost(Expense(0, 40), Expense(0, 30))
        await mine.reserve(Expense(0, 60))
        theirs = RemoteCallLimits(second, has_budget=True).budget
        waiting = asyncio.create_task(theirs.reserve(Expense(0, 50)))
        await wait_until(lambda: bool(server._budget._changed._waiters))
        assert not waiting.done(), "30 are spent and 60 set aside"
        first._writer.close()  # as a kill does
        await waiting
        theirs.replace_reserve_by_cost(Expense(0, 50), Expense(0, 50))
        with pytest.raises(BudgetReached, match="budget of 100 tokens"):
            await theirs.reserve(Expense(0, 50))


async def test_requests_in_flight_of_a_lost_worker_make_room_for_others() -> None:
    server = make_server()
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as lost,
        connect_call_limits(socket) as other,
    ):
        limiter = RemoteCallLimits(lost, has_budget=False).get_limiter("acme")
        assert limiter is not None
        for _ in range(FIRST_WINDOW):
            await limiter.start_request(1)
        theirs = RemoteCallLimits(other, has_budget=False).get_limiter("acme")
        assert theirs is not None
        waiting = asyncio.create_task(theirs.start_request(1))
        inner = server._limiters.get_limiter("acme")
        assert inner is not None
        await wait_until(lambda: bool(inner._slots._waiting))
        assert inner.in_flight == FIRST_WINDOW
        lost._writer.close()
        await waiting
        assert inner.in_flight == 1


async def test_an_answer_to_one_worker_tells_all_that_the_judge_runs() -> None:
    server = make_server()
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as first,
        connect_call_limits(socket) as second,
    ):
        limiter = RemoteCallLimits(first, has_budget=False).get_limiter("acme")
        assert limiter is not None
        for record, is_answer in ((limiter.record_failure, False), (limiter.record_success, True)):
            await limiter.start_request(1)
            record()
            await first.request("check_was_answered")  # what is not waited for arrives before it
            assert await second.request("check_was_answered") is is_answer


async def test_what_a_provider_says_reaches_the_limiter_of_all() -> None:
    server = make_server()
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as link,
    ):
        limiter = RemoteCallLimits(link, has_budget=False).get_limiter("acme")
        assert limiter is not None
        await limiter.start_request(1)
        limiter.record_success(RateLimits(requests_per_minute=600))
        inner = server._limiters.get_limiter("acme")
        assert inner is not None
        await wait_until(lambda: not inner.in_flight)
        assert inner.requests_per_second == 10
        started = await limiter.start_request(1)
        limiter.record_refusal(started)
        await wait_until(lambda: not inner.in_flight)
        assert len(inner._refused_times) == 1


async def test_a_judge_that_nobody_limits_asks_nobody() -> None:
    server = make_server()
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as link,
    ):
        call_limits = RemoteCallLimits(link, has_budget=False)
        assert call_limits.get_limiter("") is None
        await call_limits.budget.reserve(Expense(10**12, 10**12))
        assert not server._held


async def test_whoever_is_given_up_while_it_waits_gives_back_what_comes_later() -> None:
    server = make_server(100)
    async with (
        serve_call_limits(server, asyncio.Event()) as socket,
        connect_call_limits(socket) as link,
    ):
        budget = RemoteCallLimits(link, has_budget=True).budget
        await budget.reserve(Expense(0, 80))
        waiting = asyncio.create_task(budget.reserve(Expense(0, 70)))
        await wait_until(lambda: bool(server._budget._changed._waiters))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        budget.replace_reserve_by_cost(Expense(0, 80), Expense(0, 10))
        await budget.reserve(Expense(0, 90))  # all that is left


async def test_the_command_to_stop_reaches_workers_of_now_and_later() -> None:
    stop = asyncio.Event()
    async with serve_call_limits(make_server(), stop) as socket:
        async with connect_call_limits(socket) as now:
            stop.set()
            await now.stop.wait()
        async with connect_call_limits(socket) as later:
            await later.stop.wait()


async def test_a_worker_whose_command_is_gone_is_told_so() -> None:
    server = make_server(100)
    async with AsyncExitStack() as command, AsyncExitStack() as worker:
        socket = await command.enter_async_context(serve_call_limits(server, asyncio.Event()))
        link = await worker.enter_async_context(connect_call_limits(socket))
        budget = RemoteCallLimits(link, has_budget=True).budget
        await budget.reserve(Expense(0, 80))
        waiting = asyncio.create_task(budget.reserve(Expense(0, 70)))
        await wait_until(lambda: bool(server._budget._changed._waiters))
        await command.aclose()
        with pytest.raises(ConnectionError, match="is gone"):
            await waiting
        assert link.stop.is_set()


async def test_totals_of_a_shard_are_the_latest() -> None:
    server = make_server()
    await server.report_progress("1", {"shard": "a", "calls": 1})
    await server.report_progress("1", {"shard": "a", "calls": 2})
    await server.report_progress("2", {"shard": "b", "calls": 5})
    assert await server.list_progress() == [
        {"shard": "a", "calls": 2},
        {"shard": "b", "calls": 5},
    ]


class ActorInPlace:
    """Calls a server as an actor of Ray would, and counts the messages to it."""

    def __init__(self, server: CallLimitsServer) -> None:
        self.messages = 0
        self.handle_calls = self
        self._server = server

    def remote(self, *arguments: Any) -> "asyncio.Task[Any]":
        self.messages += 1
        return asyncio.ensure_future(self._server.handle_calls(*arguments))


async def test_the_end_of_a_request_travels_with_the_next_one() -> None:
    server = make_server()
    actor = ActorInPlace(server)
    limiter = RemoteCallLimits(RayLink(actor, "a"), has_budget=False).get_limiter("acme")
    inner = server._limiters.get_limiter("acme")
    assert limiter is not None
    assert inner is not None
    for _ in range(50):
        await limiter.start_request(1)
        assert inner.in_flight == 1, "the one before it ended first"
        limiter.record_success()
    assert actor.messages == 50
    await wait_until(lambda: inner.in_flight == 0)
    assert actor.messages == 51, "the last end waits for nothing for long"


async def test_what_was_spent_is_told_at_once() -> None:
    server = make_server(100)
    actor = ActorInPlace(server)
    budget = RemoteCallLimits(RayLink(actor, "a"), has_budget=True).budget
    await budget.reserve(Expense(0, 60))
    budget.replace_reserve_by_cost(Expense(0, 60), Expense(0, 50))
    assert actor.messages == 2
    await server.release_holdings("a")  # it was killed: what it spent stays spent
    with pytest.raises(BudgetReached, match="budget of 100 tokens"):
        await RemoteCallLimits(RayLink(actor, "b"), has_budget=True).budget.reserve(Expense(0, 60))
