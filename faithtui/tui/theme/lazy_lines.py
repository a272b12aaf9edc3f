"""Lines of entries that are made when they are drawn.

A list of a thousand entries shows thirty of them: the cells of the others are made when somebody
scrolls there. How many lines each entry takes must be known before.
"""

from collections.abc import Callable, Sequence
from typing import overload

from faithtui.tui.theme.lines import BLANK, Line

EntryMaker = Callable[[], Sequence[Line]]
"""Makes all lines of an entry."""


class LazyLines(Sequence[Line]):
    """Lines, those of entries made at their first use and kept.

    Args:
        lines: What stands above the entries, such as names of columns.
    """

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self.rows: list[int | None] = []
        """Of each line, the entry that it belongs to; None: none that could be chosen."""
        self._lines: list[Line | tuple[int, int]] = []
        """A line, or the entry it comes from and its place there."""
        self._makers: list[EntryMaker] = []
        self._made: dict[int, Sequence[Line]] = {}
        for each in lines:
            self.add_line(each)

    def add_line(self, line: Line) -> None:
        """Add a line that is made already."""
        self.rows.append(line.row)
        self._lines.append(line)

    def add_entry(self, row: int, height: int, make: EntryMaker) -> None:
        """Add the lines of an entry.

        Args:
            row: Number of the entry, which its lines have too.
            height: How many lines it has.
            make: Makes them.
        """
        entry = len(self._makers)
        self._makers.append(make)
        self.rows += [row] * height
        self._lines += [(entry, place) for place in range(height)]

    def replace_line(self, index: int, line: Line) -> "LazyLines":
        """Give the same lines with one of them replaced; what is made of them is made once."""
        other = LazyLines()
        other.rows, other._lines = self.rows, list(self._lines)
        other._makers, other._made = self._makers, self._made
        other._lines[index] = line
        return other

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...

    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        """Give a line, or several, made by now."""
        if isinstance(index, slice):
            return [self._get_line(each) for each in self._lines[index]]
        return self._get_line(self._lines[index])

    def _get_line(self, found: Line | tuple[int, int]) -> Line:
        if isinstance(found, Line):
            return found
        entry, place = found
        if entry not in self._made:
            self._made[entry] = self._makers[entry]()
        made = self._made[entry]
        return made[place] if place < len(made) else BLANK


def list_rows(lines: Sequence[Line]) -> Sequence[int | None]:
    """Give the entry of each line, without making lines that are not made yet."""
    return lines.rows if isinstance(lines, LazyLines) else [each.row for each in lines]
