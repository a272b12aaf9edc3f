"""The first paint, a store that cannot be opened, and sizes nobody plans for."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

import faithtui.tui
from faithtui.errors import StoreError
from faithtui.store.store import Store
from faithtui.tui import screen_catalog
from faithtui.tui.allowed_actions import WHY_NOTHING_IS_SAVED, WRITING_KEYS
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.new_run.new_run_screen import NewRunScreen
from faithtui.tui.screen.store_error import StoreErrorScreen
from faithtui.tui.widgets.bars import StatusLine
from tests.tui.building import NOON
from tests.tui.driving import (
    calm,
    opened,
    press,
    reviewing,
    screen_text,
    status,
    text_of,
    type_ahead,
    until,
)

SLOW = frozenset({
    "sqlmodel", "sqlalchemy", "alembic", "openai", "anthropic", "pydantic", "numpy", "scipy",
    "pandas", "sklearn", "rapidfuzz", "typer", "httpx2", "sentencex",
    "faithtui.cli.main", "faithtui.domain.integrity.findings",
    "faithtui.domain.text.passage_ranking", "faithtui.judges.base", "faithtui.metrics.registry",
    "faithtui.store.schema.tables", "faithtui.store.records",
})  # fmt: skip
"""What takes long to import, or brings along what does."""

NEVER_FOR_LABELS = frozenset({
    "alembic", "anthropic", "duckdb", "genai_prices", "httpx2", "keyring", "numpy", "openai",
    "pyarrow", "scipy", "sklearn", "typer",
    "faithtui.agreement.report.report", "faithtui.judges.embedded.embedded_judge",
})  # fmt: skip
"""What figures, live judges, migrations and commands need: it would be held in memory."""

FILES = Path(faithtui.tui.__file__).parent

AT_FIRST_PAINT = """
import sys
from faithtui.cli import stores
from faithtui.tui.app import FaithApp
from faithtui.tui.store_opener import StoreOpener

def painted(opening):
    print("loaded", *sorted(sys.modules))
    opening.app.exit()

# Opening the store comes after the first paint, and imports what the paint must not wait for.
StoreOpener.open_store_in_background = painted
run = FaithApp.run
FaithApp.run = lambda app: run(app, headless=True)
stores.has_terminal = lambda: True
stores.show_app = stores.show_app.__wrapped__  # the terminal stays as it is
sys.argv = ["faithtui"]
from faithtui.cli.entry import main
main()
"""

AFTER_A_LABEL = """
import asyncio, sys
from pathlib import Path
from faithtui.tui import store_opener
from faithtui.tui.app import FaithApp
from tests.tui.driving import press, reviewing, until

async def label():
    app = FaithApp(Path(sys.argv[1]), reviewer="ann")
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "j", "y")
        await until(pilot, lambda: app.session.store.label_log.read_newest_event_id() > 0)
    app.session.store.close()
    print("loaded", *sorted(sys.modules))

