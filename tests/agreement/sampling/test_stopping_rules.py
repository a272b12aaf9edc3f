import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.sampling.draw import Stratum
from faithtui.agreement.sampling.stopping_rules import (
    FEWEST_OF_PACE,
    LABELS_OF_PACE,
    SPOT_CHECK_SIZE,
    SpotCheckDecision,
    compute_effective_sample_size,
    compute_exact_binomial_limits,
    decide_spot_check,
    estimate_labels_needed,
    measure_pace,
    plan_label_count,
    predict_half_width,
)


@pytest.mark.parametrize(
    ("n", "widths"),
    [
        (50, (0.134, 0.123, 0.109, 0.085, 0.066)),
        (100, (0.096, 0.088, 0.078, 0.060, 0.045)),
        (300, (0.056, 0.052, 0.045, 0.034, 0.025)),
        (1000, (0.031, 0.028, 0.025, 0.019, 0.014)),
    ],
)
def test_half_widths_are_those_of_wilson(n: int, widths: tuple[float, ...]) -> None:
    shares = (0.5, 0.7, 0.8, 0.9, 0.95)
    assert tuple(round(predict_half_width(n, share), 3) for share in shares) == widths


def test_the_plan_is_the_textbook_one() -> None:
    assert plan_label_count(0.10) == 97
    assert plan_label_count(0.05) == 385
    assert plan_label_count(0.05, 0.9) == 139


@given(st.integers(1, 10_000), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_labels_still_needed_bring_the_width_down_to_the_target(
    n: int, width: float, target: float
) -> None:
    more = estimate_labels_needed(n, width, target)
    assert (more == 0) == (width <= target * (1 + 1e-9))
    reached = width * (n / (n + more)) ** 0.5
    assert reached <= target * (1 + 1e-9) or more == 0
    if more:
        assert width * (n / (n + more - 1)) ** 0.5 > target * (1 - 1e-9)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Published one-sided 95 % (two-sided 90 %) Clopper-Pearson limits.
        (0, 20, 0.0, 0.1391),
        (1, 20, 0.0026, 0.2161),
        (5, 20, 0.1041, 0.4556),
        (10, 20, 0.3020, 0.6980),
        (20, 20, 0.8609, 1.0),
        (3, 10, 0.0873, 0.6066),
    ],
)
def test_exact_limits_are_the_published_ones(hits: int, n: int, low: float, high: float) -> None:
    assert compute_exact_binomial_limits(hits, n) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(0, 60), st.integers(1, 60))
def test_exact_limits_hold_the_share_and_mirror(hits: int, n: int) -> None:
    hits = min(hits, n)
    low, high = compute_exact_binomial_limits(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    other_low, other_high = compute_exact_binomial_limits(n - hits, n)
    assert (1 - other_high, 1 - other_low) == pytest.approx((low, high), abs=1e-7)


def test_exact_limits_of_many_and_of_none() -> None:
    assert compute_exact_binomial_limits(0, 0) == (0.0, 1.0)
    low, high = compute_exact_binomial_limits(5000, 10_000)
    assert 0.49 < low < 0.5 < high < 0.51


@pytest.mark.parametrize("differ", range(SPOT_CHECK_SIZE + 1))
def test_a_spot_check_passes_up_to_one_and_fails_from_five(differ: int) -> None:
    found = decide_spot_check(SPOT_CHECK_SIZE, differ, SPOT_CHECK_SIZE)
    expected = (
        SpotCheckDecision.PASS
        if differ <= 1
        else SpotCheckDecision.FAIL
        if differ >= 5
        else SpotCheckDecision.UNCLEAR
    )
    assert found.decision is expected
    assert f"{differ} of 20" in found.decision_text


@pytest.mark.parametrize(("compared", "finished"), [(0, False), (17, False), (18, True)])
def test_a_spot_check_decides_nothing_while_too_few_are_compared(
    compared: int, finished: bool
) -> None:
    found = decide_spot_check(compared, 0, 20)
    assert (found.decision is not SpotCheckDecision.UNFINISHED) == finished


def test_a_spot_check_of_nothing_is_unfinished() -> None:
    assert decide_spot_check(0, 0, 0).decision is SpotCheckDecision.UNFINISHED


def test_a_judge_that_is_wrong_on_a_tenth_rarely_fails() -> None:
    """The chance of each decision, summed over what a spot-check may find."""
    from math import comb

    def chance(share: float, decision: SpotCheckDecision) -> float:
        return sum(
            comb(20, k) * share**k * (1 - share) ** (20 - k)
            for k in range(21)
            if decide_spot_check(20, k, 20).decision is decision
        )

    assert chance(0.10, SpotCheckDecision.FAIL) <= 0.05
    assert chance(0.25, SpotCheckDecision.PASS) <= 0.05
    assert chance(0.40, SpotCheckDecision.FAIL) > 0.9


def test_a_stratified_sample_in_proportion_tells_as_much_as_a_simple_one() -> None:
    assert compute_effective_sample_size(
        [Stratum("a", 300, 30), Stratum("b", 100, 10)]
    ) == pytest.approx(40)
    assert compute_effective_sample_size([Stratum("", 500, 50)]) == pytest.approx(50)


def test_a_stratified_sample_out_of_proportion_tells_less_about_the_whole() -> None:
    assert compute_effective_sample_size([Stratum("a", 390, 20), Stratum("b", 10, 20)]) < 25


def test_a_stratum_that_gives_nothing_leaves_nothing_to_say_about_the_whole() -> None:
    assert compute_effective_sample_size([Stratum("a", 390, 20), Stratum("b", 10, 0)]) == 0
    assert compute_effective_sample_size([]) == 0
    assert compute_effective_sample_size(
        [Stratum("a", 390, 20), Stratum("b", 0, 0)]
    ) == pytest.approx(20)


def test_a_pace_is_the_median_of_the_newest_labels_that_were_no_haste() -> None:
    assert measure_pace([0.2] * 95) is None, "no 1 min for what was not read"
    assert measure_pace([9.0] * (FEWEST_OF_PACE - 1)) is None
    assert measure_pace([9.0, 900.0, 8.0, 1.9, 10.0, 9.0]) == 9.0
    assert measure_pace([90.0] * 30 + [8.0] * LABELS_OF_PACE) == 8.0
