import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.calibration import (
    ErrorNorm,
    brier_score,
    brier_skill_score,
    calibration_error,
    compute_calibration,
    equal_mass_bins,
    equal_width_bins,
    simulate_noise_floor,
)
from faithtui.agreement.statistics.matrices import Flags, Floats, Ints
from faithtui.domain.estimates import EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason

probability = st.integers(0, 100).map(lambda percent: percent / 100)
units = st.lists(st.tuples(probability, st.booleans()), min_size=1, max_size=60)


@given(units, st.integers(1, 12))
def test_every_unit_is_in_one_bin_and_upper_edges_belong_to_it(
    rows: list[tuple[float, bool]], count: int
) -> None:
    bins = equal_width_bins(rows, count)
    assert sum(each.n for each in bins) == len(rows)
    for each in bins:
        inside = [p for p, _ in rows if each.low < p <= each.high or (each.low == p == 0)]
        assert each.n == len(inside)
        assert each.mean == pytest.approx(sum(inside) / len(inside))
        assert 0 <= each.ci_low <= each.observed <= each.ci_high <= 1


def test_a_tenth_is_in_the_bin_that_it_closes() -> None:
    bins = equal_width_bins([(tenth / 10, True) for tenth in range(11)], 10)
    assert [each.n for each in bins] == [2, *[1] * 9]


@given(units)
def test_bins_of_equal_mass_keep_equal_values_together(rows: list[tuple[float, bool]]) -> None:
    bins = equal_mass_bins(rows)
    assert len(bins) <= min(10, math.isqrt(len(rows)))
    assert sum(each.n for each in bins) == len(rows)
    for lower, higher in pairwise(bins):
        assert lower.high < higher.low


def test_different_values_are_shared_out_equally() -> None:
    bins = equal_mass_bins([(i / 400, i % 2 == 0) for i in range(400)])
    assert [each.n for each in bins] == [40] * 10
    assert equal_mass_bins([]) == ()


@given(units, st.integers(1, 12))
def test_norms_are_ordered(rows: list[tuple[float, bool]], count: int) -> None:
    bins = equal_width_bins(rows, count)
    first, second, widest = (calibration_error(bins, norm) for norm in ErrorNorm)
    assert 0 <= first <= second + 1e-12
    assert second <= widest + 1e-12
    assert widest <= 1


@given(units)
def test_one_bin_compares_the_means(rows: list[tuple[float, bool]]) -> None:
    gap = sum(p for p, _ in rows) / len(rows) - sum(came for _, came in rows) / len(rows)
    assert calibration_error(equal_width_bins(rows, 1)) == pytest.approx(abs(gap))


@given(units)
def test_skill_is_measured_against_the_base_rate(rows: list[tuple[float, bool]]) -> None:
    base = sum(came for _, came in rows) / len(rows)
    found = brier_skill_score([(base, came) for _, came in rows])
    if base in (0, 1):
        assert found is WithheldReason.ONE_CLASS_ONLY
    else:
        assert found == pytest.approx(0, abs=1e-9)
        assert brier_skill_score([(float(came), came) for _, came in rows]) == 1


def test_no_units_have_no_score() -> None:
    assert brier_score([]) is WithheldReason.NO_ITEMS
    assert brier_skill_score([]) is WithheldReason.NO_ITEMS
    found = compute_calibration(*arrays([], [], []))
    assert (found.n, found.bins, found.error, found.floor) == (0, (), None, None)
    assert found.is_error_hidden


def test_the_interval_of_the_score_stays_where_a_score_can_be() -> None:
    found = compute_calibration(*arrays([0, 1, 2, 3, 4], [0.9] * 5, [True] * 4 + [False])).brier
    assert found.value == pytest.approx(0.17)
    assert found.ci_low == 0
    assert found.ci_high is not None
    assert 0.17 < found.ci_high < 1


def test_the_floor_falls_with_the_square_root_of_the_units() -> None:
    means = []
    for n in (100, 1600, 25_600):
        floor = simulate_noise_floor([((i + 0.5) / n, True) for i in range(n)], draws=200)
        assert floor.mean < floor.high
        means.append(floor.mean)
    assert means[0] / means[1] == pytest.approx(4, rel=0.2)
    assert means[1] / means[2] == pytest.approx(4, rel=0.2)


