"""Pages of a Parquet file, value by value, however large they are.

pyarrow unpacks a page as a whole, and writers put a thousand values into one, whatever their size:
300 texts of 1 MB became a page of 300 MB and more than a gigabyte of memory. Here nothing is held
but one text, or some numbers.

Source:
    https://parquet.apache.org/docs/file-format/ and
    https://github.com/google/snappy/blob/main/format_description.txt
"""

import io
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, TypeVar

from faithtui.domain.limits import MB
from faithtui.errors import InputError
from faithtui.formats.files.byte_streams import PieceStream, iterate_pieces, read_exactly
from faithtui.formats.files.parquet_deltas import (
    DELTA_LENGTHS,
    DELTA_TEXTS,
    DELTA_VALUES_MOST,
    iterate_texts_by_difference,
    iterate_texts_by_length,
)
from faithtui.formats.files.thrift import ThriftReader

DATA: Final = 0
DICTIONARY: Final = 2
DATA_2: Final = 3
"""Kinds of page. Of the second kind of data, what says which values are null is not packed."""

PLAIN: Final = 0
_BY_DICTIONARY: Final = (2, 8)
"""How values are written."""

READABLE: Final = (PLAIN, *_BY_DICTIONARY)
"""Those that are read here."""

READABLE_TEXTS: Final = (*READABLE, DELTA_LENGTHS, DELTA_TEXTS)
"""Those of texts that are read here."""

RLE: Final = 3

_PIECE: Final = 1 << 16
_HEADER: Final = 1 << 10
_HEADER_MOST: Final = 16 * MB
"""A header holds the least and the largest value of its page, which may be long."""

AT_ONCE: Final = 8 * MB
"""A packed page up to here is unpacked at once."""

_PAGES_MOST: Final = 100_000
"""Of one column in one row group: a hundred gigabytes, as pages are written."""

_LEVELS_MOST: Final = 16 * MB
"""Bytes that say of a page where lists begin, or which values are null, or which word each is."""

_NUMBERS_AT_ONCE: Final = 1 << 14
_WINDOW: Final = 1 << 20
"""How far back snappy may point; those who write it point 64 KB back at most."""

IN_PIECES: Final = ("SNAPPY", "ZSTD", "GZIP", "BROTLI")

PAGE_MOST: Final = 32 * MB
"""A page beyond this must be unpacked in pieces."""

WAY_OUT: Final = "write the file with smaller row groups, or as JSON lines"

WAY_OUT_OF_ENCODING: Final = (
    "write the file in another encoding (plain, or by dictionary), with smaller pages, or as JSON "
    "lines"
)


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Page:
    """Where a page lies, and what its header says."""

    kind: int
    values: int
    """Values in it, nulls among them."""
    size: int
    """Bytes, unpacked."""
    packed_size: int
    place: int
    """Where its bytes begin in the file, after its header."""
    encoding: int
    level_sizes: tuple[int, int] | None
    """Bytes that say where lists begin, and which values are null, of the second kind of data."""
    is_packed: bool
    """Whether its values are; of the second kind of data only."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The pages of one column in one row group."""

    start: int
    size: int
    """Bytes in the file."""
    codec: str
    width: int
    """Bytes of each value; 0 of texts, of bytes of any length and of truth values."""
    is_text: bool
    """Whether its values are texts or bytes of any length."""
    most_lists: int
    """Lists within lists: 0 for a column of single values."""
    most_defined: int
    """The level of definition of a value that is not null."""
    name: str


def iterate_page_headers(file: IO[bytes], chunk: Chunk) -> Iterator[Page]:
    """Read the headers of the pages of a chunk, in order.

    Raises:
        InputError: It is damaged.
    """
    place = chunk.start
    for _ in range(_PAGES_MOST):
        if place >= chunk.start + chunk.size:
            return
        header, begin = _read_header(file, place)
        try:
            page = _make_page(header, begin)
        except (KeyError, TypeError, IndexError) as error:
            raise make_damage_error("a page without its sizes") from error
        if min(page.packed_size, page.size, page.values, *(page.level_sizes or (0,))) < 0:
            raise make_damage_error("a page of a negative size")
        yield page
        place = begin + page.packed_size
    raise InputError(f"column {chunk.name!r} has more than {_PAGES_MOST:,} pages; {WAY_OUT}")


