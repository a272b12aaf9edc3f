"""The list of claims: a column for each window, letters and scores of the judge, own labels."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import Score, ScoreState
from faithtui.metrics.registry import find_metric
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.records import ClaimView, ReviewView, WindowVerdictView
from faithtui.store.store import Store
from faithtui.tui.review.lines import claim_rows
from faithtui.tui.review.lines.claim_rows import (
    LEAST_TEXT,
    RowLayout,
    choose_row_layout,
    claim_list_lines,
    highlight_row_at_cursor,
)
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.theme.lines import Line
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
    (run,) = store.runs.list_runs()
    return store.runs.read_conversation_for_review(store.runs.list_item_ids(run.id)[0], "ann")


def draw(
    view: ReviewView, width: int = 70, height: int = 20, at: ReviewPosition | None = None
) -> list[str]:
    at = at or ReviewPosition(None, view.claims[0].id)
    layout = choose_row_layout(view, at, width, height, METRIC)
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
    said = view.claims[0].first_window_verdict
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
    assert view.claims[0].first_window_verdict.label == "yes"
    store.label_log.append_label_event(
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
    hidden = hide_judge_verdicts(view)
    lines = draw(hidden)
    assert lines[0].split() == ["#", "J", "you", "claim"]
    rows = [line for line in lines[1:] if line[1] != " "]
    assert [row[3] for row in rows] == ["▒"] * 5
    assert not any(mark in "".join(lines) for mark in ("w1", "1.0", ".67", "  N ", "  Y "))
    half = hide_judge_verdicts(view, revealed={view.claims[0].id})
    rows = [line for line in draw(half)[1:] if line[1] != " "]
    assert [row[3] for row in rows] == ["Y", "▒", "▒", "▒", "▒"]


def test_of_many_windows_those_around_the_chosen_one_have_columns(view: ReviewView) -> None:
    many = with_windows(view, 40)
    layout = choose_row_layout(many, ReviewPosition(None, many.claims[0].id), 70, 20, METRIC)
    assert layout.windows == tuple(range(9))
    assert layout.text_width >= LEAST_TEXT
    assert draw(many)[0].rstrip().endswith("w9›")
    later = ReviewPosition(25, many.claims[0].id)
    layout = choose_row_layout(many, later, 70, 20, METRIC)
    assert 25 in layout.windows
    assert layout.windows[0] == 18
    last = choose_row_layout(many, ReviewPosition(39, None), 70, 20, METRIC)
    assert last.windows == tuple(range(31, 40)), "a whole row of columns at the end too"
    home = choose_row_layout(many, ReviewPosition(None, many.claims[3].id), 70, 20, METRIC)
    assert home.windows == layout_of_first(many).windows, "the next claim moves no column"


def layout_of_first(view: ReviewView) -> RowLayout:
    return choose_row_layout(view, ReviewPosition(None, view.claims[0].id), 70, 20, METRIC)


def test_a_claim_takes_as_many_lines_as_let_all_be_seen(view: ReviewView) -> None:
    at = ReviewPosition(None, view.claims[0].id)
    claims = tuple(replace(each, text=f"{each.text} " * 20) for each in view.claims)
    heights = {3: (1, 0), 8: (1, 1), 13: (2, 3), 60: (4, 3)}
    for height, expected in heights.items():
        layout = choose_row_layout(replace(view, claims=claims), at, 70, height, METRIC)
        assert (layout.lines, layout.heading) == expected, height


def test_a_claim_that_columns_leave_little_of_goes_on_below_them(view: ReviewView) -> None:
    said = "Being active can positively influence how children do in school and at home."
    first, *others = view.claims
    claims = (replace(first, text=said), *(others[0],) * 30)
    at = ReviewPosition(None, first.id)
    layout = choose_row_layout(replace(view, claims=claims), at, 48, 14, METRIC)
    assert layout.text_width < 40
    assert layout.lines == 2, "though not all claims are seen then"
    lines = draw(replace(view, claims=claims), width=48, height=14)[3:5]
    assert "".join(lines).count("Y") + "".join(lines).count("N") >= 1
    assert len(lines[1].strip()) > layout.text_width
    assert said.startswith(lines[1].strip().rstrip("…"), said.index(lines[1].split()[0]))


def test_claims_take_the_lines_that_short_ones_leave(view: ReviewView) -> None:
    at = ReviewPosition(None, view.claims[0].id)
    first, *others = view.claims
    long = replace(view, claims=(replace(first, text="Twenty words. " * 30), *others))
    room = 3 + len(view.claims) + 3
    layout = choose_row_layout(long, at, 70, room, METRIC)
    assert layout.lines == 4, "one of four lines and all the others of one fit"
    assert len(draw(long, height=room)) == room
    assert choose_row_layout(long, at, 70, room - 1, METRIC).lines == 3


@pytest.mark.parametrize("spare", [0, 1, 3])
def test_lines_that_would_stay_empty_go_to_the_first_claims_that_are_cut(
    view: ReviewView, spare: int
) -> None:
    claims = tuple(replace(each, text=f"{each.text} " * 20) for each in view.claims)
    claims = (replace(claims[0], text="Short."), *claims[1:])
    long, count = replace(view, claims=claims), len(claims)
    height = 3 + 2 * (count - 1) + 1 + spare
    layout = choose_row_layout(long, ReviewPosition(None, claims[0].id), 70, height, METRIC)
    assert layout.lines == 2
    assert [each.number for each in claims if each.id in layout.longer] == [
        each.number for each in claims[1 : 1 + spare]
    ]
    assert len(draw(long, height=height)) == height


def test_a_narrow_list_has_one_letter_of_the_judge(view: ReviewView) -> None:
    lines = draw(view, width=32, height=10)
    assert lines[0].split() == ["#", "J", "you", "claim"]
    assert lines[1].startswith(" 1 Y ")


def test_a_window_without_a_score_has_none(view: ReviewView) -> None:
    lost = Score(None, ScoreState.FAILED)
    first, *rest = view.windows
    windows = (replace(first, score=lost, corrected=lost), *rest)
    assert draw(replace(view, windows=windows))[2].split()[1] == "–"


def test_windows_have_narrow_columns_where_more_of_them_are_seen_so(view: ReviewView) -> None:
    at = ReviewPosition(None, view.claims[0].id)
    cells = {}
    for count in (6, 8, 40):
        layout = choose_row_layout(with_windows(view, count), at, 58, 20, METRIC)
        cells[count] = layout.cell, len(layout.windows)
        assert layout.text_width >= LEAST_TEXT - 1
    assert cells == {6: (4, 6), 8: (3, 8), 40: (4, 6)}
    assert draw(with_windows(view, 8), width=58)[0].endswith("w1 w2 w3 w4 w5 w6 w7 w8 ")


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (6, " 1.0 .71 .00 1.0 .50 1.0 "),
        (8, "  1 .7 .0  1 .5  1 .9 .9 "),
    ],
)
def test_scores_do_not_touch_and_none_below_1_becomes_1(
    view: ReviewView, count: int, said: str
) -> None:
    made = with_windows(view, count)
    values = (1.0, 0.714, 0.0, 1.0, 0.5, 0.999, 0.96, 0.86)[:count]
    windows = tuple(
        replace(row, score=Score(value), corrected=Score(value))
        for row, value in zip(made.windows, values, strict=True)
    )
    assert draw(replace(made, windows=windows), width=58)[2].endswith(said)


SAID = (
    "short",
    "exactly so long that it goes over " * 3,
    "ends in blanks over the edge" + " " * 60,
    "two  blanks between " * 5,
    "a-word-that-does-not-break" * 8,
    "wide 漢字 " * 12,
    "one\nand another line",
    "tab\tand\u200bzero width " * 6,
    "",
)


@pytest.mark.parametrize("width", [40, 58, 90])
@pytest.mark.parametrize("height", [6, 24, 60])
def test_the_lines_that_a_claim_takes_are_those_it_is_drawn_in(
    view: ReviewView, width: int, height: int
) -> None:
    texts = [*SAID, *(("word " * 40)[:length].strip() for length in range(1, 120, 2))]
    first = view.claims[0]
    claims = tuple(
        replace(first, id=ClaimId(1000 + n), number=n + 1, text=text)
        for n, text in enumerate(texts)
    )
    long = replace(view, claims=claims)
    at = ReviewPosition(None, claims[0].id)
    layout = choose_row_layout(long, at, width, height, METRIC)
    lines = claim_list_lines(long, at, METRIC, layout).lines
    assert [each.row for each in lines] == lines.rows
    assert {row for row in lines.rows if row is not None} == set(range(len(claims)))
    assert all(each.text.strip() for each in lines)
    for text, row in zip(texts, range(len(claims)), strict=True):
        drawn = [each for each in lines if each.row == row]
        assert len(drawn) <= layout.lines
        if layout.lines == 1 or len(text) > layout.text_width * 4:
            assert len(drawn) == layout.lines


def test_claims_that_are_not_seen_are_not_drawn(
    view: ReviewView, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = tuple(
        replace(view.claims[0], id=ClaimId(1000 + n), number=n + 1) for n in range(1_000)
    )
    long = replace(view, claims=claims)
    drawn: list[int] = []
    draw_claim = claim_rows._claim_lines

    def draw_and_note(view: ReviewView, claim: ClaimView, *rest: Any) -> list[Line]:
        drawn.append(claim.number)
        return draw_claim(view, claim, *rest)

    monkeypatch.setattr(claim_rows, "_claim_lines", draw_and_note)
    at = ReviewPosition(None, long.claims[500].id)
    layout = choose_row_layout(long, at, 70, 20, METRIC)
    rows = claim_list_lines(long, at, METRIC, layout)
    marked = highlight_row_at_cursor(rows.lines, 500)
    assert drawn == [501]
    start = marked.rows.index(500)
    assert marked[start].text.startswith(">")
    assert not rows.lines[start].text.startswith(">")
    assert [each.row for each in marked[start : start + 2 * layout.lines]] == marked.rows[
        start : start + 2 * layout.lines
    ]
    assert drawn == [501, 502]