def test_the_floor_is_the_error_that_calibrated_judges_show() -> None:
    """Its high end is passed by one in twenty of them."""
    chance = random.Random(5)
    stated = [chance.betavariate(5, 2) for _ in range(300)]
    floor = simulate_noise_floor([(p, True) for p in stated])
    errors = [
        calibration_error(equal_mass_bins([(p, chance.random() < p) for p in stated]))
        for _ in range(300)
    ]
    assert sum(errors) / 300 == pytest.approx(floor.mean, rel=0.05)
    assert 0.02 < sum(error > floor.high for error in errors) / 300 < 0.09


def test_the_same_seed_gives_the_same_floor() -> None:
    rows = [(i / 50, True) for i in range(50)]
    assert simulate_noise_floor(rows, draws=50) == simulate_noise_floor(rows, draws=50)
    assert simulate_noise_floor(rows, draws=50) != simulate_noise_floor(rows, draws=50, seed=2)


def arrays(groups: list[int], stated: list[float], came: list[bool]) -> tuple[Ints, Floats, Flags]:
    return np.array(groups, np.int64), np.array(stated, np.float64), np.array(came, np.bool_)


def readings(n: int, shift: float) -> tuple[Ints, Floats, Flags]:
    chance = random.Random(n)
    stated = [chance.uniform(0.3, 0.7) for _ in range(n)]
    came = [chance.random() < p + shift for p in stated]
    return arrays([i % 20 for i in range(n)], stated, came)


@pytest.mark.parametrize(
    ("n", "shift", "hidden"), [(150, 0.3, True), (400, 0.0, True), (400, 0.25, False)]
)
def test_an_error_is_hidden_with_few_units_or_below_the_floor(
    n: int, shift: float, hidden: bool
) -> None:
    found = compute_calibration(*readings(n, shift), draws=200)
    assert found.is_error_hidden is hidden
    assert found.brier.method is EstimateMethod.JACKKNIFE
    assert (found.brier.n, found.brier.clusters) == (n, 20)
    assert found.brier.value == pytest.approx(
        brier_score(list(zip(*readings(n, shift)[1:], strict=True)))
    )


def test_always_the_same_probability_is_one_bin() -> None:
    found = compute_calibration(
        *arrays(list(range(200)), [0.8] * 200, [i % 5 > 0 for i in range(200)]), draws=100
    )
    assert len(found.bins) == 1
    assert found.error == pytest.approx(0, abs=1e-9)


@given(st.lists(st.tuples(probability, st.booleans()), min_size=4, max_size=40))
def test_a_weight_counts_as_so_many_units(rows: list[tuple[float, bool]]) -> None:
    weights = [1 + place % 3 for place in range(len(rows))]
    repeated = [row for row, times in zip(rows, weights, strict=True) for _ in range(times)]
    assert brier_score(rows, weights) == pytest.approx(brier_score(repeated))
    weighted, plain = brier_skill_score(rows, weights), brier_skill_score(repeated)
    if isinstance(weighted, WithheldReason):
        assert weighted is plain
    else:
        assert weighted == pytest.approx(plain)
    by_weight = equal_mass_bins(rows, 1, weights=weights)
    assert by_weight[0].n == len(rows)
    assert by_weight[0].mean == pytest.approx(equal_mass_bins(repeated, 1)[0].mean)
    assert by_weight[0].observed == pytest.approx(equal_mass_bins(repeated, 1)[0].observed)


def test_equal_weights_change_nothing_and_unequal_ones_make_less_sure() -> None:
    rows = readings(200, 0.1)
    plain = compute_calibration(*rows, draws=50)
    heavy = compute_calibration(*rows, weights=np.full(200, 3.0), draws=50)
    uneven = compute_calibration(*rows, weights=np.tile([1.0, 9.0], 100), draws=50)
    assert heavy.brier.value == pytest.approx(plain.brier.value)
    assert heavy.error == pytest.approx(plain.error)
    for one, same, wide in zip(plain.bins, heavy.bins, uneven.bins, strict=True):
        assert (same.ci_low, same.ci_high) == pytest.approx((one.ci_low, one.ci_high))
        assert wide.n == one.n
        assert wide.ci_high - wide.ci_low > 0.95 * (one.ci_high - one.ci_low)
    assert uneven.brier.n == 200
