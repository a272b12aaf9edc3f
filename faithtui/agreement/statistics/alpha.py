"""Krippendorff's alpha from coincidences: how often two values stand in the same unit.

One function serves tables of two raters and ratings of several with gaps; only the coincidences
are counted differently.
"""

from collections.abc import Sequence
from enum import StrEnum

from faithtui.agreement.statistics.category_weights import Disagreement
from faithtui.agreement.statistics.chance import above_chance, crossed
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Point, Reason


class MeasurementLevel(StrEnum):
    """What distances between categories mean."""

    NOMINAL = "nominal"
    """Any two categories differ by as much."""
    ORDINAL = "ordinal"
    """Categories have an order; what lies between two of them counts."""
    INTERVAL = "interval"
    """Differences of the categories' numbers count."""
    RATIO = "ratio"
    """Differences relative to the size of the categories' numbers count."""


def krippendorff_alpha(
    table: Counted,
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Point:
    """Compute Krippendorff's alpha of two raters who both rated every unit, at most 1.

    Undefined when only one category was ever used (0/0).

    Args:
        table: Counts; with weights alpha is that of the population they stand for.
        level: What distances mean.
        scores: One number per category for interval and ratio, not negative for ratio.

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: one minus
        observed over expected disagreement, the latter from the 2n pooled values drawn in pairs
        without replacement.
    """
    if not table.n:
        return Reason.NO_ITEMS
    if level is MeasurementLevel.NOMINAL:
        values = [row + column for row, column in zip(table.rows, table.columns, strict=True)]
        n = 2 * table.n
        return above_chance((n - 1) * 2 * table.differing, crossed(values, values, None), n * n)
    counts = table.counts
    size = range(len(counts))
    return alpha_of([[counts[i][j] + counts[j][i] for j in size] for i in size], level, scores)


def alpha_of(
    coincidences: Sequence[Sequence[float]],
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Point:
    """Compute alpha from coincidences.

    Args:
        coincidences: Cell (k, l): pairs of values k and l in the same unit, in both orders, each
            unit with m values counting 1 / (m - 1) a pair. Not all 0.
        level: What distances mean.
        scores: One number per category, see `krippendorff_alpha`.

    Source:
        Krippendorff 2011, sections C to E:
        alpha = 1 - (n - 1) sum o_kl d²_kl / sum n_k n_l d²_kl.
    """
    values = [sum(row) for row in coincidences]
    n = sum(values)
    weights = squared_differences(values, level, scores)
    expected = crossed(values, values, weights)
    observed = _observed(coincidences, weights)
    largest = 1 if weights is None else max(map(max, weights))
    # What the largest difference is called does not matter, only that there is one.
    return above_chance((n - 1) * observed, expected, n * n * largest if largest else 1)


def squared_differences(
    values: Sequence[float], level: MeasurementLevel, scores: Sequence[float]
) -> Disagreement | None:
    """Compute how much categories differ, squared; None: any two by 1.

    Args:
        values: How often each category occurs among pairable values, in declared order.
        level: What distances mean.
        scores: One number per category, see `krippendorff_alpha`.

    Source:
        Krippendorff 2011, section D, the metric differences.
    """
    match level:
        case MeasurementLevel.NOMINAL:
            return None
        case MeasurementLevel.ORDINAL:
            size = range(len(values))
            return tuple(tuple(_between(values, k, j) ** 2 for j in size) for k in size)
        case MeasurementLevel.INTERVAL:
            return tuple(tuple((a - b) ** 2 for b in scores) for a in scores)
        case MeasurementLevel.RATIO:
            return tuple(
                tuple(((a - b) / (a + b)) ** 2 if a + b else 0.0 for b in scores) for a in scores
            )


def _between(values: Sequence[float], first: int, second: int) -> float:
    """Count the values from one category to another, the ends by half."""
    low, high = min(first, second), max(first, second)
    return sum(values[low : high + 1]) - (values[low] + values[high]) / 2


def _observed(coincidences: Sequence[Sequence[float]], weights: Disagreement | None) -> float:
    if weights is None:
        return sum(map(sum, coincidences)) - sum(row[k] for k, row in enumerate(coincidences))
    return sum(
        count * weight
        for row, line in zip(coincidences, weights, strict=True)
        for count, weight in zip(row, line, strict=True)
    )
