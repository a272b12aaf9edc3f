"""Asking about one claim again on purpose."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.ids import ClaimId
from faithtui.engine.review.re_ask import re_ask_claim_and_store_verdict
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import StoreError
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.metrics.registry import METRICS
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a", 3)]) as found:
        yield found


class Doubting(CountingJudge):
    """Says no to everything it is asked about."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        reply = await super().send(request)
        said = json.loads(reply.text)
        return JudgeReply(
            json.dumps(
                {
                    name: each | {"verdict": "no", "sufficient": [], "contradicts": ["t0"]}
                    for name, each in said.items()
                }
            ),
            usage=reply.usage,
            structured=True,
        )


async def test_only_the_verdict_of_the_claim_is_asked_for_again(store: Store) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    (item,) = store.runs.list_item_ids(run)
    before = store.runs.read_conversation_for_review(item, "me")
    claim = before.claims[1]
    judge = Doubting()
    fresh = await re_ask_claim_and_store_verdict(
        store, item, claim.id, asked_by="me", judge=opened(judge)
    )
    assert [request.step for request in judge.asked] == ["verdicts"]
    assert claim.text in judge.asked[0].prompt
    assert before.claims[0].text not in json.dumps(
        [list(group.claims) for group in judge.asked[0].task.groups]  # type: ignore[union-attr]
    )
    assert (claim.first_window_verdict.label, fresh.label, fresh.asked_by) == ("yes", "no", "me")
    after = store.runs.read_conversation_for_review(item, "me")
    assert after.claims == before.claims
    assert store.calls.list_re_asked_verdicts(item) == (fresh,)


async def test_each_time_is_a_question_of_its_own(store: Store) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    (item,) = store.runs.list_item_ids(run)
    claim = store.runs.read_conversation_for_review(item, "me").claims[0].id
    labels = []
    for judge in (Doubting(), CountingJudge(), Doubting()):
        fresh = await re_ask_claim_and_store_verdict(
            store, item, claim, asked_by="me", judge=opened(judge)
        )
        assert len(judge.asked) == 1
        labels.append(fresh.label)
    assert labels == ["no", "yes", "no"]
    assert [each.label for each in store.calls.list_re_asked_verdicts(item)] == labels
    assert len({each.replicate for each in store.calls.list_re_asked_verdicts(item)}) == 3


async def test_a_claim_that_is_not_there_is_an_error(store: Store) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    (item,) = store.runs.list_item_ids(run)
    with pytest.raises(StoreError, match="no claim 999"):
        await re_ask_claim_and_store_verdict(
            store, item, ClaimId(999), asked_by="me", judge=opened(Doubting())
        )


@pytest.mark.parametrize("metric", [each.spec.key for each in METRICS])
@pytest.mark.parametrize("strategy", ["evidence", "window"])
async def test_a_judge_that_always_says_the_same_says_it_again(
    store: Store, metric: str, strategy: str
) -> None:
    run = run_planner.save_planned_run(store, RunRequest(metric=metric, strategy=strategy))
    await runner.execute_run(store, run, lambda event: None)
    (item,) = store.runs.list_item_ids(run)
    calls = store.runs.read_run(run).calls
    for claim in store.runs.read_conversation_for_review(item, "me").claims:
        fresh = await re_ask_claim_and_store_verdict(store, item, claim.id, asked_by="me")
        assert fresh.label == claim.first_window_verdict.label
        assert store.runs.read_run(run).calls > calls
        calls = store.runs.read_run(run).calls
