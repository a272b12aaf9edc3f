"""What the fast leave-one-out values are held against: counting everything again."""

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.ranks import (
    auroc,
    estimate_auroc,
    estimate_kendall,
    estimate_spearman,
    kendall_tau_b,
    spearman,
)
from faithtui.domain.estimates import Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

grouped = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 4), st.integers(0, 3)), max_size=40
)


def by_pairs(pairs: list[tuple[int, int]]) -> float | None:
    """Compute tau-b from its definition, in n² steps."""
    balance = x_differ = y_differ = 0
    for (x1, y1), (x2, y2) in combinations(pairs, 2):
        x, y = (x1 > x2) - (x1 < x2), (y1 > y2) - (y1 < y2)
        balance += x * y
        x_differ += abs(x)
        y_differ += abs(y)
    return balance / sqrt(x_differ * y_differ) if x_differ and y_differ else None


def se_by_hand(values: list[Point]) -> float | None:
    numbers = [value for value in values if not isinstance(value, WithheldReason)]
    if len(numbers) < len(values):
        return None
    mean = sum(numbers) / len(numbers)
    return sqrt((len(numbers) - 1) / len(numbers) * sum((each - mean) ** 2 for each in numbers))


def agrees(found: Estimate, values: list[Point]) -> None:
    if found.se is not None:
        assert found.se == pytest.approx(se_by_hand(values), abs=1e-12)
    elif found.has_interval or found.reason is None:
        raise AssertionError("an interval without a standard error must say why")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25))
def test_kendall_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    found, expected = kendall_tau_b(pairs), by_pairs(pairs)
    if expected is None:
        assert found is (WithheldReason.NO_VARIATION if pairs else WithheldReason.NO_ITEMS)
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@given(grouped)
def test_kendall_is_estimated_by_leaving_out_groups(readings: list[tuple[str, int, int]]) -> None:
    found = estimate_kendall(readings)
    point = kendall_tau_b([(x, y) for _, x, y in readings])
    if found.value is not None:
        assert found.value == point
    if found.se is not None:
        groups = {group for group, _, _ in readings}
        agrees(
            found, [kendall_tau_b([(x, y) for g, x, y in readings if g != out]) for out in groups]
        )


@given(grouped)
def test_spearman_is_estimated_by_leaving_out_groups(readings: list[tuple[str, int, int]]) -> None:
    found = estimate_spearman(readings)
    if found.se is not None:
        groups = {group for group, _, _ in readings}
        agrees(found, [spearman([(x, y) for g, x, y in readings if g != out]) for out in groups])


@given(grouped)
def test_auroc_is_estimated_by_leaving_out_groups(readings: list[tuple[str, int, int]]) -> None:
    found = estimate_auroc([(group, x, y > 1) for group, x, y in readings])
    if found.se is not None:
        groups = {group for group, _, _ in readings}
        agrees(found, [auroc([(x, y > 1) for g, x, y in readings if g != out]) for out in groups])


@given(grouped, st.permutations(range(40)))
def test_the_order_of_units_and_names_of_groups_change_nothing(
    readings: list[tuple[str, int, int]], order: list[int]
) -> None:
    moved = [readings[i] for i in order if i < len(readings)]
    moved = [(group * 2, x, y) for group, x, y in moved]
    for compute in (estimate_spearman, estimate_kendall):
        found, other = compute(readings), compute(moved)
        assert (found.status, found.n, found.clusters) == (other.status, other.n, other.clusters)
        for name in ("value", "ci_low", "ci_high"):
            assert getattr(found, name) == pytest.approx(getattr(other, name), abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=20),
    st.permutations(range(20)),
)
def test_rank_correlations_do_not_mind_order_and_scale(
    pairs: list[tuple[int, int]], order: list[int]
) -> None:
    shuffled = [pairs[i] for i in order if i < len(pairs)]
    for compute in (spearman, kendall_tau_b):
        found = compute(pairs)
        assert compute(shuffled) == found
        assert compute([(x**3 + 100.5, y) for x, y in pairs]) == found
        turned = compute([(x, -y) for x, y in pairs])
        assert (
            turned is found
            if isinstance(found, WithheldReason)
            else turned == pytest.approx(-found)
        )
