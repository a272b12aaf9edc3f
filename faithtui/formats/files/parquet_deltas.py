"""Texts of a page of Parquet that are written by their lengths, or by what differs from the last.

A page of such texts may stand for far more than it has: 200 texts of 1 MB that begin alike take
1 MB, and a million empty ones a few bytes. Here one text is held, and the lengths of a page.

Source:
    https://parquet.apache.org/docs/file-format/data-pages/encodings/, `DELTA_BINARY_PACKED`,
    `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Final

from faithtui.formats.files.byte_streams import iterate_pieces, read_exactly

DELTA_LENGTHS: Final = 6
DELTA_TEXTS: Final = 7
"""How values are written: the lengths of all before the texts, and what each text has in common
with the one before it."""

DELTA_VALUES_MOST: Final = 4_000_000
"""Of a page, whose lengths are held; writers put a million into one at most."""

_BLOCK_MOST: Final = 1 << 20
"""Numbers of a block; writers put 128 into one."""

_LENGTH_BITS: Final = (1 << 32) - 1
"""Lengths are numbers of 32 bits, and sums of them wrap around."""


_FEWER: Final = "fewer texts than values"


def iterate_texts_by_length(body: IO[bytes], most: int) -> Iterator[tuple[int, IO[bytes]]]:
    """Give the sizes of texts that are read or passed over in between.

    Args:
        body: The page.
        most: How many texts it may have.

    Raises:
        ValueError: It is damaged, has more texts, or no further one is there.
    """
    for size in read_lengths(body, most):
        yield size, body
    raise ValueError(_FEWER)


def iterate_texts_by_difference(
    body: IO[bytes], most: int, last: IO[bytes]
) -> Iterator[tuple[int, IO[bytes]]]:
    """Give the size of each text, and a file from whose place it is read.

    Args:
        body: The page.
        most: How many texts it may have.
        last: An empty file, which holds one text after the other.

    Raises:
        ValueError: It is damaged, has more texts, or no further one is there.
    """
    shared = read_lengths(body, most)
    own = read_lengths(body, most)
    size = 0
    for same, rest in zip(shared, own, strict=True):
        if same > size:
            raise ValueError("a text begins like one that is too short")
        size = same + rest
        last.seek(same)
        last.truncate()
        for piece in iterate_pieces(body, rest):
            last.write(piece)
        last.seek(0)
        yield size, last
    raise ValueError(_FEWER)


def read_lengths(body: IO[bytes], most: int) -> Sequence[int]:
    """Read so many lengths at most, which are written as differences, packed in blocks.

    Raises:
        ValueError: They are damaged, negative, or more.
    """
    block, parts, count, length = (_read_varint(body) for _ in range(4))
    length = _decode_sign(length)
    if count > most:
        raise ValueError("more texts than values")
    if not 0 < parts <= block <= _BLOCK_MOST or block % (parts * 8):
        raise ValueError("a block of no size")
    found = array("i")
    if count:
        _add_length(found, length)
    while len(found) < count:
        least = _decode_sign(_read_varint(body))
        for width in read_exactly(body, parts):
            if len(found) == count:
                break  # the widths of parts that are not there may be anything
            if width > 64:
                raise ValueError("numbers of more than 64 bits")
            for difference in _iterate_differences(body, block // parts, width):
                if len(found) < count:
                    length = length + least + difference & _LENGTH_BITS
                    _add_length(found, length)
    return found


def _iterate_differences(body: IO[bytes], count: int, width: int) -> Iterator[int]:
    mask = (1 << width) - 1
    for _ in range(0, count, 8):
        packed = int.from_bytes(read_exactly(body, width), "little")
        for shift in range(0, 8 * width, width) if width else range(8):
            yield packed >> shift & mask


def _add_length(found: "array[int]", length: int) -> None:
    if not 0 <= length < 1 << 31:
        raise ValueError("a text of a negative length")
    found.append(length)


def _decode_sign(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def _read_varint(body: IO[bytes]) -> int:
    value = shift = 0
    while True:
        byte = read_exactly(body, 1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
        if shift > 63:
            raise ValueError("a number that is too large")
