"""The middle of a report: judge against annotators, and annotators against each other."""

from collections.abc import Iterator, Sequence

from faithtui.agreement.documents.blocks import Block, Heading, Paragraph, PlotWithTable, Table
from faithtui.agreement.documents.figure_texts import (
    EMPTY_CELL,
    FIGURE_HEADS,
    WEIGHTED_SHARES_NOTE,
    decimal_text,
    estimate_text,
    level_unit_plural,
    make_estimate_row,
    p_value_text,
    share_text,
)
from faithtui.agreement.documents.plots.report_plots import confusion_plot, pairwise_kappa_plot
from faithtui.agreement.report.figures.missing_figures import explain_missing_class_figure
from faithtui.agreement.report.headline import format_number_with_noun
from faithtui.agreement.report.model import (
    Agreement,
    AgreementReport,
    HumanReport,
    LevelReport,
    MarginTest,
)
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.estimates import Estimate

_THIRD_DIGIT = 0.0015
"""Coefficients that differ by less are the same but for the last of three digits."""


def make_agreement_section_blocks(
    level: LevelReport, humans: HumanReport | None
) -> Iterator[Block]:
    """Show the table of a level and its coefficients beside inter-annotator agreement."""
    found, many = level.agreement, level_unit_plural(level)
    yield Heading(f"Agreement: {many}")
    table = Table(
        f"Counts of {many} and their share of the row; rows human labels, columns judge; "
        "none: no judge's verdict, in no figure",
        ("", *(f"judge {name}" for name in found.table.categories), "all", "none"),
        (
            *(
                (
                    f"human {name}",
                    *(_count_and_share_text(cell, sum(counts)) for cell in counts),
                    f"{sum(counts):,}",
                    f"{none:,}",
                )
                for name, counts, none in zip(
                    found.table.categories, found.table.counts, level.unjudged, strict=True
                )
            ),
            (
                "all",
                *(f"{each:,}" for each in found.table.judge_totals),
                f"{found.n:,}",
                f"{sum(level.unjudged):,}",
            ),
        ),
    )
    yield PlotWithTable(confusion_plot(f"confusion-{level.level.value}", found, many), table)
    if found.weighted is not None:
        yield Table(
            f"The same {many}, each weighted by one over its probability of being labelled: the "
            "figures below are computed from this",
            ("", *(f"judge {name}" for name in found.table.categories), "all"),
            tuple(
                (
                    f"human {name}",
                    *(
                        f"{cell:,.1f} ({share_text(cell, sum(cells))})" if sum(cells) else "0.0"
                        for cell in cells
                    ),
                    f"{sum(cells):,.1f}",
                )
                for name, cells in zip(found.table.categories, found.weighted, strict=True)
            ),
        )
    yield _make_coefficient_table(level, humans)
    weighted = found.weighted is not None
    shares = ("precision", "recall", "F1")
    yield Table(
        f"Each label: {many}{WEIGHTED_SHARES_NOTE if weighted else ''}",
        (
            *("label", "human", "judge", "both"),
            *(f"{name}, weighted" if weighted else name for name in shares),
        ),
        tuple(
            (
                each.label,
                f"{each.human:,}",
                f"{each.judge:,}",
                f"{each.both:,}",
                *(
                    estimate_text(figure, explain_missing_class_figure(figure, each.label))
                    for figure in (each.precision, each.recall, each.f1)
                ),
            )
            for each in level.classes
        ),
    )


def _count_and_share_text(cell: int, whole: int) -> str:
    return f"{cell:,} ({share_text(cell, whole)})" if cell else "0"


def _make_coefficient_table(level: LevelReport, humans: HumanReport | None) -> Table:
    found = level.agreement
    of_people = (
        {}
        if humans is None
        else {
            "percent agreement": estimate_text(humans.percent),
            "Krippendorff's alpha": estimate_text(humans.krippendorff_alpha),
            "Gwet's AC1": estimate_text(humans.gwet_ac1),
            "Cohen's kappa": f"Fleiss {estimate_text(humans.fleiss_kappa)}",
        }
    )
    known = [
        (name, each)
        for name, each in (
            ("percent agreement", found.percent),
            ("Cohen's kappa", found.cohen_kappa),
            ("Gwet's AC1", found.gwet_ac1),
            ("Krippendorff's alpha", found.krippendorff_alpha),
            ("Scott's pi", found.scott_pi),
            ("Cohen's kappa, quadratic weights", found.weighted_kappa),
            ("Gwet's AC2, quadratic weights", found.gwet_ac2),
        )
        if each is not None
    ]
    alike = {name for name, each in known[2:] if _is_same_to_third_digit(each, found.cohen_kappa)}
    rows = [make_estimate_row(name, each) for name, each in known if name not in alike]
    last = [make_estimate_row(name, each) for name, each in known if name in alike]
    plain = [
        (name, decimal_text(value), f"{found.n:,}", "")
        for name, value in (
            ("agreement by chance", found.chance),
            ("largest kappa these margins allow", found.max_kappa),
            ("prevalence index", found.prevalence_index),
            ("bias index", found.bias_index),
        )
        if value is not None
    ]
    tested = (
        []
        if found.marginal_test is None
        else [_make_symmetry_test_row(found.marginal_test, found.n)]
    )
    return Table(
        f"Agreement of judge and human labels: {level_unit_plural(level)}",
        (*FIGURE_HEADS, "inter-annotator agreement"),
        tuple(
            (*each, of_people.get(each[0], EMPTY_CELL)) for each in [*rows, *plain, *tested, *last]
        ),
    )


