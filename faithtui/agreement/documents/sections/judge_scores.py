"""What the judge says in numbers: scores and thresholds, confidences, another judge beside it."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import Block, Heading, Paragraph, PlotWithTable, Table
from faithtui.agreement.documents.figure_texts import (
    EMPTY_CELL,
    FIGURE_HEADS,
    INTERVALS_BESIDE_P,
    decimal_text,
    make_estimate_row,
    p_value_text,
)
from faithtui.agreement.documents.plots.report_plots import (
    recall_and_specificity_plot,
    reliability_plot,
)
from faithtui.agreement.documents.sections.judge_errors import make_detection_table
from faithtui.agreement.report.headline import format_number_with_noun
from faithtui.agreement.report.model import (
    AgreementReport,
    CalibrationReport,
    ComparisonReport,
    UnitScoreReport,
)
from faithtui.agreement.statistics.calibration import FEWEST_FOR_ECE
from faithtui.domain.probes.perturbations import Effect

MOST_CURVE_ROWS = 40
"""Thresholds listed, evenly chosen."""


def make_score_section_blocks(report: AgreementReport) -> Iterator[Block]:
    """Compare scores of windows, of conversations, and of answers that annotators rated."""
    yield Heading("Scores and thresholds")
    for each in report.unit_scores:
        yield from _make_unit_score_comparison_blocks(each)
    found = report.scores
    if found.answers:
        yield Heading("Answers", 3)
        yield Paragraph(
            f"Of {format_number_with_noun(found.answers, 'answer', 'answers')} that annotators "
            "labelled "
            "or rated, "
            f"{found.n_vacuous:,} have no claims and {found.unscored:,} no score."
        )
        yield Table(
            "The judge's score of an answer and its human rating",
            FIGURE_HEADS,
            (
                make_estimate_row("Spearman, judge's score and human rating", found.spearman),
                make_estimate_row(
                    "AUROC, answers that pass against those that fail by human label", found.auroc
                ),
                *_mean_score_rows(found.judge_mean, found.human_mean, found.spearman.n),
            ),
        )
    elif not report.unit_scores:
        yield Paragraph("Nothing with a score is labelled.")


def _mean_score_rows(judge: float | None, human: float | None, n: int) -> Iterator[tuple[str, ...]]:
    for name, value in (("mean, judge", judge), ("mean, human labels", human)):
        if value is not None:
            yield name, decimal_text(value), f"{n:,}", ""


def _make_unit_score_comparison_blocks(found: UnitScoreReport) -> Iterator[Block]:
    one, many = found.level.value, f"{found.level.value}s"
    yield Heading(many.capitalize(), 3)
    yield Paragraph(
        f"{format_number_with_noun(found.n, one, many)} with a score of both; left out: "
        f"{found.n_partially_labelled:,} labelled in part, "
        f"{found.n_vacuous:,} without anything to judge, {found.unscored:,} without a score."
    )
    if not found.n:
        return
    limits = found.limits_of_agreement
    spread = (
        EMPTY_CELL
        if limits is None
        else f"{decimal_text(limits.low)} to {decimal_text(limits.high)}"
    )
    yield Table(
        f"The judge's score of a {one}, and the same formula on human labels",
        FIGURE_HEADS,
        (
            *_mean_score_rows(found.judge_mean, found.human_mean, found.n),
            make_estimate_row("judge minus human", found.bias),
            make_estimate_row("absolute difference", found.mae),
            ("limits of agreement, 1.96 standard deviations", spread, f"{found.n:,}", ""),
            make_estimate_row("Spearman", found.spearman),
            make_estimate_row("Kendall's tau-b", found.kendall_tau_b),
            make_estimate_row("ICC(2,1)", found.icc_2_1),
            make_estimate_row(
                "AUROC, those that pass against those that fail by human label", found.auroc
            ),
            make_estimate_row("mean corrected by human labels (PPI++)", found.corrected),
        ),
    )
    chosen = found.threshold
    if chosen is None:
        yield Paragraph(
            f"Thresholds are not looked at: none is set, or fewer than ten {many} have both scores."
        )
        return
    sides = [(f"in force: {chosen.current:g}", chosen.at_current)]
    if chosen.suggested is not None:
        better = chosen.suggested
        sides.append((f"suggested: {better.value:.3f}", better.detection))
        how = (
            "chosen by cross-validation, and counted on what it was not chosen on"
            if better.chosen_on == "cross_validated"
            else "chosen on the labels it is tried on, which flatters it"
        )
        yield Paragraph(
            f"The suggested threshold has the largest sum of recall and specificity (Youden); it "
            f"was {how}. It is never applied by itself."
        )
    else:
        yield Paragraph("No threshold can be suggested: by human labels all of them pass, or none.")
    yield make_detection_table(f"Failing a {one} by threshold; positive is failing", sides)
    drawn = recall_and_specificity_plot(f"threshold-{one}", chosen, one)
    if drawn is not None:
        step = -(-len(chosen.curve) // MOST_CURVE_ROWS)
        table = Table(
            "Recall and specificity by threshold, on all labels",
            ("threshold", "recall", "specificity"),
            tuple(
                tuple(map(decimal_text, point))
                for point in dict.fromkeys([*chosen.curve[::step], chosen.curve[-1]])
            ),
        )
        yield PlotWithTable(drawn, table, folded=True)


def make_calibration_section_blocks(report: AgreementReport) -> Iterator[Block]:
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
            make_estimate_row("Brier score, lower is better", found.brier),
            (
                "Brier skill over always saying the base rate",
                decimal_text(found.brier_skill),
                f"{found.n:,}",
                "",
            ),
            ("expected calibration error", _calibration_error_text(found), f"{found.n:,}", ""),
            (
                "what a perfect judge would show by luck",
                decimal_text(found.ece_noise_floor),
                f"{found.n:,}",
                "",
            ),
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
                    decimal_text(each.mean_confidence),
                    f"{decimal_text(each.observed)} [{decimal_text(each.ci_low)}, "
                    f"{decimal_text(each.ci_high)}]",
                )
                for each in found.bins
            ),
        )
        yield PlotWithTable(drawn, table)


def make_perturbation_section_blocks(report: AgreementReport) -> Iterator[Block]:
    """Show how often small changes to claims change the judge's verdict."""
    found = report.probes
    if found is None:
        return
    yield Heading("Probes")
    words = (
        ""
        if found.same_judge
        else (" The run was judged by another version of this judge, or with other parameters.")
    )
    claims = format_number_with_noun(found.claims, "labelled claim", "labelled claims")
    yield Paragraph(
        f"{claims} changed a little (seed {found.seed}) and put to {found.judge}. Changes that "
        "break a claim are made of supported ones that it called yes; an injected instruction "
        f"demands a yes and is tried where it said otherwise.{words}"
    )
    yield Table(
        "Verdicts that changed; 95 % intervals by Wilson",
        ("change", "the verdict should", "n", "changed", "share"),
        tuple(
            (
                each.kind.value,
                "stay" if each.effect is Effect.KEEPS else "leave yes",
                f"{each.probes:,}",
                f"{each.changed:,}",
                f"{each.share:.1%} [{each.low:.1%}, {each.high:.1%}]",
            )
            for each in found.figures
        ),
    )


