"""Lines of marked evidence and of claim extraction: what annotators added beside verdicts."""

from faithtui.agreement.report.model import AgreementReport, EvidenceReport, ExtractionReport
from faithtui.tui.agreement.figure_lines import PAD, format_estimate_lines
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, wrap


def has_evidence_or_complete_answers(report: AgreementReport) -> bool:
    """Whether annotators marked evidence, or declared an answer complete."""
    return report.evidence is not None or report.extraction is not None


def format_evidence_and_recall_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw agreement on evidence, and which claims of complete answers the judge extracted."""
    if not has_evidence_or_complete_answers(report):
        words = "no evidence is marked, and no answer is declared complete"
        return wrap([Piece(words, "quiet")], width - 1, first=PAD)
    lines: list[Line] = []
    notes: list[Line] = []
    if report.evidence is not None:
        lines += _format_evidence_agreement_lines(report.evidence, width)
        notes += _evidence_notes(report.evidence, width)
    if report.extraction is not None:
        lines += _format_claim_recall_lines(report.extraction, width)
        notes += _format_claim_recall_notes(report.extraction, width)
    return [*lines, BLANK, *notes]


def _format_evidence_agreement_lines(found: EvidenceReport, width: int) -> list[Line]:
    marked = f"evidence · {fmt.format_count_with_noun(found.claims, 'claim')} marked"
    lines = wrap([Piece(marked, "strong")], width - 1, first=PAD)
    for name, value in (
        ("precision", found.precision),
        ("recall", found.recall),
        ("F1", found.f1),
        ("IoU", found.iou),
    ):
        lines += format_estimate_lines(name, value, width, name_width=9)
    return lines


def _evidence_notes(found: EvidenceReport, width: int) -> list[Line]:
    words = (
        "evidence: words that the judge points at, against words that "
        f"{fmt.format_count_with_noun(found.annotators, 'annotator')} marked; mean over claims"
    )
    lines = wrap([Piece(words, "quiet")], width - 1, first=PAD)
    if found.uncited:
        claims = fmt.format_count_with_noun(found.uncited, "claim")
        words = f"for {claims} the judge points at nothing: 0 in every figure"
        lines += wrap([Piece(words, "warn")], width - 1, first=PAD)
    return lines


def _format_claim_recall_lines(found: ExtractionReport, width: int) -> list[Line]:
    answers = f"extraction · {fmt.format_count_with_noun(found.answers, 'complete answer')}"
    lines = wrap([Piece(answers, "strong")], width - 1, first=PAD)
    return [*lines, *format_estimate_lines("recall", found.recall, width, name_width=9)]


def _format_claim_recall_notes(found: ExtractionReport, width: int) -> list[Line]:
    words = (
        "extraction: of the claims of answers declared complete, the judge extracted "
        f"{fmt.format_count(found.fair)} and missed {fmt.format_count(found.missed)}"
    )
    if found.unfair:
        words += f"; {fmt.format_count(found.unfair)} labelled x left out"
    if found.unlabelled:
        words += f"; {fmt.format_count(found.unlabelled)} without a label counted as fair"
    return wrap([Piece(words, "quiet")], width - 1, first=PAD)
