import pytest

from faithtui.domain.text.empty_phrases import blank_out_citations, find_statement


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("It should be noted that the boat sank.", "the boat sank."),
        ("According to the documents, the boat sank.", "the boat sank."),
        ("Generally speaking, in short, the boat sank.", "the boat sank."),
        ("The passage also mentions that the boat sank.", "the boat sank."),
        ("The boat sank, which is worth keeping in mind.", "The boat sank"),
        ("The boat sank in May, as mentioned above, as stated.", "The boat sank in May"),
    ],
)
def test_empty_words_around_a_statement_are_left_out(sentence: str, statement: str) -> None:
    assert find_statement(sentence).slice_text(sentence) == statement


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "The boat sank.",
        "The document does not mention that the boat sank.",
        "He said that the boat sank.",
        "Lund says that the boat sank.",
        "If it is stated, the boat sank.",
        "I know that the boat sank.",
        "It is known that,",
        "In 1923, as stated, the boat sank.",
        "After the storm, the boat sank.",
        "The boat sank, killing two.",
        "The boat sank, and is important.",
        "The boat sank, which is not known.",
        "Take one tablet daily, as needed.",
        "It is far from accurate that the boat sank.",
        "It is too general to say that the boat sank.",
        "It was long known that the boat sank.",
        "It should not be mentioned that the boat sank.",
        "It could be said that the boat sank.",
        "Different from what is stated in the source, the boat sank.",
        "The term is known, the source is correct, the text is brief.",
        "Contrary to the source, the boat sank.",
        "The boat sank, which is worth 5 euros.",
    ],
)
def test_words_that_say_something_stay(sentence: str) -> None:
    assert find_statement(sentence).slice_text(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "blanked"),
    [
        ("The boat sank [3].", "The boat sank    ."),
        ("The boat sank.[3]", "The boat sank.   "),
        ("The boat sank[1][2, 4], it says.", "The boat sank         , it says."),
        ("The boat [12], a ship, sank [1–3]", "The boat     , a ship, sank      "),
    ],
)
def test_citations_are_blanked(sentence: str, blanked: str) -> None:
    assert blank_out_citations(sentence) == blanked


@pytest.mark.parametrize(
    "sentence",
    [
        "Members may bring [2] guests.",
        "The court awarded [30] days.",
        "Version [2] is supported.",
        "Use items[2] of the list.",
        "[3]",
    ],
)
def test_a_number_in_brackets_between_words_is_one_of_the_sentence(sentence: str) -> None:
    assert blank_out_citations(sentence) == sentence
