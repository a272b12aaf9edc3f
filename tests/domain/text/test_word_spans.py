"""Words of a text by where they stand."""

from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.word_spans import find_touched_word_indices, find_word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in find_word_spans(text)]


def test_words_numbers_and_characters_of_scripts_without_blanks() -> None:
    assert words("It's 3.5 m, isn’t it? naïve") == ["It's", "3", "5", "m", "isn’t", "it", "naïve"]
    assert words("東京は42度") == ["東", "京", "は", "42", "度"]
    assert words(" -- ") == []


@given(st.text(max_size=60))
def test_words_are_in_order_and_do_not_overlap(text: str) -> None:
    end = 0
    for start, past in find_word_spans(text):
        assert end <= start < past <= len(text)
        end = past


def test_a_stretch_that_touches_a_word_selects_it() -> None:
    found = find_word_spans("one two three")
    assert find_touched_word_indices(found, [(2, 5)]) == {0, 1}
    assert find_touched_word_indices(found, [(3, 4)]) == frozenset()
    assert find_touched_word_indices(found, [(0, 1), (12, 13)]) == {0, 2}
