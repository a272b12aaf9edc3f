"""What stands against deleting: runs that are on, and questions that are out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine import deleting, planner, runner
from faithtui.engine.batch_files import export_questions
from faithtui.engine.requests import RunRequest
from faithtui.errors import StoreError
from faithtui.store.records import ItemState
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a", 2), conversation("b", 1)]) as found:
        yield found


async def test_questions_that_are_out_are_waited_for(store: Store, tmp_path: Path) -> None:
    run = planner.plan(store, RunRequest(judge="vllm:w"), environ={})
    assert await export_questions(store, run, tmp_path / "questions.jsonl")
    words = f"call them back with `faithtui batch cancel {run}`"
    with pytest.raises(StoreError, match=words):
        deleting.run(store, run, "ann")
    with pytest.raises(StoreError, match=words):
        deleting.dataset(store, "parcels", "ann")
    assert store.conversations.count() == 2


async def test_a_run_that_judges_claims_of_a_deleted_one_says_so(store: Store) -> None:
    first = planned(store)
    await runner.execute(store, first, lambda event: None, judge=opened(CountingJudge()))
    second = planned(store, claims_run=first)
    deleting.run(store, first, "ann").delete()
    await runner.execute(store, second, lambda event: None, judge=opened(CountingJudge()))
    assert store.runs.reasons(second, ItemState.SKIPPED) == {
        "the run whose claims it judges was deleted": 2
    }


def test_counting_and_deleting_say_the_same(store: Store) -> None:
    meant = deleting.dataset(store, "parcels", "ann")
    counts = meant.count()
    assert counts["conversations"] == 2
    assert store.conversations.count() == 2
    done = meant.delete()
    assert (dict(done.counts), done.remains) == (counts, None)
    assert store.conversations.count() == 0
