"""The call that decided a claim's verdict in a window, and the claim's entry in it.

Claims and truths are numbered anew in each question, so that the claim 12 of a conversation may be
`c4` there. A claim may be asked about several times, each time with other truths: of these, the
call counts whose reply says of the claim what the window's verdict says.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faithtui.domain.conversation import normalise_text
from faithtui.domain.judging.tasks import (
    list_numbered_claims_or_statements,
    list_numbered_truths,
)
from faithtui.store.records import CallRow, TruthView

if TYPE_CHECKING:
    from faithtui.domain.judging.tasks import Task
    from faithtui.judges.base import JudgeRequest

_TRUTH_NAME = re.compile(r"\bt[0-9]+\b")


@dataclass(frozen=True, slots=True)
class ClaimInWindow:
    """A claim whose verdict in a window is looked at."""

    name: str
    """On screen: `claim 12`."""
    text: str
    window: int
    """Position of the window."""
    word: str | None = None
    """What the judge called it in that window; None: the verdict is no reply's own words."""
    reason: str | None = None
    """The judge's reason in that window; None: it gave none."""
    truths: Sequence[TruthView] = ()
    """Truths of the conversation, as the screen numbers them."""


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """The call that decided a claim, and the claim's place in it."""

    row: int
    """Index of the call."""
    name: str | None
    """Of the entry in question and reply, such as `c4`; None: the reply names it by its text."""
    text: str
    """The claim, in one line."""
    is_deciding: bool = True
    """Whether its reply says what the window's verdict says, or no other call asks about it."""
    truths: str = ""
    """Which T numbers of the screen the truths have that its reply names: `t6 = T7, t17 = T18`."""


def find_call_deciding_claim(
    calls: Sequence[CallRow], requests: "Mapping[int, JudgeRequest]", claim: ClaimInWindow
) -> ClaimEntry | None:
    """Find the call that decided a claim.

    It is one whose reply has the verdict's word and reason. A question that serves several windows
    counts for one of them, so of several the nearest window counts; of several calls of a window,
    the last one whose reply could be used.

    Args:
        calls: Calls of the conversation, in order, and those of others that answered its questions.
        requests: What was asked in them, by id; some may be missing.
        claim: The claim.

    Returns:
        None where no call can be seen to ask about it.
    """
    text = normalise_text(claim.text)
    numbers = {normalise_text(each.text): each.number for each in reversed(claim.truths)}
    found: list[tuple[tuple[bool, bool, int, int], ClaimEntry]] = []
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
        reply_entry = _read_reply_entry(call.reply.text, name, text)
        matches = _says_verdict_of_window(reply_entry, claim)
        truths = _map_truths(reply_entry, request.task, numbers)
        entry = ClaimEntry(row, name, " ".join(words.split()), matches, truths)
        found.append(((not call.usable, not matches, distance, -row), entry))
    if not found:
        return None
    entry = min(found, key=lambda each: each[0])[1]
    return replace(entry, is_deciding=entry.is_deciding or len(found) == 1)


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
    return "verdict" in _read_reply_entry(call.reply.text, None, text)


def _read_reply_entry(reply_text: str, name: str | None, text: str) -> Mapping[str, Any]:
    """Read what a reply says of a claim; empty where that cannot be read.

    Args:
        reply_text: The reply.
        name: Of the claim in question and reply; None: the reply names it by its text.
        text: The claim, normalised.
    """
    try:
        reply = json.loads(reply_text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(reply, dict):
        return {}
    entry: object = reply.get(name) if name is not None else None
    entries = next(iter(reply.values()), None)
    if entry is None and isinstance(entries, list):
        number = -1 if name is None else int(name[1:])
        same = (
            each
            for place, each in enumerate(entries)
            if isinstance(each, dict)
            and (normalise_text(str(each.get("statement"))) == text or place == number)
        )
        entry = next(same, None)
    return entry if isinstance(entry, dict) else {}


def _says_verdict_of_window(reply_entry: Mapping[str, Any], claim: ClaimInWindow) -> bool:
    """Say whether a reply's entry has word and reason of the verdict that is looked at."""
    if claim.word is None or "verdict" not in reply_entry:
        return False
    word, reason = normalise_text(str(reply_entry["verdict"])), reply_entry.get("reason")
    return word == normalise_text(claim.word) and (
        claim.reason is None or normalise_text(str(reason)) == normalise_text(claim.reason)
    )


def _map_truths(reply_entry: Mapping[str, Any], task: "Task", numbers: Mapping[str, int]) -> str:
    """Say which numbers the truths that a reply names have on the screen."""
    named = json.dumps([reply_entry.get(each) for each in ("sufficient", "partial", "contradicts")])
    truths = dict(list_numbered_truths(task))
    found = dict.fromkeys(each for each in _TRUTH_NAME.findall(named) if each in truths)
    pairs = ((each, numbers.get(normalise_text(truths[each]))) for each in found)
    return ", ".join(f"{name} = T{number}" for name, number in pairs if number is not None)


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
