"""Plots of one number over another: reliability, progress, thresholds."""

import math
from collections.abc import Iterator, Sequence

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.markup import Child, concatenate_markup
from faithtui.agreement.documents.plots.axes import (
    PLOT_WIDTH,
    AxisScale,
    draw_dot,
    draw_line,
    draw_path,
    draw_text,
    draw_x_axis,
    draw_y_axis,
    make_plot,
)
from faithtui.agreement.report.model import CalibrationReport, ProgressReport, ThresholdReport

_FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_LEFT, _TOP, _HIGH = 64.0, 20.0, 280.0


def reliability_plot(id: str, found: CalibrationReport) -> Plot | None:
    """Draw how often annotators support what the judge is so sure of; dots grow with their number.

    Returns:
        None without a bin.
    """
    if not found.bins:
        return None
    side = 300.0
    x, y = AxisScale(0, 1, _LEFT, _LEFT + side), AxisScale(0, 1, _TOP + side, _TOP)
    fewest, most = min(each.n for each in found.bins), max(each.n for each in found.bins)
    parts: list[Child] = [
        draw_x_axis(x, _FIFTHS, _TOP, _TOP + side, "confidence of the judge that it is supported"),
        draw_y_axis(y, _FIFTHS, _LEFT, _LEFT + side, "supported, by human label"),
        draw_line(x.to_position(0), y.to_position(0), x.to_position(1), y.to_position(1), "whole"),
        draw_text(x.to_position(1) + 8, y.to_position(1) + 4, "as sure as right", "start", "tick"),
        draw_text(
            x.to_position(1) + 8,
            y.to_position(1) + 30,
            f"n per dot: {fewest:,} to {most:,}",
            "start",
            "tick",
        ),
    ]
    for each in found.bins:
        at, value = x.to_position(each.mean_confidence), y.to_position(each.observed)
        radius = 3 + 5 * math.sqrt(each.n / most)
        parts += [
            draw_line(at, y.to_position(each.ci_low), at, y.to_position(each.ci_high), "bar"),
            draw_line(
                at - 4, y.to_position(each.ci_low), at + 4, y.to_position(each.ci_low), "bar"
            ),
            draw_line(
                at - 4, y.to_position(each.ci_high), at + 4, y.to_position(each.ci_high), "bar"
            ),
            draw_dot(at, value, radius),
        ]
    gap = max(found.bins, key=lambda each: (abs(each.observed - each.mean_confidence), each.low))
    side_word = "more" if gap.observed > gap.mean_confidence else "less"
    alt = (
        f"The widest gap is where the judge is sure to {gap.mean_confidence:.2f} and human "
        f"labels support {gap.observed:.0%} of {gap.n:,}: {side_word} than it says."
        if gap.observed != gap.mean_confidence
        else "Human labels support as much as the judge says in every bin."
    )
    return make_plot(
        id, "Confidence and share supported by human label", alt, _TOP + side + 46, *parts
    )


def interval_progress_plot(id: str, found: ProgressReport, name: str) -> Plot | None:
    """Draw the watched figure over the number of labels, its interval, and the width wanted.

    Args:
        id: Of the plot.
        found: What to draw.
        name: Of the watched figure, in words.

    Returns:
        None with fewer than two points.
    """
    known = [each for each in found.history if each.value is not None]
    if len(known) < 2:
        return None
    values = [
        value
        for each in known
        for value in (each.value, each.ci_low, each.ci_high)
        if value is not None
    ]
    low = min(0.0, math.floor(min(values) * 5) / 5)
    right = PLOT_WIDTH - 130.0
    x = AxisScale(0, known[-1].labels, _LEFT, right)
    y = AxisScale(low, 1, _TOP + _HIGH, _TOP)
    band = [
        (x.to_position(each.labels), each.ci_low, each.ci_high)
        for each in known
        if each.ci_low is not None and each.ci_high is not None
    ]
    last = known[-1].value or 0.0
    ticks = [round(low + step / 5, 1) for step in range(round((1 - low) * 5) + 1)]
    parts: list[Child] = [
        draw_x_axis(x, _choose_label_count_ticks(known[-1].labels), _TOP, _TOP + _HIGH, "labels"),
        draw_y_axis(y, ticks, _LEFT, right, name),
    ]
    if len(band) > 1:
        edge = [
            *((at, y.to_position(top)) for at, _, top in band),
            *((at, y.to_position(bottom)) for at, bottom, _ in reversed(band)),
        ]
        parts.append(draw_path(edge, "band", closed=True))
    parts.append(
        draw_path(
            ((x.to_position(each.labels), y.to_position(each.value or 0.0)) for each in known),
            "curve",
        )
    )
    parts += [
        draw_dot(x.to_position(each.labels), y.to_position(each.value or 0.0), 3) for each in known
    ]
    upper, lower = (
        y.to_position(last + found.target_half_width),
        y.to_position(last - found.target_half_width),
    )
    parts += [
        draw_line(right + 14, upper, right + 14, lower, "wanted"),
        draw_line(right + 9, upper, right + 19, upper, "wanted"),
        draw_line(right + 9, lower, right + 19, lower, "wanted"),
        draw_text(right + 24, (upper + lower) / 2 - 3, "wanted", "start", "tick"),
        draw_text(
            right + 24, (upper + lower) / 2 + 11, f"± {found.target_half_width:g}", kind="tick"
        ),
    ]
    width = (
        "it has no interval yet"
        if found.half_width is None
        else f"its interval is ± {found.half_width:.2f} wide and ± {found.target_half_width:g} "
        "is wanted"
    )
    alt = f"After {known[-1].labels:,} labels {name} is {last:.2f}; {width}."
    return make_plot(
        id, f"{name[0].upper()}{name[1:]} by number of labels", alt, _TOP + _HIGH + 46, *parts
    )


