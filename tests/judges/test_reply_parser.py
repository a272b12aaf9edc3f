import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import JudgeReplyInvalid
from faithtui.judges.reply_parser import MAX_BYTES, MAX_NESTING, parse_reply, remove_invalid_unicode
from tests.resources import times_reading

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=5)
prose = st.text(st.characters(codec="utf-8", exclude_characters="{}[]<\0"))

VERDICT = '{"c0": {"reason": "as said", "verdict": "yes"}}'
READ = {"c0": {"reason": "as said", "verdict": "yes"}}


def refused(text: str) -> str:
    with pytest.raises(JudgeReplyInvalid) as caught:
        parse_reply(text)
    assert caught.value.raw == text
    return str(caught.value)


@given(objects)
def test_what_is_written_as_json_is_read_back(document: dict[str, object]) -> None:
    assert parse_reply(json.dumps(document)) == document
    assert parse_reply(json.dumps(document, ensure_ascii=False, indent=2)) == document


@given(objects, prose, prose)
def test_prose_and_fences_around_an_object_change_nothing(
    document: dict[str, object], before: str, after: str
) -> None:
    assert parse_reply(f"{before}{json.dumps(document)}{after}") == document
    assert parse_reply(f"{before}\n```json\n{json.dumps(document)}\n```\n{after}") == document


@given(objects, objects, st.data())
def test_an_object_cut_anywhere_is_never_read(
    earlier: dict[str, object], document: dict[str, object], data: st.DataObject
) -> None:
    whole = json.dumps({"c0": document, "c1": {"verdict": "yes"}})
    cut = whole[: data.draw(st.integers(2, len(whole) - 1))]
    refused(cut)
    refused(f"Here it is: {cut}")
    refused(f"{json.dumps(earlier)} No, rather: {cut}")


@given(objects)
def test_the_last_of_two_objects_counts(document: dict[str, object]) -> None:
    assert parse_reply(f"{VERDICT}\nOn reflection:\n{json.dumps(document)}") == document


@given(values)
def test_spare_commas_are_forgiven(value: object) -> None:
    inner = json.dumps(value)
    assert parse_reply(f'{{"a": [{inner} , ], "b": {{"c": {inner},\n}},}}') == {
        "a": [value],
        "b": {"c": value},
    }


@given(st.text() | st.text('{}[]",:\\a1 <>think/`\n'))
def test_no_text_does_anything_but_read_or_refuse(text: str) -> None:
    with suppress(JudgeReplyInvalid):
        document = parse_reply(text)
        assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    "text",
    [
        VERDICT,
        f"  \n{VERDICT}\n",
        f"\ufeff{VERDICT}",
        f"```json\n{VERDICT}\n```",
        f"Sure! Here you are:\n{VERDICT}\nLet me know (see [1]).",
        f"The interval [0, 1) and the set {{a, b}}: {VERDICT} :-{{",
        f'<think>Maybe {{"c0": 1}}? Or {{</think>{VERDICT}',
        f"<THINKING>\n{{\n</THINKING>\n```\n{VERDICT}\n```",
        f'I guess {{"c0": 0}} </think> {VERDICT}',
        f'{{"c0": "draft"}}\n{VERDICT}',
        f"{VERDICT} as the set {{x: 1}} shows",
        VERDICT.replace("}}", ",},}"),
        VERDICT.replace("}}", " ,\n}}"),
        f"{VERDICT},",
    ],
)
def test_what_judges_put_around_their_answer_is_forgiven(text: str) -> None:
    assert parse_reply(text) == READ