def _is_same_to_third_digit(one: Estimate, other: Estimate) -> bool:
    """Say whether a coefficient says nothing that another has not said."""
    if one.value is None or other.value is None:
        return False
    return abs(one.value - other.value) < _THIRD_DIGIT


def _make_symmetry_test_row(test: MarginTest, n: int) -> tuple[str, str, str, str]:
    named = {"mcnemar_mid_p": "McNemar, mid-p", "stuart_maxwell": "Stuart-Maxwell"}[test.name]
    return f"equal use of labels ({named}, p as if independent)", p_value_text(test.p), f"{n:,}", ""


def make_annotator_section_blocks(
    report: AgreementReport, levels: Sequence[LevelReport]
) -> Iterator[Block]:
    """Show each annotator against the judge, pairs of annotators, blind against shown, and repeats.

    Args:
        report: What to write.
        levels: Those at which anything is labelled.
    """
    yield Heading("Annotators")
    if report.raters:
        yield _make_agreement_table(
            "Judge against each annotator; the annotator's labels are the reference",
            "annotator",
            [(each.reviewer, each.agreement) for each in report.raters],
        )
    for level in levels:
        yield from _make_inter_annotator_agreement_blocks(report, level)
    yield from _make_blind_versus_shown_blocks(report)
    yield from _make_annotator_self_agreement_blocks(report)


def _make_agreement_table(caption: str, first: str, rows: Sequence[tuple[str, Agreement]]) -> Table:
    return Table(
        caption,
        (first, "n", "groups", "percent agreement", "Cohen's kappa", "alpha", "AC1"),
        tuple(
            (
                name,
                f"{each.n:,}",
                f"{each.clusters:,}",
                estimate_text(each.percent),
                estimate_text(each.cohen_kappa),
                estimate_text(each.krippendorff_alpha),
                estimate_text(each.gwet_ac1),
            )
            for name, each in rows
        ),
    )


def _make_inter_annotator_agreement_blocks(
    report: AgreementReport, level: LevelReport
) -> Iterator[Block]:
    humans, (one, many) = report.get_human_agreement_at_level(level.level), level.unit
    yield Heading(f"Inter-annotator agreement: {many}", 3)
    if humans is None:
        yield Paragraph(
            f"No {one} of the figures has labels of two annotators, so inter-annotator "
            "agreement, the most that can be asked of a judge, is unknown."
        )
        return
    yield Paragraph(
        f"{humans.raters} annotators; "
        f"{format_number_with_noun(humans.units, f'{one} has', f'{many} have')} labels "
        f"of "
        "two or more. Inter-annotator agreement is the most that can be asked of a judge."
    )
    yield Table(
        "Inter-annotator agreement; the judge does not enter, and each unit counts once",
        FIGURE_HEADS,
        (
            make_estimate_row("percent agreement", humans.percent),
            make_estimate_row("Krippendorff's alpha", humans.krippendorff_alpha),
            make_estimate_row("Gwet's AC1", humans.gwet_ac1),
            make_estimate_row("Fleiss' kappa", humans.fleiss_kappa),
        ),
    )
    table = _make_agreement_table(
        "Pairs of annotators; the first is the reference",
        "pair",
        [(f"{each.a} and {each.b}", each.agreement) for each in humans.pairs],
    )
    drawn = (
        pairwise_kappa_plot("pairs", humans, report.raters, "judge")
        if level.level is ReportLevel.CLAIMS
        else None
    )
    yield table if drawn is None else PlotWithTable(drawn, table)


def _make_blind_versus_shown_blocks(report: AgreementReport) -> Iterator[Block]:
    found = report.anchoring
    yield Heading("Labels given blind, and with the judge's verdict shown", 3)
    if found is None:
        yield Paragraph(
            "Labels were not given both ways, so whether a shown judge's verdict pulls "
            "annotators towards it is unknown."
        )
        return
    weighted = ", weighted by the sample" if found.blind.weighted is not None else ""
    yield _make_agreement_table(
        f"Judge against human labels, given blind or with the verdict shown{weighted}",
        "",
        [("blind", found.blind), ("shown", found.shown)],
    )
    yield Paragraph(
        f"Agreement in view minus blind{weighted}: {estimate_text(found.difference)}. "
        "Other claims were labelled blind than in view, so this is a hint and no experiment."
    )


def _make_annotator_self_agreement_blocks(report: AgreementReport) -> Iterator[Block]:
    yield Heading("Self-agreement of annotators (test-retest)", 3)
    if not report.repeats:
        yield Paragraph(
            "Nobody labelled a claim a second time, so the self-agreement of annotators is unknown."
        )
        return
    yield Table(
        "Second blind labels of an annotator against the same annotator's first "
        "ones; each counts once, whatever the run",
        ("annotator", "n", "same", "Cohen's kappa", "median time between"),
        tuple(
            (
                each.reviewer,
                f"{each.n:,}",
                estimate_text(each.same),
                estimate_text(each.kappa),
                _duration_text(each.gap_s),
            )
            for each in report.repeats
        ),
    )


def _duration_text(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"
