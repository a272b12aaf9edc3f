"""Coefficients against their definitions, unit by unit, and what must not change them."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import coefficients, ratings
from faithtui.agreement.statistics.coefficients import (
    DisagreementWeights,
    MeasurementLevel,
    linear_weights,
    quadratic_weights,
)
from faithtui.agreement.statistics.ratings import Ratings
from faithtui.agreement.statistics.standard_errors import (
    ChanceModel,
    compute_null_standard_error,
    compute_standard_error,
)
from faithtui.agreement.statistics.standard_errors import (
    compute_ratings_standard_error as several_error,
)
from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
SIZE = 3
NAMES = ("a", "b", "c")
Unit = Sequence[int | None]

units_st = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([0, 1, 2, None]), min_size=raters, max_size=raters), max_size=12
    )
)
pairs_st = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=15)
weights_st = st.sampled_from([None, linear_weights([0, 1, 2]), quadratic_weights([0, 1, 5])])


def table_of(pairs: Sequence[tuple[int, int]], size: int = SIZE) -> ConfusionMatrix[float]:
    found = Counter(pairs)
    cells = tuple(tuple(found[i, j] for j in range(size)) for i in range(size))
    return ConfusionMatrix(NAMES[:size] if size <= SIZE else (*NAMES, "unused"), cells)


def ratings_of(units: Sequence[Unit], size: int = SIZE) -> Ratings:
    names = NAMES if size == SIZE else (*NAMES, "unused")
    return Ratings.from_counts(
        names, Counter(tuple(unit.count(k) for k in range(size)) for unit in units)
    )


def weight(a: int, b: int, weights: DisagreementWeights | None) -> Fraction:
    """Agreement of two categories."""
    return Fraction(int(a == b)) if weights is None else 1 - Fraction(weights[a][b])


def corrected(observed: Fraction, by_chance: Fraction) -> Point:
    return (
        WithheldReason.NO_VARIATION
        if by_chance == 1
        else float((observed - by_chance) / (1 - by_chance))
    )


def same(found: Point, wanted: Point) -> bool:
    if isinstance(found, WithheldReason) or isinstance(wanted, WithheldReason):
        return found is wanted
    return found == pytest.approx(wanted, abs=1e-12)


def transposed(table: ConfusionMatrix[float]) -> ConfusionMatrix[float]:
    return ConfusionMatrix(table.categories, tuple(zip(*table.counts, strict=True)))


@given(pairs_st, weights_st)
def test_two_raters_by_definition(
    pairs: list[tuple[int, int]], weights: DisagreementWeights | None
) -> None:
    table, n = table_of(pairs), len(pairs)
    if not n:
        assert coefficients.cohen_kappa(table, weights) is WithheldReason.NO_ITEMS
        return
    observed = sum((weight(a, b, weights) for a, b in pairs), Fraction()) / n
    first = [Fraction(sum(a == k for a, _ in pairs), n) for k in range(SIZE)]
    second = [Fraction(sum(b == k for _, b in pairs), n) for k in range(SIZE)]
    pooled = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    cells = list(product(range(SIZE), repeat=2))
    total = sum((weight(i, j, weights) for i, j in cells), Fraction())

    def crossed(a: list[Fraction], b: list[Fraction]) -> Fraction:
        return sum((weight(i, j, weights) * a[i] * b[j] for i, j in cells), Fraction())

    assert same(coefficients.percent_agreement(table, weights), float(observed))
    by_chance = crossed(first, second)
    assert same(coefficients.chance_agreement(table, weights), float(by_chance))
    assert same(coefficients.cohen_kappa(table, weights), corrected(observed, by_chance))
    scott = corrected(observed, crossed(pooled, pooled))
    assert same(coefficients.scott_pi(table, weights), scott)
    uniform = corrected(observed, total / SIZE**2)
    assert same(coefficients.brennan_prediger(table, weights), uniform)
    spread = sum((p * (1 - p) for p in pooled), Fraction())
    gwet = corrected(observed, total / (SIZE * (SIZE - 1)) * spread)
    assert same(coefficients.gwet_ac1(table, weights), gwet)


@given(units_st, weights_st)
def test_several_raters_by_definition(
    units: list[Unit], weights: DisagreementWeights | None
) -> None:
    found = ratings_of(units)
    said = [[each for each in unit if each is not None] for unit in units]
    rated, pairable = [s for s in said if s], [s for s in said if len(s) > 1]
    if not pairable:
        missing = WithheldReason.NO_OVERLAP if rated else WithheldReason.NO_ITEMS
        assert ratings.fleiss_kappa(found, weights) is missing
        return
    per_unit = [
        sum((weight(a, b, weights) for a, b in permutations(s, 2)), Fraction())
        / (len(s) * (len(s) - 1))
        for s in pairable
    ]
    observed = sum(per_unit, Fraction()) / len(pairable)
    shares = [
        sum((Fraction(s.count(k), len(s)) for s in rated), Fraction()) / len(rated)
        for k in range(SIZE)
    ]
    cells = list(product(range(SIZE), repeat=2))
    total = sum((weight(i, j, weights) for i, j in cells), Fraction())
    pooled = sum((weight(i, j, weights) * shares[i] * shares[j] for i, j in cells), Fraction())
    spread = sum((p * (1 - p) for p in shares), Fraction())
    assert same(ratings.percent_agreement(found, weights), float(observed))
    assert same(ratings.fleiss_kappa(found, weights), corrected(observed, pooled))
    assert same(ratings.brennan_prediger(found, weights), corrected(observed, total / 9))
    assert same(ratings.gwet_ac1(found, weights), corrected(observed, total / 6 * spread))


def squared(a: int, b: int, level: MeasurementLevel, values: Sequence[int]) -> Fraction:
    """Krippendorff's metric differences; the categories' numbers are 1, 2 and 3."""
    if level is MeasurementLevel.NOMINAL:
        return Fraction(int(a != b))
    if level is MeasurementLevel.INTERVAL:
        return Fraction(a - b) ** 2
    if level is MeasurementLevel.RATIO:
        return Fraction(a - b, a + b + 2) ** 2
    between = sum(values.count(g) for g in range(min(a, b), max(a, b) + 1))
    return (between - Fraction(values.count(a) + values.count(b), 2)) ** 2


@given(units_st, st.sampled_from(list(MeasurementLevel)))
def test_alpha_by_definition(units: list[Unit], level: MeasurementLevel) -> None:
    """Differences within units against differences between any two values of all units."""
    said = [[each for each in unit if each is not None] for unit in units]
    pairable = [s for s in said if len(s) > 1]
    values = [each for s in pairable for each in s]
    found = ratings.krippendorff_alpha(ratings_of(units), level, [1, 2, 3])
    if not pairable:
        assert found is (WithheldReason.NO_OVERLAP if any(said) else WithheldReason.NO_ITEMS)
        return
    within = sum(
        (
            squared(a, b, level, values) / (len(s) - 1)
            for s in pairable
            for a, b in permutations(s, 2)
        ),
        Fraction(),
    ) / len(values)
    pairs = list(combinations(values, 2))
    between = sum((squared(a, b, level, values) for a, b in pairs), Fraction()) / len(pairs)
    assert same(found, WithheldReason.NO_VARIATION if not between else 1 - float(within / between))


@given(pairs_st, st.sampled_from(list(MeasurementLevel)))
def test_a_table_has_the_alpha_of_its_units(
    pairs: list[tuple[int, int]], level: MeasurementLevel
) -> None:
    units = ratings.krippendorff_alpha(ratings_of(pairs), level, [1, 2, 3])
    assert same(coefficients.krippendorff_alpha(table_of(pairs), level, [1, 2, 3]), units)


FIGURES: tuple[Callable[[ConfusionMatrix[float], DisagreementWeights | None], Point], ...] = (
    coefficients.percent_agreement,
    coefficients.cohen_kappa,
    coefficients.scott_pi,
    coefficients.brennan_prediger,
    coefficients.gwet_ac1,
)


@given(pairs_st, weights_st)
def test_swapping_the_raters_changes_nothing(
    pairs: list[tuple[int, int]], weights: DisagreementWeights | None
) -> None:
    swapped = table_of([(b, a) for a, b in pairs])
    assert swapped == transposed(table_of(pairs))
    for compute in FIGURES:
        assert same(compute(table_of(pairs), weights), compute(swapped, weights))
    for level in MeasurementLevel:
        mine = coefficients.krippendorff_alpha(table_of(pairs), level, [1, 2, 3])
        assert same(mine, coefficients.krippendorff_alpha(swapped, level, [1, 2, 3]))


@given(units_st, st.permutations(range(SIZE)), st.randoms(use_true_random=False))
def test_names_of_categories_and_order_of_units_and_raters_change_nothing(
    units: list[Unit], order: list[int], random: Any
) -> None:
    moved = [[None if each is None else order[each] for each in unit] for unit in units]
    random.shuffle(moved)
    for unit in moved:
        random.shuffle(unit)
    for compute in (
        ratings.percent_agreement,
        ratings.fleiss_kappa,
        ratings.brennan_prediger,
        ratings.gwet_ac1,
        ratings.krippendorff_alpha,
    ):
        assert same(compute(ratings_of(units)), compute(ratings_of(moved)))


@given(units_st)
def test_a_category_nobody_used_changes_only_what_counts_declared_ones(units: list[Unit]) -> None:
    narrow, wide = ratings_of(units), ratings_of(units, SIZE + 1)
    for kept in (ratings.percent_agreement, ratings.fleiss_kappa, ratings.krippendorff_alpha):
        assert same(kept(narrow), kept(wide))
    for moved in (ratings.brennan_prediger, ratings.gwet_ac1):
        before, after = moved(narrow), moved(wide)
        if isinstance(before, float) and isinstance(after, float) and before < 1:
            assert after > before


@given(pairs_st)
def test_an_unused_category_leaves_kappa_and_pi_alone(pairs: list[tuple[int, int]]) -> None:
    narrow, wide = table_of(pairs), table_of(pairs, SIZE + 1)
    for kept in (coefficients.cohen_kappa, coefficients.scott_pi, coefficients.maximum_kappa):
        assert same(kept(narrow), kept(wide))


@given(pairs_st)
def test_no_rearrangement_with_the_same_margins_beats_the_maximum(
    pairs: list[tuple[int, int]],
) -> None:
    table = table_of(pairs)
    kappa, largest = coefficients.cohen_kappa(table), coefficients.maximum_kappa(table)
    if isinstance(kappa, WithheldReason) or isinstance(largest, WithheldReason):
        assert kappa is largest
        return
    assert kappa <= largest + 1e-12 <= 1 + 2e-12
    sorted_pairs = zip(sorted(a for a, _ in pairs), sorted(b for _, b in pairs), strict=True)
    reached = coefficients.cohen_kappa(table_of(list(sorted_pairs)))
    assert isinstance(reached, float)
    assert reached <= largest + 1e-12


def test_the_maximum_kappa_of_a_table() -> None:
    """Cohen 1960, p. 42: margins .60 .30 .10 and .50 .30 .20 allow .831."""
    table = ConfusionMatrix(("1", "2", "3"), ((88, 14, 18), (10, 40, 10), (2, 6, 12)))
    assert coefficients.maximum_kappa(table) == pytest.approx((0.9 - 0.41) / 0.59)


@given(pairs_st)
def test_specific_agreement_is_the_share_of_uses_that_meet(pairs: list[tuple[int, int]]) -> None:
    table = table_of(pairs)
    for k in range(SIZE):
        uses = [(a, b) for a, b in pairs for each in (a, b) if each == k]
        found = coefficients.specific_agreement(table, k)
        if not uses:
            assert found is (WithheldReason.NO_VARIATION if pairs else WithheldReason.NO_ITEMS)
        else:
            assert same(found, sum(a == b for a, b in uses) / len(uses))


@pytest.mark.parametrize("by_chance", list(ChanceModel))
def test_errors_are_undefined_where_coefficients_are(by_chance: ChanceModel) -> None:
    empty, alone = ConfusionMatrix(("a",), ((0,),)), ConfusionMatrix(("a",), ((5,),))
    assert compute_standard_error(empty, by_chance) is WithheldReason.NO_ITEMS
    assert compute_null_standard_error(empty) is WithheldReason.NO_ITEMS
    if by_chance is ChanceModel.NONE:
        assert compute_standard_error(alone, by_chance) == 0
    else:
        assert compute_standard_error(alone, by_chance) is WithheldReason.NO_VARIATION
    assert compute_null_standard_error(alone) is WithheldReason.NO_VARIATION


def test_errors_of_several_raters_are_those_printed_by_gwet() -> None:
    """The first 15 patients of Fleiss 1971, six raters; vignette of the R package irrCAC."""
    case = next(each for each in CASES if each["id"] == "gwet-sixraters-gwet-ac1")["input"]
    units = Ratings.from_counts(case["categories"], Counter(map(tuple, case["units"])))
    assert several_error(units, ChanceModel.GWET) == pytest.approx(0.08418757, abs=1e-8)
    assert several_error(units, ChanceModel.POOLED) == pytest.approx(0.08119291, abs=1e-8)
    assert several_error(units, ChanceModel.UNIFORM) == pytest.approx(0.08312142, abs=1e-8)


@given(
    pairs_st,
    weights_st,
    st.sampled_from([ChanceModel.POOLED, ChanceModel.UNIFORM, ChanceModel.GWET]),
)
def test_errors_of_two_raters_and_of_several_differ_by_their_divisor_only(
    pairs: list[tuple[int, int]], weights: DisagreementWeights | None, by_chance: ChanceModel
) -> None:
    two = compute_standard_error(table_of(pairs), by_chance, weights)
    several = several_error(ratings_of(pairs), by_chance, weights)
    if isinstance(two, WithheldReason) or len(pairs) < 2:
        assert isinstance(several, WithheldReason)
    else:
        n = len(pairs)
        assert several == pytest.approx(two * math.sqrt(n / (n - 1)), abs=1e-9)


def test_far_categories_weigh_by_the_square_of_their_distance() -> None:
    assert linear_weights([0, 1, 2]).tolist() == [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]
    assert quadratic_weights([0, 1, 2]).tolist() == [[0, 0.25, 1], [0.25, 0, 0.25], [1, 0.25, 0]]
