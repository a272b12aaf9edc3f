"""Runs by batches: the same results as asked singly, and nothing bought twice or lost."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.engine.batches import submission
from faithtui.engine.runs import runner
from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.events import BatchRead, BatchSent, ItemFinished, RunEnded, RunEvent
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.batch_provider import AnsweringJudge, Provider, come_back, judged, provider
from tests.engine.building import conversation, opened, planned, store_with

CONVERSATIONS = [conversation("a", 3), conversation("b", 1), conversation("c", 2)]


@pytest.fixture(params=["openai", pytest.param("anthropic", marks=pytest.mark.thorough)])
def anyone(request: pytest.FixtureRequest) -> Iterator[Provider]:
    with provider(request.param) as found:
        yield found


@pytest.fixture
def openai() -> Iterator[Provider]:
    with provider("openai") as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", CONVERSATIONS) as found:
        yield found


async def asked_singly(path: Path, **how: object) -> tuple[list[object], AnsweringJudge]:
    """Judge the same conversations question by question, in a store of their own."""
    judge = AnsweringJudge()
    with store_with(path, CONVERSATIONS) as store:
        run = planned(store, **how)
        await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
        return judged(store, run), judge


METRICS = [
    {"metric": "turn-faithfulness"},
    {"metric": "turn-faithfulness", "strategy": "window"},
    {"metric": "turn-faithfulness", "as_peer": True},
    {"metric": "turn-faithfulness", "options": {"async_mode": "false"}},
    {"metric": "turn-contextual-relevancy"},
    {"metric": "ragas-faithfulness"},
    {"metric": "deepevalex-faithfulness"},
]


def shouted(text: str) -> str:
    """Stand in for a redaction hook, with an effect on every text."""
    return text.upper()


@pytest.mark.parametrize("how", METRICS, ids=lambda how: " ".join(map(str, how.values())))
async def test_a_run_by_batches_finds_what_the_same_run_asked_singly_finds(
    store: Store, openai: Provider, tmp_path: Path, how: dict[str, Any]
) -> None:
    expected, judge = await asked_singly(tmp_path / "single.db", **how)
    run = openai.plan(store, **how)
    states = await come_back(store, run, 60)
    assert states[-1] is RunState.DONE
    assert judged(store, run) == expected
    assert sorted(openai.sold.elements()) == sorted(judge.asked)
    row = store.runs.read_run(run)
    assert (row.state, row.reason, row.calls) == (RunState.DONE, None, len(judge.asked))


async def test_both_providers_take_a_run_through_its_waves(
    store: Store, anyone: Provider, tmp_path: Path
) -> None:
    expected, judge = await asked_singly(tmp_path / "single.db")
    run = anyone.plan(store)
    events: list[RunEvent] = []
    states = await come_back(store, run, events=events)
    assert states == [RunState.WAITING] * (len(states) - 1) + [RunState.DONE]
    assert len(anyone.batches.batches) == len(states) - 1 == 3, "read, compare, sum up"
    assert judged(store, run) == expected
    assert sorted(anyone.sold.elements()) == sorted(judge.asked)
    sent = sum(event.questions for event in events if isinstance(event, BatchSent))
    assert sent == len(judge.asked)
    assert len([event for event in events if isinstance(event, BatchRead)]) == 3
    assert len([event for event in events if isinstance(event, ItemFinished)]) == 3
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert (last.progress.done, last.progress.tokens_in) == (3, 120 * len(judge.asked))


async def test_what_is_out_is_told_and_the_run_says_that_it_waits(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    events: list[RunEvent] = []
    assert await runner.execute_run(store, run, events.append) is RunState.WAITING
    row = store.runs.read_run(run)
    out = store.batches.sum_outstanding_of_run(run)
    assert (out.batches, out.questions) == (1, len(openai.batches.batches[0].requests))
    assert row.state is RunState.WAITING
    assert row.reason == f"{out.questions} questions in 1 batch are with the provider"
    assert row.finished_at is None
    assert isinstance(events[-1], RunEnded)
    assert (events[-1].state, events[-1].reason) == (row.state, row.reason)
    assert store.batches.sum_outstanding_by_run() == {run: out}


async def test_prompts_are_logged_as_they_leave_where_that_is_asked_for(
    store: Store, openai: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="faithtui.prompts")
    environment = RunEnvironment(log_prompts=True, redact=shouted)
    run = openai.plan(store, environment=environment)
    states = await come_back(store, run, environment=environment)
    assert states[-1] is RunState.DONE
    calls = store.runs.read_run(run).calls
    lines = [record.getMessage() for record in caplog.records if record.name == "faithtui.prompts"]
    asked = [line for line in lines if " asked `" in line]
    assert len(asked) == len([line for line in lines if " answered `" in line]) == calls
    assert all(line.partition(": ")[2].isupper() for line in asked)


@pytest.mark.parametrize(("name", "most"), [("MOST_QUESTIONS", 2), ("MOST_BYTES", 9_000)])
async def test_batches_hold_no_more_than_they_may(
    store: Store,
    openai: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    most: int,
) -> None:
    monkeypatch.setattr(submission, name, most)
    expected, judge = await asked_singly(tmp_path / "single.db")
    run = openai.plan(store)
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == expected
    assert sorted(openai.sold.elements()) == sorted(judge.asked)
    batches = openai.batches.batches
    assert len(batches) > 3
    if name == "MOST_QUESTIONS":
        assert max(len(each.requests) for each in batches) == 2
    else:
        uploaded = [each for name, each in openai.batches.files.items() if "file" in name]
        assert max(map(len, uploaded)) <= most


async def test_a_question_larger_than_a_batch_fails_its_conversation(
    store: Store, openai: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "MOST_BYTES", 100)
    run = openai.plan(store)
    assert await come_back(store, run) == [RunState.DONE]
    reasons = store.run_contents.count_conversations_by_state_reason(run, ItemState.FAILED)
    assert all("bytes and a batch holds 100" in reason for reason in reasons)
    assert sum(reasons.values()) == len(CONVERSATIONS)


async def test_a_run_cut_short_while_it_was_sent_sends_the_rest_next_time(
    store: Store, openai: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "MOST_QUESTIONS", 2)
    openai.batches.polls_until_end = 99
    run = openai.plan(store)
    cutting: list[asyncio.Task[RunState]] = []

    def cut(event: RunEvent) -> None:
        if isinstance(event, BatchSent):
            cutting[0].cancel()

    cutting.append(asyncio.create_task(runner.execute_run(store, run, cut)))
    with pytest.raises(asyncio.CancelledError):
        await cutting[0]
    row = store.runs.read_run(run)
    assert (row.state, row.reason) == (RunState.WAITING, None)
    assert len(openai.batches.batches) == 1
    assert await runner.execute_run(store, run, lambda event: None) is RunState.WAITING
    batches = openai.batches.batches
    asked = [str(body) for each in batches for body in each.requests.values()]
    assert len(asked) == len(set(asked)) == 12


def test_the_app_takes_a_run_as_far_as_it_goes_and_shows_that_it_waits(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    for number in range(4):
        background = BackgroundRun.resume(store, run)
        assert background.join(30)
        assert background.bug is None
        shown = background.snapshot()
        assert shown.state is (RunState.WAITING if number < 3 else RunState.DONE)
        assert (shown.reason is None) is (number == 3)
    assert shown.progress.done == 3
    integrity = store.runs.read_run(run).integrity
    assert (integrity.checked, integrity.unchecked) == (3, 0)


def test_cancelling_in_the_app_leaves_what_is_out_waiting(store: Store, openai: Provider) -> None:
    openai.batches.polls_until_end = 99
    run = openai.plan(store)
    BackgroundRun.resume(store, run).join(30)
    background = BackgroundRun.resume(store, run)
    background.cancel()
    assert background.join(30)
    assert store.runs.read_run(run).state is RunState.WAITING


async def test_two_processes_at_one_run_do_the_work_once(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    run = openai.plan(store)
    with Store.open(store.path, create=False) as other:
        for _ in range(8):
            states = await asyncio.gather(
                runner.execute_run(store, run, lambda event: None),
                runner.execute_run(other, run, lambda event: None),
            )
            if set(states) == {RunState.DONE}:
                break
    assert store.runs.read_run(run).state is RunState.DONE
    assert openai.sold_twice == []
    assert store.runs.read_run(run).calls == openai.sold.total()
