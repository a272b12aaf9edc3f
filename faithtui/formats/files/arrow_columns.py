"""Columns of one batch of an Arrow file, of which a few rows are read at a time.

pyarrow reads a batch as a whole, and writers put as many rows into one as they have. Here a column
is a place in a file: how much some rows take is known from their offsets, before any is read, and
nothing is believed that the file says of itself without looking whether it is there.

Source:
    https://arrow.apache.org/docs/format/Columnar.html
"""

import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any, Final, NamedTuple, Protocol

from faithtui.domain.limits import MB

_INDEXES_MOST: Final = MB
"""Indexes and views that are looked at together; more of them are too many for a row."""


class RowsSize(NamedTuple):
    """What some rows hold."""

    text: int
    """Bytes of their texts."""
    values: int

    def make_sum_with(self, other: "RowsSize") -> "RowsSize":
        """Give what both hold together."""
        return RowsSize(self.text + other.text, self.values + other.values)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A part of a file."""

    file: IO[bytes]
    start: int
    size: int

    def read(self, offset: int, size: int) -> bytes:
        """Read some of it.

        Raises:
            ValueError: It does not have so much.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError("a value outside of its column")
        self.file.seek(self.start + offset)
        found = self.file.read(size)
        if len(found) < size:
            raise ValueError("a column beyond the end of the file")
        return found

    def read_bits(self, start: int, count: int) -> bytes:
        """Read so many bits, the first of them as the lowest of the first byte."""
        first, last = start // 8, (start + count + 7) // 8
        found = self.read(first, last - first)
        if not start % 8:
            return found
        number = int.from_bytes(found, "little") >> start % 8
        return number.to_bytes(len(found), "little")


class ArrowColumn(Protocol):
    """Values of one column in one batch."""

    @property
    def length(self) -> int:
        """How many there are."""

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Say what values hold, without reading them.

        Raises:
            ValueError: They are damaged.
        """

    def read(self, start: int, stop: int) -> Any:
        """Read values into an array of pyarrow.

        Raises:
            ValueError: They are damaged.
        """


def _read_validity(validity: ByteRange, start: int, stop: int) -> Any:
    """Read which values are null; None: none is."""
    import pyarrow as pa

    return pa.py_buffer(validity.read_bits(start, stop - start)) if validity.size else None


@dataclass(frozen=True, slots=True)
class NullColumn:
    """Nothing but nulls."""

    length: int

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Count them."""
        return RowsSize(0, stop - start)

    def read(self, start: int, stop: int) -> Any:
        """Make them."""
        import pyarrow as pa

        return pa.nulls(stop - start)


