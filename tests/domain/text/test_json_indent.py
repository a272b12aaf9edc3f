"""JSON is indented, and says the same to the last character."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.text.json_indent import indent_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def test_levels_are_indented() -> None:
    assert indent_json('{"a":[1,{"b":"x, {y}"}],"c":[],"d":{}}') == (
        '{\n  "a": [\n    1,\n    {\n      "b": "x, {y}"\n    }\n  ],\n  "c": [],\n  "d": {}\n}'
    )


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_it_says_the_same(value: list[object]) -> None:
    indented = indent_json(json.dumps(value))
    assert indented is not None
    assert json.loads(indented) == value


def test_no_number_escape_or_key_is_changed() -> None:
    text = '{"a": 1.0e5, "a": "\\u00e9\\"", "n": 10000000000000000000000.10}'
    indented = indent_json(text)
    assert indented is not None
    assert "".join(indented.split()) == "".join(text.split())


def test_a_fence_stays() -> None:
    assert indent_json('```json\n{"a":1}\n```') == '```json\n{\n  "a": 1\n}\n```'
    assert indent_json("```\nnot json\n```") is None


@pytest.mark.parametrize("text", ["", "yes", '"a"', "12", "{", '{"a"', "[1] and more", "[" * 9_999])
def test_what_is_no_json_stays_text(text: str) -> None:
    assert indent_json(text) is None
