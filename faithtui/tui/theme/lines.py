"""Text with looks, cut into lines of cells. What panes draw is made of these values.

A look is a name (`good`, `bold`), never a colour: the widget that draws turns it into a style of
the theme. No Textual in here, so that everything that decides what is on screen can be tested
without a screen. Texts that did not come from this program pass `escape_text` before anything else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from faithtui.domain.text.visible_text import make_visible, make_visible_line

FULL_TEXT_LIMIT = 100_000
"""Characters of one text that are shown when it is opened in full. What is beyond is counted, not
drawn: nobody reads it here, and wrapping megabytes would hold up a key."""
PANE_TEXT_LIMIT = 6_000
"""Characters of one text in a pane beside others, for the same reason."""


class Piece(NamedTuple):
    """A stretch of text with one look."""

    text: str
    look: str = ""
    """Names of looks, separated by blanks; "" is plain."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of cells."""

    pieces: tuple[Piece, ...] = ()
    row: int | None = None
    """Which entry of the pane the line belongs to; None: none that could be chosen."""

    @property
    def text(self) -> str:
        """The line without looks."""
        return "".join(piece.text for piece in self.pieces)


BLANK = Line()


def escape_text(text: str, look: str = "", most: int = PANE_TEXT_LIMIT) -> Piece:
    """Make a piece of foreign text of any number of lines.

    Args:
        text: The text.
        look: Its look.
        most: Characters that are drawn; how many are left out is said.
    """
    if len(text) > most:
        text = f"{text[:most]}… ({len(text) - most:,} more characters)"
    return Piece(make_visible(text), look)


def escape_line(text: str, look: str = "", limit: int = 1_000) -> Piece:
    """Make a piece of foreign text that stays on one line; `limit` characters of it."""
    return Piece(make_visible_line(text, limit), look)


def count_cells_of_pieces(pieces: Iterable[Piece]) -> int:
    """Count the cells of pieces."""
    return sum(cell_len(piece.text) for piece in pieces)


def field_lines(
    name: str,
    pieces: Sequence[Piece],
    width: int,
    name_width: int,
    *,
    look: str = "quiet",
    most: int | None = None,
) -> list[Line]:
    """Draw a name with what it stands for beside it.

    Args:
        name: The name; "" goes on with the field above.
        pieces: What it stands for.
        width: Cells of a line.
        name_width: Cells of the name.
        look: Of the name.
        most: Lines at most; None: as many as it takes.
    """
    head = [Piece(f" {fit_text(name, name_width)}", look)]
    return wrap(pieces, width - 1, first=head, most=most)


def fit_text(text: str, width: int, *, right: bool = False) -> str:
    """Make a text exactly `width` cells wide: cut with … or filled with blanks.

    Args:
        text: Visible text of one line.
        width: Cells; below 1 gives "".
        right: Fill on the left.
    """
    if width < 1:
        return ""
    size = cell_len(text)
    if size > width:
        text = _take_cells(text, width - 1) + "…"
        size = cell_len(text)
    blanks = " " * (width - size)
    return blanks + text if right else text + blanks


