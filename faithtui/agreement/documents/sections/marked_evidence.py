"""What the judge points at against marked evidence, and which claims of answers it extracted."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import Block, Heading, Paragraph, Table
from faithtui.agreement.documents.figure_texts import (
    FIGURE_HEADS,
    make_estimate_row,
)
from faithtui.agreement.report.headline import format_number_with_noun
from faithtui.agreement.report.model import AgreementReport, EvidenceReport, ExtractionReport


def make_evidence_and_extraction_blocks(report: AgreementReport) -> Iterator[Block]:
    """Write both, where there is anything to write."""
    if report.evidence is not None:
        yield from _make_judge_against_marked_evidence_blocks(report.evidence)
    if report.extraction is not None:
        yield from _make_extraction_recall_blocks(report.extraction)


def _make_judge_against_marked_evidence_blocks(found: EvidenceReport) -> Iterator[Block]:
    yield Heading("Evidence")
    text = (
        f"On {format_number_with_noun(found.claims, 'claim', 'claims')} annotators marked the "
        "words that decide the verdict. They are compared with the words of the truths that the "
        "judge named for its own verdict. Each figure is a mean over claims, unweighted."
    )
    if found.uncited:
        text += (
            f" For {found.uncited:,} of them the judge named none, and every figure of the claim "
            "is 0."
        )
    yield Paragraph(text)
    yield Table(
        "Words the judge points at, against words that are marked",
        FIGURE_HEADS,
        (
            make_estimate_row("precision", found.precision),
            make_estimate_row("recall", found.recall),
            make_estimate_row("F1", found.f1),
            make_estimate_row("intersection over union", found.iou),
        ),
    )


def _make_extraction_recall_blocks(found: ExtractionReport) -> Iterator[Block]:
    yield Heading("Claim extraction")
    answers = format_number_with_noun(found.answers, "answer", "answers")
    text = (
        f"Annotators declared {answers} complete: the judge extracted {found.fair:,} of the claims "
        f"in them and missed {found.missed:,}. What was declared complete is no random sample, "
        "and nothing is weighted."
    )
    if found.unfair:
        text += f" {found.unfair:,} labelled x are left out."
    if found.unlabelled:
        text += f" {found.unlabelled:,} have no label and count as fair."
    yield Paragraph(text)
    yield Table(
        "Share of the claims of complete answers that the judge extracted",
        FIGURE_HEADS,
        (make_estimate_row("recall of claim extraction", found.recall),),
    )
