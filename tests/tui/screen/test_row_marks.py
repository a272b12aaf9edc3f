"""Rows are marked by their ids, so neither a filter nor an order loses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.screen.row_marks import RowMarks
from tests.tui.driving import opened, press, screen_text

SIZE = (120, 40)
ROWS = st.lists(st.integers(0, 20), unique=True, min_size=1, max_size=12)


@given(ROWS, st.data())
def test_turning_a_row_twice_changes_nothing(rows: list[int], data: st.DataObject) -> None:
    marks = RowMarks()
    for row in data.draw(st.lists(st.sampled_from(rows))):
        marks.toggle(row)
    before = set(marks)
    chosen = data.draw(st.sampled_from(rows))
    marks.toggle(chosen)
    assert (chosen in marks) is (chosen not in before)
    marks.toggle(chosen)
    assert set(marks) == before


@given(ROWS, st.data())
def test_a_reach_marks_all_between_in_the_order_that_is_listed_now(
    rows: list[int], data: st.DataObject
) -> None:
    first, last = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(rows))
    listed = data.draw(st.permutations(rows))
    marks = RowMarks()
    marks.toggle(first)
    marks.mark_range(last, listed)
    low, high = sorted((listed.index(first), listed.index(last)))
    assert set(marks) == set(listed[low : high + 1])


def test_a_reach_from_a_row_that_is_not_listed_marks_one() -> None:
    marks = RowMarks()
    marks.toggle(99)
    marks.mark_range(2, [1, 2, 3])
    assert list(marks) == [99, 2]


async def listed(pilot: object, app: FaithApp) -> ConversationsScreen:
    from textual.pilot import Pilot

    assert isinstance(pilot, Pilot)
    await opened(pilot)
    await press(pilot, "enter")
    assert isinstance(app.screen, ConversationsScreen)
    return app.screen


@pytest.mark.thorough
async def test_space_marks_and_goes_on_and_m_marks_up_to_here(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        await press(pilot, "space")
        assert screen.items.cursor == 1
        assert "1 marked" in screen_text(app)
        await press(pilot, "end", "m")
        assert len(screen.marks) == 4
        assert "4 marked" in screen_text(app)
        await press(pilot, "home", "space")
        assert len(screen.marks) == 3, "a second time takes the mark away"
        await press(pilot, "escape")
        assert not screen.marks
        assert "marked" not in screen_text(app)


@pytest.mark.thorough
async def test_marks_outlive_filter_order_and_a_way_elsewhere(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        await press(pilot, "space", "space")
        kept = set(screen.marks)
        await press(pilot, "slash", *"gift", "enter")
        assert len(screen.listed_ids) == 1
        assert set(screen.marks) == kept
        assert "2 marked" in screen_text(app)
        await press(pilot, "s", "escape")
        assert not screen.state.filter, "escape takes the filter away first"
        assert set(screen.marks) == kept
        await press(pilot, "g", "r", "enter")
        assert set(screen.marks) == kept
        lines = screen_text(app).splitlines()
        assert sum(line.lstrip("│┃ ").startswith("+ ") for line in lines) == 2
