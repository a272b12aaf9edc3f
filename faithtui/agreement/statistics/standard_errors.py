"""Large-sample standard errors of coefficients, for units that stand alone.

Claims of one conversation do not stand alone, so reports take the jackknife instead; these are
for comparison with what other tools print. Cells must be counts of units, not weights.
"""

import math
from enum import Enum, auto

import numpy as np

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import coefficients
from faithtui.agreement.statistics.coefficients import (
    DisagreementWeights,
    compute_chance_corrected_agreement,
)
from faithtui.agreement.statistics.matrices import Floats, MatrixStack
from faithtui.agreement.statistics.ratings import (
    Ratings,
    average_category_shares,
    compute_pair_disagreement,
)
from faithtui.domain.withheld_reasons import WithheldReason


class ChanceModel(Enum):
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


def compute_standard_error(
    matrix: ConfusionMatrix[float],
    by_chance: ChanceModel,
    weights: DisagreementWeights | None = None,
) -> float | WithheldReason:
    """Compute the standard error of a coefficient of two raters.

    Args:
        matrix: Counts of units.
        by_chance: Which coefficient.
        weights: How much categories differ; shape (q, q).

    Returns:
        A number not below 0; undefined where the coefficient is.

    Source:
        Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72:323-327, equation 14, for kappa;
        Gwet, Handbook of Inter-Rater Reliability (4th ed.), chapter 5, for the others, with
        divisor n. Both are the variance over the cells of
        (1 - coefficient) * slope of the expected disagreement - disagreement,
        divided by n times the expected disagreement squared.
    """
    table = MatrixStack(matrix.counts)
    if not table.n:
        return WithheldReason.NO_ITEMS
    expected, across, down = _compute_chance_disagreement_and_slopes(table, by_chance, weights)
    observed = coefficients.sum_disagreement(table, weights) / table.n
    coefficient = float(compute_chance_corrected_agreement(observed, expected))
    if math.isnan(coefficient):
        return WithheldReason.NO_VARIATION
    scores = (1 - coefficient) * (across[:, None] + down) - _make_category_distances(
        table.size, weights
    )
    return math.sqrt(_variance(table.cells / table.n, scores) / table.n) / expected


def compute_null_standard_error(
    matrix: ConfusionMatrix[float], weights: DisagreementWeights | None = None
) -> float | WithheldReason:
    """Compute the standard error of kappa if the raters were independent.

    Args:
        matrix: Counts of units.
        weights: How much categories differ; shape (q, q).

    Returns:
        A number not below 0; undefined where kappa is.

    Source:
        Fleiss, Cohen & Everitt 1969, Psychological Bulletin 72:323-327, equation 15.
    """
    table = MatrixStack(matrix.counts)
    if not table.n:
        return WithheldReason.NO_ITEMS
    expected, across, down = _compute_chance_disagreement_and_slopes(
        table, ChanceModel.MARGINS, weights
    )
    if math.isnan(float(compute_chance_corrected_agreement(0.0, expected))):
        return WithheldReason.NO_VARIATION
    shares = table.rows[:, None] * table.columns / table.n**2
    scores = across[:, None] + down - _make_category_distances(table.size, weights)
    return math.sqrt(_variance(shares, scores) / table.n) / expected


def compute_ratings_standard_error(
    ratings: Ratings, by_chance: ChanceModel, weights: DisagreementWeights | None = None
) -> float | WithheldReason:
    """Compute the standard error of a coefficient of several raters.

    Args:
        ratings: Units, with gaps or not.
        by_chance: Which coefficient, but `MARGINS`, which needs to know who rated what.
        weights: How much categories differ; shape (q, q).

    Returns:
        A number not below 0; undefined where the coefficient is, and for fewer than two units.

    Source:
        Gwet, Handbook of Inter-Rater Reliability (4th ed.), chapter 5: each unit's influence on the
        coefficient, with divisor n (n - 1).
    """
    units, pairable = int(ratings.rated_count), int(ratings.pairable_count)
    if not pairable:
        return WithheldReason.NO_OVERLAP if units else WithheldReason.NO_ITEMS
    shares = average_category_shares(ratings)
    expected, slope = _compute_pooled_chance_disagreement(shares, by_chance, weights)
    rated = ratings.rating_counts_per_pattern > 0
    patterns, sizes, times = (
        ratings.patterns[rated],
        ratings.rating_counts_per_pattern[rated],
        ratings.times[rated],
    )
    several = sizes > 1
    apart = np.zeros(len(patterns))
    apart[several] = compute_pair_disagreement(patterns[several], weights)
    value = float(compute_chance_corrected_agreement(apart @ times / pairable, expected))
    if math.isnan(value) or units < 2:
        return WithheldReason.NO_VARIATION
    own = np.where(several, units / pairable * (expected - apart) / expected, 0.0)
    lean = 2 * (patterns @ slope / sizes - slope @ shares)
    influences = own + (1 - value) * lean / expected
    return math.sqrt(times @ (influences - value) ** 2 / (units * (units - 1)))


def _compute_chance_disagreement_and_slopes(
    table: MatrixStack, by_chance: ChanceModel, weights: DisagreementWeights | None
) -> tuple[float, Floats, Floats]:
    """Give the disagreement by chance, and its slope as a part of the row and of the column."""
    rows, columns = table.rows / table.n, table.columns / table.n
    if by_chance is ChanceModel.MARGINS:
        apart = _make_category_distances(table.size, weights)
        expected = float(coefficients.expect_independent_disagreement(rows, columns, weights))
        return expected, apart @ columns, apart.T @ rows
    expected, slope = _compute_pooled_chance_disagreement((rows + columns) / 2, by_chance, weights)
    return expected, slope, slope


def _compute_pooled_chance_disagreement(
    shares: Floats, by_chance: ChanceModel, weights: DisagreementWeights | None
) -> tuple[float, Floats]:
    """Give the disagreement expected by chance, and how it grows with each category's share.

    Args:
        shares: Share of each category, averaged over raters; shape (q,).
        by_chance: Any but `MARGINS`, which has two sets of shares.
        weights: How much categories differ.

    Returns:
        Expected disagreement in [0, 1], and per category half its slope, up to a constant.
    """
    flat = np.zeros(len(shares))
    match by_chance:
        case ChanceModel.NONE:
            return 1.0, flat
        case ChanceModel.UNIFORM:
            return coefficients.expect_uniform_disagreement(len(shares), weights), flat
        case ChanceModel.GWET if len(shares) > 1:
            factor = coefficients.compute_gwet_factor(len(shares), weights)
            return float(coefficients.expect_gwet_disagreement(shares, weights)), factor * shares
        case ChanceModel.POOLED:
            apart = _make_category_distances(len(shares), weights)
            expected = float(coefficients.expect_independent_disagreement(shares, shares, weights))
            return expected, (apart @ shares + apart.T @ shares) / 2
        case _:
            return 0.0, flat


def _make_category_distances(size: int, weights: DisagreementWeights | None) -> Floats:
    """Say how much any two categories differ; shape (q, q)."""
    return 1 - np.eye(size) if weights is None else weights


def _variance(shares: Floats, scores: Floats) -> float:
    mean = float((shares * scores).sum())
    return float((shares * (scores - mean) ** 2).sum())
