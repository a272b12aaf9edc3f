"""The picture of runs over one claim set: figures with their intervals, a line a run."""

import textwrap
from collections.abc import Sequence

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
)
from faithtui.agreement.report.trend_points import Trend, TrendPoint
from faithtui.domain.estimates import Estimate

_STEP = 24
_NOTE_CHARACTERS, _LINE = 95, 18
"""Characters of a line of a note that fit the width of the picture, and the height of a line."""
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_STYLE = "text { font: 12px sans-serif } .grid { stroke-opacity: 0.2 } .bar { stroke-width: 2 }"


def trend_svg(trend: Trend, title: str, notes: Sequence[str] = ()) -> str:
    """Draw a trend as a file of its own; equal trends give equal bytes.

    Args:
        trend: At least one run.
        title: Names the set.
        notes: What figures leave out, and what keeps runs from being compared: a picture is shown
            without what was printed beside it.
    """
    figures = (
        ("accuracy", [each.accuracy for each in trend.points]),
        ("recall of no", [each.recall_no for each in trend.points]),
        ("corrected score", [each.score for each in trend.points]),
    )
    scale = AxisScale(0, 1, LABEL_WIDTH, PLOT_WIDTH - 70)
    parts: list[Child] = [
        make_element("title", title),
        make_element("style", Markup(_STYLE)),
        draw_text(PLOT_WIDTH / 2, 20, title, "middle", "name"),
    ]
    top = 50.0
    for name, found in figures:
        parts += _draw_panel(trend, scale, top, name, found)
        top += len(trend.points) * _STEP + 70
    for note in notes:
        for line in textwrap.wrap(note, _NOTE_CHARACTERS):
            parts.append(draw_text(10, top, line))
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


def _draw_panel(
    trend: Trend, scale: AxisScale, top: float, name: str, found: list[Estimate]
) -> list[Child]:
    bottom = top + len(found) * _STEP
    parts: list[Child] = [draw_x_axis(scale, _TICKS, top, bottom, name)]
    for place, (point, each) in enumerate(zip(trend.points, found, strict=True)):
        y = top + (place + 0.5) * _STEP
        parts.append(draw_text(LABEL_WIDTH - 10, y + 4, _format_run_label(point), "end"))
        if each.value is not None:
            parts += [
                draw_interval(scale, y, each.ci_low, each.ci_high),
                draw_dot(scale.to_position(each.value), y, 4.5),
            ]
        words = "–" if each.value is None else f"{each.value:.3f}"
        parts.append(draw_text(PLOT_WIDTH - 8, y + 4, words, "end"))
    return parts


def _format_run_label(point: TrendPoint) -> str:
    return shorten_label(f"{point.run} {point.judge}")
