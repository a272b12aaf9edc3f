"""A file of any kind as a stream of records: one JSON object for each line, element or row.

What a file holds is decided by its first bytes, never by its name. JSON comes as lines, as one
array or as one document; everything else is a table. A format reader sees the records and need not
know which it was.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final, Self

from faithtui.domain.limits import COLUMNS_ROW, RECORD, RECORD_TEXTS, Limit
from faithtui.errors import InputError
from faithtui.formats.files.byte_streams import (
    ByteStream,
    make_read_error,
    open_file_or_stdin_as_utf8,
)
from faithtui.formats.files.csv_tables import find_delimiter, read_column_names, read_csv_rows
from faithtui.formats.files.paged_lists import PagesOfFile, find_paged_list
from faithtui.formats.files.pandas_objects import split_object_into_rows
from faithtui.formats.image_reader import STDIN
from faithtui.formats.json_lines import (
    JsonRecord,
    UnusableRecord,
    build_object_without_duplicate_keys,
    describe_json,
    estimate_memory_bytes,
    find_too_many_values,
    find_too_much_text,
    first_line,
    is_array_start,
    make_storable_json,
    parse_record_or_error,
)
from faithtui.formats.json_records import RawRecord, cut_array, cut_lines
from faithtui.formats.readers.values.cells import parse_list_or_object_or_keep_text

DOCUMENT = Limit(
    "a JSON document",
    RECORD.most,
    "bytes",
    "write its list as one object a line: `jq -c '.samples[]' FILE`",
)
"""One object that holds the whole data set. It must be read as a whole."""

SAMPLE_RECORDS: Final = 32
SAMPLE_BYTES: Final = 4 * 1024 * 1024
"""Records that decide what a file is, and how many bytes of them are looked at."""
SAMPLE_UNREADABLE: Final = 4096
SAMPLE_UNREADABLE_BYTES: Final = 64 * 1024 * 1024
"""How far is looked for them behind records that cannot be read; of these a line each is held."""

_NEVER_EMPTY: Final = frozenset((".parquet", ".arrow", ".feather", ".ipc"))
"""Endings of files that have some bytes whatever they hold."""

PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1"
ARROW_STREAM = b"\xff\xff\xff\xff"

_OTHER_FILES: Final = (
    (b"PK\x03\x04", "a zip archive; unpack it and name the files or their folder"),
    (b"SQLite format 3\x00", "a SQLite database; expected an export of it"),
    (b"%PDF", "a PDF; expected conversations as JSON, CSV or Parquet"),
)
_TAR_MARK_AT: Final = 257
"""Where a tar archive says that it is one."""


class FileKind(StrEnum):
    """How records lie in a file."""

    LINES = "JSON lines"
    ARRAY = "a JSON array"
    TEST_RUN = "a saved test run"
    DOCUMENT = "one JSON document"
    TABLE = "a table"
    COLUMNS = "a Parquet or Arrow file"


@dataclass(slots=True)  # not frozen, which takes four times as long to make
class FileRecord:
    """One record of a file; a file of one document has one."""

    path: Path
    line: int
    """Line it begins on, from 1; of Parquet and Arrow, its row."""
    record: int | None
    """Its place in an array or table, from 1; None: it is a line."""
    end: int
    """Bytes of the file that were read until then."""
    size: int
    """Its bytes, roughly where they are not known."""
    found: dict[str, object] | InputError
    strict_error: InputError | None = None
    """Why it is no JSON in the strict sense, where it holds a bare NaN; those are null here."""
    warning: InputError | None = None
    """Why it may not be what was meant, where it is a row that has too few or too many cells."""

    def make_error(self, reason: str, field: str | None = None) -> InputError:
        """Make the error that says what is wrong with it."""
        return InputError(reason, path=self.path, line=self.line, record=self.record, field=field)


@dataclass(frozen=True, slots=True)
class Sample:
    """The first records of a file, by which it is recognised."""

    path: Path
    kind: FileKind
    records: tuple[dict[str, object], ...]
    """Those that could be read; () where none could, or there is none."""
    errors: tuple[InputError, ...] = ()
    """What is wrong with those that could not."""
    is_whole: bool = False
    """Whether there are surely no more."""
    column_names: tuple[str, ...] = ()
    """Of a table of text, as they are read; () of anything else."""

    @property
    def is_table(self) -> bool:
        """Whether cells are text, so that lists come as text too."""
        return self.kind is FileKind.TABLE


class RecordFile:
    """An open file: its sample first, then all of its records, the sample's included.

    Args:
        path: The file; `-` for standard input.
        renames: Keys by the keys they are read as, see `rename_and_lift_keys`.

    Raises:
        InputError: It cannot be read, or holds no records.
    """

    def __init__(self, path: Path, renames: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._renames = renames or {}
        self.unused_renames = set(self._renames)
        """Keys that are to be renamed, and that no record read so far has."""
        self.record_count = 0
        """Objects read so far, where keys are to be renamed."""
        self._is_sample_whole = False
        self.pages = PagesOfFile()
        """What is known of the lists that records were taken from, where an API answered so."""
        self._stream = open_file_or_stdin_as_utf8(path)
        try:
            self.kind = _detect_file_kind(path, self._stream.head)
            self._records = self._iterate_renamed_records()
            self._first = self._read_sample_records()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        """Give the open file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it and let go of its sample; standard input stays open."""
        # The generator and this object hold each other, and it holds the record it stopped at.
        self._records = iter(())
        self._first = []
        self._stream.close()

    @property
    def column_names_alone(self) -> tuple[str, ...] | None:
        """The column names of a table; None where it has rows, or is no table."""
        if self._first or self.kind is not FileKind.TABLE:
            return None
        return read_column_names(self.path, self._stream.head) or None

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it, or nothing but white space."""
        return not self._stream.head.removeprefix(codecs.BOM_UTF8).strip()

    @property
    def sample(self) -> Sample:
        """The first records."""
        good = tuple(each.found for each in self._first if isinstance(each.found, dict))
        bad = tuple(each.found for each in self._first if isinstance(each.found, InputError))
        return Sample(
            self.path, self.kind, good, bad, self._is_sample_whole, self._read_column_names()
        )

    def _read_column_names(self) -> tuple[str, ...]:
        if self.kind is not FileKind.TABLE:
            return ()
        names = dict.fromkeys(read_column_names(self.path, self._stream.head))
        return tuple(rename_and_lift_keys({**names}, self._renames))

    def __iter__(self) -> Iterator[FileRecord]:
        """Give every record, in order; once.

        Raises:
            InputError: The file ends too early, or cannot be read on; earlier ones were given.
        """
        while self._first:
            yield self._first.pop(0)
        yield from self._records

    def _read_sample_records(self) -> list[FileRecord]:
        first: list[FileRecord] = []
        readable = size = 0
        try:
            for each in self._records:
                first.append(each)
                if isinstance(each.found, dict):  # nothing is held of one that cannot be read
                    readable += 1
                    size += each.size
                if readable >= SAMPLE_RECORDS or size >= SAMPLE_BYTES:
                    break
                if len(first) >= SAMPLE_UNREADABLE or each.end >= SAMPLE_UNREADABLE_BYTES:
                    break
            else:
                self._is_sample_whole = True
        except InputError as error:
            if not first:
                raise
            self._records = _raise_on_iteration(error)
        return first

    def _iterate_renamed_records(self) -> Iterator[FileRecord]:
        try:
            for each in self._iterate_records_of_pages():
                found = each.found
                if self._renames and isinstance(found, dict):
                    self.record_count += 1
                    self.unused_renames -= {
                        key for key in self.unused_renames if _has_key(found, key)
                    }
                    each = replace(
                        each, found=rename_and_lift_keys(found, self._renames)
                    )  # the same record
                yield each
                del each, found
        except InputError as error:
            if error.path is not None:
                raise
            raise InputError(error.reason, path=self.path, line=error.line) from error
        except (OSError, EOFError) as error:
            raise make_read_error(self.path, error) from error

    def _iterate_records_of_pages(self) -> Iterator[FileRecord]:
        may_be_pages = self.kind in (FileKind.DOCUMENT, FileKind.LINES)
        for each in _iterate_rows_of_any_kind(self.path, self.kind, self._stream):
            found = each.found
            page = (
                find_paged_list(found, is_later=self.pages.key is not None)
                if may_be_pages and isinstance(found, dict)
                else None
            )
            if page is None:
                yield each
            else:
                self.pages.add_page(page)
                size = each.size // max(len(page.records), 1) + 1
                for place, record in enumerate(page.records, start=1):
                    one = replace(each, record=place, size=size)
                    refused = one.make_error(record) if isinstance(record, str) else record
                    yield replace(one, found=refused)
            del each, found


