"""Small plots in cells: a curve with its band, a reliability diagram, bars."""

from collections.abc import Sequence

from faithtui.tui.theme.lines import Line, Piece, make_line

BAND, POINT, RULE = "░", "●", "·"


def format_interval_curve_lines(
    points: Sequence[tuple[float, float | None, float | None, float | None]],
    width: int,
    height: int,
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> list[Line]:
    """Draw values over a quantity, each with the ends of its interval.

    A single point stands alone in the middle: nothing is known beside it.

    Args:
        points: (quantity, value, lower end, upper end), rising; None where there is none.
        width: Cells for everything, the scale at the left included.
        height: Lines, the scale below included; at least 3.
        low: Value at the lower edge.
        high: Value at the upper edge.
    """
    scale = 5
    columns, rows = max(1, width - scale - 1), max(2, height - 2)
    if not points:
        return []
    first, last = points[0][0], points[-1][0]
    span = (last - first) or 1.0
    cells = [[" "] * columns for _ in range(rows)]

    def row_of(value: float) -> int:
        share = (min(high, max(low, value)) - low) / (high - low)
        return rows - 1 - round(share * (rows - 1))

    for column in range(columns) if len(points) > 1 else (columns // 2,):
        # The last point at or before this place: between two looks nothing is known.
        quantity = first + span * column / max(1, columns - 1)
        known = [each for each in points if each[0] <= quantity + 1e-9]
        _, value, lower, upper = known[-1] if known and len(points) > 1 else points[0]
        if lower is not None and upper is not None:
            for row in range(row_of(upper), row_of(lower) + 1):
                cells[row][column] = BAND
        if value is not None:
            cells[row_of(value)][column] = POINT
    lines = []
    every = _choose_rows_per_label(rows - 1, high - low)
    for number, drawn in enumerate(cells):
        label = high - (high - low) * number / (rows - 1)
        shown = f"{label:4.1f}│" if number % every == 0 else "    │"
        lines.append(make_line(Piece(shown, "quiet"), *_colour_curve("".join(drawn))))
    lines.append(make_line(Piece("    └" + "─" * columns, "quiet")))
    if len(points) == 1:
        lines.append(make_line(Piece(f"     {f'{last:g} labels':^{columns}}".rstrip(), "quiet")))
        return lines
    ends = f"{first:g}", f"{last:g} labels"
    gap = max(1, columns - len(ends[0]) - len(ends[1]))
    lines.append(make_line(Piece(f"     {ends[0]}{' ' * gap}{ends[1]}", "quiet")))
    return lines


def _choose_rows_per_label(rows: int, span: float) -> int:
    """Choose how many rows apart labels stand, so that they are even and exact to a tenth."""
    for parts in (10, 5, 4, 3, 2):
        tenths = 10 * span / parts
        if rows % parts == 0 and abs(tenths - round(tenths)) < 1e-9:
            return rows // parts
    return rows


def _colour_curve(text: str) -> list[Piece]:
    """Give points and band their looks, in as few pieces as there are changes."""
    pieces: list[Piece] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or text[end] != text[start]:
            look = {POINT: "human strong", BAND: "quiet"}.get(text[start], "")
            pieces.append(Piece(text[start:end], look))
            start = end
    return pieces


def format_share_bar(value: float | None, width: int) -> str:
    """Draw a share as a bar; blank without one."""
    if value is None:
        return " " * width
    filled = max(0, min(width, round(value * width)))
    return "█" * filled + "░" * (width - filled)


def format_reliability_bin(
    mean: float, observed: float, low: float, high: float, width: int
) -> str:
    """Draw one bin of a reliability diagram: its interval, what was observed, what was said.

    Args:
        mean: Mean confidence in [0, 1], drawn as `|`.
        observed: Share that came true, drawn as a point.
        low: Lower end of its interval.
        high: Upper end.
        width: Cells for [0, 1].
    """

    def find_column(value: float) -> int:
        return max(0, min(width - 1, round(value * (width - 1))))

    cells = [RULE] * width
    for column in range(find_column(low), find_column(high) + 1):
        cells[column] = BAND
    cells[find_column(observed)] = POINT
    if find_column(mean) != find_column(observed):
        cells[find_column(mean)] = "|"
    return "".join(cells)
