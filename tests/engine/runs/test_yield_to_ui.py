import asyncio
import threading
from pathlib import Path

from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.yield_to_ui import UiYielder
from faithtui.store.records import RunState
from tests.engine.building import conversation, store_with
from tests.engine.willing_server import willing_server


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def made() -> tuple[Clock, UiYielder]:
    clock = Clock()
    return clock, UiYielder(clock.seconds, clock.sleep)


def test_nobody_rests_unless_somebody_waits() -> None:
    clock, courtesy = made()
    courtesy.wait_for_turn()
    assert clock.slept == []


def test_a_step_waits_until_way_was_given() -> None:
    clock, courtesy = made()
    courtesy.rest_for(0.08)
    clock.now += 0.03
    courtesy.wait_for_turn()
    courtesy.wait_for_turn()
    assert clock.slept == [0.05]


def test_keys_without_end_leave_a_run_time_of_its_own() -> None:
    clock, courtesy = made()
    steps = 0
    while clock.now < 110.0:
        courtesy.rest_for(0.08)
        courtesy.wait_for_turn()
        steps += 1
        clock.now += 0.005
    assert 6.5 < sum(clock.slept) < 8.5, "of ten seconds"
    assert steps > 300


def test_every_step_of_every_task_asks() -> None:
    clock, courtesy = made()
    found: list[str] = []

    async def step(name: str) -> str:
        await asyncio.sleep(0)
        found.append(name)
        return name

    async def main() -> list[str]:
        courtesy.install(asyncio.get_running_loop())
        courtesy.rest_for(0.5)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(step(name)) for name in "abc"]
        return [task.result() for task in tasks]

    assert asyncio.run(main()) == ["a", "b", "c"] == found
    assert clock.slept == [0.5]


def test_errors_and_cancelling_go_through() -> None:
    _, courtesy = made()
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def main() -> None:
        courtesy.install(asyncio.get_running_loop())
        async with asyncio.TaskGroup() as group:
            group.create_task(waits())
            group.create_task(fails())

    try:
        asyncio.run(main())
    except* ValueError:
        ended.append("failed")
    assert ended == ["cancelled", "failed"]


def test_a_run_rests_and_ends_all_the_same(tmp_path: Path) -> None:
    talks = [conversation(f"c{n}", 2) for n in range(3)]
    with store_with(tmp_path / "s.db", talks) as store, willing_server(0.01) as server:
        order = RunRequest(judge="openai:willing", base_url=server.url, concurrency=4)
        run = BackgroundRun.start(store, order)
        while not run.join(0.005):
            run.yield_to_ui(0.05)
            threading.Event().wait(0.005)
        assert run.snapshot().state is RunState.DONE
        assert run.snapshot().progress.done == 3
