"""Arrow files and streams, a few rows at a time, however large a batch is.

A file is a stream of messages: its columns, dictionaries, batches. Only what describes a message is
read as a whole; a packed body is unpacked beside it, into a temporary file.

Source:
    https://arrow.apache.org/docs/format/IPC.html
"""

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, Any, Final, NoReturn

from faithtui.domain.limits import COLUMNS_ROW, MB, RECORD_VALUES
from faithtui.errors import InputError
from faithtui.formats.files.arrow_columns import (
    ArrowColumn,
    ByteRange,
    ExtensionColumn,
    FixedColumn,
    FixedListColumn,
    ListColumn,
    NullColumn,
    Offsets,
    RowsSize,
    StructColumn,
    TextColumn,
    ViewColumn,
    WordColumn,
)
from faithtui.formats.files.flatbuffer import FlatTable
from faithtui.formats.files.parquet_copy import COPY_MOST
from faithtui.formats.files.parquet_pages import open_range

_MAGIC: Final = b"ARROW1"
_CONTINUATION: Final = b"\xff\xff\xff\xff"

_SCHEMA: Final = 1
_DICTIONARY: Final = 2
_BATCH: Final = 3
"""Kinds of message."""

_CODECS: Final = ("lz4", "zstd")
"""Ways of packing by their number."""

_DESCRIPTION_MOST: Final = 16 * MB
"""Bytes that describe a message: names and metadata of columns, places of buffers."""

_FOOTER_MOST: Final = 32 * MB
"""Bytes at the end of a file, which describe its columns and say where each batch is."""

_WAY_OUT: Final = "write the file with smaller batches, or as JSON lines"

_IN_MEMORY: Final = 8 * MB
_PIECE: Final = 1 << 16

_ROWS: Final = 256
_BYTES: Final = MB
"""Rows that are held at a time, and about how many bytes of them, unless one has more."""

_EMPTY_ROWS_MOST: Final = 1_000_000
"""Rows of a batch for which no byte stands in the file: it could say any number."""

_VALUE_BYTES: Final = 64
"""What a value takes in Python, beside its text."""


@dataclass(frozen=True, slots=True)
class _Message:
    kind: int
    described: FlatTable
    """What it says of a dictionary or a batch."""
    description: bytes
    """All that it says, as it is written; nothing of columns that the end of a file describes."""
    body: ByteRange


@dataclass(frozen=True, slots=True)
class _Field:
    """A column as the schema describes it."""

    name: str
    kind: Any
    """Its type, as pyarrow says it."""
    children: tuple["_Field", ...]
    dictionary: int | None = None
    """Which dictionary its numbers stand for; its child is then what that holds."""


def read_arrow_batches(path: Path) -> Iterator[Any]:
    """Read an Arrow file or stream.

    Yields:
        Batches of pyarrow of a few rows each; a text says why one row cannot be used.

    Raises:
        InputError: It is damaged, or has columns of a type that is not read.
    """
    fields: tuple[_Field, ...] | None = None
    dictionaries: dict[int, list[ArrowColumn]] = {}
    number = 0
    with path.open("rb") as file, TemporaryFile() as unpacked:
        try:
            for message in _iterate_dictionaries_before_batches(file):
                number += message.kind == _BATCH
                if message.kind == _SCHEMA:
                    fields = _read_schema(path, message)
                elif fields is None:
                    _raise_value_error("no columns before its first batch")
                elif message.kind == _DICTIONARY:
                    _read_dictionary_batch_into(message, fields, dictionaries, unpacked)
                elif message.kind == _BATCH:
                    yield from _read_batch(message, fields, dictionaries)
        except (IndexError, ValueError, RecursionError) as error:
            what = f"record batch {number}" if number else "its description of columns"
            raise InputError(
                f"cannot be read as Arrow: {what} is damaged ({error}); it may be cut off"
            ) from error


def _raise_value_error(why: str) -> NoReturn:
    raise ValueError(why)


