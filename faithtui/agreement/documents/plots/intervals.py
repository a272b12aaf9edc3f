"""Plots of estimates below each other, with their intervals."""

from collections.abc import Sequence

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.figure_texts import format_breakdown_title, format_slice_key
from faithtui.agreement.documents.markup import Child
from faithtui.agreement.documents.plots.axes import (
    LABEL_WIDTH,
    PLOT_WIDTH,
    AxisScale,
    draw_dot,
    draw_interval,
    draw_line,
    draw_rectangle,
    draw_text,
    draw_x_axis,
    make_plot,
    shorten_label,
)
from faithtui.agreement.report.model import Breakdown, Coverage, PassRate
from faithtui.domain.estimates import Estimate

MOST_PLOTTED_SLICES = 20
"""Parts of a breakdown that are drawn, the worst."""
_TENTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_RIGHT = PLOT_WIDTH - 70
_STEP = 24


def slice_agreement_plot(id: str, found: Breakdown, whole: Estimate) -> Plot | None:
    """Draw the agreement of parts, worst first, beside that of the whole.

    Returns:
        None without two parts that have a value.
    """
    rows = [each for each in found.rows if each.percent.value is not None]
    if len(rows) < 2:
        return None
    shown = rows[:MOST_PLOTTED_SLICES]
    named = [(format_slice_key(found.by, each.key), each.percent, each.n) for each in shown]
    worst, best = rows[0], rows[-1]
    above = " and above" if found.better else ""
    sentence = (
        f"Agreement by {format_breakdown_title(found)} runs from {worst.percent.value:.0%} "
        f"({format_slice_key(found.by, worst.key)}) to "
        f"{best.percent.value:.0%} ({format_slice_key(found.by, best.key)}){above}"
    )
    if whole.value is not None:
        sentence += f"; over all it is {whole.value:.0%}"
    more = len(rows) - len(shown) + found.better
    if more:
        sentence += f". The {len(shown)} worst are drawn, {more} more are not"
    return _make_interval_plot(
        id,
        f"Agreement by {format_breakdown_title(found)}",
        f"{sentence}.",
        named,
        "share with the same label",
        whole.value,
        f"{more} more" if more else "",
    )


def pass_rate_plot(id: str, found: PassRate, many: str) -> Plot | None:
    """Draw the share that passes, by the judge, by human labels, and corrected.

    Returns:
        None where there is nothing but the judge's.
    """
    named = [
        ("judge, uncorrected", found.judge_raw, found.judge_raw.n),
        ("labelled, by human label", found.label_mean, found.label_mean.n),
        ("corrected, this run", found.corrected_this_run, found.corrected_this_run.n),
        ("corrected, future", found.corrected_future, found.corrected_future.n),
    ]
    known = [each for each in named if each[1].value is not None]
    if len(known) < 2:
        return None
    rates = "; ".join(f"{name} {each.value:.1%}" for name, each, _ in known)
    return _make_interval_plot(
        id, f"Share of {many} that pass", f"{rates}.", known, "share that passes", None, ""
    )


def _make_interval_plot(
    id: str,
    title: str,
    summary: str,
    rows: Sequence[tuple[str, Estimate, int]],
    axis: str,
    whole: float | None,
    more: str,
) -> Plot:
    top = 26.0
    bottom = top + len(rows) * _STEP + (_STEP if more else 0)
    scale = AxisScale(0, 1, LABEL_WIDTH, _RIGHT)
    parts: list[Child] = [
        draw_x_axis(scale, _TENTHS, top - 4, bottom, axis),
        draw_text(PLOT_WIDTH - 8, top - 8, "n", "end", "tick"),
    ]
    if whole is not None:
        x = scale.to_position(whole)
        parts += [
            draw_line(x, top - 4, x, bottom, "whole"),
            draw_text(x, top - 10, f"all {whole:.0%}", "middle", "tick"),
        ]
    for place, (name, each, n) in enumerate(rows):
        y = top + (place + 0.5) * _STEP
        parts += [
            draw_text(LABEL_WIDTH - 10, y + 4, shorten_label(name), "end", "label"),
            draw_interval(scale, y, each.ci_low, each.ci_high),
            draw_dot(scale.to_position(each.value or 0.0), y, 4.5),
            draw_text(PLOT_WIDTH - 8, y + 4, f"{n:,}", "end", "tick"),
        ]
    if more:
        parts.append(draw_text(LABEL_WIDTH - 10, bottom - 8, more, "end", "tick"))
    return make_plot(id, title, summary, bottom + 46, *parts)


def review_coverage_plot(id: str, found: Coverage, many: str) -> Plot | None:
    """Draw what became of the units of a run as one bar, each part named below it.

    Returns:
        None without units.
    """
    if not found.units:
        return None
    rest = found.unreviewed - found.skipped - found.bulk_accepted - found.stale
    parts = [
        (name, count, kind)
        for name, count, kind in (
            ("same label", found.agreed, "agreed"),
            ("other label", found.overridden, "overridden"),
            ("labelled, not compared", found.reviewed - found.compared, "aside"),
            ("skipped", found.skipped, "later"),
            ("in bulk", found.bulk_accepted, "bulk"),
            ("stale", found.stale, "stale"),
            ("not labelled", rest, "unlabelled"),
        )
        if count
    ]
    counts = ", ".join(f"{name} {count:,}" for name, count, _ in parts)
    drawn: list[Child] = []
    x = 1.0
    for place, (name, count, kind) in enumerate(parts):
        wide = (PLOT_WIDTH - 2) * count / found.units
        # Two beside each other: the longest name with a count of seven digits has room.
        below = 62.0 + place // 2 * 22
        legend = 1 + place % 2 * (PLOT_WIDTH / 2)
        drawn += [
            draw_rectangle(x, 6, wide, 30, f"part {kind}"),
            draw_rectangle(legend, below - 11, 14, 14, f"part {kind}"),
            draw_text(legend + 20, below + 1, f"{name} {count:,} ({count / found.units:.0%})"),
        ]
        if wide > 14:
            drawn.append(draw_text(x + wide / 2, 26, str(place + 1), "middle", f"on {kind}"))
        drawn.append(draw_text(legend + 7, below + 1, str(place + 1), "middle", f"small on {kind}"))
        x += wide
    return make_plot(
        id,
        f"What became of {found.units:,} {many}",
        f"Of {found.units:,} {many}: {counts}.",
        70 + (len(parts) - 1) // 2 * 22,
        *drawn,
    )