def _read_header(file: IO[bytes], place: int) -> tuple[dict[int, Any], int]:
    size = _HEADER
    while True:
        file.seek(place)
        reader = ThriftReader(file.read(size))
        try:
            found = reader.read_struct()
        except ValueError as error:
            if size >= _HEADER_MOST:
                raise make_damage_error("the header of a page") from error
            size = min(size * 8, _HEADER_MOST)
            continue
        return {number: value for number, (_, value) in found.items()}, place + reader.place


def _make_page(header: dict[int, Any], begin: int) -> Page:
    kind, size, packed = header[1], header[2], header[3]
    if kind == DATA_2:
        data = header[8]
        levels = data[6][1], data[5][1]
        is_packed = data[7][1] if 7 in data else True
        return Page(kind, data[1][1], size, packed, begin, data[4][1], levels, is_packed)
    if kind in (DATA, DICTIONARY):
        data = header[5 if kind == DATA else 7]
        return Page(kind, data[1][1], size, packed, begin, data[2][1], None, True)
    return Page(kind, 0, size, packed, begin, PLAIN, None, False)  # an index, which is passed over


@dataclass(slots=True)
class LeafValue:
    """One value of a column, with its levels."""

    lists: int
    """0: it begins a row."""
    defined: int
    size: int
    """Bytes; 0 of a null."""
    read: Callable[[], Iterator[bytes]]
    """Read it in pieces, whole or not at all: what is not read is passed over."""


@dataclass(slots=True)
class NumberPart:
    """Some values of a column of numbers, one after the other."""

    lists: bytes
    """Of each value its level in lists; 0: it begins a row."""
    defined: bytes
    values: bytes
    """Those that are not null."""


