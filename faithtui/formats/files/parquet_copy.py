"""Row groups of Parquet whose pages are large, written anew with small ones.

What pyarrow holds of a file is then a few short values, whatever was in a page: long texts lie
beside the copy, and a marker stands where each was. Rows beyond `limits.COLUMNS_ROW` lose their
texts in the copy and are named, so that they are refused one by one.
"""

import hashlib
import secrets
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO, Any, Final

from faithtui.domain.limits import COLUMNS_ROW, MB, RECORD_VALUES
from faithtui.errors import InputError
from faithtui.formats.files.parquet_deltas import DELTA_LENGTHS, DELTA_TEXTS
from faithtui.formats.files.parquet_pages import (
    AT_ONCE,
    DATA,
    DATA_2,
    DICTIONARY,
    IN_PIECES,
    PAGE_MOST,
    PLAIN,
    READABLE,
    READABLE_TEXTS,
    RLE,
    WAY_OUT,
    WAY_OUT_OF_ENCODING,
    Chunk,
    ColumnValues,
    LeafValue,
    NumberPart,
    iterate_page_headers,
    make_damage_error,
)
from faithtui.formats.files.thrift import (
    I32,
    I64,
    LIST,
    STRUCT,
    Struct,
    ThriftReader,
    encode_struct,
    encode_varint,
)

_LARGE_PAGE: Final = 8 * MB
"""A page beyond this is written anew in smaller ones."""

COPY_PIECE: Final = 8 * MB
"""Bytes that are copied at once. An object store is asked for each piece, and a question takes as
long as some megabytes of the answer."""

COPY_MOST: Final = 4 * 2**30
"""Bytes of a copy on the disk. A few kilobytes may stand for as much as they like."""

_ROWS_BYTES: Final = 2 * MB
"""Bytes of rows that are held together, about; pyarrow takes several times as many."""

_ROWS_MOST: Final = 10_000_000
"""Of a row group that is copied: the size of each is kept."""

_LONG_TEXT: Final = 1 << 16
_NEW_PAGE: Final = MB
_NEW_PAGE_LEAST: Final = 1 << 12
_NEW_PAGE_VALUES: Final = 20_000
_MAGIC: Final = b"PAR1"
_FOOTER_END: Final = b"size" + _MAGIC
"""How many bytes stand behind a footer: its size, and the magic number."""

HELD_MOST: Final = 24 * MB
"""Bytes of pages that pyarrow holds together, one of each column, packed and unpacked. Pages of
texts count twice, as it holds their texts a second time; of more, the largest are copied."""

NOT_COPIED_MOST: Final = 48 * MB
"""Bytes of such pages that are written in a way that cannot be copied."""

