"""How well a judge finds unfaithful units, from a 2x2 table ((tp, fn), (fp, tn)).

Rows are people, columns the judge, the positive class comes first (see `Table.collapsed`).
A figure without a value is a `Reason`: precision of a judge that flags nothing is not 0.

Source: the usual definitions; Matthews 1975 (Biochimica et Biophysica Acta 405:442-451) for MCC.
"""

import math

from faithtui.agreement.statistics.coefficients import specific_agreement
from faithtui.agreement.statistics.intervals import Scale
from faithtui.agreement.statistics.jackknife import Statistic
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Point, Reason


def prevalence(table: Counted) -> Point:
    """Compute the share of units people call positive."""
    return table.rows[0] / table.n if table.n else Reason.NO_ITEMS


def precision(table: Counted) -> Point:
    """Compute the share of flagged units that are positive: tp / (tp + fp)."""
    return _share(table, table.counts[0][0], table.columns[0], Reason.NO_PREDICTED_POSITIVES)


def recall(table: Counted) -> Point:
    """Compute the share of positive units that are flagged: tp / (tp + fn)."""
    return _share(table, table.counts[0][0], table.rows[0], Reason.NO_REFERENCE_POSITIVES)


def specificity(table: Counted) -> Point:
    """Compute the share of negative units that are not flagged: tn / (tn + fp)."""
    return _share(table, table.counts[1][1], table.rows[1], Reason.ONE_CLASS_ONLY)


def npv(table: Counted) -> Point:
    """Compute the share of units not flagged that are negative: tn / (tn + fn)."""
    return _share(table, table.counts[1][1], table.columns[1], Reason.ONE_CLASS_ONLY)


def f1(table: Counted) -> Point:
    """Compute 2 tp / (2 tp + fp + fn); undefined when nobody flags anything."""
    found = specific_agreement(table, 0)
    return Reason.NO_REFERENCE_POSITIVES if found is Reason.NO_VARIATION else found


def balanced_accuracy(table: Counted) -> Point:
    """Compute the mean of recall and specificity."""
    hits, rejections = recall(table), specificity(table)
    if isinstance(hits, Reason):
        return hits
    if isinstance(rejections, Reason):
        return rejections
    return (hits + rejections) / 2


def mcc(table: Counted) -> Point:
    """Compute Matthews' correlation, in [-1, 1]; undefined when a margin is empty."""
    if not table.n:
        return Reason.NO_ITEMS
    (tp, fn), (fp, tn) = table.counts
    if not tp + fp:
        return Reason.NO_PREDICTED_POSITIVES
    if not tp + fn:
        return Reason.NO_REFERENCE_POSITIVES
    if not (fp + tn and fn + tn):
        return Reason.ONE_CLASS_ONLY
    return (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


PREVALENCE = Statistic(prevalence, lambda table: table.n, Scale.LOGIT)
PRECISION = Statistic(precision, lambda table: table.columns[0], Scale.LOGIT)
RECALL = Statistic(recall, lambda table: table.rows[0], Scale.LOGIT)
SPECIFICITY = Statistic(specificity, lambda table: table.rows[1], Scale.LOGIT)
NPV = Statistic(npv, lambda table: table.columns[1], Scale.LOGIT)
F1 = Statistic(f1, lambda table: table.n - table.counts[1][1], Scale.LOGIT)
BALANCED_ACCURACY = Statistic(balanced_accuracy, lambda table: table.n, Scale.LOGIT)
MCC = Statistic(mcc, lambda table: table.n, Scale.ATANH)


def _share(table: Counted, part: float, whole: float, when_empty: Reason) -> Point:
    if not table.n:
        return Reason.NO_ITEMS
    return part / whole if whole else when_empty
