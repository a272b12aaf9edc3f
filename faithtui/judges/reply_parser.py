"""From a judge's text to the JSON object it means, without ever making one up.

A judge bound to a schema answers in plain JSON. Others think aloud first, wrap the answer in a
fence or in courtesies, or leave a comma too many; that is forgiven. What is never done: completing
an object that was cut off, or taking a part out of a broken one. Both would turn half an answer
into verdicts nobody gave.
"""

import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from faithtui.errors import JudgeReplyInvalid

MAX_BYTES = 2_000_000
"""Twenty claims with reasons take about 10 kB; a megabyte is a judge that ran away."""

MAX_NESTING = 100
"""Our deepest schema has five levels. Bounds the recursion of every reader downstream."""

_SURROGATE = re.compile("[\ud800-\udfff]")

_LANDMARK = re.compile(
    r"(?P<think><think(?:ing)?>)|(?P<thought></think(?:ing)?>)|\{|\[(?=\s*[\[{\"])", re.IGNORECASE
)
"""What matters outside every object. A `[` counts only if an object could be inside."""

_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)

_MEANT = re.compile(r"\[|\{\s*[\"'}]")
"""How JSON, and failed attempts at it, begin. Braces in prose rarely do."""

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],]', re.DOTALL)
"""Strings as a whole, so that brackets within them do not count. The closing quote is optional:
a string without one runs to the end of the text."""

_CLOSING = {"}": "{", "]": "["}


class _MalformedReply(Exception):
    """Why a text is no reply we take; completes the sentence "the judge's reply …"."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """A bracketed part of a text."""

    start: int
    end: int
    spare_commas: tuple[int, ...]
    """Positions of commas that follow a value and precede a closing bracket."""


def parse_reply(text: str) -> dict[str, object]:
    """Find the one JSON object a reply means.

    It is the last object outside `<think>` blocks, whatever fences and prose stand around it, read
    as strict JSON; if that fails, once more without its trailing commas. If what stands last is
    broken or cut off, an earlier complete object is not used in its place: the judge had gone on
    to change it.

    Strict means no NaN, no Infinity, no key twice, nesting of at most 100, at most 2 MB of UTF-8.
    In all strings lone surrogates become U+FFFD and NUL is removed, so that they can be stored.

    Args:
        text: The reply as it came.

    Returns:
        The object. Whether it has the right keys is for the reader's schema to say.

    Raises:
        JudgeReplyInvalid: There is no such object; carries the text.
    """
    try:
        return _parse_object(text)
    except _MalformedReply as malformed:
        raise JudgeReplyInvalid(f"the judge's reply {malformed}", raw=text) from malformed


def remove_invalid_unicode(text: str) -> str:
    """Replace lone surrogates by U+FFFD and drop NUL: neither can be sent or stored."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def _parse_object(text: str) -> dict[str, object]:
    # A character is at most four bytes, so most texts are known to be short without encoding them.
    if len(text) > MAX_BYTES // 4 and len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise _MalformedReply(f"is longer than {MAX_BYTES // 1_000_000} MB")
    text = remove_invalid_unicode(text)
    if not text.strip():
        raise _MalformedReply("is empty")
    found = _find_last_object(text)
    if found is None:
        raise _MalformedReply("holds no JSON object")
    try:
        return _parse_strict_json_object(text[found.start : found.end])
    except _MalformedReply:
        if not found.spare_commas:
            raise
    return _parse_strict_json_object(_remove_spare_commas(text, found))


def _find_last_object(text: str) -> _Extent | None:
    """Find the last object outside everything else and outside thinking.

    Returns:
        None when there is none.

    Raises:
        _Malformed: An object or array is not closed, so that anything after it may be part of it.
    """
    last = None
    position = 0
    while landmark := _LANDMARK.search(text, position):
        start = landmark.start()
        if landmark["think"]:
            thought = _END_OF_THOUGHT.search(text, start)
            position = len(text) if thought is None else thought.end()
            continue
        if landmark["thought"]:
            # Some servers swallow the opening tag: what came before was thinking too.
            last = None
            position = landmark.end()
            continue
        is_meant = _MEANT.match(text, start) is not None
        extent = _find_object_end_and_spare_commas(text, start)
        if extent is None:
            if is_meant:
                raise _MalformedReply("stops inside its JSON, or its brackets do not match")
            break
        if is_meant and text[start] == "{":
            last = extent
        position = extent.end
    return last


def _find_object_end_and_spare_commas(text: str, start: int) -> _Extent | None:
    """Follow the brackets from `start` to where the first one is closed.

    Returns:
        None when it is never closed or brackets cross.

    Raises:
        _Malformed: Nested deeper than `MAX_NESTING`.
    """
    open_brackets: list[str] = []
    spare_commas: list[int] = []
    comma: int | None = None
    value_follows = False
    before = start
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        has_value = value_follows or bool(text[before : token.start()].strip())
        before = token.end()
        if mark in "{[":
            open_brackets.append(mark)
            if len(open_brackets) > MAX_NESTING:
                raise _MalformedReply(f"is nested more than {MAX_NESTING} levels deep")
            comma, value_follows = None, False
        elif mark == ",":
            comma, value_follows = (token.start() if has_value else None), False
        elif mark in _CLOSING:
            if open_brackets.pop() != _CLOSING[mark]:
                return None
            if comma is not None and not has_value:
                spare_commas.append(comma)
            if not open_brackets:
                return _Extent(start, token.end(), tuple(spare_commas))
            comma, value_follows = None, True
        else:
            value_follows = True
    return None


def _remove_spare_commas(text: str, extent: _Extent) -> str:
    edges = [extent.start - 1, *extent.spare_commas, extent.end]
    return "".join(text[a + 1 : b] for a, b in pairwise(edges))


def _parse_strict_json_object(text: str) -> dict[str, object]:
    """Read a text that begins with `{` as strict JSON, which can only give an object."""
    try:
        members: dict[str, object] = json.loads(
            text,
            object_pairs_hook=_refuse_duplicate_keys,
            parse_constant=_raise_for_nan_or_infinity,
            parse_float=_parse_finite_float,
        )
    # ValueError and not its subclass: an integer of 5,000 digits raises the plain one.
    except ValueError as error:
        raise _MalformedReply(f"is not valid JSON: {error}") from error
    return {name: _clean_nested_strings(member) for name, member in members.items()}


def _refuse_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = {remove_invalid_unicode(name): member for name, member in pairs}
    if len(members) < len(pairs):
        raise _MalformedReply("has the same key twice in one object")
    return members


def _raise_for_nan_or_infinity(name: str) -> NoReturn:
    raise _MalformedReply(f"holds {name}, which is no JSON")


def _parse_finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _MalformedReply("holds a number too large to be one")
    return number


def _clean_nested_strings(value: object) -> object:
    """Clean every string of a decoded value. Keys are clean already; nesting is bounded."""
    match value:
        case str():
            return remove_invalid_unicode(value)
        case list():
            return [_clean_nested_strings(member) for member in value]
        case dict():
            return {name: _clean_nested_strings(member) for name, member in value.items()}
        case _:
            return value