@dataclass(frozen=True, slots=True)
class FixedColumn:
    """Values that all have the same size: numbers, times, truth values, bytes of one length."""

    length: int
    validity: ByteRange
    values: ByteRange
    kind: Any
    """The type, as pyarrow says it."""

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Count them."""
        count = stop - start
        return RowsSize(count * max(0, self.kind.bit_width // 8 - 16), count)

    def read(self, start: int, stop: int) -> Any:
        """Read their bytes."""
        import pyarrow as pa

        count, width = stop - start, self.kind.bit_width
        if width % 8:
            data = self.values.read_bits(start * width, count * width)
        else:
            data = self.values.read(start * width // 8, count * width // 8)
        validity = _read_validity(self.validity, start, stop)
        return pa.Array.from_buffers(self.kind, count, [validity, pa.py_buffer(data)])


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where values begin, and where the last one ends."""

    values: ByteRange
    width: int
    """Bytes of each."""

    def read(self, start: int, stop: int) -> Sequence[int]:
        """Read those of some values: one more than there are values."""
        if not self.values.size and start == stop:
            return (0,)  # of no values, none need be written
        code = "i" if self.width == 4 else "q"
        found = array(code, self.values.read(start * self.width, (stop - start + 1) * self.width))
        if found[0] < 0 or any(first > second for first, second in pairwise(found)):
            raise ValueError("offsets that go back")
        return found

    def read_start_and_end(self, start: int, stop: int) -> tuple[int, int]:
        """Read where the first of some values begins and where the last one ends."""
        if start == stop:
            return 0, 0
        first, last = self.read(start, start)[0], self.read(stop, stop)[0]
        if first > last:
            raise ValueError("offsets that go back")
        return first, last

    def make_buffer_of_offsets_from_zero(self, found: Sequence[int]) -> Any:
        """Make a buffer of such offsets that begins at 0."""
        import pyarrow as pa

        code = "i" if self.width == 4 else "q"
        return pa.py_buffer(array(code, (each - found[0] for each in found)).tobytes())


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Texts, or bytes of any length, one after the other."""

    length: int
    validity: ByteRange
    offsets: Offsets
    values: ByteRange
    kind: Any

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Look where the first begins and the last one ends."""
        first, last = self.offsets.read_start_and_end(start, stop)
        if last > self.values.size:
            raise ValueError("a text outside of its column")
        return RowsSize(last - first, stop - start)

    def read(self, start: int, stop: int) -> Any:
        """Read them."""
        import pyarrow as pa

        found = self.offsets.read(start, stop)
        data = pa.py_buffer(self.values.read(found[0], found[-1] - found[0]))
        validity = _read_validity(self.validity, start, stop)
        buffers = [validity, self.offsets.make_buffer_of_offsets_from_zero(found), data]
        return pa.Array.from_buffers(self.kind, stop - start, buffers)


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """Texts that lie in any order in any of several places; short ones lie in the view itself."""

    length: int
    validity: ByteRange
    views: ByteRange
    places: tuple[ByteRange, ...]
    kind: Any
    """The type of an array of texts one after the other, as which they are given."""

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Add up the sizes that views begin with."""
        count = stop - start
        if count > _INDEXES_MOST:
            return RowsSize(0, count)
        return RowsSize(sum(max(0, view[0]) for view in self._iterate_views(start, stop)), count)

    def read(self, start: int, stop: int) -> Any:
        """Read them, one by one."""
        import pyarrow as pa

        validity = _read_validity(self.validity, start, stop)
        texts = []
        for place, (size, short, number, offset) in enumerate(self._iterate_views(start, stop)):
            if validity and not validity[place // 8] >> place % 8 & 1:
                texts.append(b"")  # what stands there may be anything
            elif 0 <= size <= 12:
                texts.append((short + struct.pack("<ii", number, offset))[:size])
            elif 0 <= number < len(self.places):
                texts.append(self.places[number].read(offset, size))
            else:
                raise ValueError("a text in a place that is not there")
        offsets = array("q", [0])
        for text in texts:
            offsets.append(offsets[-1] + len(text))
        buffers = [validity, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(texts))]
        return pa.Array.from_buffers(self.kind, stop - start, buffers)

    def _iterate_views(self, start: int, stop: int) -> Iterator[tuple[int, bytes, int, int]]:
        found: Iterator[tuple[int, bytes, int, int]] = struct.iter_unpack(
            "<i4sii", self.views.read(start * 16, (stop - start) * 16)
        )
        return found


@dataclass(frozen=True, slots=True)
class ListColumn:
    """Lists of any length, or maps, whose values lie one after the other."""

    length: int
    validity: ByteRange
    offsets: Offsets
    child: ArrowColumn
    is_map: bool

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Say what their values hold."""
        first, last = self.offsets.read_start_and_end(start, stop)
        if last > self.child.length:
            raise ValueError("a list outside of its column")
        return self.child.measure_rows(first, last).make_sum_with(RowsSize(0, stop - start))

    def read(self, start: int, stop: int) -> Any:
        """Read their values."""
        import pyarrow as pa

        found = self.offsets.read(start, stop)
        child = self.child.read(found[0], found[-1])
        if self.is_map:
            kind = pa.map_(*(field.type for field in child.type))
        else:
            kind = (pa.list_ if self.offsets.width == 4 else pa.large_list)(child.type)
        buffers = [
            _read_validity(self.validity, start, stop),
            self.offsets.make_buffer_of_offsets_from_zero(found),
        ]
        return pa.Array.from_buffers(kind, stop - start, buffers, children=[child])


