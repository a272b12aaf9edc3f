"""Cells of a table hold text; lists and objects in them are JSON, Python literals or joined.

Python literals are what pandas and ragas print. They are parsed, never evaluated, and only up to a
length and a depth, as a cell may be hostile.
"""

import ast
import io
import json
import re
import tokenize
from typing import Final

from faithtui.domain.limits import Limit
from faithtui.formats.json_lines import make_storable_json, parse_inner_json
from faithtui.formats.readers.values.key_spellings import ShapeError

LITERAL: Final = Limit("a Python list in a cell", 4_000_000, "characters", "write the list as JSON")
"""Of a cell that is a Python literal: its syntax tree takes a hundred times as much memory."""

_BEGINS_AS_LIST: Final = re.compile(r"""\s*(?:\[\s*(?:["']|\{\s*["'])|\{\s*["'])""")
"""A bracket before a quotation mark: `[1]`, `[[a link]]` and `{{a template}}` are texts."""
_EXCEL_CELL: Final = 32_767

_MOST_DEPTH: Final = 32
_OPEN, _CLOSE = "[({", "])}"


def parse_list_or_object_cell(value: object, field: str) -> object:
    """Read a list or an object that a cell holds as text; anything else stays what it is.

    Args:
        value: The cell.
        field: Its column, for messages.

    Raises:
        ShapeError: It begins as a list or an object and is neither JSON nor a Python literal.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not (text.startswith("[") and text.endswith("]")) and not (
        text.startswith("{") and text.endswith("}")
    ):
        return value
    try:
        return parse_inner_json(text)
    except json.JSONDecodeError:
        return _parse_python_literal(text, field)
    except ValueError as error:  # it is JSON, but none that can be kept
        raise ShapeError(field, str(error)) from error


def parse_list_or_object_or_keep_text(value: object) -> object:
    """Read a list or an object where a text may stand as well; what is neither stays the text."""
    try:
        return parse_list_or_object_cell(value, "")
    except ShapeError:
        return value


def find_broken_list(value: object, field: str) -> ShapeError | None:
    """Say what is wrong with a text that begins as a list and is none; None of anything else.

    Args:
        value: What was read where a list may stand.
        field: Its column or key, for messages.
    """
    if not isinstance(value, str) or not _BEGINS_AS_LIST.match(value):
        return None
    if parse_list_or_object_or_keep_text(value) is not value:
        return None
    return ShapeError(
        field,
        "begins as a list and cannot be read as one, so it is taken as one text; it may be cut "
        f"off, as Excel does at {_EXCEL_CELL:,} characters: write it whole, as JSON",
    )


def _parse_python_literal(text: str, field: str) -> object:
    problem = LITERAL.find_size_problem(len(text))
    if problem is not None:
        raise ShapeError(field, problem)
    try:
        # Trees are built and taken down by recursion, so depth counts before there is one.
        if _measure_depth(text) > _MOST_DEPTH:
            raise ShapeError(field, f"is nested more than {_MOST_DEPTH} levels deep")
        found = ast.literal_eval(_insert_commas_between_strings(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError) as error:
        raise ShapeError(
            field,
            "begins as a list or an object, but is neither JSON nor a Python literal; write it as "
            "JSON",
        ) from error
    try:
        return make_storable_json(_make_literal_json_compatible(found))
    except ValueError as error:
        raise ShapeError(field, str(error)) from error


def _make_literal_json_compatible(value: object) -> object:
    """Give a Python literal as JSON has it: tuples and sets are lists there, and keys are texts.

    A set has no order, and each process would give it another one: it is sorted.

    Raises:
        ValueError: JSON has nothing of its type.
    """
    match value:
        case None | str() | bool() | int() | float():
            return value
        case list() | tuple():
            return [_make_literal_json_compatible(each) for each in value]
        case set():
            return [_make_literal_json_compatible(each) for each in sorted(value, key=repr)]
        case dict():
            return {str(name): _make_literal_json_compatible(each) for name, each in value.items()}
        case _:
            raise ValueError(f"holds {type(value).__name__}, which JSON does not have")


def _measure_depth(text: str) -> int:
    depth = deepest = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
            deepest = max(deepest, depth)
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
    return deepest


def _insert_commas_between_strings(text: str) -> str:
    """Put a comma between strings that have none, as numpy prints arrays of texts.

    Without it Python would read two passages as one.
    """
    pieces: list[str] = []
    previous: tokenize.TokenInfo | None = None
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT)
    lines = text.splitlines(keepends=True)
    cuts: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in skipped:
            continue
        if token.type == tokenize.STRING and previous is not None:
            cuts.append(token.start)
        previous = token if token.type == tokenize.STRING else None
    if not cuts:
        return text
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    at = 0
    for row, column in cuts:
        place = starts[row - 1] + column
        pieces += [text[at:place], ","]
        at = place
    return "".join([*pieces, text[at:]])
