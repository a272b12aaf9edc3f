"""What agreement to expect by chance, and the coefficients' common form.

All of them are 1 - observed disagreement / disagreement expected by chance; they differ in how
chance is thought of. Each expectation is written once here and read for tables of two raters and
for ratings of several.
"""

import math
from collections.abc import Sequence
from operator import mul

from faithtui.agreement.statistics.category_weights import Disagreement
from faithtui.domain.estimates import Point, Reason

_NOTHING = 1e-12
"""Expected disagreement below this share of the possible is rounding."""


def above_chance(observed: float, expected: float, whole: float = 1.0) -> Point:
    """Compute how much less two raters disagree than by chance, at most 1.

    Args:
        observed: Disagreement found, in the same unit as `expected`.
        expected: Disagreement expected by chance.
        whole: The largest disagreement there could be, in that unit.

    Returns:
        1 - observed / expected, which is (po - pe) / (1 - pe); undefined when chance alone would
        always agree (0/0).
    """
    if expected <= _NOTHING * whole:
        return Reason.NO_VARIATION
    return (expected - observed) / expected


def crossed(first: Sequence[float], second: Sequence[float], weights: Disagreement | None) -> float:
    """Compute the disagreement of two raters who rate independently of each other.

    Args:
        first: The first rater's number of each category, or shares.
        second: The second rater's.
        weights: How much categories differ; None: any two by 1.

    Returns:
        Sum of v first second over all pairs of categories; whole numbers give a whole number.

    Source:
        Cohen 1960 with each rater's own margins; Scott 1955 and Fleiss 1971 with pooled ones.
    """
    if weights is None:
        agreeing: float = sum(map(mul, first, second))
        return sum(first) * sum(second) - agreeing
    return sum(
        a * sum(weight * b for weight, b in zip(row, second, strict=True))
        for a, row in zip(first, weights, strict=True)
    )


def uniform(size: int, weights: Disagreement | None) -> float:
    """Compute the disagreement of raters who take any declared category equally often, in [0, 1].

    Args:
        size: Number of declared categories, at least 1.
        weights: How much categories differ.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699: pe = 1 / q;
        with weights sum(w) / q² (Gwet, Handbook of Inter-Rater Reliability, 4th ed.).
    """
    return total_difference(size, weights) / size**2


def gwet(shares: Sequence[float], weights: Disagreement | None) -> float:
    """Compute the disagreement expected by Gwet's AC1 and AC2, in [0, 1].

    Args:
        shares: Share of each declared category, averaged over the raters; two or more.
        weights: How much categories differ; None gives AC1.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48:
        pe = sum(w) * sum p (1 - p) / (q (q - 1)).
    """
    return 1 - gwet_factor(len(shares), weights) * math.fsum(p * (1 - p) for p in shares)


def gwet_factor(size: int, weights: Disagreement | None) -> float:
    """Compute sum(w) / (q (q - 1)) of two or more declared categories."""
    return (size**2 - total_difference(size, weights)) / (size * (size - 1))


def total_difference(size: int, weights: Disagreement | None) -> float:
    """Sum the disagreement weights over all pairs of categories."""
    if weights is None:
        return size * (size - 1)
    return math.fsum(weight for row in weights for weight in row)
