"""The area under the ROC curve with the interval of independent units."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from faithtui.agreement.statistics.joint_counts import above
from faithtui.agreement.statistics.ranks import auroc_of_cells
from faithtui.domain.estimates import LEVEL, Reason

Levels = Mapping[float, tuple[int, int]]
"""Negatives and positives at each score."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area under the curve."""

    value: float
    """Probability that a positive scores above a negative, ties counting half."""
    se: float | None
    """None with a single unit of a class, and when nothing varies, as with perfect separation:
    the formula would claim that nothing is left to doubt."""
    ci_low: float | None
    ci_high: float | None


def delong(levels: Levels, level: float = LEVEL) -> Area | Reason:
    """Compute the area and its normal interval, clipped to [0, 1].

    Units count as independent; `ranks.auroc_estimate` leaves out whole conversations.

    Args:
        levels: Counts per score, in any order.
        level: Confidence level in (0, 1).

    Returns:
        `NO_ITEMS` or `ONE_CLASS_ONLY` when there is no area.

    Source:
        DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837-845, with the midranks of Sun & Xu
        2014, IEEE Signal Processing Letters 21:1389-1393; clipped as in pROC, ci.auc.
    """
    ordered = [levels[score] for score in sorted(levels)]
    lows, highs = [low for low, _ in ordered], [high for _, high in ordered]
    value = auroc_of_cells(
        {(x, y): count for x, counts in enumerate(ordered) for y, count in enumerate(counts)},
        len(ordered),
    )
    if isinstance(value, Reason):
        return value
    negatives, positives = sum(lows), sum(highs)
    # What one positive of a level wins against all negatives, and one negative against positives.
    won = [
        (negatives - higher - here / 2) / negatives
        for higher, here in zip(above(lows), lows, strict=True)
    ]
    lost = [
        (higher + here / 2) / positives for higher, here in zip(above(highs), highs, strict=True)
    ]
    variance = _variance_of_mean(won, highs, value) + _variance_of_mean(lost, lows, value)
    if min(negatives, positives) < 2 or not variance:
        return Area(value, None, None, None)
    se = math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + level) / 2) * se
    return Area(value, se, max(0.0, value - half), min(1.0, value + half))


def _variance_of_mean(values: list[float], counts: list[int], mean: float) -> float:
    n = sum(counts)
    spread = math.fsum(
        count * (value - mean) ** 2 for value, count in zip(values, counts, strict=True)
    )
    return spread / max(1, n - 1) / n
