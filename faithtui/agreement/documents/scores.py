"""What the judge says in numbers: scores and thresholds, confidences, another judge beside it."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import Block, Heading, Paragraph, Picture, Table
from faithtui.agreement.documents.differences import detection_table
from faithtui.agreement.documents.plots import reliability_plot, threshold_plot
from faithtui.agreement.documents.wording import (
    FIGURE_HEADS,
    NOTHING,
    count,
    decimal,
    p_value,
    row,
)
from faithtui.agreement.report.model import (
    AgreementReport,
    CalibrationReport,
    ComparisonReport,
    UnitScoreReport,
)
from faithtui.agreement.statistics.calibration import FEWEST_FOR_ECE

MOST_POINTS = 40
"""Thresholds listed, evenly chosen."""


def scores(report: AgreementReport) -> Iterator[Block]:
    """Compare scores of windows, of conversations, and of answers that people rated."""
    yield Heading("Scores and thresholds")
    for each in report.unit_scores:
        yield from _unit_scores(each)
    found = report.scores
    if found.answers:
        yield Heading("Answers", 3)
        yield Paragraph(
            f"Of {count(found.answers, 'answer', 'answers')} that annotators labelled or rated, "
            f"{found.vacuous:,} have no claims and {found.unscored:,} no score."
        )
        yield Table(
            "The judge's score of an answer and its human rating",
            FIGURE_HEADS,
            (
                row("Spearman, judge's score and human rating", found.spearman),
                row("AUROC, answers that pass against those that fail by human label", found.auroc),
                *_means(found.judge_mean, found.human_mean, found.spearman.n),
            ),
        )
    elif not report.unit_scores:
        yield Paragraph("Nothing with a score is labelled.")


def _means(judge: float | None, human: float | None, n: int) -> Iterator[tuple[str, ...]]:
    for name, value in (("mean, judge", judge), ("mean, human labels", human)):
        if value is not None:
            yield name, decimal(value), f"{n:,}", ""


def _unit_scores(found: UnitScoreReport) -> Iterator[Block]:
    one, many = found.unit.value, f"{found.unit.value}s"
    yield Heading(many.capitalize(), 3)
    yield Paragraph(
        f"{count(found.n, one, many)} with a score of both; left out: {found.partly:,} labelled in "
        f"part, {found.vacuous:,} without anything to judge, {found.unscored:,} without a score."
    )
    if not found.n:
        return
    limits = (
        NOTHING
        if found.limits is None
        else f"{decimal(found.limits[0])} to {decimal(found.limits[1])}"
    )
    yield Table(
        f"The judge's score of a {one}, and the same formula on human labels",
        FIGURE_HEADS,
        (
            *_means(found.judge_mean, found.human_mean, found.n),
            row("judge minus human", found.bias),
            row("absolute difference", found.mae),
            ("limits of agreement, 1.96 standard deviations", limits, f"{found.n:,}", ""),
            row("Spearman", found.spearman),
            row("Kendall's tau-b", found.kendall_tau_b),
            row("ICC(2,1)", found.icc),
            row("AUROC, those that pass against those that fail by human label", found.auroc),
            row("mean corrected by human labels (PPI++)", found.corrected),
        ),
    )
    chosen = found.threshold
    if chosen is None:
        yield Paragraph(
            f"Thresholds are not looked at: none is set, or fewer than ten {many} have both scores."
        )
        return
    sides = [(f"in force: {chosen.current:g}", chosen.at_current)]
    if chosen.suggested is not None and chosen.at_suggested is not None:
        sides.append((f"suggested: {chosen.suggested:.3f}", chosen.at_suggested))
        how = (
            "chosen by cross-validation, and counted on what it was not chosen on"
            if chosen.chosen_on == "cross_validated"
            else "chosen on the labels it is tried on, which flatters it"
        )
        yield Paragraph(
            f"The suggested threshold has the largest sum of recall and specificity (Youden); it "
            f"was {how}. It is never applied by itself."
        )
    else:
        yield Paragraph("No threshold can be suggested: by human labels all of them pass, or none.")
    yield detection_table(f"Failing a {one} by threshold; positive is failing", sides)
    drawn = threshold_plot(f"threshold-{one}", chosen, one)
    if drawn is not None:
        step = -(-len(chosen.curve) // MOST_POINTS)
        table = Table(
            "Recall and specificity by threshold, on all labels",
            ("threshold", "recall", "specificity"),
            tuple(
                tuple(map(decimal, point))
                for point in dict.fromkeys([*chosen.curve[::step], chosen.curve[-1]])
            ),
        )
        yield Picture(drawn, table, folded=True)


def calibrated(report: AgreementReport) -> Iterator[Block]:
    """Show whether the judge's confidence is what it says."""
    found = report.calibration
    yield Heading("Calibration")
    if found is None:
        yield Paragraph(
            "The judge gives no confidence, or nothing that it gave one for is labelled."
        )
        return
    source = found.source.replace("_", " ")
    yield Paragraph(
        f"Confidence that a claim is supported ({source}), on {found.n:,} labelled ones"
        + (", weighted by the sample; the n of bins is counted." if found.weighted else ".")
    )
    yield Table(
        "How good the confidences are",
        FIGURE_HEADS,
        (
            row("Brier score, lower is better", found.brier),
            (
                "Brier skill over always saying the base rate",
                decimal(found.skill),
                f"{found.n:,}",
                "",
            ),
            ("expected calibration error", _error(found), f"{found.n:,}", ""),
            ("what a perfect judge would show by luck", decimal(found.noise), f"{found.n:,}", ""),
        ),
    )
    drawn = reliability_plot("reliability", found)
    if drawn is not None:
        table = Table(
            "Bins of equal size; intervals by Wilson",
            ("confidence", "n", "mean confidence", "supported, by human label"),
            tuple(
                (
                    f"{each.low:.2f} to {each.high:.2f}",
                    f"{each.n:,}",
                    decimal(each.mean),
                    f"{decimal(each.observed)} [{decimal(each.ci_low)}, {decimal(each.ci_high)}]",
                )
                for each in found.bins
            ),
        )
        yield Picture(drawn, table)