def _raise_on_iteration(error: InputError) -> Iterator[FileRecord]:
    yield from ()
    raise error


def rename_and_lift_keys(value: dict[str, object], renames: Mapping[str, str]) -> dict[str, object]:
    """Rename keys of an object and of the objects in it.

    Args:
        value: The object.
        renames: The new name of each; a name with dots is a path from the top, also into JSON that
            a cell holds as text, whose value comes to the top; an object that held nothing else is
            not there any more.
    """
    changed: dict[str, object] = {}
    for key, each in value.items():
        if key not in renames:
            # What has the new name of another is kept under a name of its own.
            name = f"{key} (unmapped)" if key in renames.values() else key
            changed[name] = each if key == "metadata" else _rename_keys_recursively(each, renames)
    _add_renamed_keys(changed, value, renames)
    for path, name in renames.items():
        found = _get_by_path(value, path.split(".")) if "." in path and path not in value else None
        if found is not None:
            parent = path.split(".")[0]
            within = parse_list_or_object_or_keep_text(value[parent])
            if _has_only_renamed_keys(within, f"{parent}.", renames):
                changed.pop(parent, None)
            changed[name] = found
    return changed


def _has_only_renamed_keys(value: object, prefix: str, renames: Mapping[str, str]) -> bool:
    """Say whether all that an object holds was named by a path."""
    return isinstance(value, dict) and all(
        f"{prefix}{key}" in renames or _has_only_renamed_keys(each, f"{prefix}{key}.", renames)
        for key, each in value.items()
    )


