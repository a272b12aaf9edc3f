"""F01 to F05: a provider that finds requests too many, too expensive, or not ours to make."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.engine.runs.events import RunEnded
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.store.records import RunState
from tests.engine.faulty_runs import STEPS, environment, filled, judged, providers
from tests.judges.fault_server import FaultConfig, Rule, fault_server
from tests.judges.faults import FAULTS, Fault
from tests.judges.questions import KEY

FIRST_TRY = (1,)
CONCURRENCY = 4


@providers
async def test_f01_every_question_waits_the_second_it_is_told_and_is_asked_once_more(
    tmp_path: Path, provider: str
) -> None:
    config = FaultConfig(rules=(Rule(FAULTS["F01"], attempts=FIRST_TRY),))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with fault_server(config) as server, filled(tmp_path / "s.db", 2) as store:
        ran = await judged(store, server, provider, environment=RunEnvironment(sleep=sleep))
    assert (ran.state, ran.row.done) == (RunState.DONE, 2)
    assert len(ran.entries) == 2 * len(ran.questions) == 2 * 2 * STEPS
    assert slept == [1.0] * 2 * STEPS


@pytest.mark.thorough
@pytest.mark.parametrize(
    "config",
    [
        pytest.param(FaultConfig(latency_s=0.05, max_in_flight=8), id="in flight"),
        pytest.param(FaultConfig(latency_s=0.05, per_second=40), id="a second"),
        pytest.param(FaultConfig(rules=(Rule(FAULTS["F02"], probability=0.3),)), id="whatever"),
    ],
)
async def test_f02_a_limit_that_nobody_names_loses_nothing(
    tmp_path: Path, config: FaultConfig
) -> None:
    # How close to the limit a long run comes is measured in tests/benchmarks/test_overhead.py.
    with fault_server(config) as server, filled(tmp_path / "s.db", 20) as store:
        ran = await judged(store, server, concurrency=64, environment=RunEnvironment())
    assert (ran.state, ran.row.done, ran.row.failed) == (RunState.DONE, 20, 0)
    assert ran.kinds["ok"] == len(ran.questions) == 20 * STEPS
    # How often a limit on speed is met is a matter of speed: only the last one refuses for certain.
    refused = len(ran.entries) - ran.kinds["ok"]
    assert len(ran.retries) == refused
    assert refused or not config.rules


@providers
@pytest.mark.parametrize("fault", FAULTS["F03"], ids=["3600", "a date"])
async def test_f03_a_wait_of_an_hour_stops_the_run_at_once_and_it_goes_on_later(
    tmp_path: Path, provider: str, fault: Fault
) -> None:
    config = FaultConfig(rules=(Rule((fault,)),))
    with fault_server(config) as server, filled(tmp_path / "s.db", 6) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
        assert ran.state is RunState.STOPPED
        assert re.search(
            r"left alone for (60 min; ask again|more than a year; choose)", ran.row.reason or ""
        )
        assert (ran.row.pending, ran.row.failed) == (6, 0)
        assert 1 <= len(ran.entries) <= CONCURRENCY
        assert not ran.retries

        server.config.rules = ()
        later = await judged(store, server, provider, run=ran.run)
    assert (later.state, later.row.done) == (RunState.DONE, 6)
    assert len(later.entries) == 6 * STEPS


@providers
@pytest.mark.parametrize("fault", FAULTS["F04"], ids=lambda fault: fault.code)
async def test_f04_no_money_left_stops_the_run_and_fails_nothing(
    tmp_path: Path, provider: str, fault: Fault
) -> None:
    with fault_server() as server, filled(tmp_path / "s.db", 12) as store:
        # Some way into the run, with every place taken.
        server.config.latency_s = 0.02
        server.config.rules = (Rule((Fault("extra_fields"),), most=8), Rule((fault,)))
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
        assert ran.state is RunState.STOPPED
        assert "Add credit or raise the limit" in (ran.row.reason or "")
        assert (ran.row.failed, ran.row.failed_windows) == (0, 0)
        assert ran.row.pending + ran.row.done == 12
        assert 1 <= ran.kinds[fault.name] <= CONCURRENCY
        assert isinstance(ran.events[-1], RunEnded)
        assert ran.events[-1].reason == ran.row.reason

        server.config.rules = ()
        later = await judged(store, server, provider, run=ran.run)
    assert later.row.done == 12
    assert max(server.billed.values()) == 1, "what was paid for before is not paid for again"


@providers
@pytest.mark.parametrize("fault", FAULTS["F05"], ids=lambda fault: str(fault.status))
async def test_f05_a_wrong_key_stops_the_run_before_the_second_round(
    tmp_path: Path, provider: str, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    config = FaultConfig(rules=(Rule((fault,)),))
    with fault_server(config) as server, filled(tmp_path / "s.db", 12) as store:
        ran = await judged(store, server, provider, concurrency=CONCURRENCY)
    assert ran.state is RunState.STOPPED
    assert "Check the key in FAITHTUI_JUDGE_KEY" in (ran.row.reason or "")
    assert (ran.row.pending, ran.row.failed) == (12, 0)
    assert 1 <= len(ran.entries) <= CONCURRENCY
    assert KEY not in f"{ran.events}{ran.row}{caplog.text}"
    assert places_of(KEY, tmp_path) == []


async def test_f05_a_key_that_is_said_back_is_in_no_file_and_on_no_screen(tmp_path: Path) -> None:
    config = FaultConfig(rules=(Rule((Fault("status", 401, echo_key=True),)),))
    path = tmp_path / "s.db"
    filled(path, 3).close()
    said = []
    with fault_server(config) as server:
        words = ("run", "--judge", "openai:m", "--base-url", server.url)
        for command in (words, ("show", "last"), ("export", "labels")):
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-m", "faithtui", "--store", str(path), *command],
                env={**environment(tmp_path / "home"), "FAITHTUI_JUDGE_KEY": KEY},
                capture_output=True,
                text=True,
                check=False,
            )
            said.append(done.stdout + done.stderr)
        assert server.kinds == {"status 401": len(server.entries)}
    assert "401" in said[0]
    assert KEY not in "".join(said)
    assert places_of(KEY, tmp_path) == []


def places_of(word: str, folder: Path) -> list[Path]:
    """Find the files that hold a word, in whatever encoding it is there."""
    wanted = word.encode()
    return [path for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]
