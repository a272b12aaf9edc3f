"""Standard errors of several raters' coefficients, for units that stand alone.

For comparison with what other tools print; reports take the jackknife by conversation.

Source: Gwet, Handbook of Inter-Rater Reliability (4th ed.), chapter 5: each unit's influence on the
coefficient, with divisor n (n - 1).
"""

import math
from collections.abc import Iterable, Sequence

from faithtui.agreement.statistics import chance
from faithtui.agreement.statistics.category_weights import Disagreement
from faithtui.agreement.statistics.ratings import Ratings, category_shares, unit_disagreement
from faithtui.agreement.statistics.standard_errors import Chance, pooled_expectation
from faithtui.domain.estimates import Reason


def standard_error(
    ratings: Ratings, by_chance: Chance, weights: Disagreement | None = None
) -> float | Reason:
    """Compute the standard error of a coefficient of several raters.

    Args:
        ratings: Units, with gaps or not.
        by_chance: Which coefficient, but `MARGINS`, which needs to know who rated what.
        weights: How much categories differ.

    Returns:
        A number not below 0; undefined where the coefficient is, and for fewer than two units.
    """
    units, pairable = ratings.rated, ratings.pairable
    if not pairable:
        return Reason.NO_OVERLAP if units else Reason.NO_ITEMS
    shares = category_shares(ratings)
    expected, slope = pooled_expectation(shares, by_chance, weights)
    rated = [(pattern, times) for pattern, times in ratings.items if any(pattern)]
    apart = [
        unit_disagreement(pattern, weights) if sum(pattern) > 1 else None for pattern, _ in rated
    ]
    found = zip(apart, rated, strict=True)
    observed = math.fsum(times * part for part, (_, times) in found if part is not None)
    value = chance.above_chance(observed / pairable, expected)
    if isinstance(value, Reason) or units < 2:
        return value if isinstance(value, Reason) else Reason.NO_VARIATION
    middle = _inner(slope, shares)
    influences = []
    for part, (pattern, times) in zip(apart, rated, strict=True):
        own = 0.0 if part is None else units / pairable * (expected - part) / expected
        lean = 2 * (_inner(slope, pattern) / sum(pattern) - middle)
        influences.append((own + (1 - value) * lean / expected, times))
    return _of_mean(influences, value, units)


def _inner(slope: Sequence[float], counts: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(slope, counts, strict=True))


def _of_mean(influences: Iterable[tuple[float, int]], value: float, units: int) -> float:
    spread = math.fsum(times * (each - value) ** 2 for each, times in influences)
    return math.sqrt(spread / (units * (units - 1)))
