"""Coefficients of agreement of two raters who both rated every unit, from confusion matrices.

Rows are the first rater (the reference), columns the second (the judge). All coefficients are
1 - observed disagreement / disagreement expected by chance; they differ in how chance is thought
of, and each expectation is written once, for two raters and for several (`ratings`).

Weights say how much two categories differ: an array of shape (q, q), 0 on the diagonal and up to 1
for the farthest pair. They are disagreement weights v = 1 - w, because sums of small disagreements
stay exact where one minus a large agreement would not. None compares labels as they are: any two
differ by 1. Of weighted matrices the figures are those of the population the weights stand for.
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from faithtui.agreement.confusion_matrix import FEW_ITEMS, ConfusionMatrix
from faithtui.agreement.statistics.figures import Figure, Statistic, as_figure, divide_or_nan
from faithtui.agreement.statistics.intervals import IntervalScale
from faithtui.agreement.statistics.matrices import Floats, MatrixStack
from faithtui.domain.withheld_reasons import WithheldReason

DisagreementWeights = Floats
"""Disagreement weights; shape (q, q), in [0, 1], 0 on the diagonal."""

_NOTHING = 1e-12
"""Expected disagreement below this share of the possible is rounding."""


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


def linear_weights(scores: Sequence[float]) -> DisagreementWeights:
    """Weigh a pair of categories by its distance over the largest one.

    Args:
        scores: One number per category, in declared order.

    Returns:
        Shape (q, q); all 0 where all scores are equal.

    Source:
        Cicchetti & Allison 1971: agreement weights 1 - |d| / dmax.
    """
    places = np.asarray(scores, dtype=np.float64)
    return scale_disagreement_weights(np.abs(places[:, None] - places))


def quadratic_weights(scores: Sequence[float]) -> DisagreementWeights:
    """Weigh a pair of categories by the square of its distance over the largest one.

    Args:
        scores: One number per category, in declared order.

    Returns:
        Shape (q, q).

    Source:
        Fleiss & Cohen 1973: agreement weights 1 - (d / dmax)².
    """
    return linear_weights(scores) ** 2


def agreement_to_disagreement_weights(weights: npt.ArrayLike) -> DisagreementWeights:
    """Take agreement weights, shape (q, q), in [0, 1] with 1 on the diagonal."""
    return 1 - np.asarray(weights, dtype=np.float64)


def scale_disagreement_weights(weights: npt.ArrayLike) -> DisagreementWeights:
    """Take disagreement weights of any size, shape (q, q), not negative, 0 on the diagonal.

    Source:
        Cohen 1968, Psychological Bulletin 70:213-220; divided by the largest, which changes no
        kappa and is needed where the sum of the weights enters.
    """
    distances = np.asarray(weights, dtype=np.float64)
    largest = distances.max(initial=0.0)
    # No distance at all: nothing ever disagrees.
    return np.asarray(distances / largest if largest else distances)


def compute_chance_corrected_agreement(
    observed: npt.ArrayLike, expected: npt.ArrayLike, whole: npt.ArrayLike = 1.0
) -> Floats:
    """Compute how much less two raters disagree than by chance, at most 1.

    Args:
        observed: Disagreement found, in the same unit as `expected`; any shape.
        expected: Disagreement expected by chance.
        whole: The largest disagreement there could be, in that unit.

    Returns:
        1 - observed / expected, which is (po - pe) / (1 - pe); NaN where chance alone would always
        agree (0/0).
    """
    chance = np.asarray(expected, dtype=np.float64)
    known = np.where(chance <= _NOTHING * np.asarray(whole), np.nan, chance)
    return np.asarray((known - observed) / known)


def expect_independent_disagreement(
    first: Floats, second: Floats, weights: DisagreementWeights | None
) -> Floats:
    """Compute the disagreement of two raters who rate independently of each other.

    Args:
        first: The first rater's number of each category, or shares; shape (q, …).
        second: The second rater's.
        weights: How much categories differ.

    Returns:
        Sum of v first second over all pairs of categories; shape (…).

    Source:
        Cohen 1960 with each rater's own margins; Scott 1955 and Fleiss 1971 with pooled ones.
    """
    if weights is None:
        return np.asarray(first.sum(axis=0) * second.sum(axis=0) - (first * second).sum(axis=0))
    return np.asarray(np.einsum("i...,ij,j...->...", first, weights, second))


def expect_uniform_disagreement(size: int, weights: DisagreementWeights | None) -> float:
    """Compute the disagreement of raters who take any declared category equally often, in [0, 1].

    Args:
        size: Number of declared categories, at least 1.
        weights: How much categories differ.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699: pe = 1 / q;
        with weights sum(w) / q² (Gwet, Handbook of Inter-Rater Reliability, 4th ed.).
    """
    return _sum_disagreement_weights(size, weights) / size**2


def expect_gwet_disagreement(shares: Floats, weights: DisagreementWeights | None) -> Floats:
    """Compute the disagreement expected by Gwet's AC1 and AC2, in [0, 1].

    Args:
        shares: Share of each declared category, averaged over the raters; shape (q, …), q >= 2.
        weights: How much categories differ; None gives AC1.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48:
        pe = sum(w) * sum p (1 - p) / (q (q - 1)).
    """
    return np.asarray(
        1 - compute_gwet_factor(len(shares), weights) * (shares * (1 - shares)).sum(axis=0)
    )


def compute_gwet_factor(size: int, weights: DisagreementWeights | None) -> float:
    """Compute sum(w) / (q (q - 1)) of two or more declared categories."""
    return (size**2 - _sum_disagreement_weights(size, weights)) / (size * (size - 1))


def _sum_disagreement_weights(size: int, weights: DisagreementWeights | None) -> float:
    return float(size * (size - 1)) if weights is None else float(weights.sum())


def sum_disagreement(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Sum the units with two different labels, each by how much they differ; shape (…)."""
    if weights is None:
        return table.disagreed
    return np.asarray(np.einsum("ij...,ij->...", table.cells, weights))