def _add_renamed_keys(
    changed: dict[str, object], value: Mapping[str, object], renames: Mapping[str, str]
) -> None:
    """Add the keys that get a new name; of two with one new name, the second keeps its own."""
    for key, each in value.items():
        if key in renames:
            name = key if renames[key] in changed else renames[key]
            changed[name] = _rename_keys_recursively(each, renames)


def _rename_keys_recursively(value: object, renames: Mapping[str, str]) -> object:
    match value:
        case dict():
            new_names = {renames[key] for key in value if key in renames}
            changed = {
                f"{key} (unmapped)" if key in new_names else key: _rename_keys_recursively(
                    each, renames
                )
                for key, each in value.items()
                if key not in renames
            }
            _add_renamed_keys(changed, value, renames)
            return changed
        case list():
            return [_rename_keys_recursively(each, renames) for each in value]
        case _:
            return value


def _has_key(value: dict[str, object], key: str) -> bool:
    """Say whether `rename_and_lift_keys` finds a key, whatever it holds."""
    if "." in key and key not in value:
        *parents, last = key.split(".")
        parent = parse_list_or_object_or_keep_text(_get_by_path(value, parents))
        if isinstance(parent, dict) and last in parent:
            return True
    return key in value or any(
        _has_key_below(each, key) for name, each in value.items() if name != "metadata"
    )


def _has_key_below(value: object, key: str) -> bool:
    match value:
        case dict():
            return key in value or any(_has_key_below(each, key) for each in value.values())
        case list():
            return any(_has_key_below(each, key) for each in value)
        case _:
            return False


