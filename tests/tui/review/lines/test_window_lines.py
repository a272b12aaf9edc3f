"""The list of windows: what was asked in each, what the judge said in it, and its score."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.metrics.registry import find_metric
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.review.lines.window_lines import TEXT_FROM, window_list_lines
from faithtui.tui.review.position import ReviewPosition
from tests.tui.building import shop

METRIC = find_metric("turn-faithfulness").spec


@pytest.fixture
def view(tmp_path: Path) -> Iterator[ReviewView]:
    shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        (run,) = store.runs.list_runs()
        yield store.runs.read_conversation_for_review(store.runs.list_item_ids(run.id)[0], "ann")


def draw(view: ReviewView, width: int) -> list[str]:
    lines = [line.text for line in window_list_lines(view, ReviewPosition(), METRIC, width)]
    assert all(len(line) <= width for line in lines)
    return lines


def test_a_window_has_the_counts_of_its_verdicts_beside_its_score(view: ReviewView) -> None:
    heading, of_all, *windows = draw(view, TEXT_FROM)
    assert heading.split()[:5] == ["turns", "claims", "open", "Y·N·?", "score"]
    home = Counter(claim.first_window_verdict.label for claim in view.claims)
    assert f" {home['yes']}·{home['no']}·{home['idk']} " in of_all
    assert heading.index("Y·N·?") == of_all.index(f"{home['yes']}·{home['no']}·{home['idk']}")
    for window, line in zip(view.windows, windows, strict=False):
        said = Counter(
            verdict.label
            for claim in view.claims
            for verdict in claim.verdicts
            if verdict.window == window.position
        )
        assert f" {said['yes']}·{said['no']}·{said['idk']} " in line


def test_counts_of_verdicts_are_hidden_with_the_judge_and_left_out_where_it_is_narrow(
    view: ReviewView,
) -> None:
    hidden = hide_judge_verdicts(view)
    for lines in (draw(hidden, 100), draw(view, TEXT_FROM - 1)):
        assert "Y·N·?" not in lines[0]
        assert all("·" not in line for line in lines)
