"""How DeepEvalEx reads replies, and what it calls the ways in which a question can fail.

A reply is strict JSON or an error; a verdict is one of three words or `idk`.
"""

import json
import re
from collections.abc import Mapping
from typing import NoReturn, TypeVar

from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.errors import JudgeError, JudgeReplyInvalid, MetricError, MissingParameters
from faithtui.metrics.base import Question, Questions, ReplyMismatch, ReplyShape, ask
from faithtui.metrics.reply_shapes import (
    ParsedVerdict,
    make_object_schema,
    make_one_list_reply_shape,
)

T = TypeVar("T")

_NAMED = re.compile(
    r"(?P<kind>[a-z]\w*)(?: \(status (?P<status>\d+)\))?: (?P<message>.*)", re.DOTALL
)


def make_text_list_reply_shape(name: str) -> ReplyShape[tuple[str, ...]]:
    """`{"claims": ["…"]}`: any list; what is neither text, number, truth value nor null fails."""

    def read(value: object, structured: bool) -> tuple[str, ...]:
        return tuple(_to_elixir_text(name, each) for each in _require_list(value, name))

    return ReplyShape(make_one_list_reply_shape(name).schema, read, parse_strict_json)


def make_any_verdict_list_reply_shape() -> ReplyShape[tuple[ParsedVerdict, ...]]:
    """`{"verdicts": [{"verdict": "yes", "reason": "…"}]}`: as many as come, with any words."""

    def read(value: object, structured: bool) -> tuple[ParsedVerdict, ...]:
        return tuple(
            _read_verdict(n, each) for n, each in enumerate(_require_list(value, "verdicts"))
        )

    entry = make_object_schema(
        {
            "verdict": {"type": "string", "enum": list(FAITHFULNESS.names)},
            "reason": {"type": "string"},
        }
    )
    schema = make_object_schema({"verdicts": {"type": "array", "items": entry}})
    return ReplyShape(schema, read, parse_strict_json)


def normalise_verdict(word: str | None) -> str:
    """Read a verdict: `yes`, `no` or `idk` without case and white space; all else is `idk`.

    Source: DeepEvalEx 0.1.0, schemas/metric_outputs/faithfulness.ex, `normalize_verdict`.
    """
    folded = (word or "").strip().lower()
    return folded if folded in FAITHFULNESS.names else "idk"


def parse_strict_json(text: str) -> object:
    """Read a reply that is JSON as a whole, and nothing else.

    Raises:
        Mismatch: It is not; the peer's `json_parse_error`.
    """
    try:
        value: object = json.loads(text, parse_constant=_raise_for_nan_or_infinity)
    except (ValueError, RecursionError) as error:
        raise ReplyMismatch(f"the reply is not valid JSON: {error}") from error
    return value


def ask_with_deepevalex_errors(
    question: Question[T], reply: str, window: int | None
) -> Questions[T]:
    """Ask, and give a failure the peer's name.

    Args:
        question: What to ask.
        reply: What the peer calls the reply: `truths`, `claims`, `verdicts` or `reason`.
        window: Position of the window that asks; None: the conversation.

    Raises:
        JudgeError: The same error; its message begins with `json_parse_error`,
            `invalid_<reply>_response`, `api_error (status n)` or `request_failed`.
    """
    try:
        return (yield from ask(question, window))
    except JudgeReplyInvalid as error:
        name = f"invalid_{reply}_response" if _is_json(error.raw) else "json_parse_error"
        raise type(error)(f"{name}: {error}", raw=error.raw) from error
    except JudgeError as error:
        name = "request_failed" if error.status is None else f"api_error (status {error.status})"
        raise type(error)(f"{name}: {error}", status=error.status) from error


def format_deepevalex_failure(error: JudgeError | MetricError) -> str:
    """Describe a failure by the peer's name.

    Errors of `ask_with_deepevalex_errors` have it already.
    """
    if isinstance(error, MissingParameters):
        return f"missing_params: {', '.join(error.names)}"
    return str(error)


def parse_deepevalex_failure(description: str) -> Mapping[str, object]:
    """Take a description by `format_deepevalex_failure` apart.

    Returns:
        `kind`, and `params`, `status` or `message`.
    """
    named = _NAMED.fullmatch(description)
    if named is None:
        return {"kind": "no_score", "message": description}
    kind, status, message = named.group("kind", "status", "message")
    if kind == "missing_params":
        return {"kind": kind, "params": message.split(", ")}
    return {"kind": kind, "message": message} | ({"status": int(status)} if status else {})


def _require_list(value: object, name: str) -> list[object]:
    listed = value.get(name) if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise ReplyMismatch(f"`{name}` must be a list")
    return listed


def _to_elixir_text(name: str, value: object) -> str:
    """Write an entry as the peer's language puts it into a text."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            raise ReplyMismatch(f"`{name}` must be a list of strings")


def _read_verdict(number: int, value: object) -> ParsedVerdict:
    """Read an entry. Null is an entry without anything; other things than objects fail."""
    if value is None:
        return ParsedVerdict(None)
    if not isinstance(value, dict):
        raise ReplyMismatch(f"`verdicts[{number}]` must be an object with `verdict`")
    word, why = value.get("verdict"), value.get("reason")
    return ParsedVerdict(
        word=word if isinstance(word, str) else None if word is None else json.dumps(word),
        reason=(why.strip() or None) if isinstance(why, str) else None,
    )


def _is_json(text: str) -> bool:
    try:
        parse_strict_json(text)
    except ReplyMismatch:
        return False
    return True


def _raise_for_nan_or_infinity(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
