"""What annotators marked as evidence beside what the judge points at, and claims it missed."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.agreement.report.model import EvidenceReport, ExtractionReport
from faithtui.agreement.statistics.figures import estimate_share_of_counts
from faithtui.agreement.statistics.matrices import number_distinct_keys_by_occurrence
from faithtui.agreement.statistics.span_overlap import (
    SpanOverlap,
    compute_span_overlap,
    estimate_mean_share,
)
from faithtui.domain.ids import ClaimId


def compute_evidence_overlap(units: Sequence[EvidenceUnit], level: float) -> EvidenceReport | None:
    """Compare marked evidence with the judge's, claim by claim.

    A claim counts once: what several annotators marked is compared one by one and averaged.

    Args:
        units: One for each annotator and claim with a mark.
        level: Confidence level in (0, 1).

    Returns:
        None without marks.
    """
    if not units:
        return None
    by_claim: dict[ClaimId, list[EvidenceUnit]] = defaultdict(list)
    for unit in units:
        by_claim[unit.claim].append(unit)
    found: list[tuple[str, SpanOverlap]] = []
    for same in by_claim.values():
        overlaps = [compute_span_overlap(each.marked, each.cited) for each in same]
        means = (sum(part) / len(overlaps) for part in zip(*overlaps, strict=True))
        found.append((same[0].group, SpanOverlap(*means)))
    return EvidenceReport(
        claims=len(found),
        annotators=len({each.reviewer for each in units}),
        uncited=sum(not same[0].cited for same in by_claim.values()),
        precision=estimate_mean_share(((group, each.precision) for group, each in found), level),
        recall=estimate_mean_share(((group, each.recall) for group, each in found), level),
        f1=estimate_mean_share(((group, each.f1) for group, each in found), level),
        iou=estimate_mean_share(((group, each.iou) for group, each in found), level),
    )


def compute_extraction_recall(
    units: Sequence[ExtractionUnit], level: float
) -> ExtractionReport | None:
    """Say which share of the claims of answers the judge extracted.

    Args:
        units: Answers that annotators declared complete.
        level: Confidence level in (0, 1).

    Returns:
        None without such answers.
    """
    if not units:
        return None
    places, names = number_distinct_keys_by_occurrence([each.group for each in units])
    fair = np.bincount(places, [each.fair for each in units], len(names)).astype(np.int64)
    missed = np.bincount(places, [each.missed for each in units], len(names)).astype(np.int64)
    return ExtractionReport(
        answers=len(units),
        annotators=len({who for each in units for who in each.reviewers}),
        fair=int(fair.sum()),
        unfair=sum(each.unfair for each in units),
        unlabelled=sum(each.unlabelled for each in units),
        missed=int(missed.sum()),
        recall=estimate_share_of_counts(fair, fair + missed, level),
    )
