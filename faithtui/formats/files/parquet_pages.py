"""Pages of a Parquet file, value by value, however large they are.

pyarrow unpacks a page as a whole, and writers put a thousand values into one, whatever their size:
300 texts of 1 MB became a page of 300 MB and more than a gigabyte of memory. Here nothing is held
but one value.

Source:
    https://parquet.apache.org/docs/file-format/ and
    https://github.com/google/snappy/blob/main/format_description.txt
"""

import io
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from faithtui.domain.limits import MB
from faithtui.errors import InputError
from faithtui.formats.files.byte_streams import PieceStream
from faithtui.formats.files.thrift import ThriftReader

DATA: Final = 0
DICTIONARY: Final = 2
DATA_2: Final = 3
"""Kinds of page. Of the second kind of data, what says which values are null is not packed."""

PLAIN: Final = 0
_BY_DICTIONARY: Final = (2, 8)
"""How values are written."""

RLE: Final = 3

_PIECE: Final = 1 << 16
_HEADER: Final = 1 << 10
_HEADER_MOST: Final = 16 * MB
"""A header holds the least and the largest value of its page, which may be long."""

_AT_ONCE: Final = 8 * MB
"""A packed page up to here is unpacked at once."""

_PAGES_MOST: Final = 100_000
"""Of one column in one row group: a hundred gigabytes, as pages are written."""

_LEVELS_MOST: Final = 16 * MB
_WINDOW: Final = 1 << 20
"""How far back snappy may point; those who write it point 64 KB back at most."""

_IN_PIECES: Final = ("SNAPPY", "ZSTD", "GZIP", "BROTLI")

PAGE_MOST: Final = 32 * MB
"""A page beyond this must be unpacked in pieces."""

WAY_OUT: Final = "write the file with smaller row groups, or as JSON lines"


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
    is_text: bool
    """Whether its values are texts or bytes of any length."""
    most_lists: int
    """Lists within lists: 0 for a column of single values."""
    most_defined: int
    """The level of definition of a value that is not null."""
    name: str


def iterate_pages(file: IO[bytes], chunk: Chunk) -> Iterator[Page]:
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


class ColumnValues:
    """All values of a chunk of texts, in order; used once, and as a context.

    Args:
        file: The Parquet file.
        chunk: The chunk.
    """

    def __init__(self, file: IO[bytes], chunk: Chunk) -> None:
        self._file = file
        self._chunk = chunk
        self._words = SpooledTemporaryFile(max_size=_AT_ONCE)  # noqa: SIM115  # closed on exit
        self._ends = array("Q", [0])

    def __enter__(self) -> "ColumnValues":
        """Give it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Throw away what it keeps of a dictionary."""
        self._words.close()

    def __iter__(self) -> Iterator[LeafValue]:
        """Give value by value.

        Raises:
            InputError: It is damaged, or written in a way that is not read here.
        """
        for page in iterate_pages(self._file, self._chunk):
            try:
                if page.kind == DICTIONARY:
                    self._read_dictionary(page)
                elif page.kind in (DATA, DATA_2):
                    yield from self._read_values(page)
            except (IndexError, ValueError) as error:
                raise make_damage_error(f"column {self._chunk.name!r}") from error

    def _read_dictionary(self, page: Page) -> None:
        body = self._open_body(page.place, page.packed_size, page.size, is_packed=True)
        for _ in range(page.values):
            for piece in _iterate_pieces(body, _read_length(body)):
                self._words.write(piece)
            self._ends.append(self._words.tell())

    def _read_values(self, page: Page) -> Iterator[LeafValue]:
        chunk = self._chunk
        widths = chunk.most_lists.bit_length(), chunk.most_defined.bit_length()
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
        for number, width in enumerate(widths):
            if sizes is not None:
                self._file.seek(place)
                place += sizes[number]
                levels = _read_exactly(self._file, sizes[number]) if width else b""
            else:
                levels = _read_exactly(body, _read_length(body)) if width else b""
            found.append(iterate_packed_numbers(levels, width, page.values))
        if page.encoding == PLAIN:
            sized = _iterate_sizes(body)
        elif page.encoding in _BY_DICTIONARY:
            sized = self._iterate_words(body, page.values)
        else:
            raise InputError(
                f"column {chunk.name!r} has a page of {page.size:,} bytes in encoding "
                f"{page.encoding}, which is read in small pages only; {WAY_OUT}"
            )
        for lists, defined in zip(*found, strict=True):
            if defined < chunk.most_defined:
                yield LeafValue(lists, defined, 0, _read_nothing)
                continue
            size, source = next(sized)
            rest = [size]

            def read(source: IO[bytes] = source, rest: list[int] = rest) -> Iterator[bytes]:
                return _iterate_pieces(source, rest.pop())

            yield LeafValue(lists, defined, size, read)
            if rest:
                for _ in _iterate_pieces(source, size):
                    pass

    def _iterate_words(self, body: IO[bytes], values: int) -> Iterator[tuple[int, IO[bytes]]]:
        width = _read_exactly(body, 1)[0]
        if width > 32:
            raise ValueError("indexes of more than 32 bits")
        numbers = body.read(_LEVELS_MOST + 1)
        if len(numbers) > _LEVELS_MOST:
            raise ValueError("indexes of more than 16 MB")
        words: Any = self._words
        for index in iterate_packed_numbers(numbers, width, values):
            start, end = self._ends[index], self._ends[index + 1]
            words.seek(start)
            yield end - start, words

    def _open_body(self, place: int, packed: int, size: int, *, is_packed: bool) -> IO[bytes]:
        """Open the unpacked bytes of a page."""
        codec = self._chunk.codec if is_packed else "UNCOMPRESSED"
        if codec == "UNCOMPRESSED":
            return open_range(self._file, place, packed)
        import pyarrow as pa

        most = _AT_ONCE if codec in _IN_PIECES else PAGE_MOST
        if packed <= most and size <= most:
            self._file.seek(place)
            data = _read_exactly(self._file, packed)
            name = "lz4_raw" if codec == "LZ4" else codec.lower()
            found = pa.decompress(data, decompressed_size=size, codec=name) if size else b""
            return io.BytesIO(found)
        if codec == "SNAPPY":
            pieces = unpack_snappy(open_range(self._file, place, packed))
            return io.BufferedReader(PieceStream(lambda: next(pieces, b"")), _PIECE)
        if codec not in _IN_PIECES:
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