def _calibration_error_text(found: CalibrationReport) -> str:
    if found.ece is not None:
        return decimal_text(found.ece)
    if found.few:
        return f"withheld (fewer than {FEWEST_FOR_ECE} labels)"
    return "withheld (a perfect judge would show as much by luck)"


def make_second_judge_section_blocks(report: AgreementReport) -> Iterator[Block]:
    """Show another judge on the same claims."""
    found = report.comparison
    yield Heading("Comparison with another judge")
    if found is None:
        yield Paragraph("No second run was compared.")
        return
    yield from _make_judge_comparison_blocks(found)


def _make_judge_comparison_blocks(found: ComparisonReport) -> Iterator[Block]:
    a, b = f"A: {found.a}", f"B: {found.b}"
    yield Paragraph(f"{a}. {b}.")
    yield Paragraph(
        f"Both judged {found.judges.n:,} claims; annotators labelled {found.n_common:,} of them, "
        f"in {found.clusters:,} groups. Only A agrees with the human label on "
        f"{found.a_only_correct:,}, only B on {found.b_only_correct:,}."
        + (
            " Only claims of the sample count, weighted as in all figures; these numbers of claims "
            "are not weighted."
            if found.weighted
            else ""
        )
        + (
            f" B gave no label to {found.n_left_out:,} of the claims that the figures of A above "
            "rest on: those below are of the others alone, and so differ from these."
            if found.n_left_out
            else ""
        )
    )
    yield Table(
        "Both judges against human labels, on the same claims",
        FIGURE_HEADS,
        (
            make_estimate_row("agreement of A with human labels", found.accuracy_a),
            make_estimate_row("agreement of B with human labels", found.accuracy_b),
            make_estimate_row("B minus A", found.difference),
            make_estimate_row("Cohen's kappa, B minus A", found.kappa_difference),
            make_estimate_row("A and B with each other, percent agreement", found.judges.percent),
            make_estimate_row("A and B with each other, Cohen's kappa", found.judges.cohen_kappa),
        ),
    )
    yield Table(
        "Is the difference more than luck?",
        ("test", "p"),
        (
            ("signs of whole groups flipped", p_value_text(found.signflip_p)),
            (f"the same, adjusted for {found.comparisons_made} (Holm)", p_value_text(found.holm_p)),
            ("McNemar for grouped pairs (Durkalski)", p_value_text(found.clustered_mcnemar_p)),
            (
                "McNemar, mid-p, if claims were independent",
                "none: it is a test of counts, and claims are weighted"
                if found.weighted
                else p_value_text(found.mcnemar_mid_p),
            ),
        ),
    )
    yield Paragraph(INTERVALS_BESIDE_P)
