"""Keys that act on one run: pause, workers, cancel, go on, ask again, budget."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from faithtui.domain.ids import RunId
from faithtui.engine.calls.budget import Budget, BudgetCaps
from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.messages import ResumeRequested
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.progress.run_controls import RunControls
from faithtui.tui.runs.budget_dialog import BudgetDialog
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from tests.tui.driving import press, screen_text, status, text_of, title, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.progress.test_progress_screen import watching
from tests.tui.staged_runs import StagedRun


async def press_and_let_run(pilot: Pilot[None], key: str) -> None:
    """Press a key that starts a run, and wait until that run is through."""
    app = cast(FaithApp, pilot.app)
    await press(pilot, key)
    await until(pilot, lambda: bool(app.session.process_runs))
    await until(pilot, lambda: not app.session.list_unfinished_run_snapshots())


async def test_a_run_is_paused_and_resumed(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "p")
        paused = [run.control.is_paused]
        await until(pilot, lambda: "paused" in title(app))
        await until(pilot, lambda: "r resumes" in " ".join(text_of(app, "totals").split()))
        await press(pilot, "p")
        assert "paused already; r resumes" in status(app)
        assert "p pause" not in screen_text(app)
        paused.append(run.control.is_paused)
        await press(pilot, "r")
        paused.append(run.control.is_paused)
        assert paused == [True, True, False]
        await until(pilot, lambda: "running" in title(app))
        assert "paused" not in status(app)
        assert "resumed" not in status(app), "it would stay after the end"


async def test_workers_become_more_and_fewer_within_their_bounds(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "plus")
        assert "9 workers" in status(app)
        await until(pilot, lambda: "9 workers" in text_of(app, "totals"))
        await press(pilot, "minus", "minus")
        assert run.control.max_in_flight == 7
        run.control.set_max_in_flight(1)
        await press(pilot, "minus")
        assert "1 to 256" in status(app)
        run.control.set_max_in_flight(250)
        await press(pilot, "plus")
        assert run.control.max_in_flight == 256


@pytest.mark.thorough
async def test_the_first_cancel_asks_and_waits_and_the_second_ends_at_once(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "ctrl+x")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "ctrl+x", "escape")
        assert run.cancelled == 0
        await press(pilot, "ctrl+x", "y")
        assert run.cancelled == 1
        assert "ctrl+x again stops at once" in status(app)
        await until(pilot, lambda: "finishing what is asked" in title(app))
        told = "3 replies in flight (paid for)"
        await until(pilot, lambda: told in " ".join(text_of(app, "totals").split()))
        await press(pilot, "ctrl+x")
        assert run.cancelled == 2
        assert "given up" in status(app)
        await until(pilot, lambda: "cancelled" in title(app))


async def test_a_stopped_run_goes_on_and_what_failed_is_asked_again(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await watching(pilot)
        assert "1 of 1 windows failed" in text_of(app, "failed")
        await press_and_let_run(pilot, "R")
        await until(pilot, lambda: "Failed 0" in screen_text(app))
    with Store.open(store_path) as store:
        row = store.runs.read_run(RunId(1))
        assert (row.state, row.failed) == (RunState.DONE, 0)


async def test_a_cancelled_run_is_taken_up_from_its_screen(app: FaithApp, store_path: Path) -> None:
    with Store.open(store_path) as store:
        run = save_planned_run(store, RunRequest())
        store.runs.set_state(run, RunState.CANCELLED)
    async with app.run_test(size=(80, 24)) as pilot:
        await watching(pilot)
        assert "r resumes" in text_of(app, "totals")
        await press_and_let_run(pilot, "r")
        await until(pilot, lambda: "done" in title(app))
        await until(pilot, lambda: ": done, " in text_of(app, "events"))


@pytest.mark.thorough
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
        assert isinstance(form, BudgetDialog)
        form.query_one("#usd", Input).value = "seven"
        await press(pilot, "enter")
        assert "dollars are a number" in screen_text(app)
        form.query_one("#usd", Input).value = "7.50"
        form.query_one("#tokens", Input).value = "2M"
        await press(pilot, "ctrl+s")
        assert "$7.50 and 2,000,000 tokens" in status(app)
        await until(pilot, lambda: "$1.55 / $7.50" in text_of(app, "totals"))
        assert run.control.budget.caps == BudgetCaps(7_500_000_000, 2_000_000)
    with Store.open(store_path) as store:
        assert store.runs.read_run(RunId(1)).spec.budget_nusd == 7_500_000_000


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


@pytest.mark.thorough
async def test_dollars_are_refused_for_a_judge_whose_price_nobody_knows(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        first = store.runs.read_run(RunId(1)).spec
        run = store.runs.create(
            replace(first, judge="openai:unheard-of"), store.conversations.list_ids()
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
        await until(pilot, lambda: "5,000 tokens" in status(app))
    with Store.open(store_path) as store:
        spec = store.runs.read_run(run).spec
        assert (spec.budget_nusd, spec.budget_tokens) == (None, 5_000)


# On a screen that is not drawn


class FakeProgressScreen(FakeScreen):
    """A progress screen with a run, on in this process or not."""

    def __init__(self, session: Session, run: StagedRun | None = None) -> None:
        super().__init__(session)
        self.row = session.store.runs.read_run(RunId(1))
        if run is not None:
            session.process_runs.append(cast(BackgroundRun, run))
        self.control = RunControls(cast(ProgressScreen, self))
        self.add(self.control)


def test_keys_of_a_run_that_is_on_are_refused_without_one(session: Session) -> None:
    screen = FakeProgressScreen(session)
    assert [key for key in "p+-cr" if screen.press(key)] == []
    assert not screen.input_queue.windows


def test_a_question_about_a_run_that_is_over_is_closed(session: Session) -> None:
    run = StagedRun()
    screen = FakeProgressScreen(session, run)
    assert screen.press("ctrl+x")
    screen.control.close_outdated_question()
    assert screen.control._question is not None, "the run is still on"
    run.end()
    screen.control.close_outdated_question()
    assert screen.control._question is None


def test_a_yes_that_comes_after_the_end_cancels_nothing(session: Session) -> None:
    run = StagedRun()
    screen = FakeProgressScreen(session, run)
    screen.press("ctrl+x")
    run.end()
    screen.input_queue.answer("yes")
    screen.control.show_cancelled_end()
    assert run.cancelled == 0
    assert screen.message == ""


def test_only_who_cancelled_here_is_told_of_the_end_and_only_of_that_attempt(
    session: Session,
) -> None:
    run = StagedRun()
    screen = FakeProgressScreen(session, run)
    screen.press("ctrl+x")
    screen.input_queue.answer("yes")
    assert run.cancelled == 1
    screen.control.forget_cancel_request()
    screen.control.show_cancelled_end()
    assert screen.message.startswith("cancelling")
    screen.press("ctrl+x")
    assert screen.message.startswith("stopped at once")
    assert run.cancelled == 2


async def test_what_failed_is_not_asked_again_while_the_run_is_on(session: Session) -> None:
    run = StagedRun()
    screen = FakeProgressScreen(session, run)
    assert screen.press("R")
    assert screen.message == "run #1 is on: what fails can be asked again afterwards"
    run.end()
    assert screen.press("R")
    await screen.settle()
    (asked,) = screen.posted
    assert isinstance(asked, ResumeRequested)
    assert asked.run == RunId(1)


def test_nothing_failed_is_said(session: Session) -> None:
    screen = FakeProgressScreen(session)
    screen.row = replace(screen.row, failed=0, incomplete=0)
    assert not screen.press("R")
    screen.control.action_retry()
    assert screen.message == "nothing failed or lacks a verdict in run #1"


# In the app


@pytest.mark.thorough
async def test_the_question_outlives_neither_its_run_nor_blocks_quitting(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "ctrl+x")
        assert isinstance(app.screen, ConfirmDialog)
        run.end()
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)


@pytest.mark.thorough
async def test_quitting_asks_above_another_question(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        await watching(pilot, run)
        await press(pilot, "ctrl+x", "ctrl+q")
        assert "A run is on. Quit?" in screen_text(app)
        await press(pilot, "ctrl+q", "escape")
        assert isinstance(app.screen, ConfirmDialog)
        assert "Cancel run #1?" in screen_text(app)
        run.end()
