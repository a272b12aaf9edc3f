import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.review.layout import plan_review
from faithtui.tui.theme import layouts
from faithtui.tui.theme.layouts import Plan, Planner

PLANNERS = [
    plan_review,
    layouts.make_home_planner(lambda: 1),
    layouts.make_home_planner(lambda: 90),
    layouts.make_home_planner(lambda: 0),
    layouts.plan_list_and_text,
    layouts.plan_queues,
    layouts.plan_agreement,
    layouts.plan_metrics,
    layouts.plan_progress,
    layouts.plan_adjudication,
]


def covers(plan: Plan, width: int, height: int) -> bool:
    area = 0
    taken: set[tuple[int, int]] = set()
    for box in plan.values():
        assert box.width > 0
        assert box.height > 0
        area += box.width * box.height
        for x in range(box.x, box.x + box.width):
            for y in range(box.y, box.y + box.height):
                assert 0 <= x < width
                assert 0 <= y < height
                taken.add((x, y))
    return len(taken) == area == width * height


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: planner.__name__)
@given(width=st.integers(20, 250), height=st.integers(16, 80))
def test_panes_cover_the_area_without_overlaps(planner: Planner, width: int, height: int) -> None:
    assert covers(planner(width, height), width, height)


@given(st.integers(20, 250), st.integers(5, 80))
def test_claims_evidence_and_verdict_are_never_lost(width: int, height: int) -> None:
    plan = plan_review(width, height)
    assert {"claims", "evidence", "verdict"} <= plan.keys()
    assert covers(plan, width, height)


@pytest.mark.parametrize("planner", PLANNERS, ids=lambda planner: planner.__name__)
@given(width=st.integers(1, 40), height=st.integers(1, 20))
def test_a_clipped_plan_stays_inside_however_small(
    planner: Planner, width: int, height: int
) -> None:
    plan = layouts.clip_plan(planner(width, height), width, height)
    for box in plan.values():
        assert 0 <= box.x < box.x + box.width <= width
        assert 0 <= box.y < box.y + box.height <= height


def test_three_columns_where_wide_two_elsewhere() -> None:
    columns = [
        len({box.x for box in plan_review(width, height).values()})
        for width, height in ((80, 20), (120, 36), (200, 56))
    ]
    assert columns == [2, 2, 3]
