"""Tests of two judges against enumeration and against each other."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import paired_judges
from faithtui.agreement.statistics.paired_judges import (
    ChiSquare,
    DiscordantGroup,
    SignFlipResult,
    chi_square_tail,
)
from faithtui.domain.withheld_reasons import WithheldReason


def table_of(*rows: tuple[int, ...]) -> ConfusionMatrix[float]:
    return ConfusionMatrix(tuple("abcdef"[: len(rows)]), rows)


def binomial(b: int, c: int) -> tuple[Fraction, Fraction]:
    n = b + c
    at_most = Fraction(sum(math.comb(n, k) for k in range(min(b, c) + 1)), 2**n)
    return at_most, Fraction(math.comb(n, b), 2**n)


@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_and_mid_p_are_sums_of_the_binomial(b: int, c: int) -> None:
    at_most, exactly = binomial(b, c)
    assert paired_judges.mcnemar_exact_p(b, c) == pytest.approx(min(1.0, float(2 * at_most)))
    found = paired_judges.mcnemar_mid_p(b, c)
    if not b + c:
        assert found is WithheldReason.NO_VARIATION
    else:
        wanted = min(1.0, float(2 * at_most)) - float(exactly)
        assert found == pytest.approx(wanted)
        assert isinstance(found, float)
        assert 0 < found < 1


def test_large_counts_neither_overflow_nor_take_long() -> None:
    assert paired_judges.mcnemar_exact_p(500_000, 501_000) == pytest.approx(
        paired_judges.mcnemar_mid_p(500_000, 501_000), rel=0.01
    )
    normal = math.erfc(1000 / math.sqrt(1_001_000) / math.sqrt(2))
    assert paired_judges.mcnemar_mid_p(500_000, 501_000) == pytest.approx(normal, rel=1e-3)


def test_a_correction_is_not_larger_than_the_difference() -> None:
    assert paired_judges.mcnemar_test(5, 5, corrected=True) == ChiSquare(0, 1)
    assert paired_judges.mcnemar_test(6, 5, corrected=True) == ChiSquare(0, 1)
    assert paired_judges.mcnemar_test(0, 0) is WithheldReason.NO_VARIATION


@given(*[st.integers(0, 30)] * 4)
def test_with_two_labels_all_tests_of_margins_are_one(a: int, b: int, c: int, d: int) -> None:
    table = table_of((a, b), (c, d))
    if not table.n:
        assert (
            paired_judges.bowker_test(table)
            is paired_judges.stuart_maxwell_test(table)
            is WithheldReason.NO_ITEMS
        )
        return
    wanted = paired_judges.mcnemar_test(b, c)
    for found in (paired_judges.bowker_test(table), paired_judges.stuart_maxwell_test(table)):
        if isinstance(wanted, WithheldReason) or isinstance(found, WithheldReason):
            assert found is wanted
        else:
            assert (found.statistic, found.df) == pytest.approx((wanted.statistic, wanted.df))


def test_labels_that_are_never_mixed_up_are_tested_apart() -> None:
    table = table_of((3, 4, 0, 0, 0), (9, 2, 0, 0, 0), (0, 0, 5, 1, 0), (0, 0, 7, 2, 0), (0,) * 5)
    found = paired_judges.stuart_maxwell_test(table)
    assert isinstance(found, ChiSquare)
    assert (found.statistic, found.df) == pytest.approx((25 / 13 + 36 / 8, 2))
    assert paired_judges.bowker_test(table) == found


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_order_of_labels_changes_no_test_of_margins(rows: list[list[int]]) -> None:
    table = table_of(*map(tuple, rows))
    moved = table_of(*(tuple(rows[i][j] for j in (2, 0, 1)) for i in (2, 0, 1)))
    for test in (paired_judges.bowker_test, paired_judges.stuart_maxwell_test):
        mine, theirs = test(table), test(moved)
        if isinstance(mine, WithheldReason) or isinstance(theirs, WithheldReason):
            assert mine is theirs
        else:
            assert mine.statistic == pytest.approx(theirs.statistic)
            assert mine.df == theirs.df


def test_groups_of_one_pair_give_mcnemar() -> None:
    groups = [DiscordantGroup(1, 1, 0)] * 9 + [DiscordantGroup(1, 0, 1)] * 3
    groups += [DiscordantGroup(1, 0, 0)] * 5 + [DiscordantGroup(0, 0, 0)]
    plain, durkalski, obuchowski = (
        paired_judges.mcnemar_test(9, 3),
        paired_judges.durkalski_test(groups),
        paired_judges.obuchowski_test(groups),
    )
    assert durkalski == plain
    assert isinstance(plain, ChiSquare)
    assert isinstance(obuchowski, ChiSquare)
    assert obuchowski.statistic == pytest.approx(plain.statistic * 16 / 17)


def test_groups_without_differences_or_units_say_why() -> None:
    for test in (paired_judges.durkalski_test, paired_judges.obuchowski_test):
        assert test([]) is test([DiscordantGroup(0, 0, 0)]) is WithheldReason.NO_ITEMS
        assert test([DiscordantGroup(4, 1, 1)]) is WithheldReason.NO_VARIATION


differences_st = st.lists(
    st.integers(-5, 5).map(float) | st.sampled_from([0.1, 0.2, 0.3, -0.3, 1 / 3, -2 / 3]),
    min_size=1,
    max_size=9,
)


@given(differences_st)
def test_sign_flips_are_counted_over_all_patterns(differences: list[float]) -> None:
    exact = [Fraction(each).limit_denominator(60) for each in differences]
    observed = abs(sum(exact, Fraction()))
    patterns = list(product((1, -1), repeat=len(exact)))
    hits = sum(
        abs(sum((sign * each for sign, each in zip(signs, exact, strict=True)), Fraction()))
        >= observed
        for signs in patterns
    )
    found = paired_judges.sign_flip_test(differences)
    assert found == SignFlipResult(hits / len(patterns), None)


def test_rounding_counts_as_no_difference() -> None:
    """0.1 + 0.2 - 0.3 is not 0 for a computer, and every pattern is as far from 0."""
    assert paired_judges.sign_flip_test([0.1, 0.2, -0.3]) == SignFlipResult(1.0, None)


def test_sixteen_unequal_differences_are_enumerated() -> None:
    differences = [math.sqrt(each) for each in range(1, 17)]
    assert paired_judges.sign_flip_test(differences) == SignFlipResult(2 / 2**16, None)


def test_many_counts_are_enumerated_too() -> None:
    found = paired_judges.sign_flip_test([1.0] * 60 + [-1.0] * 40 + [0.0] * 50)
    assert isinstance(found, SignFlipResult)
    assert found.p == pytest.approx(paired_judges.mcnemar_exact_p(60, 40))
    assert found.draws is None


@pytest.mark.thorough
def test_many_unequal_differences_are_drawn_with_a_seed() -> None:
    differences = [math.sqrt(each) * (1 if each % 3 else -1) for each in range(1, 41)]
    found = paired_judges.sign_flip_test(differences, seed=4)
    assert isinstance(found, SignFlipResult)
    assert found == paired_judges.sign_flip_test(differences, seed=4)
    assert found.draws == 10_000
    spread = math.sqrt(sum(range(1, 41)))
    normal = math.erfc(abs(sum(differences)) / spread / math.sqrt(2))
    assert found.p == pytest.approx(normal, abs=0.02)


def test_no_differences_are_no_evidence() -> None:
    assert paired_judges.sign_flip_test([]) is WithheldReason.NO_ITEMS
    assert paired_judges.sign_flip_test([0.0, 0.0]) == SignFlipResult(1.0, None)


def test_holm_on_a_worked_example() -> None:
    """R, p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")."""
    assert paired_judges.adjust_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]
    )
    assert paired_judges.adjust_by_holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_never_lowers_a_value(values: list[float]) -> None:
    adjusted = paired_judges.adjust_by_holm(values)
    assert all(before <= after <= 1 for before, after in zip(values, adjusted, strict=True))
    pairs = sorted(zip(values, adjusted, strict=True))
    assert [after for _, after in pairs] == sorted(adjusted)


@pytest.mark.parametrize(
    ("statistic", "df", "tail"),
    [(3.841459, 1, 0.05), (5.991465, 2, 0.05), (7.814728, 3, 0.05), (11.0705, 5, 0.05)],
)
def test_tails_of_chi_square_are_those_of_the_tables(
    statistic: float, df: int, tail: float
) -> None:
    assert chi_square_tail(statistic, df) == pytest.approx(tail, abs=1e-6)
    assert chi_square_tail(0, df) == 1
