"""F31 to F33: a store that is locked, a disk that is full, a clock that jumps."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.engine.runs.events import RunEvent, StoreTroubled
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import conversation
from tests.engine.faulty_runs import STEPS, calls_of, filled, judged
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

CONVERSATIONS = 6
LATENCY_S = 0.1
ENOUGH_TURNS = 20
LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=600)
print("ready", flush=True)
while sys.stdin.readline():
    connection.execute("BEGIN IMMEDIATE")
    print("locked", flush=True)
    sys.stdin.readline()
    connection.execute("COMMIT")
"""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig(latency_s=LATENCY_S)) as running:
        yield running


@contextmanager
def patient_for(path: Path, seconds: float) -> Iterator[Store]:
    """Open a store that waits so long for a lock."""
    filled(path, CONVERSATIONS).close()
    with Store.open(path, create=False, busy_timeout_s=seconds) as store:
        yield store


class OtherProcess:
    """Something else that has the store open, and lets go of it when the loop has taken turns."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._says("ready")
        self.may_let_go = True
        """Whether turns of the loop are all that is waited for."""
        self._is_holding = False

    def lock(self) -> None:
        """Hold the lock from now on."""
        self._tell("lock")
        self._says("locked")
        self._is_holding = True

    async def watch(self) -> None:
        """Let go after so many turns of the loop: one that stood still would take none."""
        turns = 0
        while True:
            await asyncio.sleep(0.01)
            turns = turns + 1 if self._is_holding and self.may_let_go else 0
            if turns >= ENOUGH_TURNS:
                self._is_holding = False
                self._tell("let go")

    def _tell(self, word: str) -> None:
        assert self._process.stdin is not None
        print(word, file=self._process.stdin, flush=True)

    def _says(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == f"{word}\n"


@contextmanager
def other_process(path: Path) -> Iterator[OtherProcess]:
    command = [sys.executable, "-c", LOCK, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield OtherProcess(process)


@pytest.mark.thorough
@pytest.mark.parametrize("is_waited_for", [True, False], ids=["waited for", "held in memory"])
async def test_f31_what_another_process_locks_out_is_stored_afterwards(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], is_waited_for: bool
) -> None:
    path = tmp_path / "s.db"
    locked_at: list[int] = []

    def lock_now_and_then(event: RunEvent) -> None:
        if isinstance(event, StoreTroubled):
            other.may_let_go = True
        # Once with replies in flight, and once when the next question is about to be asked.
        done = event.progress.done
        if event.progress.calls and done in (0, 3) and done not in locked_at:
            locked_at.append(done)
            other.may_let_go = is_waited_for
            other.lock()

    with (
        patient_for(path, 600.0 if is_waited_for else 0.1) as store,
        other_process(path) as other,
    ):
        watching = asyncio.create_task(other.watch())
        ran = await judged(store, server, concurrency=2, on_event=lock_now_and_then)
        watching.cancel()
        assert store.list_damage() == []
    assert locked_at == [0, 3]
    assert ran.state is RunState.DONE
    assert ran.scores == clean
    assert max(server.billed.values()) == 1
    assert ran.row.calls == CONVERSATIONS * STEPS
    told = [event.trouble for event in ran.events if isinstance(event, StoreTroubled)]
    if is_waited_for:
        assert told == []
    else:
        assert told[0] is not None
        assert "locked by another process" in told[0]
        assert told[-1] is None


async def test_f33_a_clock_that_jumps_stalls_nothing_and_orders_nothing(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    jumps = count()

    def jumping() -> datetime:
        days = (0, -1, 10, -400, 3)[next(jumps) % 5]
        return datetime(2026, 11, 20, tzinfo=UTC) + timedelta(days=days, seconds=next(jumps))

    server.config.latency_s = 0.0
    with Store.open(tmp_path / "s.db", clock=jumping) as store:
        store.conversations.import_batch([conversation(f"c{n}", 1) for n in range(CONVERSATIONS)])
        ran = await judged(store, server)
        again = await judged(store, server)
        calls = calls_of(store, ran)
        listed = [row.id for row in store.runs.list_runs()]
    assert ran.state is again.state is RunState.DONE
    assert ran.scores == again.scores == clean
    assert again.entries == []
    assert len({call.at.date() for call in calls}) > 1, "the clock did jump"
    assert listed == [again.run, ran.run], "newest first, whatever the clock says"
    assert [item.number for item in ran.items] == list(range(1, CONVERSATIONS + 1))
