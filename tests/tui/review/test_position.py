"""Where a key leads inside a conversation, from the values alone."""

from pathlib import Path

from faithtui.tui.review.position import (
    ReviewPosition,
    find_first_or_last_open_claim,
    find_next_open_claim_position,
    find_position_after_verdict,
    has_no_reviewer_verdict,
    list_claims_of_window,
)
from tests.tui.driving import stored


def test_after_the_last_claim_of_a_window_a_later_one_comes_and_not_an_open_one_of_it(
    store_path: Path,
) -> None:
    view = stored(store_path)
    first, last = list_claims_of_window(view, 0)
    assert has_no_reviewer_verdict(first)
    reached = find_position_after_verdict(view, ReviewPosition(0, last.id))
    assert reached is not None
    assert reached.window == 1
    assert reached.claim != last.id


def test_the_open_claim_before_is_the_nearest_one(store_path: Path) -> None:
    view = stored(store_path)
    assert all(map(has_no_reviewer_verdict, view.claims))
    for before, claim in zip(view.claims, view.claims[1:], strict=False):
        found = find_next_open_claim_position(view, ReviewPosition(None, claim.id), -1)
        assert found == ReviewPosition(None, before.id)
    assert find_next_open_claim_position(view, ReviewPosition(None, view.claims[0].id), -1) is None


def test_the_last_open_claim_is_the_one_at_the_end(store_path: Path) -> None:
    view = stored(store_path)
    assert find_first_or_last_open_claim(view, 1) == ReviewPosition(None, view.claims[0].id)
    assert find_first_or_last_open_claim(view, -1) == ReviewPosition(None, view.claims[-1].id)
