import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.sentences import SentenceKind, split_answer, split_sentences

GOLD = json.loads(
    (Path(__file__).parents[3] / "fixtures" / "sentences" / "awkward.json").read_text("utf-8")
)["passages"]
AWKWARD = st.text(
    st.one_of(
        st.sampled_from('aB1 .!?\n\r\t"()*_-#>:,\u2028\u3000\u200d中。😀é\x00\x85'),
        st.characters(),
    ),
    max_size=80,
)


def cut(text: str) -> list[str]:
    return [span.slice_text(text) for span in split_sentences(text)]


def kinds(answer: str) -> list[tuple[str, str]]:
    return [(each.text, each.kind.value) for each in split_answer(answer)]


def test_sentences_of_one_line_are_cut_at_full_stops_but_not_at_abbreviations() -> None:
    assert cut("Dr. Okoye paid $3.5 million. She left at noon.") == [
        "Dr. Okoye paid $3.5 million.",
        "She left at noon.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("😀 It rains. 👩‍🔬 works! Done.", ["😀 It rains.", "👩‍🔬 works!", "Done."]),
        ("湖水很深。鱼很多！你来吗？", ["湖水很深。", "鱼很多！", "你来吗？"]),
        ("नदी लंबी है। झील गहरी है।", ["नदी लंबी है।", "झील गहरी है।"]),
        ("Cafe\u0301 one opened. Cafe\u0301 two closed.", ["Café one opened.", "Café two closed."]),
    ],
    ids=["emoji", "chinese", "hindi", "combining marks"],
)
def test_offsets_count_characters_in_every_script(text: str, expected: list[str]) -> None:
    composed = "Cafe\u0301"
    assert cut(text) == [each.replace("Café", composed) for each in expected]


def test_a_wrapped_line_goes_on_and_an_unwrapped_one_does_not() -> None:
    text = "The mill was built\nby two brothers.\nOpening hours\nMonday to Friday"
    assert cut(text) == [
        "The mill was built\nby two brothers.",
        "Opening hours",
        "Monday to Friday",
    ]


def test_an_empty_line_always_ends_a_sentence() -> None:
    assert cut("a long table\n\nof small numbers") == ["a long table", "of small numbers"]


@pytest.mark.parametrize(
    "marker", ["- ", "* ", "• ", "1. ", "12) ", "(a) ", "> ", "> - ", "## ", "- [x] "]
)
def test_list_markers_stay_outside_the_sentence(marker: str) -> None:
    assert cut(f"{marker}Oil is lighter than water.") == ["Oil is lighter than water."]


@pytest.mark.parametrize("text", ["", " \n\t ", "---\n***\n", "…", "```\n```"])
def test_text_without_letters_and_digits_has_no_sentences(text: str) -> None:
    assert cut(text) == []
    assert split_answer(text) == []


def test_a_sentence_without_end_is_cut_at_blanks() -> None:
    text = "mud and rain " * 2_000
    pieces = cut(text)
    assert all(len(piece) <= 1_000 for piece in pieces)
    assert " ".join(pieces) == text.strip()


def test_a_word_without_end_is_cut_where_it_must() -> None:
    text = "x" * 12_345
    assert "".join(cut(text)) == text


@given(AWKWARD)
def test_spans_are_in_order_within_the_text_and_hold_something(text: str) -> None:
    last = 0
    for span in split_sentences(text):
        assert last <= span.start < span.end <= len(text)
        assert any(character.isalnum() for character in span.slice_text(text))
        assert span.slice_text(text).strip() == span.slice_text(text)
        last = span.end


@given(AWKWARD)
def test_no_letter_and_no_digit_is_lost_but_those_of_list_markers(text: str) -> None:
    plain = text.replace("\n", " ").replace("\r", " ")
    plain = "Begin " + plain.replace("\u2028", " ").replace("\x85", " ").replace("\x0b", " ")
    plain = plain.replace("\x0c", " ").replace("\u2029", " ")
    kept = "".join(cut(plain))
    assert [c for c in kept if c.isalnum()] == [c for c in plain if c.isalnum()]


