"""An agreement report as one page: the answer first, then what it rests on."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import Block
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.sections.agreement import (
    make_agreement_section_blocks,
    make_annotator_section_blocks,
)
from faithtui.agreement.documents.sections.judge_errors import (
    make_detection_section_blocks,
    make_slice_and_disagreement_blocks,
)
from faithtui.agreement.documents.sections.judge_scores import (
    make_calibration_section_blocks,
    make_perturbation_section_blocks,
    make_score_section_blocks,
    make_second_judge_section_blocks,
)
from faithtui.agreement.documents.sections.marked_evidence import (
    make_evidence_and_extraction_blocks,
)
from faithtui.agreement.documents.sections.method import (
    make_interval_progress_section_blocks,
    make_method_section_blocks,
    make_pass_rate_section_blocks,
)
from faithtui.agreement.documents.sections.summary import (
    make_opening_blocks,
    make_review_coverage_blocks,
    make_sampled_population_blocks,
)
from faithtui.agreement.report.model import AgreementReport


def make_report_page(report: AgreementReport, header: ReportHeader) -> tuple[Block, ...]:
    """Put a report into words, tables and pictures.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Headline, warnings, the share that passes and coverage, then, where anything is labelled,
        detection, where it goes wrong, agreement, annotators, scores, calibration, probes,
        comparison and progress; the method at the end.
    """
    return tuple(_make_report_blocks(report, header))


def _make_report_blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    shown = [level for level in report.level_reports if level.coverage.reviewed]
    shown.sort(key=lambda level: level is not report.primary_level_report)
    yield from make_opening_blocks(report, header)
    yield from make_pass_rate_section_blocks(report, report.level_reports)
    yield from make_sampled_population_blocks(report)
    yield from make_review_coverage_blocks(report, header)
    for level in shown:
        yield from make_detection_section_blocks(level)
    yield from make_slice_and_disagreement_blocks(report, shown)
    for level in shown:
        yield from make_agreement_section_blocks(
            level, report.get_human_agreement_at_level(level.level)
        )
    if shown:
        yield from make_annotator_section_blocks(report, shown)
    yield from make_evidence_and_extraction_blocks(report)
    if shown or report.scores.answers:
        yield from make_score_section_blocks(report)
        yield from make_calibration_section_blocks(report)
    yield from make_perturbation_section_blocks(report)
    if shown or report.scores.answers:
        yield from make_second_judge_section_blocks(report)
        yield from make_interval_progress_section_blocks(report)
    yield from make_method_section_blocks(report, header)
