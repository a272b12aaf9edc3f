"""Where panes of review stand: those that say something, with the room their content needs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.review.layout import ReviewContent, lay_out_review, lay_out_zoomed_review
from tests.tui.theme.test_layouts import covers

SIZES = [(80, 20), (120, 36), (200, 56)]
CONVERSATION = ReviewContent(
    claims=8, windows=4, claim_characters=120, exchange_characters=700, has_references=True
)

contents = st.builds(
    ReviewContent,
    claims=st.integers(0, 300),
    windows=st.integers(0, 300),
    claim_characters=st.integers(0, 5_000),
    exchange_characters=st.integers(0, 50_000),
    is_blind=st.booleans(),
    has_references=st.booleans(),
    has_card=st.booleans(),
    guideline_lines=st.integers(0, 60),
)


@given(st.integers(20, 250), st.integers(5, 80), contents)
def test_whatever_there_is_to_say_panes_cover_the_area(
    width: int, height: int, content: ReviewContent
) -> None:
    layout = lay_out_review(width, height, content)
    assert covers(layout, width, height)
    assert {"claims", "evidence", "verdict"} <= layout.keys()
    assert layout["evidence"].height >= (7 if height >= 20 else 2)


@given(
    st.sampled_from(["windows", "truths", "evidence", "transcript", "card", "verdict", "claims"]),
    st.integers(20, 250),
    st.integers(6, 80),
    contents,
)
def test_what_is_judged_and_the_verdict_stay_beside_an_enlarged_pane(
    pane: str, width: int, height: int, content: ReviewContent
) -> None:
    layout = lay_out_zoomed_review(pane, width, height, content)
    assert covers(layout, width, height)
    assert {pane, "verdict", "card" if content.has_card else "transcript"} <= layout.keys()


def test_few_windows_leave_room_for_their_claims() -> None:
    assert lay_out_zoomed_review("windows", 120, 36, CONVERSATION)["claims"].height >= 15
    assert "claims" not in lay_out_zoomed_review(
        "windows", 120, 36, replace(CONVERSATION, windows=40)
    )


@given(st.integers(60, 250), st.integers(17, 80), contents)
def test_question_and_answer_have_a_place_at_every_usual_size(
    width: int, height: int, content: ReviewContent
) -> None:
    layout = lay_out_review(width, height, content)
    assert layout["transcript"].height >= (5 if height >= 20 else 3)


@pytest.mark.parametrize("size", SIZES)
def test_a_pane_that_has_nothing_to_say_has_no_place(size: tuple[int, int]) -> None:
    assert "card" not in lay_out_review(*size, replace(CONVERSATION, has_card=False))
    assert "truths" not in lay_out_review(*size, replace(CONVERSATION, has_references=False))
    blind = lay_out_review(*size, replace(CONVERSATION, is_blind=True, has_references=False))
    assert not {"truths", "windows"} & blind.keys()
    assert "windows" not in lay_out_review(*size, replace(CONVERSATION, windows=1))


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_longer_claim_has_a_higher_pane_and_blind_evidence_is_wider(
    size: tuple[int, int],
) -> None:
    short, long = (
        lay_out_review(*size, replace(CONVERSATION, claim_characters=each))["card"].height
        for each in (30, 300)
    )
    assert short == 4
    assert long > short
    blind = lay_out_review(*size, replace(CONVERSATION, is_blind=True, has_references=False))[
        "evidence"
    ]
    shown = lay_out_review(*size, CONVERSATION)["evidence"]
    assert blind.width * blind.height > 1.2 * shown.width * shown.height


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_guideline_finds_its_place_beside_blind_claims(size: tuple[int, int]) -> None:
    content = replace(CONVERSATION, is_blind=True, has_references=False, guideline_lines=5)
    assert lay_out_review(*size, content)["guideline"].height == 7


def test_blind_claims_are_not_pressed_into_three_rows_by_the_guideline() -> None:
    content = replace(CONVERSATION, is_blind=True, has_references=False, guideline_lines=23)
    layout = lay_out_review(120, 36, content)
    assert layout["claims"].height >= 8
    assert layout["guideline"].height >= 6
    assert layout["guideline"].width > layout["claims"].width
    assert layout["evidence"].height >= 18
