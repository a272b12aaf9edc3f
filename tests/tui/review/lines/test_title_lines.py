"""The title of review: where one is stays in view, however long the name of a queue is."""

from types import SimpleNamespace
from typing import Any

import pytest

from faithtui.tui.review.lines.title_lines import title_pieces
from faithtui.tui.theme.lines import count_cells_of_pieces

NAMES = ("audit", "everything that the night shift could not agree on", "質問の待ち行列" * 5)


def title(width: int, queue: str | None, *, convenience: bool, blind: bool) -> tuple[str, int]:
    looked: Any = SimpleNamespace(
        spec=SimpleNamespace(units=("claim", "claims")),
        claim=SimpleNamespace(number=12),
        per_interaction=False,
        view=SimpleNamespace(
            run=SimpleNamespace(id=17),
            claims=[None] * 16,
            is_blind=True,
            item=SimpleNamespace(key="mtrag-04f83f11-reference"),
        ),
    )
    cursor: Any = None
    if queue is not None:
        entries = [(1, number) for number in range(250)]
        cursor = SimpleNamespace(
            queue=SimpleNamespace(title=queue, is_convenience=convenience, entries=entries),
            answered_claims=set(range(120)),
        )
    left, right = title_pieces(looked, cursor, width - len(" REVIEW "), blind=blind)
    used = count_cells_of_pieces(left) + count_cells_of_pieces(right)
    return "".join(piece.text for piece in left), used


@pytest.mark.parametrize("queue", NAMES)
@pytest.mark.parametrize("convenience", [True, False])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_how_much_of_a_queue_is_done_and_which_claim_this_is_are_always_seen(
    width: int, queue: str, convenience: bool
) -> None:
    words, used = title(width, queue, convenience=convenience, blind=False)
    assert "120/250" in words
    assert "claim 12/16" in words
    assert queue[:2] in words
    assert used <= width - len(" REVIEW ")


def test_what_there_is_room_for_is_added_in_the_order_of_its_weight() -> None:
    wide, _ = title(200, NAMES[1], convenience=True, blind=False)
    assert wide.startswith("  #17 > everything that the night")
    assert "not a random sample 120/250 > mtrag-04f83f11-reference > claim 12/16" in wide
    assert title(80, NAMES[0], convenience=True, blind=False)[0] == (
        "  #17 > audit, not a random sample 120/250 > claim 12/16"
    )
    assert title(80, None, convenience=False, blind=False)[0] == (
        "  #17 > mtrag-04f83f11-reference > claim 12/16"
    )
