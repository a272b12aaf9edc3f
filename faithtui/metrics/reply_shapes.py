"""Shapes of replies: the JSON Schema a judge is sent, and how its answer becomes a value.

A key per claim, document or answer is the one form that every provider enforces; with it, missing,
repeated and reordered entries cannot pass for something else.

Under `as_peer` a reply is read as deepeval 4.3.1 reads it: see `deepeval_json`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from faithtui.metrics.base import ReplyMismatch, ReplyShape
from faithtui.metrics.deepeval_json import parse_first_to_last_brace, read_leading_letters

T = TypeVar("T")

_TEXT: Mapping[str, object] = {"type": "string"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What a judge wrote about one claim."""

    word: str | None
    """Its verdict, letter for letter; None when it wrote none, or something that is no text."""
    reason: str | None = None
    confidence: float | None = None
    supports: tuple[str, ...] = ()
    """Of a statement: the messages it serves, by number."""
    sufficient: tuple[tuple[str, ...], ...] = ()
    """Sets of truths, each enough for the whole claim, as numbers such as `t3`."""
    partial: tuple[str, ...] = ()
    """Truths from which a part of the claim follows."""
    contradicts: tuple[str, ...] = ()
    """Truths that cannot hold together with it."""
    breaks_schema: bool = False
    """Under a peer's rules: the word is outside the vocabulary the provider was bound to."""


@dataclass(frozen=True, slots=True)
class ParsedFact:
    """What a judge drew from a document."""

    text: str
    quote: str | None = None
    """The document's words for it, as the judge copied them; None: it copied none."""


def make_object_schema(properties: Mapping[str, object]) -> dict[str, object]:
    """Describe an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def require_object(value: object) -> Mapping[str, object]:
    """Take a reply as an object; anything else is a Mismatch."""
    if not isinstance(value, dict):
        raise ReplyMismatch("the reply must be one JSON object")
    return value


def _require_texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ReplyMismatch(f"`{name}` must be a list of strings")
    return tuple(value)


def make_keyed_lists_reply_shape(
    keys: Sequence[str], *, as_peer: bool = False
) -> ReplyShape[tuple[tuple[str, ...], ...]]:
    """`{"d0": ["…"], "d1": []}`: a list of texts per key, in the order of the keys.

    Texts are trimmed and blank ones dropped; under `as_peer` they are kept as written.
    """

    def read(value: object, structured: bool) -> tuple[tuple[str, ...], ...]:
        reply = require_object(value)
        missing = [key for key in keys if key not in reply]
        if missing:
            raise ReplyMismatch(f"the keys {', '.join(missing)} are missing")
        lists = tuple(_require_texts(reply[key], key) for key in keys)
        if as_peer:
            return lists
        return tuple(tuple(text.strip() for text in texts if text.strip()) for texts in lists)

    return _make_reply_shape(make_object_schema(dict.fromkeys(keys, _TEXTS)), read, as_peer)


def make_facts_reply_shape(
    keys: Sequence[str], *, is_quoted: bool, as_peer: bool = False
) -> ReplyShape[tuple[tuple[ParsedFact, ...], ...]]:
    """`{"d0": [{"fact": "…", "quote": "…"}]}`: facts of each document, with its words for them.

    A text in place of such an object is a fact without words, as judges give it that copy whole
    sentences anyway.

    Args:
        keys: Numbers of the documents.
        is_quoted: Ask for the words; else for texts alone, as `make_keyed_lists_reply_shape` does.
        as_peer: Keep facts as written.
    """
    plain = make_keyed_lists_reply_shape(keys, as_peer=as_peer)

    def read_plain(value: object, structured: bool) -> tuple[tuple[ParsedFact, ...], ...]:
        return tuple(tuple(map(ParsedFact, texts)) for texts in plain.read(value, structured))

    def read_quoted(value: object, structured: bool) -> tuple[tuple[ParsedFact, ...], ...]:
        reply = require_object(value)
        missing = [key for key in keys if key not in reply]
        if missing:
            raise ReplyMismatch(f"the keys {', '.join(missing)} are missing")
        return tuple(_read_facts(reply[key], key) for key in keys)

    if not is_quoted:
        return ReplyShape(plain.schema, read_plain, plain.parse)
    entry = make_object_schema({"fact": _TEXT, "quote": _TEXT})
    schema = make_object_schema({key: {"type": "array", "items": entry} for key in keys})
    return _make_reply_shape(schema, read_quoted, as_peer)


def _read_facts(value: object, name: str) -> tuple[ParsedFact, ...]:
    if not isinstance(value, list):
        raise ReplyMismatch(f"`{name}` must be a list of objects with `fact` and `quote`")
    facts = []
    for each in value:
        entry = each if isinstance(each, dict) else {"fact": each}
        text, quote = entry.get("fact"), entry.get("quote")
        if not isinstance(text, str) or not isinstance(quote, str | None):
            raise ReplyMismatch(f"`{name}` must be a list of objects with `fact` and `quote`")
        if text.strip():
            facts.append(ParsedFact(text.strip(), (quote or "").strip() or None))
    return tuple(facts)


def make_one_list_reply_shape(name: str, *, as_peer: bool = False) -> ReplyShape[tuple[str, ...]]:
    """`{"claims": ["…"]}`: one list of texts, read like `make_keyed_lists_reply_shape`'s."""
    by_key = make_keyed_lists_reply_shape([name], as_peer=as_peer)
    schema = make_object_schema({name: _TEXTS})

    def read(value: object, structured: bool) -> tuple[str, ...]:
        return by_key.read(value, structured)[0]

    return _make_reply_shape(schema, read, as_peer)