@given(AWKWARD)
def test_answer_sentences_say_what_their_span_holds(text: str) -> None:
    for each in split_answer(text):
        assert each.span.slice_text(text) == each.text
        assert any(character.isalnum() for character in each.text)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("The lighthouse is 40 metres tall.", "claim"),
        ("Lisbon", "claim"),
        ("It does not rain in July.", "claim"),
        ("Yes, the bridge is closed.", "claim"),
        ("The article was written by two reporters.", "claim"),
        ("There are no data centres on the island.", "claim"),
        ("Would you like to know more?", "question"),
        ("要继续吗？", "question"),
        ("The provided documents do not mention a price.", "refusal"),
        ("The opening year is not specified in the given context.", "refusal"),
        ("I don't have information about that.", "refusal"),
        ("I'm sorry, I cannot answer this.", "refusal"),
        ("There is no information about tickets.", "refusal"),
        ("I'm sorry, but the text does not say why.", "refusal"),
        ("The text does not give a date, but it names the architect.", "claim"),
        ("I'm sorry to hear that your card was lost.", "chat"),
        ("Hello there!", "chat"),
        ("Thank you very much.", "chat"),
        ("Yes.", "chat"),
        ("I hope this helps!", "chat"),
        ("Let me know if you need anything else.", "chat"),
        ("## Opening hours", "heading"),
        ("The main reasons are:", "heading"),
    ],
)
def test_every_sentence_of_an_answer_has_a_kind(answer: str, kind: str) -> None:
    assert [found for _, found in kinds(answer)] == [kind]


def test_a_bold_line_followed_by_text_is_a_heading() -> None:
    assert kinds("**Two causes**\nRain fell for weeks.") == [
        ("Two causes", "heading"),
        ("Rain fell for weeks.", "claim"),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("**The dam held.**", ["The dam held."]),
        ("*The dam* held.", ["*The dam* held."]),
        ("**Cost:** it was high.", ["**Cost:** it was high."]),
        ("**The dam held. The town was safe.**", ["The dam held.", "The town was safe."]),
        ("- _The dam held._", ["The dam held."]),
    ],
)
def test_emphasis_around_a_sentence_is_left_out_and_inside_it_stays(
    answer: str, expected: list[str]
) -> None:
    assert [text for text, _ in kinds(answer)] == expected


def test_a_panic_of_the_splitter_leaves_the_line_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(language: str, text: str) -> None:
        raise PanicException(language, text)

    monkeypatch.setattr("sentencex.get_sentence_boundaries", panic)
    assert cut("One line. Two sentences.") == ["One line. Two sentences."]


def test_an_interrupt_inside_the_splitter_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(language: str, text: str) -> None:
        raise KeyboardInterrupt(language, text)

    monkeypatch.setattr("sentencex.get_sentence_boundaries", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cut("One line.")


def test_only_claims_are_statements() -> None:
    answer = "Hi! The ferry leaves at nine. Do you need a ticket?"
    claims = [each.text for each in split_answer(answer) if each.kind is SentenceKind.CLAIM]
    assert claims == ["The ferry leaves at nine."]


@pytest.mark.parametrize("passage", GOLD, ids=[each["name"] for each in GOLD])
def test_awkward_passages_are_cut_and_named_as_people_would(passage: dict[str, object]) -> None:
    text = str(passage["text"])
    assert [[found, kind] for found, kind in kinds(text)] == passage["sentences"]


@pytest.mark.parametrize(
    "marker",
    ["5.", "12)", "(3)", "a)", "iv.", "-", "•", "*", "–", "1.\n2.", "**2.**", "- \n- ", "7"],
)
@pytest.mark.parametrize("where", ["{0}\nOil floats.", "Oil floats.\n{0}", "Oil floats.\n\n{0}\n"])
def test_a_list_marker_alone_is_never_a_claim(marker: str, where: str) -> None:
    found = split_answer(where.format(marker))
    assert [each.text for each in found if each.kind is SentenceKind.CLAIM] == ["Oil floats."]