@dataclass(frozen=True, slots=True)
class FixedListColumn:
    """Lists that all have the same length."""

    length: int
    validity: ByteRange
    child: ArrowColumn
    size: int

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Say what their values hold."""
        if stop * self.size > self.child.length:
            raise ValueError("a list outside of its column")
        found = self.child.measure_rows(start * self.size, stop * self.size)
        return found.make_sum_with(RowsSize(0, stop - start))

    def read(self, start: int, stop: int) -> Any:
        """Read their values."""
        import pyarrow as pa

        child = self.child.read(start * self.size, stop * self.size)
        validity = _read_validity(self.validity, start, stop)
        kind = pa.list_(child.type, self.size)
        return pa.Array.from_buffers(kind, stop - start, [validity], children=[child])


@dataclass(frozen=True, slots=True)
class StructColumn:
    """Objects, each of whose fields is a column."""

    length: int
    validity: ByteRange
    children: tuple[ArrowColumn, ...]
    names: tuple[str, ...]

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Say what their fields hold."""
        found = RowsSize(0, stop - start)
        for child in self.children:
            found = found.make_sum_with(child.measure_rows(start, stop))
        return found

    def read(self, start: int, stop: int) -> Any:
        """Read their fields."""
        import pyarrow as pa

        children = [child.read(start, stop) for child in self.children]
        kind = pa.struct(
            [pa.field(name, each.type) for name, each in zip(self.names, children, strict=True)]
        )
        validity = _read_validity(self.validity, start, stop)
        return pa.Array.from_buffers(kind, stop - start, [validity], children=children)


@dataclass(frozen=True, slots=True)
class WordColumn:
    """Numbers that stand for values of a dictionary."""

    numbers: FixedColumn
    words: Sequence[ArrowColumn]
    """The dictionary, in as many pieces as it was written in."""

    @property
    def length(self) -> int:
        """How many there are."""
        return self.numbers.length

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Add up what the values hold that they stand for."""
        count = stop - start
        found = RowsSize(0, count)
        if count > _INDEXES_MOST:
            return found
        for number in self.numbers.read(start, stop).to_pylist():
            if number is not None:
                words, place = self._locate_in_dictionary(number)
                found = found.make_sum_with(words.measure_rows(place, place + 1))
        return found

    def read(self, start: int, stop: int) -> Any:
        """Read the values that they stand for."""
        import pyarrow as pa

        numbers = self.numbers.read(start, stop)
        used = [each for each in numbers.unique().to_pylist() if each is not None]
        if not used:
            return pa.nulls(stop - start)
        pieces = []
        for number in used:
            words, place = self._locate_in_dictionary(number)
            pieces.append(words.read(place, place + 1))
        places = {number: place for place, number in enumerate(used)}
        chosen = pa.array([places.get(each) for each in numbers.to_pylist()], pa.int64())
        return pa.concat_arrays(pieces).take(chosen)

    def _locate_in_dictionary(self, number: int) -> tuple[ArrowColumn, int]:
        place = number
        for words in self.words:
            if 0 <= place < words.length:
                return words, place
            place -= words.length
        raise ValueError("a number that stands for nothing in its dictionary")


@dataclass(frozen=True, slots=True)
class ExtensionColumn:
    """Values to which a package gave a meaning of its own."""

    storage: ArrowColumn
    kind: Any

    @property
    def length(self) -> int:
        """How many there are."""
        return self.storage.length

    def measure_rows(self, start: int, stop: int) -> RowsSize:
        """Say what they hold."""
        return self.storage.measure_rows(start, stop)

    def read(self, start: int, stop: int) -> Any:
        """Read them."""
        import pyarrow as pa

        storage = self.storage.read(start, stop)
        if storage.type != self.kind.storage_type:
            return storage
        return pa.ExtensionArray.from_storage(self.kind, storage)