def shorten_middle(text: str, width: int) -> str:
    """Make a text at most `width` cells wide; … stands in its middle, so that its end is read."""
    if cell_len(text) <= width:
        return text
    first = _take_cells(text, (width - 1) // 2)
    last = _take_cells(text[::-1], max(0, width - 1 - cell_len(first)))[::-1]
    return f"{first}…{last}" if width > 0 else ""


def make_line(*pieces: Piece | str, row: int | None = None) -> Line:
    """Make a line; a str is a plain piece of our own words."""
    return Line(tuple(Piece(each) if isinstance(each, str) else each for each in pieces), row)


def align_to_edges(left: Sequence[Piece], right: Sequence[Piece], width: int) -> Line:
    """Put one group at the left and one at the right end; the left one is cut when both meet."""
    room = width - count_cells_of_pieces(right)
    kept = (
        truncate_pieces(left, room - 1)
        if count_cells_of_pieces(left) > room - 1 and right
        else list(left)
    )
    gap = max(0, room - count_cells_of_pieces(kept))
    return Line((*kept, Piece(" " * gap), *right))


def truncate_pieces(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Keep what fits into `width` cells; when something is left out, the last cell is …."""
    if count_cells_of_pieces(pieces) <= width:
        return list(pieces)
    kept: list[Piece] = []
    room = width - 1
    for piece in pieces:
        size = cell_len(piece.text)
        if size > room:
            kept.append(Piece(_take_cells(piece.text, max(0, room)) + "…", piece.look))
            break
        kept.append(piece)
        room -= size
    return kept


def wrap(
    pieces: Sequence[Piece],
    width: int,
    *,
    first: Sequence[Piece] = (),
    rest: Sequence[Piece] | None = None,
    row: int | None = None,
    most: int | None = None,
) -> list[Line]:
    """Wrap pieces at blanks.

    Args:
        pieces: The text; newlines in it begin new lines.
        width: Cells of the whole line, prefix included. Below 1 counts as 1.
        first: Prefix of the first line.
        rest: Prefix of the others; None: as many blanks as the first has cells.
        row: Entry that the lines belong to.
        most: At most so many lines; the last one then ends with ….

    Returns:
        At least one line.
    """
    indent = count_cells_of_pieces(first)
    others = tuple(rest) if rest is not None else (Piece(" " * indent),) if indent else ()
    room = max(1, width - max(indent, count_cells_of_pieces(others)))
    text = "".join(piece.text for piece in pieces)
    ends = _find_line_breaks(text, room, most)
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece.text))
    spans = [
        (start, end, piece.look)
        for (start, end), piece in zip(pairwise(offsets), pieces, strict=True)
    ]
    lines: list[Line] = []
    position = 0
    for number, (start, end) in enumerate(ends):
        while position < len(spans) and spans[position][1] <= start:
            position += 1
        body: list[Piece] = []
        at = position
        while at < len(spans) and spans[at][0] < end:
            a, b, look = spans[at]
            if max(a, start) < min(b, end):
                body.append(Piece(text[max(a, start) : min(b, end)], look))
            at += 1
        if most is not None and number == most - 1 and text[end:].strip():
            body = _add_ellipsis(body, room)
        lines.append(Line((*(first if number == 0 else others), *body), row))
    return lines


def _add_ellipsis(body: list[Piece], room: int) -> list[Piece]:
    """End a line with an ellipsis."""
    more = Piece("…" if count_cells_of_pieces(body) < room else " …")
    return truncate_pieces([*body, more], room)


def _find_line_breaks(text: str, width: int, most: int | None) -> list[tuple[int, int]]:
    """Find where lines begin and end, in characters; at most one more than `most` lines."""
    found: list[tuple[int, int]] = []
    start = 0
    for paragraph in text.split("\n"):
        end = start + len(paragraph)
        if _is_all_single_cell(paragraph):
            _add_narrow_line_breaks(text, start, end, width, found, most)
        else:
            _add_wide_line_breaks(text, start, end, width, found)
        start = end + 1
        if most is not None and len(found) >= most:
            break
    return found if most is None else found[:most]


def _is_all_single_cell(text: str) -> bool:
    """Whether every character takes one cell; sums alone do not tell 2 + 0 from 1 + 1."""
    return text.isascii() or all(get_character_cell_size(each) == 1 for each in set(text))


def _add_narrow_line_breaks(
    text: str, start: int, end: int, width: int, found: list[tuple[int, int]], most: int | None
) -> None:
    """Break a paragraph whose characters are all one cell wide."""
    while end - start > width:
        if most is not None and len(found) > most:
            return
        blank = text.rfind(" ", start, start + width + 1)
        if blank <= start:
            found.append((start, start + width))
            start += width
        else:
            found.append((start, blank))
            start = blank + 1
    found.append((start, end))


def _add_wide_line_breaks(
    text: str, start: int, end: int, width: int, found: list[tuple[int, int]]
) -> None:
    """Break a paragraph with wide or zero-width characters."""
    at, cells, blank = start, 0, -1
    while at < end:
        size = get_character_cell_size(text[at])
        if cells + size > width and at > start:
            if text[at] == " ":
                found.append((start, at))
                start = at + 1
            elif blank > start:
                found.append((start, blank))
                start = blank + 1
            else:
                found.append((start, at))
                start = at
            at, cells, blank = start, 0, -1
            continue
        if text[at] == " ":
            blank = at
        cells += size
        at += 1
    found.append((start, end))


def _take_cells(text: str, width: int) -> str:
    """Take as many characters as fit into `width` cells."""
    if _is_all_single_cell(text):
        return text[:width]
    cells = 0
    for position, character in enumerate(text):
        cells += get_character_cell_size(character)
        if cells > width:
            return text[:position]
    return text
