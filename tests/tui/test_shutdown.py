"""Quitting while answers are on their way: they are waited for, unless somebody says not to."""

import asyncio
import signal

import pytest
from textual.app import ComposeResult
from textual.css.query import NoMatches
from textual.pilot import Pilot

from faithtui.domain.ids import RunId
from faithtui.tui import shutdown
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.quit_wait_dialog import QuitProgressDialog
from faithtui.tui.widgets.filter_bar import FilterBar
from tests.tui.driving import opened, screen_text, text_of, type_ahead, until
from tests.tui.staged_runs import StagedRun


async def quitting(pilot: Pilot[None]) -> StagedRun:
    """Say yes to quitting while answers are on their way."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    run = StagedRun()
    app.session.process_runs.append(run)  # type: ignore[arg-type]  # stands in for a run
    await pilot.press("ctrl+q")
    await until(pilot, lambda: "A run is on. Quit?" in screen_text(app))
    await pilot.press("y")
    return run


@pytest.mark.thorough
async def test_answers_on_their_way_are_waited_for(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = await quitting(pilot)
        await until(pilot, lambda: isinstance(app.screen, QuitProgressDialog))
        await pilot.pause()
        assert "3 replies in flight" in text_of(app, "text")
        assert "ctrl+q quits at once" in " ".join(text_of(app, "text").split())
        await pilot.press("escape", "q", "enter")
        await pilot.pause()
        assert isinstance(app.screen, QuitProgressDialog), "there is no way back"
        assert run.cancelled == 1
        run.end()
        await until(pilot, lambda: app._exit)


async def test_quitting_again_gives_them_up(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = await quitting(pilot)
        await until(pilot, lambda: isinstance(app.screen, QuitProgressDialog))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
        assert run.cancelled == 2


async def test_what_ends_at_once_is_not_talked_about(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = await quitting(pilot)
        run.end()
        await until(pilot, lambda: app._exit)
        assert run.cancelled <= 2


async def test_without_room_nothing_is_asked_and_answers_are_kept_all_the_same(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        run = StagedRun()
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # as above
        await pilot.resize_terminal(20, 5)
        await until(pilot, lambda: app.small_terminal.is_small)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: run.cancelled == 1)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)
        assert run.cancelled == 2


async def test_nobody_reads_a_store_that_closes(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await app.action_leave()
        app.store_watcher.reload_screens_if_store_changed()  # a timer that was due meanwhile
        app.call_later(app.session.store.read_change_number)  # a screen that was being drawn
        await until(pilot, lambda: app._exit)
    assert app._exception is None


async def test_what_waits_is_not_begun_while_one_leaves(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = await quitting(pilot)
        app.session.waiting_runs = [RunId(7)]
        await until(pilot, lambda: isinstance(app.screen, QuitProgressDialog))
        run.end()
        app.background_runs.begin_next_waiting_run()
        assert not app.background_runs._about_to_begin
        await until(pilot, lambda: app._exit)


async def test_a_signal_waits_for_answers_only_a_moment(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "UNATTENDED_TIMEOUT_S", 0.0)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        run = StagedRun()
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # stands in for a run
        app.shutdown._leave_without_asking(143)
        await until(pilot, lambda: app._exit)
        assert run.cancelled == 2, "asked to end, then given up"
    assert app.return_code == 143


async def test_a_signal_gives_up_what_somebody_waits_for(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "UNATTENDED_TIMEOUT_S", 300.0)
    async with app.run_test(size=(80, 24)) as pilot:
        run = await quitting(pilot)
        await until(pilot, lambda: isinstance(app.screen, QuitProgressDialog))
        app.shutdown._leave_without_asking(143)
        await until(pilot, lambda: app._exit)
        assert run.cancelled == 2
    assert app.return_code == 143


async def test_a_bug_is_told_as_text_without_what_variables_hold(
    app: FaithApp, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        secret = "sk-" + "1" * 20
        raise ValueError(f"\x1b]52;c;evil\x07[b]bold {len(secret)}")

    async def use() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await opened(pilot)
            app.call_later(broken)
            await until(pilot, lambda: app._exception is not None)

    with pytest.raises(ValueError, match="bold"):
        await use()
    told = capsys.readouterr().err
    assert "␛]52;c;evil␇[b]bold 23" in told
    assert "doctor --bundle" in told
    assert not any(each in told for each in ("\x1b]52", "\x07", "1111"))


async def test_a_screen_that_closes_while_it_is_mounted_is_no_bug(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose = FilterBar.compose
    is_expected = app.shutdown.is_shutdown_error
    has_failed = asyncio.Event()
    expected: list[bool] = []

    def note_failure(error: Exception) -> bool:
        expected.append(is_expected(error))
        has_failed.set()
        return expected[-1]

    def close_first(bar: FilterBar) -> ComposeResult:
        """Close the bar before its parts are mounted, as an app does that is quit meanwhile."""
        app.shutdown.is_leaving = True
        bar._closing = True
        return compose(bar)

    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        monkeypatch.setattr(FilterBar, "compose", close_first)
        monkeypatch.setattr(app.shutdown, "is_shutdown_error", note_failure)
        type_ahead(app, "enter")
        # The pilot would wait for the screen, which is not there any more.
        await has_failed.wait()
    assert expected == [True]


async def test_a_widget_that_misses_is_a_bug_while_nobody_leaves(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        assert not app.shutdown.is_shutdown_error(NoMatches("a widget misses"))


def test_an_app_that_ends_before_it_is_told_to_has_the_exit_code_of_the_signal(
    app: FaithApp,
) -> None:
    """A drawing of a store that is closed may end it first: 0 would say that somebody quit."""
    app.shutdown.set_exit_code(128 + signal.SIGTERM)
    assert app.return_code is None
    assert app.shutdown.process_exit_code == 128 + signal.SIGTERM
