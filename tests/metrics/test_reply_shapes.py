import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.metrics.base import ReplyMismatch, ReplyShape
from faithtui.metrics.deepeval_json import parse_first_to_last_brace
from faithtui.metrics.reply_shapes import (
    ParsedVerdict,
    make_keyed_lists_reply_shape,
    make_keyed_verdicts_reply_shape,
    make_one_list_reply_shape,
    make_one_text_reply_shape,
    make_verdict_list_reply_shape,
)

Json = Any

WORDS = ("yes", "no", "idk")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(("c0", "verdicts", "a0")), inner)
    ),
    max_leaves=8,
)

SHAPES: list[ReplyShape[Any]] = [
    make_keyed_lists_reply_shape(["a0", "a1"]),
    make_keyed_lists_reply_shape(["a0"], as_peer=True),
    make_one_list_reply_shape("claims"),
    make_one_text_reply_shape("reason"),
    make_one_text_reply_shape("reason", as_peer=True),
    make_keyed_verdicts_reply_shape(["c0"], WORDS),
    make_keyed_verdicts_reply_shape(["c0"], WORDS, truths=["t0"], as_peer=True),
    make_verdict_list_reply_shape(WORDS),
]


def assert_closed(schema: Json) -> None:
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for inner in schema["properties"].values():
            assert_closed(inner)
    if schema.get("type") == "array":
        assert_closed(schema["items"])


@pytest.mark.parametrize("shape", SHAPES)
def test_every_schema_closes_every_object(shape: ReplyShape[Any]) -> None:
    assert shape.schema is not None
    assert shape.schema["type"] == "object"
    assert_closed(shape.schema)


@pytest.mark.parametrize("shape", SHAPES)
@given(value=json_values, structured=st.booleans())
def test_anything_is_either_read_or_a_mismatch(
    shape: ReplyShape[Any], value: Json, structured: bool
) -> None:
    with contextlib.suppress(ReplyMismatch):  # any other exception fails
        shape.read(value, structured)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("value", [None, [], "text", 5])
def test_a_reply_is_one_object(shape: ReplyShape[Any], value: Json) -> None:
    with pytest.raises(ReplyMismatch, match="one JSON object"):
        shape.read(value, True)


def test_lists_come_in_the_order_of_the_keys_trimmed_and_without_blanks() -> None:
    shape = make_keyed_lists_reply_shape(["a0", "a1"])
    assert shape.read({"a1": ["y"], "a0": [" x ", " "], "a2": 5}, True) == (("x",), ("y",))
    assert shape.schema is not None
    assert shape.schema["required"] == ["a0", "a1"]


def test_the_peer_keeps_texts_as_written() -> None:
    assert make_keyed_lists_reply_shape(["a0"], as_peer=True).read({"a0": [" x ", ""]}, True) == (
        (" x ", ""),
    )
    assert make_one_list_reply_shape("claims", as_peer=True).read({"claims": [" x "]}, False) == (
        " x ",
    )


def test_missing_keys_are_named() -> None:
    with pytest.raises(ReplyMismatch, match="a0, a2 are missing"):
        make_keyed_lists_reply_shape(["a0", "a1", "a2"]).read({"a1": []}, True)


@pytest.mark.parametrize("value", [None, "x", ["x", 1], {"x": 1}])
def test_a_list_holds_texts_alone(value: Json) -> None:
    with pytest.raises(ReplyMismatch, match="`claims` must be a list of strings"):
        make_one_list_reply_shape("claims").read({"claims": value}, True)


def test_one_list_is_one_key() -> None:
    assert make_one_list_reply_shape("claims").read({"claims": ["x", " y ", " "]}, True) == (
        "x",
        "y",
    )
    with pytest.raises(ReplyMismatch, match="claims"):
        make_one_list_reply_shape("claims").read({}, True)


@pytest.mark.parametrize("value", [{}, {"reason": None}, {"reason": 5}, {"reason": ["x"]}])
def test_a_reason_is_a_text(value: Json) -> None:
    with pytest.raises(ReplyMismatch, match="`reason` must be a string"):
        make_one_text_reply_shape("reason").read(value, False)
    assert make_one_text_reply_shape("reason").read({"reason": " x "}, False) == " x "


def test_the_peer_takes_a_null_reason_in_loose_json_alone() -> None:
    shape = make_one_text_reply_shape("reason", as_peer=True)
    assert shape.read({"reason": None}, False) == ""
    for value, structured in (({"reason": None}, True), ({}, False), ({"reason": 5}, False)):
        with pytest.raises(ReplyMismatch):
            shape.read(value, structured)


