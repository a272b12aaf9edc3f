from math import sqrt
from statistics import linear_regression, mean, variance

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from faithtui.agreement.statistics.intervals import t_quantile
from faithtui.agreement.statistics.pass_rates import LabelledStratum, compute_stratified_rate
from faithtui.agreement.statistics.prediction_powered import (
    Labelled,
    Unlabelled,
    ppi_mean,
    ppi_mean_by_conversation,
    tune_lambda,
)
from faithtui.domain.estimates import EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason

score = st.integers(0, 10).map(lambda tenths: tenths / 10)
labelled = st.lists(st.tuples(score, score, st.just(1)), min_size=2, max_size=20)
unlabelled = st.lists(st.tuples(score, st.just(1)), min_size=1, max_size=30)


@given(labelled, unlabelled)
def test_without_trust_it_is_the_plain_mean(known: Labelled, others: Unlabelled) -> None:
    plain = mean(human for human, _, _ in known)
    for rest in (others, []):
        found = ppi_mean(known, rest, 0)
        assert not isinstance(found, WithheldReason)
        assert found.value == pytest.approx(plain)


@given(labelled, unlabelled, st.floats(-5, 5))
def test_with_full_trust_a_constant_bias_goes(
    known: Labelled, others: Unlabelled, bias: float
) -> None:
    found = ppi_mean(known, others, 1)
    shifted = ppi_mean(
        [(human, judge + bias, times) for human, judge, times in known],
        [(judge + bias, times) for judge, times in others],
        1,
    )
    assert not isinstance(found, WithheldReason)
    assert not isinstance(shifted, WithheldReason)
    assert shifted.value == pytest.approx(found.value)


@given(labelled, unlabelled)
def test_counts_are_short_for_rows(known: Labelled, others: Unlabelled) -> None:
    found = ppi_mean(known, others)
    tripled = ppi_mean(
        [(human, judge, 3) for human, judge, _ in known], [(judge, 3) for judge, _ in others]
    )
    spelled = ppi_mean([*known] * 3, [*others] * 3)
    assert not isinstance(found, WithheldReason)
    assert not isinstance(tripled, WithheldReason)
    assert not isinstance(spelled, WithheldReason)
    assert (tripled.value, tripled.se) == pytest.approx((spelled.value, spelled.se))
    assert 0 <= found.lambda_ <= 1


@given(labelled, unlabelled)
def test_the_tuned_lambda_is_no_worse_than_either_extreme(
    known: Labelled, others: Unlabelled
) -> None:
    """With the variance of the judge over all units in the place of both of its parts."""
    n, rest = len(known), len(others)
    judged = [*(judge for _, judge, _ in known), *(judge for judge, _ in others)]
    spread = variance(judged)
    human, judge = [each[0] for each in known], [each[1] for each in known]
    together = sum((h - mean(human)) * (j - mean(judge)) for h, j in zip(human, judge, strict=True))

    def expected(trust: float) -> float:
        return trust**2 * spread * (1 / n + 1 / rest) - 2 * trust * together / n / n

    best = tune_lambda(known, others)
    assert expected(best) <= min(expected(0), expected(1)) + 1e-12


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.just(1)), min_size=2, max_size=30),
    st.lists(st.integers(0, 1), max_size=40),
)
def test_of_a_judge_with_two_verdicts_it_is_the_stratified_rate(
    known: list[tuple[int, int, int]], others: list[int]
) -> None:
    assume(len({judge for _, judge, _ in known}) == 2)
    frame = [(judge, 1) for judge in [*(judge for _, judge, _ in known), *others]]
    slope = linear_regression([each for _, each, _ in known], [each for each, *_ in known]).slope
    found = ppi_mean(known, frame, slope)
    strata = [
        LabelledStratum(
            sum(judge == verdict for judge, _ in frame),
            sum(judge == verdict for _, judge, _ in known),
            sum(judge == verdict and human for human, judge, _ in known),
        )
        for verdict in (0, 1)
    ]
    assert not isinstance(found, WithheldReason)
    assert found.value == pytest.approx(compute_stratified_rate(strata))


def test_a_judge_that_always_says_the_same_is_not_trusted() -> None:
    known, others = [(0.2, 0.7, 4), (0.9, 0.7, 5)], [(0.7, 30)]
    assert tune_lambda(known, others) == 0
    assert tune_lambda([], []) == 0


def test_nothing_to_compute_with_says_why() -> None:
    assert ppi_mean([], [(0.3, 1)]) is WithheldReason.NO_ITEMS
    assert ppi_mean([(0.3, 0.2, 1)], [], 1) is WithheldReason.NO_ITEMS
    alone = ppi_mean([(0.3, 0.2, 1)], [(0.1, 1), (0.9, 1)])
    assert not isinstance(alone, WithheldReason)
    assert (alone.value, alone.se) == (0.3, None)
    census = ppi_mean([(0.3, 0.2, 1), (0.5, 0.9, 1)], [])
    assert not isinstance(census, WithheldReason)
    assert (census.value, census.lambda_) == (0.4, 0)


KNOWN = [(f"c{i}", i % 5 / 4, (i * 7 % 5) / 4) for i in range(15)]
OTHERS = [(f"d{i}", (i * 3 % 5) / 4) for i in range(40)]


def test_one_unit_a_conversation_gives_the_textbook_variance() -> None:
    for trust in (0.0, 0.6, 1.0):
        found = ppi_mean_by_conversation(KNOWN, OTHERS, trust)
        rest = [human - trust * judge for _, human, judge in KNOWN]
        judged = [judge for _, judge in OTHERS]
        expected = sqrt(variance(rest) / 15 + trust**2 * variance(judged) / 40)
        assert found.se == pytest.approx(expected)
        assert found.value is not None
        assert found.ci_high == pytest.approx(found.value + t_quantile(0.95, 14) * expected)
        assert (found.n, found.clusters, found.method) == (15, 15, EstimateMethod.PPI)


def test_copies_in_the_same_conversation_add_no_certainty() -> None:
    once = ppi_mean_by_conversation(KNOWN, OTHERS, 0.6)
    thrice = ppi_mean_by_conversation(KNOWN * 3, OTHERS * 3, 0.6)
    assert (thrice.value, thrice.se) == pytest.approx((once.value, once.se))


def test_conversations_may_have_both_sides() -> None:
    both = ppi_mean_by_conversation(KNOWN, [("c1", 0.3), ("c2", 0.8), ("e", 0.1)], 0.5)
    assert both.has_interval
    one = ppi_mean_by_conversation(KNOWN, [("c1", 0.3), ("c1", 0.8)], 0.5)
    assert one.has_interval


def test_too_little_for_an_interval_keeps_the_value() -> None:
    assert ppi_mean_by_conversation([], OTHERS).reason is WithheldReason.NO_ITEMS
    few = ppi_mean_by_conversation(KNOWN[:4], OTHERS)
    assert (few.has_interval, few.reason) == (False, WithheldReason.TOO_FEW_CLUSTERS)
    same = ppi_mean_by_conversation([(f"c{i}", 0.5, 0.5) for i in range(9)], [("d", 0.5)] * 9)
    assert (same.value, same.reason) == (0.5, WithheldReason.NO_VARIATION)
