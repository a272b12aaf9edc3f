"""Fit a reply that a case gives letter for letter to the question that a strategy really asks.

A case scripts the reply to the peer's question about a whole window. Where a conversation has one
window with one answer, the questions of `evidence` ask for the same things under other keys.
"""

import json
from collections.abc import Sequence
from typing import Any

from faithtui.domain.judging.tasks import (
    ExtractClaims,
    ExtractTruths,
    FindEvidence,
    RelateDocument,
    Task,
)
from faithtui.metrics.base import ReplyMismatch
from faithtui.metrics.deepeval_json import parse_first_to_last_brace

Json = Any

UNUSABLE = "null"
"""A reply that no question can use."""


class WindowOnly(Exception):
    """The script has no counterpart among this strategy's questions."""


def fitted(task: Task, text: str, *, structured: bool) -> str:
    """Rewrite a reply to the peer's question into one to ours; the peer's own stay as they are.

    Args:
        task: What was asked.
        text: The reply to the peer's question about the same.
        structured: The judge is bound to a schema.

    Raises:
        WindowOnly: It cannot be told which claim a verdict is meant for.
    """
    match task:
        case RelateDocument():
            # Both questions get a list of the same entries. An entry that names no message served
            # keeps its word in every window, as the reply to a window's question does.
            return text.replace('"statements"', '"others"').replace('"verdicts"', '"statements"')
        case ExtractTruths(documents):
            return _under_keys(text, "truths", [f"d{n}" for n in range(len(documents))])
        case ExtractClaims(answers):
            return _under_keys(text, "claims", [f"a{n}" for n in range(len(answers))])
        case FindEvidence():
            return _verdicts(_read(text), _claims(task), structured=structured)
        case _:
            return text


def numbered(task: FindEvidence, entries: Sequence[Json]) -> dict[str, Json]:
    """Number verdicts given in the order of the claims.

    Raises:
        WindowOnly: More verdicts than claims, or a claim that is asked about once stands twice.
    """
    if len(entries) > _claims(task):
        raise WindowOnly
    return {f"c{n}": each for n, each in enumerate(entries)}


def _claims(task: FindEvidence) -> int:
    return sum(len(group.claims) for group in task.groups)


def _read(text: str) -> Json:
    try:
        return parse_first_to_last_brace(text)
    except ReplyMismatch:
        return None


def _under_keys(text: str, name: str, keys: Sequence[str]) -> str:
    reply = _read(text)
    if not isinstance(reply, dict) or name not in reply:
        return UNUSABLE
    return json.dumps(dict.fromkeys(keys, reply[name]))


def _verdicts(reply: Json, claims: int, *, structured: bool) -> str:
    listed = reply.get("verdicts") if isinstance(reply, dict) else UNUSABLE
    if not listed and not structured:
        return "{}"
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        return UNUSABLE
    if len(listed) > claims or any(
        not isinstance(each.get("reason"), str | None) for each in listed
    ):
        raise WindowOnly
    return json.dumps({f"c{n}": each for n, each in enumerate(listed)})
