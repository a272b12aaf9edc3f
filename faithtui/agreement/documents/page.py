"""An agreement report as one page: the answer first, then what it rests on."""

from collections.abc import Iterator

from faithtui.agreement.documents.agreement import judge_and_people, people
from faithtui.agreement.documents.blocks import Block
from faithtui.agreement.documents.closing import method, progressed, rates
from faithtui.agreement.documents.differences import detected, where_wrong
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.opening import opening, reviewed
from faithtui.agreement.documents.scores import calibrated, compared, scores
from faithtui.agreement.report.model import AgreementReport


def report_page(report: AgreementReport, header: ReportHeader) -> tuple[Block, ...]:
    """Put a report into words, tables and pictures.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Headline, warnings, coverage, then, where anything is labelled, agreement, people,
        detection, where it goes wrong, scores, calibration, comparison and progress; the share
        that passes and the method at the end.
    """
    return tuple(_blocks(report, header))


def _blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    shown = [level for level in report.levels if level.coverage.reviewed]
    shown.sort(key=lambda level: level is not report.primary)
    yield from opening(report, header)
    yield from reviewed(report, header)
    for level in shown:
        yield from judge_and_people(level, report.humans)
    if shown:
        yield from people(report)
    for level in shown:
        yield from detected(level)
    yield from where_wrong(report, shown)
    if shown or report.scores.answers:
        yield from scores(report)
        yield from calibrated(report)
        yield from compared(report)
        yield from progressed(report)
    yield from rates(report, report.levels)
    yield from method(report, header)
