import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.labelled_probabilities import LabelledProbability
from faithtui.agreement.statistics.recalibration import (
    INTERCEPT_SPREAD,
    LEAST_SLOPE,
    SLOPE_SPREAD,
    Recalibration,
    evaluate_recalibration,
    fit_recalibration,
    log_odds,
)

LABELLED = st.lists(
    st.builds(
        LabelledProbability,
        group=st.sampled_from("abcdefgh"),
        chance=st.floats(0, 1),
        is_supported=st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


def drawn(count: int, shift: float, seed: int = 3) -> list[LabelledProbability]:
    """Claims whose true log odds are the stated ones plus a shift, ten to a group."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        stated = chance.uniform(0.05, 0.95)
        true = 1 / (1 + math.exp(-(log_odds(stated) + shift)))
        found.append(LabelledProbability(f"c{number // 10}", stated, chance.random() < true))
    return found


def test_without_labels_nothing_moves() -> None:
    assert fit_recalibration([]) == Recalibration(1.0, 0.0)
    assert Recalibration(1.0, 0.0).apply(0.3) == pytest.approx(0.3)


def test_many_labels_find_the_shift() -> None:
    fitted = fit_recalibration(drawn(4_000, 1.5))
    assert fitted.intercept == pytest.approx(1.5, abs=0.15)
    assert fitted.slope == pytest.approx(1, abs=0.1)


def test_few_labels_move_less_than_many() -> None:
    all_true = [LabelledProbability(f"c{n}", 0.5, True) for n in range(40)]
    moved = [fit_recalibration(all_true[:count]).intercept for count in (0, 2, 10, 40)]
    assert moved == sorted(moved)
    assert moved[-1] < 3 * INTERCEPT_SPREAD


@given(LABELLED)
def test_the_fit_is_the_most_probable_one(labelled: list[LabelledProbability]) -> None:
    def improbability(slope: float, intercept: float) -> float:
        loss = ((slope - 1) / SLOPE_SPREAD) ** 2 / 2 + (intercept / INTERCEPT_SPREAD) ** 2 / 2
        for each in labelled:
            side = 1 if each.is_supported else -1
            loss += math.log1p(math.exp(-side * (slope * log_odds(each.chance) + intercept)))
        return loss

    fitted = fit_recalibration(labelled)
    best = improbability(fitted.slope, fitted.intercept)
    for slope, intercept in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        if fitted.slope + slope >= LEAST_SLOPE:
            near = improbability(fitted.slope + slope, fitted.intercept + intercept)
            assert near >= best - 1e-9


def test_a_label_of_weight_two_counts_as_two_labels() -> None:
    few = drawn(30, 1.0)
    heavy = [replace(each, weight=2.0) for each in few]
    one, other = fit_recalibration(heavy), fit_recalibration([*few, *few])
    assert (one.slope, one.intercept) == pytest.approx((other.slope, other.intercept), abs=1e-4)
    bins = evaluate_recalibration(heavy).bins_before
    assert sum(each.weight for each in bins) == pytest.approx(60)


@given(LABELLED, st.floats(0, 1), st.floats(0, 1))
def test_the_order_of_claims_stays(
    labelled: list[LabelledProbability], one: float, other: float
) -> None:
    fitted = fit_recalibration(labelled)
    low, high = sorted((one, other))
    assert 0 < fitted.apply(low) <= fitted.apply(high) < 1


@given(st.floats(0.001, 0.999), st.floats(0.3, 3), st.floats(-2, 2))
def test_what_was_moved_can_be_moved_back(chance: float, slope: float, intercept: float) -> None:
    moved = Recalibration(slope, intercept).apply(chance)
    if 1e-4 < moved < 1 - 1e-4:
        assert Recalibration(slope, intercept).undo(moved) == pytest.approx(chance, abs=1e-6)


def test_a_judge_that_is_off_by_its_level_gets_a_smaller_error() -> None:
    found = evaluate_recalibration(drawn(120, 1.5))
    assert (found.labels, found.groups) == (120, 12)
    assert found.error_after < found.error_before / 2


@pytest.mark.parametrize("groups", [1, 2, 25])
def test_the_error_afterwards_is_told_without_the_claims_own_labels(groups: int) -> None:
    """Labels that are noise cannot be fitted, so an honest error does not fall to nothing."""
    chance = random.Random(5)
    labelled = [
        LabelledProbability(f"c{number % groups}", 0.5, chance.random() < 0.5)
        for number in range(50)
    ]
    found = evaluate_recalibration(labelled)
    assert found.groups == groups
    assert found.error_after > 0
    assert sum(each.n for each in found.bins_after) == 50


@given(LABELLED)
def test_effects_are_in_range_and_count_every_claim(labelled: list[LabelledProbability]) -> None:
    found = evaluate_recalibration(labelled)
    for bins, error in (
        (found.bins_before, found.error_before),
        (found.bins_after, found.error_after),
    ):
        assert 0 <= error <= 1
        assert sum(each.n for each in bins) == len(labelled)
