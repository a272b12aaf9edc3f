import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.near_spellings import find_near_spellings, group_by_first_letter
from faithtui.domain.text.texts import collect_stem_weights, tokenise_text
from tests.resources import times_reading


def words(text: str) -> list[tuple[str, str]]:
    return [(word.stem, word.kind) for word in tokenise_text(text).words]


@pytest.mark.parametrize(
    ("text", "stem", "kind"),
    [
        ("It takes 1,000 days.", "#1000", "number"),
        ("It takes thirty days.", "#30", "number"),
        ("It takes 45% of it.", "#45", "number"),
        ("It was in 1987.", "#1987", "date"),
        ("It was on 2024-05-01.", "#may", "date"),
        ("It was in nineteen eighty-seven.", "#1987", "date"),
        ("It was on 1/5/2024.", "#2024", "date"),
        ("It is in February.", "februari", "date"),
        ("It is on 3 May.", "#may", "date"),
        ("It is on Tuesday.", "tuesdai", "date"),
        ("It is in Berlin.", "berlin", "name"),
        ("It isn't so.", "isn't", "negation"),
        ("It has never been.", "never", "negation"),
        ("Free unless broken.", "unless", "condition"),
    ],
)
def test_words_that_decide_have_a_kind(text: str, stem: str, kind: str) -> None:
    assert (stem, kind) in words(text)


def test_may_alone_is_no_date() -> None:
    assert ("may", "word") in words("It May be. You may go.")


def test_numbers_are_equal_however_they_are_written() -> None:
    said = {word.stem for word in tokenise_text("thirty, 30, 30% and 30.").words if word.weight}
    assert said == {"#30"}


@pytest.mark.parametrize(
    "text",
    [
        "Better sleep is one.",
        "They feel fine. Better sleep is one.",
        '"Better sleep" is one.',
        "(Better sleep)",
        "It feels right away?Better sleep",
        "It ends.Better sleep",
        "1. Better sleep",
        "2) Better sleep",
        "- Better sleep",
        "Two: - Better sleep",
        "It has • Better sleep",
        "**Better** sleep",
        "moodBetter sleep",
        "Better sleep. Better mood.\nBetter",
    ],
)
def test_a_word_that_opens_a_sentence_is_no_name(text: str) -> None:
    assert [stem for stem, kind in words(text) if kind == "name"] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Paris. It is in Paris.", "paris"),
        ("Paris is in France; Paris is large.", "paris"),
        ("UPS takes it.", "ups"),
        ("YouTube has it.", "youtub"),
        ("O'Neil has it.", "o'neil"),
        ("iPhone has it.", "iphon"),
        ("Covid19 was it.", "covid"),
        ("It was called Mr. Smith by Smith.", "smith"),
    ],
)
def test_a_name_that_opens_a_sentence_is_known_by_its_other_places_or_its_letters(
    text: str, name: str
) -> None:
    kinds = {kind for stem, kind in words(text) if stem == name}
    assert kinds == {"name"}


def test_many_signs_before_a_word_are_read_at_once() -> None:
    text = "." * 100_000 + " Better " + "[" * 100_000 + " " * 100_000 + "Better"
    assert times_reading(text, lambda: tokenise_text(text)) < 3_000


def test_misspelt_words_are_found_and_short_ones_and_numbers_are_not() -> None:
    assert find_near_spellings("recommend", group_by_first_letter(["reccommend", "record"])) == [
        "reccommend"
    ]
    assert find_near_spellings("form", group_by_first_letter(["from"])) == []
    assert find_near_spellings("#1987", group_by_first_letter(["#1986"])) == []
    index = tokenise_text("We reccommend it.").index
    assert index.has_stem_or_misspelling("recommend")
    assert not index.has_stem_or_misspelling("record")


def test_negations_and_stop_words_weigh_nothing() -> None:
    assert collect_stem_weights(tokenise_text("the cat is not in Berlin").words) == {
        "cat": 1,
        "berlin": 2,
    }


@given(st.text(alphabet=st.sampled_from("aB1 .,!?\n'。見 not5%-/"), max_size=80))
def test_every_word_of_a_sentence_is_in_it_and_in_the_index(text: str) -> None:
    read = tokenise_text(text)
    for index, span in enumerate(read.sentences):
        for word in read.get_sentence_words(index):
            assert span.start <= word.start < word.end <= span.end
            assert index in read.index.holders[word.stem]
