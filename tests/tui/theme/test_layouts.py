import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.review.layout import lay_out_review
from faithtui.tui.theme import layouts
from faithtui.tui.theme.layouts import LayoutFunction, PaneLayout

LAYOUT_FUNCTIONS = [
    lay_out_review,
    layouts.make_home_layout_function(lambda: 1),
    layouts.make_home_layout_function(lambda: 90),
    layouts.make_home_layout_function(lambda: 0),
    layouts.lay_out_list_and_text,
    layouts.lay_out_queues,
    layouts.lay_out_agreement,
    layouts.lay_out_metrics,
    layouts.lay_out_progress,
    layouts.lay_out_adjudication,
]


def covers(layout: PaneLayout, width: int, height: int) -> bool:
    area = 0
    taken: set[tuple[int, int]] = set()
    for box in layout.values():
        assert box.width > 0
        assert box.height > 0
        area += box.width * box.height
        for x in range(box.x, box.x + box.width):
            for y in range(box.y, box.y + box.height):
                assert 0 <= x < width
                assert 0 <= y < height
                taken.add((x, y))
    return len(taken) == area == width * height


@pytest.mark.parametrize(
    "layout_function", LAYOUT_FUNCTIONS, ids=lambda layout_function: layout_function.__name__
)
@given(width=st.integers(20, 250), height=st.integers(16, 80))
def test_panes_cover_the_area_without_overlaps(
    layout_function: LayoutFunction, width: int, height: int
) -> None:
    assert covers(layout_function(width, height), width, height)


@given(st.integers(20, 250), st.integers(5, 80))
def test_claims_evidence_and_verdict_are_never_lost(width: int, height: int) -> None:
    layout = lay_out_review(width, height)
    assert {"claims", "evidence", "verdict"} <= layout.keys()
    assert covers(layout, width, height)


@pytest.mark.parametrize(
    "layout_function", LAYOUT_FUNCTIONS, ids=lambda layout_function: layout_function.__name__
)
@given(width=st.integers(1, 40), height=st.integers(1, 20))
def test_a_clipped_layout_stays_inside_however_small(
    layout_function: LayoutFunction, width: int, height: int
) -> None:
    layout = layouts.clip_layout(layout_function(width, height), width, height)
    for box in layout.values():
        assert 0 <= box.x < box.x + box.width <= width
        assert 0 <= box.y < box.y + box.height <= height


def test_three_columns_where_wide_two_elsewhere() -> None:
    columns = [
        len({box.x for box in lay_out_review(width, height).values()})
        for width, height in ((80, 20), (120, 36), (200, 56))
    ]
    assert columns == [2, 2, 3]
