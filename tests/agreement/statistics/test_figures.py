from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import detection
from faithtui.agreement.statistics.coefficients import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    chance_agreement,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    list_table_warning_codes,
    marginal_distance,
    percent_agreement,
)
from faithtui.agreement.statistics.figures import estimate_figure, estimate_share
from faithtui.agreement.statistics.matrices import count_confusion_by_group
from faithtui.domain.estimates import EstimateStatus, Point
from faithtui.domain.withheld_reasons import WithheldReason

OF_TABLE: dict[str, Callable[[ConfusionMatrix[float]], Point]] = {
    "percent_agreement": percent_agreement,
    "cohen_kappa": cohen_kappa,
    "gwet_ac1": gwet_ac1,
    "krippendorff_alpha": krippendorff_alpha,
}
OF_BINARY: dict[str, Callable[[ConfusionMatrix[float]], Point]] = {
    "precision": detection.precision,
    "recall": detection.recall,
    "specificity": detection.specificity,
    "npv": detection.npv,
    "f1": detection.f1,
    "balanced_accuracy": detection.balanced_accuracy,
    "mcc": detection.mcc,
}


def table_of(
    matrix: Sequence[Sequence[int]], names: Sequence[object] | None = None
) -> ConfusionMatrix[float]:
    categories = tuple(map(str, names if names is not None else range(len(matrix))))
    return ConfusionMatrix(categories, tuple(map(tuple, matrix)))


def binary(tp: int, fp: int, fn: int, tn: int) -> ConfusionMatrix[float]:
    return table_of([[tp, fn], [fp, tn]])


def test_warning_limits_are_sharp() -> None:
    assert list_table_warning_codes(table_of([[45, 6], [4, 45]])) == ()
    assert list_table_warning_codes(table_of([[44, 11], [0, 45]])) == ("marginal_bias",)
    assert list_table_warning_codes(table_of([[45, 10], [0, 45]])) == ()
    assert list_table_warning_codes(table_of([[30, 0], [0, 0]])) == ("undefined",)
    assert list_table_warning_codes(table_of([[0, 0], [0, 0]])) == ("few_items", "undefined")


@pytest.mark.parametrize(
    ("compute", "counts", "reason"),
    [
        (detection.precision, (0, 0, 3, 5), WithheldReason.NO_PREDICTED_POSITIVES),
        (detection.recall, (0, 3, 0, 5), WithheldReason.NO_REFERENCE_POSITIVES),
        (detection.specificity, (3, 0, 2, 0), WithheldReason.ONE_CLASS_ONLY),
        (detection.npv, (3, 2, 0, 0), WithheldReason.ONE_CLASS_ONLY),
        (detection.f1, (0, 0, 0, 5), WithheldReason.NO_REFERENCE_POSITIVES),
        (detection.balanced_accuracy, (0, 3, 0, 5), WithheldReason.NO_REFERENCE_POSITIVES),
        (detection.balanced_accuracy, (3, 0, 2, 0), WithheldReason.ONE_CLASS_ONLY),
        (detection.mcc, (0, 0, 3, 5), WithheldReason.NO_PREDICTED_POSITIVES),
        (detection.mcc, (0, 3, 0, 5), WithheldReason.NO_REFERENCE_POSITIVES),
        (detection.mcc, (3, 0, 2, 0), WithheldReason.ONE_CLASS_ONLY),
        (detection.mcc, (3, 2, 0, 0), WithheldReason.ONE_CLASS_ONLY),
    ],
)
def test_detection_without_a_denominator_says_why(
    compute: Callable[[ConfusionMatrix[float]], Point],
    counts: tuple[int, int, int, int],
    reason: WithheldReason,
) -> None:
    tp, fp, fn, tn = counts
    assert compute(binary(tp, fp, fn, tn)) is reason


