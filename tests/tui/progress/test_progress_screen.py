"""The run screen key by key: what can be done with a run, and what is read of it."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.store.calls.calls import Calls
from faithtui.store.records import ItemState, RunState, StepTotals, WorkerRow
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.review.review_screen import ReviewScreen
from tests.tui import staged_runs
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title, until
from tests.tui.staged_runs import StagedRun

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


def begin_elsewhere(store: Store, run: RunId) -> None:
    """Let a process that lives work on a run."""
    store.workers.add_worker(
        WorkerRow("elsewhere", socket.gethostname(), os.getpid(), 0, utc_now(), run)
    )


async def test_a_run_of_another_process_is_followed_from_the_store(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as other:
        run = save_planned_run(other, RunRequest())
        other.runs.set_state(run, RunState.RUNNING)
        begin_elsewhere(other, run)
        async with app.run_test(size=(80, 24)) as pilot:
            await watching(pilot)
            assert "running in another process" in title(app)
            assert "Another process judges this run" in text_of(app, "totals")
            assert "0 / 4" in text_of(app, "totals")
            other.runs.score_and_finish_item(
                other.runs.list_item_ids(run)[0], ItemState.SKIPPED, "no user turn"
            )
            await until(pilot, lambda: "1 / 4" in text_of(app, "totals"))


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
        await press(pilot, "ctrl+x", "y")
        assert "ctrl+x again stops at once" in status(app)
        run.end()
        await until(pilot, lambda: "were kept" in status(app))
        await until(pilot, lambda: screen.history is not None)
        again = StagedRun(replace(staged_runs.ON, elapsed_s=9.0, recent=staged_runs.EVENTS[:1]))
        app.session.process_runs.append(again)  # type: ignore[arg-type]  # as above
        await until(pilot, lambda: status(app) == "")
        assert screen.history is None, "what became of the run before is no longer drawn"
        assert screen.event_list.began is not None
        assert (screen.session.now() - screen.event_list.began).total_seconds() == 9.0
        await until(pilot, lambda: "conv-0112" not in text_of(app, "events"))


@pytest.mark.thorough
async def test_why_something_failed_is_not_quoted_while_blind(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        store.runs.reopen_failed_or_incomplete_items(RunId(1))
        third = store.runs.list_item_ids(RunId(1))[2]
        store.runs.score_and_finish_item(
            third, ItemState.FAILED, "JudgeReplyInvalid: c0 is `zanzibar`"
        )
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
        app.store_watcher.reload_screens_if_store_changed()
        await until(pilot, lambda: "running in another process" in title(app))
        await until(pilot, lambda: "4 / 4" in text_of(app, "totals"))


@pytest.mark.thorough
async def test_a_run_whose_process_was_killed_is_interrupted_and_goes_on(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as other:
        run = save_planned_run(other, RunRequest())
        other.runs.set_state(run, RunState.RUNNING)
        begin_elsewhere(other, run)
        async with app.run_test(size=(120, 40)) as pilot:
            await watching(pilot)
            assert "running in another process" in title(app)
            other.workers.remove_worker_and_leases("elsewhere")
            await until(pilot, lambda: "interrupted" in title(app))
            await until(pilot, lambda: "r resumes" in text_of(app, "totals"))
            await until(pilot, lambda: "run interrupted" in text_of(app, "events"))
            assert "r resumes: 4 conversations are left" in text_of(app, "failed")
            await press(pilot, "g", "r")
            await until(pilot, lambda: "interrupted" in screen_text(app))
            await press(pilot, "p", "r")
            await until(pilot, lambda: "done" in title(app))


async def test_what_became_of_an_interrupted_run_is_read_once_and_not_every_second(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[RunId] = []

    def sum_and_count(_calls: Calls, run: RunId) -> tuple[StepTotals, ...]:
        read.append(run)
        return ()

    monkeypatch.setattr(Calls, "sum_run_calls_by_question_kind", sum_and_count)
    with Store.open(store_path) as other:
        run = save_planned_run(other, RunRequest())
        other.runs.set_state(run, RunState.RUNNING)
        async with app.run_test(size=(120, 40)) as pilot:
            screen = await watching(pilot)
            await until(pilot, lambda: screen.history is not None)
            for _ in range(3):
                screen.reload_if_judged_elsewhere()
                await calm(pilot)
        assert read == [run]


async def test_a_run_that_is_over_tells_what_happened_and_what_is_next(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await watching(pilot)
        happened = text_of(app, "events")
        assert "started: 4 conversations" in happened
        assert "run done after" in happened
        assert "1 failed: 1 of 1 windows failed" in happened
        assert "1 skipped: no user turn" in happened
        assert ", mean 0." in happened
        assert "verdicts: " in happened
        app.session.set_judge_hidden(True)
        screen.reload()
        await calm(pilot)
        blind = text_of(app, "events")
        assert "2 conversations scored · " in blind, "the mean of few tells their verdicts"
        assert "verdicts: " not in blind
        app.session.set_judge_hidden(False)
        assert "enter open" not in screen_text(app), "nothing of what happened can be opened"
        await press(pilot, "W")
        assert status(app) == "no conversation is chosen whose replies could be read"
        await press(pilot, "f")
        assert "enter open" in screen_text(app), "a conversation that failed can"
        await press(pilot, "f")
        with Store.open(store_path) as store:
            run = store.runs.list_runs()[0].id
            for item in store.runs.list_failed_or_incomplete_items(run):
                store.runs.reopen_failed_or_incomplete_items(run, [item])
                store.runs.score_and_finish_item(item, ItemState.SKIPPED, "no user turn")
        app.store_watcher.reload_screens_if_store_changed()
        await until(pilot, lambda: "What next" in screen_text(app))
        assert "g a shows agreement" in text_of(app, "failed")


async def test_the_stages_of_a_run_that_is_over_are_counted(
    make_app: Callable[[Path], FaithApp], judged: Path
) -> None:
    app = make_app(judged)
    async with app.run_test(size=(120, 40)) as pilot:
        await watching(pilot)
        lines = text_of(app, "stages").split("\n")
        assert lines[0].split() == ["stage", "calls", "tokens", "each", "unusable"]
        assert any(line.split()[0] == "claims" for line in lines)


async def test_the_totals_of_a_run_that_is_over_leave_room_to_what_happened(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await watching(pilot)
        assert screen.history is not None
        totals = screen.totals
        assert totals.scrollable_content_region.height == len(totals.lines) < 7
        stages = screen.stages
        assert stages.scrollable_content_region.height == max(2, len(stages.lines)) < 6