def test_verdicts_name_their_claims_and_missing_ones_are_none() -> None:
    shape = make_keyed_verdicts_reply_shape(["c0", "c1", "c2", "c3"], WORDS)
    reply = {
        "c3": {"verdict": "No", "reason": " why "},
        "c1": None,
        "c0": {"verdict": 5, "reason": 5, "confidence": True},
        "c9": {"verdict": "yes"},
    }
    assert shape.read(reply, False) == (ParsedVerdict(None), None, None, ParsedVerdict("No", "why"))


def test_truths_are_offered_only_where_they_can_be_named() -> None:
    plain: Json = make_keyed_verdicts_reply_shape(["c0"], WORDS).schema
    naming: Json = make_keyed_verdicts_reply_shape(["c0"], WORDS, truths=["t0"]).schema
    assert list(plain["properties"]["c0"]["properties"]) == ["reason", "verdict"]
    assert list(naming["properties"]["c0"]["properties"]) == [
        "reason",
        "sufficient",
        "partial",
        "contradicts",
        "verdict",
    ]
    assert naming["properties"]["c0"]["properties"]["verdict"]["enum"] == list(WORDS)


def test_named_truths_are_read_with_or_without_brackets() -> None:
    entry = {"verdict": "yes", "partial": [" [t1] ", "t2", 3], "contradicts": "t1"}
    (said,) = make_keyed_verdicts_reply_shape(["c0"], WORDS, truths=["t1", "t2"]).read(
        {"c0": entry}, True
    )
    assert said == ParsedVerdict("yes", partial=("t1", "t2"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([["t1", "t2"], ["t3"]], (("t1", "t2"), ("t3",))),
        ([["t1"], ["t1"]], (("t1",),)),
        ([[]], ()),
        ([["t1"], []], (("t1",),)),
        # Without lists inside nobody knows whether one is enough; all of them certainly are.
        (["t1", "t2"], (("t1", "t2"),)),
        (["t1", ["t2"]], (("t2",), ("t1",))),
        ([{"set": ["t1"]}, 3], ()),
        ("t1", ()),
        (None, ()),
    ],
)
def test_sets_of_truths_are_never_read_as_more_than_was_written(written: Json, read: Json) -> None:
    entry = {"verdict": "yes", "sufficient": written}
    (said,) = make_keyed_verdicts_reply_shape(["c0"], WORDS, truths=["t1", "t2"]).read(
        {"c0": entry}, True
    )
    assert said is not None
    assert said.sufficient == read


@pytest.mark.parametrize(
    ("value", "read"),
    [(0, 0.0), (1, 1.0), (0.25, 0.25), (1.01, None), (-0.1, None), (True, None), ("0.5", None)],
)
def test_confidence_is_a_probability_or_none(value: Json, read: float | None) -> None:
    entry = {"verdict": "yes", "confidence": value}
    (said,) = make_keyed_verdicts_reply_shape(["c0"], WORDS).read({"c0": entry}, True)
    assert said is not None
    assert said.confidence == read


@pytest.mark.parametrize("value", ["yes", ["yes"], 1])
def test_an_entry_is_an_object(value: Json) -> None:
    with pytest.raises(ReplyMismatch, match="`c0` must be an object"):
        make_keyed_verdicts_reply_shape(["c0"], WORDS).read({"c0": value}, False)
    with pytest.raises(ReplyMismatch, match=r"`verdicts\[0\]` must be an object"):
        make_verdict_list_reply_shape(WORDS).read({"verdicts": [value]}, False)


@pytest.mark.parametrize(
    ("as_peer", "structured", "breaks"),
    [(False, True, False), (False, False, False), (True, False, False), (True, True, True)],
)
def test_a_word_breaks_the_schema_only_for_the_peer_and_a_bound_provider(
    as_peer: bool, structured: bool, breaks: bool
) -> None:
    shape = make_keyed_verdicts_reply_shape(["c0", "c1"], WORDS, as_peer=as_peer)
    reply = {"c0": {"verdict": "maybe"}, "c1": {"verdict": "yes"}}
    one, other = shape.read(reply, structured)
    assert one is not None
    assert other is not None
    assert (one.breaks_schema, other.breaks_schema) == (breaks, False)


def test_a_list_of_verdicts_is_read_as_long_as_it_is() -> None:
    reply = {"verdicts": [{"verdict": "yes"}, {"reason": "r"}, {"verdict": "NO!", "reason": "s"}]}
    assert make_verdict_list_reply_shape(WORDS).read(reply, False) == (
        ParsedVerdict("yes"),
        ParsedVerdict(None, "r"),
        ParsedVerdict("NO!", "s"),
    )


