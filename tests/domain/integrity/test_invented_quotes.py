"""Quotations in reasons, and whether they stand anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.integrity.invented_quotes import (
    FEWEST_WORDS,
    QuotableTexts,
    find_quotes,
    is_quoted_from,
)

TEXTS = (
    "Return labels are free for defective items – if you ask us.",
    'The manual says: "never open the lid" and so on.\nIt has two pages.',
)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("no quotation at all", ()),
        ("a “term” and an “odd little name” are too short", ()),
        ("it says “labels are free for all”", ("labels are free for all",)),
        ('it says "labels are free for all"', ("labels are free for all",)),
        ("es sagt „die Schilder sind immer frei“.", ("die Schilder sind immer frei",)),
        ("il dit « les cartes sont gratuites ici »", ("les cartes sont gratuites ici",)),
        ("“one two three four” twice: “one two three four”", ("one two three four",)),
        ('an inch is 1" and a foot is 12 of them', ()),
    ],
)
def test_what_stands_between_marks_is_a_quotation(reason: str, expected: tuple[str, ...]) -> None:
    assert find_quotes(reason) == expected


@pytest.mark.parametrize(
    "quote",
    [
        "Return labels are free for defective items",
        "RETURN  LABELS are\nfree for defective items.",
        "return labels are free … if you ask us",
        "labels are free [...] items - if you ask us",
        "[Return] labels are free for defective items",
        "the manual says: “never open the lid”",
        "never open the lid' and so on. it has two pages",
    ],
)
def test_a_quotation_is_found_however_it_is_set(quote: str) -> None:
    assert QuotableTexts(TEXTS).contains_quote(quote)


@pytest.mark.parametrize(
    "quote",
    [
        "return labels are never free for defective items",
        "labels are free for all items",
        "if you ask us … return labels are free",
        "labels are free for defective items. The manual says",
    ],
)
def test_changed_words_another_order_and_two_texts_are_not_found(quote: str) -> None:
    assert not QuotableTexts(TEXTS).contains_quote(quote)


@given(st.text(alphabet=st.characters(exclude_characters='“”„«»"')), st.text(), st.text())
def test_whatever_is_copied_is_found(text: str, before: str, after: str) -> None:
    for quote in find_quotes(f"it says “{text}”"):
        assert len(quote.split()) >= FEWEST_WORDS
        assert QuotableTexts([f"{before} {text} {after}"]).contains_quote(quote)


def test_the_quote_of_a_truth_must_be_in_its_passage_whatever_its_length() -> None:
    passage = "Founded in 1923, the yard built ‘ferries’ and … tugs."
    for quote in ("1923", "founded  in 1923", "the yard built 'ferries'", "Founded … tugs"):
        assert is_quoted_from(quote, passage), quote
    for quote in ("1932", "the yard built submarines", "tugs … Founded"):
        assert not is_quoted_from(quote, passage), quote
