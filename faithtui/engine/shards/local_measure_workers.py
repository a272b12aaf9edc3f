"""Shards measured on this machine: one after the other in this process, or by several processes.

The processes share limits and budget through this one. Each takes the next shard when it is done
with one; a process that is killed leaves its shard under way, and the same command goes on.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from functools import partial
from pathlib import Path

from faithtui.engine.calls.budget import BudgetCaps, Expense
from faithtui.engine.calls.rate_limiter import SpeedLimit
from faithtui.engine.shards.call_limits import CallLimitsServer, LocalCallLimits, RemoteCallLimits
from faithtui.engine.shards.call_limits_socket import (
    SocketLink,
    connect_call_limits,
    serve_call_limits,
)
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.measure_worker import ShardOutcome, measure_shard_async
from faithtui.engine.shards.shard_source import Shard
from faithtui.errors import FaithtuiError, JudgeError

REPORT_S = 0.5
"""Seconds between two reports of a worker, and between two looks at them."""

ProgressSink = Callable[[ShardOutcome], None]


async def measure_shards_in_turn(
    settings: MeasureSettings,
    shards: Sequence[Shard],
    results: Path,
    spent: Expense,
    on_progress: ProgressSink,
    stop: asyncio.Event,
) -> list[ShardOutcome]:
    """Measure shards one after the other in this process.

    A shard that another worker has, or that cannot be read, is left with the reason.

    Args:
        settings: What is measured and how.
        shards: The shards.
        results: The results folder.
        spent: What was spent before.
        on_progress: Called after each conversation and each shard.
        stop: Set to end the asking.
    """
    limit, caps = get_speed_and_budget_limits(settings)
    call_limits = LocalCallLimits(limit, caps, spent)
    outcomes: list[ShardOutcome] = []
    for shard in shards:
        if stop.is_set():
            break
        try:
            found = await measure_shard_async(
                settings,
                shard,
                results,
                call_limits=call_limits,
                on_progress=on_progress,
                stop=stop,
            )
        except FaithtuiError as error:
            found = ShardOutcome.from_error(shard.name, error)
        outcomes.append(found)
        on_progress(found)
        if found.stops_all:
            break
    return outcomes


async def measure_shards_in_processes(
    settings: MeasureSettings,
    shards: Sequence[Shard],
    results: Path,
    spent: Expense,
    on_progress: ProgressSink,
    stop: asyncio.Event,
    workers: int,
) -> list[ShardOutcome]:
    """Measure shards in several processes; see `measure_shards_in_turn`."""
    limit, caps = get_speed_and_budget_limits(settings)
    server = CallLimitsServer(limit, caps, spent)
    # Not forked: this process has an event loop, and perhaps threads.
    context = multiprocessing.get_context("spawn")
    async with serve_call_limits(server, stop) as socket:
        pool = ProcessPoolExecutor(
            min(workers, len(shards)),
            mp_context=context,
            initializer=_ignore_interrupts_and_exit_with_parent,
        )
        work = partial(_measure_in_process, settings, results, socket)
        waiting = {asyncio.wrap_future(pool.submit(work, each)): each for each in shards}
        try:
            return await _collect_outcomes(waiting, server, on_progress, stop)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            await asyncio.to_thread(pool.shutdown)


async def _collect_outcomes(
    waiting: Mapping["asyncio.Future[ShardOutcome]", Shard],
    server: CallLimitsServer,
    on_progress: ProgressSink,
    stop: asyncio.Event,
) -> list[ShardOutcome]:
    outcomes: list[ShardOutcome] = []
    pending = set(waiting)
    while pending:
        done, pending = await asyncio.wait(
            pending, timeout=REPORT_S, return_when=asyncio.FIRST_COMPLETED
        )
        for each in await server.list_progress():
            on_progress(ShardOutcome(**each))
        for future in done:
            try:
                found = future.result()
            except BrokenProcessPool:
                name = waiting[future].name
                found = ShardOutcome.from_error(name, JudgeError(_LOST))
            except asyncio.CancelledError:
                continue
            outcomes.append(found)
            on_progress(found)
            if found.stops_all:
                stop.set()
    return outcomes


_LOST = (
    "a worker was killed, perhaps because memory ran out; give the same command again, which goes "
    "on where this one stopped"
)


def get_speed_and_budget_limits(settings: MeasureSettings) -> tuple[SpeedLimit, BudgetCaps]:
    """Give what settings say of speed and money."""
    return settings.speed_limit, settings.budget_caps


class ReportThrottle:
    """Passes on totals of a shard at most every half second: each is a message."""

    def __init__(self, send: Callable[[dict[str, object]], None]) -> None:
        self._send = send
        self._sent_at = -REPORT_S

    def __call__(self, outcome: ShardOutcome) -> None:
        """Pass them on, if it is time."""
        now = time.monotonic()
        if now - self._sent_at >= REPORT_S:
            self._sent_at = now
            self._send(asdict(outcome))


def _ignore_interrupts_and_exit_with_parent() -> None:
    """Let the command that began this process decide when it ends."""
    # An interrupt goes to all processes of a terminal; the command tells them to stop instead.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


def _measure_in_process(
    settings: MeasureSettings, results: Path, socket: Path, shard: Shard
) -> ShardOutcome:
    async def measure(link: SocketLink) -> ShardOutcome:
        return await measure_shard_async(
            settings,
            shard,
            results,
            call_limits=RemoteCallLimits(
                link,
                has_budget=settings.has_budget,
                was_answered=await link.request("check_was_answered"),
            ),
            on_progress=ReportThrottle(lambda totals: link.notify("report_progress", totals)),
            stop=link.stop,
        )

    async def connect_and_measure() -> ShardOutcome:
        async with connect_call_limits(socket) as link:
            if link.stop.is_set():
                return ShardOutcome(shard.name, is_whole=False)
            return await measure(link)

    try:
        return asyncio.run(connect_and_measure())
    except FaithtuiError as error:
        return ShardOutcome.from_error(shard.name, error)
    except ConnectionError:  # the command is gone, and nobody hears of it
        return ShardOutcome(shard.name, is_whole=False)