def _get_by_path(value: object, path: list[str]) -> object:
    for name in path:
        value = parse_list_or_object_or_keep_text(value)  # a table has it as text
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _detect_file_kind(path: Path, head: bytes) -> FileKind:
    """Decide by the first bytes.

    Raises:
        InputError: It is something that holds no conversations.
    """
    for magic, name in _OTHER_FILES:
        if head.startswith(magic):
            raise InputError(f"is {name}", path=path)
    if not head and path.suffix.lower() in _NEVER_EMPTY:
        raise InputError(
            "is empty, as no Parquet or Arrow file is, even without rows: it was cut short; write "
            "or copy it again",
            path=path,
        )
    if head.startswith((PARQUET, ARROW_FILE, ARROW_STREAM)):
        return FileKind.COLUMNS
    if head[_TAR_MARK_AT:].startswith(b"ustar"):
        raise InputError(
            "is a tar archive; unpack it and name the files or their folder", path=path
        )
    if b"\x00" in head:
        raise InputError("is a binary file; expected JSON, CSV or Parquet", path=path)
    start = first_line(head)
    is_test_run = _TEST_RUN.match(head) is not None and _LINES_NAMES.isdisjoint(path.suffixes)
    if is_test_run and not _has_other_runs_on_lines(start, head):
        return FileKind.TEST_RUN
    if is_array_start(start):
        return FileKind.ARRAY
    if start.startswith(b"{"):
        return FileKind.LINES if _is_json_lines_start(start, head) else FileKind.DOCUMENT
    if not start:
        return FileKind.LINES
    if find_delimiter(path, head) is not None:
        return FileKind.TABLE
    if any(line.lstrip().startswith(b"{") for line in head.splitlines()):
        return FileKind.LINES  # a bad line before good ones, which is reported
    raise InputError(
        f"is text that begins with {describe_json(start[:200].decode(errors='replace'))}; expected "
        "JSON objects, one a line, in an array or in one document, or a table with a line of "
        "column names",
        path=path,
    )


_LINES_NAMES: Final = frozenset((".jsonl", ".ndjson"))
"""Endings of names of files that have a record a line, however long the first one is."""

_TEST_RUN: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\{\s*\"testCases\"\s*:\s*\[\s*\]\s*,\s*"
    rb"\"conversationalTestCases\"\s*:\s*(?=\[\s*\{)"
)
"""Up to the cases of a run of conversations, as deepeval and our export write it. They are most of
the file, so they are read one by one; what stands behind them is about the run as a whole."""

_BEFORE_REST: Final = '{"testCases": [], "conversationalTestCases": []'
"""The same without the cases: with what stands behind them it is one object."""

_RUN_KEYS: Final = frozenset(("testcases", "conversationaltestcases"))

_LATER_OBJECT = re.compile(rb"\n[ \t]*\{")


def _has_other_runs_on_lines(start: bytes, head: bytes) -> bool:
    """Say whether a run is a whole line, or a damaged one, and others are on the next lines."""
    if b"\n" not in head.removeprefix(codecs.BOM_UTF8).strip():
        return False  # one line, perhaps longer than what was looked at
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return _has_object_line(head)
    return True


def _is_json_lines_start(start: bytes, head: bytes) -> bool:
    """Say whether the first line is an object of its own, or where others begin a line at once."""
    if len(start) >= len(head.strip()) and b"\n" not in head.strip():
        return True  # one line, perhaps longer than what was looked at
    if start == b"{":
        return False
    try:
        json.loads(start)
    except ValueError:
        # A broken first line before lines that are objects; in a document they would be indented
        # and the first line would be a bracket alone, or end in a comma or a bracket.
        return not start.endswith((b",", b"[", b"{")) or _has_object_line(head)
    return True


def _has_object_line(head: bytes) -> bool:
    """Say whether lines are objects of their own: in a list, all but the last end in a comma."""
    lines = head.split(b"\n")[1:]
    if any(line.lstrip().startswith((b"]", b"}")) for line in lines):
        return False
    try:
        json.loads(next((line for line in lines if line.startswith(b"{")), b""))
    except (ValueError, RecursionError):
        return False
    return True