class ColumnValues:
    """All values of a chunk, in order; used once, and as a context.

    Args:
        file: The Parquet file.
        chunk: The chunk.
    """

    def __init__(self, file: IO[bytes], chunk: Chunk) -> None:
        self._file = file
        self._chunk = chunk
        self._words = SpooledTemporaryFile(max_size=AT_ONCE)  # noqa: SIM115  # closed on exit
        self._ends = array("Q", [0])
        self._last: Any = SpooledTemporaryFile(max_size=AT_ONCE)  # noqa: SIM115  # closed on exit

    def __enter__(self) -> "ColumnValues":
        """Give it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Throw away what it keeps of texts."""
        self._words.close()
        self._last.close()

    def __iter__(self) -> Iterator[LeafValue]:
        """Give text by text.

        Raises:
            InputError: It is damaged, or written in a way that is not read here.
        """
        return self._iterate_values_of_all_pages(self._read_text_dictionary, self._read_text_values)

    def iterate_numbers(self, size: int) -> Iterator[NumberPart]:
        """Give some numbers at a time.

        Args:
            size: About how many bytes of them.

        Raises:
            InputError: It is damaged, or written in a way that is not read here.
        """
        at_once = max(1, min(_NUMBERS_AT_ONCE, size // self._chunk.width))
        return self._iterate_values_of_all_pages(
            self._read_number_dictionary, partial(self._read_numbers, at_once=at_once)
        )

    def count_longest_row_values(self) -> int:
        """Count the values of the row that has most, in all its lists together.

        Raises:
            InputError: It is damaged.
        """
        longest = row = 0
        for lists in self._iterate_values_of_all_pages(lambda _: None, self._read_list_levels):
            for level, count in lists:
                longest = max(longest, row)
                row = row + count if level else 1
        return max(longest, row)

    def _iterate_values_of_all_pages(
        self, read_dictionary: Callable[[Page], None], read_page: Callable[[Page], Iterator[_T]]
    ) -> Iterator[_T]:
        for page in iterate_page_headers(self._file, self._chunk):
            try:
                if page.kind == DICTIONARY:
                    read_dictionary(page)
                elif page.kind in (DATA, DATA_2):
                    yield from read_page(page)
            except (IndexError, ValueError) as error:
                raise make_damage_error(f"column {self._chunk.name!r}") from error

    def _read_text_dictionary(self, page: Page) -> None:
        body = self._open_body(page.place, page.packed_size, page.size, is_packed=True)
        for _ in range(page.values):
            for piece in iterate_pieces(body, _read_length(body)):
                self._words.write(piece)
            self._ends.append(self._words.tell())

    def _read_number_dictionary(self, page: Page) -> None:
        body = self._open_body(page.place, page.packed_size, page.size, is_packed=True)
        for piece in iterate_pieces(body, page.values * self._chunk.width):
            self._words.write(piece)

    def _read_text_values(self, page: Page) -> Iterator[LeafValue]:
        chunk = self._chunk
        lists_levels, defined_levels, body = self._open_levels_and_values(page)
        if page.encoding == PLAIN:
            sized = _iterate_plain_texts(body)
        elif page.encoding in _BY_DICTIONARY:
            sized = self._iterate_dictionary_texts(body, page.values)
        elif page.encoding in (DELTA_LENGTHS, DELTA_TEXTS):
            sized = self._iterate_delta_texts(body, page)
        else:
            raise self._make_encoding_error(page)
        for lists, defined in zip(
            _expand_runs(lists_levels), _expand_runs(defined_levels), strict=True
        ):
            if defined < chunk.most_defined:
                yield LeafValue(lists, defined, 0, _read_nothing)
                continue
            size, source = next(sized)
            rest = [size]

            def read(source: IO[bytes] = source, rest: list[int] = rest) -> Iterator[bytes]:
                return iterate_pieces(source, rest.pop())

            yield LeafValue(lists, defined, size, read)
            if rest:
                for _ in iterate_pieces(source, size):
                    pass

    def _iterate_delta_texts(self, body: IO[bytes], page: Page) -> Iterator[tuple[int, IO[bytes]]]:
        if page.values > DELTA_VALUES_MOST:
            raise InputError(
                f"column {self._chunk.name!r} has a page of {page.values:,} texts, and one in "
                f"encoding {page.encoding} may have {DELTA_VALUES_MOST:,}; {WAY_OUT_OF_ENCODING}"
            )
        if page.encoding == DELTA_LENGTHS:
            return iterate_texts_by_length(body, page.values)
        self._last.seek(0)
        self._last.truncate()
        return iterate_texts_by_difference(body, page.values, self._last)

    def _read_numbers(self, page: Page, *, at_once: int) -> Iterator[NumberPart]:
        chunk = self._chunk
        lists_levels, defined_levels, body = self._open_levels_and_values(page)
        indexes: Iterator[int] | None = None
        if page.encoding in _BY_DICTIONARY:
            indexes = self._iterate_indexes(body, page.values)
        elif page.encoding != PLAIN:
            raise self._make_encoding_error(page)
        every_list, every_defined = map(_expand_runs, (lists_levels, defined_levels))
        for start in range(0, page.values, at_once):
            count = min(at_once, page.values - start)
            lists = bytes(islice(every_list, count))
            defined = bytes(islice(every_defined, count))
            there = defined.count(chunk.most_defined)
            if indexes is None:
                values = read_exactly(body, there * chunk.width)
            else:
                values = b"".join(map(self._read_dictionary_entry, islice(indexes, there)))
            yield NumberPart(lists, defined, values)

    def _read_dictionary_entry(self, index: int) -> bytes:
        self._words.seek(index * self._chunk.width)
        return read_exactly(self._words, self._chunk.width)

    def _read_list_levels(self, page: Page) -> Iterator[Iterator[tuple[int, int]]]:
        yield self._open_levels_and_values(page)[0]

    def _make_encoding_error(self, page: Page) -> InputError:
        return InputError(
            f"column {self._chunk.name!r} has a page of {page.size:,} bytes in encoding "
            f"{page.encoding}, which is read in small pages only; {WAY_OUT_OF_ENCODING}"
        )

    def _open_levels_and_values(
        self, page: Page
    ) -> tuple[Iterator[tuple[int, int]], Iterator[tuple[int, int]], IO[bytes]]:
        """Give the levels of a page in lists, those of definition, and its values."""
        chunk = self._chunk
        sizes = page.level_sizes
        before = sum(sizes) if sizes else 0
        body = self._open_body(
            page.place + before,
            page.packed_size - before,
            page.size - before,
            is_packed=page.is_packed,
        )
        found = []
        place = page.place
        for number, most in enumerate((chunk.most_lists, chunk.most_defined)):
            width = most.bit_length()
            if sizes is not None:
                self._file.seek(place)
                place += sizes[number]
                levels = self._read_levels(self._file, sizes[number]) if width else b""
            else:
                levels = self._read_levels(body, _read_length(body)) if width else b""
            found.append(_iterate_runs(levels, width, page.values))
        return found[0], found[1], body

    def _read_levels(self, file: IO[bytes], size: int) -> bytes:
        if size > _LEVELS_MOST:
            raise InputError(
                f"column {self._chunk.name!r} has a page of too many values; {WAY_OUT}"
            )
        return read_exactly(file, size)

    def _iterate_indexes(self, body: IO[bytes], values: int) -> Iterator[int]:
        width = read_exactly(body, 1)[0]
        if width > 32:
            raise ValueError("indexes of more than 32 bits")
        numbers = body.read(_LEVELS_MOST + 1)
        if len(numbers) > _LEVELS_MOST:
            raise ValueError("indexes of more than 16 MB")
        return iterate_packed_numbers(numbers, width, values)

    def _iterate_dictionary_texts(
        self, body: IO[bytes], values: int
    ) -> Iterator[tuple[int, IO[bytes]]]:
        words: Any = self._words
        for index in self._iterate_indexes(body, values):
            start, end = self._ends[index], self._ends[index + 1]
            words.seek(start)
            yield end - start, words

    def _open_body(self, place: int, packed: int, size: int, *, is_packed: bool) -> IO[bytes]:
        """Open the unpacked bytes of a page."""
        codec = self._chunk.codec if is_packed else "UNCOMPRESSED"
        if codec == "UNCOMPRESSED":
            return open_range(self._file, place, packed)
        import pyarrow as pa

        most = AT_ONCE if codec in IN_PIECES else PAGE_MOST
        if packed <= most and size <= most:
            self._file.seek(place)
            data = read_exactly(self._file, packed)
            name = "lz4_raw" if codec == "LZ4" else codec.lower()
            found = pa.decompress(data, decompressed_size=size, codec=name) if size else b""
            return io.BytesIO(found)
        if codec == "SNAPPY":
            pieces = unpack_snappy(open_range(self._file, place, packed))
            return io.BufferedReader(PieceStream(lambda: next(pieces, b"")), _PIECE)
        if codec not in IN_PIECES:
            raise InputError(
                f"column {self._chunk.name!r} has a page of {size:,} bytes packed as {codec}, and "
                f"one packed so may have {PAGE_MOST:,}; {WAY_OUT}, or packed as zstd"
            )
        stream = pa.CompressedInputStream(
            pa.PythonFile(open_range(self._file, place, packed), mode="r"), codec.lower()
        )
        return io.BufferedReader(PieceStream(lambda: stream.read(_PIECE)), _PIECE)


def open_range(file: IO[bytes], start: int, size: int) -> io.BufferedReader:
    """Open a part of a file, which may be moved about meanwhile."""
    place, end = start, start + size

    def read_piece() -> bytes:
        nonlocal place
        file.seek(place)
        found = file.read(min(_PIECE, end - place))
        place += len(found)
        return found

    return io.BufferedReader(PieceStream(read_piece), _PIECE)


def _read_length(file: IO[bytes]) -> int:
    return int.from_bytes(read_exactly(file, 4), "little")


def _read_nothing() -> Iterator[bytes]:
    yield from ()


def _iterate_plain_texts(body: IO[bytes]) -> Iterator[tuple[int, IO[bytes]]]:
    """Give the sizes of values that are read or passed over in between."""
    while True:
        yield _read_length(body), body


def iterate_packed_numbers(data: bytes, width: int, count: int) -> Iterator[int]:
    """Read numbers of so many bits, packed in runs and in groups of eight.

    Args:
        data: Their bytes.
        width: Bits of a number; of 0 all are 0.
        count: How many there are.

    Raises:
        ValueError: There are fewer.
    """
    return _expand_runs(_iterate_runs(data, width, count))


def _expand_runs(runs: Iterator[tuple[int, int]]) -> Iterator[int]:
    for number, count in runs:
        yield from repeat(number, count)


def _iterate_runs(data: bytes, width: int, count: int) -> Iterator[tuple[int, int]]:
    """Give each number, and how often it comes there; those of a group of eight one by one."""
    if not width:
        yield 0, count
        return
    reader = ThriftReader(data)  # a run begins with a number as Thrift writes it
    mask = (1 << width) - 1
    while count > 0:
        head = reader.read_varint()
        begin = reader.place
        if not head & 1:
            size = (width + 7) // 8
            number = int.from_bytes(data[begin : begin + size], "little")
            reader.place = begin + size
            run = min(count, head >> 1)
            if reader.place > len(data) or not run:
                raise ValueError("ends too early")
            count -= run
            yield number, run
            continue
        for place in range(begin, min(len(data), begin + (head >> 1) * width), width):
            packed = int.from_bytes(data[place : place + width], "little")
            for shift in range(0, min(8, count) * width, width):
                yield packed >> shift & mask, 1
            count -= min(8, count)
        reader.place = begin + (head >> 1) * width


def unpack_snappy(file: IO[bytes]) -> Iterator[bytes]:
    """Unpack a block of snappy piece by piece; libraries want it whole.

    Raises:
        ValueError: It is damaged, or points back further than anybody writes.
    """
    while read_exactly(file, 1)[0] > 127:
        pass  # its size, which the header of the page says too
    done = bytearray()
    given = 0
    while head := file.read(1):
        tag = head[0]
        if not tag & 3:
            size = tag >> 2
            if size > 59:
                size = int.from_bytes(read_exactly(file, size - 59), "little")
            for piece in iterate_pieces(file, size + 1):
                done += piece
                if len(done) > 2 * _WINDOW:
                    yield bytes(done[given:])
                    del done[:-_WINDOW]
                    given = len(done)
            continue
        if tag & 3 == 1:
            size, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | read_exactly(file, 1)[0]
        else:
            size = (tag >> 2) + 1
            back = int.from_bytes(read_exactly(file, 2 if tag & 3 == 2 else 4), "little")
        start = len(done) - back
        if not 0 <= start < len(done):
            raise ValueError("points outside of what was unpacked")
        if back >= size:
            done += done[start : start + size]
        else:  # it repeats what it writes itself
            done += (done[start:] * (size // back + 1))[:size]
        if len(done) > 2 * _WINDOW:
            yield bytes(done[given:])
            del done[:-_WINDOW]
            given = len(done)
    yield bytes(done[given:])


def make_damage_error(what: str) -> InputError:
    """Say that a part of a file is damaged."""
    return InputError(f"cannot be read as Parquet: {what} is damaged; it may be cut off")
