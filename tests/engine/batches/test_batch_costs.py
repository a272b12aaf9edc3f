"""What batches cost: within the budget, at their own price, and each question once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.events import RunEvent
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.providers.prices import Price, PriceTable
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.batch_provider import AnsweringJudge, Provider, come_back, judged, provider
from tests.engine.building import conversation, opened, store_with

CONVERSATIONS = [conversation("a", 3), conversation("b", 2)]


@pytest.fixture
def openai() -> Iterator[Provider]:
    with provider("openai") as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", CONVERSATIONS) as found:
        yield found


def silent(event: RunEvent) -> None:
    """Hear nothing."""


@pytest.mark.thorough
async def test_a_question_that_is_stored_is_not_asked(store: Store, openai: Provider) -> None:
    run = openai.plan(store)
    await come_back(store, run)
    sold = openai.sold.copy()
    again = openai.plan(store)
    assert await come_back(store, again) == [RunState.DONE]
    assert openai.sold == sold
    assert judged(store, again) == judged(store, run)


@pytest.mark.thorough
async def test_two_runs_that_share_questions_buy_them_once(store: Store, openai: Provider) -> None:
    openai.batches.polls_until_end = 1
    runs = [openai.plan(store), openai.plan(store, options={"window_size": "1"})]
    for run in runs:
        assert await runner.execute_run(store, run, silent) is RunState.WAITING
    assert "batches of other runs" in (store.runs.read_run(runs[1]).reason or "")
    # The second one reads what the first one bought: nobody has to go back to that.
    assert (await come_back(store, runs[1]))[-1] is RunState.DONE
    assert store.runs.read_run(runs[0]).calls == len(openai.batches.batches[0].requests)
    assert (await come_back(store, runs[0]))[-1] is RunState.DONE
    assert openai.sold_twice == []


@pytest.mark.thorough
async def test_what_one_run_gets_wrong_is_asked_anew_by_another(
    store: Store, openai: Provider
) -> None:
    first = openai.plan(store)
    openai.twist = lambda prompt: "no JSON" if "Parcel a-0" in prompt else None
    await come_back(store, first)
    assert store.runs.read_run(first).failed == 1
    openai.twist = lambda prompt: None
    second = openai.plan(store)
    assert (await come_back(store, second))[-1] is RunState.DONE
    assert store.runs.read_run(second).failed == 0


async def test_a_run_asked_singly_finds_what_batches_brought(
    store: Store, openai: Provider
) -> None:
    await come_back(store, openai.plan(store))
    request = RunRequest(judge="openai:w", base_url=openai.server.url)
    run = run_planner.save_planned_run(store, request, environ={})
    judge = AnsweringJudge()
    judge.fingerprint = store.runs.read_run(run).spec.judge_fingerprint
    await runner.execute_run(store, run, silent, judge=opened(judge))
    assert judge.asked == []


async def test_nothing_is_driven_again_while_nothing_has_come_back(
    store: Store, openai: Provider
) -> None:
    openai.batches.polls_until_end = 3
    run = openai.plan(store)
    await runner.execute_run(store, run, silent)
    events: list[RunEvent] = []
    seen = len(openai.server.sent)
    assert await runner.execute_run(store, run, events.append) is RunState.WAITING
    assert len(openai.server.sent) == seen + 1, "one look at the batch"
    assert events[-1].progress.calls_stored == 0
    assert len(openai.batches.batches) == 1


def priced(someone: Provider) -> RunEnvironment:
    """Let the judge cost a dollar per million tokens, and half of it in a batch."""
    price = Price(judge="openai:w", input=1.0, output=1.0, batch=0.5)
    address = f"{someone.server.url}/v1"
    return RunEnvironment(prices=PriceTable("2026-01-01", {("openai:w", address): price}))


async def test_replies_cost_what_batches_cost(store: Store, openai: Provider) -> None:
    environment = priced(openai)
    run = openai.plan(store, environment=environment)
    await come_back(store, run, environment=environment)
    row = store.runs.read_run(run)
    assert row.calls == openai.sold.total() > 0
    assert row.cost_nusd == row.calls * 150 * 500
    assert row.unpriced_calls == 0
    (item, *_) = store.runs.list_item_ids(run)
    reply = store.calls.list_item_calls(item)[0].reply
    assert (reply.cost_nusd, reply.prices) == (75_000, "price table, 2026-01-01")
    (batch, *_) = store.batches.find_batches([reply.batch_uid or ""])
    assert batch.run == run


async def test_tokens_the_provider_does_not_say_are_ours_and_marked(
    store: Store, openai: Provider
) -> None:
    openai.usage = None
    environment = priced(openai)
    run = openai.plan(store, environment=environment)
    await come_back(store, run, environment=environment)
    row = store.runs.read_run(run)
    (item, *_) = store.runs.list_item_ids(run)
    assert all(call.reply.estimated for call in store.calls.list_item_calls(item))
    assert row.tokens_in > 0
    assert row.cost_nusd > 0


async def test_a_budget_in_money_is_never_passed_and_nothing_is_lost_to_it(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    environment = priced(openai)
    with store_with(tmp_path / "free.db", CONVERSATIONS) as free, provider("openai") as other:
        whole = other.plan(free)
        await come_back(free, whole)
        expected = judged(free, whole)
    run = openai.plan(store, environment=environment, budget_nusd=1_500_000)
    spent = []
    for _ in range(40):
        state = await runner.execute_run(store, run, silent, environment=environment)
        row, out = store.runs.read_run(run), store.batches.sum_outstanding_of_run(run)
        assert row.cost_nusd + out.nusd_worst <= 1_500_000
        spent.append(row.cost_nusd)
        if state is not RunState.WAITING:
            break
        assert out.questions > 0
    assert state is RunState.STOPPED
    assert "the budget of $0.0015 does not hold another question" in (row.reason or "")
    assert row.calls > 0
    store.runs.set_budget(run, None, None)
    assert (await come_back(store, run, 40, environment=environment))[-1] is RunState.DONE
    assert openai.sold_twice == []
    assert judged(store, run) == expected


async def test_what_the_budget_does_not_hold_now_is_sent_when_answers_cost_less(
    store: Store, openai: Provider
) -> None:
    # Two questions may use up to about 4,000 tokens, and use 150 each.
    run = openai.plan(store, budget_tokens=9_000)
    assert await runner.execute_run(store, run, silent) is RunState.WAITING
    assert "the budget holds no more of them at once" in (store.runs.read_run(run).reason or "")
    first = len(openai.batches.batches[0].requests)
    states = await come_back(store, run, 60)
    assert states[-1] is RunState.DONE
    assert len(openai.batches.batches[0].requests) == first
    assert len(openai.batches.batches) > 3
    assert store.runs.read_run(run).tokens_in + store.runs.read_run(run).tokens_out <= 9_000


async def test_a_run_that_judges_anothers_claims_waits_for_them(
    store: Store, openai: Provider
) -> None:
    first = openai.plan(store)
    second = openai.plan(store, claims_run=first, options={"include_reason": "false"})
    assert await runner.execute_run(store, second, silent) is RunState.WAITING
    assert f"it judges the claims of run {first}" in (store.runs.read_run(second).reason or "")
    assert openai.batches.batches == []
    await come_back(store, first)
    assert (await come_back(store, second))[-1] is RunState.DONE
    assert store.runs.read_run(second).skipped == 0


def test_a_judge_that_is_asked_here_takes_no_batches(store: Store) -> None:
    with pytest.raises(ConfigError, match="offline takes no batches: run without --batch"):
        run_planner.save_planned_run(store, RunRequest(judge="offline", batch=True), environ={})
