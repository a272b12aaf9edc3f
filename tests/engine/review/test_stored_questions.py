"""Questions are put together again from what is stored: word for word, or not at all."""

import asyncio
from dataclasses import replace
from pathlib import Path

from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.calls.reply_cache import compute_question_key
from faithtui.engine.review.stored_questions import rebuild_questions
from faithtui.engine.runs import runner
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with


def judged(store: Store, judge: CountingJudge) -> tuple[RunId, ItemId]:
    run = planned(store)
    asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(judge)))
    return run, store.runs.list_item_ids(run)[0]


def test_each_call_gets_the_question_that_was_asked(tmp_path: Path) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 6)]) as store:
        judge = CountingJudge()
        run, item = judged(store, judge)
        calls = store.calls.list_item_calls(item)
        before = store.count_rows()
        found = rebuild_questions(store, item, calls)
        assert found.problem is None
        assert set(found.requests) == {call.id for call in calls}
        fingerprint = store.runs.read_run(run).spec.judge_fingerprint
        for call in calls:
            request = found.requests[call.id]
            assert request.step == call.step
            assert compute_question_key(fingerprint, request) == call.key
        assert store.count_rows() == before, "nothing is written"


def test_a_question_asked_afresh_is_known_by_its_repetition(tmp_path: Path) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 2)]) as store:
        run, item = judged(store, CountingJudge())
        call = store.calls.list_item_calls(item)[-1]
        request = rebuild_questions(store, item, [call]).requests[call.id]
        again = replace(request, replicate=100)
        key = compute_question_key(store.runs.read_run(run).spec.judge_fingerprint, again)
        fresh = replace(call, id=99, key=key, replicate=100)
        assert rebuild_questions(store, item, [fresh]).requests == {99: again}


def test_what_cannot_be_put_together_is_left_out_and_the_reason_said(tmp_path: Path) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 2)]) as store:
        _, item = judged(store, CountingJudge())
        calls = store.calls.list_item_calls(item)
        other = replace(calls[0], id=77, key="0" * 64)
        found = rebuild_questions(store, item, [*calls, other])
        assert 77 not in found.requests
        assert len(found.requests) == len(calls)
        assert "comes out differently" in str(found.problem)
        assert rebuild_questions(store, item, []).problem is None


def test_replies_that_were_asked_for_another_run_are_listed_with_their_origin(
    tmp_path: Path,
) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 3)]) as store:
        first, item = judged(store, CountingJudge())
        assert rebuild_questions(store, item, store.calls.list_item_calls(item)).reused == ()
        judge = CountingJudge()
        run = planned(store, options={"penalize_ambiguous_claims": True})
        asyncio.run(runner.execute_run(store, run, lambda event: None, judge=opened(judge)))
        again = store.runs.list_item_ids(run)[0]
        own = store.calls.list_item_calls(again)
        found = rebuild_questions(store, again, own)
        assert found.problem is None
        assert len(found.reused) == len(store.calls.list_item_calls(item)) - len(own)
        before = {call.key: call for call in store.calls.list_item_calls(item)}
        for call in found.reused:
            assert call.is_reused
            assert (call.run, call.item, call.conversation) == (first, item, "a")
            assert call.reply == before[call.key].reply
            assert found.requests[call.id].step == call.step
        verdicts = [call.window for call in found.reused if call.step == "verdicts"]
        assert verdicts == [before[call.key].window for call in found.reused
                            if call.step == "verdicts"]  # fmt: skip


class ServedJudge(CountingJudge):
    """Says which model served its replies."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        return replace(await super().send(request), served_model="m-2026-05")


def test_a_run_of_stored_replies_alone_names_the_model_that_gave_them(tmp_path: Path) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 3), conversation("b", 2)]) as store:
        first, _ = judged(store, ServedJudge())
        silent = CountingJudge()
        again, _ = judged(store, silent)
        assert silent.asked == []
        assert store.runs.read_run(again).calls == 0
        for run in (first, again):
            assert store.calls.list_served_models(run) == ("m-2026-05",)
