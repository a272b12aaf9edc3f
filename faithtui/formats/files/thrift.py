"""Thrift's compact protocol, in which Parquet writes its footer and the header of each page.

Structures are read and written whatever they mean: fields by number, each with its type.

Source:
    https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from typing import Any, Final

I32: Final = 5
I64: Final = 6
BINARY: Final = 8
LIST: Final = 9
MAP: Final = 11
STRUCT: Final = 12

Struct = dict[int, tuple[int, Any]]
"""Type and value by number of the field. A list is the type of its elements and the elements, a
map the types of its keys and values and the pairs."""

_TRUE: Final = 1
_FALSE: Final = 2
_BYTE: Final = 3
_DOUBLE: Final = 7

_DEPTH: Final = 32
"""Levels of nesting; a footer has six."""


class ThriftReader:
    """Reads values from bytes, one after the other.

    Args:
        data: The bytes.
        place: Where to begin.
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self.place = place
        """Where the next value begins."""

    def read_struct(self, depth: int = 0) -> Struct:
        """Read a structure.

        Raises:
            ValueError: It is none, or ends too early.
        """
        found: Struct = {}
        number = 0
        while head := self._read_byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._read_integer()
            found[number] = kind, kind == _TRUE if kind <= _FALSE else self._read_value(kind, depth)
        return found

    def read_list_head(self) -> tuple[int, int]:
        """Read how a list begins: the type of its elements, and how many there are."""
        head = self._read_byte()
        count = head >> 4
        return head & 15, self.read_varint() if count == 15 else count

    def read_field_head(self, before: int) -> tuple[int, int]:
        """Read the number and the type of the next field, after that number; 0, 0 at the end."""
        head = self._read_byte()
        if not head:
            return 0, 0
        return before + (head >> 4) if head >> 4 else self._read_integer(), head & 15

    def read(self, kind: int) -> Any:
        """Read a value of a type that stands in a field."""
        return kind == _TRUE if kind <= _FALSE else self._read_value(kind, 0)

    def skip(self, kind: int) -> None:
        """Go past a value of a type that stands in a field.

        Raises:
            ValueError: It is none, or ends too early.
        """
        try:
            place = self.place if kind <= _FALSE else _skip_value(self._data, self.place, kind, 0)
        except IndexError:
            raise ValueError("ends too early") from None
        if place > len(self._data):
            raise ValueError("ends too early")
        self.place = place

    def _read_value(self, kind: int, depth: int) -> Any:
        if depth > _DEPTH:
            raise ValueError("is nested too deep")
        match kind:
            case 1 | 2 | 3:  # a truth value of a list has a byte of its own
                return self._read_byte()
            case 4 | 5 | 6:
                return self._read_integer()
            case 7:
                return self._read_bytes(8)
            case 8:
                return self._read_bytes(self.read_varint())
            case 9 | 10:
                of, count = self.read_list_head()
                return of, [self._read_value(of, depth + 1) for _ in range(count)]
            case 11:
                count = self.read_varint()
                kinds = self._read_byte() if count else 0  # of an empty one they are not said
                keys, values = kinds >> 4, kinds & 15
                pairs = [
                    (self._read_value(keys, depth + 1), self._read_value(values, depth + 1))
                    for _ in range(count)
                ]
                return keys, values, pairs
            case 12:
                return self.read_struct(depth + 1)
            case _:
                raise ValueError(f"has a field of type {kind}")

    def _read_byte(self) -> int:
        return self._read_bytes(1)[0]

    def _read_bytes(self, count: int) -> bytes:
        found = self._data[self.place : self.place + count]
        if len(found) < count:
            raise ValueError("ends too early")
        self.place += count
        return found

    def read_varint(self) -> int:
        """Read a whole number that has no sign."""
        value = shift = 0
        while True:
            byte = self._read_byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("has a number that is too large")

    def _read_integer(self) -> int:
        value = self.read_varint()
        return (value >> 1) ^ -(value & 1)


