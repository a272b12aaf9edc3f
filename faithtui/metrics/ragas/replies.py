"""What replies to the questions of ragas' metric look like, and how they are read.

Under the peer's rules a reply is found, mended and checked as ragas 0.4.3 does it: half an object
is closed, any integer is a verdict. Without them a statement that has no verdict has none.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from faithtui.domain.labels.label_sets import INFERENCE
from faithtui.metrics.base import ReplyMismatch, ReplyShape
from faithtui.metrics.reply_shapes import (
    make_keyed_verdicts_reply_shape,
    make_object_schema,
    make_one_list_reply_shape,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_FENCE = "```json"
_FENCED = re.compile(r"```(?:json)?(.*)", re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class ParsedInference:
    """What a judge wrote about one statement."""

    label: str | None
    """`1` or `0`; None when the word is neither."""
    word: str | None
    """Its verdict, letter for letter; None when it wrote none."""
    reason: str | None = None
    confidence: float | None = None


def make_statement_list_reply_shape(*, as_peer: bool) -> ReplyShape[tuple[str, ...]]:
    """`{"statements": ["…"]}`; under `as_peer` kept as written."""
    shape = make_one_list_reply_shape("statements", as_peer=as_peer)
    return replace(shape, parse=parse_and_repair_first_json) if as_peer else shape


def make_keyed_inferences_reply_shape(
    keys: Sequence[str],
) -> ReplyShape[tuple[ParsedInference | None, ...]]:
    """`{"s0": {"reason": "…", "verdict": "1"}}`: one entry per statement, in the order of the keys.

    The numbers 1 and 0 are as good as the words. A statement without an entry is None: the caller
    asks for it again.
    """
    shape = make_keyed_verdicts_reply_shape(keys, INFERENCE.names)

    def read(value: object, structured: bool) -> tuple[ParsedInference | None, ...]:
        return tuple(
            None
            if verdict is None
            else ParsedInference(
                None if verdict.word is None else INFERENCE.find_label_name_for_word(verdict.word),
                verdict.word,
                verdict.reason,
                verdict.confidence,
            )
            for verdict in shape.read(_convert_integer_verdicts_to_text(value), structured)
        )

    return ReplyShape(shape.schema, read)


def make_inference_list_reply_shape() -> ReplyShape[tuple[ParsedInference, ...]]:
    """`{"statements": [{"statement": "…", "reason": "…", "verdict": 1}]}`: as ragas asks.

    As many as come. Any integer but 0 is a 1, also `true`, `"1"` and 2.0.

    Source: ragas 0.4.3, metrics/_faithfulness.py, `NLIStatementOutput` and `_compute_score`.
    """
    entry = make_object_schema(
        {
            "statement": {"type": "string"},
            "reason": {"type": "string"},
            "verdict": {"type": "integer", "enum": [1, 0]},
        }
    )

    def read(value: object, structured: bool) -> tuple[ParsedInference, ...]:
        listed = value.get("statements") if isinstance(value, dict) else None
        if not isinstance(listed, list):
            raise ReplyMismatch("`statements` must be a list of objects")
        return tuple(_read_inference(f"statements[{n}]", each) for n, each in enumerate(listed))

    schema = make_object_schema({"statements": {"type": "array", "items": entry}})
    return ReplyShape(schema, read, parse_and_repair_first_json)


def _read_inference(name: str, value: object) -> ParsedInference:
    if not isinstance(value, dict):
        raise ReplyMismatch(f"`{name}` must be an object")
    statement, reason = value.get("statement"), value.get("reason")
    if not isinstance(statement, str) or not isinstance(reason, str):
        raise ReplyMismatch(f"`{name}` must have the strings `statement` and `reason`")
    verdict = _read_integer(f"{name}.verdict", value.get("verdict"))
    return ParsedInference(
        "1" if verdict else "0", _to_text_or_json(value["verdict"]), reason.strip() or None
    )


def _read_integer(name: str, value: object) -> int:
    """Read what pydantic takes for an integer: also `true`, `"1"` and 2.0."""
    from pydantic import ValidationError  # 8 MB that listing metrics does not need

    try:
        return _make_integer_adapter().validate_python(value)
    except ValidationError as error:
        raise ReplyMismatch(f"`{name}`: {error.errors()[0]['msg']}") from error


@cache
def _make_integer_adapter() -> "TypeAdapter[int]":
    from pydantic import TypeAdapter

    return TypeAdapter(int)


def _to_text_or_json(word: object) -> str:
    return word if isinstance(word, str) else json.dumps(word)


def _convert_integer_verdicts_to_text(value: object) -> object:
    """Write verdicts that are the number 1 or 0 as words."""
    if not isinstance(value, dict):
        return value
    return {
        key: {**entry, "verdict": str(entry["verdict"])}
        if isinstance(entry, dict) and type(entry.get("verdict")) is int
        else entry
        for key, entry in value.items()
    }


def parse_and_repair_first_json(text: str) -> object:
    """Read the first object or list of a text as JSON, mending it where it breaks off.

    The text is taken from a fence marked `json` on, if there is one. Without any bracket, or when
    the first is never closed, all of it is read.

    Raises:
        Mismatch: There is no JSON; the peer asks the judge to repair its reply, and gives up when
            that fails.

    Source:
        ragas 0.4.3, prompt/utils.py, `extract_json`; langchain-core 1.8.2, utils/json.py,
        `parse_json_markdown` and `parse_partial_json`, of which one oddity is left out: a key
        named `action_input` is nothing special here.
    """
    found = _cut_first_balanced(text)
    try:
        try:
            return _parse_repaired(_strip_backticks(found))
        except json.JSONDecodeError:
            fenced = _FENCED.search(found)
            if fenced is None:
                raise
            return _parse_repaired(_strip_backticks(fenced[1]))
    except (ValueError, RecursionError) as error:
        raise ReplyMismatch(f"the reply is not valid JSON: {error}") from error


def _strip_backticks(text: str) -> str:
    return text.strip().strip(" \n\r\t`")


def _cut_first_balanced(text: str) -> str:
    """Cut out the first structure by counting its outermost kind of bracket, in strings too."""
    fence = text.find(_FENCE)
    text = text[max(fence, 0) :]
    start = min((at for at in map(text.find, _CLOSING) if at >= 0), default=None)
    if start is None:
        return text
    opening, closing = text[start], _CLOSING[text[start]]
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return text[start : at + 1]
    return text


def _parse_repaired(text: str) -> object:
    """Read JSON; where it does not parse, drop as much of its end as it takes and close the rest.

    Returns:
        The value; None when brackets are closed that were not open.

    Raises:
        json.JSONDecodeError: Nothing of it is JSON.
    """
    try:
        return _parse_lenient_json(text)
    except json.JSONDecodeError as error:
        whole = error
    closed = _close_strings_and_list_open_brackets(text)
    if closed is None:
        return None
    pieces, end = closed
    ends = list(accumulate(map(len, pieces)))
    while pieces:
        try:
            return _parse_lenient_json("".join(pieces) + end)
        except json.JSONDecodeError as error:
            # What is longer breaks at the same place, so nothing between here and there is tried.
            keep = min(bisect_right(ends, error.pos), len(pieces) - 1)
            del pieces[keep:], ends[keep:]
    raise whole


def _close_strings_and_list_open_brackets(text: str) -> tuple[list[str], str] | None:
    """Escape line breaks in strings and close a string that is open at the end.

    Returns:
        The text in pieces, and the brackets it lacks; None when one is closed that was not open.
    """
    pieces: list[str] = []
    lacking: list[str] = []
    in_string = escaped = False
    for char in text:
        piece = char
        if in_string:
            if char == '"' and not escaped:
                in_string = False
            elif char == "\n" and not escaped:
                piece = "\\n"
            elif char == "\\":
                escaped = not escaped
            else:
                escaped = False
        elif char == '"':
            in_string, escaped = True, False
        elif char in _CLOSING:
            lacking.append(_CLOSING[char])
        elif char in _CLOSING.values() and (not lacking or lacking.pop() != char):
            return None
        pieces.append(piece)
    if in_string:
        if escaped:
            pieces.pop()
        pieces.append('"')
    return pieces, "".join(reversed(lacking))


def _parse_lenient_json(text: str) -> object:
    value: object = json.loads(text, strict=False)
    return value