@pytest.mark.parametrize("value", [{}, {"verdicts": None}, {"verdicts": ""}, {"verdicts": {}}])
def test_no_list_of_verdicts_is_an_empty_one_in_loose_json_alone(value: Json) -> None:
    assert make_verdict_list_reply_shape(WORDS).read(value, False) == ()
    with pytest.raises(ReplyMismatch, match="`verdicts` must be a list"):
        make_verdict_list_reply_shape(WORDS).read(value, True)
    with pytest.raises(ReplyMismatch, match="`verdicts` must be a list"):
        make_verdict_list_reply_shape(WORDS).read({"verdicts": "yes"}, False)


@pytest.mark.parametrize("entry", [{"verdict": "maybe"}, {"verdict": "Yes"}, {"reason": "r"}])
def test_a_bound_list_keeps_to_the_vocabulary(entry: Json) -> None:
    with pytest.raises(
        ReplyMismatch, match=r"`verdicts\[1\].verdict` is .*; expected one of yes, no"
    ):
        make_verdict_list_reply_shape(WORDS).read({"verdicts": [{"verdict": "yes"}, entry]}, True)


def test_a_reason_in_a_list_is_a_text_where_there_is_a_verdict() -> None:
    shape = make_verdict_list_reply_shape(WORDS)
    with pytest.raises(ReplyMismatch, match="reason"):
        shape.read({"verdicts": [{"verdict": "yes", "reason": 5}]}, False)
    assert shape.read({"verdicts": [{"reason": 5}]}, False) == (ParsedVerdict(None),)


# The peer's reader


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure:\n```json\n{"a": [1, 2]}\n```\nDone.', {"a": [1, 2]}),
        ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
        ('{"a": "x, ]"}', {"a": "x, ]"}),
        ('{"a": [1]', {"a": [1]}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('[{"a": 1}]', {"a": 1}),
    ],
)
def test_the_peer_reads_from_the_first_brace_to_the_last(text: str, value: Json) -> None:
    assert parse_first_to_last_brace(text) == value


@pytest.mark.parametrize(
    "text", ["", "no JSON", "} {", '{"a": 1} {"b": 2}', "{a: 1}", '{"a": [1}', '{"a": "x']
)
def test_what_the_peer_cannot_read_is_a_mismatch(text: str) -> None:
    with pytest.raises(ReplyMismatch, match="the reply"):
        parse_first_to_last_brace(text)


def test_nesting_without_end_is_a_mismatch() -> None:
    with pytest.raises(ReplyMismatch, match="nested too deeply"):
        parse_first_to_last_brace('{"a":' * 100_000 + "1" + "}" * 100_000)


@given(st.dictionaries(st.text(), json_values.filter(lambda value: value == value)))
def test_the_peer_reads_what_it_would_write(value: Json) -> None:
    text = json.dumps(value)
    assert parse_first_to_last_brace(f"Here: {text} That is all.") == json.loads(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_only_the_peers_shapes_bring_the_peers_reader(shape: ReplyShape[Any]) -> None:
    assert shape.parse in (None, parse_first_to_last_brace)
    assert make_keyed_lists_reply_shape(["a0"]).parse is None
    assert make_verdict_list_reply_shape(WORDS).parse is parse_first_to_last_brace


@pytest.mark.parametrize("value", [5, ["a"], False, {"b": "ü"}])
def test_the_peer_keeps_a_final_reason_as_it_came_unless_bound_to_the_schema(value: Json) -> None:
    shape = make_one_text_reply_shape("reason", as_peer=True, anything=True)
    assert json.loads(shape.read({"reason": value}, False)) == value
    for strict, structured in (
        (shape, True),
        (make_one_text_reply_shape("reason", as_peer=True), False),
    ):
        with pytest.raises(ReplyMismatch, match="must be a string"):
            strict.read({"reason": value}, structured)
    with pytest.raises(ReplyMismatch, match="must be a string"):
        shape.read({}, False)


def test_the_peer_looks_at_the_reason_of_words_it_knows_alone() -> None:
    shape = make_verdict_list_reply_shape(("yes", "no"))
    (said,) = shape.read({"verdicts": [{"verdict": "hm", "reason": 5}]}, False)
    assert (said.word, said.reason) == ("hm", None)
    for word in ("yes", " No, not at all"):
        with pytest.raises(ReplyMismatch, match="reason"):
            shape.read({"verdicts": [{"verdict": word, "reason": 5}]}, False)
