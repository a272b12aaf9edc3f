"""Tables with a line of column names: CSV of any common dialect, row by row.

The standard library's reader is enough: it streams, and fields may hold line breaks and be of any
length. Cells stay text here; what a column holds is for the format reader.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from faithtui.domain.limits import TABLE_ROW
from faithtui.errors import InputError

_DELIMITERS = ",;\t|"
_EXCEL_LINE: Final = re.compile(rf"sep=([{_DELIMITERS}])", re.IGNORECASE)
"""A first line that tells Excel the delimiter, and is no row."""
_MOST_NAMES: Final = 5
"""Columns that a message names."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row."""

    line: int
    """Line it begins on, from 1."""
    size: int
    """Characters in it."""
    cells: dict[str, object] | str
    """By column; None for an empty cell. A text says why the row cannot be used."""
    warning: str | None = None
    """Why a row that is used may not be what was meant; None: nothing looks wrong."""


def find_delimiter(path: Path, head: bytes) -> str | None:
    """Find the delimiter of a table; None where the text is none.

    The line of column names decides: the delimiter that cuts it into most names, each a short word
    and none twice. A file that is called `.csv` or `.tsv` may have a single column.
    """
    names = _find_first_line(head)
    told = _EXCEL_LINE.fullmatch(names.strip(" "))
    if told is not None:
        return told[1]
    best: tuple[int, str] | None = None
    for delimiter in _DELIMITERS:
        cells = next(csv.reader([names], delimiter=delimiter), [])
        if _are_column_names(cells) and (best is None or len(cells) > best[0]):
            best = len(cells), delimiter
    suffixes = {".tsv": "\t", ".csv": ","}
    named = suffixes.get(Path(path.name.removesuffix(".gz")).suffix.lower())
    if best is None:
        # Of a name that is there twice, whoever reads the table says so.
        cells = next(csv.reader([names], delimiter=named), []) if named is not None else []
        unique = list(dict.fromkeys(cells))
        return named if len(unique) > 1 and _are_column_names(unique) else None
    return named if best[0] == 1 else best[1]


def read_column_names(path: Path, head: bytes) -> tuple[str, ...]:
    """Read the names of the columns of a table from its first bytes; () where it has none."""
    line = _find_first_line(head)
    if _EXCEL_LINE.fullmatch(line.strip(" ")):
        line = _find_first_line(head.partition(line.encode())[2])
    cells = next(csv.reader([line], delimiter=find_delimiter(path, head) or ","), [])
    return tuple(cell.strip() for cell in cells if cell.strip())


def _find_first_line(head: bytes) -> str:
    text = head.decode("utf-8-sig", errors="replace")
    return next((line for line in text.splitlines() if line.strip()), "")


def _are_column_names(cells: list[str]) -> bool:
    named = [cell.strip() for cell in cells]
    filled = [name for name in named if name]
    return (
        bool(filled)
        and len(filled) >= len(named) - 1  # pandas leaves its index unnamed
        and len(set(filled)) == len(filled)
        and all(len(name) <= 100 and not name.startswith(("{", "[")) for name in named)
        and all(len(name.split()) <= 6 for name in named)
    )


