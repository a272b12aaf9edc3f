import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.pass_rates import (
    OutsideAccuracy,
    correct_by_accuracy,
    lang_reiczigel_interval,
    rogan_gladen_rate,
)
from faithtui.domain.estimates import EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason

share = st.floats(0, 1)


@given(share, st.floats(0.6, 1), st.floats(0.6, 1))
def test_the_true_rate_comes_back_from_the_rate_that_it_makes(
    rate: float, sensitivity: float, specificity: float
) -> None:
    apparent = rate * sensitivity + (1 - rate) * (1 - specificity)
    assert rogan_gladen_rate(apparent, sensitivity, specificity) == pytest.approx(rate, abs=1e-9)


@given(share)
def test_a_perfect_judge_needs_no_correction(apparent: float) -> None:
    assert rogan_gladen_rate(apparent, 1, 1) == pytest.approx(apparent)


@pytest.mark.parametrize("sensitivity", [0, 0.1, 0.3, 0.4, 0.7, 1])
def test_a_judge_that_guesses_says_nothing(sensitivity: float) -> None:
    assert (
        rogan_gladen_rate(0.3, sensitivity, 1 - sensitivity) is WithheldReason.UNINFORMATIVE_JUDGE
    )


accuracies = st.builds(
    OutsideAccuracy,
    share,
    st.integers(1, 500),
    st.floats(0.55, 1),
    st.integers(1, 200),
    st.floats(0.55, 1),
    st.integers(1, 200),
)


@given(accuracies)
def test_the_interval_is_ordered_and_inside(accuracy: OutsideAccuracy) -> None:
    ends = lang_reiczigel_interval(accuracy)
    assert not isinstance(ends, WithheldReason)
    assert 0 <= ends[0] <= ends[1] <= 1


@given(accuracies)
def test_the_value_lies_in_its_interval_and_is_kept_raw(accuracy: OutsideAccuracy) -> None:
    found = correct_by_accuracy(accuracy)
    assert found.raw is not None
    assert found.estimate.value == min(max(found.raw, 0), 1)
    assert found.is_out_of_range == (found.raw != found.estimate.value)
    assert found.estimate.ci_low is not None
    assert found.estimate.ci_high is not None
    assert found.estimate.ci_low <= found.estimate.value <= found.estimate.ci_high
    assert found.estimate.method in (EstimateMethod.LANG_REICZIGEL, EstimateMethod.FIELLER)


def test_more_labels_narrow_the_interval() -> None:
    widths = []
    for times in (1, 4, 16):
        ends = lang_reiczigel_interval(OutsideAccuracy(0.2, 500, 0.8, 30 * times, 0.9, 60 * times))
        assert not isinstance(ends, WithheldReason)
        widths.append(ends[1] - ends[0])
    assert widths == sorted(widths, reverse=True)


def test_a_rate_below_the_false_alarms_is_clipped_and_told() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.02, 100, 0.9, 50, 0.9, 50))
    assert found.is_out_of_range
    assert found.raw == pytest.approx(-0.1)
    assert found.estimate.value == 0
    assert found.estimate.method is EstimateMethod.LANG_REICZIGEL


def test_of_a_judge_that_may_be_guessing_everything_is_possible() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.45, 100, 0.6, 10, 0.6, 10)).estimate
    assert found.value == pytest.approx(0.25)
    assert (found.ci_low, found.ci_high) == (0, 1)
    assert found.method is EstimateMethod.FIELLER


def test_few_flags_bound_the_rate_from_above_also_where_the_judge_may_be_guessing() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.11, 900, 0.3, 20, 0.9, 20)).estimate
    assert found.method is EstimateMethod.FIELLER
    assert found.ci_low == 0
    assert found.ci_high is not None
    assert found.ci_high < 1


def test_intervals_of_a_judge_that_few_claims_measure_hold_the_rate() -> None:
    generator = np.random.default_rng(5)
    missed = by_fieller = 0
    for _ in range(2_000):
        rate, sensitivity, specificity = 0.1, 0.7, 0.9
        bad = rate * sensitivity + (1 - rate) * (1 - specificity)
        accuracy = OutsideAccuracy(
            generator.binomial(500, bad) / 500,
            500,
            generator.binomial(4, sensitivity) / 4,
            4,
            generator.binomial(40, specificity) / 40,
            40,
        )
        found = correct_by_accuracy(accuracy).estimate
        if found.value is None:
            continue
        assert found.ci_low is not None
        assert found.ci_high is not None
        by_fieller += found.method is EstimateMethod.FIELLER
        missed += not found.ci_low <= rate <= found.ci_high
    assert by_fieller > 200
    assert missed <= 0.05 * 2_000


@pytest.mark.parametrize(
    ("accuracy", "reason"),
    [
        (OutsideAccuracy(0.4, 0, 0.6, 10, 0.6, 10), WithheldReason.NO_ITEMS),
        (OutsideAccuracy(0.4, 9, 0.6, 0, 0.6, 10), WithheldReason.NO_ITEMS),
        (OutsideAccuracy(0.4, 9, 0.6, 10, 0.6, 0), WithheldReason.NO_ITEMS),
        (OutsideAccuracy(0.4, 9, 0.6, 10, 0.4, 10), WithheldReason.UNINFORMATIVE_JUDGE),
    ],
)
def test_what_cannot_be_computed_says_why(
    accuracy: OutsideAccuracy, reason: WithheldReason
) -> None:
    found = correct_by_accuracy(accuracy)
    assert found.estimate.reason is reason
    assert found.raw is None
    assert not found.is_out_of_range
    assert lang_reiczigel_interval(accuracy) is reason


def test_the_interval_is_undefined_where_pseudo_items_leave_nothing_to_divide_by() -> None:
    accuracy = OutsideAccuracy(0.4, 9, 1.0, 1, 0.25, 4)
    assert lang_reiczigel_interval(accuracy) is WithheldReason.UNINFORMATIVE_JUDGE
    assert correct_by_accuracy(accuracy).estimate.method is EstimateMethod.FIELLER