_NUMBER_WIDTHS: Final = {"INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value by physical type."""

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
    """Rows whose values are held together."""
    new_page: int
    """Bytes of a page of the copy."""


class LongTexts:
    """Texts of a copy that lie beside it, each found by a marker that stands in its place."""

    def __init__(self) -> None:
        # Nobody can write a marker into a file, as nobody knows how one begins.
        self._start = secrets.token_hex(16)
        self._file = TemporaryFile()  # noqa: SIM115  # closed by `close`

    def close(self) -> None:
        """Throw them away."""
        self._file.close()

    def save_text_for_marker(self, pieces: Iterator[bytes]) -> bytes:
        """Keep a text, and give its marker."""
        place = self._file.seek(0, 2)
        if place > COPY_MOST:
            raise _make_too_much_text_error()
        self._file.writelines(pieces)
        return f"{self._start} {place} {self._file.tell() - place}".encode()

    def resolve_marker(self, text: str, errors: str = "strict") -> str:
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


class _GroupPlaces:
    """Where the row groups of a footer are described. There may be thousands: they are not held."""

    def __init__(self) -> None:
        self.starts = array("Q")
        self.rows: list[int | None] = []
        """What each claims to have; None: no number."""
        self.end = 0
        """Where what follows them begins."""
        self.lists = 0
        """How many lists of row groups there are; a sound footer has one."""


_known_places: Final[dict[bytes, _GroupPlaces]] = {}
"""Of the footers that were read last, by digest: each shard of a file has the same one."""

_KNOWN_FOOTERS: Final = 4
"""How many are remembered: a shard has one of its own beside that of the file."""

_KNOWN_GROUPS: Final = 100_000
"""Row groups of a footer that is remembered so, at most."""


class Footer:
    """What stands at the end of a Parquet file.

    pyarrow has read it too, but ends the process where it is asked for a packing it does not know.

    Args:
        file: The file.

    Raises:
        InputError: It is damaged.
    """

    def __init__(self, file: IO[bytes]) -> None:
        end = file.seek(0, 2)
        file.seek(max(0, end - len(_FOOTER_END)))
        size, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic != _MAGIC or size > end - len(_MAGIC) - len(_FOOTER_END):
            raise make_damage_error("its footer")
        file.seek(end - len(_FOOTER_END) - size)
        self._data = file.read(size)
        self._rest: Struct = {}
        self._groups = _GroupPlaces()
        try:
            self._read_and_locate_row_groups()
        except ValueError as error:
            raise make_damage_error("its footer") from error

    def _read_and_locate_row_groups(self) -> None:
        digest = hashlib.sha256(self._data).digest()
        known = _known_places.pop(digest, None)
        reader = ThriftReader(self._data)
        number, kind = reader.read_field_head(0)
        while number:
            if number == 4 and known is not None:
                self._groups = known
                reader.place = known.end
            elif number == 4:
                self._locate_row_groups(reader)
            else:
                self._rest[number] = kind, reader.read(kind)
            number, kind = reader.read_field_head(number)
        if self._groups.lists == 1 and len(self._groups.starts) <= _KNOWN_GROUPS:
            if len(_known_places) >= _KNOWN_FOOTERS:
                del _known_places[next(iter(_known_places))]  # used longest ago
            _known_places[digest] = self._groups

    def _locate_row_groups(self, reader: ThriftReader) -> None:
        groups = self._groups
        _, count = reader.read_list_head()
        for _ in range(count):
            groups.starts.append(reader.place)
            groups.rows.append(_read_row_count_and_skip_group(reader))
        groups.end = reader.place
        groups.lists += 1

    def read_group_metadata(self, number: int) -> Struct:
        """Read what it says of a row group."""
        return ThriftReader(self._data, self._groups.starts[number]).read_struct()

    def list_row_counts(self) -> list[int]:
        """Say how many rows each row group claims to have.

        Raises:
            InputError: It is damaged.
        """
        counts = [each for each in self._groups.rows if each is not None and each >= 0]
        if len(counts) < len(self._groups.rows):
            raise make_damage_error("its footer")
        return counts

    def make_footer_of_groups(self, groups: Sequence[Struct]) -> Struct:
        """Make the footer of a file that has no row groups but these."""
        rows = I64, sum(group[3][1] for group in groups)
        return {**self._rest, 3: rows, 4: (LIST, (STRUCT, groups))}


def _read_row_count_and_skip_group(reader: ThriftReader) -> int | None:
    """Read how many rows a row group claims to have, and go past it; None: it is no number."""
    rows = None
    number, kind = reader.read_field_head(0)
    while number or kind:
        if number == 3 and kind == I64:
            rows = reader.read(kind)
        else:
            reader.skip(kind)
        number, kind = reader.read_field_head(number)
    return rows


@dataclass(frozen=True, slots=True)
class _ColumnPages:
    """What the headers of the pages of a column in one row group say."""

    chunk: Chunk
    largest: int
    """Bytes of the largest page, unpacked."""
    total: int
    """Bytes of all pages."""
    words: int
    """Bytes of the dictionary."""
    counts: tuple[int, ...]
    """Values of each page of data."""
    encodings: frozenset[int]
    """Of the pages of data."""

    @property
    def value_count(self) -> int:
        """Values of all pages."""
        return sum(self.counts)

    @property
    def can_be_copied(self) -> bool:
        """Whether it is written in a way that is read here."""
        chunk = self.chunk
        return (
            (chunk.is_text or (chunk.width > 0 and self.words <= AT_ONCE))
            and self.encodings <= frozenset(READABLE_TEXTS if chunk.is_text else READABLE)
            and (self.largest <= PAGE_MOST or chunk.codec in ("UNCOMPRESSED", *IN_PIECES))
        )

    @property
    def must_be_copied(self) -> bool:
        """Whether pyarrow might hold far more of it than a page has.

        Each value may be as long as all of the dictionary, a row may hold all of a list, and a text
        that begins like the one before it is as long as both.
        """
        if not self.chunk.is_text:
            return False
        return (
            self.largest > _LARGE_PAGE
            or self.words * self.value_count > COLUMNS_ROW.most
            or (self.chunk.most_lists > 0 and self.total > COLUMNS_ROW.most)
            or DELTA_TEXTS in self.encodings
            or (DELTA_LENGTHS in self.encodings and 4 * max(self.counts) > _LARGE_PAGE)
        )

    @property
    def bytes_held_by_pyarrow(self) -> int:
        """Bytes that pyarrow holds of it: texts twice, and all of a list."""
        if not self.chunk.is_text:
            return self.largest
        of_lists = self.total + self.words * self.value_count if self.chunk.most_lists else 0
        return 2 * self.largest + of_lists

    @property
    def most_bytes_of_single_value(self) -> int:
        """Bytes of a value that stands for itself, at most: a number, or a word of the dictionary.

        What is in lists, and texts that stand in the page itself, are bounded by the page.
        """
        if self.chunk.most_lists:
            return 0
        return self.words if self.chunk.is_text else self.chunk.width

    def limit_rows(self, rows: int) -> int:
        """Say how many of so many rows take as much as a large page, at most.

        So many rows lie in so many pages, and in two more that they reach into. The last page of
        all has what was left over.
        """
        if not self.chunk.is_text:
            return rows
        fewest = min(self.counts[:-1], default=rows)
        return min(rows, max(1, (_LARGE_PAGE // max(1, self.largest) - 2) * fewest))


def _measure_pages(file: IO[bytes], chunk: Chunk) -> _ColumnPages:
    sizes, counts, encodings = array("Q"), array("Q"), set()
    words = 0
    for page in iterate_page_headers(file, chunk):
        sizes.append(page.size)
        if page.kind == DICTIONARY:
            words += page.size
        elif page.kind in (DATA, DATA_2):
            counts.append(page.values)
            encodings.add(page.encoding)
    return _ColumnPages(
        chunk, max(sizes, default=0), sum(sizes), words, tuple(counts), frozenset(encodings)
    )


def plan_row_group_copy(
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
        group = footer.read_group_metadata(number)
        rows = max(1, min(rows, _ROWS_BYTES * group[3][1] // max(1, group[2][1])))
        chunks = tuple(
            _make_chunk(described[3][1], schema.column(column))
            for column, described in enumerate(group[1][1][1])
        )
    except (LookupError, TypeError, ValueError) as error:
        raise make_damage_error("its footer") from error
    columns = [_measure_pages(file, chunk) for chunk in chunks]
    copied = {number for number, column in enumerate(columns) if column.must_be_copied}
    held = {
        number: each.bytes_held_by_pyarrow
        for number, each in enumerate(columns)
        if number not in copied
    }
    """Columns that pyarrow reads itself: each with what its largest page counts."""
    lists = [(each.chunk, each.value_count) for each in columns if each.chunk.most_lists]
    """Columns of lists: each with all its values."""
    for number in held:
        rows = columns[number].limit_rows(rows)
    row_bytes = sum(columns[number].most_bytes_of_single_value for number in held)
    rows = min(rows, _LARGE_PAGE // max(1, row_bytes))
    try:
        rows = min(rows, _compute_max_rows_per_batch(file, lists))
    except InputError as error:
        raise InputError(f"row group {number + 1} {error.reason}") from error
    # pyarrow holds one page of each column together.
    for column in sorted(held, key=held.__getitem__, reverse=True):
        if sum(held.values()) > HELD_MOST and columns[column].can_be_copied:
            copied.add(column)
            del held[column]
    if sum(held.values()) > NOT_COPIED_MOST:
        names = ", ".join(repr(chunks[column].name) for column in held)
        raise InputError(
            f"row group {number + 1} has pages of {sum(held.values()):,} bytes, in the columns "
            f"{names}, and may have {NOT_COPIED_MOST:,}; leave them out, or {WAY_OUT_OF_ENCODING}"
        )
    new_page = max(_NEW_PAGE_LEAST, min(_NEW_PAGE, _LARGE_PAGE // max(1, len(chunks))))
    return RowGroupPlan(chunks, frozenset(copied), max(1, rows), new_page)


def _compute_max_rows_per_batch(file: IO[bytes], lists: Sequence[tuple[Chunk, int]]) -> int:
    """Say how many rows of lists of numbers may be held together, if all were as long as any is.

    Args:
        file: The Parquet file.
        lists: Columns of lists, each with all its values.

    Raises:
        InputError: It is damaged, or rows have more values than a record may have.
    """

    def count_bytes() -> int:
        return sum(count * (chunk.width or not chunk.is_text) for chunk, count in lists)

    if sum(count for _, count in lists) > RECORD_VALUES.most or count_bytes() > _LARGE_PAGE:
        lists = [(chunk, _count_longest_row_values(file, chunk)) for chunk, _ in lists]
    problem = RECORD_VALUES.find_size_problem(sum(count for _, count in lists))
    if problem is not None:
        names = ", ".join(repr(chunk.name) for chunk, _ in lists)
        raise InputError(f"has rows that are too long, in the columns {names}: {problem}")
    return max(1, _ROWS_BYTES // max(1, count_bytes()))


def _count_longest_row_values(file: IO[bytes], chunk: Chunk) -> int:
    with ColumnValues(file, chunk) as values:
        return values.count_longest_row_values()


def _locate_chunk(data: Struct) -> tuple[int, int]:
    """Say where the pages of a column begin in the file, and how many bytes they take."""
    start, size = data[9][1], data[7][1]
    if _has_dictionary(data):
        start = data[11][1]
    if not data[5][1]:
        # Without values it has no page that pyarrow reads, and what is said of its place may be
        # anything: pyarrow writes that its data begins at 0.
        start = size = 0
    if start < 0 or size < 0:
        raise ValueError("a column outside of the file")
    return start, size


def _make_chunk(data: Struct, column: Any) -> Chunk:
    start, size = _locate_chunk(data)
    codec = data[4][1]
    width = _NUMBER_WIDTHS.get(column.physical_type, 0)
    if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
        width = column.length
    if not 0 <= codec < len(_CODECS):
        raise InputError(
            f"column {column.path!r} is packed in a way that nobody knows (number {codec}); the "
            "file is damaged, or newer than pyarrow: write it anew, packed as zstd"
        )
    return Chunk(
        start,
        size,
        _CODECS[codec],
        width,
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
    group = footer.read_group_metadata(number)
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
                page = _SmallPage(chunk, target, plan.new_page)
                if chunk.is_text:
                    _write_texts_in_small_pages(file, page, texts, sizes)
                else:
                    _write_numbers_in_small_pages(file, page, plan.new_page, rows)
                _update_copied_chunk_metadata(described, start, target.tell() - start, page.written)
            else:
                _copy_bytes(file, chunk.start, chunk.size, target)
                _shift_chunk_offsets_and_remove_indexes(described, start - chunk.start)
        _remove_offsets_of_row_group(group)
        group[2] = I64, target.tell()
        _write_footer(target, footer.make_footer_of_groups([group]))
        target.seek(0)
    except BaseException:
        target.close()
        texts.close()
        raise
    too_large = {row: size for row, size in enumerate(sizes) if size > COLUMNS_ROW.most}
    largest = max((size for size in sizes if size <= COLUMNS_ROW.most), default=0)
    rows_at_once = max(1, min(plan.rows_at_once, _LARGE_PAGE // max(1, largest)))
    return RowGroupCopy(target, texts, too_large, rows_at_once)


def copy_row_groups(file: IO[bytes], numbers: Iterable[int], target: IO[bytes]) -> None:
    """Write row groups into a file of their own, as they are: whoever reads it finds the damage.

    No page is unpacked, whatever it claims to hold.

    Args:
        file: A Parquet file, of which no more than these row groups and the footer is read.
        numbers: Which ones, from 0.
        target: An empty file.

    Raises:
        InputError: The footer is damaged.
        OSError: The system does not give the bytes, or has no room for the copy.
    """
    footer = Footer(file)
    left = file.seek(0, 2)
    groups: list[Struct] = []
    target.write(_MAGIC)
    for number in numbers:
        try:
            group = footer.read_group_metadata(number)
            columns = group[1][1][1]
            places = [_locate_chunk(column[3][1]) for column in columns]
            left -= sum(size for _, size in places)
            # Columns that overlap could stand for more bytes than any disk has.
            if left < 0 or not isinstance(group[3][1], int):
                raise make_damage_error("its footer")
            for column, (start, size) in zip(columns, places, strict=True):
                by = target.tell() - start
                _copy_bytes(file, start, size, target)
                _shift_chunk_offsets_and_remove_indexes(column, by)
        except (LookupError, TypeError, ValueError) as error:
            raise make_damage_error("its footer") from error
        _remove_offsets_of_row_group(group)
        groups.append(group)
    _write_footer(target, footer.make_footer_of_groups(groups))


def _remove_offsets_of_row_group(group: Struct) -> None:
    for unused in (5, 6, 7):  # where it begins, its packed size, its number
        group.pop(unused, None)


def _write_footer(target: IO[bytes], footer: Struct) -> None:
    size = target.write(encode_struct(footer))
    target.write(size.to_bytes(4, "little") + _MAGIC)


def _copy_bytes(file: IO[bytes], start: int, size: int, target: IO[bytes]) -> None:
    file.seek(start)
    left = size
    while left:
        piece = file.read(min(left, COPY_PIECE))
        if not piece:
            raise InputError("ends too early; it may be cut off")
        left -= len(piece)
        target.write(piece)


def _shift_chunk_offsets_and_remove_indexes(described: Struct, by: int) -> None:
    data = described[3][1]
    if _has_dictionary(data):
        data[11] = I64, data[11][1] + by
    else:
        data.pop(11, None)
    data.pop(10, None)  # an index
    data[9] = I64, data[9][1] + by
    _remove_index_metadata(described)


def _update_copied_chunk_metadata(described: Struct, start: int, size: int, unpacked: int) -> None:
    data = described[3][1]
    data[2] = LIST, (I32, [PLAIN, RLE])
    data[4] = I32, 0  # not packed
    data[6] = I64, unpacked
    data[7] = I64, size
    data[9] = I64, start
    for field in (10, 11, 12, 13, 16):  # the dictionary and statistics
        data.pop(field, None)
    _remove_index_metadata(described)


def _remove_index_metadata(described: Struct) -> None:
    described[2] = I64, 0
    for field in (4, 5, 6, 7):
        described.pop(field, None)
    for field in (14, 15):  # a filter by hash
        described[3][1].pop(field, None)


def _write_texts_in_small_pages(
    file: IO[bytes], page: "_SmallPage", texts: LongTexts, sizes: Any
) -> None:
    """Write the values of a chunk; texts of rows that are too large are empty.

    Args:
        file: The file they are read from.
        page: Where to.
        texts: Where long ones go.
        sizes: Bytes of each row so far, to which those of this column are added.
    """
    row = -1
    with ColumnValues(file, page.chunk) as values:
        for value in values:
            row += not value.lists
            if not 0 <= row < len(sizes):
                raise _make_too_many_rows_error(page.chunk)
            sizes[row] += value.size
            if sizes[row] > COLUMNS_ROW.most:
                text = b""
            elif value.size > _LONG_TEXT:
                text = texts.save_text_for_marker(value.read())
            else:
                text = b"".join(value.read())
            page.add(value, text)
    page.write()


def _write_numbers_in_small_pages(
    file: IO[bytes], page: "_SmallPage", at_once: int, rows: int
) -> None:
    """Write the values of a chunk of numbers, which has so many rows, so many bytes at a time."""
    with ColumnValues(file, page.chunk) as values:
        for part in values.iterate_numbers(at_once):
            rows -= part.lists.count(0)
            if rows < 0:
                raise _make_too_many_rows_error(page.chunk)
            page.add_numbers(part)
    page.write()


def _make_too_many_rows_error(chunk: Chunk) -> InputError:
    return InputError(f"column {chunk.name!r} has more rows than the file")


class _SmallPage:
    """The page that is being filled."""

    def __init__(self, chunk: Chunk, target: IO[bytes], most: int) -> None:
        self.chunk = chunk
        self._target = target
        self._most = most
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
        if value.defined == self.chunk.most_defined:
            self._values += (len(text).to_bytes(4, "little"), text)
            self._size += 4 + len(text)
        self._write_if_full()

    def add_numbers(self, part: NumberPart) -> None:
        """Add some numbers."""
        self._lists += part.lists
        self._defined += part.defined
        self._values.append(part.values)
        self._size += len(part.values)
        self._write_if_full()

    def _write_if_full(self) -> None:
        if self._size > self._most or len(self._lists) >= _NEW_PAGE_VALUES:
            self.write()

    def write(self) -> None:
        """Write what is there, if anything, and begin another page."""
        count = len(self._lists)
        if not count:
            return
        levels = b"".join(
            _encode_levels(levels, most)
            for levels, most in (
                (self._lists, self.chunk.most_lists),
                (self._defined, self.chunk.most_defined),
            )
            if most
        )
        size = len(levels) + self._size
        data: Struct = {1: (I32, count), 2: (I32, PLAIN), 3: (I32, RLE), 4: (I32, RLE)}
        head = {1: (I32, DATA), 2: (I32, size), 3: (I32, size), 5: (STRUCT, data)}
        self._target.write(encode_struct(head) + levels)
        self._target.writelines(self._values)
        self.written += size
        if self._target.tell() > COPY_MOST:
            raise _make_too_much_text_error()
        self._lists.clear()
        self._defined.clear()
        self._values.clear()
        self._size = 0


def _encode_levels(levels: bytearray, most: int) -> bytes:
    """Write numbers of up to eight bits as runs, with their size before them."""
    assert most < 256
    runs = b"".join(
        encode_varint(sum(1 for _ in run) << 1) + bytes([level]) for level, run in groupby(levels)
    )
    return len(runs).to_bytes(4, "little") + runs


def _make_too_much_text_error() -> InputError:
    return InputError(
        f"has more than {COPY_MOST:,} bytes of text in one row group once it is unpacked; {WAY_OUT}"
    )
