"""F32: a disk that is full, really full, and a file that may not grow."""

import asyncio
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.engine.events import RunEvent, StoreTroubled
from faithtui.engine.recording import FLOOR_BYTES
from faithtui.errors import StoreError
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.under_faults import STEPS, Ran, environment, filled, items_of, judged
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

TALKS = 6
CONCURRENCY = 4
DISK_BYTES = FLOOR_BYTES + 12_000_000


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig(latency_s=0.1)) as running:
        yield running


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk, where that is allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs permission to do so")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class Ballast:
    """A file that takes the room of others."""

    def __init__(self, disk: Path) -> None:
        self._path = disk / "ballast"

    def leave(self, free: int) -> None:
        """Take all but so many bytes."""
        with self._path.open("ab") as file:
            left = shutil.disk_usage(self._path).free - free
            file.write(b"\0" * max(0, left))

    def fill(self) -> None:
        """Take everything, to the last byte."""
        with suppress(OSError), self._path.open("ab", buffering=0) as file:
            while file.write(b"\0" * 65_536):
                pass

    def drop(self) -> None:
        self._path.unlink()


def troubles(ran: Ran) -> list[str | None]:
    return [event.trouble for event in ran.events if isinstance(event, StoreTroubled)]


async def test_f32_below_the_floor_nothing_is_asked_until_there_is_room(
    disk: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    ballast = Ballast(disk)
    asked_while_full: list[int] = []

    def heard(event: RunEvent) -> None:
        if isinstance(event, StoreTroubled) and event.trouble is not None:
            asked_while_full.append(len(server.entries) + server.in_flight)
            asyncio.get_running_loop().call_later(0.5, ballast.drop)

    with filled(disk / "s.db", TALKS) as store:
        ballast.leave(FLOOR_BYTES - 1_000_000)
        ran = await judged(store, server, concurrency=CONCURRENCY, on_event=heard)
    assert (ran.state, ran.scores) == (RunState.DONE, clean)
    assert asked_while_full == [0]
    told = troubles(ran)
    assert told[0] is not None
    assert "nothing more is asked until there are" in told[0]
    assert told[-1] is None
    assert max(server.billed.values()) == 1


async def test_f32_replies_in_the_air_when_the_disk_is_full_are_held_until_it_is_not(
    disk: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    ballast = Ballast(disk)

    def heard(event: RunEvent) -> None:
        if not ballast_is_on and event.progress.calls:
            ballast_is_on.append(True)
            ballast.fill()
        elif isinstance(event, StoreTroubled) and event.trouble is not None:
            asyncio.get_running_loop().call_later(0.3, ballast.drop)

    ballast_is_on: list[bool] = []
    with filled(disk / "s.db", TALKS) as store:
        ran = await judged(store, server, concurrency=CONCURRENCY, on_event=heard)
        assert store.check() == []
    assert ballast_is_on
    assert (ran.state, ran.scores) == (RunState.DONE, clean)
    told = troubles(ran)
    assert told[0] is not None
    assert "disk is full" in told[0]
    assert told[-1] is None
    assert max(server.billed.values()) == 1, "not one reply that was paid for was lost"
    assert ran.row.calls == TALKS * STEPS


async def test_f32_a_store_that_may_not_grow_ends_the_run_with_a_sentence_and_goes_on_later(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    path = tmp_path / "s.db"
    filled(path, TALKS).close()
    words = [sys.executable, "-m", "faithtui", "--store", str(path), "run"]
    first = [*words, "--judge", "openai:m", "--base-url", server.url]
    first += ["--option", "include_reason=false", "--concurrency", str(CONCURRENCY)]
    env = environment(tmp_path / "home")

    def go(command: list[str], most: int | None) -> subprocess.CompletedProcess[str]:
        # The log beside the file is what grows first.
        limit = resource.RLIM_INFINITY if most is None else most
        return subprocess.run(
            command,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)
            ),
        )

    stopped = await asyncio.to_thread(go, first, 60_000)
    assert stopped.returncode == StoreError.exit_code, stopped.stderr
    assert "--resume" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    done = await asyncio.to_thread(go, [*words, "--resume", "last"], None)
    assert done.returncode == 0, done.stderr
    assert server.billed.total() - len(server.billed) <= CONCURRENCY
    with Store.open(path, create=False) as store:
        assert store.check() == []
        run = store.runs.last_id()
        assert run is not None
        assert [item.scores for item in items_of(store, run)] == clean
