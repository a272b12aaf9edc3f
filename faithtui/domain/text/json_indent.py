"""JSON with line ends and indents, and nothing else changed: no number, no escape, no key."""

import json
import re
from typing import Final

_STEP: Final = 2
"""Blanks of a level."""
_DEEPEST: Final = 20
"""Levels that are indented; deeper ones stay at that."""
_FENCED: Final = re.compile(r"(\s*```\w*\n)(.*?)(\n```\s*)", re.DOTALL)
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}


def indent_json(text: str) -> str | None:
    """Indent a JSON object or array; also one in a fence of Markdown, whose lines stay.

    Returns:
        None for a text that is no such JSON.
    """
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        inside = indent_json(fenced[2])
        return None if inside is None else f"{fenced[1]}{inside}{fenced[3]}"
    if not text.strip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _join_tokens(_TOKEN.findall(text))


def _join_tokens(tokens: list[str]) -> str:
    parts: list[str] = []
    depth = 0
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in _CLOSING:
            depth += 1
            parts.append(token)
            if following != _CLOSING[token]:
                parts.append(_make_indented_newline(depth))
        elif token in ("}", "]"):
            depth -= 1
            if parts[-1] not in _CLOSING:
                parts.append(_make_indented_newline(depth))
            parts.append(token)
        elif token == ",":
            parts += [",", _make_indented_newline(depth)]
        else:
            parts.append(": " if token == ":" else token)
    return "".join(parts)


def _make_indented_newline(depth: int) -> str:
    return "\n" + " " * (_STEP * min(depth, _DEEPEST))