def _iterate_dictionaries_before_batches(file: IO[bytes]) -> Iterator[_Message]:
    """Give the messages of a stream in order; of a file, all dictionaries before the batches."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(_MAGIC)) == _MAGIC:
        yield from _iterate_messages_listed_in_footer(file, size)
        return
    place: int | None = 0
    while place is not None and place < size:
        message, place = _read_message_header_and_next_place(file, place, size)
        if message is not None:
            yield message


def _iterate_messages_listed_in_footer(file: IO[bytes], size: int) -> Iterator[_Message]:
    """Give the messages of a file by what stands at its end: its beginning may be anything."""
    file.seek(max(0, size - 10))
    end = file.read(10)
    footer_size = int.from_bytes(end[:4], "little")
    start = size - 10 - footer_size
    if end[4:] != _MAGIC or start < 8:
        raise InputError("cannot be read as Arrow: its end is not there; it may be cut off")
    if footer_size > _FOOTER_MOST:
        raise ValueError(f"described in {footer_size:,} bytes")
    file.seek(start)
    data = file.read(footer_size)
    footer = FlatTable.read_root(data)
    schema = footer.read_table(1)
    if schema is None:
        raise ValueError("no columns")
    yield _Message(_SCHEMA, schema, b"", ByteRange(file, start, 0))
    blocks = (footer.read_structs(field, "qi4xq") for field in (2, 3))
    for place, *_ in itertools.chain.from_iterable(blocks):
        if not 8 <= place < start:
            raise ValueError("a batch outside of the file")
        message, _ = _read_message_header_and_next_place(file, place, start)
        if message is not None:
            yield message


def _read_message_header_and_next_place(
    file: IO[bytes], place: int, end: int
) -> tuple[_Message, int] | tuple[None, None]:
    """Read what describes a message, and say where the next one begins; None: no more come."""
    file.seek(place)
    head = file.read(8)
    begin = place + (8 if head.startswith(_CONTINUATION) else 4)
    size = int.from_bytes(head[begin - place - 4 : begin - place], "little", signed=True)
    if not size:
        return None, None
    if not 0 < size <= _DESCRIPTION_MOST or begin + size > end:
        raise ValueError(f"described in {size:,} bytes")
    file.seek(begin)
    description = file.read(size)
    message = FlatTable.read_root(description)
    body = message.read_number(3, "q")
    if not 0 <= body <= end - begin - size:
        raise ValueError(f"a body of {body:,} bytes, which are not there")
    described = message.read_table(2)
    if described is None:
        raise ValueError("nothing described")
    kind = message.read_number(1, "B")
    found = _Message(kind, described, description, ByteRange(file, begin + size, body))
    return found, begin + size + body


def _read_schema(path: Path, message: _Message) -> tuple[_Field, ...]:
    import pyarrow as pa
    import pyarrow.ipc

    if message.described.read_number(0, "h"):
        raise InputError("is an Arrow file for big-endian machines, which is not read")
    if message.description:
        size = len(message.description).to_bytes(4, "little")
        schema = pa.ipc.read_schema(pa.py_buffer(_CONTINUATION + size + message.description))
    else:
        with pa.OSFile(os.fspath(path)) as source:
            schema = pa.ipc.open_file(source).schema
    tables = message.described.read_tables(1)
    return tuple(
        _make_field(field.name, field.type, table)
        for field, table in zip(schema, tables, strict=True)
    )


def _make_field(name: str, kind: Any, table: FlatTable) -> _Field:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _Field(name, kind, (_make_field(name, kind.storage_type, table),))
    if pa.types.is_dictionary(kind):
        encoding = table.read_table(4)
        number = encoding.read_number(0, "q") if encoding else 0
        return _Field(name, kind, (_make_field(name, kind.value_type, table),), number)
    fields = [kind.field(place) for place in range(kind.num_fields)]
    children = (
        _make_field(field.name, field.type, each)
        for field, each in zip(fields, table.read_tables(5), strict=True)
    )
    return _Field(name, kind, tuple(children))


def _iterate_fields(fields: tuple[_Field, ...]) -> Iterator[_Field]:
    for field in fields:
        yield field
        yield from _iterate_fields(field.children)


def _read_dictionary_batch_into(
    message: _Message,
    fields: tuple[_Field, ...],
    dictionaries: dict[int, list[ArrowColumn]],
    unpacked: IO[bytes],
) -> None:
    number = message.described.read_number(0, "q")
    batch = message.described.read_table(1)
    field = next((each for each in _iterate_fields(fields) if each.dictionary == number), None)
    if batch is None or field is None:
        raise ValueError("a dictionary of no column")
    [column] = _BatchReader(batch, message.body, dictionaries, unpacked).read_columns(
        field.children
    )
    if message.described.read_number(2, "B"):  # it goes on
        dictionaries.setdefault(number, []).append(column)
    else:
        dictionaries[number] = [column]


def _read_batch(
    message: _Message, fields: tuple[_Field, ...], dictionaries: dict[int, list[ArrowColumn]]
) -> Iterator[Any]:
    import pyarrow as pa

    with SpooledTemporaryFile(max_size=_IN_MEMORY) as unpacked:
        reader = _BatchReader(message.described, message.body, dictionaries, unpacked)
        columns = reader.read_columns(fields)
        names = [field.name for field in fields]
        for start in range(0, reader.length, _ROWS):
            left = [(start, min(start + _ROWS, reader.length))]
            while left:
                first, last = left.pop()
                size = RowsSize(0, 0)
                for column in columns:
                    size = size.make_sum_with(column.measure_rows(first, last))
                if last - first > 1 and size.text + size.values * _VALUE_BYTES > _BYTES:
                    middle = (first + last) // 2
                    left += [(middle, last), (first, middle)]
                    continue
                problem = COLUMNS_ROW.find_size_problem(size.text)
                problem = problem or RECORD_VALUES.find_size_problem(size.values)
                yield problem or pa.RecordBatch.from_arrays(
                    [column.read(first, last) for column in columns], names
                )


class _BatchReader:
    """Gives columns their parts of the body of a batch, in the order in which they are described.

    Args:
        batch: What describes the batch.
        body: Its bytes.
        dictionaries: Those that came before it.
        unpacked: Where to unpack it, if it is packed.
    """

    def __init__(
        self,
        batch: FlatTable,
        body: ByteRange,
        dictionaries: dict[int, list[ArrowColumn]],
        unpacked: Any,
    ) -> None:
        self.length = batch.read_number(0, "q")
        """How many rows it has."""
        self._nodes = iter(batch.read_structs(1, "qq"))
        self._buffers = iter(batch.read_structs(2, "qq"))
        self._view_counts = iter(batch.read_structs(4, "q"))
        self._codec = None
        packing = batch.read_table(3)
        if packing is not None:
            codec = packing.read_number(0, "b")
            if not 0 <= codec < len(_CODECS):
                raise ValueError(f"packed in a way that nobody knows, number {codec}")
            self._codec = _CODECS[codec]
        self._body = body
        self._dictionaries = dictionaries
        self._unpacked = unpacked
        self._taken = 0

    def read_columns(self, fields: tuple[_Field, ...]) -> list[ArrowColumn]:
        """Make the columns of the batch.

        Raises:
            ValueError: It is damaged.
            InputError: A column has a type that is not read.
        """
        columns = [self._make_column(field) for field in fields]
        if self.length < 0 or any(column.length != self.length for column in columns):
            raise ValueError("columns of different lengths")
        if self.length > _EMPTY_ROWS_MOST and not self._taken:
            raise InputError(
                f"has a batch of {self.length:,} rows without any value, and one may have "
                f"{_EMPTY_ROWS_MOST:,}; leave them out"
            )
        return columns

    def _make_column(self, field: _Field) -> ArrowColumn:
        import pyarrow as pa

        kind, types = field.kind, pa.types
        if isinstance(kind, pa.BaseExtensionType):
            return ExtensionColumn(self._make_column(field.children[0]), kind)
        length = self._take_next_struct(self._nodes)[0]
        if length < 0:
            raise ValueError(f"column {field.name!r} has {length} values")
        if types.is_null(kind):
            return NullColumn(length)
        if types.is_union(kind) or types.is_run_end_encoded(kind) or _is_list_view(kind):
            raise InputError(
                f"column {field.name!r} has the type {kind}, which is not read; leave it out, or "
                "write the file as JSON lines"
            )
        validity = self._take_next_decompressed_buffer()
        if field.dictionary is not None:
            numbers = FixedColumn(
                length, validity, self._take_next_decompressed_buffer(), kind.index_type
            )
            return WordColumn(numbers, self._dictionaries.get(field.dictionary, ()))
        if types.is_string(kind) or types.is_binary(kind):
            offsets = Offsets(self._take_next_decompressed_buffer(), 4)
            return TextColumn(
                length, validity, offsets, self._take_next_decompressed_buffer(), kind
            )
        if types.is_large_string(kind) or types.is_large_binary(kind):
            offsets = Offsets(self._take_next_decompressed_buffer(), 8)
            return TextColumn(
                length, validity, offsets, self._take_next_decompressed_buffer(), kind
            )
        if types.is_string_view(kind) or types.is_binary_view(kind):
            views = self._take_next_decompressed_buffer()
            count = self._take_next_struct(self._view_counts)[0]
            places = tuple(self._take_next_decompressed_buffer() for _ in range(count))
            as_text = pa.large_string() if types.is_string_view(kind) else pa.large_binary()
            return ViewColumn(length, validity, views, places, as_text)
        if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind):
            offsets = Offsets(
                self._take_next_decompressed_buffer(), 8 if types.is_large_list(kind) else 4
            )
            child = self._make_column(field.children[0])
            return ListColumn(length, validity, offsets, child, types.is_map(kind))
        if types.is_fixed_size_list(kind):
            child = self._make_column(field.children[0])
            return FixedListColumn(length, validity, child, kind.list_size)
        if types.is_struct(kind):
            children = tuple(map(self._make_column, field.children))
            if any(child.length < length for child in children):
                raise ValueError(f"column {field.name!r} has fields of different lengths")
            names = tuple(child.name for child in field.children)
            return StructColumn(length, validity, children, names)
        return FixedColumn(length, validity, self._take_next_decompressed_buffer(), kind)

    def _take_next_struct(self, numbers: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
        found = next(numbers, None)
        if found is None:
            raise ValueError("fewer columns than described")
        return found

    def _take_next_decompressed_buffer(self) -> ByteRange:
        """Take the next part of the body, unpacked."""
        offset, size = self._take_next_struct(self._buffers)
        body = self._body
        if size == 0:
            return ByteRange(body.file, 0, 0)
        self._taken += size
        if offset < 0 or size < 0 or offset + size > body.size:
            raise ValueError("a column outside of its batch")
        found = ByteRange(body.file, body.start + offset, size)
        return self._decompress_buffer(found, self._codec) if self._codec else found

    def _decompress_buffer(self, packed: ByteRange, codec: str) -> ByteRange:
        import pyarrow as pa

        size = int.from_bytes(packed.read(0, 8), "little", signed=True)
        rest = ByteRange(packed.file, packed.start + 8, packed.size - 8)
        if size == -1:
            return rest  # it would not have been smaller
        target = self._unpacked
        start = target.seek(0, os.SEEK_END)
        if size < 0:
            raise ValueError(f"a column of {size:,} bytes")
        if start + size > COPY_MOST:
            raise InputError(
                f"has more than {COPY_MOST:,} bytes in one batch once it is unpacked; {_WAY_OUT}"
            )
        source = pa.PythonFile(open_range(rest.file, rest.start, rest.size), mode="r")
        with pa.CompressedInputStream(source, codec) as stream:
            while piece := stream.read(min(_PIECE, start + size + 1 - target.tell())):
                target.write(piece)
        if target.tell() - start != size:
            raise ValueError("a column that is not as long as it says")
        return ByteRange(target, start, size)


def _is_list_view(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))