@pytest.mark.parametrize(
    "compute",
    [
        *OF_TABLE.values(),
        *OF_BINARY.values(),
        chance_agreement,
        marginal_distance,
        detection.prevalence,
    ],
)
def test_an_empty_table_has_no_items(compute: Callable[[ConfusionMatrix[float]], Point]) -> None:
    assert compute(table_of([[0, 0], [0, 0]])) is WithheldReason.NO_ITEMS


def test_ac1_needs_two_declared_categories() -> None:
    assert gwet_ac1(table_of([[4]])) is WithheldReason.NO_VARIATION


def test_a_judge_that_says_yes_to_everything_has_kappa_zero_and_a_high_ac1() -> None:
    table = table_of([[90, 0], [10, 0]])
    assert cohen_kappa(table) == 0
    ac1 = gwet_ac1(table)
    assert isinstance(ac1, float)
    assert ac1 == pytest.approx(0.89, abs=0.005)


counts_st = st.integers(0, 30)
tables = st.integers(2, 4).flatmap(
    lambda size: st.lists(
        st.lists(counts_st, min_size=size, max_size=size), min_size=size, max_size=size
    ).map(table_of)
)
COEFFICIENTS: tuple[Callable[[ConfusionMatrix[float]], Point], ...] = (
    percent_agreement,
    cohen_kappa,
    krippendorff_alpha,
    gwet_ac1,
)


def transposed(table: ConfusionMatrix[float]) -> ConfusionMatrix[float]:
    return ConfusionMatrix(table.categories, tuple(zip(*table.counts, strict=True)))


def same(left: Point, right: Point) -> bool:
    if isinstance(left, WithheldReason) or isinstance(right, WithheldReason):
        return left is right
    return left == pytest.approx(right, abs=1e-12)


@given(tables)
def test_swapping_the_raters_changes_no_coefficient(table: ConfusionMatrix[float]) -> None:
    for compute in COEFFICIENTS:
        assert same(compute(table), compute(transposed(table)))


@given(tables, st.randoms(use_true_random=False))
def test_renaming_and_reordering_categories_changes_no_coefficient(
    table: ConfusionMatrix[float], random: Any
) -> None:
    order = list(range(len(table.categories)))
    random.shuffle(order)
    moved = ConfusionMatrix(
        tuple("abcd"[: len(order)]), tuple(tuple(table.counts[i][j] for j in order) for i in order)
    )
    for compute in COEFFICIENTS:
        assert same(compute(table), compute(moved))


@given(tables)
def test_a_category_nobody_used_changes_ac1_only(table: ConfusionMatrix[float]) -> None:
    size = len(table.categories)
    wider = ConfusionMatrix(
        (*table.categories, "unused"),
        (*((*row, 0) for row in table.counts), (0,) * (size + 1)),
    )
    for compute in COEFFICIENTS[:3]:
        assert same(compute(table), compute(wider))
    narrow, wide = gwet_ac1(table), gwet_ac1(wider)
    if isinstance(narrow, float) and isinstance(wide, float) and table.agreed_count < table.n:
        assert wide > narrow


@given(st.lists(counts_st, min_size=2, max_size=4))
def test_identity_has_kappa_and_alpha_one_when_two_labels_are_in_use(diagonal: list[int]) -> None:
    size = len(diagonal)
    table = table_of([[diagonal[i] if i == j else 0 for j in range(size)] for i in range(size)])
    used = sum(count > 0 for count in diagonal)
    for compute in (cohen_kappa, krippendorff_alpha):
        if used >= 2:
            assert compute(table) == 1
        else:
            assert compute(table) is (
                WithheldReason.NO_VARIATION if used else WithheldReason.NO_ITEMS
            )


@given(tables)
def test_every_figure_stays_in_its_range(table: ConfusionMatrix[float]) -> None:
    for compute in COEFFICIENTS:
        value = compute(table)
        assert isinstance(value, WithheldReason) or -1 - 1e-12 <= value <= 1 + 1e-12
    for compute in OF_BINARY.values():
        value = compute(table.collapse_to_two_categories(table.categories[:1]))
        assert isinstance(value, WithheldReason) or -1 - 1e-12 <= value <= 1 + 1e-12


