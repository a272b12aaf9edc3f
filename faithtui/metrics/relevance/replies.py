"""Shapes of replies about a document: its statements, each with a verdict.

The judge cuts the document itself, so statements come as a list and not by number. A statement
without a readable verdict is kept, for the caller to ask about it again.

Under `as_peer` a reply is read as deepeval 4.3.1 reads it.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from faithtui.domain.conversation import normalise_text
from faithtui.domain.labels.label_sets import RELEVANCE
from faithtui.metrics.base import ReplyMismatch, ReplyShape
from faithtui.metrics.deepeval_json import parse_first_to_last_brace
from faithtui.metrics.relevance.words import has_relevance_label
from faithtui.metrics.reply_shapes import (
    ParsedVerdict,
    make_object_schema,
    read_reference_ids,
    read_verdict,
    require_object,
)


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """A statement of a document, and what the judge wrote about it."""

    text: str
    verdict: ParsedVerdict
    """Its `supports` are the numbers of the messages it serves; numbers nobody has are dropped."""


def make_statements_reply_shape(
    name: str, *, messages: Collection[str] | None, as_peer: bool
) -> ReplyShape[tuple[JudgedStatement, ...]]:
    """`{"statements": [{"statement": "…", "reason": "…", "verdict": "yes"}]}`, as many as come.

    Texts are trimmed, blank ones and repeats dropped; under `as_peer` they are kept as written.

    Args:
        name: Key of the list.
        messages: Numbers of messages an entry names in `serves`; None when entries name none.
        as_peer: Where the provider was bound to the schema, a word outside the vocabulary or a
            missing key is an error; elsewhere a missing or null list is empty, and an entry whose
            word cannot be read needs no statement.

    Source of the reading under `as_peer`: deepeval 4.3.1, metrics/utils/qag.py and the schema of
    metrics/turn_contextual_relevancy, as measured.
    """
    entry: dict[str, object] = {"statement": {"type": "string"}, "reason": {"type": "string"}}
    if messages is not None:
        entry["serves"] = {"type": "array", "items": {"type": "string"}}
    entry["verdict"] = {"type": "string", "enum": list(RELEVANCE.names)}

    def read(value: object, structured: bool) -> tuple[JudgedStatement, ...]:
        listed = require_object(value).get(name)
        if as_peer and not structured and not listed:
            return ()
        if not isinstance(listed, list):
            raise ReplyMismatch(f"`{name}` must be a list")
        found = [
            _read_statement(
                f"{name}[{position}]",
                each,
                messages or (),
                as_peer=as_peer,
                bound=as_peer and structured,
            )
            for position, each in enumerate(listed)
        ]
        kept = [each for each in found if each is not None]
        return tuple(kept) if as_peer else _drop_repeated_statements(kept)

    schema = make_object_schema({name: {"type": "array", "items": make_object_schema(entry)}})
    return ReplyShape(schema, read, parse_first_to_last_brace if as_peer else None)


def _read_statement(
    name: str, value: object, messages: Collection[str], *, as_peer: bool, bound: bool
) -> JudgedStatement | None:
    """Read one entry; None when there is nothing in it to judge."""
    verdict = read_verdict(name, value, RELEVANCE.names if bound else None)
    if verdict.breaks_schema:
        known = ", ".join(RELEVANCE.names)
        raise ReplyMismatch(f"`{name}.verdict` is {verdict.word!r}; expected one of {known}")
    fields = require_object(value)
    verdict = replace(
        verdict,
        supports=tuple(
            each for each in read_reference_ids(fields.get("serves")) if each in messages
        ),
    )
    text, reason = fields.get("statement"), fields.get("reason")
    if as_peer and not has_relevance_label(verdict, as_peer):
        return JudgedStatement(text, verdict) if isinstance(text, str) else None
    if not isinstance(text, str):
        raise ReplyMismatch(f"`{name}.statement` must be a string")
    if as_peer:
        if not isinstance(reason, str | None):
            raise ReplyMismatch(f"`{name}.reason` must be a string")
        return JudgedStatement(text, verdict)
    return JudgedStatement(text.strip(), verdict) if text.strip() else None


def _drop_repeated_statements(found: Iterable[JudgedStatement]) -> tuple[JudgedStatement, ...]:
    """Keep a statement once: the first time it has a verdict, else the first time."""
    first: dict[str, JudgedStatement] = {}
    for each in found:
        key = normalise_text(each.text)
        if key not in first or not has_relevance_label(first[key].verdict, as_peer=False):
            first[key] = each
    return tuple(first.values())
