"""The list of claims: a column for each window, letters and scores of the judge, own labels."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.annotations import Action
from faithtui.domain.scores import Score, ScoreState
from faithtui.metrics.registry import find_metric
from faithtui.store.annotations.blind_view import blind_view
from faithtui.store.records import ReviewView, WindowVerdictView
from faithtui.store.store import Store
from faithtui.tui.review.lines.claim_rows import (
    LEAST_TEXT,
    RowLayout,
    claim_list_lines,
    lay_out_rows,
)
from faithtui.tui.review.position import ReviewPosition
from tests.tui.building import shop

METRIC = find_metric("turn-faithfulness").spec


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as opened:
        yield opened


@pytest.fixture
def view(store: Store) -> ReviewView:
    return read_view(store)


def read_view(store: Store) -> ReviewView:
    (run,) = store.runs.rows()
    return store.runs.review_view(store.runs.item_ids(run.id)[0], "ann")


def draw(
    view: ReviewView, width: int = 70, height: int = 20, at: ReviewPosition | None = None
) -> list[str]:
    at = at or ReviewPosition(None, view.claims[0].id)
    layout = lay_out_rows(view, at, width, height, METRIC)
    lines = [line.text for line in claim_list_lines(view, at, METRIC, layout).lines]
    assert all(len(line) <= width for line in lines)
    return lines


def with_windows(view: ReviewView, count: int) -> ReviewView:
    """Let each claim be in the window of its number and in the one after that."""
    base = view.windows[0]
    windows = tuple(
        replace(base, position=n, turns=(2 * n, 2 * n + 1), score=Score(n / count))
        for n in range(count)
    )
    said = view.claims[0].home_verdict
    claims = tuple(
        replace(
            claim,
            verdicts=tuple(
                WindowVerdictView(window, "yes", None, None, None)
                for window in range(n, min(count, n + 2))
            ),
        )
        for n, claim in enumerate(view.claims)
    )
    assert said is not None
    return replace(view, windows=windows, claims=claims)


def test_sliding_windows_are_a_staircase_with_turns_and_scores_under_their_names(
    view: ReviewView,
) -> None:
    names, turns, scores, *rows = draw(view, height=8 + 3)
    assert names.split() == ["#", "you", "claim", "w1", "w2", "w3"]
    assert turns.split() == ["to", "turn", "2", "4", "6"]
    assert scores.split() == ["score", "1.0", ".67", ".80"]
    ends = [row[-13:] for row in rows if row.strip() and row[1] != " "]
    assert ends == [
        "   Y   Y   Y ",
        "   Y   Y   Y ",
        "       N   N ",
        "           Y ",
        "           ? ",
    ]


def test_what_annotators_said_has_a_column_of_its_own_and_changes_the_windows_score(
    store: Store, view: ReviewView
) -> None:
    assert view.claims[0].home_verdict.label == "yes"
    store.reviews.record(
        view.claims[0].id, "ann", Action.OVERRIDDEN, "no",
        run=view.run.id, judge_verdict="yes", saw_judge=True,
    )  # fmt: skip
    lines = draw(read_view(store))
    row = next(line for line in lines if "The return window" in line)
    assert row.startswith(" 1 N ")
    assert row.endswith("   Y   Y   Y ")
    assert lines[2].split()[1] == ".50"


def test_while_anything_is_hidden_there_are_no_windows_no_letters_and_no_scores(
    view: ReviewView,
) -> None:
    hidden = blind_view(view)
    lines = draw(hidden)
    assert lines[0].split() == ["#", "J", "you", "claim"]
    rows = [line for line in lines[1:] if line[1] != " "]
    assert [row[3] for row in rows] == ["▒"] * 5
    assert not any(mark in "".join(lines) for mark in ("w1", "1.0", ".67", "  N ", "  Y "))
    half = blind_view(view, open_to={view.claims[0].id})
    rows = [line for line in draw(half)[1:] if line[1] != " "]
    assert [row[3] for row in rows] == ["Y", "▒", "▒", "▒", "▒"]


def test_of_many_windows_those_around_the_chosen_one_have_columns(view: ReviewView) -> None:
    many = with_windows(view, 40)
    layout = lay_out_rows(many, ReviewPosition(None, many.claims[0].id), 70, 20, METRIC)
    assert layout.windows == tuple(range(9))
    assert layout.text_width >= LEAST_TEXT
    assert draw(many)[0].rstrip().endswith("w9›")
    later = ReviewPosition(25, many.claims[0].id)
    layout = lay_out_rows(many, later, 70, 20, METRIC)
    assert 25 in layout.windows
    assert layout.windows[0] == 18
    last = lay_out_rows(many, ReviewPosition(39, None), 70, 20, METRIC)
    assert last.windows == tuple(range(31, 40)), "a whole row of columns at the end too"
    home = lay_out_rows(many, ReviewPosition(None, many.claims[3].id), 70, 20, METRIC)
    assert home.windows == layout_of_first(many).windows, "the next claim moves no column"


def layout_of_first(view: ReviewView) -> RowLayout:
    return lay_out_rows(view, ReviewPosition(None, view.claims[0].id), 70, 20, METRIC)


def test_a_claim_takes_as_many_lines_as_let_all_be_seen(view: ReviewView) -> None:
    at = ReviewPosition(None, view.claims[0].id)
    heights = {3: (1, 0), 8: (1, 1), 13: (2, 3), 60: (4, 3)}
    for height, expected in heights.items():
        layout = lay_out_rows(view, at, 70, height, METRIC)
        assert (layout.lines, layout.heading) == expected, height


def test_a_narrow_list_has_one_letter_of_the_judge(view: ReviewView) -> None:
    lines = draw(view, width=32, height=10)
    assert lines[0].split() == ["#", "J", "you", "claim"]
    assert lines[1].startswith(" 1 Y ")


def test_a_window_without_a_score_has_none(view: ReviewView) -> None:
    lost = Score(None, ScoreState.FAILED)
    first, *rest = view.windows
    windows = (replace(first, score=lost, corrected=lost), *rest)
    assert draw(replace(view, windows=windows))[2].split()[1] == "–"


def test_a_few_windows_take_less_of_the_claims_where_there_is_little_room(view: ReviewView) -> None:
    six = with_windows(view, 6)
    at = ReviewPosition(None, six.claims[0].id)
    narrow, wide = (lay_out_rows(six, at, width, 20, METRIC) for width in (58, 74))
    assert (narrow.cell, wide.cell) == (3, 4)
    assert len(narrow.windows) == len(wide.windows) == 6
    assert draw(six, width=58)[0].endswith("w1 w2 w3 w4 w5 w6 ")


def test_scores_without_blanks_between_them_are_still_told_apart(view: ReviewView) -> None:
    six = with_windows(view, 6)
    values = (1.0, 0.714, 0.0, 1.0, 0.5, 0.999)
    windows = tuple(
        replace(row, score=Score(value), corrected=Score(value))
        for row, value in zip(six.windows, values, strict=True)
    )
    assert draw(replace(six, windows=windows), width=58)[2].endswith("  1.71.00  1.50  1 ")
