"""F30: several processes work on one store and buy nothing twice."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.faulty_runs import STEPS, environment, filled, items_of, ordered
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

CONVERSATIONS = 6


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig(latency_s=0.2)) as running:
        yield running


def begun(path: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "faithtui", "--store", str(path), "run", *words],
        env=environment(path.parent / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Wait for all, and see that none failed."""
    for process in processes:
        _, told = process.communicate()
        assert process.returncode == 0, told
        assert "Traceback" not in told


def scores_of(path: Path) -> list[list[ScoreSet | None]]:
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        rows = store.runs.list_runs()
        assert {(row.state, row.done, row.failed) for row in rows} == {
            (RunState.DONE, CONVERSATIONS, 0)
        }
        return [[item.scores for item in items_of(store, row.id)] for row in rows]


def test_two_processes_on_two_runs_over_the_same_conversations_ask_everything_once(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    path = tmp_path / "s.db"
    with filled(path, CONVERSATIONS) as store:
        for _ in range(2):
            ordered(store, server)
    ended([begun(path, "--resume", "1"), begun(path, "--resume", "2")])
    assert len(server.entries) == CONVERSATIONS * STEPS
    assert scores_of(path) == [clean, clean]


@pytest.mark.thorough
def test_two_processes_on_the_same_run_ask_everything_once(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    path = tmp_path / "s.db"
    with filled(path, CONVERSATIONS) as store:
        ordered(store, server)
    ended([begun(path, "--resume", "1") for _ in range(2)])
    assert len(server.entries) == CONVERSATIONS * STEPS
    assert scores_of(path) == [clean]
    with Store.open(path, create=False) as store:
        assert store.runs.list_runs()[0].calls == CONVERSATIONS * STEPS
        assert store.runs.list_runs()[0].windows == CONVERSATIONS


def test_what_a_killed_process_was_asking_is_asked_by_the_other(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    path = tmp_path / "s.db"
    server.config.holds_after = 3
    with filled(path, CONVERSATIONS) as store:
        for _ in range(2):
            ordered(store, server, concurrency=4)
    first, second = (begun(path, "--resume", number) for number in "12")
    while len(server.entries) < 3:
        time.sleep(0.002)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    server.release()
    assert first.returncode == -signal.SIGKILL
    ended([second])
    bought_twice = server.billed.total() - len(server.billed)
    assert len(server.billed) == CONVERSATIONS * STEPS
    assert bought_twice <= 4
    ended([begun(path, "--resume", "1")])
    assert server.billed.total() - len(server.billed) == bought_twice
    assert scores_of(path) == [clean, clean]
