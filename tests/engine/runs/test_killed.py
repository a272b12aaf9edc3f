"""F28 and F29: a run that is killed, interrupted or hung up on loses and rebuys nothing."""

import contextlib
import fcntl
import os
import pty
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store
from tests.engine.faulty_runs import STEPS, environment, filled, items_of
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

CONVERSATIONS = 6
CONCURRENCY = 4
KILLS = 3
INTERRUPTED = 130


def command(store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "faithtui", "--store", str(store), "run", *words]


def order(server: FaultServer) -> tuple[str, ...]:
    return (
        *("--judge", "openai:m", "--base-url", server.url),
        *("--concurrency", str(CONCURRENCY), "--option", "include_reason=false"),
    )


def _in_a_terminal() -> None:
    """Make standard input the terminal that Ctrl-C and hanging up come from."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Who starts the tests in the background of a script has signals ignored for them all.
    for each in (signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


@contextmanager
def started(store: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    """Start a run in a terminal; give the process, our side of it, and a file with what it says."""
    ours, theirs = pty.openpty()
    told = store.with_name("told.txt")
    with told.open("wb") as stderr:
        process = subprocess.Popen(
            command(store, *words),
            env=environment(store.parent / "home"),
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            preexec_fn=_in_a_terminal,
        )
    os.close(theirs)
    try:
        yield process, ours, told
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            os.close(ours)


def wait_until_some_are_in_the_air(server: FaultServer, answered: int) -> None:
    """Wait until so many questions are answered and the next ones are held by the server."""
    while server.billed.total() < answered or not server.in_flight:
        time.sleep(0.002)


def wait_until_told(told: Path, words: str) -> None:
    while words not in told.read_text():
        time.sleep(0.002)


def resumed(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(path, "--resume", "last"),
        env=environment(path.parent / "home"),
        capture_output=True,
        text=True,
        check=False,
    )


def outcome(path: Path) -> tuple[RunRow, list[ScoreSet | None]]:
    """Read the last run, and see that the file is sound."""
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        last = store.runs.find_newest_run_id()
        assert last is not None
        return store.runs.read_run(last), [item.scores for item in items_of(store, last)]


def bought_twice(server: FaultServer) -> int:
    return server.billed.total() - len(server.billed)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig()) as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    filled(tmp_path / "s.db", CONVERSATIONS).close()
    return tmp_path / "s.db"


@pytest.mark.thorough
def test_f28_kill_9_again_and_again_then_resume(
    path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    choose = random.Random(1)
    words: Sequence[str] = order(server)
    for kill in range(1, KILLS + 1):
        assert server.wait_until_idle()
        server.config.answers_no_more_than = server.billed.total() + choose.randint(1, 4)
        with started(path, *words) as (process, _, _):
            wait_until_some_are_in_the_air(server, answered=server.config.answers_no_more_than)
            process.send_signal(signal.SIGKILL)
        words = ("--resume", "last")
        assert bought_twice(server) <= kill * CONCURRENCY
    server.config.answers_no_more_than = None
    done = resumed(path)
    assert done.returncode == 0, done.stderr
    row, scores = outcome(path)
    assert (row.state, row.done) == (RunState.DONE, CONVERSATIONS)
    assert scores == clean
    assert row.calls == len(server.billed) == CONVERSATIONS * STEPS, (
        "every question has one stored reply"
    )
    assert bought_twice(server) <= KILLS * CONCURRENCY


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "terminated", "hung up"],
)
def test_f29_one_signal_waits_for_what_is_in_the_air_and_nothing_is_bought_twice(
    path: Path,
    server: FaultServer,
    clean: list[ScoreSet | None],
    number: signal.Signals,
    code: int,
) -> None:
    server.config.holds_after = 2
    with started(path, *order(server)) as (process, terminal, told):
        wait_until_some_are_in_the_air(server, answered=2)
        if number is signal.SIGINT:
            os.write(terminal, b"\x03")
        elif number is signal.SIGHUP:
            os.close(terminal)
        else:
            process.send_signal(number)
        wait_until_told(told, "in flight;")
        server.release()
        assert process.wait() == code
        said = told.read_text()
    assert "Traceback" not in said
    row, _ = outcome(path)
    assert (row.state, row.failed) == (RunState.CANCELLED, 0)
    assert row.calls == len(server.billed), "what was in flight has come in"
    assert f"faithtui --store {path} run --resume 1" in said

    assert resumed(path).returncode == 0
    row, scores = outcome(path)
    assert (row.state, scores) == (RunState.DONE, clean)
    assert bought_twice(server) == 0


def test_f29_a_second_ctrl_c_stops_at_once(
    path: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    server.config.answers_no_more_than = 2
    with started(path, *order(server)) as (process, terminal, told):
        wait_until_some_are_in_the_air(server, answered=2)
        os.write(terminal, b"\x03")
        wait_until_told(told, "Ctrl-C again")
        assert process.poll() is None
        os.write(terminal, b"\x03")
        assert process.wait() == INTERRUPTED
        said = told.read_text()
    assert "Traceback" not in said
    assert f"faithtui --store {path} run --resume 1" in said

    server.config.answers_no_more_than = None
    assert resumed(path).returncode == 0
    row, scores = outcome(path)
    assert (row.state, scores) == (RunState.DONE, clean)
    assert bought_twice(server) == 0, "those in flight were never answered"
