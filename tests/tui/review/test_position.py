"""Where a key leads inside a conversation, from the values alone."""

from pathlib import Path

from faithtui.tui.review.position import (
    ReviewPosition,
    advance_position,
    find_edge_open,
    find_next_open,
    is_unanswered,
    list_claims,
)
from tests.tui.review.reviewing import stored


def test_after_the_last_claim_of_a_window_a_later_one_comes_and_not_an_open_one_of_it(
    store_path: Path,
) -> None:
    view = stored(store_path)
    first, last = list_claims(view, 0)
    assert is_unanswered(first)
    reached = advance_position(view, ReviewPosition(0, last.id))
    assert reached is not None
    assert reached.window == 1
    assert reached.claim != last.id


def test_the_open_claim_before_is_the_nearest_one(store_path: Path) -> None:
    view = stored(store_path)
    assert all(map(is_unanswered, view.claims))
    for before, claim in zip(view.claims, view.claims[1:], strict=False):
        found = find_next_open(view, ReviewPosition(None, claim.id), -1)
        assert found == ReviewPosition(None, before.id)
    assert find_next_open(view, ReviewPosition(None, view.claims[0].id), -1) is None


def test_the_last_open_claim_is_the_one_at_the_end(store_path: Path) -> None:
    view = stored(store_path)
    assert find_edge_open(view, 1) == ReviewPosition(None, view.claims[0].id)
    assert find_edge_open(view, -1) == ReviewPosition(None, view.claims[-1].id)