def _error(found: CalibrationReport) -> str:
    if found.ece is not None:
        return decimal(found.ece)
    if found.few:
        return f"withheld (fewer than {FEWEST_FOR_ECE} labels)"
    return "withheld (a perfect judge would show as much by luck)"


def compared(report: AgreementReport) -> Iterator[Block]:
    """Show another judge on the same claims."""
    found = report.comparison
    yield Heading("Comparison with another judge")
    if found is None:
        yield Paragraph("No second run was compared.")
        return
    yield from _two_judges(found)


def _two_judges(found: ComparisonReport) -> Iterator[Block]:
    a, b = f"A: {found.a}", f"B: {found.b}"
    yield Paragraph(f"{a}. {b}.")
    yield Paragraph(
        f"Both judged {found.judges.n:,} claims; annotators labelled {found.common:,} of them, in "
        f"{found.clusters:,} groups. Only A agrees with the human label on {found.only_a:,}, only "
        f"B on {found.only_b:,}."
        + (
            " Only claims of the sample count, weighted as in all figures; these numbers of claims "
            "are not weighted."
            if found.weighted
            else ""
        )
    )
    yield Table(
        "Both judges against human labels, on the same claims",
        FIGURE_HEADS,
        (
            row("agreement of A with human labels", found.accuracy_a),
            row("agreement of B with human labels", found.accuracy_b),
            row("B minus A", found.difference),
            row("Cohen's kappa, B minus A", found.kappa_difference),
            row("A and B with each other, percent agreement", found.judges.percent),
            row("A and B with each other, Cohen's kappa", found.judges.cohen_kappa),
        ),
    )
    yield Table(
        "Is the difference more than luck?",
        ("test", "p"),
        (
            ("signs of whole groups flipped", p_value(found.signflip_p)),
            (f"the same, adjusted for {found.comparisons} (Holm)", p_value(found.holm_p)),
            ("McNemar for grouped pairs (Durkalski)", p_value(found.durkalski_p)),
            (
                "McNemar, mid-p, if claims were independent",
                "none: it is a test of counts, and claims are weighted"
                if found.weighted
                else p_value(found.mcnemar_p),
            ),
        ),
    )
