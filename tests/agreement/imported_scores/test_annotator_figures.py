from collections.abc import Sequence

import pytest

from faithtui.agreement.imported_scores.annotator_figures import (
    AnnotatorFigures,
    compute_inter_annotator_agreement,
)
from faithtui.agreement.imported_scores.label_scales import make_scale_convention
from faithtui.agreement.imported_scores.rated_units import RatedUnit
from faithtui.domain.estimates import (
    Estimate,
    EstimateStatus,
)
from faithtui.domain.withheld_reasons import WithheldReason

MTRAG = "mtrag-faithfulness-1-4"


LABELS, TWO_WAY = make_scale_convention(MTRAG).views


def units_of(rows: Sequence[str], people: str = "abcdefg") -> list[RatedUnit]:
    """Make a unit of each row, in a group of its own: a label per person, `.` for none."""
    return [
        RatedUnit(
            f"g{place}",
            {who: label for who, label in zip(people, row, strict=False) if label != "."},
            {},
            frozenset(),
        )
        for place, row in enumerate(rows)
    ]


def figures(*rows: str) -> AnnotatorFigures:
    return compute_inter_annotator_agreement(units_of(rows), LABELS)


def value(estimate: Estimate) -> float:
    assert estimate.value is not None
    return estimate.value


def test_a_near_miss_costs_less_on_the_ordinal_level() -> None:
    near = figures("12", "23", "34", "44", "11", "22")
    assert value(near.alpha_ordinal) > value(near.alpha_nominal)


def test_units_with_one_label_enter_neither_agreement_nor_pairs() -> None:
    found = figures("44", "1.", "33", ".2", "11")
    assert found.percent.n == 3
    assert [(pair.first, pair.second, pair.kappa.n) for pair in found.pairs] == [("a", "b", 3)]


def test_the_mean_kappa_is_plain_and_weighted_over_the_pairs_that_have_one() -> None:
    # a and b: 1 of 2 by chance alone, kappa 0; a and c agree on both; b and c have one word only.
    rows = ["14.", "44.", "1.1", "4.4", ".44"]
    found = figures(*rows)
    kappas = {(pair.first, pair.second): pair.kappa for pair in found.pairs}
    assert kappas["b", "c"].value is None
    assert kappas["b", "c"].reason is WithheldReason.NO_VARIATION
    assert (kappas["a", "b"].value, kappas["a", "c"].value) == (0.0, 1.0)
    assert found.mean_kappa == found.weighted_kappa == 0.5


def test_perfect_agreement_keeps_its_value_and_says_why_there_is_no_interval() -> None:
    alpha = figures("11", "22", "33", "44", "11", "44").alpha_nominal
    assert (alpha.value, alpha.status, alpha.has_interval) == (1.0, EstimateStatus.OK, False)
    assert alpha.reason is WithheldReason.NO_VARIATION


def test_one_person_alone_agrees_with_nobody() -> None:
    found = figures("1", "4")
    for each in (found.percent, found.alpha_nominal, found.alpha_ordinal, found.ac1):
        assert (each.value, each.reason) == (None, WithheldReason.NO_OVERLAP)
    assert (found.pairs, found.mean_kappa) == ((), WithheldReason.NO_OVERLAP)


def test_two_way_reads_3_and_4_alike() -> None:
    found = compute_inter_annotator_agreement(units_of(["34", "43", "12", "21"]), TWO_WAY)
    assert value(found.percent) == 1.0


def test_intervals_leave_out_whole_groups() -> None:
    rows = ["44", "34", "11", "12", "33", "21", "44", "13"]
    alone = compute_inter_annotator_agreement(units_of(rows), LABELS)
    merged = [
        RatedUnit(f"g{place // 2}", each.levels, {}, frozenset())
        for place, each in enumerate(units_of(rows))
    ]
    paired = compute_inter_annotator_agreement(merged, LABELS)
    assert alone.alpha_nominal.value == pytest.approx(paired.alpha_nominal.value)
    assert (alone.alpha_nominal.clusters, paired.alpha_nominal.clusters) == (8, 4)
    assert alone.alpha_nominal.has_interval
    assert paired.alpha_nominal.reason is WithheldReason.TOO_FEW_CLUSTERS
