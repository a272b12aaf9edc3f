"""Terminals without room: what is needed is said, no key acts unseen, and all is there again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.help_dialog import HelpDialog
from faithtui.tui.theme.lines import count_cells_of_pieces
from faithtui.tui.widgets.too_small import TooSmall, too_small_lines
from tests.tui.driving import calm, opened, press, reviewing, screen_text, status, until


@given(st.integers(1, 70), st.integers(1, 20))
def test_the_sentence_fits_any_width_and_begins_with_what_to_do(width: int, height: int) -> None:
    lines = too_small_lines((width, height), (60, 18), "ctrl+q")
    assert all(count_cells_of_pieces(each.pieces) <= width for each in lines)
    assert "".join(each.text for each in lines).replace(" ", "").startswith("Enlarge")


@pytest.mark.parametrize("size", [(59, 40), (120, 17), (20, 5)])
async def test_a_screen_without_room_says_so_and_comes_back(
    app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "j")
        before = screen_text(app)
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: bool(app.screen.query(TooSmall)))
        await calm(pilot)
        painted = " ".join(screen_text(app).split())
        assert "Enlarge this terminal to 60x18" in painted
        assert "Runs" not in painted
        await press(pilot, "enter", "question_mark", "g")
        assert isinstance(app.screen, RunsScreen), "no key acts on what is not seen"
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not app.screen.query(TooSmall))
        await calm(pilot)
        assert screen_text(app) == before


async def test_a_terminal_that_begins_small_is_covered_too(app: FaithApp) -> None:
    async with app.run_test(size=(30, 8)) as pilot:
        await opened(pilot)
        assert "Enlarge" in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "conv" in screen_text(app))
        assert isinstance(app.screen, RunsScreen)


async def test_a_window_above_a_screen_is_covered_and_stays(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "question_mark")
        await pilot.resize_terminal(50, 12)
        await until(pilot, lambda: "Enlarge" in screen_text(app))
        await press(pilot, "escape")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Enlarge" not in screen_text(app))
        assert isinstance(app.screen, HelpDialog)


async def test_review_goes_on_with_claim_evidence_and_verdict_where_little_is_left(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await pilot.resize_terminal(44, 16)
        await until(pilot, lambda: app.size == (44, 16))
        await calm(pilot)
        painted = screen_text(app)
        for expected in ("Claims", "Evidence", "Verdict", "? help"):
            assert expected in painted, expected
        await press(pilot, "y")
        assert "saved" in status(app)
        await pilot.resize_terminal(43, 16)
        await until(pilot, lambda: "44x16" in " ".join(screen_text(app).split()))
        await press(pilot, "n")
        assert isinstance(app.screen, ReviewScreen)
    with Store.open(store_path) as store:
        item = store.runs.list_item_ids(store.runs.list_runs()[0].id)[0]
        said = [
            each
            for each in store.runs.read_conversation_for_review(item, "ann").claims
            if each.mine
        ]
        assert len(said) == 1, "a verdict is given on what is painted, or not at all"


async def test_ctrl_q_quits_without_room_too(app: FaithApp) -> None:
    async with app.run_test(size=(20, 5)) as pilot:
        await opened(pilot)
        await press(pilot, "ctrl+q")
    assert app.return_code == 0
