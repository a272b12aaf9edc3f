"""Which rows of a list are marked. Marks are kept by id, so no filter and no order loses them."""

from collections.abc import Iterator, Sequence


class RowMarks:
    """Marked rows of one list, in the order they were marked."""

    def __init__(self) -> None:
        self._ids: dict[int, None] = {}
        self._last: int | None = None

    def __len__(self) -> int:
        """Count them."""
        return len(self._ids)

    def __contains__(self, row: object) -> bool:
        """Whether a row is marked."""
        return row in self._ids

    def __iter__(self) -> Iterator[int]:
        """Go through the ids, in the order they were marked."""
        return iter(self._ids)

    def toggle(self, row: int) -> None:
        """Mark a row, or no longer."""
        if row in self._ids:
            del self._ids[row]
        else:
            self._ids[row] = None
        self._last = row

    def mark_range(self, row: int, listed: Sequence[int]) -> None:
        """Mark all rows from the one that was turned last to this one, both included.

        Args:
            row: Where to stop; one of `listed`.
            listed: Rows as they are listed now. Where the last one is not among them, only `row`
                is marked.
        """
        at = listed.index(row)
        start = listed.index(self._last) if self._last in listed else at
        low, high = min(at, start), max(at, start)
        self._ids |= dict.fromkeys(listed[low : high + 1])
        self._last = row

    def clear(self) -> None:
        """Mark nothing any more."""
        self._ids.clear()
        self._last = None
