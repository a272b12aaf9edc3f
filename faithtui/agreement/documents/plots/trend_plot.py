"""The picture of runs over one claim set: figures with their intervals, a line a run.

It is shown without what was printed beside it, so that all which tells runs apart stands in it.
"""

from collections.abc import Iterator, Sequence

from faithtui.agreement.documents.figure_texts import EMPTY_CELL, decimal_text, p_value_text
from faithtui.agreement.documents.markup import Child, Markup, make_element
from faithtui.agreement.documents.plots.axes import (
    LABEL_WIDTH,
    PLOT_WIDTH,
    AxisScale,
    draw_dot,
    draw_interval,
    draw_text,
    draw_x_axis,
    shorten_label,
    wrap_text,
)
from faithtui.agreement.report.trend_points import Trend, TrendPoint
from faithtui.domain.estimates import Estimate

_STEP = 24
_LEFT = 10.0
"""Where rows and notes begin."""
_CELL = 6.65
"""Width of a character of a row: a fixed width of 0.602 of 11 pixels in all common fonts."""
_CELLS = 92
"""Characters of a row that fit the width of the picture."""
_LINE = 16
"""Height of a row."""
_TITLE_CELLS = 76
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_SIGNED_TICKS = (-1, -0.5, 0, 0.5, 1)
_STYLE = (
    "text { font: 12px sans-serif } .grid { stroke-opacity: 0.2 } .bar { stroke-width: 2 } "
    ".row { font: 11px monospace }"
)
_COLUMNS = (
    ("RUN", 5),
    ("MADE", 16),
    ("PROMPTS", 25),
    ("LABELLED", 34),
    ("KAPPA", 59),
    ("CHANGE", 84),
    ("P", 92),
)
"""Heads of the table, and the cell in which the right-aligned texts below them end."""
_ABOUT_CHANGES = (
    "CHANGE is of accuracy against the run before, on the claims of both; P is of a paired test "
    "(signs of groups flipped), adjusted by Holm for all changes."
)


def trend_svg(trend: Trend, title: str, notes: Sequence[str] = ()) -> str:
    """Draw a trend as a file of its own; equal trends give equal bytes.

    Args:
        trend: At least one run.
        title: Names the set.
        notes: What figures leave out, and what keeps runs from being compared.
    """
    figures = (
        ("accuracy", [each.accuracy for each in trend.points]),
        ("kappa", [each.kappa for each in trend.points]),
        ("recall of no", [each.recall_no for each in trend.points]),
        ("corrected score", [each.score for each in trend.points]),
    )
    parts: list[Child] = [
        make_element("title", title),
        make_element("style", Markup(_STYLE)),
        draw_text(PLOT_WIDTH / 2, 20, shorten_label(title, _TITLE_CELLS), "middle", "name"),
    ]
    top = 50.0
    for name, found in figures:
        parts += _draw_panel(trend, top, name, found)
        top += len(trend.points) * _STEP + 70
    for row in _draw_table_rows(trend):
        parts += [
            draw_text(_LEFT + cell * _CELL, top, text, anchor, "row") for cell, anchor, text in row
        ]
        top += _LINE
    top += _LINE / 2
    for note in notes:
        for line in wrap_text(note, _CELLS):
            parts.append(draw_text(_LEFT, top, line, kind="row"))
            top += _LINE
    return (
        make_element(
            "svg",
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {PLOT_WIDTH} {top:g}",
            width=PLOT_WIDTH,
            height=top,
        ).text
        + "\n"
    )


def _draw_panel(trend: Trend, top: float, name: str, found: list[Estimate]) -> list[Child]:
    bottom = top + len(found) * _STEP
    ends = [end for each in found for end in (each.value, each.ci_low) if end is not None]
    is_signed = min(ends, default=0) < 0
    scale = AxisScale(-1 if is_signed else 0, 1, LABEL_WIDTH, PLOT_WIDTH - 70)
    ticks = _SIGNED_TICKS if is_signed else _TICKS
    parts: list[Child] = [draw_x_axis(scale, ticks, top, bottom, name)]
    for place, (point, each) in enumerate(zip(trend.points, found, strict=True)):
        y = top + (place + 0.5) * _STEP
        parts.append(draw_text(LABEL_WIDTH - 10, y + 4, _format_run_label(point), "end"))
        if each.value is not None:
            parts += [
                draw_interval(scale, y, each.ci_low, each.ci_high),
                draw_dot(scale.to_position(each.value), y, 4.5),
            ]
        words = EMPTY_CELL if each.value is None else f"{each.value:.3f}"
        parts.append(draw_text(PLOT_WIDTH - 8, y + 4, words, "end"))
    return parts


def _format_run_label(point: TrendPoint) -> str:
    return shorten_label(f"{point.run} {point.judge}")


def _draw_table_rows(trend: Trend) -> Iterator[list[tuple[float, str, str]]]:
    """Lay out what tells the runs apart: each text with its cell and its anchor, row by row."""
    yield [(cell, "end", head) for head, cell in _COLUMNS]
    for each in trend.points:
        yield [
            (cell, "end", text)
            for (_, cell), text in zip(_COLUMNS, _format_cells(each), strict=True)
        ]
        models = f" ({', '.join(each.served_models)})" if each.served_models else ""
        for line in wrap_text(f"{each.judge}{models}", _CELLS - 7):
            yield [(7, "start", line)]
    if len(trend.points) > 1:
        for line in wrap_text(_ABOUT_CHANGES, _CELLS):
            yield [(0, "start", line)]


def _format_cells(point: TrendPoint) -> tuple[str, ...]:
    change = point.change
    return (
        str(point.run),
        f"{point.made_at:%Y-%m-%d}",
        shorten_label(point.prompts[:8], 8),
        str(point.compared),
        _format_estimate(point.kappa),
        EMPTY_CELL if change is None else _format_estimate(change.difference),
        # "below" has no room in its column.
        EMPTY_CELL if change is None else p_value_text(change.holm_p).replace("below ", "<"),
    )


def _format_estimate(found: Estimate) -> str:
    """Write an estimate with its interval, where it has one; a picture has no room for reasons."""
    if found.ci_low is None or found.ci_high is None:
        return decimal_text(found.value)
    return (
        f"{decimal_text(found.value)} [{decimal_text(found.ci_low)}, {decimal_text(found.ci_high)}]"
    )
