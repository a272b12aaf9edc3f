"""What the app passes on to its controllers, and what these decide where no key leads there."""

import threading
from pathlib import Path

import pytest
from textual import events
from textual.binding import Binding

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.resume_position import Bookmark, BookmarkFile
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs import background_runs
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme import theme
from tests.tui.building import NOON
from tests.tui.driving import (
    acts,
    calm,
    opened,
    press,
    reviewing,
    status,
    stored,
    type_ahead,
    until,
)
from tests.tui.staged_runs import StagedRun

SIZE = (80, 24)


def test_every_key_of_a_controller_has_its_action_on_the_app() -> None:
    actions = {each.action for each in FaithApp.BINDINGS if isinstance(each, Binding)}
    assert "leave" in actions
    assert [each for each in actions if not hasattr(FaithApp, f"action_{each}")] == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, theme.DARK.name),
        ("light", theme.THEMES["light"].name),
        ("nord", "nord"),
        ("no such theme", theme.DARK.name),
    ],
)
def test_a_theme_is_found_by_the_word_of_the_settings(
    store_path: Path, wanted: str | None, found: str
) -> None:
    assert FaithApp(store_path, reviewer="ann", theme_name=wanted).theme == found


async def test_q_goes_over_screens_that_are_closed_while_blind(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "g", "m", "g", "s")
        assert app.current_screen_name == "settings"
        app.session.is_judge_hidden = True
        await press(pilot, "q")
        assert app.current_screen_name == "runs"
        assert not app.check_action("go_back", ()), "the screen of metrics is no way back either"


@pytest.mark.thorough
async def test_ctrl_c_and_a_paste_say_what_they_do_not_and_no_box_repeats(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "ctrl+c")
        assert status(app) == "ctrl+q quits, ctrl+c does not"
        app.post_message(events.Paste("nnn"))
        await calm(pilot)
        assert status(app).startswith("a paste did nothing")
        screen = app.screen
        assert isinstance(screen, FaithScreen)
        for words in ("first " * 30, "second " * 30, "second " * 30):
            screen.refuse(words)
            await calm(pilot)
        assert [each.message for each in app._notifications] == ["second " * 30]
        app.notify("Runs are left", severity="warning")
        screen.refuse("third " * 30)
        await calm(pilot)
        told = [each.message for each in app._notifications]
        assert told == ["Runs are left", "third " * 30], "what is no refusal stays"
        screen.refuse("short")
        assert [each.message for each in app._notifications] == ["Runs are left"]


@pytest.mark.parametrize(
    ("bookmark", "chosen", "found"),
    [
        (Bookmark("agreement", 1), None, "agreement"),
        (Bookmark("agreement", 1), "settings", "settings"),
        (Bookmark("agreement", 99), None, "runs"),
        (Bookmark("no such screen", 1), None, "runs"),
        (Bookmark("metrics", 1, blind=True), None, "runs"),
    ],
)
async def test_a_bookmark_leads_to_its_screen_but_not_away_from_one_chosen_meanwhile(
    store_path: Path, tmp_path: Path, bookmark: Bookmark, chosen: str | None, found: str
) -> None:
    go_on = threading.Event()

    def open_slowly(path: Path) -> Store:
        go_on.wait(20)
        return Store.open(path)

    file = BookmarkFile(tmp_path / "places", store_path, "ann")
    file.write_bookmark_if_changed(bookmark)
    app = FaithApp(
        store_path, reviewer="ann", now=lambda: NOON, open_store=open_slowly, bookmarks=file
    )
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        if chosen is not None:
            app.show_screen(chosen)
            await until(pilot, lambda: app.screen is app.get_screen(chosen))
        go_on.set()
        await opened(pilot)
        assert app.current_screen_name == found


async def test_keys_typed_before_a_blind_review_is_restored_reveal_nothing(
    store_path: Path, tmp_path: Path
) -> None:
    is_opening, go_on = threading.Event(), threading.Event()

    def open_slowly(path: Path) -> Store:
        is_opening.set()
        go_on.wait(20)
        return Store.open(path)

    file = BookmarkFile(tmp_path / "places", store_path, "ann")
    item = stored(store_path).item.id
    file.write_bookmark_if_changed(Bookmark("review", 1, item, blind=True))
    app = FaithApp(store_path, reviewer="ann", open_store=open_slowly, bookmarks=file)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, is_opening.is_set)
        type_ahead(app, "j", "v", "B", "n")
        assert isinstance(app.screen, RunsScreen)
        assert app.screen.rows is None, "they would show scores, and offer keys"
        go_on.set()
        await opened(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert "did nothing" in status(app)
        assert app.screen.view is not None
        assert app.screen.view.hidden
    assert acts(store_path) == []


async def test_a_bookmark_keeps_the_claim_while_another_screen_is_shown(
    store_path: Path, tmp_path: Path
) -> None:
    file = BookmarkFile(tmp_path / "places", store_path, "ann")
    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, bookmarks=file)
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "down", "down")
        assert screen.claim is not None
        chosen = screen.claim.id
        await press(pilot, "g", "s")
        await app.bookmark_keeper.save_current_place()
        assert file.read().screen == "settings"
        assert file.read().claim == chosen


async def test_a_run_that_is_about_to_begin_is_not_begun_again(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    go_on = threading.Event()

    def begin_slowly(session: object, run: RunId) -> StagedRun:
        begun.append(run)
        assert go_on.wait(20)
        return StagedRun()

    monkeypatch.setattr(background_runs, "_begin_background_run", begin_slowly)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.waiting_runs = [RunId(1)]
        app.background_runs.begin_or_resume_run(RunId(1))
        app.background_runs.begin_or_resume_run(RunId(1))
        assert app.session.waiting_runs == [], "what is begun by hand does not wait any more"
        app.session.waiting_runs = [RunId(2)]
        app.background_runs.begin_next_waiting_run()
        await until(pilot, lambda: begun != [])
        go_on.set()
        await until(pilot, lambda: app.session.process_runs != [])
        app.background_runs.begin_next_waiting_run()
        await pilot.pause()
        assert begun == [1], "the next one waits while this one is on"


async def test_a_bug_that_ended_a_run_ends_the_app(app: FaithApp) -> None:
    run = StagedRun()
    run.bug = ValueError("a bug of the engine")  # type: ignore[assignment]  # as a real run has it
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # stands in for a run
        app.store_watcher.reload_screens_if_store_changed()  # it has not ended yet
        run.end()
        with pytest.raises(ValueError, match="of the engine"):
            app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        app.session.process_runs.clear()
