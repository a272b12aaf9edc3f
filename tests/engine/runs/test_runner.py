import asyncio
import gc
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreState
from faithtui.engine.review.run_prompts import (
    compare_prompts,
    list_prompt_sets,
    read_run_prompts_with_examples,
)
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import (
    Draining,
    ItemFinished,
    RunEnded,
    RunEvent,
    RunStarted,
    StoreTroubled,
    WindowAssessed,
    WindowFailed,
)
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import (
    JudgeAuthFailed,
    JudgeRequestRejected,
    StoreBusy,
    StoreError,
)
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.store.records import ItemState, RunState, RunTotals
from faithtui.store.store import Store
from tests.engine.building import (
    CountingJudge,
    conversation,
    failing,
    opened,
    planned,
    store_with,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a", 3), conversation("b", 1)]) as found:
        yield found


async def test_a_run_judges_everything_and_says_so_in_totals(store: Store) -> None:
    run = planned(store)
    events: list[RunEvent] = []

    state = await runner.execute_run(store, run, events.append, judge=opened(CountingJudge()))

    assert state is RunState.DONE
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert [type(event) for event in events].count(WindowAssessed) == 4
    assert [type(event) for event in events].count(ItemFinished) == 2
    last = events[-1].progress
    assert (last.conversations, last.done, last.failed, last.windows) == (2, 2, 0, 4)
    assert last.tokens_in == 7 * last.calls
    row = store.runs.read_run(run)
    assert (row.state, row.done, row.windows, row.score) == (RunState.DONE, 2, 4, 1.0)


async def test_an_event_comes_after_its_rows(store: Store) -> None:
    run = planned(store)
    seen: list[bool] = []

    def look(event: RunEvent) -> None:
        if isinstance(event, WindowAssessed):
            view = store.runs.read_conversation_for_review(event.item, "ann")
            seen.append(event.window in [window.position for window in view.windows])

    await runner.execute_run(store, run, look, judge=opened(CountingJudge()))

    assert seen == [True] * 4


async def test_an_evidence_run_reads_each_interaction_once_and_compares_neighbours_together(
    store: Store,
) -> None:
    judge = CountingJudge()
    await runner.execute_run(store, planned(store), lambda event: None, judge=opened(judge))
    read, compared, reasons = 2 * (3 + 1), 2 + 1, 1
    assert len(judge.asked) == read + compared + reasons, "the two final reasons are equal"


async def test_a_second_run_asks_nothing_again(store: Store) -> None:
    await runner.execute_run(
        store, planned(store), lambda event: None, judge=opened(CountingJudge())
    )
    judge = CountingJudge()
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    assert judge.asked == []
    assert store.runs.read_run(run).score == 1.0


async def test_a_failing_interaction_fails_only_the_windows_that_hold_it(store: Store) -> None:
    run = planned(store, options={"window_size": "1"})

    def about_the_second(request: JudgeRequest) -> bool:
        return request.step == "claims" and "a-1 weighs" in request.prompt.split("Answers:")[1]

    judge = failing(JudgeRequestRejected("HTTP 400: no such model\x1b[31m"), about_the_second)
    events: list[RunEvent] = []
    await runner.execute_run(store, run, events.append, judge=opened(judge))

    item = store.runs.list_item_ids(run)[0]
    view = store.runs.read_conversation_for_review(item, "ann")
    assert [window.score.state for window in view.windows] == [
        ScoreState.SCORED,
        ScoreState.FAILED,
        ScoreState.SCORED,
    ]
    [event] = [each for each in events if isinstance(each, WindowFailed)]
    assert (event.window, event.error) == (1, "JudgeRequestRejected")
    assert event.said.startswith("HTTP 400: no such model")
    assert "\x1b" not in event.said
    assert view.item.state is ItemState.FAILED
    assert view.item.scores is not None
    assert view.item.scores.windowed.value is None, "a part is never shown as the whole"
    assert store.runs.read_run(run).failed == 1


async def test_failed_conversations_are_tried_again_on_resume(store: Store) -> None:
    run = planned(store)
    judge = failing(JudgeRequestRejected("no"), lambda request: "a-2" in request.prompt)
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    assert store.runs.read_run(run).failed == 1

    again = CountingJudge()
    await runner.execute_run(
        store, run, lambda event: None, judge=opened(again), retry_unfinished=True
    )

    row = store.runs.read_run(run)
    assert (row.failed, row.done, row.score, row.failed_windows) == (0, 2, 1.0, 0)
    assert all("a-2" in request.prompt or request.step == "final-reason" for request in again.asked)


async def test_a_wrong_key_stops_the_run_and_leaves_the_rest_to_do(store: Store) -> None:
    run = planned(store)
    judge = failing(JudgeAuthFailed("the key is wrong"), lambda request: True)
    events: list[RunEvent] = []

    state = await runner.execute_run(store, run, events.append, judge=opened(judge))

    assert state is RunState.STOPPED
    row = store.runs.read_run(run)
    assert (row.state, row.reason, row.pending) == (RunState.STOPPED, "the key is wrong", 2)
    assert judge.closed


async def test_a_cancelled_run_is_marked_and_can_go_on(store: Store) -> None:
    run = planned(store, concurrency=1)
    stopper: list[asyncio.Task[RunState]] = []
    last: list[RunEvent] = []

    def stop(event: RunEvent) -> None:
        last[:] = [event]
        if isinstance(event, ItemFinished):
            stopper[0].cancel()

    task = asyncio.create_task(runner.execute_run(store, run, stop, judge=opened(CountingJudge())))
    stopper.append(task)
    with pytest.raises(asyncio.CancelledError):
        await task
    row = store.runs.read_run(run)
    assert (row.state, row.done, row.pending) == (RunState.CANCELLED, 1, 1)
    assert isinstance(last[0], RunEnded)
    assert last[0].progress.calls > 0, "calls of this process are not forgotten"

    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    row = store.runs.read_run(run)
    assert (row.state, row.done) == (RunState.DONE, 2)


async def test_a_run_is_cancelled_also_where_the_store_cannot_note_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(store, concurrency=1)
    stopper: list[asyncio.Task[RunState]] = []
    last: list[RunEvent] = []

    def locked(*args: object) -> None:
        raise StoreBusy("the store is locked by another process")

    def stop(event: RunEvent) -> None:
        last[:] = [event]
        if isinstance(event, ItemFinished) and not stopper[0].cancelling():
            monkeypatch.setattr(store.runs, "set_state", locked)
            stopper[0].cancel()

    task = asyncio.create_task(runner.execute_run(store, run, stop, judge=opened(CountingJudge())))
    stopper.append(task)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(last[0], RunEnded)
    assert last[0].state is RunState.CANCELLED
    assert last[0].reason == "the store is locked by another process"
    monkeypatch.undo()
    assert await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    assert store.runs.read_run(run).state is RunState.DONE


async def test_no_more_questions_are_in_the_air_than_allowed(store: Store) -> None:
    judge = CountingJudge()
    run = planned(store, concurrency=2)
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    assert judge.most_in_flight == 2


async def test_a_bug_stops_the_run_with_its_traceback_and_leaves_windows_pending(
    store: Store,
) -> None:
    def broken(request: JudgeRequest) -> None:
        raise KeyError("a bug")

    run = planned(store)
    with pytest.raises(KeyError, match="a bug"):
        await runner.execute_run(
            store, run, lambda event: None, judge=opened(CountingJudge(broken))
        )
    row = store.runs.read_run(run)
    assert (row.state, row.pending) == (RunState.STOPPED, 2)
    assert row.reason == "KeyError: 'a bug'"


async def test_conversations_without_an_interaction_are_skipped_with_a_reason(
    tmp_path: Path,
) -> None:
    whole = conversation("a", 1)
    alone = type(whole)("parcels", "alone", whole.turns[1:], "parcels/alone")
    with store_with(tmp_path / "s.db", [alone]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
        (row,) = store.runs.read_item_rows(store.runs.list_item_ids(run))
        assert (row.state, row.reason) == (ItemState.SKIPPED, "no user turn")

        run = planned(store, options={"answers_alone": "true"})
        await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
        (row,) = store.runs.read_item_rows(store.runs.list_item_ids(run))
        assert (row.state, row.claims) == (ItemState.DONE, 1)


async def test_imported_claims_are_judged_instead_of_extracted_ones(tmp_path: Path) -> None:
    from faithtui.domain.conversation import Rating

    plain = conversation("plain", 1)
    rated = conversation("rated", 1)
    rating = Rating(1, "ann", "expertqa-support", "Complete", claim="Something else weighs less.")
    rated = type(rated)(rated.source, "rated", rated.turns, rated.group, {}, (rating,))
    with store_with(tmp_path / "s.db", [plain, rated]) as store:
        judge = CountingJudge()
        run = planned(store, claims="imported")
        await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
        first, second = store.runs.read_item_rows(store.runs.list_item_ids(run))
        assert (first.state, first.reason) == (ItemState.SKIPPED, "no imported claims")
        view = store.runs.read_conversation_for_review(second.id, "ann")
        assert [claim.text for claim in view.claims] == ["Something else weighs less."]
        assert view.claims[0].human == "yes"
        assert not [request for request in judge.asked if request.step == "claims"]


async def test_a_run_goes_on_with_the_prompts_it_was_begun_with(
    store: Store, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    own = prompts / "final-reason.txt"
    sent = "Why?\n  Costs $$5 \N{SNOWMAN}\n$score $success $reasons\n\n"
    own.write_bytes(sent.encode())
    run = planned(store, prompts_dir=prompts)
    own.write_text("Changed: $score $success $reasons", encoding="utf-8")
    judge = CountingJudge()
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    asked = [each.prompt for each in judge.asked if each.step == "final-reason"]
    assert asked
    assert all(each.startswith("Why?\n  Costs $5 \N{SNOWMAN}\n") for each in asked)
    own.unlink()
    prompts.rmdir()
    kept = read_run_prompts_with_examples(store, run)
    assert kept.texts["final-reason"].encode() == sent.encode()
    assert kept.digest == store.runs.read_run(run).spec.prompt_digest


async def test_prompt_texts_are_kept_once_and_go_with_their_last_run(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "final-reason.txt").write_text("$score $success $reasons", encoding="utf-8")
    first, second = planned(store), planned(store)
    other = planned(store, prompts_dir=tmp_path)
    sets = {each.runs: each for each in list_prompt_sets(store) if each.runs}
    assert set(sets) == {(second, first), (other,)}
    assert sets[second, first].packaged
    assert not sets[other,].packaged
    changes = compare_prompts(
        read_run_prompts_with_examples(store, first), read_run_prompts_with_examples(store, other)
    )
    assert "+$score $success $reasons" in changes
    assert f"+++ run {other}: turn-faithfulness/final-reason" in changes
    assert (
        compare_prompts(
            read_run_prompts_with_examples(store, first),
            read_run_prompts_with_examples(store, second),
        )
        == ""
    )
    store.deletions.delete_run(first, "me")
    assert read_run_prompts_with_examples(store, second).texts
    store.deletions.delete_run(second, "me")
    assert store.prompts.find_set(sets[second, first].digest) is None
    assert store.prompts.find_set(sets[other,].digest) is not None


async def test_the_windows_of_an_interrupted_conversation_are_kept(store: Store) -> None:
    run = planned(store, concurrency=1)
    task: list[asyncio.Task[RunState]] = []
    seen: list[RunEvent] = []

    def stop(event: RunEvent) -> None:
        seen.append(event)
        if isinstance(event, WindowAssessed):
            task[0].cancel()

    task.append(
        asyncio.create_task(runner.execute_run(store, run, stop, judge=opened(CountingJudge())))
    )
    with pytest.raises(asyncio.CancelledError):
        await task[0]
    pending = store.runs.list_pending_items(run)
    assert pending[0].stored_windows

    judge = CountingJudge()
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    row = store.runs.read_run(run)
    assert (row.done, row.windows, row.score) == (2, 4, 1.0)


async def test_a_run_waits_for_a_store_that_another_process_holds(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store_with(path, [conversation(key, 2) for key in "abcdef"]).close()
    other = sqlite3.connect(path, isolation_level=None)
    events: list[RunEvent] = []

    def hear(event: RunEvent) -> None:
        events.append(event)
        if isinstance(event, ItemFinished) and not (other.in_transaction or troubles(events)):
            other.execute("BEGIN IMMEDIATE")
        if isinstance(event, StoreTroubled) and event.trouble is not None:
            other.execute("ROLLBACK")

    with Store.open(path, busy_timeout_s=0.05) as store:
        run = planned(store, concurrency=4)
        judge = CountingJudge()
        state = await asyncio.wait_for(
            runner.execute_run(store, run, hear, judge=opened(judge)), 300
        )
        assert state is RunState.DONE
        row = store.runs.read_run(run)
        assert (row.done, row.windows, row.failed) == (6, 12, 0)
        assert row.calls == len(judge.asked)
    other.close()
    said = troubles(events)
    assert said[0] is not None
    assert "locked by another process" in said[0]
    assert said[-1] is None


def troubles(events: Sequence[RunEvent]) -> list[str | None]:
    return [event.trouble for event in events if isinstance(event, StoreTroubled)]


async def test_a_store_that_is_gone_stops_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[RunEvent] = []
    store = store_with(tmp_path / "s.db", [conversation(key, 2) for key in "abcdef"])

    def hear(event: RunEvent) -> None:
        events.append(event)
        if isinstance(event, ItemFinished):
            store.close()

    run = planned(store, concurrency=4)
    with pytest.raises(StoreError, match="is closed"):
        await runner.execute_run(store, run, hear, judge=opened(CountingJudge()))
    gc.collect()
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert last.state is RunState.STOPPED
    assert "never retrieved" not in caplog.text
    with Store.open(tmp_path / "s.db") as again:
        state = await runner.execute_run(again, run, events.append, judge=opened(CountingJudge()))
        assert state is RunState.DONE
        assert again.runs.read_run(run).done == 6


async def test_verbose_mode_tells_the_steps_of_each_conversation(store: Store) -> None:
    told: list[str] = []
    run = planned(store, options={"verbose_mode": "true"})
    await runner.execute_run(
        store, run, lambda event: None, judge=opened(CountingJudge()), tell=told.append
    )
    assert sorted(text.splitlines()[0] for text in told) == [
        "Turn faithfulness of parcels/a",
        "Turn faithfulness of parcels/b",
    ]
    assert "Parcel b-0 weighs 1 kilograms." in "".join(told)


async def test_nothing_is_told_without_verbose_mode(store: Store) -> None:
    told: list[str] = []
    run = planned(store)
    await runner.execute_run(
        store, run, lambda event: None, judge=opened(CountingJudge()), tell=told.append
    )
    assert told == []


async def test_without_async_mode_one_question_is_asked_at_a_time(store: Store) -> None:
    judge = CountingJudge()
    run = planned(store, options={"async_mode": "false"}, concurrency=8)
    await runner.execute_run(store, run, lambda event: None, judge=opened(judge))
    assert judge.most_in_flight == 1
    fast = CountingJudge()
    again = planned(store, options={"window_size": "1"}, concurrency=8)
    await runner.execute_run(store, again, lambda event: None, judge=opened(fast))
    assert fast.most_in_flight > 1, "the measure can tell"


async def test_what_a_run_costs_is_told_apart_by_window(store: Store) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    row = store.runs.read_run(run)
    items = store.runs.list_item_ids(run)
    totals = RunTotals()
    for item, windows in zip(items, (3, 1), strict=True):
        costs = store.calls.sum_item_costs(item)
        assert set(costs.windows) - {None} <= set(range(windows))
        assert costs.windows[0].calls >= 2
        totals += costs.total
    assert totals == RunTotals(row.calls, row.tokens_in, row.tokens_out, 0, 0, 0)


async def test_a_second_judge_judges_the_claims_of_the_first(store: Store) -> None:
    first = planned(store)
    await runner.execute_run(store, first, lambda event: None, judge=opened(CountingJudge()))
    second = run_planner.save_planned_run(store, RunRequest(claims_run=first))
    judge = CountingJudge()
    judge.fingerprint = "another"
    await runner.execute_run(store, second, lambda event: None, judge=opened(judge))
    assert store.runs.read_run(second).spec.claims_from == "run"
    assert "claims" not in {request.step for request in judge.asked}
    for one, other in zip(
        store.runs.list_item_ids(first), store.runs.list_item_ids(second), strict=True
    ):
        mine = [claim.id for claim in store.runs.read_conversation_for_review(one, "me").claims]
        assert mine == [
            claim.id for claim in store.runs.read_conversation_for_review(other, "me").claims
        ]
        assert mine


async def test_what_the_first_judge_found_no_claims_in_is_skipped(store: Store) -> None:
    first = planned(store)
    second = run_planner.save_planned_run(store, RunRequest(claims_run=first))
    await runner.execute_run(store, second, lambda event: None, judge=opened(CountingJudge()))
    row = store.runs.read_run(second)
    assert (row.done, row.skipped) == (0, 2)
    assert store.run_contents.count_conversations_by_state_reason(second, ItemState.SKIPPED) == {
        f"run {first} has no claims of it": 2
    }


async def test_a_run_that_is_paused_asks_nothing_until_it_goes_on(store: Store) -> None:
    run = planned(store)
    control = RunControl(4)
    control.pause()
    judge = CountingJudge()
    going = asyncio.create_task(
        runner.execute_run(store, run, lambda event: None, judge=opened(judge), control=control)
    )
    await asyncio.sleep(0.1)
    assert (judge.asked, going.done()) == ([], False)
    control.set_max_in_flight(1)
    control.resume()
    assert await asyncio.wait_for(going, 300) is RunState.DONE
    assert judge.most_in_flight == 1


async def test_answers_on_their_way_are_kept_when_a_run_is_cancelled(store: Store) -> None:
    run = planned(store, concurrency=2)
    judge = Slow()
    events: list[RunEvent] = []
    draining = asyncio.Event()

    def heard(event: RunEvent) -> None:
        events.append(event)
        if isinstance(event, Draining):
            draining.set()

    going = asyncio.create_task(runner.execute_run(store, run, heard, judge=opened(judge)))
    await judge.has_some.wait()
    sent = len(judge.asked)
    going.cancel()
    await draining.wait()
    assert not going.done()
    assert [type(event) for event in events].count(Draining) == 1
    judge.let_go.set()
    with pytest.raises(asyncio.CancelledError):
        await going
    row = store.runs.read_run(run)
    assert (row.calls, row.state) == (sent, RunState.CANCELLED)
    again = CountingJudge()
    assert await runner.execute_run(store, run, events.append, judge=opened(again)) is RunState.DONE
    assert not {request.prompt for request in judge.asked} & {each.prompt for each in again.asked}


async def test_a_run_that_is_cancelled_twice_gives_them_up(store: Store) -> None:
    run = planned(store, concurrency=2)
    judge = Slow()
    draining = asyncio.Event()

    def heard(event: RunEvent) -> None:
        if isinstance(event, Draining):
            draining.set()

    going = asyncio.create_task(runner.execute_run(store, run, heard, judge=opened(judge)))
    await judge.has_some.wait()
    going.cancel()
    await draining.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(going, 300)
    assert store.runs.read_run(run).calls == 0
    assert store.runs.read_run(run).state is RunState.CANCELLED


class Slow(CountingJudge):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.has_some = asyncio.Event()
        self.let_go = asyncio.Event()

    async def send(self, request: JudgeRequest) -> JudgeReply:
        if len(self.asked) + 1 >= 2:
            self.has_some.set()
        self.asked.append(request)
        await self.let_go.wait()
        reply = await super().send(request)
        self.asked.pop()
        return reply
