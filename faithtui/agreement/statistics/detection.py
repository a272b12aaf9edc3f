"""How well a judge finds unfaithful units, from a 2x2 matrix ((tp, fn), (fp, tn)).

Rows are annotators, columns the judge, the positive class comes first (see
`ConfusionMatrix.collapse_to_two_categories`). A figure may have no value: precision of a judge that
flags nothing is not 0.

Source: the usual definitions; Matthews 1975 (Biochimica et Biophysica Acta 405:442-451) for MCC.
"""

import numpy as np

from faithtui.agreement.statistics.coefficients import count_all_units, specific_agreement
from faithtui.agreement.statistics.figures import Statistic, as_figure, divide_or_nan
from faithtui.agreement.statistics.intervals import IntervalScale
from faithtui.agreement.statistics.matrices import Floats, MatrixStack
from faithtui.domain.withheld_reasons import WithheldReason


@as_figure()
def prevalence(table: MatrixStack) -> Floats:
    """Compute the share of units that annotators call positive, in [0, 1]."""
    return divide_or_nan(table.rows[0], table.n)


@as_figure(WithheldReason.NO_PREDICTED_POSITIVES)
def precision(table: MatrixStack) -> Floats:
    """Compute the share of flagged units that are positive: tp / (tp + fp), in [0, 1]."""
    return divide_or_nan(table.cells[0, 0], table.columns[0])


@as_figure(WithheldReason.NO_REFERENCE_POSITIVES)
def recall(table: MatrixStack) -> Floats:
    """Compute the share of positive units that are flagged: tp / (tp + fn), in [0, 1]."""
    return divide_or_nan(table.cells[0, 0], table.rows[0])


@as_figure(WithheldReason.ONE_CLASS_ONLY)
def specificity(table: MatrixStack) -> Floats:
    """Compute the share of negative units that are not flagged: tn / (tn + fp), in [0, 1]."""
    return divide_or_nan(table.cells[1, 1], table.rows[1])


@as_figure(WithheldReason.ONE_CLASS_ONLY)
def npv(table: MatrixStack) -> Floats:
    """Compute the share of units not flagged that are negative: tn / (tn + fn), in [0, 1]."""
    return divide_or_nan(table.cells[1, 1], table.columns[1])


@as_figure(WithheldReason.NO_REFERENCE_POSITIVES)
def f1(table: MatrixStack) -> Floats:
    """Compute 2 tp / (2 tp + fp + fn), in [0, 1]; undefined when nobody flags anything."""
    return specific_agreement(table, 0)


def _explain_one_sided(table: MatrixStack) -> WithheldReason:
    return (
        WithheldReason.ONE_CLASS_ONLY
        if table.rows[0] > 0
        else WithheldReason.NO_REFERENCE_POSITIVES
    )


def _explain_empty_margin(table: MatrixStack) -> WithheldReason:
    return (
        _explain_one_sided(table) if table.columns[0] > 0 else WithheldReason.NO_PREDICTED_POSITIVES
    )


@as_figure(_explain_one_sided)
def balanced_accuracy(table: MatrixStack) -> Floats:
    """Compute the mean of recall and specificity, in [0, 1]."""
    return (recall(table) + specificity(table)) / 2


@as_figure(_explain_empty_margin)
def mcc(table: MatrixStack) -> Floats:
    """Compute Matthews' correlation, in [-1, 1]; undefined when a margin is empty."""
    (tp, fn), (fp, tn) = table.cells
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return divide_or_nan(tp * tn - fp * fn, np.sqrt(margins))


PREVALENCE = Statistic(prevalence, count_all_units, IntervalScale.LOGIT)
PRECISION = Statistic(precision, lambda table: table.columns[0], IntervalScale.LOGIT)
RECALL = Statistic(recall, lambda table: table.rows[0], IntervalScale.LOGIT)
SPECIFICITY = Statistic(specificity, lambda table: table.rows[1], IntervalScale.LOGIT)
NPV = Statistic(npv, lambda table: table.columns[1], IntervalScale.LOGIT)
F1 = Statistic(f1, lambda table: table.n - table.cells[1, 1], IntervalScale.LOGIT)
BALANCED_ACCURACY = Statistic(balanced_accuracy, count_all_units, IntervalScale.LOGIT)
MCC = Statistic(mcc, count_all_units, IntervalScale.ATANH)