def make_one_text_reply_shape(
    name: str, *, as_peer: bool = False, anything: bool = False
) -> ReplyShape[str]:
    """`{"reason": "…"}`: one text.

    Args:
        name: Its key.
        as_peer: Null is an empty text, unless the provider was bound to the schema.
        anything: Under `as_peer`, take any other JSON value as it is written, with the same limit.
    """

    def read(value: object, structured: bool) -> str:
        reply = require_object(value)
        text = reply.get(name)
        if isinstance(text, str):
            return text
        if as_peer and not structured and name in reply and (text is None or anything):
            return "" if text is None else json.dumps(text, ensure_ascii=False)
        raise ReplyMismatch(f"the key `{name}` must be a string")

    return _make_reply_shape(make_object_schema({name: _TEXT}), read, as_peer)


def make_keyed_verdicts_reply_shape(
    keys: Sequence[str],
    words: Sequence[str],
    *,
    truths: Sequence[str] | None = None,
    as_peer: bool = False,
) -> ReplyShape[tuple[ParsedVerdict | None, ...]]:
    """`{"c0": {"reason": "…", "verdict": "yes"}}`: one entry per claim, in the order of the keys.

    A claim without an entry is None, not an error: the caller asks for it again.

    Args:
        keys: Numbers of the claims.
        words: Vocabulary offered in the schema.
        truths: Numbers of truths an entry may name; None when entries name none.
        as_peer: Mark words outside the vocabulary where the provider was bound to the schema; the
            peer fails on them, but only in a window whose verdict they would be.
    """
    entry: dict[str, object] = {"reason": _TEXT}
    if truths is not None:
        sets = {"type": "array", "items": _TEXTS}
        entry |= {"sufficient": sets, "partial": _TEXTS, "contradicts": _TEXTS}
    entry["verdict"] = {"type": "string", "enum": list(words)}

    def read(value: object, structured: bool) -> tuple[ParsedVerdict | None, ...]:
        reply = require_object(value)
        return tuple(
            read_verdict(key, reply[key], words if as_peer and structured else None)
            if reply.get(key) is not None
            else None
            for key in keys
        )

    schema = make_object_schema(dict.fromkeys(keys, make_object_schema(entry)))
    return _make_reply_shape(schema, read, as_peer)


