"""Row groups of Parquet whose pages are large, written anew with small ones.

What pyarrow holds of a file is then a few short values, whatever was in a page: long texts lie
beside the copy, and a marker stands where each was. Rows beyond `limits.COLUMNS_ROW` lose their
texts in the copy and are named, so that they are refused one by one.
"""

import secrets
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO, Any, Final

from faithtui.domain.limits import COLUMNS_ROW, MB
from faithtui.errors import InputError
from faithtui.formats.files.parquet_pages import (
    DATA,
    DATA_2,
    DICTIONARY,
    PLAIN,
    RLE,
    WAY_OUT,
    Chunk,
    ColumnValues,
    LeafValue,
    iterate_pages,
    make_damage_error,
)
from faithtui.formats.files.thrift import (
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    ThriftReader,
    write_struct,
    write_varint,
)

_LARGE_PAGE: Final = 8 * MB
"""A page beyond this is written anew in smaller ones."""

COPY_MOST: Final = 4 * 2**30
"""Bytes of a copy on the disk. A few kilobytes may stand for as much as they like."""

_ROWS_MOST: Final = 10_000_000
"""Of a row group that is copied: the size of each is kept."""

_LONG_TEXT: Final = 1 << 16
_NEW_PAGE: Final = MB
_NEW_PAGE_VALUES: Final = 20_000
_MAGIC: Final = b"PAR1"

NUMBERS_MOST: Final = 48 * MB
"""Bytes of large pages of numbers, one of each column: pyarrow holds them together, packed too."""

TEXTS_MOST: Final = 24 * MB
"""Bytes of pages of texts that are held together, one of each column; others are copied."""

_CODECS: Final = (
    "UNCOMPRESSED",
    "SNAPPY",
    "GZIP",
    "LZO",
    "BROTLI",
    "LZ4_HADOOP",
    "ZSTD",
    "LZ4",
)
"""Ways of packing by their number in a footer."""


@dataclass(frozen=True, slots=True)
class RowGroupPlan:
    """How a row group is to be read."""

    chunks: tuple[Chunk, ...]
    copied: frozenset[int]
    """Columns that need a copy with small pages; none: pyarrow reads the file itself."""
    rows_at_once: int
    """Rows whose values are held together, where there is no copy."""


class LongTexts:
    """Texts of a copy that lie beside it, each found by a marker that stands in its place."""

    def __init__(self) -> None:
        # Nobody can write a marker into a file, as nobody knows how one begins.
        self._start = secrets.token_hex(16)
        self._file = TemporaryFile()  # noqa: SIM115  # closed by `close`

    def close(self) -> None:
        """Throw them away."""
        self._file.close()

    def add(self, pieces: Iterator[bytes]) -> bytes:
        """Keep a text, and give its marker."""
        place = self._file.seek(0, 2)
        if place > COPY_MOST:
            raise _make_size_error()
        self._file.writelines(pieces)
        return f"{self._start} {place} {self._file.tell() - place}".encode()

    def find(self, text: str, errors: str = "strict") -> str:
        """Give the text that a marker stands for; of any other, the text itself.

        Args:
            text: A marker, or any other text.
            errors: What to do with bytes that are not UTF-8, as `bytes.decode` takes it.

        Raises:
            UnicodeDecodeError: It is not UTF-8, and `errors` is strict.
        """
        if not text.startswith(self._start):
            return text
        _, place, size = text.split()
        self._file.seek(int(place))
        return self._file.read(int(size)).decode("utf-8", errors)


@dataclass(frozen=True, slots=True)
class RowGroupCopy:
    """A file of one row group, all of whose pages are small."""

    file: IO[bytes]
    texts: LongTexts
    too_large: Mapping[int, int]
    """Rows, from 0, beyond the limit of a record: their size by number. Their texts are empty."""
    rows_at_once: int

    def close(self) -> None:
        """Throw it away."""
        self.file.close()
        self.texts.close()


class Footer:
    """What stands at the end of a Parquet file.

    pyarrow has read it too, but ends the process where it is asked for a packing it does not know.

    Args:
        file: The file.

    Raises:
        InputError: It is damaged.
    """

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        file.seek(-8 - size, 2)
        self._data = file.read(size)
        self._rest: Struct = {}
        self._groups = array("Q")
        """Where each row group is described. There may be thousands: they are not held."""
        try:
            self._read()
        except ValueError as error:
            raise make_damage_error("its footer") from error

    def _read(self) -> None:
        reader = ThriftReader(self._data)
        field, kind = reader.read_field_head(0)
        while field:
            if field == 4:
                _, count = reader.read_list_head()
                for _ in range(count):
                    self._groups.append(reader.place)
                    reader.read_struct()
            else:
                self._rest[field] = kind, reader.read(kind)
            field, kind = reader.read_field_head(field)

    def read_group(self, number: int) -> Struct:
        """Read what it says of a row group."""
        return ThriftReader(self._data, self._groups[number]).read_struct()

    def make_single_group_footer(self, group: Struct) -> Struct:
        """Make the footer of a file that has no row group but this one."""
        return {**self._rest, 3: group[3], 4: (LIST, (STRUCT, [group]))}


