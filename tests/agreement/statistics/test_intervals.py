import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.figures import (
    compute_leave_one_out,
    estimate_figure,
    estimate_share,
)
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    compute_jackknife_se,
    make_estimate_with_jackknife_interval,
    make_jackknife_interval,
    t_quantile,
    wilson_interval,
)
from faithtui.agreement.statistics.matrices import GroupedMatrix
from faithtui.domain.estimates import (
    FEWEST_GROUPS,
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_undefined_estimate,
    make_withheld_estimate,
)
from faithtui.domain.withheld_reasons import WithheldReason

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"


def golden(*statistics: str) -> list[Any]:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["statistic"] in statistics]


def grouped(case: dict[str, Any]) -> GroupedMatrix:
    counts = np.array(case["input"]["clusters"], np.int64)
    return GroupedMatrix.from_groups(case["input"]["categories"], np.moveaxis(counts, 0, -1)[None])


@pytest.mark.parametrize("case", golden("jackknife_se_kappa", "jackknife_se_agreement"))
def test_jackknife_standard_error(case: dict[str, Any]) -> None:
    table = grouped(case)
    statistic = KAPPA if case["statistic"] == "jackknife_se_kappa" else PERCENT
    expected = pytest.approx(case["expected"]["value"], abs=case["tolerance"])
    assert compute_jackknife_se(*compute_leave_one_out(statistic.compute, table)) == expected
    if table.group_count >= FEWEST_GROUPS:
        assert estimate_figure(statistic, table).se == expected


@pytest.mark.parametrize("case", golden("jackknife_ci_kappa", "jackknife_ci_agreement"))
def test_jackknife_interval(case: dict[str, Any]) -> None:
    statistic = KAPPA if case["statistic"] == "jackknife_ci_kappa" else PERCENT
    found = estimate_figure(statistic, grouped(case), case["params"]["confidence"])
    assert {
        "value": found.value,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    } == pytest.approx(case["expected"], abs=case["tolerance"])


@pytest.mark.parametrize("case", golden("wilson_interval"))
def test_wilson_interval(case: dict[str, Any]) -> None:
    k, n = case["input"]["k"], case["input"]["n"]
    if not n:
        assert estimate_share([]) == make_undefined_estimate(
            WithheldReason(case["expected"]["reason"])
        )
        return
    low, high = wilson_interval(k / n, n, case["params"]["confidence"])
    assert low == pytest.approx(case["expected"]["ci_low"], abs=case["tolerance"])
    assert high == pytest.approx(case["expected"]["ci_high"], abs=case["tolerance"])


@pytest.mark.parametrize(
    ("level", "df", "expected"),
    [
        # Two-sided points of Student's t as printed in Fisher & Yates' tables.
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.95, 4, 2.776),
        (0.95, 10, 2.228),
        (0.95, 30, 2.042),
        (0.95, 120, 1.980),
        (0.99, 5, 4.032),
        (0.50, 7, 0.711),
        (0.999, 3, 12.924),
    ],
)
def test_t_quantile_is_that_of_the_tables(level: float, df: int, expected: float) -> None:
    assert t_quantile(level, df) == pytest.approx(expected, abs=6e-4)


@given(st.floats(0.5, 0.999), st.integers(1, 300))
def test_t_quantile_falls_with_the_degrees_of_freedom(level: float, df: int) -> None:
    assert t_quantile(level, df) >= t_quantile(level, df + 1) - 1e-4


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_ordered_inside_and_mirrored(counts: tuple[int, int]) -> None:
    k, n = counts
    low, high = wilson_interval(k / n, n)
    mirrored_low, mirrored_high = wilson_interval((n - k) / n, n)
    assert 0 <= low <= k / n <= high <= 1
    assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low), abs=1e-12)


def test_equal_groups_may_be_given_once_with_their_number() -> None:
    assert compute_jackknife_se([0.5, 0.7], [3, 2]) == pytest.approx(
        compute_jackknife_se([0.5, 0.7, 0.5, 0.7, 0.5])
    )


