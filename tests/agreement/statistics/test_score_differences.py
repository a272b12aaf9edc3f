from collections.abc import Callable
from math import sqrt
from random import Random
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.matrices import number_distinct_keys_by_occurrence
from faithtui.agreement.statistics.score_differences import (
    estimate_bias,
    estimate_mae,
    estimate_mean,
    limits_of_agreement,
    mean_absolute_error,
    mean_difference,
    sd_difference,
)
from faithtui.domain.estimates import EstimateMethod, Point
from faithtui.domain.withheld_reasons import WithheldReason

score = st.integers(0, 20).map(lambda twentieth: twentieth / 20)
pairs = st.lists(st.tuples(score, score), min_size=2, max_size=30)


def limits(rows: list[tuple[float, float]]) -> tuple[float, float]:
    found = limits_of_agreement(rows)
    assert not isinstance(found, WithheldReason)
    return found


@given(pairs)
def test_swapping_the_sides_turns_the_sign(rows: list[tuple[float, float]]) -> None:
    swapped = [(b, a) for a, b in rows]
    value, turned = mean_difference(rows), mean_difference(swapped)
    assert not isinstance(turned, WithheldReason)
    assert value == pytest.approx(-turned)
    assert sd_difference(rows) == pytest.approx(sd_difference(swapped))
    assert mean_absolute_error(rows) == pytest.approx(mean_absolute_error(swapped))
    (low, high), (other_low, other_high) = limits(rows), limits(swapped)
    assert (low, high) == pytest.approx((-other_high, -other_low))


@given(pairs)
def test_they_are_those_of_the_definitions(rows: list[tuple[float, float]]) -> None:
    differences = [a - b for a, b in rows]
    assert mean_difference(rows) == pytest.approx(mean(differences))
    assert sd_difference(rows) == pytest.approx(stdev(differences), abs=1e-9)
    assert mean_absolute_error(rows) == pytest.approx(mean(map(abs, differences)))


def test_too_little_says_why() -> None:
    for compute in (mean_difference, sd_difference, mean_absolute_error, limits_of_agreement):
        assert compute([]) is WithheldReason.NO_ITEMS
    assert sd_difference([(1, 2)]) is WithheldReason.NO_VARIATION
    assert limits_of_agreement([(1, 2)]) is WithheldReason.NO_VARIATION
    assert mean_absolute_error([(1, 2)]) == 1


READINGS = [(f"c{i % 9}", (i * 7 % 11) / 11, (i * 5 % 13) / 13) for i in range(60)]


def left_out_se(
    compute: Callable[[list[tuple[float, float]]], Point], out_of: list[tuple[str, float, float]]
) -> float:
    values: list[Point] = [
        compute([(a, b) for g, a, b in out_of if g != out])
        for out in sorted({group for group, _, _ in out_of})
    ]
    numbers = [value for value in values if not isinstance(value, WithheldReason)]
    middle = mean(numbers)
    return sqrt((len(numbers) - 1) / len(numbers) * sum((each - middle) ** 2 for each in numbers))


def test_intervals_leave_out_whole_conversations() -> None:
    for found, compute in (
        (estimate_bias(READINGS), mean_difference),
        (estimate_mae(READINGS), mean_absolute_error),
    ):
        assert found.value == pytest.approx(compute([(a, b) for _, a, b in READINGS]))
        assert found.se == pytest.approx(left_out_se(compute, READINGS))
        assert (found.n, found.clusters, found.method) == (60, 9, EstimateMethod.JACKKNIFE)
        assert found.ci_low is not None
        assert found.value is not None
        assert found.value - found.ci_low == pytest.approx(2.306 * (found.se or 0), rel=1e-3)


def test_a_bias_without_variation_has_no_interval() -> None:
    found = estimate_bias([(f"c{i}", 0.75, 0.5) for i in range(9)])
    assert (found.value, found.has_interval, found.reason) == (
        0.25,
        False,
        WithheldReason.NO_VARIATION,
    )


def test_no_readings_have_no_bias() -> None:
    assert estimate_bias([]).reason is WithheldReason.NO_ITEMS
    assert estimate_mae([]).reason is WithheldReason.NO_ITEMS


def test_a_mean_leaves_out_whole_groups() -> None:
    chance = Random(3)
    rows = [
        (f"c{chance.randrange(40)}", chance.random(), chance.choice((1, 2.5))) for _ in range(600)
    ]
    groups, values, weights = zip(*rows, strict=True)
    found = estimate_mean(
        number_distinct_keys_by_occurrence(groups)[0], np.array(values), np.array(weights)
    )

    def weighted(some: list[tuple[str, float, float]]) -> float:
        return sum(value * by for _, value, by in some) / sum(by for *_, by in some)

    groups = tuple(sorted({group for group, *_ in rows}))
    without = [weighted([row for row in rows if row[0] != group]) for group in groups]
    spread = sum((each - mean(without)) ** 2 for each in without)
    assert found.value == pytest.approx(weighted(rows))
    assert found.se == pytest.approx(sqrt((len(groups) - 1) / len(groups) * spread))
    assert (found.n, found.clusters) == (600, len(groups))