def test_tags_and_brackets_inside_strings_are_text() -> None:
    document = {"reason": 'a <think> b </think> } ] { "quoted" \\', "verdict": ",}"}
    assert parse_reply(f"```\n{json.dumps(document)}\n```") == document


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        (" \n\0\t", "is empty"),
        ("I would say yes.", "holds no JSON object"),
        ("null", "holds no JSON object"),
        (f"[{VERDICT}]", "holds no JSON object"),
        (f"[{VERDICT}, ", "stops inside"),
        (f"<think>{VERDICT}", "holds no JSON object"),
        (f"{VERDICT}</think>", "holds no JSON object"),
        ('{"c0": {"verdict": "yes"}', "stops inside"),
        ('{"c0": {"verdict": "yes"}, "c1": {"verd', "stops inside"),
        ('{"c0": {"verdict": "yes"}]', "do not match"),
        ('{"c0": broken, "c1": {"verdict": "yes"}}', "is not valid JSON"),
        ('{c0: {"verdict": "yes"}}', "holds no JSON object"),
        ('{c0: {"verdict": "yes"}', "holds no JSON object"),
        ("{'verdict': 'yes'}", "is not valid JSON"),
        (f'{VERDICT} or rather {{"c0": }}', "is not valid JSON"),
        ('{"a": [,]}', "is not valid JSON"),
        ('{"a": [1,,]}', "is not valid JSON"),
        ('{"a": ,}', "is not valid JSON"),
        ('{,}', None),
        ('{"a": NaN}', "holds NaN"),
        ('{"a": -Infinity}', "holds -Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "9" * 5_000 + "}", "is not valid JSON"),
        ('{"a": 1, "a": 2}', "same key twice"),
        ('{"a": {"b": 1, "b": 1}}', "same key twice"),
        ('{"a": 1, "a\\u0000": 2}', "same key twice"),
        ('{"a": "line\nbreak"}', "is not valid JSON"),
    ],
)  # fmt: skip
def test_what_is_no_object_is_refused(text: str, why: str | None) -> None:
    assert (why or "the judge's reply") in refused(text)


def test_surrogates_and_nul_are_taken_out_of_every_string() -> None:
    text = '{"a\\u0000\\ud800": ["x\\udfffy\\u0000", {"k": "\\ud83d\\ude00"}], "raw": "\ud801\0z"}'
    read = parse_reply(text)
    assert read == {"a\ufffd": ["x\ufffdy", {"k": "😀"}], "raw": "\ufffdz"}
    json.dumps(read, ensure_ascii=False).encode()


@given(st.text(st.characters(categories=["Cs", "Cc", "L"])))
def test_clean_text_can_always_be_stored_and_stays_clean(text: str) -> None:
    cleaned = remove_invalid_unicode(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert remove_invalid_unicode(cleaned) == cleaned


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_nesting_is_bounded() -> None:
    parse_reply(nested(MAX_NESTING))
    assert "nested" in refused(nested(MAX_NESTING + 1))


@pytest.mark.parametrize(
    "text",
    [
        nested(20_000),
        '{"a":' * 20_000,
        "[" * 20_000 + '{"a": 1}' + "]" * 20_000,
        '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}",
        "{[" * 20_000,
        '{"' + "\\" * 100_000,
        '{"a": "' + "{" * 500_000,
        "{ " * 500_000,
        "<think>" * 100_000,
        "</think>" * 100_000,
        "[1]" * 300_000,
        '{"a": 1,}' * 100_000 + "{",
        " " * (MAX_BYTES - 1),
    ],
    ids=range(13),
)
def test_hostile_texts_end_quickly(text: str) -> None:
    def parse() -> None:
        with suppress(JudgeReplyInvalid):
            parse_reply(text)

    assert times_reading(text, parse) < 3_000


def test_the_size_is_bounded_in_bytes() -> None:
    frame = len('{"a": ""}')
    assert parse_reply('{"a": "' + "x" * (MAX_BYTES - frame) + '"}')
    assert "longer" in refused('{"a": "' + "x" * (MAX_BYTES - frame + 1) + '"}')
    assert "longer" in refused('{"a": "' + "é" * (MAX_BYTES // 2) + '"}')
    assert "longer" in refused("x" * 20_000_000)
