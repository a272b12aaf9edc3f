"""Where the judge goes wrong: finding the unfaithful, parts worst first, and the single units."""

from collections.abc import Iterator, Sequence

from faithtui.agreement.documents.blocks import Block, Heading, Paragraph, PlotWithTable, Table
from faithtui.agreement.documents.figure_texts import (
    WEIGHTED_SHARES_NOTE,
    estimate_text,
    format_breakdown_title,
    format_slice_key,
    join_alternatives,
    level_unit_plural,
)
from faithtui.agreement.documents.plots.report_plots import slice_agreement_plot
from faithtui.agreement.report.model import (
    AgreementReport,
    Breakdown,
    Detection,
    LevelReport,
    Slice,
)
from faithtui.domain.labels.reason_codes import REASON_CODES

MOST_DISAGREEMENTS = 200
"""Disagreements listed per level; the CSV has them all."""
MOST_CHARACTERS = 300
"""Of an answer in the list of disagreements: as many as a long claim has; the JSON has all."""
MOST_SLICE_ROWS = 50
"""Parts of a breakdown listed; the JSON has more."""


def make_detection_section_blocks(level: LevelReport) -> Iterator[Block]:
    """Show how well the judge finds the unfaithful, in the strict and in the lenient sense."""
    sides = [level.strict] if level.lenient is None else [level.strict, level.lenient]
    names = ["idk as pass", "idk as fail"] if level.lenient else ["unfaithful"]
    yield Heading(f"Detecting unfaithful {level_unit_plural(level)}")
    weighted = level.agreement.weighted is not None
    yield make_detection_table(
        f"The positive class is unfaithful, by the judge and by human labels{WEIGHTED_SHARES_NOTE}"
        if weighted
        else "The positive class is unfaithful, by the judge and by human labels",
        [
            (f"{name}: {join_alternatives(side.positive)}", side)
            for name, side in zip(names, sides, strict=True)
        ],
        weighted=weighted,
    )


def make_detection_table(
    caption: str, sides: Sequence[tuple[str, Detection]], *, weighted: bool = False
) -> Table:
    """Make a table of detection figures.

    Args:
        caption: Of the table.
        sides: What counts as positive, and the figures for it.
        weighted: The shares are weighted by the sample; the counts never are.
    """
    columns = [
        (
            f"{side.tp:,}",
            f"{side.fp:,}",
            f"{side.fn:,}",
            f"{side.tn:,}",
            *(
                f"{estimate_text(each)}, n {each.n:,}"
                for each in (
                    side.precision,
                    side.recall,
                    side.specificity,
                    side.npv,
                    side.f1,
                    side.balanced_accuracy,
                    side.mcc,
                    side.prevalence,
                )
            ),
        )
        for _, side in sides
    ]
    return Table(
        caption,
        ("", *(name for name, _ in sides)),
        tuple(
            zip(
                (
                    *(f"{name}, counted" if weighted else name for name in _COUNTS),
                    *(f"{name}, weighted" if weighted else name for name in _SHARES),
                ),
                *columns,
                strict=True,
            )
        ),
    )


_COUNTS = ("TP", "FP", "FN", "TN")
_SHARES = (
    "precision",
    "recall",
    "specificity",
    "negative predictive value",
    "F1",
    "balanced accuracy",
    "Matthews correlation",
    "prevalence",
)


def make_slice_and_disagreement_blocks(
    report: AgreementReport, shown: Sequence[LevelReport]
) -> Iterator[Block]:
    """Show agreement by part, worst first, then every unit on which judge and annotators differ."""
    # One part alone is the whole again.
    parts = [
        each for each in report.breakdowns if len(each.rows) + each.suppressed + each.better > 1
    ]
    differing = [level for level in shown if level.disagreements]
    if not parts and not differing:
        return
    yield Heading("Where it goes wrong")
    for each in parts:
        name = format_breakdown_title(each)
        yield Heading(f"By {name}", 3)
        if each.rows:
            table = _make_slice_table(each)
            place = list(report.breakdowns).index(each)
            id = f"metadata-{place}" if each.by is Slice.METADATA else each.by.value
            plot = slice_agreement_plot(f"forest-{id}", each, report.claims.percent_agreement)
            yield table if plot is None else PlotWithTable(plot, table)
        left_out = []
        better = max(0, len(each.rows) - MOST_SLICE_ROWS) + each.better
        if better:
            left_out.append(f"{better:,} better ones are not listed here.")
        if each.suppressed:
            left_out.append(
                "One part has too few units for a figure and is left out."
                if each.suppressed == 1
                else f"{each.suppressed:,} parts have too few units for a figure and are left out."
            )
        if left_out:
            yield Paragraph(" ".join(left_out))
    for level in differing:
        yield from _make_disagreement_blocks(level)


def _make_slice_table(found: Breakdown) -> Table:
    """Make a table of parts, without what a single verdict of the judge fixes."""
    name = format_breakdown_title(found)
    heads: tuple[str, ...] = (name, "n", "groups", "percent agreement")
    rows: list[tuple[str, ...]] = [
        (
            _slice_key_text(found.by, part.key),
            f"{part.n:,}",
            f"{part.clusters:,}",
            estimate_text(part.percent),
        )
        for part in found.rows[:MOST_SLICE_ROWS]
    ]
    if found.by is not Slice.VERDICT:
        heads += ("Cohen's kappa", "recall", "precision")
        rows = [
            (
                *row,
                "" if part.cohen_kappa is None else estimate_text(part.cohen_kappa),
                estimate_text(part.recall),
                estimate_text(part.precision),
            )
            for row, part in zip(rows, found.rows, strict=False)
        ]
    return Table(f"Agreement by {name}, worst first", heads, tuple(rows))


def _slice_key_text(by: Slice, key: str) -> str:
    if by is not Slice.CODE:
        return format_slice_key(by, key)
    titles = {each.name: each.title for each in REASON_CODES}
    return f"{key}: {titles[key]}" if key in titles else key


def _make_disagreement_blocks(level: LevelReport) -> Iterator[Block]:
    found = level.disagreements
    with_answers = any(each.answer_text is not None for each in found[:1])
    yield Heading(f"Disagreements: {level_unit_plural(level)}", 3)
    yield Table(
        f"{level_unit_plural(level).capitalize()} with different labels",
        (
            *("unit", "conversation", "turn", "judge", "human", "annotators"),
            *(("score", "text") if with_answers else ("text",)),
        ),
        tuple(
            (
                f"turn {each.turn + 1}" if each.claim is None else f"claim {each.claim}",
                each.key,
                str(each.turn + 1),
                each.judge,
                each.human,
                ", ".join(each.raters),
                each.text,
                *((_shorten_answer(each.answer_text or ""),) if with_answers else ()),
            )
            for each in found[:MOST_DISAGREEMENTS]
        ),
        figures=False,
    )
    if len(found) > MOST_DISAGREEMENTS:
        yield Paragraph(f"{len(found) - MOST_DISAGREEMENTS:,} more are not listed here.")


def _shorten_answer(text: str) -> str:
    """Put an answer on one line of a table, cut where it is longer than claims are."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1].rstrip()}…"
