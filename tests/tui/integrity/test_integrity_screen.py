"""The list of what looks wrong, and the queues it leads to."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.integrity.findings import Finding, FindingKind
from faithtui.domain.integrity.run_summary import CHECKS
from faithtui.engine.integrity.run_checks import CheckSnapshot
from faithtui.store.records import FindingCount, FindingRow, FindingSummary
from faithtui.tui.app import FaithApp
from faithtui.tui.integrity.finding_lines import (
    KindRow,
    format_finding_kind_lines,
    format_finding_lines,
    format_kind_explanation_lines,
)
from faithtui.tui.integrity.integrity_screen import IntegrityScreen
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.theme.lines import count_cells_of_pieces
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title, until

SIZES = [(80, 24), (120, 40), (200, 60)]


async def looking(pilot: Pilot[None]) -> IntegrityScreen:
    """Open the screen and wait until everything is checked."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    await press(pilot, "g", "i")
    screen = app.screen
    assert isinstance(screen, IntegrityScreen)
    await until(pilot, lambda: screen.summary.checked > 0 and screen.checks is None)
    await calm(pilot)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_kinds_are_listed_with_counts_and_explained(
    broken: Path, make_app: Callable[[Path], FaithApp], size: tuple[int, int]
) -> None:
    app = make_app(broken)
    async with app.run_test(size=size) as pilot:
        screen = await looking(pilot)
        text = text_of(app, "list")
        assert "claims without a verdict" in text
        assert "words that are no verdict" in text
        assert "suspicious first, not a random sample" in text
        assert "conversations checked" in text
        assert "ot a random sample" in text_of(app, "detail")
        assert "l entries" not in screen_text(app), "of all kinds together there is no list"
        await press(pilot, "down")
        assert "l entries" in screen_text(app)
        assert "never a" in text_of(app, "detail")
        assert "what to do" in text_of(app, "detail")
        assert "The return window is 30 days" in text_of(app, "detail")
        assert "? help" in screen_text(app)
        assert screen.selected_kind is not None


async def test_blind_work_asks_before_it_shows_anything(
    broken: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    app = make_app(broken)
    async with app.run_test(size=(120, 40)) as pilot:
        app.session.is_judge_hidden = True
        screen = await looking(pilot)
        painted = screen_text(app)
        assert "You are working" in painted
        assert "BLIND" in title(app)
        for word in ("verdict flip", "without a verdict", "no verdict", "30 days", "entries"):
            assert word not in painted
        await press(pilot, "s", "l")
        assert app.screen is screen
        await press(pilot, "enter")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "n")
        assert "claims without a verdict" not in screen_text(app)
        await press(pilot, "enter", "y")
        assert "claims without a verdict" in text_of(app, "list")
        app.session.is_judge_hidden = False
        screen.reload()
        await calm(pilot)
        app.session.is_judge_hidden = True
        screen.reload()
        await calm(pilot)
        assert "claims without a verdict" not in screen_text(app)


@pytest.mark.thorough
async def test_a_clean_run_and_an_empty_store_have_words_of_their_own(
    store_path: Path, tmp_path: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    with sqlite3.connect(store_path) as connection:
        connection.execute("DELETE FROM run_item WHERE id > 1")
        connection.execute("DELETE FROM finding")
        connection.execute("UPDATE run_item SET checked = ?", (CHECKS,))
    connection.close()
    app = make_app(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await looking(pilot)
        assert "Nothing looks wrong in 1 conversation." in text_of(app, "list")
        await press(pilot, "enter", "s", "l", "c")
        assert isinstance(app.screen, IntegrityScreen)
        assert "everything that is judged is checked" in status(app)
    empty = make_app(tmp_path / "empty.db")
    async with empty.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "i")
        assert "There is no run yet" in text_of(empty, "list")


async def test_many_conversations_wait_to_be_asked(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(store_path) as connection:
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    monkeypatch.setattr("faithtui.tui.integrity.integrity_screen.CHECKED_AT_ONCE", 1)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "i")
        screen = app.screen
        assert isinstance(screen, IntegrityScreen)
        assert "not checked yet; c checks them" in text_of(app, "list")
        await press(pilot, "c")
        await until(pilot, lambda: screen.summary.waiting == 0 and screen.checks is None)
        await until(pilot, lambda: "conversations checked" in text_of(app, "list"))


@pytest.mark.parametrize("width", [20, 60, 120])
def test_hostile_texts_are_drawn_as_text(width: int) -> None:
    hostile = "[bold red]\x1b[31mred\x07\u202e\n" * 20
    row = FindingRow(
        1,
        ItemId(1),
        1,
        hostile,
        hostile,
        Finding(FindingKind.PHANTOM, hostile, ClaimId(1), 0, 0),
        hostile,
    )
    choice = KindRow(FindingKind.PHANTOM, FindingCount(1, 1, 1))
    for each in [
        *format_finding_lines(row, width, 0),
        *format_kind_explanation_lines(choice, [row], width, KeyNames({})),
    ]:
        assert not {"\x1b", "\x07", "\u202e", "\n"} & set(each.text)
        assert count_cells_of_pieces(each.pieces) <= width
    assert "[bold red]" in "".join(each.text for each in format_finding_lines(row, 120, 0))


@pytest.mark.parametrize("width", [10, 38, 78, 140])
def test_kinds_fit_their_pane(width: int) -> None:
    counts = {kind: FindingCount(1_234_567, 100_000, 999_999) for kind in FindingKind}
    summary = FindingSummary(100_000, 5, counts)
    under_way = CheckSnapshot(RunId(1), 5, 10, 1.0, False, None)
    stopped = CheckSnapshot(RunId(1), 5, 10, 1.0, True, "the disk is full")
    for checks in (None, under_way, stopped):
        lines = format_finding_kind_lines(summary, checks, width, KeyNames({}))
        assert {each.row for each in lines} == {None, *range(len(FindingKind) + 1)}
        if width > 30:
            assert all(count_cells_of_pieces(each.pieces) <= width for each in lines)
    assert " 1 s left" in format_finding_kind_lines(summary, under_way, 78, KeyNames({}))[0].text
    assert (
        "the disk is full" in format_finding_kind_lines(summary, stopped, 78, KeyNames({}))[0].text
    )
