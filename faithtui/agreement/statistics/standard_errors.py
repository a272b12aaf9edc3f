"""Large-sample standard errors of two raters' coefficients, for units that stand alone.

Claims of one conversation do not stand alone, so reports take the jackknife instead; these are
for comparison with what other tools print. Cells must be counts of units, not weights.
"""

import math
from collections.abc import Sequence
from enum import Enum, auto

from faithtui.agreement.statistics import chance
from faithtui.agreement.statistics.category_weights import Disagreement, disagreement
from faithtui.agreement.statistics.coefficients import disagreed
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Reason


class Chance(Enum):
    """How a coefficient thinks of chance."""

    NONE = auto()
    """Percent agreement: none expected."""
    MARGINS = auto()
    """Cohen's kappa: each rater's own shares."""
    POOLED = auto()
    """Scott's pi and, without its small-sample term, Krippendorff's alpha: both together."""
    UNIFORM = auto()
    """Brennan and Prediger: every declared category as likely."""
    GWET = auto()
    """Gwet's AC1 and AC2."""


def standard_error(
    table: Counted, by_chance: Chance, weights: Disagreement | None = None
) -> float | Reason:
    """Compute the standard error of a coefficient.

    Args:
        table: Counts of units.
        by_chance: Which coefficient.
        weights: How much categories differ.

    Returns:
        A number not below 0; undefined where the coefficient is.

    Source:
        Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72:323-327, equation 14, for kappa;
        Gwet, Handbook of Inter-Rater Reliability (4th ed.), chapter 5, for the others, with
        divisor n. Both are the variance over the cells of
        (1 - coefficient) * slope of the expected disagreement - disagreement,
        divided by n times the expected disagreement squared.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    expected, slope = _expected(table, by_chance, weights)
    coefficient = chance.above_chance(disagreed(table, weights) / n, expected)
    if isinstance(coefficient, Reason):
        return coefficient
    scores = _scores(table, weights, slope, 1 - coefficient)
    shares = [[count / n for count in row] for row in table.counts]
    return math.sqrt(_variance(shares, scores) / n) / expected


def null_standard_error(table: Counted, weights: Disagreement | None = None) -> float | Reason:
    """Compute the standard error of kappa if the raters were independent.

    Source:
        Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72:323-327, equation 15.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    expected, slope = _expected(table, Chance.MARGINS, weights)
    if isinstance(reason := chance.above_chance(0.0, expected), Reason):
        return reason
    shares = [[row * column / n**2 for column in table.columns] for row in table.rows]
    return math.sqrt(_variance(shares, _scores(table, weights, slope, 1.0)) / n) / expected


def pooled_expectation(
    shares: Sequence[float], by_chance: Chance, weights: Disagreement | None
) -> tuple[float, list[float]]:
    """Give the disagreement expected by chance, and how it grows with each category's share.

    Args:
        shares: Share of each category, averaged over raters.
        by_chance: Any but `MARGINS`, which has two sets of shares.
        weights: How much categories differ.

    Returns:
        Expected disagreement in [0, 1], and per category half its slope, up to a constant.
    """
    flat = [0.0] * len(shares)
    match by_chance:
        case Chance.NONE:
            return 1.0, flat
        case Chance.UNIFORM:
            return chance.uniform(len(shares), weights), flat
        case Chance.GWET if len(shares) > 1:
            factor = chance.gwet_factor(len(shares), weights)
            return chance.gwet(shares, weights), [factor * share for share in shares]
        case Chance.POOLED:
            both = zip(_mixed(weights, shares), _mixed(_turned(weights), shares), strict=True)
            return chance.crossed(shares, shares, weights), [(a + b) / 2 for a, b in both]
        case _:
            return 0.0, flat


def _expected(
    table: Counted, by_chance: Chance, weights: Disagreement | None
) -> tuple[float, tuple[Sequence[float], Sequence[float]]]:
    """Give the disagreement by chance, and its slope as a part of the row and of the column."""
    rows, columns = (
        [row / table.n for row in table.rows],
        [each / table.n for each in table.columns],
    )
    if by_chance is Chance.MARGINS:
        slopes = (_mixed(weights, columns), _mixed(_turned(weights), rows))
        return chance.crossed(rows, columns, weights), slopes
    shares = [(row + column) / 2 for row, column in zip(rows, columns, strict=True)]
    expected, slope = pooled_expectation(shares, by_chance, weights)
    return expected, (slope, slope)


def _scores(
    table: Counted,
    weights: Disagreement | None,
    slope: tuple[Sequence[float], Sequence[float]],
    factor: float,
) -> list[list[float]]:
    across, down = slope
    return [
        [factor * (a + b) - disagreement(i, j, weights) for j, b in enumerate(down)]
        for i, a in enumerate(across)
    ]


def _variance(shares: Sequence[Sequence[float]], scores: Sequence[Sequence[float]]) -> float:
    cells = [
        (share, score)
        for row, line in zip(shares, scores, strict=True)
        for share, score in zip(row, line, strict=True)
    ]
    mean = math.fsum(share * score for share, score in cells)
    return math.fsum(share * (score - mean) ** 2 for share, score in cells)


def _mixed(weights: Disagreement | None, shares: Sequence[float]) -> list[float]:
    """Compute the mean disagreement of each category with a rater of these shares."""
    size = range(len(shares))
    return [math.fsum(disagreement(i, j, weights) * shares[j] for j in size) for i in size]


def _turned(weights: Disagreement | None) -> Disagreement | None:
    return None if weights is None else tuple(zip(*weights, strict=True))
