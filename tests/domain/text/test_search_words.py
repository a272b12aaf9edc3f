"""Words are compared as the search index of SQLite compares them."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.search_words import (
    contains_phrase,
    find_phrase_spans,
    fold_word,
    list_folded_words,
)

LETTERS = st.text(st.characters(max_codepoint=0x17F, exclude_characters="ıİŉµſ"), max_size=30)


@given(LETTERS)
def test_words_are_those_of_the_index(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 2')"
    )
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    connection.execute("INSERT INTO t VALUES (?)", (text.replace("\x00", ""),))
    found = connection.execute("SELECT term FROM v ORDER BY offset").fetchall()
    connection.close()
    assert list_folded_words(text.replace("\x00", "")) == [term for (term,) in found]


def test_words_are_folded() -> None:
    assert list_folded_words("The CAFÉ's menu_2, naïve!") == [
        "the",
        "cafe",
        "s",
        "menu",
        "2",
        "naive",
    ]
    assert fold_word("E\u0301cole") == "ecole"


def test_places_are_where_words_follow_each_other() -> None:
    text = "Gift cards, gift card."
    assert find_phrase_spans(["gift", "card"], text) == [(12, 21)]
    assert find_phrase_spans(["gift", "car"], text, begins=True) == [(0, 10), (12, 21)]
    assert find_phrase_spans(["gift", "car"], text) == []
    assert find_phrase_spans([], text) == []


@given(
    st.text(alphabet=st.sampled_from("aAbé\u0301e _-.ßΣσς한1\u0e34ก"), max_size=12),
    st.text(alphabet=st.sampled_from("aAbé e_Σς한1"), max_size=4),
    st.booleans(),
)
def test_words_occur_where_they_have_a_place(text: str, wanted: str, begins: bool) -> None:
    found = list_folded_words(wanted)
    assert contains_phrase(found, text, begins=begins) == bool(
        find_phrase_spans(found, text, begins=begins)
    )
