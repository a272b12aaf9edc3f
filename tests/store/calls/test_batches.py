"""The journal of batches: what is out, what came back, and what counts of it."""

from dataclasses import replace

import pytest

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.calls.batch_records import (
    BY_FILE,
    BatchQuestion,
    BatchState,
    OutstandingBatches,
    QuestionResult,
    RequestState,
    WaitingQuestion,
)
from faithtui.store.records import ItemState, StoredReply
from faithtui.store.store import Store
from tests.store.building import SPEC, make_conversation

REPLY = StoredReply(
    "{}", "ok", True, 10, 5, 2, None, None, 1, cost_nusd=7, prices="2026-01", batch_uid="b1"
)


def question(key: str, item: ItemId | None = None, tries: int = 1) -> BatchQuestion:
    return BatchQuestion(key, "claims", item, 3, tries, 1, True, 100, 400, 900)


@pytest.fixture
def run(store: Store) -> RunId:
    store.conversations.import_batch([make_conversation("a"), make_conversation("b")])
    return store.runs.create(SPEC, store.conversations.list_ids())


def test_a_batch_is_out_from_before_it_is_sent_until_its_results_are_read(
    store: Store, run: RunId
) -> None:
    assert store.batches.sum_outstanding_of_run(run) == OutstandingBatches()
    store.batches.record_batch_with_questions(run, "b1", [question("k1"), question("k2")])
    (row,) = store.batches.list_open_batches(run)
    assert (row.uid, row.state, row.provider_id, row.requests) == (
        "b1",
        BatchState.PLANNED,
        None,
        2,
    )
    assert store.batches.sum_outstanding_of_run(run) == OutstandingBatches(1, 2, 0, 800, 1800)
    store.batches.mark_batch_sent("b1", "batch_7")
    assert store.batches.list_provider_batch_ids() == {"batch_7"}
    assert [each.state for each in store.batches.list_open_batches(run)] == [BatchState.SENT]
    assert store.batches.list_waiting_questions("b1") == {
        number: WaitingQuestion(number, "claims", True, 100) for number in (0, 1)
    }
    store.batches.store_results("b1", [QuestionResult(1, REPLY)])
    assert list(store.batches.list_waiting_questions("b1")) == [0]
    assert store.batches.sum_outstanding_of_run(run) == OutstandingBatches(1, 1, 0, 400, 900)
    assert store.batches.sum_outstanding_by_run() == {run: OutstandingBatches(1, 1, 0, 400, 900)}
    store.batches.close_finished_batch("b1", "JudgeUnavailable: gone")
    assert store.batches.list_open_batches(run) == ()
    assert store.batches.sum_outstanding_by_run() == {}
    last = store.batches.find_last_request_of_question(run, "k1")
    assert last is not None
    assert (last.state, last.reason) == (RequestState.FAILED, "JudgeUnavailable: gone")


def test_a_result_counts_once_however_often_it_is_read(store: Store, run: RunId) -> None:
    item = store.runs.list_item_ids(run)[0]
    store.batches.record_batch_with_questions(run, "b1", [question("k1", item)])
    totals = store.batches.store_results("b1", [QuestionResult(0, REPLY)])
    assert totals is not None
    assert (totals.calls, totals.tokens_in, totals.cost_nusd) == (1, 10, 7)
    assert store.batches.store_results("b1", [QuestionResult(0, REPLY)]) is None
    later = [QuestionResult(0, None, "no"), QuestionResult(9, REPLY)]
    assert store.batches.store_results("b1", later) is None
    assert store.runs.read_run(run).calls == 1
    (call,) = store.calls.list_item_calls(item)
    assert (call.step, call.window, call.replicate, call.usable) == ("claims", 3, 1, False)
    assert call.reply == REPLY


def test_a_reply_is_found_once_it_was_found_usable(store: Store, run: RunId) -> None:
    store.batches.record_batch_with_questions(run, "b1", [question("k1")])
    assert store.calls.find_batch_reply("b1", "k1") is None
    store.batches.store_results("b1", [QuestionResult(0, REPLY)])
    assert store.calls.find_usable_reply("k1") is None
    assert store.calls.find_batch_reply("b1", "k1") == REPLY
    store.batches.mark_reply_usable("b1", "k1")
    assert store.calls.find_usable_reply("k1") == REPLY


def test_the_place_that_counts_is_the_one_nearest_to_an_answer(store: Store, run: RunId) -> None:
    other = store.runs.create(SPEC, store.conversations.list_ids())

    def state(of: RunId = run) -> tuple[RequestState, str, int] | None:
        last = store.batches.find_last_request_of_question(of, "k1")
        return None if last is None else (last.state, last.batch, last.tries)

    assert state() is None
    store.batches.record_batch_with_questions(run, "b0", [question("k1")])
    store.batches.close_failed_batch("b0", "never came")
    assert state() is None, "as if it had never been asked"
    store.batches.record_batch_with_questions(run, "b1", [question("k1")])
    store.batches.close_finished_batch("b1", "no")
    assert state() == (RequestState.FAILED, "b1", 1)
    assert state(other) is None, "what fails another run says nothing"
    store.batches.record_batch_with_questions(run, "b2", [question("k1", tries=2)])
    assert state() == (RequestState.WAITING, "b2", 2)
    assert state(other) == (RequestState.WAITING, "b2", 2)
    store.batches.close_finished_batch("b2", "no")
    assert state() == (RequestState.FAILED, "b2", 2)
    store.batches.record_batch_with_questions(run, "b3", [question("k1", tries=3)])
    store.batches.store_results("b3", [QuestionResult(0, replace(REPLY, batch_uid="b3"))])
    assert state() == (RequestState.ANSWERED, "b3", 3)
    assert state(other) == (RequestState.ANSWERED, "b3", 3)
    store.batches.mark_reply_unusable("b3", 0)
    assert state() == (RequestState.UNUSABLE, "b3", 3)
    assert state(other) is None
    store.batches.record_batch_with_questions(other, "b4", [question("k1")])
    assert state() == (RequestState.WAITING, "b4", 1)


def test_what_came_to_nothing_is_forgotten_for_some_conversations(store: Store, run: RunId) -> None:
    first, second = store.runs.list_item_ids(run)
    asked = [question("k1", first), question("k2", second), question("k3", first)]
    store.batches.record_batch_with_questions(run, "b1", asked)
    store.batches.store_results("b1", [QuestionResult(2, REPLY)])
    store.batches.close_finished_batch("b1", "no")
    for item in (first, second):
        store.runs.score_and_finish_item(item, ItemState.FAILED, "no")
    store.runs.reopen_failed_or_incomplete_items(run, [first])
    assert store.batches.find_last_request_of_question(run, "k1") is None
    assert store.batches.find_last_request_of_question(run, "k2") is not None
    kept = store.batches.find_last_request_of_question(run, "k3")
    assert kept is not None
    assert kept.state is RequestState.ANSWERED


def test_files_count_as_out_and_have_no_name_at_a_provider(store: Store, run: RunId) -> None:
    store.batches.record_batch_with_questions(run, "b1", [question("k1")], provider_id=BY_FILE)
    assert store.batches.list_provider_batch_ids() == frozenset()
    assert store.batches.sum_outstanding_of_run(run).by_file == 1
    assert [row.uid for row in store.batches.find_batches(["b1", "b9"])] == ["b1"]
    store.batches.close_failed_batch("b1", "lost")
    (row,) = store.batches.list_failed_batches(run)
    assert (row.state, row.reason) == (BatchState.FAILED, "lost")
