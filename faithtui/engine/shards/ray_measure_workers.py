"""Shards measured on a Ray cluster: Ray Data deals them out to actors, and again when one dies.

Ray is the scheduler: which actor gets which shard, and what becomes of the shard of a lost one, is
its business. One named actor keeps the account's limits, the budget and the totals of all. The
results folder must lie where every node sees it under the same path.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from faithtui.engine.calls.budget import Expense
from faithtui.engine.shards.call_limits import CallLimitsServer, RemoteCallLimits
from faithtui.engine.shards.journal_file import ShardTaken
from faithtui.engine.shards.local_measure_workers import (
    REPORT_S,
    ProgressSink,
    ReportThrottle,
    get_speed_and_budget_limits,
)
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.measure_worker import ShardOutcome, measure_shard_async
from faithtui.engine.shards.shard_source import Shard
from faithtui.errors import ConfigError, FaithtuiError

_MISSING: Final = "--on ray needs Ray, which is not installed: pip install 'faithtui[ray]'"

_TAKEN_TRIES: Final = 60
"""Seconds that a worker waits for a shard whose lost worker is still dying."""

_NOTES_WAIT_S: Final = 0.02
"""Seconds that the end of a request waits for the beginning of another one to travel with."""

_CALLS: Final = 10_000
"""Calls of the server at a time: those that wait for a place or for money stand there."""


def require_ray() -> Any:
    """Give Ray.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigError(_MISSING) from error
    return ray


async def measure_on_ray(
    settings: MeasureSettings,
    shards: Sequence[Shard],
    results: Path,
    spent: Expense,
    on_progress: ProgressSink,
    stop: asyncio.Event,
    workers: int,
    address: str | None,
) -> list[ShardOutcome]:
    """Measure shards by actors of Ray; see `measure_shards_in_turn`.

    Args:
        settings: What is measured and how.
        shards: The shards.
        results: The results folder, which every node sees.
        spent: What was spent before.
        on_progress: Called with the totals of shards from time to time.
        stop: Set to end the asking.
        workers: Actors.
        address: An existing cluster; None: one of this machine is begun and ended.

    Raises:
        ConfigError: Ray is not installed, or the cluster is not there.
    """
    workers = min(workers, len(shards))
    with _open_cluster(address, workers) as ray:
        limit, caps = get_speed_and_budget_limits(settings)
        name = f"faithtui-account-{hashlib.sha256(str(results).encode()).hexdigest()[:16]}"
        actor = ray.remote(CallLimitsServer).options(name=name, num_cpus=0, max_concurrency=_CALLS)
        server = actor.remote(limit, caps, spent)
        try:
            consuming = asyncio.create_task(
                asyncio.to_thread(
                    _measure_shards_with_ray_data, ray, settings, shards, results, workers, server
                )
            )
            stopping = asyncio.create_task(stop.wait())
            watched = {consuming, stopping}
            while not consuming.done():
                done, _ = await asyncio.wait(
                    watched, timeout=REPORT_S, return_when=asyncio.FIRST_COMPLETED
                )
                if stopping in done:
                    watched.discard(stopping)
                    await server.stop_workers.remote()
                for each in await server.list_progress.remote():
                    on_progress(ShardOutcome(**each))
            stopping.cancel()
            outcomes = await consuming
        finally:
            ray.kill(server)
    for each in outcomes:
        on_progress(each)
    return outcomes


@contextmanager
def _open_cluster(address: str | None, workers: int) -> Iterator[Any]:
    """Reach a cluster, or begin one on this machine that ends with the command."""
    ray = require_ray()
    was_open = ray.is_initialized()
    if not was_open:
        # One CPU more than there are workers: without one for Ray Data's own tasks nothing begins.
        own: Mapping[str, Any] = (
            {"num_cpus": workers + 1, "include_dashboard": False} if address is None else {}
        )
        try:
            # What workers print would stand on stdout, which is for what was asked for.
            ray.init(address=address, logging_level="ERROR", log_to_driver=False, **own)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ConfigError(
                f"Ray cannot be begun on this machine: {error}; give the same command again"
                if address is None
                else f"the Ray cluster `{address}` cannot be reached: {error}; expected an address "
                "such as auto or ray://HOST:10001"
            ) from error
    try:
        yield ray
    finally:
        if not was_open:
            ray.shutdown()


