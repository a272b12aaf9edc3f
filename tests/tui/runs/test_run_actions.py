"""Runs are archived and brought back, retried, compared and exported from their list."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs import runner
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import JudgeRefused
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.dialogs import TextDialog
from tests.engine.building import conversation, failing, planned, store_with
from tests.engine.building import opened as opened_judge
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, until

SIZE = (120, 40)


async def at_once(seconds: float) -> None:
    """Hardly wait."""
    await asyncio.sleep(0.001)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Make a store with three runs over two conversations, one of which failed in the first run."""
    path = tmp_path / "three.db"
    with store_with(path, [conversation("a", 2), conversation("b", 1)]) as store:
        # Refused, not unavailable: how long an outage is waited for is no part of this.
        broken = failing(JudgeRefused("no", raw="no"), lambda request: "b-0" in request.prompt)
        judge = opened_judge(broken)
        asyncio.run(
            runner.execute_run(
                store,
                planned(store),
                lambda event: None,
                judge=judge,
                environment=RunEnvironment(sleep=at_once),
            )
        )
        for _ in range(2):
            asyncio.run(runner.execute_run(store, planned(store), lambda event: None))
    return path


def numbers(app: FaithApp) -> list[int]:
    """List the runs that are shown."""
    assert isinstance(app.screen, RunsScreen)
    return list(app.screen.listed_ids)


async def ready(pilot: Pilot[None]) -> RunsScreen:
    """Wait for the list."""
    await opened(pilot)
    assert isinstance(pilot.app.screen, RunsScreen)
    return pilot.app.screen


async def test_archiving_is_taken_back_and_done_again(
    make_app: Callable[[Path], FaithApp], three: Path
) -> None:
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await press(pilot, "j", "d")
        assert numbers(app) == [3, 1]
        assert "run #2 archived · u undoes" in status(app)
        assert "1 archived" in screen_text(app)
        assert screen.runs.cursor == 1, "the one in its place is chosen"
        await press(pilot, "u")
        assert numbers(app) == [3, 2, 1]
        assert "undone: run #2 is listed again" in status(app)
        await press(pilot, "ctrl+r")
        assert numbers(app) == [3, 1]
        await press(pilot, "u", "u")
        assert "nothing was archived here" in status(app)
        await press(pilot, "space", "k", "space", "d", "u")
        assert re.search(r"undone: runs #\d #\d are listed again", status(app))


@pytest.mark.thorough
async def test_archived_runs_are_found_by_the_filter_and_brought_back(
    make_app: Callable[[Path], FaithApp], three: Path
) -> None:
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await press(pilot, "space", "space", "space", "d")
        assert numbers(app) == []
        assert "Every run is archived" in screen_text(app)
        await press(pilot, "slash", *"archived:yes", "enter")
        assert numbers(app) == [3, 2, 1]
        assert "archived" in text_of(app, "detail")
        await press(pilot, "home", "d", "escape")
        assert numbers(app) == [3]
    with Store.open(three) as store:
        assert [row.id for row in store.runs.list_runs() if row.archived_at is None] == [3]
        assert store.runs.find_newest_run_id() == 3


@pytest.mark.thorough
async def test_only_what_failed_is_asked_again(
    make_app: Callable[[Path], FaithApp], three: Path
) -> None:
    with Store.open(three) as store:
        before = {int(row.id): row for row in store.runs.list_runs()}
    assert before[1].failed == 1
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await press(pilot, "j", "R")
        assert "nothing failed or lacks a verdict in run #2" in status(app)
        await press(pilot, "j", "R")
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await until(
            pilot,
            lambda: (
                bool(app.session.process_runs) and not app.session.list_unfinished_run_snapshots()
            ),
        )
        await calm(pilot)
    with Store.open(three) as store:
        after = {int(row.id): row for row in store.runs.list_runs()}
    assert (after[1].state, after[1].failed, after[1].done) == (RunState.DONE, 0, 2)
    assert after[2] == before[2]


@pytest.mark.thorough
async def test_two_marked_runs_are_compared(
    make_app: Callable[[Path], FaithApp], three: Path
) -> None:
    with Store.open(three) as store:
        for item in store.runs.list_item_ids(store.runs.list_runs()[0].id):
            view = store.runs.read_conversation_for_review(item, "ann")
            for each in view.claims:
                store.label_log.append_label_event(
                    each.id, "ann", Action.BLIND, "yes",
                    run=view.run.id, judge_verdict=each.first_window_verdict.label, saw_judge=False,
                )  # fmt: skip
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert not screen.check_action("compare", ())
        await press(pilot, "space", "space", "b")
        await calm(pilot)
        assert isinstance(app.screen, TextDialog)
        words = text_of(app, "text")
        for expected in ("run #2", "run #3", "accuracy", "Cohen's kappa", "B - A", "McNemar"):
            assert expected in words


async def test_a_comparison_that_is_impossible_says_why(
    make_app: Callable[[Path], FaithApp], three: Path
) -> None:
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await press(pilot, "j", "space", "space", "b")
        await calm(pilot)
        assert "runs 1 and 2 have no claim" in "".join(each.message for each in app._notifications)
        assert "comparing" not in status(app)


@pytest.mark.thorough
async def test_every_marked_run_is_reported(
    make_app: Callable[[Path], FaithApp], three: Path, tmp_path: Path
) -> None:
    app = make_app(three)
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        await press(pilot, "space", "space", "X")
        await calm(pilot)
        assert "2 reports written" in status(app)
    assert sorted(each.name[:17] for each in (tmp_path / "reports").iterdir()) == [
        "faithtui-report-2",
        "faithtui-report-3",
    ]