def make_verdict_list_reply_shape(words: Sequence[str]) -> ReplyShape[tuple[ParsedVerdict, ...]]:
    """`{"verdicts": [{"verdict": "yes", "reason": "…"}]}`: as deepeval asks, as many as come.

    Where the provider was bound to the schema, a word outside the vocabulary or a missing key is
    an error; elsewhere a missing or null list is empty and a missing word is None.

    Source: deepeval 4.3.1, the two reply paths of metrics/utils/qag.py and the schema, as measured.
    """
    entry = make_object_schema(
        {"verdict": {"type": "string", "enum": list(words)}, "reason": _TEXT}
    )

    def read(value: object, structured: bool) -> tuple[ParsedVerdict, ...]:
        reply = require_object(value)
        listed = reply.get("verdicts")
        if not listed and not structured:
            return ()
        if not isinstance(listed, list):
            raise ReplyMismatch("`verdicts` must be a list")
        return tuple(
            _read_listed_verdict(n, each, words, structured=structured)
            for n, each in enumerate(listed)
        )

    schema = make_object_schema({"verdicts": {"type": "array", "items": entry}})
    return _make_reply_shape(schema, read, as_peer=True)


def _read_listed_verdict(
    number: int, value: object, words: Sequence[str], *, structured: bool
) -> ParsedVerdict:
    name = f"verdicts[{number}]"
    verdict = read_verdict(name, value, words if structured else None)
    if verdict.breaks_schema:
        known = ", ".join(words)
        raise ReplyMismatch(f"`{name}.verdict` is {verdict.word!r}; expected one of {known}")
    reason = value.get("reason") if isinstance(value, dict) else None
    # The peer drops an entry whose word it does not know before it looks at the reason.
    is_kept = verdict.word is not None and read_leading_letters(verdict.word) in words
    if is_kept and not isinstance(reason, str | None):
        raise ReplyMismatch(f"`{name}.reason` must be a string")
    return verdict


def _make_reply_shape(
    schema: Mapping[str, object], read: Callable[[object, bool], T], as_peer: bool
) -> ReplyShape[T]:
    return ReplyShape(schema, read, parse_first_to_last_brace if as_peer else None)


def read_verdict(name: str, value: object, words: Sequence[str] | None) -> ParsedVerdict:
    """Read one entry; with `words`, note whether it keeps to the vocabulary."""
    if not isinstance(value, dict):
        raise ReplyMismatch(f"`{name}` must be an object with `verdict`")
    word, reason, confidence = value.get("verdict"), value.get("reason"), value.get("confidence")
    return ParsedVerdict(
        word=word if isinstance(word, str) else None,
        reason=(reason.strip() or None) if isinstance(reason, str) else None,
        confidence=_read_probability(confidence),
        sufficient=read_reference_id_sets(value.get("sufficient")),
        partial=read_reference_ids(value.get("partial")),
        contradicts=read_reference_ids(value.get("contradicts")),
        breaks_schema=words is not None and word not in words,
    )


def _read_probability(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def read_reference_id_sets(value: object) -> tuple[tuple[str, ...], ...]:
    """Read sets of numbers: a list of lists.

    Numbers that stand outside any list are one set together: to read them as alternatives could
    make a part of the evidence pass for all of it. Empty sets are dropped, because an empty set
    would be enough everywhere. What is no text in a set stays in it as a number that nobody has,
    so that the set is not taken for a smaller one.
    """
    if not isinstance(value, list):
        return ()
    sets = [
        read_reference_ids([str(member) for member in each])
        for each in value
        if isinstance(each, list)
    ]
    return tuple(dict.fromkeys(each for each in (*sets, read_reference_ids(value)) if each))


def read_reference_ids(value: object) -> tuple[str, ...]:
    """Read the numbers an entry names, such as `t3`; anything that is no text names nothing."""
    if not isinstance(value, list):
        return ()
    return tuple(each.strip().strip("[]").lower() for each in value if isinstance(each, str))
