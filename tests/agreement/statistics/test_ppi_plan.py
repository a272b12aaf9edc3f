import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.prediction_powered import (
    LabelCosts,
    compute_ppi_effective_size,
    find_cheapest_label_budget,
    split_budget_labels_and_judging,
)
from faithtui.errors import InputError

correlations = st.floats(-1, 1)
costs = st.builds(LabelCosts, st.floats(0.5, 10), st.floats(0.01, 1), st.floats(0, 1))


@given(correlations, costs, st.floats(0, 300))
def test_the_budget_is_kept(correlation: float, prices: LabelCosts, budget: float) -> None:
    found = split_budget_labels_and_judging(correlation, prices, budget)
    assert found.cost <= budget + 1e-6
    assert found.labelled >= 0
    assert found.judged_only >= 0
    assert found.effective == compute_ppi_effective_size(
        correlation, found.labelled, found.judged_only
    )


@given(correlations, costs, st.integers(1, 300))
def test_what_was_asked_for_is_reached(correlation: float, prices: LabelCosts, wanted: int) -> None:
    found = find_cheapest_label_budget(correlation, prices, wanted)
    assert found.effective >= wanted * (1 - 1e-6)


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9, -0.9])
@pytest.mark.parametrize("budget", [40, 200])
def test_no_other_split_of_the_budget_tells_much_more(correlation: float, budget: int) -> None:
    prices = LabelCosts(1.0, 0.1)
    found = split_budget_labels_and_judging(correlation, prices, budget)
    best = max(
        compute_ppi_effective_size(correlation, n, round((budget - 1.1 * n) / 0.1 - 0.5))
        for n in range(1, round(budget / 1.1 - 0.5))
    )
    assert found.effective >= 0.98 * max(best, budget - 1)


@pytest.mark.parametrize("wanted", [50, 300])
def test_no_other_split_of_that_worth_is_much_cheaper(wanted: int) -> None:
    prices, correlation = LabelCosts(1.0, 0.1), 0.9
    found = find_cheapest_label_budget(correlation, prices, wanted)
    cheapest = min(
        1.1 * n + 0.1 * others
        for n in range(1, wanted)
        for others in range(0, 40 * wanted, wanted // 10)
        if compute_ppi_effective_size(correlation, n, others) >= wanted
    )
    assert found.cost <= 1.02 * cheapest


def test_a_judge_worth_nothing_is_not_paid() -> None:
    found = split_budget_labels_and_judging(0.0, LabelCosts(2.0, 0.1), 100)
    assert (found.labelled, found.judged_only, found.cost) == (50, 0, 100)
    assert find_cheapest_label_budget(0.0, LabelCosts(2.0, 0.1), 40).labelled == 40
    assert find_cheapest_label_budget(0.05, LabelCosts(1.0, 0.9), 40).judged_only == 0


def test_a_perfect_judge_needs_one_label() -> None:
    assert split_budget_labels_and_judging(1.0, LabelCosts(1.0, 0.1), 10).labelled == 1
    assert find_cheapest_label_budget(-1.0, LabelCosts(1.0, 0.1), 100).labelled == 1


def test_nothing_buys_nothing() -> None:
    assert split_budget_labels_and_judging(0.9, LabelCosts(1.0, 0.1), 0).effective == 0
    assert find_cheapest_label_budget(0.9, LabelCosts(1.0, 0.1), 0).labelled == 0


@pytest.mark.parametrize("prices", [(0, 1, 0), (1, -1, 2), (1, 0, 0), (1, 1, -1)])
def test_costs_that_leave_nothing_to_plan_are_refused(prices: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="cost"):
        LabelCosts(*prices)