def _choose_label_count_ticks(last: int) -> list[float]:
    """Choose round numbers from 0 to the last one, six at most."""
    step = 1
    while last / step > 6:
        step = step * 2 if str(step)[0] in "15" else step * 5 // 2
    return [float(each) for each in range(0, last + 1, step)]


def recall_and_specificity_plot(id: str, found: ThresholdReport, unit: str) -> Plot | None:
    """Draw recall and specificity of failing units over the threshold.

    Returns:
        None with fewer than two points.
    """
    if len(found.curve) < 2:
        return None
    right, top = PLOT_WIDTH - 130.0, 36.0
    x = AxisScale(0, 1, _LEFT, right)
    y = AxisScale(0, 1, top + _HIGH, top)
    first, last = found.curve[0], found.curve[-1]
    recalls = [(x.to_position(at), y.to_position(recall)) for at, recall, _ in found.curve]
    passed = [(x.to_position(at), y.to_position(specificity)) for at, _, specificity in found.curve]
    parts: list[Child] = [
        draw_x_axis(x, _FIFTHS, top, top + _HIGH, "threshold: scores below it fail"),
        draw_y_axis(y, _FIFTHS, _LEFT, right, "share"),
        draw_path(_make_step_curve_points(recalls), "curve"),
        draw_path(_make_step_curve_points(passed), "curve dashed"),
        _draw_legend_entry(right + 16, top + 30, "curve", "recall"),
        _draw_legend_entry(right + 16, top + 52, "curve dashed", "specificity"),
        _draw_vertical_mark(
            x.to_position(found.current), y, f"in force {found.current:g}", top - 22, "whole"
        ),
    ]
    if found.suggested is not None:
        better = found.suggested.value
        name = f"suggested {better:.2f}"
        parts.append(_draw_vertical_mark(x.to_position(better), y, name, top - 6, "wanted"))
    recall, specificity = found.at_current.recall.value, found.at_current.specificity.value
    alt = (
        f"At the threshold in force, {found.current:g}, recall is {_percent_text(recall)} and "
        "specificity "
        f"{_percent_text(specificity)}; over all thresholds recall runs from {first[1]:.0%} to "
        f"{last[1]:.0%}."
    )
    return make_plot(id, f"Thresholds for a {unit}", alt, top + _HIGH + 46, *parts)


def _make_step_curve_points(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Go from point to point in steps: between two scores nothing changes until the next one."""
    before = points[0][0]
    for x, y in points:
        yield before, y
        yield x, y
        before = x


def _percent_text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.0%}"


def _draw_legend_entry(x: float, y: float, kind: str, name: str) -> Child:
    return concatenate_markup(
        draw_path([(x, y), (x + 24, y)], kind), draw_text(x + 30, y + 4, name, kind="tick")
    )


def _draw_vertical_mark(x: float, y: AxisScale, name: str, at: float, kind: str) -> Child:
    return concatenate_markup(
        draw_line(x, y.start, x, at + 4, kind), draw_text(x + 5, at + 4, name, kind="tick")
    )