def _iterate_rows_of_any_kind(
    path: Path, kind: FileKind, stream: ByteStream
) -> Iterator[FileRecord]:
    """Give the records, or the rows of the only one where that holds a whole table."""
    records = _iterate_records_of_any_kind(path, kind, stream)
    if kind in (FileKind.LINES, FileKind.DOCUMENT):
        first = list(islice(records, 1))
        found = first[0].found if first else None
        rows = split_object_into_rows(found) if type(found) is dict else None
        del found
        if rows is not None:
            try:
                first += islice(records, 1)
            except Exception:
                yield first.pop()  # what comes after it cannot be read
                raise
        if rows is not None and len(first) == 1:
            size = first[0].size // len(rows)
            for number, row in enumerate(rows, start=1):
                yield replace(first[0], record=number, size=size, found=row)
            return
        del rows
        while first:  # of several objects each is a record, such as one with a list of questions
            yield first.pop(0)
    yield from records


def _iterate_records_of_any_kind(
    path: Path, kind: FileKind, stream: ByteStream
) -> Iterator[FileRecord]:
    match kind:
        case FileKind.LINES | FileKind.ARRAY | FileKind.TEST_RUN:
            for raw in _cut_json(kind, stream):
                if kind is FileKind.LINES and raw.is_blank:
                    continue
                read = parse_record_or_error(raw, path)
                strict = None
                if isinstance(read.found, InputError) and raw.text is not None:
                    strict, read = read.found, parse_record_or_error(raw, path, nulls_for_nan=True)
                del raw
                yield _to_file_record(path, stream, read, strict)
                del read
        case FileKind.DOCUMENT:
            yield _read_whole_file_as_one_record(path, stream)
        case FileKind.TABLE:
            for number, row in enumerate(read_csv_rows(path, stream.file, stream.head), start=1):
                found = (
                    InputError(row.cells, path=path, line=row.line)
                    if isinstance(row.cells, str)
                    else _make_storable_row_or_error(row.cells, path, row.line)
                )
                end, warning = stream.count_bytes_read(), None
                if row.warning is not None:
                    warning = InputError(row.warning, path=path, line=row.line)
                yield FileRecord(path, row.line, number, end, row.size, found, None, warning)
        case FileKind.COLUMNS:
            from faithtui.formats.files.columns import read_parquet_or_arrow_rows

            if path == STDIN or stream.packed:
                raise InputError(
                    "is a Parquet or Arrow file, which is read from its end; name a file that is "
                    "not packed",
                    path=path,
                )
            number = 0
            for cells in read_parquet_or_arrow_rows(
                path, stream.head
            ):  # enumerate would hold the last
                number += 1
                if isinstance(cells, str):
                    refused = InputError(cells, path=path, line=number)
                    yield FileRecord(path, number, number, 0, 0, refused)
                    continue
                size = estimate_memory_bytes(cells)
                record = [
                    FileRecord(
                        path,
                        number,
                        number,
                        0,
                        size,
                        _make_storable_row_or_error(cells, path, number, COLUMNS_ROW),
                    )
                ]
                del cells
                yield record.pop()  # not held here while it is dealt with


def _cut_json(kind: FileKind, stream: ByteStream) -> Iterator[RawRecord]:
    if kind is FileKind.LINES:
        return cut_lines(stream.file, RECORD.most)
    before = _TEST_RUN.match(stream.head) if kind is FileKind.TEST_RUN else None
    if before is None:
        return cut_array(stream.file, RECORD.most)
    stream.file.read(before.end())
    return _cut_cases_of_test_run(stream)


def _cut_cases_of_test_run(stream: ByteStream) -> Iterator[RawRecord]:
    """Cut the cases, and make sure that nothing behind them is one too.

    Raises:
        InputError: What stands behind the cases is not the end of this one object.
    """
    rest = bytearray()

    def take_rest(piece: bytes) -> None:
        rest.extend(piece)
        problem = DOCUMENT.find_size_problem(len(rest))
        if problem is not None:
            raise InputError(f"has too much behind the cases of its test run: {problem}")

    yield from cut_array(stream.file, RECORD.most, take_rest)
    _check_end_of_test_run(bytes(rest))