store_opener._load_screens()  # as a thread of the app does when the first rows are there
assert "rapidfuzz.process" in sys.modules, "the first claim shown would wait for it"
asyncio.run(label())
"""


def test_giving_verdicts_loads_nothing_that_only_figures_and_judges_need(store_path: Path) -> None:
    with sqlite3.connect(store_path) as connection:  # else the list of runs says how they agree
        connection.execute("DELETE FROM human_label")
    connection.close()
    done = subprocess.run(
        [sys.executable, "-c", AFTER_A_LABEL, str(store_path)],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    loaded = next(line for line in done.stdout.splitlines() if line.startswith("loaded")).split()
    assert "faithtui.tui.review.review_screen" in loaded
    assert "faithtui.tui.agreement.agreement_screen" in loaded
    assert set(loaded) & NEVER_FOR_LABELS == set()


def test_nothing_slow_is_imported_before_the_first_paint(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FAITHTUI")}
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", AT_FIRST_PAINT], capture_output=True, text=True, check=True,
        stdin=subprocess.DEVNULL,
        env={**kept, "PYTHONPATH": path, "FAITHTUI_HOME": str(tmp_path)},
    )  # fmt: skip
    loaded = next(line for line in done.stdout.splitlines() if line.startswith("loaded")).split()
    assert "faithtui.tui.runs.runs_screen" in loaded
    assert set(loaded) & SLOW == set()


async def test_the_first_paint_does_not_wait_for_the_store(store_path: Path) -> None:
    go_on = threading.Event()

    def slowly(path: Path) -> Store:
        go_on.wait(20)
        return Store.open(path)

    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, open_store=slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "RUNS" in screen_text(app)
        # The rows come from a first look at the file, which needs nothing that is slow to import.
        await until(pilot, lambda: "turn-faithf…" in screen_text(app))
        assert not app.session.is_open
        # What is typed at them is done once there is a store, in the order it was typed.
        await pilot.press("g", "p", "g", "r", "n")
        assert app.is_running
        assert app.current_screen_name == "runs"
        go_on.set()
        await until(pilot, lambda: app.session.is_open)
        await until(pilot, lambda: isinstance(app.screen, NewRunScreen))
        await until(pilot, lambda: bool(app.screen.query("#metrics")))
        await pilot.pause()


@pytest.mark.parametrize("kind", ["text", "newer", "folder"])
async def test_a_store_that_cannot_be_opened_is_explained(
    make_app: Callable[[Path], FaithApp], tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "broken [bold] \x1b]0;x\x07.db"
    if kind == "text":
        path.write_text("this is no database, however long one looks at it " * 50)
    elif kind == "newer":
        with Store.open(path):
            pass
        with sqlite3.connect(path) as connection:
            connection.execute("update alembic_version set version_num = '9999'")
        connection.close()
    else:
        path = tmp_path / "nowhere" / "x.db"
    app = make_app(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StoreErrorScreen))
        await pilot.pause()
        text = screen_text(app)
        assert "cannot be opened" in text
        assert "faithtui --store FILE" in text
        assert "\x1b" not in text
        await pilot.press("question_mark", "escape", "q")
        await until(pilot, lambda: app._exit)
    assert app.return_code == StoreError.exit_code


async def test_leaving_while_help_is_being_opened_is_no_crash(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        app.action_help()
        await app.action_leave()
    assert app.return_code == 0


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(20, 5), (40, 12), (60, 18), (100, 30), (160, 50), (250, 80)])
async def test_every_screen_stands_any_size(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        for letter in "cvmapr":
            await press(pilot, "g", letter)
            await pilot.resize_terminal(*size)
            await pilot.pause()
            screen_text(app)
            await pilot.resize_terminal(80, 24)


@pytest.mark.thorough
async def test_every_theme_has_our_colours(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = "ansi-dark"
        await opened(pilot)
        await press(pilot, "g", "v")
        for theme in ("ansi-dark", "textual-light", "tokyo-night", "faithtui-light"):
            app.theme = theme
            await calm(pilot)
            assert app.get_css_variables().keys() >= {"verdict-bad", "verdict-good"}
            screen_text(app)


@pytest.mark.thorough
async def test_styles_are_read_once_until_the_theme_changes(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[str] = []
    reparse = Stylesheet.reparse

    def counted(self: Stylesheet) -> None:
        again.append(type(app.screen).__name__)
        reparse(self)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    brought = list(FILES.rglob("*.tcss"))
    assert FILES / "screen" / "dialogs.tcss" in brought
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        for name in screen_catalog.SCREENS:
            app.show_screen(name)
            await press(pilot, "question_mark", "escape", "g", "escape")
        for path in brought:
            known = app.stylesheet.has_source(str(path), "")
            assert known, f"{path.name} is read when its screen is shown, and everything with it"
        assert again == []
        before = app.screen.styles.background
        app.theme = "faithtui-light"
        await until(pilot, lambda: app.screen.styles.background != before)
        assert len(again) == 1


async def test_the_theme_one_starts_with_is_the_one_that_is_drawn(store_path: Path) -> None:
    for name in ("light", "dark"):
        app = FaithApp(store_path, reviewer="ann", theme_name=name)
        async with app.run_test(size=(80, 24)):
            wanted = app.get_css_variables()["background"]
            assert app.screen.styles.background == Color.parse(wanted)


async def test_resizing_through_every_size_never_crashes(app: FaithApp) -> None:
    sizes = [(20, 5), (250, 80), (60, 18), (33, 9)]
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        for name in screen_catalog.SCREENS:
            app.show_screen(name)
            for width, height in sizes:
                await pilot.resize_terminal(width, height)
            await press(pilot, "z")
            for width, height in reversed(sizes[:2]):
                await pilot.resize_terminal(width, height)
            await press(pilot, "z")
            await until(pilot, lambda: app.size == (20, 5))
        await pilot.resize_terminal(80, 24)
        # Between a resize and its layout the painted lines are those of the size before.
        await until(pilot, lambda: app.screen._compositor.size == app.size)
        await until(pilot, lambda: "? help" in screen_text(app))


async def test_enter_pressed_while_the_list_is_read_is_carried_out(
    store_path: Path,
) -> None:
    go_on = threading.Event()

    def slowly(path: Path) -> Store:
        go_on.wait(20)
        return Store.open(path)

    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, open_store=slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        go_on.set()
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))


def content(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.thorough
async def test_a_store_that_can_only_be_read_is_shown_and_nothing_is_said_to_be_saved(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.store.database.can_write", lambda path: False)
    before = content(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await until(pilot, lambda: "judge" in text_of(app, "detail"))
        offered = screen_text(app)
        assert not any(word in offered for word in ("new run", "archive", "spot-check", "retry"))
        screen = await reviewing(pilot)
        assert "read only: nothing is saved" in screen_text(app)
        await press(pilot, "y")
        assert "not saved" in status(app)
        assert screen.claim is not None
        assert screen.claim.mine is None
        await press(pilot, "e", "x", "enter", "u", "g", "i", "c")
        await press(pilot, "g", "u")
        assert "read only: nothing is saved" in screen_text(app)
        await press(pilot, "ctrl+s", "escape")
    assert content(store_path) == before


WRITES = {
    "r": ("n", "d", "R"),
    "c": ("R",),
    "v": ("y", "x", "1", "s", "f", "e", "u", "ctrl+r", "m", ".", "v", "E", "plus"),
    "p": ("R",),
    "i": ("c",),
    "u": ("n", "c", "R"),
    "d": ("a", "y", "e", "s", "u"),
}
"""By letter of a screen: keys of it that write, wherever they could be pressed."""


@pytest.mark.thorough
async def test_no_screen_offers_what_writes_where_nothing_can_be_saved(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.store.database.can_write", lambda path: False)
    before = content(store_path)
    refused = 0
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await reviewing(pilot)
        await press(pilot, "g", "r")
        for letter, keys in WRITES.items():
            await press(pilot, "g", letter)
            shown = app.screen
            offered = {each.binding.id for each in shown.active_bindings.values()}
            assert not offered & WRITING_KEYS, letter
            could = {
                key
                for key, each in Screen.active_bindings.__get__(shown).items()
                if each.binding.id in WRITING_KEYS
            }
            palette = " ".join(each.title for each in app.get_system_commands(shown))
            assert "draw" not in palette
            assert "archive" not in palette
            for key in keys:
                app.screen.query_one(StatusLine).left = ()
                await press(pilot, key)
                assert app.screen is shown, (letter, key)
                if key in could:
                    assert status(app) == WHY_NOTHING_IS_SAVED, (letter, key)
                    refused += 1
    assert refused >= 12
    assert content(store_path) == before


async def test_an_empty_store_that_can_only_be_read_offers_no_run(
    make_app: Callable[[Path], FaithApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "empty.db"
    Store.open(path).close()
    monkeypatch.setattr("faithtui.store.database.can_write", lambda path: False)
    app = make_app(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await until(pilot, lambda: "the store can only be read" in screen_text(app))
        assert "starts a run" not in screen_text(app)


async def test_a_store_that_was_upgraded_tells_where_the_old_one_is(
    make_app: Callable[[Path], FaithApp], tmp_path: Path
) -> None:
    old = Path(__file__).parents[2] / "fixtures" / "databases" / "v9.sqlite"
    path = Path(shutil.copy(old, tmp_path / "old.db"))
    app = make_app(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        told = [each.message for each in app._notifications]
    assert any("old.schema-0009.db" in each for each in told)


async def test_keys_typed_before_the_first_list_is_read_are_kept(store_path: Path) -> None:
    go_on = threading.Event()

    def slowly(path: Path) -> Store:
        go_on.wait(20)
        return Store.open(path)

    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, open_store=slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        type_ahead(app, "v")
        await pilot.pause()
        assert app.current_screen_name == "runs"
        go_on.set()
        await until(pilot, lambda: app.current_screen_name == "review")
