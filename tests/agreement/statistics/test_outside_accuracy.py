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
    if found.estimate.reason is WithheldReason.RATE_OUT_OF_RANGE:
        assert found.raw is None
        return
    assert found.raw is not None
    assert found.estimate.value == min(max(found.raw, 0), 1)
    assert found.is_out_of_range == (found.raw != found.estimate.value)
    assert found.estimate.ci_low is not None
    assert found.estimate.ci_high is not None
    assert found.estimate.ci_low <= found.estimate.value <= found.estimate.ci_high
    assert found.estimate.method is EstimateMethod.FIELLER


def test_more_labels_narrow_the_interval() -> None:
    widths = []
    for times in (1, 4, 16):
        ends = lang_reiczigel_interval(OutsideAccuracy(0.2, 500, 0.8, 30 * times, 0.9, 60 * times))
        assert not isinstance(ends, WithheldReason)
        widths.append(ends[1] - ends[0])
    assert widths == sorted(widths, reverse=True)


def test_a_rate_below_the_false_alarms_is_clipped_and_told() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.06, 100, 0.9, 50, 0.9, 50))
    assert found.is_out_of_range
    assert found.raw == pytest.approx(-0.05)
    assert found.estimate.value == 0
    assert found.estimate.reason is None


@pytest.mark.parametrize(
    "accuracy",
    [
        # A judge that flags a fifth of what passes cannot flag one unit in 50.
        OutsideAccuracy(0.02, 900, 0.9, 100, 0.8, 100),
        # One that flags half of everything cannot flag nothing, or a third.
        OutsideAccuracy(0.01, 900, 0.5, 40, 0.51, 40),
        OutsideAccuracy(1 / 3, 900, 0.511, 90, 0.51, 90),
        OutsideAccuracy(0.99, 900, 0.9, 100, 0.8, 100),
    ],
)
def test_a_judge_that_errs_otherwise_has_no_rate(accuracy: OutsideAccuracy) -> None:
    """The nearest rate had an interval of nothing: a gate passed at 1.000 [.9995, 1]."""
    found = correct_by_accuracy(accuracy)
    assert found.estimate.value is None
    assert found.estimate.reason is WithheldReason.RATE_OUT_OF_RANGE


def test_of_a_judge_that_may_be_guessing_everything_is_possible() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.45, 100, 0.6, 10, 0.6, 10)).estimate
    assert found.value == pytest.approx(0.25)
    assert (found.ci_low, found.ci_high) == (0, 1)
    assert found.reason is WithheldReason.UNINFORMATIVE_JUDGE


def test_few_flags_bound_the_rate_from_above_also_where_the_judge_may_be_guessing() -> None:
    found = correct_by_accuracy(OutsideAccuracy(0.11, 900, 0.3, 20, 0.9, 20)).estimate
    assert found.reason is WithheldReason.UNINFORMATIVE_JUDGE
    assert found.ci_low == 0
    assert found.ci_high is not None
    assert found.ci_high < 1


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "positives"),
    [(0.1, 0.7, 0.9, 4), (0.9, 0.3, 0.95, 3), (0.3, 0.5, 0.6, 10)],
)
def test_intervals_of_a_judge_that_few_claims_measure_hold_the_rate(
    rate: float, sensitivity: float, specificity: float, positives: int
) -> None:
    """Lang and Reiczigel's alone missed 17 % on one side of the second."""
    generator = np.random.default_rng(5)
    times = 2_000
    below = above = 0
    for _ in range(times):
        flagged = rate * sensitivity + (1 - rate) * (1 - specificity)
        found = correct_by_accuracy(
            OutsideAccuracy(
                generator.binomial(500, flagged) / 500,
                500,
                generator.binomial(positives, sensitivity) / positives,
                positives,
                generator.binomial(40, specificity) / 40,
                40,
            )
        ).estimate
        if found.ci_low is not None and found.ci_high is not None:
            below += rate < found.ci_low
            above += rate > found.ci_high
    # A pass rate that is shown too high is a failing rate shown too low.
    assert above <= 0.04 * times
    assert below + above <= 0.06 * times


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
    assert correct_by_accuracy(accuracy).estimate.has_interval
