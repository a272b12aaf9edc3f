"""Runs in the background: one after the other, and shown only where somebody looks at them."""

import asyncio
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.events import RunProgress, RunSnapshot
from faithtui.engine.runs.request import RunRequest
from faithtui.store.records import RunState, WorkerRow
from faithtui.tui.app import FaithApp
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.runs import background_runs
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.session import Session
from tests.tui.building import SPEC
from tests.tui.building_metrics import KEYS
from tests.tui.driving import calm, opened, press, screen_text, until
from tests.tui.new_run.test_new_run_screen import SIZE, form_of, ordered, rows
from tests.tui.staged_runs import ON, StagedRun


def make_live_worker(run: RunId) -> WorkerRow:
    """Make the entry of a process that works on a run and lives."""
    now = utc_now()
    return WorkerRow("other", socket.gethostname(), os.getpid(), 0, now, run, None, now)


@pytest.mark.thorough
async def test_one_run_per_metric_one_after_the_other(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on: list[int] = []

    def begun(session: Session, run: RunId) -> BackgroundRun:
        going_on.append(len(session.list_unfinished_run_snapshots()))
        return begin(session, run)

    begin = background_runs._begin_background_run
    monkeypatch.setattr(background_runs, "_begin_background_run", begun)
    async with app.run_test(size=SIZE) as pilot:
        await form_of(pilot)
        await press(pilot, "j", "space", "j", "space", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await until(
            pilot,
            lambda: (
                not app.session.waiting_runs
                and len(app.session.process_runs) == 3
                and not app.session.list_unfinished_run_snapshots()
            ),
        )
        assert going_on == [0, 0, 0], "never two at once"
        assert [run.run_id for run in app.session.process_runs] == [2, 3, 4]
        assert app.session.run == 4, "the screen follows while it is looked at"
    assert [(key, state) for key, state, _ in rows(store_path)[1:]] == [
        (key, RunState.DONE) for key in KEYS[:3]
    ]


@pytest.mark.thorough
async def test_a_late_reading_of_the_run_before_does_not_call_the_screen_back(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await form_of(pilot)
        await press(pilot, "j", "space", "ctrl+s")
        await until(
            pilot,
            lambda: (
                len(app.session.process_runs) == 2
                and not app.session.list_unfinished_run_snapshots()
            ),
        )
        screen = app.screen
        assert isinstance(screen, ProgressScreen)
        await until(pilot, lambda: screen.row is not None and screen.row.id == app.session.run)
        early = app.session.store.runs.read_run(app.session.process_runs[0].run_id)
        screen.call_later(screen.show_run, early)
        await press(pilot, "tab")
        await until(pilot, lambda: screen.row is not None and screen.row.id == 3)
        assert app.session.run == 3


@pytest.mark.thorough
async def test_a_late_reading_of_the_list_does_not_choose_its_run(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await form_of(pilot)
        runs = next(each for each in app.screen_stack if isinstance(each, RunsScreen))
        await press(pilot, "j", "space", "ctrl+s")
        await until(
            pilot,
            lambda: (
                len(app.session.process_runs) == 2
                and not app.session.list_unfinished_run_snapshots()
            ),
        )
        assert app.session.run == 3
        runs.call_later(runs.show_rows, runs.all_runs)
        await calm(pilot)
        assert app.session.run == 3


async def test_a_reading_on_its_way_does_not_take_away_a_run_that_just_began(app: FaithApp) -> None:
    """The list is still shown when the run is chosen, and was read before there was one."""
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        early = screen.all_runs
        begun = app.session.store.runs.create(SPEC, app.session.store.conversations.list_ids())
        app.session.process_runs.append(cast(BackgroundRun, StagedRun(replace(ON, run=begun))))
        app.session.switch_run(begun)
        screen.show_rows(early)
        screen.set_metric_specs({})
        assert app.session.run == begun


class CancelledRun:
    """A run that was cancelled."""

    run_id = 1
    is_finished = True
    bug = None

    def snapshot(self) -> RunSnapshot:
        return RunSnapshot(RunId(1), RunState.CANCELLED, None, RunProgress(), 1.0, None)

    def cancel(self) -> None:
        """Nothing is left to cancel."""

    def join(self, timeout_s: float) -> bool:
        return True

    def yield_to_ui(self, seconds: float) -> None:
        pass


@pytest.mark.thorough
async def test_runs_that_wait_stay_planned_when_one_is_cancelled(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot)
        left = await asyncio.to_thread(ordered, store_path, *(RunRequest(key) for key in KEYS[:2]))
        app.session.process_runs.append(CancelledRun())  # type: ignore[arg-type]  # stands in for a run
        app.session.waiting_runs = list(left)
        await until(pilot, lambda: not app.session.waiting_runs)
        await pilot.pause()
        painted = " ".join(screen_text(app).split())
        assert "Runs are left" in painted
        assert "#2, #3" in painted
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        await press(pilot, "home", "r")
        await until(pilot, lambda: app.session.process_runs[-1].run_id in left)
        await until(pilot, lambda: not app.session.list_unfinished_run_snapshots())
    states = [state for _, state, _ in rows(store_path)[1:]]
    assert sorted(states) == [RunState.DONE, RunState.PLANNED], "r begins one of them"


async def test_runs_left_planned_are_named_beside_the_one_that_was_resumed(app: FaithApp) -> None:
    """The process that was to begin them was killed: nobody does."""
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        runs = app.session.store.runs
        left, queued, archived, resumed = (
            runs.create(SPEC, app.session.store.conversations.list_ids()) for _ in range(4)
        )
        runs.archive([archived])
        # Something to wait for keeps the queued one where it is.
        begun = StagedRun(replace(ON, run=resumed))
        app.session.process_runs.append(cast(BackgroundRun, begun))
        app.session.waiting_runs.append(queued)
        app.session.switch_run(resumed)
        words = f"1 planned run waits: #{left}"
        await press(pilot, "g", "p")
        await until(pilot, lambda: words in screen_text(app))
        await press(pilot, "g", "r")
        await until(pilot, lambda: words in screen_text(app))


async def test_planned_runs_are_not_named_while_another_process_works_through_its_runs(
    app: FaithApp,
) -> None:
    """It plans all of them at once and begins them in their turn; `r` would take one away."""
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        store = app.session.store
        done, on, planned = (
            store.runs.create(SPEC, store.conversations.list_ids()) for _ in range(3)
        )
        store.runs.set_state(done, RunState.DONE)
        store.runs.set_state(on, RunState.RUNNING)
        store.workers.add_worker(make_live_worker(on))
        app.session.switch_run(done)
        words = f"1 planned run waits: #{planned}"
        await press(pilot, "g", "p")
        await until(pilot, lambda: f"#{done}" in screen_text(app))
        assert words not in screen_text(app)
        await press(pilot, "g", "r")
        await until(pilot, lambda: f"#{planned}" in screen_text(app))
        assert words not in screen_text(app)
        store.workers.remove_worker_and_leases("other")
        app.store_watcher.reload_screens_if_store_changed()
        await until(pilot, lambda: words in screen_text(app))
        await press(pilot, "g", "p")
        await until(pilot, lambda: words in screen_text(app))
