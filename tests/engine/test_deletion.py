"""What stands against deleting: runs that are on, and questions that are out."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine import deletion, planner, runner
from faithtui.engine.batch_files import export_questions
from faithtui.engine.requests import RunRequest
from faithtui.engine.unstored_replies import UnstoredReplies
from faithtui.errors import StoreError
from faithtui.store.records import AskedReply, ItemState, RunState, StoredReply, WorkerRow
from faithtui.store.store import Store, utc_now
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
        deletion.plan_run_deletion(store, run, "ann")
    with pytest.raises(StoreError, match=words):
        deletion.plan_dataset_deletion(store, "parcels", "ann")
    assert store.conversations.count() == 2


async def test_a_run_whose_process_was_killed_is_deleted_with_what_the_process_left(
    store: Store,
) -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    run = planned(store)
    store.runs.set_state(run, RunState.RUNNING)
    now = utc_now()
    store.calls.begin(WorkerRow("gone", socket.gethostname(), gone.pid, 0, now, run, None, now))
    deletion.plan_run_deletion(store, run, "ann").delete()
    assert store.runs.rows() == ()
    assert store.calls.workers([run]) == ()


async def test_replies_that_the_store_did_not_take_go_with_their_run(store: Store) -> None:
    run = planned(store)
    item, _ = store.runs.item_ids(run)
    asked = AskedReply("key", "offline", "verdicts", run=run, item=item)
    reply = StoredReply("a reply", "complete", False, 1, 1, None, None, None, 5)
    unstored = UnstoredReplies(store.path)
    unstored.add(asked, reply)
    assert unstored.kept is not None
    deletion.plan_run_deletion(store, run, "ann").delete()
    assert not unstored.kept.exists()
    assert store.calls.reply("key") is None


async def test_a_run_that_judges_claims_of_a_deleted_one_says_so(store: Store) -> None:
    first = planned(store)
    await runner.execute(store, first, lambda event: None, judge=opened(CountingJudge()))
    second = planned(store, claims_run=first)
    deletion.plan_run_deletion(store, first, "ann").delete()
    await runner.execute(store, second, lambda event: None, judge=opened(CountingJudge()))
    assert store.runs.reasons(second, ItemState.SKIPPED) == {
        "the run whose claims it judges was deleted": 2
    }


def test_counting_and_deleting_say_the_same(store: Store) -> None:
    meant = deletion.plan_dataset_deletion(store, "parcels", "ann")
    counts = meant.count()
    assert counts["conversations"] == 2
    assert store.conversations.count() == 2
    done = meant.delete()
    assert (dict(done.counts), done.remains) == (counts, None)
    assert store.conversations.count() == 0
