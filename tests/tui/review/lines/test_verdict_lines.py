"""What the verdict pane says of a claim."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import HumanVerdict
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.review.lines.verdict_lines import VerdictView, _other_reviewer_pieces
from faithtui.tui.review.position import ReviewPosition
from tests.tui.building import shop

METRIC = find_metric("turn-faithfulness").spec


@pytest.fixture
def view(tmp_path: Path) -> Iterator[ReviewView]:
    shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        (run,) = store.runs.list_runs()
        yield store.runs.read_conversation_for_review(store.runs.list_item_ids(run.id)[0], "ann")


def test_the_verdict_of_another_annotator_stands_before_a_name_that_may_be_cut(
    view: ReviewView,
) -> None:
    claim = view.claims[0]
    others = tuple(
        HumanVerdict(claim.id, name, verdict, None)
        for name, verdict in (("rosa-from-the-night-shift", "no"), ("bo", "yes"))
    )
    shown = VerdictView(view, claim, ReviewPosition(), METRIC, False, "")
    pieces = _other_reviewer_pieces(shown, replace(claim, others=others))
    assert "".join(each.text for each in pieces).startswith("N rosa-from-the-night-")
    assert "".join(each.text for each in pieces).endswith(", Y bo")
