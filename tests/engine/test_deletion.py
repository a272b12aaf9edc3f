"""What stands against deleting: runs that are on, and questions that are out."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.engine import deletion
from faithtui.engine.batches.files import export_questions
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import StoreError
from faithtui.store.records import CallContext, ItemState, RunState, StoredReply, WorkerRow
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a", 2), conversation("b", 1)]) as found:
        yield found


def delete(plan: deletion.DeletionPlan) -> None:
    plan.delete_if_unchanged_and_idle(plan.count_rows())


def worker_of(run: RunId) -> WorkerRow:
    """This process, as one that works on a run."""
    now = utc_now()
    return WorkerRow("me", socket.gethostname(), os.getpid(), 0, now, run, None, now)


def test_a_run_that_began_while_somebody_thought_it_over_is_not_deleted(store: Store) -> None:
    run = planned(store)
    plans = [
        deletion.plan_run_deletion(store, run, "ann"),
        deletion.plan_dataset_deletion(store, "parcels", "ann"),
    ]
    counts = [plan.count_rows() for plan in plans]
    store.workers.add_worker(worker_of(run))
    for plan, counted in zip(plans, counts, strict=True):
        with pytest.raises(StoreError, match=f"run {run} went on since it was looked at"):
            plan.delete_if_unchanged_and_idle(counted)
    assert store.conversations.count() == 2
    assert len(store.runs.list_runs()) == 1
    store.workers.remove_worker_and_leases("me")
    plans[1].delete_if_unchanged_and_idle(counts[1])
    assert store.conversations.count() == 0


async def test_a_run_handed_to_a_provider_meanwhile_is_not_deleted(
    store: Store, tmp_path: Path
) -> None:
    run = run_planner.save_planned_run(store, RunRequest(judge="vllm:w"), environ={})
    plan = deletion.plan_run_deletion(store, run, "ann")
    counts = plan.count_rows()
    assert await export_questions(store, run, tmp_path / "questions.jsonl")
    with pytest.raises(StoreError, match=f"run {run} went on since"):
        plan.delete_if_unchanged_and_idle(counts)


def test_what_changed_since_it_was_counted_is_not_deleted(store: Store) -> None:
    plan = deletion.plan_dataset_deletion(store, "parcels", "ann")
    counts = plan.count_rows()
    planned(store)
    with pytest.raises(StoreError, match="changed since it was counted"):
        plan.delete_if_unchanged_and_idle(counts)
    assert store.conversations.count() == 2
    assert store.deletions.list_deletions() == ()


async def test_questions_that_are_out_are_waited_for(store: Store, tmp_path: Path) -> None:
    run = run_planner.save_planned_run(store, RunRequest(judge="vllm:w"), environ={})
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
    store.workers.add_worker(
        WorkerRow("gone", socket.gethostname(), gone.pid, 0, now, run, None, now)
    )
    delete(deletion.plan_run_deletion(store, run, "ann"))
    assert store.runs.list_runs() == ()
    assert store.workers.list_workers([run]) == ()


async def test_replies_that_the_store_did_not_take_go_with_their_run(store: Store) -> None:
    run = planned(store)
    item, _ = store.runs.list_item_ids(run)
    asked = CallContext("key", "offline", "verdicts", run=run, item=item)
    reply = StoredReply("a reply", "complete", False, 1, 1, None, None, None, 5)
    unstored = UnstoredReplies(store.path)
    unstored.save_reply_to_file(asked, reply)
    assert unstored.folder_used is not None
    delete(deletion.plan_run_deletion(store, run, "ann"))
    assert not unstored.folder_used.exists()
    assert store.calls.find_usable_reply("key") is None


async def test_a_run_that_judges_claims_of_a_deleted_one_says_so(store: Store) -> None:
    first = planned(store)
    await runner.execute_run(store, first, lambda event: None, judge=opened(CountingJudge()))
    second = planned(store, claims_run=first)
    delete(deletion.plan_run_deletion(store, first, "ann"))
    await runner.execute_run(store, second, lambda event: None, judge=opened(CountingJudge()))
    assert store.run_contents.count_conversations_by_state_reason(second, ItemState.SKIPPED) == {
        "the run whose claims it judges was deleted": 2
    }


def test_counting_and_deleting_say_the_same(store: Store) -> None:
    meant = deletion.plan_dataset_deletion(store, "parcels", "ann")
    counts = meant.count_rows()
    assert counts["conversations"] == 2
    assert store.conversations.count() == 2
    done = meant.delete_if_unchanged_and_idle(counts)
    assert (dict(done.counts), done.remains) == (counts, None)
    assert store.conversations.count() == 0
