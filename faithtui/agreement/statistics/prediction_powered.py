"""The mean of people's scores, sharpened by the judge's scores of units that nobody labelled.

For continuous scores, such as those of conversations. For a verdict with a few values, strata by
verdict (`corrected_rate`) do the same and need no lambda. Full trust in the judge (lambda = 1) may
do worse than ignoring it; the tuned lambda does not.

Source: Angelopoulos et al. 2023, Science 382:669-674; Angelopoulos, Duchi & Zrnic 2023, PPI++,
arXiv 2311.01453, section 6, for lambda.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithtui.agreement.statistics.intervals import FEWEST_GROUPS, t_quantile
from faithtui.domain.estimates import (
    LEVEL,
    Estimate,
    Method,
    Reason,
    Status,
    undefined,
)

Labelled = Sequence[tuple[float, float, int]]
"""(people's value, judge's value, how many units)."""

Unlabelled = Sequence[tuple[float, int]]
"""(judge's value, how many units)."""


@dataclass(frozen=True, slots=True)
class PpiMean:
    """A prediction-powered mean."""

    value: float
    lambda_: float
    """How far the judge was trusted: 0 not at all, 1 fully."""
    se: float | None
    """Standard error with divisors n; None with a single labelled unit, which tells no spread."""


def ppi_mean(
    labelled: Labelled, unlabelled: Unlabelled, lambda_: float | None = None
) -> PpiMean | Reason:
    """Compute a prediction-powered mean, units being independent.

    Args:
        labelled: Units with both values.
        unlabelled: Units with the judge's value only; may be empty when lambda is 0 or tuned.
        lambda_: How far to trust the judge; None: `tuned_lambda`.

    Returns:
        lambda mean(judge on unlabelled) + mean(human - lambda judge on labelled); `NO_ITEMS`
        without labelled units, or without unlabelled ones that lambda asks for.

    Source:
        ppi_py 0.2.3, ppi.py, `ppi_mean_pointestimate` and `ppi_mean_ci`: variances with divisor n.
    """
    n, others = _size(labelled), _size(unlabelled)
    if not n:
        return Reason.NO_ITEMS
    trust = tuned_lambda(labelled, unlabelled) if lambda_ is None else lambda_
    if trust and not others:
        return Reason.NO_ITEMS
    left = [(human - trust * judge, times) for human, judge, times in labelled]
    offset, off_spread = _mean(left), _spread(left)
    value, variance = offset, off_spread / n**2
    if trust:
        value += trust * _mean(unlabelled)
        variance += trust**2 * _spread(unlabelled) / others**2
    return PpiMean(value, trust, math.sqrt(variance) if n > 1 else None)


def tuned_lambda(labelled: Labelled, unlabelled: Unlabelled) -> float:
    """Choose how far to trust the judge so that the variance of the mean is least.

    Returns:
        cov(human, judge) / ((1 + n / N) var(judge on all)), clipped to [0, 1], the covariance with
        divisor n and the variance with divisor n - 1. 0 when the judge says the same of all units,
        and when there are no unlabelled ones: it then adds nothing.

    Source:
        Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv 2311.01453, example 6.1; divisors as in
        ppi_py 0.2.3, ppi.py, `_calc_lhat_glm`.
    """
    n, others = _size(labelled), _size(unlabelled)
    judged = [*((judge, times) for _, judge, times in labelled), *unlabelled]
    spread = _spread(judged)
    if not (n and others) or max(judged)[0] == min(judged)[0] or not spread:
        return 0.0
    best = _together(labelled) / n / ((1 + n / others) * spread / (n + others - 1))
    return min(max(best, 0.0), 1.0)


def ppi_mean_by_conversation(
    labelled: Iterable[tuple[str, float, float]],
    unlabelled: Iterable[tuple[str, float]],
    lambda_: float | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Estimate a prediction-powered mean of units that come in conversations.

    Args:
        labelled: (conversation, people's value, judge's value) of each unit.
        unlabelled: (conversation, judge's value) of each other unit; a conversation may have both.
        lambda_: How far to trust the judge; None: tuned.
        level: Confidence level in (0, 1).

    Returns:
        With an interval by Student's t, one less degree of freedom than labelled conversations.
        When each conversation is one unit, the variance is var(human - lambda judge) / n +
        lambda² var(judge) / N with divisors n - 1 and N - 1.

    Source:
        As for `ppi_mean`; variance by residuals summed per cluster, Liang & Zeger 1986, Biometrika
        73:13-22, with n / (n - 1) for the conversations of each side.
    """
    known, others = list(labelled), list(unlabelled)
    pairs = [(human, judge, 1) for _, human, judge in known]
    rest = [(judge, 1) for _, judge in others]
    groups = {group for group, _, _ in known}
    found = ppi_mean(pairs, rest, lambda_)
    if isinstance(found, Reason):
        return undefined(found, len(known), len(groups))
    if len(groups) < FEWEST_GROUPS:
        return Estimate(found.value, Status.OK, len(known), len(groups), Reason.TOO_FEW_CLUSTERS)
    trust = found.lambda_
    residuals = dict.fromkeys(groups, 0.0)
    offset = _mean([(human - trust * judge, 1) for human, judge, _ in pairs])
    widened = math.sqrt(len(groups) / (len(groups) - 1)) / len(known)
    for group, human, judge in known:
        residuals[group] += (human - trust * judge - offset) * widened
    if trust:
        middle = _mean(rest)
        count = len({group for group, _ in others})
        # A single conversation without labels tells no spread of its own.
        widened = trust * math.sqrt(count / max(1, count - 1)) / len(others)
        for group, judge in others:
            residuals[group] = residuals.get(group, 0.0) + (judge - middle) * widened
    se = math.sqrt(math.fsum(each * each for each in residuals.values()))
    if not se:
        return Estimate(found.value, Status.OK, len(known), len(groups), Reason.NO_VARIATION)
    half = t_quantile(level, len(groups) - 1) * se
    return Estimate(
        found.value,
        Status.OK,
        len(known),
        len(groups),
        ci_low=found.value - half,
        ci_high=found.value + half,
        level=level,
        method=Method.PPI,
        se=se,
    )


def _size(rows: Sequence[tuple[float, ...]]) -> int:
    return int(sum(row[-1] for row in rows))


def _mean(values: Unlabelled) -> float:
    return math.fsum(value * times for value, times in values) / _size(values)


def _spread(values: Unlabelled) -> float:
    """Sum squared distances from the mean; 0 without values."""
    if not _size(values):
        return 0.0
    mean = _mean(values)
    return math.fsum(times * (value - mean) ** 2 for value, times in values)


def _together(labelled: Labelled) -> float:
    """Sum products of the distances from both means."""
    human = _mean([(human, times) for human, _, times in labelled])
    judge = _mean([(judge, times) for _, judge, times in labelled])
    return math.fsum(times * (h - human) * (j - judge) for h, j, times in labelled)