def _check_end_of_test_run(rest: bytes) -> None:
    """Make sure that a run's cases were all it holds.

    Args:
        rest: What stands behind the array of its cases.

    Raises:
        InputError: It is cut off, holds other cases, or goes on behind its end.
    """
    try:
        text = _BEFORE_REST + rest.decode()
        problem = find_too_many_values(text)
        if problem is not None:
            raise InputError(f"{problem} behind the cases of its test run")
        decoder = json.JSONDecoder(object_pairs_hook=build_object_without_duplicate_keys)
        run, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
            raise InputError(
                "ends in the middle of what stands behind the cases of its test run; expected the "
                "closing bracket `}`, so it may be cut off"
            ) from error
        raise InputError(f"is not JSON behind the cases of its test run: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            "is not UTF-8 behind the cases of its test run; save the file as UTF-8"
        ) from error
    except (RecursionError, ValueError, UnusableRecord) as error:
        raise InputError(f"{error} behind the cases of its test run") from error
    for key, value in run.items():
        if value and key.replace("_", "").lower() in _RUN_KEYS:
            raise InputError(f"has other cases, `{key}`, behind the cases of its test run")
    if text[end:].strip():
        raise InputError(
            "goes on behind the end of its test run; expected nothing after `}`: write other runs "
            "to files of their own"
        )


def _make_storable_row_or_error(
    cells: dict[str, object], path: Path, line: int, limit: Limit = RECORD_TEXTS
) -> dict[str, object] | InputError:
    """Make the cells of a row storable; a number that is none is an empty cell, as in pandas."""
    problem = find_too_much_text(cells, limit)
    if problem is not None:
        return InputError(problem, path=path, line=line)
    filled = {
        name: None if isinstance(each, float) and not math.isfinite(each) else each
        for name, each in cells.items()
    }
    try:
        clean = make_storable_json(filled)
    except ValueError as error:
        return InputError(str(error), path=path, line=line)
    assert isinstance(clean, dict)
    return clean


def _to_file_record(
    path: Path, stream: ByteStream, read: JsonRecord, strict: InputError | None
) -> FileRecord:
    end = stream.count_bytes_read() if stream.packed else read.end
    return FileRecord(path, read.line, read.record, end, read.size, read.found, strict)


def _read_whole_file_as_one_record(path: Path, stream: ByteStream) -> FileRecord:
    data = stream.file.read(DOCUMENT.most + 1)
    problem = DOCUMENT.find_size_problem(len(data))
    if problem is not None:
        raise InputError(problem, path=path)
    size = len(data)
    try:
        text = data.decode("utf-8-sig")
        data = b""  # not held while the text is parsed
        problem = find_too_many_values(text)
        if problem is not None:
            raise InputError(f"{problem}, or {DOCUMENT.way_out}", path=path)
        value = json.loads(
            text,
            parse_constant=_return_null_for_nan_or_infinity,
            object_pairs_hook=build_object_without_duplicate_keys,
        )
        clean = make_storable_json(value)
    except json.JSONDecodeError as error:
        ends = " where the file ends; it may be cut off" if error.pos >= len(text) - 2 else ""
        if error.msg == "Extra data":
            ends = (
                "; of several documents one behind the other, write each on a line: `jq -c . FILE`"
            )
        raise InputError(
            f"is not JSON: {error.msg.removesuffix(' at')} at character {error.colno}{ends}",
            path=path,
            line=error.lineno,
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start + 1} is not UTF-8; save the file as UTF-8", path=path
        ) from error
    except (RecursionError, ValueError, UnusableRecord) as error:
        raise InputError(str(error) or "is nested too deep", path=path) from error
    assert isinstance(clean, dict)  # it begins with a bracket
    return FileRecord(path, 1, None, stream.count_bytes_read(), size, clean)


def _return_null_for_nan_or_infinity(_: str) -> None:
    return None