readings_st = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"), st.sampled_from(["yes", "no"]), st.sampled_from(["yes", "no"])
    ),
    max_size=60,
)


@given(readings_st, st.randoms(use_true_random=False))
def test_order_and_names_of_groups_change_nothing(
    readings: list[tuple[str, str, str]], random: Any
) -> None:
    shuffled = [(group * 2, human, judge) for group, human, judge in readings]
    random.shuffle(shuffled)
    mine, theirs = (
        count_confusion_by_group(readings, ("yes", "no")),
        count_confusion_by_group(shuffled, ("yes", "no")),
    )
    for statistic in (PERCENT, KAPPA, ALPHA, AC1):
        assert estimate_figure(statistic, mine) == estimate_figure(statistic, theirs)


@given(readings_st)
def test_merging_two_groups_changes_intervals_and_no_point_estimate(
    readings: list[tuple[str, str, str]],
) -> None:
    merged = [("a" if group == "b" else group, *rest) for group, *rest in readings]
    apart = count_confusion_by_group(readings, ("yes", "no"))
    together = count_confusion_by_group([(g, h, j) for g, h, j in merged], ("yes", "no"))
    assert apart.unweighted_total == together.unweighted_total
    assert apart.group_count - together.group_count == ({"a", "b"} <= {g for g, _, _ in readings})


@given(readings_st)
def test_groups_sum_to_the_total_also_when_collapsed(readings: list[tuple[str, str, str]]) -> None:
    grouped = count_confusion_by_group(readings, ("yes", "no")).collapse_to_two_categories(("no",))
    assert grouped.unweighted_by_group.n @ grouped.times == len(readings)
    assert (grouped.without_each_group.n + grouped.unweighted_by_group.n == len(readings)).all()
    assert grouped.unweighted_total.n == len(readings)
    assert grouped.group_count == len({group for group, _, _ in readings})


@given(readings_st)
def test_intervals_are_ordered_and_hold_the_value(readings: list[tuple[str, str, str]]) -> None:
    grouped = count_confusion_by_group(readings, ("yes", "no"))
    flags = grouped.collapse_to_two_categories(("no",))
    for found in (
        *(estimate_figure(each, grouped) for each in (PERCENT, KAPPA, ALPHA, AC1)),
        *(estimate_figure(each, flags) for each in (detection.RECALL, detection.F1, detection.MCC)),
    ):
        if found.status is not EstimateStatus.OK:
            assert found.reason is not None
        elif found.value is not None and found.ci_low is not None and found.ci_high is not None:
            assert -1 <= found.ci_low <= found.value <= found.ci_high <= 1
        else:
            assert found.reason is WithheldReason.TOO_FEW_CLUSTERS


def test_a_share_of_part_of_the_units_counts_only_the_groups_that_hold_them() -> None:
    readings = [(f"quiet {i}", "yes", "yes") for i in range(20)]
    readings += [(f"loud {i}", "no", "no" if i else "yes") for i in range(6)]
    grouped = count_confusion_by_group(readings, ("yes", "no")).collapse_to_two_categories(("no",))
    recall = estimate_figure(detection.RECALL, grouped)
    assert (recall.n, recall.clusters) == (6, 6)
    assert recall.value == pytest.approx(5 / 6)
    assert estimate_figure(detection.PREVALENCE, grouped).clusters == 26


def test_a_share_counts_its_flags() -> None:
    found = estimate_share([(str(i % 8), i % 4 != 0) for i in range(40)])
    assert (found.value, found.n, found.clusters) == (0.75, 40, 8)
    assert estimate_share([]).reason is WithheldReason.NO_ITEMS
