import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.calls.send import CallCounts
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.events import RunEnded, RunEvent, RunProgress
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_log import make_logging_sink, redact_reason
from faithtui.errors import JudgeAuthFailed, JudgeRefused
from faithtui.judges.base import JudgeRequest
from faithtui.logbook import LOG_FILE, PROMPTS_FILE, close_log, open_log
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with
from tests.judges.fault_server import FaultConfig, Rule, fault_server
from tests.judges.faults import status

KEY = "9f8e7d6c-key-of-no-form"


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "logs"
    open_log(directory, environ={"FAITHTUI_JUDGE_KEY": KEY})
    yield directory
    close_log()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("secret-parcel", 2)]) as made:
        yield made


def lines(logs: Path) -> list[str]:
    return [line.split(" ", 2)[2] for line in (logs / LOG_FILE).read_text().splitlines()]


def run_it(store: Store, run: RunId, judge: CountingJudge) -> None:
    asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(judge)))


def test_a_run_leaves_its_beginning_and_its_end(store: Store, logs: Path) -> None:
    run_it(store, planned(store), CountingJudge())
    first, last = lines(logs)
    assert first.startswith(
        "INFO run 1: started: turn-faithfulness by overlap baseline (offline heuristic) "
        "at its own address"
    )
    assert last.startswith("INFO run 1: done: 1 done, 0 failed, 0 skipped of 1; ")


def test_failures_are_told_by_their_class_and_place(store: Store, logs: Path) -> None:
    def fail(request: JudgeRequest) -> None:
        raise JudgeRefused("cannot say this of secret-parcel", raw="secret-parcel is bad")

    run_it(store, planned(store), CountingJudge(fail))
    told_of = lines(logs)
    assert any(line.startswith("WARNING run 1: item 1, window 0: JudgeRefused") for line in told_of)
    assert "WARNING run 1: item 1 failed" in told_of


def test_why_a_run_stopped_is_told(store: Store, logs: Path) -> None:
    def fail(request: JudgeRequest) -> None:
        raise JudgeAuthFailed("the key is wrong")

    run_it(store, planned(store), CountingJudge(fail))
    assert lines(logs)[-1].startswith("WARNING run 1: stopped (the key is wrong): ")


def test_words_of_a_bug_stay_out_and_ours_stay_in() -> None:
    assert redact_reason("KeyError: 'what Ann asked'") == "KeyError"
    assert redact_reason("StoreError: the disk is gone") == "StoreError: the disk is gone"
    assert (
        redact_reason("no answer from http://x: it is down")
        == "no answer from http://x: it is down"
    )


def test_retries_steps_and_ends_over_a_wire_leave_no_text_and_no_key(
    store: Store, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_JUDGE_KEY", KEY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    busy = Rule((status(529, message="overloaded with $KEY", echo_key=True),), attempts=(1,))
    config = FaultConfig(rules=(busy,), knows=("tool", "text"))

    async def at_once(_seconds: float) -> None:
        await asyncio.sleep(0)

    with fault_server(config) as server:
        run = run_planner.save_planned_run(
            store, RunRequest(judge="openai:m", base_url=f"{server.url}/v1")
        )
        environment = RunEnvironment(sleep=at_once)
        asyncio.run(runner.execute_run(store, run, lambda event: None, environment=environment))
    written = (logs / LOG_FILE).read_text()
    assert "JudgeUnavailable, tried again in" in written
    assert " s after HTTP 529" in written
    assert "asked by tool, schema did not work" in written
    assert "run 1: done: 1 done" in written
    assert KEY not in written
    assert "secret-parcel" not in written
    assert "kilograms" not in written
    assert not (logs / PROMPTS_FILE).exists()


def test_prompts_are_written_where_they_are_asked_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_JUDGE_KEY", KEY)
    logs = tmp_path / "logs"
    open_log(logs, prompts=True)

    def without_parcels(text: str) -> str:
        return text.replace("secret-parcel", "[left out]")

    with fault_server(FaultConfig()) as server:
        environment = RunEnvironment(log_prompts=True, redact=without_parcels)
        order = RunRequest(judge="openai:m", base_url=f"{server.url}/v1")
        run = run_planner.save_planned_run(store, order, environment=environment)
        asyncio.run(runner.execute_run(store, run, lambda event: None, environment=environment))
    close_log()
    written = (logs / PROMPTS_FILE).read_text()
    assert "asked `truths`" in written
    assert "answered `verdicts` (ok)" in written
    assert "[left out]" in written
    assert "secret-parcel" not in written.replace("[left out]", "")
    assert KEY not in written
    assert "left out" not in (logs / LOG_FILE).read_text()


def test_events_are_handed_on_as_they_are(store: Store) -> None:
    heard: list[RunEvent] = []
    sink = make_logging_sink(heard.append, store.runs.read_run(planned(store)), CallCounts())
    event = RunEnded(RunId(1), RunState.DONE, None, RunProgress())
    sink(event)
    assert heard == [event]
