"""Plots of tables: judge against annotators, and annotators against each other."""

from collections.abc import Mapping, Sequence

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.markup import Child
from faithtui.agreement.documents.plots.axes import (
    LABEL_WIDTH,
    PLOT_WIDTH,
    draw_line,
    draw_rectangle,
    draw_text,
    make_plot,
    shorten_label,
)
from faithtui.agreement.report.model import Agreement, HumanReport, RaterReport

_DARKEST = 0.45
"""Opacity of the fullest cell; more would not leave its number readable."""
MOST_PEOPLE = 8
"""Annotators in the matrix of pairs."""


def confusion_plot(id: str, found: Agreement, many: str) -> Plot:
    """Draw a table as a heatmap: rows annotators, columns judge, a count in every cell.

    Args:
        id: Of the plot.
        found: What to draw; every unit counted once.
        many: What is counted, in the plural.
    """
    table = found.table
    names = table.categories
    left, top, high = LABEL_WIDTH, 52.0, 46.0
    wide = min(110.0, (PLOT_WIDTH - left - 90) / len(names))
    parts: list[Child] = [
        draw_text(left + wide * len(names) / 2, 18, "judge", "middle", "name"),
        draw_text(left - 12, top - 10, "human", "end", "name"),
        draw_text(left + wide * len(names) + 12, top - 10, "all", "start", "tick"),
    ]
    for column, name in enumerate(names):
        parts.append(
            draw_text(
                left + (column + 0.5) * wide, top - 10, shorten_label(name, 12), "middle", "label"
            )
        )
    for row, (name, counts) in enumerate(zip(names, table.counts, strict=True)):
        y, whole = top + row * high, sum(counts)
        parts.append(draw_text(left - 12, y + high / 2 + 5, shorten_label(name), "end", "label"))
        for column, cell in enumerate(counts):
            x = left + column * wide
            own = "same" if row == column else "other"
            opacity = _DARKEST * cell / whole if whole else 0.0
            part = f"{cell / whole:.0%}" if whole else ""
            parts += [
                draw_rectangle(x, y, wide - 2, high - 2, f"cell {own}", opacity),
                draw_text(x + wide / 2 - 1, y + high / 2 - 2, f"{cell:,}", "middle", "count"),
                draw_text(x + wide / 2 - 1, y + high / 2 + 14, part, "middle", "tick"),
            ]
        parts.append(
            draw_text(
                left + wide * len(names) + 12, y + high / 2 + 5, f"{whole:,}", "start", "tick"
            )
        )
    return make_plot(
        id,
        f"Judge and human labels: {many}",
        _describe_confusion(found, many),
        top + high * len(names) + 10,
        *parts,
    )


def _describe_confusion(found: Agreement, many: str) -> str:
    table = found.table
    sentence = (
        f"Judge and human label are the same for {table.agreed_count:,} of {table.n:,} {many}"
    )
    different = [
        (count, people, judge)
        for people, counts in zip(table.categories, table.counts, strict=True)
        for judge, count in zip(table.categories, counts, strict=True)
        if people != judge and count
    ]
    if not different:
        return f"{sentence}."
    count, people, judge = max(different, key=lambda each: each[0])
    return (
        f"{sentence}; where they differ, most often the human label is {people} and the judge's "
        f"{judge}: {count:,}."
    )


def pairwise_kappa_plot(
    id: str, humans: HumanReport, raters: Sequence[RaterReport], judge: str
) -> Plot | None:
    """Draw Cohen's kappa of every pair of annotators, and of each of them with the judge.

    Only the annotators with the most labels have room.

    Returns:
        None where no pair has a kappa.
    """
    most = sorted(raters, key=lambda each: (-each.labels, each.reviewer))[:MOST_PEOPLE]
    people = sorted(each.reviewer for each in most)
    kappas: dict[tuple[str, str], float] = {}
    sizes: dict[tuple[str, str], int] = {}
    for pair in humans.pairs:
        if pair.a in people and pair.b in people:
            kappa = pair.agreement.cohen_kappa.value
            sizes[pair.b, pair.a] = pair.agreement.n
            if kappa is not None:
                kappas[pair.b, pair.a] = kappa
    if not kappas:
        return None
    with_judge = {
        each.reviewer: (each.agreement.cohen_kappa.value, each.agreement.n) for each in most
    }
    left, top, high = LABEL_WIDTH, 44.0, 40.0
    wide = min(100.0, (PLOT_WIDTH - left - 10) / len(people))
    parts: list[Child] = []
    for column, name in enumerate(people):
        parts.append(
            draw_text(
                left + (column + 0.5) * wide, top - 12, shorten_label(name, 9), "middle", "label"
            )
        )
    for row, name in enumerate(people):
        parts.append(
            draw_text(left - 12, top + (row + 0.6) * high, shorten_label(name), "end", "label")
        )
        for column, other in enumerate(people[:row]):
            x, y = left + column * wide, top + row * high
            parts += _draw_kappa_cell(
                x, y, wide, high, kappas.get((name, other)), sizes.get((name, other), 0)
            )
    bottom = top + len(people) * high + 8
    parts += [
        draw_line(left, bottom - 4, left + wide * len(people), bottom - 4, "grid"),
        draw_text(left - 12, bottom + 0.6 * high, shorten_label(judge or "judge"), "end", "name"),
    ]
    for column, name in enumerate(people):
        kappa, n = with_judge[name]
        parts += _draw_kappa_cell(left + column * wide, bottom, wide, high, kappa, n)
    return make_plot(
        id,
        "Cohen's kappa of every pair",
        _describe_pairwise_kappas(kappas),
        bottom + high + 10,
        *parts,
    )


def _draw_kappa_cell(
    x: float, y: float, wide: float, high: float, kappa: float | None, n: int
) -> list[Child]:
    strength = _DARKEST * max(0.0, kappa or 0.0)
    return [
        draw_rectangle(x, y, wide - 2, high - 2, "cell other", strength),
        draw_text(
            x + wide / 2, y + 17, "–" if kappa is None else f"{kappa:.2f}", "middle", "count"
        ),
        draw_text(x + wide / 2, y + 31, f"n {n:,}" if n else "", "middle", "tick"),
    ]


def _describe_pairwise_kappas(kappas: Mapping[tuple[str, str], float]) -> str:
    def pair_text(pair: tuple[str, str]) -> str:
        return f"{kappas[pair]:.2f} ({pair[1]} and {pair[0]})"

    if len(kappas) == 1:
        return f"Kappa between two annotators is {pair_text(next(iter(kappas)))}."
    low, high = min(kappas, key=lambda pair: kappas[pair]), max(kappas, key=lambda p: kappas[p])
    return f"Kappa between two annotators runs from {pair_text(low)} to {pair_text(high)}."
