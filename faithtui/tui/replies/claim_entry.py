"""The call of a conversation that decided a claim, and the claim's entry in it.

Claims are numbered anew in each question, so that the claim 12 of a conversation may be `c4` there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.conversation import normalise_text
from faithtui.domain.judging.tasks import list_numbered_claims_or_statements
from faithtui.store.records import CallRow

if TYPE_CHECKING:
    from faithtui.judges.base import JudgeRequest


@dataclass(frozen=True, slots=True)
class ClaimInWindow:
    """A claim whose verdict in a window is looked at."""

    name: str
    """On screen: `claim 12`."""
    text: str
    window: int
    """Position of the window."""


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """The call that decided a claim, and the claim's place in it."""

    row: int
    """Index of the call."""
    name: str | None
    """Of the entry in question and reply, such as `c4`; None: the reply names it by its text."""
    text: str
    """The claim, in one line."""


def find_call_deciding_claim(
    calls: Sequence[CallRow], requests: "Mapping[int, JudgeRequest]", claim: ClaimInWindow
) -> ClaimEntry | None:
    """Find the call that decided a claim.

    A question that serves several windows counts for one of them, so the nearest window counts;
    of several calls of a window, the last one whose reply could be used.

    Args:
        calls: Calls of the conversation, in order.
        requests: What was asked in them, by id; some may be missing.
        claim: The claim.

    Returns:
        None where no call can be seen to ask about it.
    """
    text = normalise_text(claim.text)
    found: list[tuple[tuple[bool, int, int], ClaimEntry]] = []
    for row, call in enumerate(calls):
        request = requests.get(call.id)
        if request is None:
            continue
        units = list_numbered_claims_or_statements(request.task)
        same = [(name, unit) for name, unit in units if normalise_text(unit) == text]
        if not same and not _has_verdict_on_text(call, text):
            continue
        name, words = same[0] if same else (None, claim.text)
        distance = abs((call.window or 0) - claim.window)
        entry = ClaimEntry(row, name, " ".join(words.split()))
        found.append(((not call.usable, distance, -row), entry))
    return min(found, key=lambda each: each[0])[1] if found else None


def find_claim_span_in_prompt(prompt: str, entry: ClaimEntry) -> tuple[int, int] | None:
    """Give the characters of a prompt that name a claim, its number included; None: nowhere."""
    words = f"[{entry.name}] {entry.text}"
    at = -1 if entry.name is None else prompt.find(words)
    return None if at < 0 else (at, at + len(words))


def find_claim_lines_in_reply(lines: Sequence[str], entry: ClaimEntry) -> tuple[int, int] | None:
    """Give the lines of an indented reply that are about a claim, as first and last index.

    Args:
        lines: The reply, as `indent_json` indents it.
        entry: The claim's entry.
    """
    first = _find_first_reply_line_of_claim(lines, entry)
    if first is None:
        return None
    indent = _indent_of(lines[first])
    if not lines[first].rstrip().endswith(("{", "[")):
        return first, first
    closing = (row for row in range(first + 1, len(lines)) if _indent_of(lines[row]) <= indent)
    return first, next(closing, first)


def _find_first_reply_line_of_claim(lines: Sequence[str], entry: ClaimEntry) -> int | None:
    if entry.name is None:
        named = next(
            (row for row, each in enumerate(lines) if _is_statement_line_of(each, entry.text)), None
        )
        if named is None:
            return None
        indent = _indent_of(lines[named])
        return next((row for row in range(named, -1, -1) if _indent_of(lines[row]) < indent), named)
    key = f'"{entry.name}":'
    keyed = next((row for row, each in enumerate(lines) if each.lstrip().startswith(key)), None)
    if keyed is not None:
        return keyed
    # A list of verdicts in the order of the claims.
    items = [row for row, each in enumerate(lines) if row and each.strip() == "{"]
    number = int(entry.name[1:])
    return items[number] if number < len(items) else None


def _has_verdict_on_text(call: CallRow, text: str) -> bool:
    """Say whether a reply gives a verdict on a text that it names itself."""
    try:
        reply = json.loads(call.reply.text)
    except (ValueError, RecursionError):
        return False
    entries = next(iter(reply.values()), None) if isinstance(reply, dict) else None
    return isinstance(entries, list) and any(
        isinstance(each, dict)
        and "verdict" in each
        and normalise_text(str(each.get("statement"))) == text
        for each in entries
    )


def _is_statement_line_of(line: str, text: str) -> bool:
    key, _, value = line.strip().partition(": ")
    if key != '"statement"':
        return False
    try:
        return normalise_text(str(json.loads(value.rstrip(",")))) == normalise_text(text)
    except ValueError:
        return False


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
