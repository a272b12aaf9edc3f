"""Overlap of evidence and recall of extraction: worked numbers, and how often intervals hold."""

from collections.abc import Sequence

import numpy as np
import pytest

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.agreement.report.figures.marked_evidence import (
    compute_evidence_overlap,
    compute_extraction_recall,
)
from faithtui.agreement.statistics.span_overlap import compute_span_overlap, estimate_mean_share
from faithtui.domain.estimates import EstimateStatus
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.withheld_reasons import WithheldReason
from tests.benchmarks.evidence_coverage import (
    count_held,
    draw_evidence,
    draw_extraction,
    estimate_f1,
    estimate_recall,
    find_true_f1,
)


def words(*places: int) -> frozenset[tuple[str, int]]:
    return frozenset(("d", place) for place in places)


def unit(
    claim: int, marked: Sequence[int], cited: Sequence[int], who: str = "ann", group: str = ""
) -> EvidenceUnit:
    return EvidenceUnit(ClaimId(claim), group or f"g{claim}", who, words(*marked), words(*cited))


def test_overlap_by_hand() -> None:
    """Four words marked, five pointed at, two of both."""
    found = compute_span_overlap(words(0, 1, 2, 3), words(2, 3, 4, 5, 6))
    assert found.precision == pytest.approx(2 / 5)
    assert found.recall == pytest.approx(2 / 4)
    assert found.f1 == pytest.approx(2 * 0.4 * 0.5 / 0.9)
    assert found.iou == pytest.approx(2 / 7)


def test_overlap_with_nothing_and_with_the_same() -> None:
    assert compute_span_overlap(words(0, 1), frozenset()) == (0, 0, 0, 0)
    assert compute_span_overlap(words(0, 1), words(0, 1)) == (1, 1, 1, 1)
    assert compute_span_overlap(words(0, 1), words(2)) == (0, 0, 0, 0)


def test_a_claim_counts_once_however_many_marked_it() -> None:
    found = compute_evidence_overlap(
        [unit(1, [0, 1], [0, 1]), unit(1, [5], [0, 1], "bo"), unit(2, [0], [])], 0.95
    )
    assert found is not None
    assert (found.claims, found.annotators, found.uncited) == (2, 2, 1)
    assert found.f1.value == pytest.approx((1 + 0) / 2 / 2)
    assert (found.f1.n, found.f1.clusters) == (2, 2)


def test_extraction_by_hand() -> None:
    """Of 3 + 5 fair claims and 1 + 1 missed ones; x is in neither."""
    found = compute_extraction_recall(
        [
            ExtractionUnit(ConversationId(1), "a", 1, 3, 2, 1, 1, ("ann",)),
            ExtractionUnit(ConversationId(2), "b", 1, 5, 0, 0, 1, ("ann", "bo")),
        ],
        0.95,
    )
    assert found is not None
    assert (found.answers, found.annotators) == (2, 2)
    assert (found.fair, found.unfair, found.unlabelled, found.missed) == (8, 2, 1, 2)
    assert found.recall.value == pytest.approx(0.8)
    assert (found.recall.n, found.recall.clusters) == (10, 2)


def test_without_marks_and_without_claims_there_is_no_figure() -> None:
    assert compute_evidence_overlap((), 0.95) is None
    assert compute_extraction_recall((), 0.95) is None
    empty = compute_extraction_recall(
        [ExtractionUnit(ConversationId(1), "a", 1, 0, 1, 0, 0, ("x",))], 0.95
    )
    assert empty is not None
    assert (empty.recall.value, empty.recall.reason) == (None, WithheldReason.NO_ITEMS)
    assert estimate_mean_share([]).status is EstimateStatus.UNDEFINED


def test_the_order_of_units_does_not_show() -> None:
    units = draw_evidence(12, np.random.default_rng(1))
    assert compute_evidence_overlap(units, 0.95) == compute_evidence_overlap(units[::-1], 0.95)


@pytest.mark.thorough
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Of 300; benchmarks/evidence_coverage has more. By chance 9 in 10 would be very rare."""
    truth = find_true_f1()
    held, _ = count_held(lambda rng: estimate_f1(draw_evidence(20, rng)), truth, 300)
    assert 0.91 <= held <= 0.99
    held, _ = count_held(lambda rng: estimate_recall(draw_extraction(20, 0.85, rng)), 0.85, 300)
    assert 0.91 <= held <= 0.995
