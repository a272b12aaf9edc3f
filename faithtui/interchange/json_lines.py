"""Files of one JSON object a line: bytes become objects, with line numbers.

Reads one line at a time, so a file may be larger than memory. Knows nothing of what the objects
mean. What cannot be stored later never gets past here: NaN, lone surrogates, NULs, bottomless
nesting.
"""

import codecs
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faithtui.errors import InputError

MAX_DEPTH = 64
"""Levels of nesting: far more than data has, far fewer than writing it out again can survive."""

_HEAD_BYTES = 1 << 16
"""How much of a file decides what it is."""

_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"

_EXPECTED = "expected UTF-8 text with one JSON object a line"

_MAGIC = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a zip archive"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"PAR1", "a Parquet file"),
    (codecs.BOM_UTF16_LE, "UTF-16 text"),
    (codecs.BOM_UTF16_BE, "UTF-16 text"),
    (b"{\x00", "UTF-16 text"),
    (b"\x00{", "UTF-16 text"),
)

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and lone surrogates, which JSON may hold and databases may not."""


@dataclass(frozen=True, slots=True)
class JsonLine:
    """What one line of a file holds."""

    number: int
    """Line number from 1, blank lines counted."""
    end: int
    """Bytes of the file up to the end of this line."""
    found: dict[str, object] | InputError


def read_json_lines(path: Path) -> Iterator[JsonLine]:
    """Read a file of one JSON object a line.

    A byte order mark and blank lines are passed over. Lone surrogates and NULs become U+FFFD,
    one for one.

    Yields:
        One value for each line that is not blank, in order; a line that cannot be used holds the
        error, and reading goes on.

    Raises:
        InputError: The file cannot be read, or is something else altogether. An empty file is
            read: it holds nothing.
    """
    try:
        with io.BufferedReader(path.open("rb", buffering=0), _HEAD_BYTES) as file:
            other = _other_format(file.peek(_HEAD_BYTES))
            if other is not None:
                raise InputError(f"is {other}; {_EXPECTED}", path=path)
            end = 0
            for number, raw in enumerate(file, start=1):
                end += len(raw)
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if line.strip():
                    yield JsonLine(number, end, _object_in(line, path, number))
    except IsADirectoryError as error:
        raise InputError(f"is a directory; {_EXPECTED}", path=path) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot be read: {reason}", path=path) from error


def _other_format(head: bytes) -> str | None:
    """Say what a file is when its first bytes show that it is not one JSON object a line."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if b"\x00" in head:
        return "a binary file"
    lines = [line.strip() for line in head.removeprefix(codecs.BOM_UTF8).splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        return None
    if lines[0] == b"{" and len(lines) > 1:
        return "one JSON document over several lines"
    if re.match(rb"\[\s*(\{|$)", lines[0]):
        return "one JSON array"
    if any(line.startswith(b"{") for line in lines):
        return None
    return f"text that begins with {shortened(lines[0][:200].decode(errors='replace'))}"


def shortened(value: object) -> str:
    """Describe a JSON value for a message, in a few words."""
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case str() if len(value) > 40:
            return json.dumps(value[:40], ensure_ascii=False) + "…"
        case _:
            told = json.dumps(value, ensure_ascii=False)
            return told if len(told) <= 44 else told[:40] + "…"


class _Unusable(Exception):
    """The line is JSON in form, but not what a data file may hold."""


def _object_in(line: bytes, path: Path, number: int) -> dict[str, object] | InputError:
    """Parse one line; the error is the value when it cannot be used."""
    try:
        value: object = json.loads(
            line.decode().rstrip("\r\n"),
            object_pairs_hook=_with_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
        clean = _storable(value, depth=1)
    except UnicodeDecodeError as error:
        byte = line[error.start]
        reason = f"byte {error.start + 1} (0x{byte:02x}) is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except ValueError:
        # The interpreter's own limit on converting digits; nothing else is left that raises it.
        reason = "holds a number with too many digits; write it as a string"
    except (_Unusable, RecursionError) as error:
        reason = str(error) if isinstance(error, _Unusable) else _TOO_DEEP
    else:
        if isinstance(clean, dict):
            return clean
        reason = f"is {shortened(clean)}; expected a JSON object"
    return InputError(reason, path=path, line=number)


def _with_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object; a key given twice has two values and we cannot know which was meant."""
    built = dict(pairs)
    if len(built) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise _Unusable(f"has the key {shortened(key)} twice in one object")
    return built


def _refuse_constant(word: str) -> object:
    raise _Unusable(f"holds {word}, which is not JSON; expected a number or null")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Unusable(f"holds the number {digits}, which is too large")
    return number


def _storable(value: object, depth: int) -> object:
    """Replace lone surrogates and NULs by U+FFFD, in keys too, and refuse bottomless nesting."""
    if isinstance(value, str):
        return _NOT_STORABLE.sub("�", value)
    if not isinstance(value, dict | list):
        return value
    if depth > MAX_DEPTH:
        raise _Unusable(_TOO_DEEP)
    if isinstance(value, list):
        return [_storable(item, depth + 1) for item in value]
    return {_NOT_STORABLE.sub("�", key): _storable(item, depth + 1) for key, item in value.items()}
