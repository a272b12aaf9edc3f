"""An agreement report as one page: the answer first, then what it rests on."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import Block
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.sections.agreement import (
    write_agreement_section,
    write_annotator_section,
)
from faithtui.agreement.documents.sections.errors import (
    write_detection_section,
    write_disagreement_section,
)
from faithtui.agreement.documents.sections.marked_evidence import (
    write_evidence_and_extraction_sections,
)
from faithtui.agreement.documents.sections.method import (
    write_interval_progress_section,
    write_method_section,
    write_pass_rate_sections,
)
from faithtui.agreement.documents.sections.scores import (
    write_calibration_section,
    write_perturbation_section,
    write_score_section,
    write_second_judge_section,
)
from faithtui.agreement.documents.sections.summary import (
    write_coverage_section,
    write_opening,
    write_population_section,
)
from faithtui.agreement.report.model import AgreementReport


def make_report_page(report: AgreementReport, header: ReportHeader) -> tuple[Block, ...]:
    """Put a report into words, tables and pictures.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Headline, warnings, the share that passes and coverage, then, where anything is labelled,
        detection, where it goes wrong, agreement, people, scores, calibration, probes, comparison
        and progress; the method at the end.
    """
    return tuple(_make_report_blocks(report, header))


def _make_report_blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    shown = [level for level in report.levels if level.coverage.reviewed]
    shown.sort(key=lambda level: level is not report.primary_level)
    yield from write_opening(report, header)
    yield from write_pass_rate_sections(report, report.levels)
    yield from write_population_section(report)
    yield from write_coverage_section(report, header)
    for level in shown:
        yield from write_detection_section(level)
    yield from write_disagreement_section(report, shown)
    for level in shown:
        yield from write_agreement_section(level, report.get_human_report(level.level))
    if shown:
        yield from write_annotator_section(report, shown)
    yield from write_evidence_and_extraction_sections(report)
    if shown or report.scores.answers:
        yield from write_score_section(report)
        yield from write_calibration_section(report)
    yield from write_perturbation_section(report)
    if shown or report.scores.answers:
        yield from write_second_judge_section(report)
        yield from write_interval_progress_section(report)
    yield from write_method_section(report, header)
