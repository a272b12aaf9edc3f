"""Runs that the store calls running, and whether anybody works on them."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.engine.calls import leases
from faithtui.engine.calls.leases import SILENT_S, StoreLeases
from faithtui.engine.runs import runner
from faithtui.engine.runs.events import ItemFinished, RunEvent
from faithtui.engine.runs.run_liveness import (
    list_runs_worked_on,
    read_run_marking_interrupted,
    read_runs_marking_interrupted,
)
from faithtui.store.records import RunState, WorkerRow
from faithtui.store.store import Store
from tests.engine.building import conversation, planned, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a"), conversation("b")]) as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> RunId:
    """A run that is under way, as the store says."""
    number = planned(store)
    store.runs.set_state(number, RunState.RUNNING)
    return number


def worker(run: RunId, **changes: object) -> WorkerRow:
    now = utc_now()
    known = {"host": socket.gethostname(), "pid": os.getpid(), "process": None, "beat_at": now}
    found = known | changes
    return WorkerRow("other", beats=0, started_at=now, run=run, **found)  # type: ignore[arg-type]  # of the row


def test_a_run_nobody_works_on_is_interrupted(store: Store, run: RunId) -> None:
    assert read_run_marking_interrupted(store, run).state is RunState.INTERRUPTED
    assert [row.state for row in read_runs_marking_interrupted(store)] == [RunState.INTERRUPTED]
    assert store.runs.read_run(run).state is RunState.RUNNING, "nothing is written"


def test_a_run_that_is_over_stays_as_it_ended(store: Store, run: RunId) -> None:
    store.runs.set_state(run, RunState.DONE)
    assert read_run_marking_interrupted(store, run).state is RunState.DONE


async def test_a_run_is_running_while_it_is_worked_on(store: Store) -> None:
    number = planned(store)
    seen: list[RunState] = []

    def look(event: RunEvent) -> None:
        if isinstance(event, ItemFinished):
            seen.append(read_run_marking_interrupted(store, number).state)

    await runner.execute_run(store, number, look)
    assert set(seen) == {RunState.RUNNING}
    assert read_run_marking_interrupted(store, number).state is RunState.DONE
    assert store.workers.list_workers([number]) == ()


async def test_a_process_that_was_killed_works_on_nothing(store: Store, run: RunId) -> None:
    assert list_runs_worked_on(store) == ()
    store.workers.add_worker(worker(run))
    assert list_runs_worked_on(store) == (run,)
    store.workers.remove_worker_and_leases("other")
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    store.workers.add_worker(worker(run, pid=gone.pid))
    assert list_runs_worked_on(store) == ()
    assert read_run_marking_interrupted(store, run).state is RunState.INTERRUPTED


def test_a_clock_that_jumps_ends_no_process_of_this_machine(store: Store, run: RunId) -> None:
    store.workers.add_worker(worker(run, beat_at=utc_now() - timedelta(days=400)))
    assert read_run_marking_interrupted(store, run).state is RunState.RUNNING


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
async def test_a_later_process_with_the_number_of_one_that_was_killed_is_another_one(
    store: Store, run: RunId
) -> None:
    store.workers.add_worker(worker(run, process="another boot 1"))
    assert read_run_marking_interrupted(store, run).state is RunState.INTERRUPTED
    leases = StoreLeases(store, run=run)
    async with leases.hold_worker_registration():
        assert read_run_marking_interrupted(store, run).state is RunState.RUNNING
    assert read_run_marking_interrupted(store, run).state is RunState.INTERRUPTED


@pytest.mark.parametrize(
    ("silent_s", "state"),
    [(SILENT_S - 1, RunState.RUNNING), (SILENT_S + 1, RunState.INTERRUPTED)],
)
def test_a_process_of_another_machine_is_gone_after_a_long_silence(
    store: Store, run: RunId, silent_s: float, state: RunState
) -> None:
    now = utc_now()
    store.workers.add_worker(
        worker(run, host="elsewhere", beat_at=now - timedelta(seconds=silent_s))
    )
    assert read_run_marking_interrupted(store, run, lambda: now).state is state
    assert read_runs_marking_interrupted(store, lambda: now)[0].state is state


def test_one_that_counts_elsewhere_is_alive(tmp_path: Path) -> None:
    with store_with(tmp_path / "b.db", [conversation("a")]) as store:
        number = planned(store)
        store.runs.set_state(number, RunState.RUNNING)
        store.workers.add_worker(
            worker(number, host="elsewhere", beat_at=utc_now() - timedelta(days=1))
        )
        store.workers.record_heartbeat("other")
        (row,) = store.workers.list_workers([number])
        assert row.beat_at is not None
        assert row.beat_at > utc_now() - timedelta(days=1)


def test_of_several_one_is_enough(store: Store, run: RunId) -> None:
    store.workers.add_worker(worker(run, host="elsewhere", beat_at=None))
    assert read_run_marking_interrupted(store, run).state is RunState.INTERRUPTED
    mine = worker(run)
    store.workers.add_worker(WorkerRow("mine", mine.host, mine.pid, 0, mine.started_at, run))
    assert read_run_marking_interrupted(store, run).state is RunState.RUNNING


@pytest.mark.skipif(not Path("/proc/self/ns/pid").exists(), reason="the system does not tell")
async def test_a_container_with_the_name_of_this_machine_is_another_machine(
    store: Store, run: RunId
) -> None:
    """Its process has a number that nobody has here, or that another one has."""
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    mine = leases._read_process_identity(os.getpid())
    assert mine is not None
    boot, _, began = mine.split()
    now = utc_now()
    for pid in (gone.pid, os.getpid()):
        theirs = worker(run, pid=pid, process=f"{boot} pid:[1] {began}7", beat_at=now)
        assert not leases.is_worker_gone(theirs, now)
        assert leases.is_worker_gone(theirs, now + timedelta(seconds=SILENT_S + 1))


def test_a_process_that_the_system_does_not_show_is_running(
    store: Store, run: RunId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of another user where /proc is mounted with hidepid."""
    monkeypatch.setattr(leases, "_read_process_identity", lambda pid: None)
    assert not leases.is_worker_gone(worker(run, process="boot pid:[1] 7"), utc_now())


def test_a_process_that_was_written_down_without_its_space_is_known(
    store: Store, run: RunId
) -> None:
    mine = leases._read_process_identity(os.getpid())
    assert mine is not None
    boot, *_, began = mine.split()
    assert not leases.is_worker_gone(worker(run, process=f"{boot} {began}"), utc_now())
    assert leases.is_worker_gone(worker(run, process=f"{boot} {began}7"), utc_now())