def _skip_value(data: bytes, place: int, kind: int, depth: int) -> int:
    """Say where what follows a value begins: behind the end of the data if it ends too early.

    Structures make up most of a footer, which may have a hundred thousand of them, and each field
    read as an object takes ten times as long. A number may have any length here.

    Raises:
        IndexError: It ends too early.
        ValueError: It is none.
    """
    if depth > _DEPTH:
        raise ValueError("is nested too deep")
    match kind:
        case 1 | 2 | 3:
            return place + 1
        case 4 | 5 | 6:
            while data[place] > 127:
                place += 1
            return place + 1
        case 7:
            return place + 8
        case 8:
            size, place = _read_size(data, place)
            return place + size
        case 9 | 10:
            of, count = data[place] & 15, data[place] >> 4
            place += 1
            if count == 15:
                count, place = _read_size(data, place)
            return _skip_values(data, place, (of,), count, depth)
        case 11:
            return _skip_map(data, place, depth)
        case 12:
            return _skip_struct(data, place, depth)
        case _:
            raise ValueError(f"has a field of type {kind}")


def _skip_struct(data: bytes, place: int, depth: int) -> int:
    while head := data[place]:
        place += 1
        if head < 16:  # the number of the field is written out
            place = _skip_value(data, place, I32, depth)
        kind = head & 15
        if I32 <= kind <= I64:  # most fields, which a call for each would make twice as slow
            while data[place] > 127:
                place += 1
            place += 1
        elif kind > _FALSE:
            place = _skip_value(data, place, kind, depth + (kind == STRUCT))
    return place + 1


def _skip_map(data: bytes, place: int, depth: int) -> int:
    count, place = _read_size(data, place)
    if not count:
        return place
    pair = data[place] >> 4, data[place] & 15
    return _skip_values(data, place + 1, pair, count, depth)


def _skip_values(data: bytes, place: int, kinds: tuple[int, ...], count: int, depth: int) -> int:
    """Skip the elements of a list or a map, which may claim to have as many as it likes."""
    for _ in range(count):
        for kind in kinds:
            place = _skip_value(data, place, kind, depth + 1)
        if place > len(data):
            raise IndexError
    return place


def _read_size(data: bytes, place: int) -> tuple[int, int]:
    """Read a whole number without a sign; say where what follows it begins."""
    if data[place] < 128:
        return data[place], place + 1
    reader = ThriftReader(data, place)
    return reader.read_varint(), reader.place


def encode_struct(struct: Struct) -> bytes:
    """Write a structure as it was read."""
    parts = []
    before = 0
    for number, (kind, value) in sorted(struct.items()):
        if kind <= _FALSE:
            kind = _TRUE if value else _FALSE
        if 0 < number - before < 16:
            parts.append(bytes([(number - before) << 4 | kind]))
        else:
            parts.append(bytes([kind]) + _encode_integer(number))
        before = number
        if kind > _FALSE:
            parts.append(_encode_by_type(kind, value))
    return b"".join([*parts, b"\x00"])


def encode_varint(value: int) -> bytes:
    """Write a whole number that has no sign."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _encode_integer(value: int) -> bytes:
    return encode_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _encode_by_type(kind: int, value: Any) -> bytes:
    match kind:
        case 1 | 2 | 3:
            return bytes([value])
        case 4 | 5 | 6:
            return _encode_integer(value)
        case 7:
            return bytes(value)
        case 8:
            return encode_varint(len(value)) + bytes(value)
        case 9 | 10:
            of, elements = value
            count = len(elements)
            head = (
                bytes([count << 4 | of]) if count < 15 else bytes([240 | of]) + encode_varint(count)
            )
            return head + b"".join(_encode_by_type(of, each) for each in elements)
        case 11:
            keys, values, pairs = value
            written = b"".join(
                _encode_by_type(keys, key) + _encode_by_type(values, each) for key, each in pairs
            )
            kinds = bytes([keys << 4 | values]) if pairs else b""
            return encode_varint(len(pairs)) + kinds + written
        case _:
            return encode_struct(value)
