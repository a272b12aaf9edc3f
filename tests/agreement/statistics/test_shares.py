from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.matrices import number_distinct_keys_by_occurrence
from faithtui.agreement.statistics.score_differences import estimate_share_difference
from faithtui.domain.estimates import Estimate, EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason

Flag = tuple[str, bool, bool, float]

flags_st = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.booleans(),
        st.booleans(),
        st.sampled_from((1, 1.5, 4.25)),
    ),
    max_size=50,
)


def difference(rows: list[Flag]) -> Estimate:
    return estimate_share_difference(
        number_distinct_keys_by_occurrence([group for group, *_ in rows])[0],
        np.array([first for _, first, *_ in rows], np.bool_),
        np.array([hit for *_, hit, _ in rows], np.bool_),
        np.array([weight for *_, weight in rows], np.float64),
    )


def plain(rows: list[Flag]) -> float | None:
    sides = [[row for row in rows if row[1] is first] for first in (True, False)]
    if not all(sides):
        return None
    first, second = (
        sum(weight for *_, hit, weight in side if hit) / sum(weight for *_, weight in side)
        for side in sides
    )
    return first - second


@given(flags_st)
def test_it_is_the_difference_with_a_jackknife_over_conversations(rows: list[Flag]) -> None:
    found = difference(rows)
    value = plain(rows)
    assert found.n == len(rows)
    if value is None:
        assert found.reason is WithheldReason.NO_ITEMS
        return
    assert found.value == pytest.approx(value)
    if found.se is not None:
        groups = sorted({row[0] for row in rows})
        parts = [plain([row for row in rows if row[0] != out]) for out in groups]
        numbers = [part for part in parts if part is not None]
        middle = sum(numbers) / len(numbers)
        spread = sum((part - middle) ** 2 for part in numbers)
        assert found.se == pytest.approx(sqrt((len(numbers) - 1) / len(numbers) * spread))
        assert found.method is EstimateMethod.JACKKNIFE
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.value is not None
        assert -1 <= found.ci_low <= found.value <= found.ci_high <= 1


@given(flags_st)
def test_swapping_the_kinds_turns_the_sign(rows: list[Flag]) -> None:
    found = difference(rows)
    swapped = difference([(group, not first, hit, by) for group, first, hit, by in rows])
    assert swapped.status is found.status
    if found.value is not None:
        assert swapped.value == pytest.approx(-found.value)


@given(flags_st, st.randoms(use_true_random=False))
def test_the_order_of_the_units_changes_nothing(rows: list[Flag], chance: object) -> None:
    moved = list(rows)
    chance.shuffle(moved)  # type: ignore[attr-defined]  # hypothesis' own random
    one, other = difference(rows), difference(moved)
    assert (one.status, one.n, one.method) == (other.status, other.n, other.method)
    for name in ("value", "ci_low", "ci_high", "se"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9)


@given(flags_st)
def test_equal_weights_are_no_weights(rows: list[Flag]) -> None:
    plainly = difference([(*row[:3], 1) for row in rows])
    heavy = difference([(*row[:3], 4) for row in rows])
    assert (heavy.n, heavy.reason) == (plainly.n, plainly.reason)
    assert heavy.value == pytest.approx(plainly.value)
    assert heavy.ci_low == pytest.approx(plainly.ci_low)


def test_what_seeing_the_verdict_does() -> None:
    """A third of the claims are labelled blind; people follow the judge when they see it."""
    rows = [(f"c{i % 12}", i % 3 == 0, i % 10 > (3 if i % 3 == 0 else 0), 1.0) for i in range(360)]
    found = difference(rows)
    assert found.value == pytest.approx(-0.3)
    assert found.ci_high is not None
    assert found.ci_high < 0


def test_equal_conversations_keep_the_difference_without_an_interval() -> None:
    rows = [(f"c{i}", first, first, 1.0) for i in range(9) for first in (True, False)]
    found = difference(rows)
    assert (found.value, found.has_interval, found.reason) == (
        1.0,
        False,
        WithheldReason.NO_VARIATION,
    )
