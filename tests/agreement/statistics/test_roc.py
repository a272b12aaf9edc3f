from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.ranks import delong_auroc_interval
from faithtui.domain.withheld_reasons import WithheldReason

tables = st.dictionaries(
    st.integers(0, 6).map(float), st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=7
)


def by_pairs(levels: dict[float, tuple[int, int]]) -> tuple[float, float]:
    """Compute area and variance from the definition, pair by pair."""
    lows = [score for score, (low, _) in levels.items() for _ in range(low)]
    highs = [score for score, (_, high) in levels.items() for _ in range(high)]

    def kernel(high: float, low: float) -> float:
        return 1.0 if high > low else 0.5 if high == low else 0.0

    area = sum(kernel(high, low) for high, low in product(highs, lows)) / len(highs) / len(lows)
    won = [sum(kernel(high, low) for low in lows) / len(lows) for high in highs]
    lost = [sum(kernel(high, low) for high in highs) / len(highs) for low in lows]
    s10 = sum((each - area) ** 2 for each in won) / max(1, len(won) - 1)
    s01 = sum((each - area) ** 2 for each in lost) / max(1, len(lost) - 1)
    return area, s10 / len(won) + s01 / len(lost)


@given(tables)
def test_area_and_variance_are_those_of_the_definition(
    levels: dict[float, tuple[int, int]],
) -> None:
    found = delong_auroc_interval(levels)
    negatives = sum(low for low, _ in levels.values())
    positives = sum(high for _, high in levels.values())
    if not negatives or not positives:
        expected = (
            WithheldReason.ONE_CLASS_ONLY if negatives + positives else WithheldReason.NO_ITEMS
        )
        assert found is expected
        return
    assert not isinstance(found, WithheldReason)
    area, variance = by_pairs(levels)
    assert found.value == pytest.approx(area)
    if min(negatives, positives) < 2 or variance < 1e-15:
        assert (found.se, found.ci_low, found.ci_high) == (None, None, None)
    else:
        assert found.se == pytest.approx(variance**0.5)
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert 0 <= found.ci_low <= found.value <= found.ci_high <= 1


@given(tables)
def test_a_monotone_change_of_the_scores_changes_nothing(
    levels: dict[float, tuple[int, int]],
) -> None:
    moved = {score**3 / 7 - 5: counts for score, counts in reversed(levels.items())}
    assert delong_auroc_interval(moved) == delong_auroc_interval(levels)


def test_perfect_separation_is_no_certainty() -> None:
    found = delong_auroc_interval({0.1: (5, 0), 0.9: (0, 5)})
    assert not isinstance(found, WithheldReason)
    assert (found.value, found.se, found.ci_low) == (1.0, None, None)
