import pytest

from faithtui.domain.text.framing import find_statement


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
    assert find_statement(sentence).of(sentence) == statement


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
    ],
)
def test_words_that_say_something_stay(sentence: str) -> None:
    assert find_statement(sentence).of(sentence) == sentence