def _measure_shards_with_ray_data(
    ray: Any,
    settings: MeasureSettings,
    shards: Sequence[Shard],
    results: Path,
    workers: int,
    server: Any,
) -> list[ShardOutcome]:
    """Let Ray Data deal the shards out, and give what became of them."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False  # the command draws its own, of all workers
    context.print_on_execution_start = False
    cpus = ray.cluster_resources().get("CPU", 1.0)
    # One CPU stays free, for what Ray Data itself runs: actors that take all of them leave none for
    # the tasks that feed them, and nothing happens without a word.
    share = int(1e4 * min(1.0, max(cpus - 1, 0.5) / workers)) / 1e4
    # A block a shard: a block of several would go to one actor.
    items = [{"number": number} for number in range(len(shards))]
    dataset = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        _ShardActor,
        fn_constructor_args=(settings, list(shards), results, server),
        batch_size=1,
        num_cpus=share,
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
    )
    return [ShardOutcome(**row) for row in dataset.iter_rows()]


class _ShardActor:
    """Measures the shards that Ray gives it, one after the other."""

    def __init__(
        self, settings: MeasureSettings, shards: Sequence[Shard], results: Path, server: Any
    ) -> None:
        self._settings = settings
        self._shards = shards
        self._results = results
        self._server = server

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        found = [self._measure(self._shards[int(number)]) for number in batch["number"]]
        columns = asdict(found[0])
        return {name: [getattr(each, name) for each in found] for name in columns}

    def _measure(self, shard: Shard) -> ShardOutcome:
        try:
            return asyncio.run(self._measure_shard(shard))
        except FaithtuiError as error:
            return ShardOutcome.from_error(shard.name, error)

    async def _measure_shard(self, shard: Shard) -> ShardOutcome:
        link = RayLink(self._server, shard.name)
        await link.request("release_holdings")  # what a lost worker of this shard held
        was_answered = await link.request("check_was_answered")
        stop = asyncio.Event()

        async def hear_stop() -> None:
            await link.request("wait_for_stop")
            stop.set()

        hearing = asyncio.create_task(hear_stop())
        try:
            for tries in range(_TAKEN_TRIES):
                try:
                    found = await measure_shard_async(
                        self._settings,
                        shard,
                        self._results,
                        call_limits=RemoteCallLimits(
                            link,
                            has_budget=self._settings.has_budget,
                            was_answered=was_answered,
                        ),
                        on_progress=ReportThrottle(
                            lambda totals: link.notify("report_progress", totals)
                        ),
                        stop=stop,
                    )
                except ShardTaken:
                    if tries + 1 == _TAKEN_TRIES:
                        raise
                    await asyncio.sleep(1)
                else:
                    await link.request("report_progress", asdict(found))
                    if found.stops_all:
                        await self._server.stop_workers.remote()
                    return found
        finally:
            link.send_queued_calls()
            hearing.cancel()
            with suppress(asyncio.CancelledError):
                await hearing
        raise AssertionError("every try returns or raises")


class RayLink:
    """A worker's way to the server. A `CallLimitsLink`; belongs to one event loop.

    A message takes both ends as long as a fifth of a question, so the end of one request travels
    with the beginning of the next.
    """

    def __init__(self, server: Any, holder: str) -> None:
        self._server = server
        self._holder = holder
        self._notes: list[tuple[str, tuple[Any, ...]]] = []
        """What nobody waits for and is not in flight yet, in order."""
        self._sending: asyncio.TimerHandle | None = None

    async def request(self, method: str, *arguments: Any) -> Any:
        """Call a method of the server and wait for what it returns."""
        return await self._server.handle_calls.remote(
            self._holder, self._take_queued_calls(), method, arguments
        )

    def notify(self, method: str, *arguments: Any) -> None:
        """Call a method of the server soon and do not wait."""
        self._notes.append((method, arguments))
        if method == "charge":
            # What was spent is known even of a worker that is killed the next moment.
            self.send_queued_calls()
        elif self._sending is None:
            loop = asyncio.get_running_loop()
            self._sending = loop.call_later(_NOTES_WAIT_S, self.send_queued_calls)

    def send_queued_calls(self) -> None:
        """Send what was to travel with the next request."""
        if notes := self._take_queued_calls():
            self._server.handle_calls.remote(self._holder, notes)

    def _take_queued_calls(self) -> list[tuple[str, tuple[Any, ...]]]:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        notes, self._notes = self._notes, []
        return notes
