"""Shapes of replies: the JSON Schema a judge is sent, and how its answer becomes a value.

A key per claim, document or answer is the one form that every provider enforces; with it, missing,
repeated and reordered entries cannot pass for something else.

Under `as_peer` a reply is read as deepeval 4.3.1 reads it: see `peer_reading`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from faithtui.metrics.base import Mismatch, ReplyShape
from faithtui.metrics.peer_reading import first_to_last_brace, leading_letters

T = TypeVar("T")

_TEXT: Mapping[str, object] = {"type": "string"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}


@dataclass(frozen=True, slots=True)
class Said:
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


def closed_object(properties: Mapping[str, object]) -> dict[str, object]:
    """Describe an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def mapping(value: object) -> Mapping[str, object]:
    """Take a reply as an object; anything else is a Mismatch."""
    if not isinstance(value, dict):
        raise Mismatch("the reply must be one JSON object")
    return value


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Mismatch(f"`{name}` must be a list of strings")
    return tuple(value)


def lists_by_key(
    keys: Sequence[str], *, as_peer: bool = False
) -> ReplyShape[tuple[tuple[str, ...], ...]]:
    """`{"d0": ["…"], "d1": []}`: a list of texts per key, in the order of the keys.

    Texts are trimmed and blank ones dropped; under `as_peer` they are kept as written.
    """

    def read(value: object, structured: bool) -> tuple[tuple[str, ...], ...]:
        reply = mapping(value)
        missing = [key for key in keys if key not in reply]
        if missing:
            raise Mismatch(f"the keys {', '.join(missing)} are missing")
        lists = tuple(_texts(reply[key], key) for key in keys)
        if as_peer:
            return lists
        return tuple(tuple(text.strip() for text in texts if text.strip()) for texts in lists)

    return _shape(closed_object(dict.fromkeys(keys, _TEXTS)), read, as_peer)


def one_list(name: str, *, as_peer: bool = False) -> ReplyShape[tuple[str, ...]]:
    """`{"claims": ["…"]}`: one list of texts, trimmed and kept like those of `lists_by_key`."""
    by_key = lists_by_key([name], as_peer=as_peer)
    schema = closed_object({name: _TEXTS})

    def read(value: object, structured: bool) -> tuple[str, ...]:
        return by_key.read(value, structured)[0]

    return _shape(schema, read, as_peer)


def one_text(name: str, *, as_peer: bool = False, anything: bool = False) -> ReplyShape[str]:
    """`{"reason": "…"}`: one text.

    Args:
        name: Its key.
        as_peer: Null is an empty text, unless the provider was bound to the schema.
        anything: Under `as_peer`, take any other JSON value as it is written, with the same limit.
    """

    def read(value: object, structured: bool) -> str:
        reply = mapping(value)
        text = reply.get(name)
        if isinstance(text, str):
            return text
        if as_peer and not structured and name in reply and (text is None or anything):
            return "" if text is None else json.dumps(text, ensure_ascii=False)
        raise Mismatch(f"the key `{name}` must be a string")

    return _shape(closed_object({name: _TEXT}), read, as_peer)


def verdicts_by_key(
    keys: Sequence[str],
    words: Sequence[str],
    *,
    truths: Sequence[str] | None = None,
    as_peer: bool = False,
) -> ReplyShape[tuple[Said | None, ...]]:
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

    def read(value: object, structured: bool) -> tuple[Said | None, ...]:
        reply = mapping(value)
        return tuple(
            said_in(key, reply[key], words if as_peer and structured else None)
            if reply.get(key) is not None
            else None
            for key in keys
        )

    schema = closed_object(dict.fromkeys(keys, closed_object(entry)))
    return _shape(schema, read, as_peer)


def verdict_list(words: Sequence[str]) -> ReplyShape[tuple[Said, ...]]:
    """`{"verdicts": [{"verdict": "yes", "reason": "…"}]}`: as deepeval asks, as many as come.

    Where the provider was bound to the schema, a word outside the vocabulary or a missing key is
    an error; elsewhere a missing or null list is empty and a missing word is None.

    Source: deepeval 4.3.1, the two reply paths of metrics/utils/qag.py and the schema, as measured.
    """
    entry = closed_object({"verdict": {"type": "string", "enum": list(words)}, "reason": _TEXT})

    def read(value: object, structured: bool) -> tuple[Said, ...]:
        reply = mapping(value)
        listed = reply.get("verdicts")
        if not listed and not structured:
            return ()
        if not isinstance(listed, list):
            raise Mismatch("`verdicts` must be a list")
        return tuple(
            _listed(n, each, words, structured=structured) for n, each in enumerate(listed)
        )

    schema = closed_object({"verdicts": {"type": "array", "items": entry}})
    return _shape(schema, read, as_peer=True)


def _listed(number: int, value: object, words: Sequence[str], *, structured: bool) -> Said:
    name = f"verdicts[{number}]"
    said = said_in(name, value, words if structured else None)
    if said.breaks_schema:
        known = ", ".join(words)
        raise Mismatch(f"`{name}.verdict` is {said.word!r}; expected one of {known}")
    reason = value.get("reason") if isinstance(value, dict) else None
    # The peer drops an entry whose word it does not know before it looks at the reason.
    is_kept = said.word is not None and leading_letters(said.word) in words
    if is_kept and not isinstance(reason, str | None):
        raise Mismatch(f"`{name}.reason` must be a string")
    return said


def _shape(
    schema: Mapping[str, object], read: Callable[[object, bool], T], as_peer: bool
) -> ReplyShape[T]:
    return ReplyShape(schema, read, first_to_last_brace if as_peer else None)


def said_in(name: str, value: object, words: Sequence[str] | None) -> Said:
    """Read one entry; with `words`, note whether it keeps to the vocabulary."""
    if not isinstance(value, dict):
        raise Mismatch(f"`{name}` must be an object with `verdict`")
    word, reason, confidence = value.get("verdict"), value.get("reason"), value.get("confidence")
    return Said(
        word=word if isinstance(word, str) else None,
        reason=(reason.strip() or None) if isinstance(reason, str) else None,
        confidence=_probability(confidence),
        sufficient=sets_of_numbers(value.get("sufficient")),
        partial=numbers(value.get("partial")),
        contradicts=numbers(value.get("contradicts")),
        breaks_schema=words is not None and word not in words,
    )


def _probability(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def sets_of_numbers(value: object) -> tuple[tuple[str, ...], ...]:
    """Read sets of numbers: a list of lists.

    Numbers that stand outside any list are one set together: to read them as alternatives could
    make a part of the evidence pass for all of it. Empty sets are dropped, because an empty set
    would be enough everywhere. What is no text in a set stays in it as a number that nobody has,
    so that the set is not taken for a smaller one.
    """
    if not isinstance(value, list):
        return ()
    sets = [numbers([str(member) for member in each]) for each in value if isinstance(each, list)]
    return tuple(dict.fromkeys(each for each in (*sets, numbers(value)) if each))


def numbers(value: object) -> tuple[str, ...]:
    """Read the numbers an entry names, such as `t3`; anything that is no text names nothing."""
    if not isinstance(value, list):
        return ()
    return tuple(each.strip().strip("[]").lower() for each in value if isinstance(each, str))