@as_figure()
def percent_agreement(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute the share of units with the same label, in [0, 1]; near misses count by weight."""
    if weights is None:
        return divide_or_nan(table.agreed, table.n)
    return 1 - divide_or_nan(sum_disagreement(table, weights), table.n)


@as_figure()
def chance_agreement(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute the agreement kappa expects by chance, in [0, 1]: product of the two margins."""
    squared = table.n**2
    return divide_or_nan(
        squared - expect_independent_disagreement(table.rows, table.columns, weights), squared
    )


@as_figure()
def cohen_kappa(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Cohen's kappa, or weighted kappa, at most 1.

    Undefined when both raters use one and the same category only (0/0).

    Source:
        Cohen 1960, Educational and Psychological Measurement 20:37-46; weighted: Cohen 1968,
        Psychological Bulletin 70:213-220.
    """
    n = table.n
    expected = expect_independent_disagreement(table.rows, table.columns, weights)
    return compute_chance_corrected_agreement(n * sum_disagreement(table, weights), expected, n * n)


@as_figure()
def maximum_kappa(table: MatrixStack) -> Floats:
    """Compute the largest kappa that raters with these margins could reach, at most 1.

    Source:
        Cohen 1960, p. 42: the agreed units of a category are at most the smaller of its two
        counts.
    """
    n = table.n
    fewest = n - np.minimum(table.rows, table.columns).sum(axis=0)
    return compute_chance_corrected_agreement(
        n * fewest, expect_independent_disagreement(table.rows, table.columns, None), n * n
    )


@as_figure()
def scott_pi(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Scott's pi, at most 1: chance from the margins of both raters together.

    Undefined when only one category was ever used (0/0).

    Source:
        Scott 1955, Public Opinion Quarterly 19:321-325.
    """
    n, pooled = table.n, table.rows + table.columns
    return compute_chance_corrected_agreement(
        4 * n * sum_disagreement(table, weights),
        expect_independent_disagreement(pooled, pooled, weights),
        4 * n * n,
    )


@as_figure()
def brennan_prediger(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Brennan and Prediger's coefficient, at most 1: every declared category as likely.

    With two categories this is PABAK. Undefined when fewer than two categories are declared.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699; PABAK:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    return compute_chance_corrected_agreement(
        divide_or_nan(sum_disagreement(table, weights), table.n),
        expect_uniform_disagreement(table.size, weights),
    )


@as_figure()
def gwet_ac1(table: MatrixStack, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Gwet's AC1, with weights AC2, over the declared categories, at most 1.

    Undefined when fewer than two categories are declared. A category nobody used still counts.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48.
    """
    if table.size < 2:
        return np.full_like(table.n, np.nan)
    shares = divide_or_nan(table.rows + table.columns, 2 * table.n)
    return compute_chance_corrected_agreement(
        divide_or_nan(sum_disagreement(table, weights), table.n),
        expect_gwet_disagreement(shares, weights),
    )


@as_figure()
def krippendorff_alpha(
    table: MatrixStack,
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Floats:
    """Compute Krippendorff's alpha of two raters who both rated every unit, at most 1.

    Undefined when only one category was ever used (0/0).

    Args:
        table: Counts; with weights alpha is that of the population they stand for, whose 2n values
            are as many as the weights add up to. Weights that are all alike must be left out: the
            values are then those that were given, and alpha is larger by (1 - alpha) / 2n.
        level: What distances mean.
        scores: One number per category for interval and ratio, not negative for ratio.

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: one minus
        observed over expected disagreement, the latter from the 2n pooled values drawn in pairs
        without replacement.
    """
    if level is MeasurementLevel.NOMINAL:
        values, n = table.rows + table.columns, 2 * table.n
        return compute_chance_corrected_agreement(
            (n - 1) * 2 * table.disagreed,
            expect_independent_disagreement(values, values, None),
            n * n,
        )
    return compute_alpha_from_coincidences(table.cells + table.cells.swapaxes(0, 1), level, scores)


def compute_alpha_from_coincidences(
    coincidences: Floats,
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Floats:
    """Compute Krippendorff's alpha from coincidences: how often two values stand in one unit.

    Args:
        coincidences: Cell (k, l): pairs of values k and l in the same unit, in both orders, each
            unit with m values counting 1 / (m - 1) a pair; shape (q, q, …).
        level: What distances mean.
        scores: One number per category, see `krippendorff_alpha`.

    Returns:
        Shape (…); NaN without values, and where no two of them differ.

    Source:
        Krippendorff 2011, sections C to E:
        alpha = 1 - (n - 1) sum o_kl d²_kl / sum n_k n_l d²_kl.
    """
    values = coincidences.sum(axis=1)
    n = values.sum(axis=0)
    distances = _compute_squared_category_distances(values, level, scores)
    observed = (coincidences * distances).sum(axis=(0, 1))
    expected = (values[:, None] * values * distances).sum(axis=(0, 1))
    largest = distances.max(axis=(0, 1), initial=0.0)
    # What the largest difference is called does not matter, only that there is one.
    whole = np.where(largest > 0, n * n * largest, 1)
    return compute_chance_corrected_agreement((n - 1) * observed, expected, whole)


def _compute_squared_category_distances(
    values: Floats, level: MeasurementLevel, scores: Sequence[float]
) -> Floats:
    """Compute how much categories differ, squared; shape (q, q, …).

    Args:
        values: How often each category occurs among pairable values, in declared order;
            shape (q, …).
        level: What distances mean.
        scores: One number per category, see `krippendorff_alpha`.

    Source:
        Krippendorff 2011, section D, the metric differences.
    """
    if level is MeasurementLevel.ORDINAL:
        # Values up to the middle of each category: what lies between two, the ends by half.
        middles = np.cumsum(values, axis=0) - values / 2
        return np.asarray((middles[:, None] - middles) ** 2)
    if level is MeasurementLevel.NOMINAL:
        distances = 1 - np.eye(len(values))
    else:
        numbers = np.asarray(scores, dtype=np.float64)
        distances = numbers[:, None] - numbers
        if level is MeasurementLevel.RATIO:
            sums = numbers[:, None] + numbers
            distances = distances / np.where(sums == 0, 1, sums)
        distances = distances**2
    return distances.reshape(distances.shape + (1,) * (values.ndim - 1))


@as_figure()
def marginal_distance(table: MatrixStack) -> Floats:
    """Compute half the L1 distance between the two raters' shares of the categories, in [0, 1]."""
    return divide_or_nan(np.abs(table.rows - table.columns).sum(axis=0), 2 * table.n)


@as_figure()
def specific_agreement(table: MatrixStack, category: int) -> Floats:
    """Compute how often raters agree on a category when one of them uses it, in [0, 1].

    Args:
        table: Of any number of categories.
        category: Its position.

    Returns:
        2 T_kk / (row_k + column_k), the F1 score of the category; undefined when nobody uses it.

    Source:
        Cicchetti & Feinstein 1990, Journal of Clinical Epidemiology 43:551-558; Dice 1945.
    """
    used = table.rows[category] + table.columns[category]
    return divide_or_nan(2 * table.cells[category, category], used)


@as_figure()
def macro_f1(table: MatrixStack) -> Floats:
    """Compute the plain mean of the F1 scores of all declared categories, in [0, 1].

    A category without a hit counts 0, used or not.

    Source:
        The usual definition, with division by zero as zero as in scikit-learn, and over the
        declared categories rather than the observed ones.
    """
    scores = [specific_agreement(table, category) for category in range(table.size)]
    return np.where(table.n > 0, np.nan_to_num(np.asarray(scores)).mean(axis=0), np.nan)


@as_figure()
def prevalence_index(table: MatrixStack) -> Floats:
    """Compute (a - d) / n of a matrix ((a, b), (c, d)), in [-1, 1].

    Source:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    return divide_or_nan(table.cells[0, 0] - table.cells[1, 1], table.n)


@as_figure()
def bias_index(table: MatrixStack) -> Floats:
    """Compute (b - c) / n of a matrix ((a, b), (c, d)), in [-1, 1].

    Source:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    return divide_or_nan(table.cells[0, 1] - table.cells[1, 0], table.n)


def count_all_units(table: MatrixStack) -> Floats:
    """Say that all units enter a figure."""
    return table.n


PERCENT = Statistic(percent_agreement.bind(), count_all_units, IntervalScale.LOGIT)
KAPPA = Statistic(cohen_kappa.bind(), count_all_units, IntervalScale.ATANH)
ALPHA = Statistic(krippendorff_alpha.bind(), count_all_units, IntervalScale.ATANH)
AC1 = Statistic(gwet_ac1.bind(), count_all_units, IntervalScale.ATANH)
SCOTT_PI = Statistic(scott_pi.bind(), count_all_units, IntervalScale.ATANH)


def make_weighted_statistic(
    of: Figure[[DisagreementWeights | None]], weights: DisagreementWeights
) -> Statistic:
    """Make a weighted coefficient a figure with an interval."""
    return Statistic(of.bind(weights), count_all_units, IntervalScale.ATANH)


def make_specific_agreement_statistic(category: int) -> Statistic:
    """Make the specific agreement on a category, by its position, a figure with an interval.

    Units on which anybody used the category enter.
    """

    def count_units_with_category(table: MatrixStack) -> Floats:
        both = table.cells[category, category]
        return np.asarray(table.rows[category] + table.columns[category] - both)

    return Statistic(
        specific_agreement.bind(category), count_units_with_category, IntervalScale.LOGIT
    )


HIGH_AGREEMENT = 0.80
KAPPA_GAP = 0.40
"""How far below a high agreement kappa is when one label prevails."""
MARGINAL_GAP = 0.10
NOTHING_COMPARED = ("few_items", "undefined")
"""Codes where there is no unit with two labels."""
_ROUNDING = 1e-12


def list_table_warning_codes(table: ConfusionMatrix[float]) -> tuple[str, ...]:
    """Name what a confusion table alone warns of.

    Returns:
        Codes in alphabetical order; (): nothing. `kappa_prevalence`: agreement of 0.80 or more and
        kappa at least 0.40 below it. `marginal_bias`: half the L1 distance of the margins above
        0.10. `few_items`: fewer than 30 units. `undefined`: kappa has no value.

    Source:
        Feinstein & Cicchetti 1990, J Clin Epidemiol 43:543-549, for the paradox behind the first.
    """
    percent, kappa, gap = percent_agreement(table), cohen_kappa(table), marginal_distance(table)
    codes = []
    if table.n < FEW_ITEMS:
        codes.append("few_items")
    if (
        not isinstance(percent, WithheldReason)
        and not isinstance(kappa, WithheldReason)
        and percent >= HIGH_AGREEMENT - _ROUNDING
        and percent - kappa >= KAPPA_GAP - _ROUNDING
    ):
        codes.append("kappa_prevalence")
    if not isinstance(gap, WithheldReason) and gap > MARGINAL_GAP + _ROUNDING:
        codes.append("marginal_bias")
    if isinstance(kappa, WithheldReason):
        codes.append("undefined")
    return tuple(codes)
