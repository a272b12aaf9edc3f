"""Flatbuffers, in which Arrow describes its batches: tables of numbered fields.

Whatever the bytes are, reading ends in values or in a `ValueError`: each offset is checked.

Source:
    https://flatbuffers.dev/internals/
"""

import struct
from typing import Any


class FlatTable:
    """One table; its fields are read by number.

    Args:
        data: All bytes of the message.
        place: Where the table begins.
    """

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        fields = place - self._unpack("<i", place)[0]
        count = (self._unpack("<H", fields)[0] - 4) // 2
        self._offsets = [self._unpack("<H", fields + 4 + 2 * each)[0] for each in range(count)]

    @classmethod
    def read_root(cls, data: bytes) -> "FlatTable":
        """Read the table that a message is.

        Raises:
            ValueError: It is none.
        """
        if len(data) < 4:
            raise ValueError("a message without a table")
        return cls(data, int.from_bytes(data[:4], "little"))

    def read_number(self, field: int, layout: str) -> int:
        """Read a whole number, 0 where it is left out.

        Args:
            field: Number of the field.
            layout: How it is written, as `struct` says it.
        """
        place = self._find_field_offset(field)
        number: int = self._unpack(f"<{layout}", place)[0] if place else 0
        return number

    def read_table(self, field: int) -> "FlatTable | None":
        """Read a table within this one; None where it is left out."""
        place = self._find_field_offset(field)
        return FlatTable(self._data, self._follow_offset(place)) if place else None

    def read_tables(self, field: int) -> tuple["FlatTable", ...]:
        """Read a list of tables."""
        start, count = self._find_list_start_and_count(field, 4)
        places = range(start, start + 4 * count, 4)
        return tuple(FlatTable(self._data, self._follow_offset(each)) for each in places)

    def read_structs(self, field: int, layout: str) -> list[tuple[Any, ...]]:
        """Read a list of groups of numbers, each written as `struct` says."""
        start, count = self._find_list_start_and_count(field, struct.calcsize(f"<{layout}"))
        end = start + count * struct.calcsize(f"<{layout}")
        return list(struct.iter_unpack(f"<{layout}", self._data[start:end]))

    def _find_field_offset(self, field: int) -> int:
        """Find where a field is; 0: nowhere."""
        if field >= len(self._offsets) or not self._offsets[field]:
            return 0
        return self._place + int(self._offsets[field])

    def _follow_offset(self, place: int) -> int:
        return place + int(self._unpack("<I", place)[0])

    def _find_list_start_and_count(self, field: int, size: int) -> tuple[int, int]:
        """Find a list: where its first element is, and how many there are."""
        place = self._find_field_offset(field)
        if not place:
            return 0, 0
        start = self._follow_offset(place)
        count = int(self._unpack("<I", start)[0])
        if start + 4 + count * size > len(self._data):
            raise ValueError("a list beyond the end")
        return start + 4, count

    def _unpack(self, layout: str, place: int) -> tuple[Any, ...]:
        if not 0 <= place <= len(self._data) - struct.calcsize(layout):
            raise ValueError("an offset outside of the message")
        return struct.unpack_from(layout, self._data, place)
