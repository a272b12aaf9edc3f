import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.domain.text.location import find_closest_text_index, find_span

TEXT = "Parcels leave  within\ntwo days.  Islands take NINE days (usually)."


@pytest.mark.parametrize(
    ("piece", "found"),
    [
        ("Parcels", "Parcels"),
        ("  within ", "within"),
        ("Parcels leave within two days.", "Parcels leave  within\ntwo days."),
        ("islands take nine days", "Islands take NINE days"),
        ("days (usually).", "days (usually)."),
        ("DAYS", "days"),
    ],
)
def test_a_piece_is_found_up_to_case_and_white_space(piece: str, found: str) -> None:
    span = find_span(piece, TEXT)
    assert span is not None
    assert TEXT[span.start : span.end] == found


@pytest.mark.parametrize("piece", ["", " \n", "parcel arrives", "days usually", ".*", "Parcels  x"])
def test_what_is_not_there_is_not_found(piece: str) -> None:
    assert find_span(piece, TEXT) is None


def test_a_literal_place_wins_over_an_earlier_one_in_other_letters() -> None:
    assert find_span("Nine", "nine, Nine") == Span(6, 10)


@given(st.text(min_size=1), st.text(), st.text())
def test_a_literal_piece_is_always_found_at_its_first_place(
    piece: str, before: str, after: str
) -> None:
    text = before + piece + after
    span = find_span(piece, text)
    if piece.strip():
        assert span is not None
        assert text[span.start : span.end] == piece.strip()
        assert span.start == text.find(piece.strip())
    else:
        assert span is None


@given(st.text(), st.text())
def test_a_span_is_within_the_text_and_not_empty(piece: str, text: str) -> None:
    span = find_span(piece, text)
    assert span is None or 0 <= span.start < span.end <= len(text)


def test_the_text_that_holds_the_piece_is_closest() -> None:
    assert find_closest_text_index("nine days", ["Two days; nine.", "It takes Nine  days."]) == 1


def test_else_the_text_with_most_of_its_words_is_closest() -> None:
    assert (
        find_closest_text_index(
            "Islands take nine days", ["Take it.", "Nine days to islands", "Days."]
        )
        == 1
    )


@pytest.mark.parametrize("piece", ["", "nothing alike"])
def test_the_first_of_equals_is_closest(piece: str) -> None:
    assert find_closest_text_index(piece, ["One.", "Two."]) == 0


@given(st.text(), st.lists(st.text(), min_size=1))
def test_the_closest_text_is_one_of_them(piece: str, texts: list[str]) -> None:
    assert 0 <= find_closest_text_index(piece, texts) < len(texts)
