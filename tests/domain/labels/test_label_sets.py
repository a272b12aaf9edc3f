import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.labels.label_sets import (
    FAITHFULNESS,
    INFERENCE,
    NOT_A_CLAIM,
    SEVERITY,
    Polarity,
    format_label_before_count,
    format_label_count,
)


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("yes", "yes"),
        (" YES\n", "yes"),
        ("No", "no"),
        ("idk", "idk"),
        ("borderline", "idk"),
        ("Borderline ", "idk"),
    ],
)
def test_a_word_is_read_up_to_case_and_space(word: str, label: str) -> None:
    assert FAITHFULNESS.find_label_name_for_word(word) == label


@pytest.mark.parametrize(
    "word", ["", " ", "yes.", "yes, clearly", "not", "no!", "yesterday", "x", "maybe", "**yes**"]
)
def test_no_label_is_guessed_from_a_word_that_merely_contains_it(word: str) -> None:
    assert FAITHFULNESS.find_label_name_for_word(word) is None


@given(st.text())
def test_reading_gives_a_label_of_the_set_or_none(word: str) -> None:
    assert FAITHFULNESS.find_label_name_for_word(word) in (*FAITHFULNESS.names, None)


def test_every_name_means_itself_and_has_a_label() -> None:
    for name in FAITHFULNESS.names:
        assert FAITHFULNESS.find_label_name_for_word(name) == name
        assert FAITHFULNESS.get_label(name).name == name


def test_names_come_in_the_order_screens_list_them() -> None:
    assert FAITHFULNESS.names == ("yes", "no", "idk")
    assert [label.letter for label in FAITHFULNESS.labels] == ["Y", "N", "?"]
    assert [label.polarity for label in FAITHFULNESS.labels] == [
        Polarity.GOOD,
        Polarity.BAD,
        Polarity.UNSURE,
    ]


@pytest.mark.parametrize("name", ["borderline", "YES", NOT_A_CLAIM])
def test_a_name_outside_the_set_has_no_label(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        FAITHFULNESS.get_label(name)


def test_letters_tell_labels_apart() -> None:
    letters = [label.letter for label in FAITHFULNESS.labels]
    assert len(set(letters)) == len(letters)
    assert all(len(letter) == 1 for letter in letters)


def test_severity_ranks_every_label_once_and_no_highest() -> None:
    assert sorted(SEVERITY, key=SEVERITY.__getitem__) == ["yes", "1", "idk", "no", "0"]
    assert set(SEVERITY) == {*FAITHFULNESS.names, *INFERENCE.names}


def test_a_label_that_is_a_number_stands_beside_its_count_with_words_between() -> None:
    assert format_label_count("yes", 8) == "8 yes"
    assert format_label_count("1", 2_933) == "2,933 with verdict 1"
    assert [format_label_before_count(name) for name in ("yes", "0")] == ["yes", "0:"]