def _read_exactly(file: IO[bytes], size: int) -> bytes:
    found = file.read(size)
    if len(found) < size:
        raise ValueError("ends too early")
    return found


def _read_length(file: IO[bytes]) -> int:
    return int.from_bytes(_read_exactly(file, 4), "little")


def _read_nothing() -> Iterator[bytes]:
    yield from ()


def _iterate_sizes(body: IO[bytes]) -> Iterator[tuple[int, IO[bytes]]]:
    """Give the sizes of values that are read or passed over in between."""
    while True:
        yield _read_length(body), body


def _iterate_pieces(file: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        piece = _read_exactly(file, min(size, _PIECE))
        size -= len(piece)
        yield piece


def iterate_packed_numbers(data: bytes, width: int, count: int) -> Iterator[int]:
    """Read numbers of so many bits, packed in runs and in groups of eight.

    Args:
        data: Their bytes.
        width: Bits of a number; of 0 all are 0.
        count: How many there are.

    Raises:
        ValueError: There are fewer.
    """
    if not width:
        yield from (0 for _ in range(count))
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
            yield from (number for _ in range(run))
            continue
        for place in range(begin, min(len(data), begin + (head >> 1) * width), width):
            packed = int.from_bytes(data[place : place + width], "little")
            for shift in range(0, min(8, count) * width, width):
                yield packed >> shift & mask
            count -= min(8, count)
        reader.place = begin + (head >> 1) * width


def unpack_snappy(file: IO[bytes]) -> Iterator[bytes]:
    """Unpack a block of snappy piece by piece; libraries want it whole.

    Raises:
        ValueError: It is damaged, or points back further than anybody writes.
    """
    while _read_exactly(file, 1)[0] > 127:
        pass  # its size, which the header of the page says too
    done = bytearray()
    given = 0
    while head := file.read(1):
        tag = head[0]
        if not tag & 3:
            size = tag >> 2
            if size > 59:
                size = int.from_bytes(_read_exactly(file, size - 59), "little")
            for piece in _iterate_pieces(file, size + 1):
                done += piece
                if len(done) > 2 * _WINDOW:
                    yield bytes(done[given:])
                    del done[:-_WINDOW]
                    given = len(done)
            continue
        if tag & 3 == 1:
            size, back = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | _read_exactly(file, 1)[0]
        else:
            size = (tag >> 2) + 1
            back = int.from_bytes(_read_exactly(file, 2 if tag & 3 == 2 else 4), "little")
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