def plan_row_group(
    file: IO[bytes], footer: Footer, schema: Any, number: int, rows: int
) -> RowGroupPlan:
    """Look at the headers of the pages of a row group.

    Args:
        file: The Parquet file.
        footer: Its footer.
        schema: Its columns, as pyarrow says them.
        number: Which row group.
        rows: How many rows to hold at once where they are small.

    Raises:
        InputError: It is damaged, or a page cannot be read in bounded memory.
    """
    try:
        group = footer.read_group(number)
        rows = max(1, min(rows, _LARGE_PAGE * group[3][1] // max(1, group[2][1])))
        chunks = tuple(
            _describe_chunk(described[3][1], schema.column(column))
            for column, described in enumerate(group[1][1][1])
        )
    except (LookupError, TypeError, ValueError) as error:
        raise make_damage_error("its footer") from error
    copied = set()
    texts: dict[int, int] = {}
    """Columns of texts that pyarrow reads itself: each with the size of its largest page."""
    numbers: dict[str, int] = {}
    """Large pages of numbers by name of the column: each with its size."""
    for column, chunk in enumerate(chunks):
        pages = tuple(iterate_pages(file, chunk))
        largest = max((page.size for page in pages), default=0)
        total = sum(page.size for page in pages)
        words = sum(page.size for page in pages if page.kind == DICTIONARY)
        counts = [page.values for page in pages if page.kind in (DATA, DATA_2)]
        if not chunk.is_text:
            if largest > _LARGE_PAGE:
                numbers[chunk.name] = largest
        # Each value may be as long as all of the dictionary, and a row may hold all of a list.
        elif (
            largest > _LARGE_PAGE
            or words * sum(counts) > COLUMNS_ROW.most
            or (chunk.most_lists and total > COLUMNS_ROW.most)
        ):
            copied.add(column)
        else:
            texts[column] = largest
            # So many rows lie in so many pages, and in two more that they reach into. The last
            # page of all has what was left over.
            fewest = min(counts[:-1], default=rows)
            rows = min(rows, max(1, (_LARGE_PAGE // max(1, largest) - 2) * fewest))
    # pyarrow holds one page of each column together.
    for column in sorted(texts, key=texts.__getitem__, reverse=True):
        if sum(texts.values()) > TEXTS_MOST:
            copied.add(column)
            del texts[column]
    held = sum(numbers.values())
    if held > NUMBERS_MOST:
        raise InputError(
            f"row group {number + 1} has pages of numbers of {held:,} bytes, in the columns "
            f"{', '.join(map(repr, numbers))}, and may have {NUMBERS_MOST:,}; leave them out, or "
            f"{WAY_OUT}"
        )
    return RowGroupPlan(chunks, frozenset(copied), max(1, rows))


def _describe_chunk(data: Struct, column: Any) -> Chunk:
    start, size, codec = data[9][1], data[7][1], data[4][1]
    if _has_dictionary(data):
        start = data[11][1]
    if start < 0 or size < 0:
        raise ValueError("a column outside of the file")
    if not 0 <= codec < len(_CODECS):
        raise InputError(
            f"column {column.path!r} is packed in a way that nobody knows (number {codec}); the "
            "file is damaged, or newer than pyarrow: write it anew, packed as zstd"
        )
    return Chunk(
        start,
        size,
        _CODECS[codec],
        column.physical_type == "BYTE_ARRAY",
        column.max_repetition_level,
        column.max_definition_level,
        column.path,
    )


def _has_dictionary(data: Struct) -> bool:
    """Say whether a column begins with a dictionary; some writers say 0 where there is none."""
    return 11 in data and 0 < data[11][1] < data[9][1]


def copy_row_group(
    file: IO[bytes], footer: Footer, number: int, plan: RowGroupPlan
) -> RowGroupCopy:
    """Write a row group into a temporary file, with small pages; the caller closes it.

    Raises:
        InputError: It is damaged, too large, or written in a way that is not read.
        OSError: There is no room for it on the disk.
    """
    group = footer.read_group(number)
    rows = group[3][1]
    if rows > _ROWS_MOST:
        raise InputError(f"has a row group of {rows:,} rows with long texts; {WAY_OUT}")
    sizes = array("Q", bytes(8)) * rows
    target = TemporaryFile()  # noqa: SIM115  # the caller closes it
    texts = LongTexts()
    try:
        target.write(_MAGIC)
        for place, described in enumerate(group[1][1][1]):
            start = target.tell()
            chunk = plan.chunks[place]
            if place in plan.copied:
                unpacked = _write_small_pages(file, chunk, target, texts, sizes)
                _describe_copy(described, start, target.tell() - start, unpacked)
            else:
                _copy_bytes(file, chunk, target)
                _move_chunk(described, start - chunk.start)
        for unused in (5, 6, 7):  # where it begins, its packed size, its number
            group.pop(unused, None)
        end = target.tell()
        group[2] = I64, end
        target.write(write_struct(footer.make_single_group_footer(group)))
        target.write((target.tell() - end).to_bytes(4, "little") + _MAGIC)
        target.seek(0)
    except BaseException:
        target.close()
        texts.close()
        raise
    too_large = {row: size for row, size in enumerate(sizes) if size > COLUMNS_ROW.most}
    largest = max((size for size in sizes if size <= COLUMNS_ROW.most), default=0)
    rows_at_once = max(1, min(plan.rows_at_once, _LARGE_PAGE // max(1, largest)))
    return RowGroupCopy(target, texts, too_large, rows_at_once)


def _copy_bytes(file: IO[bytes], chunk: Chunk, target: IO[bytes]) -> None:
    file.seek(chunk.start)
    left = chunk.size
    while left:
        piece = file.read(min(left, MB))
        if not piece:
            raise InputError("ends too early; it may be cut off")
        left -= len(piece)
        target.write(piece)


def _move_chunk(described: Struct, by: int) -> None:
    data = described[3][1]
    if _has_dictionary(data):
        data[11] = I64, data[11][1] + by
    else:
        data.pop(11, None)
    data.pop(10, None)  # an index
    data[9] = I64, data[9][1] + by
    _forget_indexes(described)


def _describe_copy(described: Struct, start: int, size: int, unpacked: int) -> None:
    data = described[3][1]
    data[2] = LIST, (I32, [PLAIN, RLE])
    data[4] = I32, 0  # not packed
    data[6] = I64, unpacked
    data[7] = I64, size
    data[9] = I64, start
    for field in (10, 11, 12, 13, 16):  # the dictionary and statistics
        data.pop(field, None)
    _forget_indexes(described)


def _forget_indexes(described: Struct) -> None:
    described[2] = I64, 0
    for field in (4, 5, 6, 7):
        described.pop(field, None)
    for field in (14, 15):  # a filter by hash
        described[3][1].pop(field, None)


def _write_small_pages(
    file: IO[bytes], chunk: Chunk, target: IO[bytes], texts: LongTexts, sizes: Any
) -> int:
    """Write the values of a chunk; texts of rows that are too large are empty.

    Args:
        file: The file they are read from.
        chunk: Where they lie in it.
        target: Where to.
        texts: Where long ones go.
        sizes: Bytes of each row so far, to which those of this column are added.

    Returns:
        Bytes of the pages without their headers.
    """
    page = _SmallPage(chunk, target)
    row = -1
    with ColumnValues(file, chunk) as values:
        for value in values:
            row += not value.lists
            if not 0 <= row < len(sizes):
                raise InputError(f"column {chunk.name!r} has more rows than the file")
            sizes[row] += value.size
            if sizes[row] > COLUMNS_ROW.most:
                text = b""
            elif value.size > _LONG_TEXT:
                text = texts.add(value.read())
            else:
                text = b"".join(value.read())
            page.add(value, text)
    page.write()
    return page.written


class _SmallPage:
    """The page that is being filled."""

    def __init__(self, chunk: Chunk, target: IO[bytes]) -> None:
        self._chunk = chunk
        self._target = target
        self._lists = bytearray()
        self._defined = bytearray()
        self._values: list[bytes] = []
        self._size = 0
        self.written = 0
        """Bytes of all pages so far."""

    def add(self, value: LeafValue, text: bytes) -> None:
        """Add a value, with this text where it is not null."""
        self._lists.append(value.lists)
        self._defined.append(value.defined)
        if value.defined == self._chunk.most_defined:
            self._values += (len(text).to_bytes(4, "little"), text)
            self._size += 4 + len(text)
        if self._size > _NEW_PAGE or len(self._lists) >= _NEW_PAGE_VALUES:
            self.write()

    def write(self) -> None:
        """Write what is there, if anything, and begin another page."""
        count = len(self._lists)
        if not count:
            return
        levels = b"".join(
            _write_levels(levels, most)
            for levels, most in (
                (self._lists, self._chunk.most_lists),
                (self._defined, self._chunk.most_defined),
            )
            if most
        )
        size = len(levels) + self._size
        data: Struct = {1: (I32, count), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
        head = {1: (I32, DATA), 2: (I32, size), 3: (I32, size), 5: (STRUCT, data)}
        self._target.write(write_struct(head) + levels)
        self._target.writelines(self._values)
        self.written += size
        if self._target.tell() > COPY_MOST:
            raise _make_size_error()
        self._lists.clear()
        self._defined.clear()
        self._values.clear()
        self._size = 0


def _write_levels(levels: bytearray, most: int) -> bytes:
    """Write numbers of up to eight bits as runs, with their size before them."""
    assert most < 256
    runs = b"".join(
        write_varint(sum(1 for _ in run) << 1) + bytes([level]) for level, run in groupby(levels)
    )
    return len(runs).to_bytes(4, "little") + runs


def _make_size_error() -> InputError:
    return InputError(
        f"has more than {COPY_MOST:,} bytes of text in one row group once it is unpacked; {WAY_OUT}"
    )
