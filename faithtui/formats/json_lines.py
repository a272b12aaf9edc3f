"""Files of JSON objects, one a line or all in an array: bytes become objects, with line numbers.

Reads one record at a time, so a file may be larger than memory; a record that is larger than
`limits.RECORD` is reported and passed over. Knows nothing of what the objects mean. What cannot be
stored later never gets past here: NaN, lone surrogates, NULs, bottomless nesting.
"""

import codecs
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jiter

from faithtui.domain.limits import RECORD, RECORD_TEXTS, RECORD_VALUES, Limit
from faithtui.errors import InputError
from faithtui.formats.json_records import RawRecord, cut_array, cut_lines

MAX_DEPTH = 64
"""Levels of nesting: far more than data has, far fewer than writing it out again can survive."""

_HEAD_BYTES = 1 << 16
"""How much of a file decides what it is."""

_TOO_MANY_DIGITS = "holds a number with too many digits; write it as a string"
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"

_EXPECTED = "expected UTF-8 text with one JSON object a line"
_OR_ARRAY = ", or one JSON array of objects"

_ARRAY = re.compile(rb"\[\s*([{\]]|$)")
"""How an array of objects begins; prose in brackets does not."""

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


@dataclass(slots=True)  # not frozen, which takes four times as long to make
class JsonRecord:
    """What one line of a file holds, or one element of its array."""

    line: int
    """Line it begins on, from 1, blank lines counted."""
    record: int | None
    """Its place in an array, from 1; None: it is a line."""
    end: int
    """Bytes of the file up to its end."""
    size: int
    """Its bytes."""
    found: dict[str, object] | InputError


def format_json_line(value: Mapping[str, object]) -> str:
    """Write an object as a line of a file of ours, with its line end."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def read_json_lines(path: Path) -> Iterator[JsonRecord]:
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
    return _read_records(path, with_arrays=False)


def read_json_lines_or_array(path: Path) -> Iterator[JsonRecord]:
    """Read a file of one JSON object a line, or of one array of objects; see `read_json_lines`.

    Raises:
        InputError: As `read_json_lines`; also when an array does not end, after all before that.
    """
    return _read_records(path, with_arrays=True)


def _read_records(path: Path, *, with_arrays: bool) -> Iterator[JsonRecord]:
    expected = _EXPECTED + (_OR_ARRAY if with_arrays else "")
    try:
        with io.BufferedReader(path.open("rb", buffering=0), _HEAD_BYTES) as file:
            head = file.peek(_HEAD_BYTES)
            is_array = is_array_start(first_line(head))
            other = _detect_other_format(head, is_array=is_array, takes_arrays=with_arrays)
            if other is not None:
                raise InputError(f"is {other}; {expected}")  # noqa: TRY301  # named below
            cut = cut_array if is_array else cut_lines
            for raw in cut(file, RECORD.most):
                if is_array or not raw.is_blank:
                    parsed = parse_record_or_error(raw, path)
                    del raw  # a large one is not held while what it says is dealt with,
                    yield parsed
                    del parsed  # nor that while the next one is read
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(error.reason, path=path) from error
    except IsADirectoryError as error:
        raise InputError(f"is a directory; {expected}", path=path) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot be read: {reason}", path=path) from error


def parse_record_or_error(raw: RawRecord, path: Path, *, nulls_for_nan: bool = False) -> JsonRecord:
    """Parse one record; the error is its value when it cannot be used.

    Args:
        raw: Its bytes.
        path: The file, for messages.
        nulls_for_nan: Read NaN and Infinity, which Python writes and JSON does not have, as null.
    """
    found: dict[str, object] | str
    match raw.text:
        case None:
            found = RECORD.find_size_problem(raw.size) or ""
        case UnicodeDecodeError() as undecodable:
            found = _format_not_utf8(undecodable)
        case bytes(data):
            found = _parse_object_bytes_or_problem(data, nulls_for_nan)
        case text:
            found = _parse_object_or_problem(text, nulls_for_nan)
    if isinstance(found, str):
        error = InputError(found, path=path, line=raw.line, record=raw.record)
        return JsonRecord(raw.line, raw.record, raw.end, raw.size, error)
    return JsonRecord(raw.line, raw.record, raw.end, raw.size, found)


def first_line(head: bytes) -> bytes:
    """Give the first line that is not blank, stripped; b"" for none."""
    lines = head.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return next((bare for line in lines if (bare := line.strip())), b"")


def is_array_start(line: bytes) -> bool:
    """Say whether an array of objects begins with this line; prose in brackets does not."""
    return _ARRAY.match(line) is not None


def _detect_other_format(head: bytes, *, is_array: bool, takes_arrays: bool) -> str | None:
    """Say what a file is when its first bytes show that it is not what is read."""
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
    if is_array:
        return None if takes_arrays else "one JSON array"
    if any(line.startswith(b"{") for line in lines):
        return None
    return f"text that begins with {describe_json(lines[0][:200].decode(errors='replace'))}"


def describe_json(value: object) -> str:
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
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= 44 else text[:40] + "…"


class UnusableRecord(Exception):
    """The line is JSON in form, but not what a data file may hold."""


def _parse_object_or_problem(text: str, nulls_for_nan: bool = False) -> dict[str, object] | str:
    """Parse one record; a text says why it cannot be used."""
    too_many = find_too_many_values(text)
    if too_many is not None:
        return too_many
    if text.count("[") + text.count("{") <= MAX_DEPTH and "\\u0000" not in text:
        # What this parser takes here needs no second look; what it refuses gets its message below.
        try:
            plain = jiter.from_json(
                text.encode(), allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys"
            )
        except (ValueError, UnicodeEncodeError):
            pass
        else:
            if not _holds_infinity(plain):
                return plain if isinstance(plain, dict) else _format_not_object(plain)
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=build_object_without_duplicate_keys,
            parse_constant=_return_null_for_nan_or_infinity
            if nulls_for_nan
            else _raise_for_nan_or_infinity,
            parse_float=_parse_finite,
        )
        clean = _make_storable(value, depth=1)
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except ValueError:
        # The interpreter's own limit on converting digits; nothing else is left that raises it.
        reason = _TOO_MANY_DIGITS
    except (UnusableRecord, RecursionError) as error:
        reason = str(error) if isinstance(error, UnusableRecord) else _TOO_DEEP
    else:
        if isinstance(clean, dict):
            return clean
        reason = _format_not_object(clean)
    return reason


def _holds_infinity(value: object) -> bool:
    """Say whether a number that was too large is in a JSON value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if type(each) is dict:
            waiting.extend(each.values())
        elif type(each) is list:
            waiting.extend(each)
        elif type(each) is float and math.isinf(each):
            return True
    return False


