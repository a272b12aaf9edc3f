"""What is done with conversations of the list: reviewed as a queue, written, asked again."""

from pathlib import Path

import pytest

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.store.records import ItemRow
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.pager import Pager
from tests.tui.driving import calm, press, status
from tests.tui.screen.test_row_marks import SIZE, listed


async def test_q_reviews_the_claims_of_the_marked_conversations_alone(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        await press(pilot, "j", "space", "Q")
        assert isinstance(app.screen, ReviewScreen)
        queue = app.session.claim_queue
        assert queue is not None
        assert {item for item, _ in queue.entries} == {screen.listed_ids[1]}
        assert queue.title == "1 marked conversation"
        assert not queue.reveals_judge


@pytest.mark.thorough
async def test_q_goes_on_at_the_first_claim_without_a_label(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listed(pilot, app)
        await press(pilot, "space", "Q")
        first = app.session.claim_queue
        assert isinstance(app.screen, ReviewScreen)
        assert first is not None
        assert not first.answered
        await press(pilot, "y")
        await calm(pilot)
        await press(pilot, "g", "c", "Q")
        await calm(pilot)
        again = app.session.claim_queue
        assert again is not None
        assert again is not first
        assert again.answered == {first.entries[0][1]}
        assert app.screen.review_position.claim == first.entries[1][1]
        cursor = app.screen.queue_navigator.cursor
        assert cursor is not None
        assert len(cursor.answered_claims) == 1


@pytest.mark.thorough
async def test_a_conversation_outside_the_queue_leaves_it_and_can_be_blind(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        queued, other = screen.listed_ids[:2]
        app.session.start_queue(
            ClaimQueue("verdict:no", RunId(1), ((ItemId(queued), ClaimId(1)),), reveals_judge=True)
        )
        await press(pilot, "B")
        assert "Q in review leaves them" in status(app)
        await press(pilot, "home", "enter")
        kept = app.session.claim_queue
        assert kept is not None, "it has claims of the queue"
        await press(pilot, "g", "c", "j", "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.session.item == other
        assert app.session.claim_queue is None
        await press(pilot, "B")
        assert app.session.is_blind
        assert "too late for this conversation: its judge was in view" in status(app)


@pytest.mark.thorough
async def test_a_conversation_opens_at_the_claim_that_the_filter_found(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listed(pilot, app)
        await press(pilot, "slash", *"verdict:no", "enter")
        await calm(pilot)
        await press(pilot, "enter")
        await calm(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.claim is not None
        assert app.screen.claim.number > 1
        assert app.screen.claim.first_window_verdict.label == "no"


async def test_marked_conversations_are_written_one_a_line(app: FaithApp, tmp_path: Path) -> None:
    import json

    async with app.run_test(size=SIZE) as pilot:
        await listed(pilot, app)
        await press(pilot, "space", "space", "X")
        await calm(pilot)
        said = status(app)
    (file,) = (tmp_path / "reports").glob("faithtui-conversations-1-*.jsonl")
    assert said.startswith(f"written {file.name} · 2 conversations · in "), "its name is not cut"
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["conversation"]["conversation"] for each in written] == ["conv-0147", "conv-0031"]
    assert written[0]["claims"][2]["judge"] == "no"


async def test_without_marks_and_filter_the_report_of_the_run_is_written(
    app: FaithApp, tmp_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listed(pilot, app)
        await press(pilot, "X")
        await calm(pilot)
        assert "report written" in status(app)
    (directory,) = (tmp_path / "reports").iterdir()
    assert (directory / "report.html").exists()


async def test_nothing_is_written_while_the_reviewer_is_blind(
    app: FaithApp, tmp_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listed(pilot, app)
        app.session.is_judge_hidden = True
        await press(pilot, "space", "X")
        await calm(pilot)
        assert "would show the judge's verdicts: g v, then B ends blind work" in status(app)
    assert not (tmp_path / "reports").exists()


@pytest.mark.thorough
async def test_only_what_failed_among_the_marked_is_asked_again(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        await press(pilot, "R")
        assert "nothing failed or lacks a verdict in the chosen conversation" in status(app)
        await press(pilot, "space", "space", "R")
        assert "nothing failed or lacks a verdict in the marked conversations" in status(app)
        before = app.session.store.runs.read_item_rows([screen.listed_ids[2]])[0]
        assert before.state.value == "failed"
        assert (
            app.session.store.runs.reopen_failed_or_incomplete_items(
                before.run, [screen.listed_ids[0]]
            )
            == 0
        )
        assert (
            app.session.store.runs.reopen_failed_or_incomplete_items(before.run, [before.id]) == 1
        )
        after = app.session.store.runs.read_item_rows([before.id])[0]
        assert (after.state.value, after.windows) == ("pending", 0)


async def test_a_key_carried_out_when_nothing_is_listed_any_more_does_nothing(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        # The keys were pressed while rows were listed; the filter finds none by now.
        screen.pager = Pager[ItemId, ItemRow](
            (), lambda _ids: (), lambda row: row.id, lambda failure: None, lambda seconds: None
        )
        screen.action_mark_and_step()
        screen.action_mark_range()
        assert not screen.marks
        screen.actions.action_go_to_next_unlabelled()
        await calm(pilot)
        assert "nothing without a verdict below" in status(app)