def test_the_interval_holds_a_value_that_clipping_moved() -> None:
    low, high = make_jackknife_interval(0.99999, [0.9999, 0.99998], [5, 5], IntervalScale.LOGIT)
    assert low <= high == 0.99999


def test_a_value_without_meaning_keeps_its_reason() -> None:
    found = make_estimate_with_jackknife_interval(
        WithheldReason.NO_ITEMS, [], 1, IntervalScale.LOGIT, n=0
    )
    assert found == make_undefined_estimate(WithheldReason.NO_ITEMS)


def test_fewer_than_five_groups_give_the_point_only() -> None:
    found = make_estimate_with_jackknife_interval(0.7, [0.6, 0.8], [2, 2], IntervalScale.ATANH, n=9)
    assert (found.value, found.status, found.reason) == (
        0.7,
        EstimateStatus.OK,
        WithheldReason.TOO_FEW_CLUSTERS,
    )
    assert (found.n, found.clusters, found.has_interval) == (9, 4, False)


def test_a_figure_one_group_decides_has_no_interval() -> None:
    found = make_estimate_with_jackknife_interval(
        0.5, [0.5, math.nan], [8, 1], IntervalScale.LOGIT, n=30
    )
    assert (found.value, found.reason, found.has_interval) == (
        0.5,
        WithheldReason.TOO_FEW_CLUSTERS,
        False,
    )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_share_at_the_end_gets_wilson_over_groups(value: float) -> None:
    found = make_estimate_with_jackknife_interval(value, [value], 10, IntervalScale.LOGIT, n=500)
    assert found.method is EstimateMethod.WILSON
    assert (found.ci_low, found.ci_high) == wilson_interval(value, 10)


def test_a_share_whose_groups_are_all_alike_gets_wilson_over_groups() -> None:
    found = make_estimate_with_jackknife_interval(0.5, [0.5], 12, IntervalScale.LOGIT, n=24)
    assert (found.ci_low, found.ci_high) == wilson_interval(0.5, 12)


@pytest.mark.parametrize("value", [1.0, -1.0, 0.4])
def test_a_kappa_without_variation_is_withheld(value: float) -> None:
    found = make_estimate_with_jackknife_interval(value, [value], 12, IntervalScale.ATANH, n=24)
    assert found == make_withheld_estimate(WithheldReason.NO_VARIATION, 24, 12)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_kappa_that_one_group_keeps_from_the_end_gets_wilson_over_groups(sign: int) -> None:
    """Far narrower than on a scale without ends, where that group is infinitely far away."""
    found = make_estimate_with_jackknife_interval(
        sign * 0.905, [sign * 1.0, sign * 0.9], [1, 19], IntervalScale.ATANH, n=180
    )
    low, high = wilson_interval((1 + sign * 0.905) / 2, 20)
    assert (found.ci_low, found.ci_high) == (2 * low - 1, 2 * high - 1)
    assert (found.method, found.se) == (EstimateMethod.WILSON, None)
    assert high - low < 0.3
    wide = make_jackknife_interval(0.905, [1.0, 0.9], [1, 19], IntervalScale.ATANH)
    assert wide[1] - wide[0] > 1


def test_a_kappa_of_zero_has_an_ordinary_interval() -> None:
    found = make_estimate_with_jackknife_interval(
        0.0, [-0.1, 0.1], [5, 5], IntervalScale.ATANH, n=40
    )
    assert found.method is EstimateMethod.JACKKNIFE_ATANH
    assert found.ci_low == pytest.approx(-(found.ci_high or math.nan))


def test_an_estimate_keeps_its_parts_in_step() -> None:
    with pytest.raises(ValueError, match="cannot be"):
        Estimate(0.5, EstimateStatus.UNDEFINED, 3, 1, WithheldReason.NO_ITEMS)
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate(None, EstimateStatus.UNDEFINED, 3, 1)
    with pytest.raises(ValueError, match="give a reason"):
        Estimate(math.nan, EstimateStatus.OK, 3, 1)
    with pytest.raises(ValueError, match="both ends"):
        Estimate(0.5, EstimateStatus.OK, 3, 1, ci_low=0.4)


def test_every_reason_has_words() -> None:
    assert all(reason.words for reason in WithheldReason)
