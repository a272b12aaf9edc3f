"""A store with damaged pages: each screen says in its own pane why it is empty, and the way out."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.screen_catalog import SCREENS
from tests.tui.driving import screen_text, status, text_of, until
from tests.tui.test_screens import labelled

WAY_OUT = ("is damaged;", "faithtui backup --restore COPY", "faithtui doctor --salvage NEW")


def damage_pages(path: Path, *tables: str) -> None:
    """Overwrite the first page of tables and of their indexes."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        # Else a copy of the page in the log would be read.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
        pages = [
            page
            for table in tables
            for (page,) in connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE tbl_name = ? AND rootpage > 0", (table,)
            )
        ]
    assert len(pages) >= len(tables)
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xaa" * size)


async def go_to(pilot: Pilot[None], screen: str) -> None:
    await pilot.press("g")
    await pilot.pause()
    await pilot.press(SCREENS[screen].letter)


def words_on_screen(app: FaithApp) -> str:
    """Read what is painted, however it is wrapped, without frames and the words that pass."""
    app.clear_notifications()
    return " ".join(screen_text(app).replace("┃", " ").replace("│", " ").split())


@pytest.mark.parametrize(
    ("table", "screens"),
    [
        ("run", ["runs"]),
        ("run_item", ["conversations", "metrics", "progress"]),
        ("claim", ["review"]),
        ("human_label", ["agreement", "adjudicate"]),
        ("finding", ["integrity"]),
        ("sample", ["queues"]),
    ],
)
async def test_a_screen_that_cannot_be_read_says_why_and_the_way_out(
    app: FaithApp, store_path: Path, table: str, screens: list[str]
) -> None:
    labelled(store_path)
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        item = store.runs.list_item_ids(run)[0]
    damage_pages(store_path, table)
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: app.session.is_open)
        app.session.switch_run(run)
        app.session.choose_conversation(item)
        for screen in screens:
            if screen != "runs":
                await go_to(pilot, screen)
                await until(pilot, lambda at=screen: app.current_screen_name == at)  # type: ignore[misc]  # bound to this screen
            await until(pilot, lambda: status(app).startswith("not read: "))
            await until(pilot, lambda: all(each in words_on_screen(app) for each in WAY_OUT))
            shown = words_on_screen(app)
            assert "eading …" not in shown
            assert "There is no run yet" not in shown
            assert "No run yet" not in shown
            boxes = len(app.screen.query("Toast"))
            assert isinstance(app.screen, FaithScreen)
            app.screen.reload_after_store_change()
            await until(pilot, lambda: all(each.is_finished for each in app.workers))
            await pilot.pause()
            assert len(app.screen.query("Toast")) == boxes, "what is said already needs no box"


@pytest.mark.parametrize("table", ["turn", "turn_document", "verdict"])
async def test_rows_that_cannot_be_read_leave_the_list(
    app: FaithApp, store_path: Path, table: str
) -> None:
    damage_pages(store_path, table)
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: app.session.is_open)
        await go_to(pilot, "conversations")
        await until(pilot, lambda: "gone, or not to be read" in screen_text(app))
        assert status(app).startswith("not read: ")
        await pilot.press("j", "j")
        assert app.is_running


async def test_adjudication_shows_no_figures_beside_a_changed_label(
    app: FaithApp, store_path: Path
) -> None:
    labelled(store_path)
    with contextlib.closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("UPDATE human_label SET verdict = 'idk' WHERE rowid = 1")
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: app.session.is_open)
        await go_to(pilot, "adjudicate")
        sentence = "the label of bo on claim 1 is not what was written"
        await until(pilot, lambda: sentence in words_on_screen(app))
        assert text_of(app, "raters").strip() == ""
        assert text_of(app, "evidence").strip() == ""
        assert "eading …" not in screen_text(app)


@pytest.mark.parametrize("table", ["claim", "human_label", "sample"])
async def test_the_list_of_runs_says_why_there_is_no_kappa(
    app: FaithApp, store_path: Path, table: str
) -> None:
    labelled(store_path)
    damage_pages(store_path, table)
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: "no kappa, as not all of it" in words_on_screen(app))
        shown = words_on_screen(app)
        assert all(each in shown for each in WAY_OUT)
        assert "not read" in screen_text(app)
        assert "reading" not in shown


async def test_a_kappa_that_rests_on_a_changed_verdict_is_not_shown(
    app: FaithApp, store_path: Path
) -> None:
    labelled(store_path)
    with contextlib.closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("UPDATE verdict SET label = 'idk' WHERE rowid = 1")
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: "no kappa" in text_of(app, "detail"))
        shown = " ".join(text_of(app, "detail").split())
        assert "no kappa, as not all of it could be read: the verdict on claim " in shown
        assert "is not what was written" in shown
        assert "`faithtui doctor` names all of them" in shown


@pytest.mark.parametrize(
    ("table", "column", "screens"),
    [
        ("run", "rule", ["runs"]),
        ("run_item", "scores", ["conversations", "review"]),
        ("window", "turns", ["review"]),
    ],
)
async def test_json_that_was_changed_is_told_with_its_row(
    app: FaithApp, store_path: Path, table: str, column: str, screens: list[str]
) -> None:
    with contextlib.closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = '17' WHERE rowid = 1")
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: app.session.is_open)
        app.session.switch_run(RunId(1))
        for screen in screens:
            if screen != "runs":
                await go_to(pilot, screen)
            sentence = f"not read: row 1 of table {table} is not what was written"
            await until(pilot, lambda told=sentence: status(app).startswith(told))  # type: ignore[misc]  # bound to this screen
