"""`faithtui measure` killed by the system at several moments, and given again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.engine.building import conversation
from tests.engine.shards.shard_files import read_tables, write_lines
from tests.judges.fake_server import AnsweringServer, answering_server

CONCURRENCY = 2


def start(
    source: Path, results: Path, server: AnsweringServer, *words: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "faithtui", "measure", str(source), "-o", str(results)),
            *("--judge", "openai:m", "--base-url", server.url, "--json"),
            *("--concurrency", str(CONCURRENCY), *words),
        ],
        env={**os.environ, "FAITHTUI_HOME": str(results.parent / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def wait_for_answers(process: subprocess.Popen[str], server: AnsweringServer, count: int) -> None:
    while server.answered < count:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.002)


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(), ("--workers", "2")], ids=["one", "two-workers"])
def test_killed_at_any_moment_it_goes_on_and_buys_nothing_twice(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    source, results = tmp_path / "s", tmp_path / "r"
    for number in range(3):
        write_lines(
            source / f"{number}.jsonl", [conversation(f"{number}-{n}", 2) for n in range(6)]
        )
    with answering_server(0.02) as server:
        undisturbed = start(source, tmp_path / "whole", server, *words)
        undisturbed.communicate()
        assert undisturbed.returncode == 0
        expected = Counter(server.answers)
        server.answers.clear()
        kills = 0
        for part in (0.1, 0.3, 0.5, 0.8, 0.95):
            process = start(source, results, server, *words)
            wait_for_answers(process, server, int(part * expected.total()))
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
        last = start(source, results, server, *words)
        summary = json.loads(last.communicate()[0])
        assert last.returncode == 0
        again = server.answers - expected
        assert not expected - server.answers
    assert (summary["shards"], summary["whole"]) == (3, 3)
    assert read_tables(results) == read_tables(tmp_path / "whole")
    # What was on its way at the moment of a kill was heard by nobody.
    workers = 2 if words else 1
    assert again.total() <= kills * CONCURRENCY * workers