def find_too_many_values(text: str) -> str | None:
    """Say that a text of JSON holds more values than a record may; None: it does not."""
    if len(text) <= RECORD_VALUES.most:
        return None  # each has a character
    too_many = RECORD_VALUES.find_size_problem(sum(map(text.count, ",[{")))
    return None if too_many is None else f"holds too much: {too_many}"


def find_too_much_text(value: object, limit: Limit = RECORD_TEXTS) -> str | None:
    """Say that the strings of a record take more memory than they may; None: they do not."""
    memory = count_string_memory(value)
    # The UTF-8 form is made only of what is not too large without it.
    return limit.find_size_problem(memory) or limit.find_size_problem(
        memory + _count_non_ascii_utf8_bytes(value)
    )


def _format_not_object(value: object) -> str:
    return f"is {describe_json(value)}; expected a JSON object"


def _format_not_utf8(error: UnicodeDecodeError) -> str:
    byte = error.object[error.start]
    return f"byte {error.start + 1} (0x{byte:02x}) is not UTF-8; save the file as UTF-8"


def _parse_object_bytes_or_problem(data: bytes, nulls_for_nan: bool) -> dict[str, object] | str:
    """Parse one record from its bytes, as `_parse_object_or_problem` does from a text.

    What this parser refuses goes to the other one, for the message and for lone surrogates.
    """
    too_many = RECORD_VALUES.find_size_problem(sum(map(data.count, (b",", b"[", b"{"))))
    if too_many is not None:
        return f"holds too much: {too_many}"
    try:
        value = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
        # Before a NUL in a text makes another copy of it.
        too_wide = find_too_much_text(value)
        clean = None if too_wide else _make_storable(value, depth=1)
    except (ValueError, UnusableRecord):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            return _format_not_utf8(error)
        # This parser needs the whole text and builds its strings twice, so what they may come to
        # counts before it: an escape may make each character take four bytes.
        most = max(sys.getsizeof(text), 4 * len(text) if "\\u" in text else 0)
        most += 0 if data.isascii() and "\\u" not in text else len(data)
        return RECORD_TEXTS.find_size_problem(most) or _parse_object_or_problem(text, nulls_for_nan)
    if too_wide is not None:
        return too_wide
    return clean if isinstance(clean, dict) else _format_not_object(clean)


