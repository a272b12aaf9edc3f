"""Hostile text becomes visible characters, and plain text stays as it is."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.visible_text import make_visible, make_visible_line

HOSTILE = Path(__file__).parents[3] / "fixtures" / "hostile" / "strings.json"

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def hostile() -> list[tuple[str, str]]:
    """Name and text of every hostile string; the long ones are repeated to their full length."""
    entries = json.loads(HOSTILE.read_text(encoding="utf-8"))["strings"]
    return [
        (
            entry["id"],
            entry["text"] if entry["text"] is not None else entry["repeat"] * entry["times"],
        )
        for entry in entries
    ]


def troubles(shown: str) -> set[str]:
    """Characters that must never reach a terminal, by code point."""
    return {
        f"U+{ord(character):04X}"
        for character in set(shown) - {"\n"}
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or ord(character) & 0xFFFE == 0xFFFE
        or 0xFDD0 <= ord(character) <= 0xFDEF
        or character in BIDI
    }


def longest_pile(shown: str) -> int:
    """Most combining marks in a row."""
    longest = run = 0
    for character in shown:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in hostile()])
def test_hostile_strings_come_out_harmless(text: str) -> None:
    shown = make_visible(text)
    assert troubles(shown) == set()
    assert longest_pile(shown) <= 2
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert make_visible(shown) == shown
    assert "\n" not in make_visible_line(text)
    assert troubles(make_visible_line(text, 80)) == set()
    assert len(make_visible_line(text, 80)) <= 80


@pytest.mark.thorough
def test_every_character_comes_out_harmless() -> None:
    every = "x".join(map(chr, range(0x110000)))
    assert troubles(make_visible(every)) == set()


@given(st.text(st.characters(), max_size=200))
def test_any_text_comes_out_harmless_and_a_second_pass_changes_nothing(text: str) -> None:
    shown = make_visible(text)
    assert troubles(shown) == set()
    assert longest_pile(shown) <= 2
    assert make_visible(shown) == shown
    line = make_visible_line(text)
    assert "\n" not in line
    assert make_visible_line(line) == line
    assert make_visible(line) == line


@given(
    st.text(
        st.sampled_from("ae\n\r\t\x1b\x9d\u0301\u0308\u200b\u200d\u202e\ufe0f\U0001f44d\U0001f3fd"),
        max_size=40,
    )
)
def test_troublesome_neighbours_come_out_harmless(text: str) -> None:
    shown = make_visible(text)
    assert troubles(shown) == set()
    assert longest_pile(shown) <= 2
    assert make_visible(shown) == shown


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.just("\n")))
def test_plain_text_is_given_back_as_the_same_object(text: str) -> None:
    assert make_visible(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "Café – “naïve”",
        "検証対象の主張",
        "النص العربي",
        "ที่นี่",
        "한국어 주장",
        "✓ ✗ 😀",
        "e\u0301 a\u0308",
    ],
)
def test_ordinary_writing_stays(text: str) -> None:
    assert make_visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x1b[31mB", "A␛[31mB"),
        ("A\x1b", "A␛"),
        ("A\x00B\x07", "A␀B␇"),
        ("A\x7fB", "A␡B"),
        ("A\x9d0;pwned\x9cB", "A␛]0;pwned␛\\B"),
        ("FAITHFUL\rUNFAITH", "FAITHFUL␍UNFAITH"),
        ("one\r\ntwo", "one\ntwo"),
        ("a\tb", "a    b"),
        ("A\u2028B\u2029C\x85D", "A␤B␤C␤D"),
        ("\u202egnp.exe\u202c", "⟨RLO⟩gnp.exe⟨PDF⟩"),
        ("fa\u200bith\u200cful\ufeff", "fa∅ith∅ful∅"),
        ("soft\xadhyphen", "soft∅hyphen"),
        ("\u2764\ufe0f", "\u2764"),
        ("1\ufe0f\u20e3", "1"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"),
        ("a\u180bb\u180ec", "ab∅c"),
        ("a\U000e0041b\U000e0100c", "a∅bc"),
        ("\u3164\uffa0", "∅∅"),
        ("A\ud800B", "A�B"),
        ("A\ufffeB\U0010ffffC\ufdd0", "A�B�C�"),
        ("e\u0301\u0302\u0303\u0304x", "e\u0301\u0302x"),
        ("e\u0301\ufe0f\u0302\u200d\u0303", "e\u0301\u0302"),
        ("\u0301start\n\u0301next", "◌\u0301start\n◌\u0301next"),
        ("x\U0001e944\U0001e945\U0001e946", "x\U0001e944\U0001e945"),
    ],
)
def test_what_is_invisible_is_shown(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_markup_is_left_alone_because_it_is_drawn_as_text() -> None:
    assert make_visible("[@click=app.quit]x[/] :smile:") == "[@click=app.quit]x[/] :smile:"


def test_one_line_shows_where_lines_end() -> None:
    assert make_visible_line("a\r\nb\n\u0301c") == "a␊b␊◌\u0301c"


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("ab", 1, "…"),
        ("a", 1, "a"),
        ("", 1, ""),
        ("a\nbcdef", 4, "a␊b…"),
        ("\u202eabc", 6, "⟨RLO⟩…"),
        ("\u200d" * 100 + "a", 3, "…"),
    ],
)
def test_a_long_line_is_cut_and_says_so(text: str, limit: int, line: str) -> None:
    assert make_visible_line(text, limit) == line


@given(st.text(st.characters(), max_size=60), st.integers(1, 30))
def test_a_cut_line_fits_and_a_second_cut_changes_nothing(text: str, limit: int) -> None:
    line = make_visible_line(text, limit)
    assert len(line) <= limit
    assert make_visible_line(line, limit) == line
    assert troubles(line) == set()
