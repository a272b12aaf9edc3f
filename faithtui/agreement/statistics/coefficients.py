"""Coefficients of agreement of two raters who both rated every unit, from their table.

Rows are the first rater (the reference), columns the second (the judge). Weights say how much two
categories differ, see `weights`; None compares labels as they are. On a weighted table the figures
are those of the population the weights stand for. A figure without a value is a `Reason`.
"""

from faithtui.agreement.statistics.category_weights import Disagreement
from faithtui.agreement.statistics.chance import above_chance, crossed, gwet, uniform
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Point, Reason


def disagreed(table: Counted, weights: Disagreement | None = None) -> float:
    """Sum the units with two different labels, each by how much they differ."""
    if weights is None:
        return table.differing
    return sum(
        count * weight
        for row, line in zip(table.counts, weights, strict=True)
        for count, weight in zip(row, line, strict=True)
    )


def percent_agreement(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute the share of units with the same label, in [0, 1]; near misses count by weight."""
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    return table.agreed / n if weights is None else 1 - disagreed(table, weights) / n


def chance_agreement(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute the agreement kappa expects by chance, in [0, 1]: product of the two margins."""
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    return (n * n - crossed(table.rows, table.columns, weights)) / (n * n)


def cohen_kappa(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute Cohen's kappa, or weighted kappa, at most 1.

    Undefined when both raters use one and the same category only (0/0).

    Source:
        Cohen 1960, Educational and Psychological Measurement 20:37-46; weighted: Cohen 1968,
        Psychological Bulletin 70:213-220.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    expected = crossed(table.rows, table.columns, weights)
    return above_chance(n * disagreed(table, weights), expected, n * n)


def maximum_kappa(table: Counted) -> Point:
    """Compute the largest kappa that raters with these margins could reach, at most 1.

    Source:
        Cohen 1960, p. 42: the agreed units of a category are at most the smaller of its two
        counts.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    fewest = n - sum(map(min, table.rows, table.columns))
    return above_chance(n * fewest, crossed(table.rows, table.columns, None), n * n)


def scott_pi(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute Scott's pi, at most 1: chance from the margins of both raters together.

    Undefined when only one category was ever used (0/0).

    Source:
        Scott 1955, Public Opinion Quarterly 19:321-325.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    pooled = _pooled(table)
    return above_chance(
        4 * n * disagreed(table, weights), crossed(pooled, pooled, weights), 4 * n * n
    )


def brennan_prediger(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute Brennan and Prediger's coefficient, at most 1: every declared category as likely.

    With two categories this is PABAK. Undefined when fewer than two categories are declared.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699; PABAK:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    return above_chance(disagreed(table, weights) / n, uniform(len(table.categories), weights))


def gwet_ac1(table: Counted, weights: Disagreement | None = None) -> Point:
    """Compute Gwet's AC1, with weights AC2, over the declared categories, at most 1.

    Undefined when fewer than two categories are declared. A category nobody used still counts.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48.
    """
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    if len(table.categories) < 2:
        return Reason.NO_VARIATION
    shares = [count / (2 * n) for count in _pooled(table)]
    return above_chance(disagreed(table, weights) / n, gwet(shares, weights))


def marginal_distance(table: Counted) -> Point:
    """Compute half the L1 distance between the two raters' shares of the categories, in [0, 1]."""
    n = table.n
    if not n:
        return Reason.NO_ITEMS
    gaps = (abs(row - column) for row, column in zip(table.rows, table.columns, strict=True))
    return sum(gaps) / (2 * n)


def specific_agreement(table: Counted, category: int) -> Point:
    """Compute how often raters agree on a category when one of them uses it, in [0, 1].

    Args:
        table: Of any number of categories.
        category: Its position.

    Returns:
        2 T_kk / (row_k + column_k), the F1 score of the category; undefined when nobody uses it.

    Source:
        Cicchetti & Feinstein 1990, Journal of Clinical Epidemiology 43:551-558; Dice 1945.
    """
    if not table.n:
        return Reason.NO_ITEMS
    used = table.rows[category] + table.columns[category]
    return 2 * table.counts[category][category] / used if used else Reason.NO_VARIATION


def macro_f1(table: Counted) -> Point:
    """Compute the plain mean of the F1 scores of all declared categories, in [0, 1].

    A category without a hit counts 0, used or not.

    Source:
        The usual definition, with division by zero as zero as in scikit-learn, and over the
        declared categories rather than the observed ones.
    """
    if not table.n:
        return Reason.NO_ITEMS
    size = len(table.categories)
    scores = [specific_agreement(table, category) for category in range(size)]
    return sum(0.0 if isinstance(score, Reason) else score for score in scores) / size


def prevalence_index(table: Counted) -> Point:
    """Compute (a - d) / n of a table ((a, b), (c, d)), in [-1, 1].

    Source:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    (a, _), (_, d) = table.counts
    return (a - d) / table.n if table.n else Reason.NO_ITEMS


def bias_index(table: Counted) -> Point:
    """Compute (b - c) / n of a table ((a, b), (c, d)), in [-1, 1].

    Source:
        Byrt, Bishop & Carlin 1993, Journal of Clinical Epidemiology 46:423-429.
    """
    (_, b), (c, _) = table.counts
    return (b - c) / table.n if table.n else Reason.NO_ITEMS


def _pooled(table: Counted) -> list[float]:
    return [row + column for row, column in zip(table.rows, table.columns, strict=True)]
