"""Statistics of `evaluate` on scores, ratings and probabilities."""

from collections.abc import Callable, Sequence

import numpy as np

from faithtui.agreement.statistics.calibration import (
    ErrorNorm,
    brier_score,
    calibration_error,
    equal_width_bins,
)
from faithtui.agreement.statistics.ranks import (
    JointCounts,
    Levels,
    delong_auroc_interval,
    kendall_of_counts,
    spearman_of_counts,
)
from faithtui.agreement.statistics.score_differences import (
    MULTIPLIER,
    IccForm,
    icc,
    limits_of_agreement,
    mean_absolute_error,
    mean_difference,
    sd_difference,
)
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError
from tests.agreement.golden import inputs as read
from tests.agreement.golden.inputs import Given
from tests.agreement.golden.results import Result, result_of, undefined
from tests.agreement.golden.tables import counted_table

BINS = 10
"""Of equal width, unless a case says how many."""


def _auroc(given: Given, params: Given) -> Result:
    if read.kind_of(given, "scores", "score_table", "probabilities") == "score_table":
        levels = _score_table(given)
    else:
        levels = _levels(*_scores(given))
    found = delong_auroc_interval(levels, read.confidence(params))
    if isinstance(found, WithheldReason):
        return undefined(found)
    return {
        "value": found.value,
        "se": found.se,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    }


def _scores(given: Given) -> tuple[list[float], list[bool]]:
    name = next((name for name in ("score", "scores", "p") if name in given), "score")
    scores, y = read.numbers(given, name), read.flags(given, "y")
    read.same_length(y=y, **{name: scores})
    return scores, y


def _levels(scores: Sequence[float], y: Sequence[bool]) -> Levels:
    levels: dict[float, tuple[int, int]] = {}
    for score, positive in zip(scores, y, strict=True):
        low, high = levels.get(score, (0, 0))
        levels[score] = (low + (not positive), high + positive)
    return levels


def _score_table(given: Given) -> Levels:
    levels = read.numbers(given, "levels")
    negatives, positives = read.counts(given, "negatives"), read.counts(given, "positives")
    read.same_length(levels=levels, negatives=negatives, positives=positives)
    if len(set(levels)) < len(levels):
        raise InputError("the same score twice", field="levels")
    return dict(zip(levels, zip(negatives, positives, strict=True), strict=True))


def _joint(given: Given) -> JointCounts:
    """Read two orderings of the same units; categories stand in the order of the scale."""
    kind = read.kind_of(given, "pairs", "score_matrix", "scores", "score_table", "confusion")
    if kind == "scores":
        return JointCounts.from_pairs(*_scores(given))
    if kind in ("pairs", "score_matrix"):
        pairs = _pairs(given)
        return JointCounts.from_pairs([x for x, _ in pairs], [y for _, y in pairs])
    if kind == "score_table":
        levels = _score_table(given)
        counts = np.array([levels[score] for score in sorted(levels)], np.int64).reshape(-1, 2)
    else:
        counts = np.array(counted_table(given).counts, np.int64)
    used = np.nonzero(counts)
    # Levels that nobody used are none.
    x, y = (np.unique(each, return_inverse=True)[1] for each in used)
    return JointCounts.from_counts(x, y, counts[used])


def _pairs(given: Given) -> list[tuple[float, float]]:
    if read.kind_of(given, "pairs", "score_matrix") == "pairs":
        a, b = read.numbers(given, "a"), read.numbers(given, "b")
        read.same_length(a=a, b=b)
        return list(zip(a, b, strict=True))
    rows = read.rows_of_numbers(given, "units")
    if rows and len(rows[0]) != 2:
        raise read.refused("units", "two raters", len(rows[0]))
    return [(a, b) for a, b in rows]


def _spearman(given: Given, _: Given) -> Result:
    return result_of(spearman_of_counts(_joint(given)))


def _kendall_tau_b(given: Given, _: Given) -> Result:
    return result_of(kendall_of_counts(_joint(given)))


def _mean_difference(given: Given, _: Given) -> Result:
    return result_of(mean_difference(_pairs(given)))


def _sd_difference(given: Given, _: Given) -> Result:
    return result_of(sd_difference(_pairs(given)))


def _mean_absolute_error(given: Given, _: Given) -> Result:
    return result_of(mean_absolute_error(_pairs(given)))


def _limits_of_agreement(given: Given, params: Given) -> Result:
    pairs = _pairs(given)
    limits = limits_of_agreement(pairs, read.at_least_0(params, "multiplier", MULTIPLIER))
    if isinstance(limits, WithheldReason):
        return undefined(limits)
    low, high = limits
    # Under both pairs of names: limits of the differences, and ends around their mean.
    middle = result_of(mean_difference(pairs))
    return {**middle, "low": low, "high": high, "ci_low": low, "ci_high": high}


def _icc(given: Given, params: Given) -> Result:
    read.kind_of(given, "score_matrix")
    units = read.rows_of_numbers(given, "units")
    return result_of(icc(units, read.word(params, "form", IccForm, IccForm.ABSOLUTE)))


def _probabilities(given: Given) -> list[tuple[float, bool]]:
    read.kind_of(given, "probabilities")
    p, y = read.numbers(given, "p"), read.flags(given, "y")
    read.same_length(p=p, y=y)
    if not all(0 <= each <= 1 for each in p):
        raise InputError("expected numbers in [0, 1] only", field="p")
    return list(zip(p, y, strict=True))


def _ece(given: Given, params: Given) -> Result:
    units = _probabilities(given)
    count = read.count(params, "bins", BINS)
    norm = read.word(params, "norm", ErrorNorm, ErrorNorm.L1)
    if not count:
        raise read.refused("bins", "at least 1", count)
    if not units:
        return undefined(WithheldReason.NO_ITEMS)
    return {"value": calibration_error(equal_width_bins(units, count), norm)}


def _brier(given: Given, _: Given) -> Result:
    return result_of(brier_score(_probabilities(given)))


def _brier_two_class(given: Given, _: Given) -> Result:
    one = brier_score(_probabilities(given))
    return result_of(one if isinstance(one, WithheldReason) else 2 * one)


ENTRIES: dict[str, Callable[[Given, Given], Result]] = {
    "auroc": _auroc,
    "spearman": _spearman,
    "kendall_tau_b": _kendall_tau_b,
    "mean_difference": _mean_difference,
    "sd_difference": _sd_difference,
    "mean_absolute_error": _mean_absolute_error,
    "limits_of_agreement": _limits_of_agreement,
    "icc": _icc,
    "ece": _ece,
    "brier": _brier,
    "brier_two_class": _brier_two_class,
}
"""From the name of a statistic to (input, params) -> result."""
