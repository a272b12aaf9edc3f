import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.languages import (
    MEASURED_LANGUAGE,
    are_comparable_languages,
    detect_language,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lighthouse has stood on the cliff for years.", "English"),
        ("Der Turm ist hoch und steht auf der Klippe.", "German"),
        ("Le phare est sur la côte et il n'est pas haut.", "French"),
        ("El faro es muy alto y está en la costa.", "Spanish"),
        ("Il faro è molto alto e si trova sulla costa.", "Italian"),
        ("O farol é alto e fica na costa.", "Portuguese"),
        ("De toren is hoog en staat op het strand, niet ver van het dorp.", "Dutch"),
        ("Fyren är hög och står på klippan.", "Swedish"),
        ("Latarnia stoi na skale i nie jest wysoka.", "Polish"),
        ("Věž je vysoká a stojí na skále.", "Czech or Slovak"),
        ("Menara itu tinggi dan berada di tebing.", "Indonesian or Malay"),
        ("Маяк стоит на скале.", "Cyrillic"),
        ("المنارة عالية.", "Arabic"),
        ("झील बहुत गहरी है।", "Devanagari"),
        ("ประภาคารสูงมาก", "Thai"),
        ("灯塔高四十米。", "Chinese or Japanese"),
        ("灯台はとても高い。", "Chinese or Japanese"),
        ("등대는 매우 높다.", "Hangul"),
    ],
)
def test_running_text_shows_its_language_or_script(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 + 30 = 42",
        "Lisbon",
        "OK",
        "De la Rocha, Marta Lind, Kofi Mensah",
        "pump tank valve power",
    ],
)
def test_too_little_text_has_no_language(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "De la Rocha pursued a solo career, while the others formed a band.",
        "I do, he is so good to me.",
        "The word 灯塔 means lighthouse in the Chinese language.",
        "It was told in die Zeit and in Le Monde by a man of the press.",
    ],
)
def test_foreign_names_do_not_make_english_foreign(text: str) -> None:
    assert detect_language(text) in (MEASURED_LANGUAGE, None)


def test_only_two_known_and_different_languages_cannot_be_compared() -> None:
    assert are_comparable_languages(None, None)
    assert are_comparable_languages("German", None)
    assert are_comparable_languages("German", "German")
    assert not are_comparable_languages("German", "English")


@given(st.text(max_size=60))
def test_any_text_has_a_language_or_none(text: str) -> None:
    found = detect_language(text)
    assert found is None or found[0].isupper()
