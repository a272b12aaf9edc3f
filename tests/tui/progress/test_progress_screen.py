"""The run screen key by key: what can be done with a run, and what is read of it."""

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from faithtui.domain.ids import RunId
from faithtui.engine.calls.budget import Budget, BudgetCaps
from faithtui.engine.runs.planner import plan_run
from faithtui.engine.runs.request import RunRequest
from faithtui.store.records import ItemState, RunState, WorkerRow
from faithtui.store.store import Store, utc_now
from faithtui.tui.app import FaithApp
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs.budget import BudgetScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from tests.tui import staging
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title, until
from tests.tui.staging import StagedRun

SIZES = [(60, 18), (80, 24), (120, 40), (200, 60)]


async def watching(pilot: Pilot[None], run: StagedRun | None = None) -> ProgressScreen:
    """Look at the newest run, as if it were on in this process."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    if run is not None:
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # stands in for a run
    await press(pilot, "p")
    assert isinstance(app.screen, ProgressScreen)
    return app.screen


@pytest.mark.parametrize("size", SIZES)
async def test_what_counts_is_seen_at_every_size(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await watching(pilot, StagedRun())
        await until(pilot, lambda: "conv-0112" in text_of(app, "events"))
        shown = screen_text(app)
        for words in ("15 / 40", "2 failed", "$1.55", "610k in", "conv-0112", "? help"):
            assert words in shown, words
        if size[1] > 18:
            assert "verdicts" in text_of(app, "stages")
            assert "8 workers" in shown


async def test_a_pause_is_made_and_ended_by_one_key(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "p")
        paused = [run.control.is_paused]
        await until(pilot, lambda: "paused" in title(app))
        await until(pilot, lambda: "p goes on" in " ".join(text_of(app, "totals").split()))
        await press(pilot, "p")
        paused.append(run.control.is_paused)
        assert paused == [True, False]
        await until(pilot, lambda: "running" in title(app))


async def test_workers_become_more_and_fewer_within_their_bounds(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "plus")
        assert "9 workers" in status(app)
        await until(pilot, lambda: "9 workers" in text_of(app, "totals"))
        await press(pilot, "minus", "minus")
        assert run.control.workers == 7
        run.control.set_workers(1)
        await press(pilot, "minus")
        assert "1 to 256" in status(app)
        run.control.set_workers(250)
        await press(pilot, "plus")
        assert run.control.workers == 256


async def test_the_first_cancel_asks_and_waits_and_the_second_ends_at_once(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "c")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "c", "escape")
        assert run.cancelled == 0
        await press(pilot, "ctrl+x", "y")
        assert run.cancelled == 1
        assert "c again stops at once" in status(app)
        await until(pilot, lambda: "finishing what is asked" in title(app))
        told = "3 replies in flight (paid for)"
        await until(pilot, lambda: told in " ".join(text_of(app, "totals").split()))
        await press(pilot, "c")
        assert run.cancelled == 2
        assert "given up" in status(app)
        await until(pilot, lambda: "cancelled" in title(app))


async def test_a_stopped_run_goes_on_and_what_failed_is_asked_again(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await watching(pilot)
        assert "1 of 1 windows failed" in text_of(app, "failed")
        await press(pilot, "x")
        await until(pilot, lambda: bool(app.session.process_runs))
        await until(pilot, lambda: not app.session.list_snapshots())
        await until(pilot, lambda: "Failed 0" in screen_text(app))
    with Store.open(store_path) as store:
        row = store.runs.row(RunId(1))
        assert (row.state, row.failed) == (RunState.DONE, 0)


async def test_a_cancelled_run_is_taken_up_from_its_screen(app: FaithApp, store_path: Path) -> None:
    with Store.open(store_path) as store:
        run = plan_run(store, RunRequest())
        store.runs.set_state(run, RunState.CANCELLED)
    async with app.run_test(size=(80, 24)) as pilot:
        await watching(pilot)
        assert "r goes on" in text_of(app, "totals")
        await press(pilot, "r")
        await until(pilot, lambda: bool(app.session.process_runs))
        await until(pilot, lambda: not app.session.list_snapshots())
        await until(pilot, lambda: "done" in title(app))
        await until(pilot, lambda: "judged" in text_of(app, "events"))


def begin_elsewhere(store: Store, run: RunId) -> None:
    """Let a process that lives work on a run."""
    store.calls.add_worker(
        WorkerRow("elsewhere", socket.gethostname(), os.getpid(), 0, utc_now(), run)
    )


async def test_a_run_of_another_process_is_followed_from_the_store(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as other:
        run = plan_run(other, RunRequest())
        other.runs.set_state(run, RunState.RUNNING)
        begin_elsewhere(other, run)
        async with app.run_test(size=(80, 24)) as pilot:
            await watching(pilot)
            assert "running in another process" in title(app)
            assert "Another process judges this run" in text_of(app, "totals")
            assert "0 / 4" in text_of(app, "totals")
            other.runs.finish_item(other.runs.item_ids(run)[0], ItemState.SKIPPED, "no user turn")
            await until(pilot, lambda: "1 / 4" in text_of(app, "totals"))


async def test_a_budget_is_changed_for_a_run_that_is_on(app: FaithApp, store_path: Path) -> None:
    with Store.open(store_path) as store:
        store.runs.set_budget(RunId(1), 5_000_000_000, None)
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        run.control.budget = Budget(BudgetCaps(5_000_000_000, None))
        await watching(pilot, run)
        assert "$1.55 / $5.00" in text_of(app, "totals")
        await press(pilot, "b")
        form = app.screen
        assert isinstance(form, BudgetScreen)
        form.query_one("#usd", Input).value = "seven"
        await press(pilot, "enter")
        assert "dollars are a number" in screen_text(app)
        form.query_one("#usd", Input).value = "7.50"
        form.query_one("#tokens", Input).value = "2M"
        await press(pilot, "ctrl+s")
        assert "$7.50 and 2 000 000 tokens" in status(app)
        await until(pilot, lambda: "$1.55 / $7.50" in text_of(app, "totals"))
        assert run.control.budget.caps == BudgetCaps(7_500_000_000, 2_000_000)
    with Store.open(store_path) as store:
        assert store.runs.row(RunId(1)).spec.budget_nusd == 7_500_000_000


async def test_a_budget_below_what_is_spent_is_refused(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await watching(pilot, StagedRun())
        assert screen.row is not None
        screen.row = replace(screen.row, cost_nusd=2_000_000_000, tokens_in=900)
        await press(pilot, "b")
        form = app.screen
        form.query_one("#usd", Input).value = "1"
        await press(pilot, "enter")
        assert "$2.00 is spent already" in screen_text(app)
        form.query_one("#usd", Input).value = ""
        form.query_one("#tokens", Input).value = "800"
        await press(pilot, "enter")
        assert "900 tokens are used" in screen_text(app)
        await press(pilot, "escape")
        assert app.screen is screen


async def test_what_failed_is_one_key_away_where_there_is_room_for_one_list(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await watching(pilot, StagedRun())
        assert screen.events.has_focus
        await press(pilot, "f")
        assert screen.failed.has_focus
        assert not screen.events.display
        assert "conv-0112" in text_of(app, "failed")
        await press(pilot, "f")
        assert screen.events.has_focus
        await press(pilot, "f", "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.view is not None
        assert app.screen.view.item.key == "conv-0112"


async def test_an_event_opens_its_conversation_and_keeps_its_place(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        screen = await watching(pilot, run)
        await press(pilot, "j", "j")
        assert screen.find_item() is None
        await press(pilot, "enter")
        assert "about the run" in status(app)
        await press(pilot, "j")
        chosen = screen.event_list.entries[screen.events.cursor]
        run.now = replace(staging.TROUBLED)
        await until(pilot, lambda: "held in memory" in text_of(app, "events"))
        assert screen.event_list.entries[screen.events.cursor].first_s == chosen.first_s
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.view is not None
        assert app.screen.view.item.key == "conv-0147"


async def test_review_of_what_is_finished_leaves_the_run_on(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "v")
        assert isinstance(app.screen, ReviewScreen)
        assert not run.cancelled
        await calm(pilot)


async def test_another_attempt_begins_with_a_clean_word_and_its_own_clock(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        screen = await watching(pilot, run)
        await press(pilot, "c", "y")
        assert "c again stops at once" in status(app)
        run.end()
        await until(pilot, lambda: "were kept" in status(app))
        again = StagedRun(replace(staging.ON, elapsed_s=9.0, recent=staging.EVENTS[:1]))
        app.session.process_runs.append(again)  # type: ignore[arg-type]  # as above
        await until(pilot, lambda: status(app) == "")
        assert screen.event_list.began is not None
        assert (screen.session.now() - screen.event_list.began).total_seconds() == 9.0
        await until(pilot, lambda: "conv-0112" not in text_of(app, "events"))


async def test_dollars_are_refused_for_a_judge_whose_price_nobody_knows(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        first = store.runs.row(RunId(1)).spec
        run = store.runs.create(
            replace(first, judge="openai:unheard-of"), store.conversations.ids()
        )
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await watching(pilot)
        await press(pilot, "b")
        app.screen.query_one("#usd", Input).value = "5"
        await press(pilot, "enter")
        await until(pilot, lambda: "the price of openai:unheard-of" in screen_text(app))
        await press(pilot, "b")
        app.screen.query_one("#tokens", Input).value = "5k"
        await press(pilot, "enter")
        await until(pilot, lambda: "5 000 tokens" in status(app))
    with Store.open(store_path) as store:
        spec = store.runs.row(run).spec
        assert (spec.budget_nusd, spec.budget_tokens) == (None, 5_000)


async def test_why_something_failed_is_not_quoted_while_blind(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        store.runs.reopen_unfinished(RunId(1))
        third = store.runs.item_ids(RunId(1))[2]
        store.runs.finish_item(third, ItemState.FAILED, "JudgeReplyInvalid: c0 is `zanzibar`")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await watching(pilot)
        assert "zanzibar" in text_of(app, "failed")
        await press(pilot, "g", "v", "B", "g", "r")
        assert not any("zanzibar" in line.text for line in screen.failed.lines)
        await press(pilot, "g", "p")
        assert "the answer could not be used" in text_of(app, "failed")
        assert "zanzibar" not in screen_text(app)
        assert "Events" in screen_text(app)


async def test_a_run_that_goes_on_elsewhere_is_no_longer_told_from_here(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        run.cancel()
        run.end()
        await until(pilot, lambda: "cancelled" in title(app))
        with Store.open(store_path) as other:
            begin_elsewhere(other, RunId(1))
            other.runs.set_state(RunId(1), RunState.RUNNING)
        app.store_watcher.poll()
        await until(pilot, lambda: "running in another process" in title(app))
        await until(pilot, lambda: "4 / 4" in text_of(app, "totals"))


async def test_a_run_whose_process_was_killed_is_interrupted_and_goes_on(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as other:
        run = plan_run(other, RunRequest())
        other.runs.set_state(run, RunState.RUNNING)
        begin_elsewhere(other, run)
        async with app.run_test(size=(80, 24)) as pilot:
            await watching(pilot)
            assert "running in another process" in title(app)
            other.calls.remove_worker("elsewhere")
            await until(pilot, lambda: "interrupted" in title(app))
            await until(pilot, lambda: "r goes on" in text_of(app, "totals"))
            await press(pilot, "g", "r")
            await until(pilot, lambda: "interrupted" in screen_text(app))
