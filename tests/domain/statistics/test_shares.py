from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.estimates import Method, Reason
from faithtui.domain.statistics.shares import share_difference

flags = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans(), st.booleans()), max_size=50)


def plain(rows: list[tuple[str, bool, bool]]) -> float | None:
    sides = [[hit for _, side, hit in rows if side is first] for first in (True, False)]
    if not all(sides):
        return None
    return sum(sides[0]) / len(sides[0]) - sum(sides[1]) / len(sides[1])


@given(flags)
def test_it_is_the_difference_with_a_jackknife_over_conversations(
    rows: list[tuple[str, bool, bool]],
) -> None:
    found = share_difference(rows).difference
    value = plain(rows)
    if value is None:
        assert found.reason is Reason.NO_ITEMS
        return
    assert found.value == pytest.approx(value)
    if found.se is not None:
        groups = sorted({group for group, _, _ in rows})
        parts = [plain([row for row in rows if row[0] != out]) for out in groups]
        numbers = [part for part in parts if part is not None]
        middle = sum(numbers) / len(numbers)
        spread = sum((part - middle) ** 2 for part in numbers)
        assert found.se == pytest.approx(sqrt((len(numbers) - 1) / len(numbers) * spread))
        assert found.method is Method.JACKKNIFE
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.value is not None
        assert -1 <= found.ci_low <= found.value <= found.ci_high <= 1


@given(flags)
def test_swapping_the_kinds_turns_the_sign(rows: list[tuple[str, bool, bool]]) -> None:
    found = share_difference(rows)
    swapped = share_difference([(group, not first, hit) for group, first, hit in rows])
    assert (swapped.first, swapped.second) == (found.second, found.first)
    if found.difference.value is not None:
        assert swapped.difference.value == pytest.approx(-found.difference.value)


def test_what_seeing_the_verdict_does() -> None:
    """A third of the claims are labelled blind; people follow the judge when they see it."""
    rows = [(f"c{i % 12}", i % 3 == 0, i % 10 > (3 if i % 3 == 0 else 0)) for i in range(360)]
    found = share_difference(rows)
    assert found.first.value == pytest.approx(0.6)
    assert found.second.value == pytest.approx(0.9)
    assert found.difference.value == pytest.approx(-0.3)
    assert found.difference.ci_high is not None
    assert found.difference.ci_high < 0


def test_equal_conversations_keep_the_difference_without_an_interval() -> None:
    rows = [(f"c{i}", first, first) for i in range(9) for first in (True, False)]
    found = share_difference(rows).difference
    assert (found.value, found.has_interval, found.reason) == (1.0, False, Reason.NO_VARIATION)
