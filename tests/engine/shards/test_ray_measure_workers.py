"""Shards on a real Ray of this machine: two workers, one of them killed in the middle."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faithtui import measure_shards
from faithtui.errors import ConfigError
from tests.engine.building import conversation
from tests.engine.shards.shard_files import read_rows, read_tables, write_lines
from tests.judges.fake_server import AnsweringServer, answering_server

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None and "FAITHTUI_RAY" not in os.environ,
    reason="Ray is not installed; .ci/wide runs this in an environment of its own",
)
CONCURRENCY = 2
MARK = "FAITHTUI_TEST_OF_RAY"


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_extra_is_named_before_anything_is_written(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl")
    with pytest.raises(ConfigError, match=r"pip install 'faithtui\[ray\]'"):
        measure_shards(tmp_path, tmp_path / "r", on="ray")
    assert not (tmp_path / "r").exists()


def test_an_address_of_a_cluster_goes_with_ray_alone(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl")
    with pytest.raises(ConfigError, match="--ray-address goes with --on ray"):
        measure_shards(tmp_path, tmp_path / "r", ray_address="auto")


def write_source(folder: Path) -> Path:
    for number in range(4):
        write_lines(
            folder / f"{number}.jsonl", [conversation(f"{number}-{n}", 2) for n in range(12)]
        )
    return folder


@contextmanager
def started(
    source: Path, results: Path, server: AnsweringServer, *words: str
) -> Iterator[subprocess.Popen[str]]:
    """Start the command; it and all that it begins carry the mark of this test."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "faithtui", "measure", str(source), "-o", str(results)),
            *("--judge", "openai:m", "--base-url", server.url, "--json"),
            *("--concurrency", str(CONCURRENCY), "--on", "ray", "--workers", "2", *words),
        ],
        env={**os.environ, MARK: str(results), "FAITHTUI_HOME": str(results.parent / "home")},
        stdout=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, an interrupt is ignored, and Python
        # leaves it so.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def list_workers(results: Path) -> list[int]:
    """List the processes of this test that measure shards."""
    mark = f"{MARK}={results}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            is_worker = b"_ShardActor" in (folder / "cmdline").read_bytes()
            if is_worker and mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def measure_here(source: Path, results: Path, server: AnsweringServer) -> Counter[str]:
    """Measure on one machine, and give what was asked."""
    assert measure_shards(source, results, judge="openai:m", base_url=server.url).is_whole
    asked = Counter(server.answers)
    server.answers.clear()
    return asked


def read_json(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate()
    return json.loads(out)


def check_equal(tables: Sequence[Path]) -> None:
    first, second = map(read_tables, tables)
    assert first == second


@pytest.mark.parametrize("is_killed", [False, True], ids=["undisturbed", "killed"])
@needs_ray
@pytest.mark.thorough
def test_two_workers_of_ray_give_what_one_machine_gives(tmp_path: Path, is_killed: bool) -> None:
    source, results = write_source(tmp_path / "s"), tmp_path / "r"
    with answering_server(0.02) as server:
        expected = measure_here(source, tmp_path / "one", server)
        with started(source, results, server, "--budget-tokens", "50000000") as process:
            if is_killed:
                while server.answered < expected.total() // 3:
                    assert process.poll() is None
                    time.sleep(0.01)
                os.kill(list_workers(results)[0], signal.SIGKILL)
            summary = read_json(process)
            assert process.returncode == 0
        assert (summary["shards"], summary["whole"]) == (4, 4)
        check_equal([results, tmp_path / "one"])
        again = server.answers - expected
        # What was on its way when the worker was killed was never heard by anybody.
        assert again.total() <= (CONCURRENCY if is_killed else 0)
        assert not expected - server.answers
    assert len(read_rows(results, "replies")) == expected.total()


@needs_ray
@pytest.mark.thorough
def test_one_budget_counts_for_both_workers(tmp_path: Path) -> None:
    source, results = write_source(tmp_path / "s"), tmp_path / "r"
    with answering_server() as server:
        with started(source, results, server, "--budget-tokens", "9000") as process:
            summary = read_json(process)
            assert process.returncode == 5
        assert summary["whole"] < 4
        assert any(
            "budget of 9,000 tokens" in (each["problem"] or "") for each in summary["outcomes"]
        )
        assert 0 < 110 * server.answered <= 9000


@needs_ray
@pytest.mark.thorough
def test_an_interrupt_ends_the_asking_and_the_next_command_goes_on(tmp_path: Path) -> None:
    source, results = write_source(tmp_path / "s"), tmp_path / "r"
    with answering_server(0.02) as server:
        expected = measure_here(source, tmp_path / "one", server)
        with started(source, results, server) as process:
            while server.answered < 20:
                assert process.poll() is None
                time.sleep(0.01)
            # However late it hears of it, most questions are still to be asked.
            server.latency_s = 1.0
            process.send_signal(signal.SIGINT)
            assert read_json(process)["whole"] < 4
            assert process.returncode == 5
        server.latency_s = 0.0
        assert measure_shards(
            source, results, judge="openai:m", base_url=server.url, concurrency=CONCURRENCY
        ).is_whole
        assert Counter(server.answers) == expected
    check_equal([results, tmp_path / "one"])
