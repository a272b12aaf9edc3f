import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Document, Image, Turn, content_hash, normalise_text

HOSTILE = Path(__file__).parents[2] / "fixtures" / "hostile" / "strings.json"

any_text = st.text(st.characters())
documents = st.builds(Document, any_text, st.none() | any_text)
turns = st.lists(
    st.builds(
        Turn,
        st.sampled_from(("user", "assistant")),
        any_text,
        st.none() | st.lists(documents, max_size=2).map(tuple),
    ),
    max_size=4,
)

PAGE = Image("1" * 64, "image/png")
OTHER = Image("2" * 64, "image/png")


@given(turns, turns)
def test_only_equal_turns_have_equal_hashes(one: list[Turn], other: list[Turn]) -> None:
    assert (content_hash(one) == content_hash(other)) == (one == other)


@given(turns)
def test_a_hash_is_64_hexadecimal_digits(some: list[Turn]) -> None:
    assert len(content_hash(some)) == 64
    assert set(content_hash(some)) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Turn("user", "Hi"), Turn("assistant", "Hi")),
        (Turn("user", "Hi"), Turn("user", "Hi ")),
        (Turn("assistant", "Hi"), Turn("assistant", "Hi", ())),
        (Turn("assistant", "Hi", (Document("d"),)), Turn("assistant", "Hi", (Document("d", ""),))),
        (Turn("user", "Hi", images=(PAGE,)), Turn("user", "Hi")),
        (Turn("user", "Hi", images=(PAGE,)), Turn("user", "Hi", images=(OTHER,))),
        (
            Turn("assistant", "Hi", (Document("d", images=(PAGE,)),)),
            Turn("assistant", "Hi", (Document("d"),)),
        ),
        (
            Turn("assistant", "Hi", (Document("d", images=(PAGE,)),)),
            Turn("assistant", "Hi", (Document("d", images=(OTHER,)),)),
        ),
    ],
)
def test_role_text_documents_and_images_all_enter_the_hash(one: Turn, other: Turn) -> None:
    assert content_hash([one]) != content_hash([other])


def test_a_lone_surrogate_can_be_hashed() -> None:
    assert content_hash([Turn("user", "\ud800")]) != content_hash([Turn("user", "\ud801")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  It takes\n nine\u00a0days. ", "it takes nine days."),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁve", "five"),
        ("", ""),
        ("\u2028", ""),
    ],
)
def test_case_compatibility_forms_and_white_space_do_not_make_another_claim(
    text: str, expected: str
) -> None:
    assert normalise_text(text) == expected


@pytest.mark.parametrize("other", ["It takes nine days", "It takes 9 days.", "Takes it nine days."])
def test_words_and_marks_do(other: str) -> None:
    assert normalise_text(other) != normalise_text("It takes nine days.")


@given(st.text())
def test_normalised_text_has_single_spaces_and_none_at_its_ends(text: str) -> None:
    folded = normalise_text(text)
    assert folded == " ".join(folded.split())


@given(st.text("aBcßﬁ \t\n"))
def test_white_space_around_and_between_words_never_matters(text: str) -> None:
    assert normalise_text(text) == normalise_text(f"\n {'  '.join(text.split())}\t")


def test_hostile_strings_can_be_hashed_and_folded() -> None:
    for each in json.loads(HOSTILE.read_text(encoding="utf-8"))["strings"]:
        text = each["text"]
        if text is None:
            text = each["repeat"] * each["times"]
        assert content_hash([Turn("user", text)])
        assert isinstance(normalise_text(text), str)