def count_string_memory(value: object) -> int:
    """Count the bytes of memory that all strings take once they are storable, keys too."""
    match value:
        case str():
            # U+FFFD stands for a NUL then, and makes each character take two bytes.
            return max(sys.getsizeof(value), 2 * len(value) if "\x00" in value else 0)
        case list():
            return sum(map(count_string_memory, value))
        case dict():
            return sum(map(count_string_memory, value)) + sum(
                map(count_string_memory, value.values())
            )
        case _:
            return 0


def estimate_memory_bytes(value: object) -> int:
    """Count the bytes of memory that a value takes, about: its strings, numbers and lists."""
    match value:
        case str():
            return count_string_memory(value)
        case list():
            return 8 * len(value) + sum(map(estimate_memory_bytes, value))
        case dict():
            entries = sum(map(estimate_memory_bytes, value)) + sum(
                map(estimate_memory_bytes, value.values())
            )
            return 64 * len(value) + entries
        case None | bool():
            return 0
        case _:
            return 32


def _count_non_ascii_utf8_bytes(value: object) -> int:
    """Count the bytes that all strings take in UTF-8 besides: what is ASCII takes none."""
    match value:
        case str():
            return 0 if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        case list():
            return sum(map(_count_non_ascii_utf8_bytes, value))
        case dict():
            return sum(map(_count_non_ascii_utf8_bytes, value)) + sum(
                map(_count_non_ascii_utf8_bytes, value.values())
            )
        case _:
            return 0


def build_object_without_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object; a key given twice has two values and we cannot know which was meant."""
    built = dict(pairs)
    if len(built) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise UnusableRecord(f"has the key {describe_json(key)} twice in one object")
    return built


def _return_null_for_nan_or_infinity(_: str) -> None:
    return None


def _raise_for_nan_or_infinity(word: str) -> object:
    raise UnusableRecord(f"holds {word}, which is not JSON; expected a number or null")


def _parse_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise UnusableRecord(f"holds the number {digits}, which is too large")
    return number


def make_storable_json(value: object) -> object:
    """Make a JSON value one that can be stored: no lone surrogate, no NUL, not without bottom.

    Raises:
        ValueError: It is nested too deep, or holds a number that is too large.
    """
    try:
        return _make_storable(value, depth=1)
    except UnusableRecord as error:
        raise ValueError(str(error)) from error


def parse_inner_json(text: str) -> object:
    """Parse JSON that stands in a text of a record, such as a cell or what a tool gave.

    It is held to the rules of a record; NaN and Infinity, which Python writes, become null.

    Raises:
        ValueError: It is no JSON, or none that can be stored.
    """
    too_many = find_too_many_values(text)
    if too_many is not None:
        raise ValueError(too_many)
    try:
        value = json.loads(
            text,
            object_pairs_hook=build_object_without_duplicate_keys,
            parse_constant=_return_null_for_nan_or_infinity,
            parse_float=_parse_finite,
        )
        return _make_storable(value, depth=1)
    except json.JSONDecodeError:
        raise
    except UnusableRecord as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except ValueError as error:
        raise ValueError(_TOO_MANY_DIGITS) from error


def _make_storable(value: object, depth: int) -> object:
    """Replace lone surrogates and NULs by U+FFFD, in keys too, and refuse bottomless nesting."""
    if isinstance(value, str):
        return _NOT_STORABLE.sub("�", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnusableRecord("holds a number which is too large")
    if not isinstance(value, dict | list):
        return value
    if depth > MAX_DEPTH:
        raise UnusableRecord(_TOO_DEEP)
    if isinstance(value, list):
        return [_make_storable(item, depth + 1) for item in value]
    return {
        _NOT_STORABLE.sub("�", key): _make_storable(item, depth + 1) for key, item in value.items()
    }