def read_csv_rows(path: Path, file: io.BufferedReader, head: bytes) -> Iterator[TableRow]:
    """Read a table.

    Yields:
        Every row that is not blank. One with too few cells has the others empty, and one with too
        many has no more than there are names where those behind them are empty, both with a
        warning. Of one with other cells behind, bytes that are not UTF-8, or too few cells at the
        end of a file that was cut off, why it cannot be used.

    Raises:
        InputError: A quoted cell does not end, or a row is longer than one may be: where the next
            row begins is not known then.
    """
    delimiter = find_delimiter(path, head) or ","
    csv.field_size_limit(2 * TABLE_ROW.most)  # `_RowLines` counts first
    text = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="")
    lines = _RowLines(path, text)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        named = (
            cells
            for cells in reader
            if any(cell.strip() for cell in cells)
            and not _EXCEL_LINE.fullmatch(delimiter.join(cells).strip(" "))
        )
        names = next(named, [])
        names = [name.strip() or f"column {place}" for place, name in enumerate(names, start=1)]
        problem = _find_non_utf8_byte(names)
        if problem is not None:
            raise InputError(f"has column names that cannot be read: {problem}", path=path, line=1)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"has the column `{twice}` twice; rename one of them", path=path, line=1
            )
        begin = reader.line_num + 1
        lines.reset_row_size(begin)
        for cells in reader:
            line, begin = begin, reader.line_num + 1
            lines.reset_row_size(begin)
            if not any(cells):
                continue
            row: dict[str, object] | str
            row = _find_row_problem(cells, names, delimiter, is_ended=lines.is_ended) or {
                **{name: cell or None for name, cell in zip(names, cells, strict=False)},
                **dict.fromkeys(names[len(cells) :]),
            }
            size = sum(map(len, cells))
            warning = _describe_uneven_row(cells, names) if len(cells) != len(names) else None
            del cells  # a large row is not held twice
            yield TableRow(line, size, row, None if isinstance(row, str) else warning)
            del row
    except csv.Error as error:
        raise InputError(
            f"is not CSV: {error}; the file may be cut off, or a quotation mark not doubled. "
            "Nothing behind it was read",
            path=path,
            line=reader.line_num,
        ) from error
    finally:
        text.detach()


class _RowLines:
    """The lines of a table, of which no row is read that is longer than one may be.

    Args:
        path: The file, for messages.
        text: The table, at its beginning.
    """

    def __init__(self, path: Path, text: io.TextIOWrapper) -> None:
        self._path = path
        self._text = text
        self._line = 1
        self._room = TABLE_ROW.most
        self.is_ended = True
        """Whether the latest line has a line end; the last one of a file need not."""

    def reset_row_size(self, line: int) -> None:
        """Count from here: the next line begins a row."""
        self._line, self._room = line, TABLE_ROW.most

    def __iter__(self) -> Iterator[str]:
        """Give every line.

        Raises:
            InputError: The row is longer than one may be; it was not read to its end.
        """
        # One more than there is room for: reading 0 characters would look like the end.
        while line := self._text.readline(self._room + 1):
            self._room -= len(line)
            if self._room < 0:
                raise InputError(
                    f"has a row of more than {TABLE_ROW.most:,} {TABLE_ROW.unit}; "
                    f"{TABLE_ROW.way_out}. Nothing behind it was read",
                    path=self._path,
                    line=self._line,
                )
            self.is_ended = line.endswith(("\n", "\r"))
            held, line = [line], ""
            yield held.pop()  # not held while we wait here


def _find_row_problem(
    cells: list[str], names: list[str], delimiter: str, *, is_ended: bool
) -> str | None:
    """Say why a row cannot be used; None where it can."""
    if len(cells) < len(names) and not is_ended:
        return (
            f"has {len(cells)} of {len(names)} cells, and the file ends there without a line end; "
            "it may be cut off. Where the row is whole, write a line end behind it"
        )
    if any(cell.strip() for cell in cells[len(names) :]):
        return (
            f"has {len(cells)} cells, and there are {len(names)} column names; a cell with "
            f"{delimiter!r} or a line break in it must stand in quotation marks"
        )
    return _find_non_utf8_byte(cells)


def _describe_uneven_row(cells: list[str], names: list[str]) -> str:
    """Say what becomes of a row that has another number of cells than there are names."""
    cell = "cell" if len(cells) == 1 else "cells"
    counts = f"{len(cells)} {cell}, and there are {len(names)} columns"
    if len(cells) > len(names):
        return f"has {counts}; the cells behind the last column are empty and left out"
    missing = names[len(cells) :]
    listed = ", ".join(f"`{each}`" for each in missing[:_MOST_NAMES])
    more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
    return (
        f"has {counts}; what is missing counts as empty: {listed}{more}. If another cell is "
        "missing, or a line break cut the row in two, put that cell in quotation marks"
    )


def _find_non_utf8_byte(cells: list[str]) -> str | None:
    """Name a byte that is not UTF-8; None: all are."""
    try:
        "".join(cells).encode()
    except UnicodeEncodeError as error:
        byte = ord(error.object[error.start]) & 0xFF
        return f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
    return None
