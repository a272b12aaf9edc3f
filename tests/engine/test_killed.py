"""A run that is killed at any moment loses nothing and asks nothing stored again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with
from tests.engine.willing_server import willing_server

CONCURRENCY = 4
KILLS = 4


def command(store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "faithtui", "--store", str(store), "run", *words]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "FAITHTUI_HOME": str(home), "NO_PROXY": "*"}


@pytest.mark.parametrize("seed", [1, 2])
def test_kill_9_during_a_run_then_resume(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    path = tmp_path / "s.db"
    conversations = [conversation(f"c{n}", 3) for n in range(12)]
    store_with(path, conversations).close()
    with willing_server(latency_s=0.02) as server:
        words = ["--judge", "openai:w", "--base-url", server.url, "--concurrency", str(CONCURRENCY)]
        kills = 0
        for _ in range(KILLS):
            before = server.answered
            goal = before + choose.randint(5, 25)
            process = subprocess.Popen(
                command(path, *words),
                env=environment(tmp_path),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while server.answered < goal and process.poll() is None:
                time.sleep(0.002)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
            words = ["--resume", "last"]
        done = subprocess.run(
            command(path, "--resume", "last"),
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert kills > 0
        repeated = sum(count - 1 for count in server.asked.values())
        assert repeated <= kills * CONCURRENCY
        with Store.open(path, create=False) as store:
            assert store.check() == []
            last = store.runs.last_id()
            assert last is not None
            row = store.runs.row(last)
            assert (row.state, row.done, row.windows) == (RunState.DONE, 12, 36)
            assert row.calls == len(server.asked), "every question has one stored reply"
            killed = [item.scores for item in store.runs.item_rows(store.runs.item_ids(last))]
        whole = tmp_path / "whole.db"
        store_with(whole, conversations).close()
        subprocess.run(
            command(whole, "--judge", "openai:w", "--base-url", server.url),
            env=environment(tmp_path),
            capture_output=True,
            check=True,
        )
        with Store.open(whole, create=False) as store:
            last = store.runs.last_id()
            assert last is not None
            assert killed == [
                item.scores for item in store.runs.item_rows(store.runs.item_ids(last))
            ]


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store_with(path, [conversation(f"c{n}", 3) for n in range(12)]).close()
    with willing_server(latency_s=0.01) as server:
        # However slow this machine is, the run is still on when the signal comes.
        server.answers_no_more_than = 10
        process = subprocess.Popen(
            command(path, "--judge", "openai:w", "--base-url", server.url),
            env=environment(tmp_path),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # Who starts the tests in the background of a script has SIGINT ignored for them all.
            preexec_fn=_interruptible,
        )
        while server.answered < 10 and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "faithtui run --resume 1" in told
    assert "Traceback" not in told
    with Store.open(path, create=False) as store:
        assert store.runs.rows()[0].state is RunState.CANCELLED
