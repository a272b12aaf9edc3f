"""The mean of annotators' scores, sharpened by the judge's scores of units that nobody labelled.

For continuous scores, such as those of conversations. For a verdict with a few values, strata by
verdict (`pass_rates`) do the same and need no lambda. Full trust in the judge (lambda = 1) may
do worse than ignoring it; the tuned lambda does not.

Source: Angelopoulos et al. 2023, Science 382:669-674; Angelopoulos, Duchi & Zrnic 2023, PPI++,
arXiv 2311.01453, section 6, for lambda; the split of a budget: Broska, Howes & van Loon 2024, The
Mixed Subjects Design, doi 10.31235/osf.io/j3bnt, and ppi_py 0.2.3, ppi_power_analysis.py.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from faithtui.agreement.statistics.intervals import t_quantile
from faithtui.agreement.statistics.matrices import Floats, number_distinct_keys_by_occurrence
from faithtui.domain.estimates import (
    FEWEST_GROUPS,
    LEVEL,
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_undefined_estimate,
)
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError

Labelled = Sequence[tuple[float, float, int]]
"""(annotators' value, judge's value, how many units)."""

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
) -> PpiMean | WithheldReason:
    """Compute a prediction-powered mean, units being independent.

    Args:
        labelled: Units with both values.
        unlabelled: Units with the judge's value only; may be empty when lambda is 0 or tuned.
        lambda_: How far to trust the judge; None: `tune_lambda`.

    Returns:
        lambda mean(judge on unlabelled) + mean(human - lambda judge on labelled); `NO_ITEMS`
        without labelled units, or without unlabelled ones that lambda asks for.

    Source:
        ppi_py 0.2.3, ppi.py, `ppi_mean_pointestimate` and `ppi_mean_ci`: variances with divisor n.
    """
    human, judge, times = _to_columns(labelled, 3)
    rest, rest_times = _to_columns(unlabelled, 2)
    n, others = int(times.sum()), int(rest_times.sum())
    if not n:
        return WithheldReason.NO_ITEMS
    trust = tune_lambda(labelled, unlabelled) if lambda_ is None else lambda_
    if trust and not others:
        return WithheldReason.NO_ITEMS
    value, spread = _compute_mean_and_squares(human - trust * judge, times)
    variance = spread / n**2
    if trust:
        mean, spread = _compute_mean_and_squares(rest, rest_times)
        value += trust * mean
        variance += trust**2 * spread / others**2
    return PpiMean(value, trust, math.sqrt(variance) if n > 1 else None)


def tune_lambda(labelled: Labelled, unlabelled: Unlabelled) -> float:
    """Choose how far to trust the judge so that the variance of the mean is least.

    Returns:
        cov(human, judge) / ((1 + n / N) var(judge on all)), clipped to [0, 1], the covariance with
        divisor n and the variance with divisor n - 1. 0 when the judge says the same of all units,
        and when there are no unlabelled ones: it then adds nothing.

    Source:
        Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv 2311.01453, example 6.1; divisors as in
        ppi_py 0.2.3, ppi.py, `_calc_lhat_glm`.
    """
    human, judge, times = _to_columns(labelled, 3)
    rest, rest_times = _to_columns(unlabelled, 2)
    n, others = int(times.sum()), int(rest_times.sum())
    judged = np.concatenate([judge, rest])
    if not (n and others) or judged.max() == judged.min():
        return 0.0
    spread = _compute_mean_and_squares(judged, np.concatenate([times, rest_times]))[1]
    if not spread:
        return 0.0
    products = (human - _compute_mean_and_squares(human, times)[0]) * (
        judge - _compute_mean_and_squares(judge, times)[0]
    )
    best = float(times @ products) / n / ((1 + n / others) * spread / (n + others - 1))
    return min(max(best, 0.0), 1.0)


def ppi_mean_by_conversation(
    labelled: Iterable[tuple[str, float, float]],
    unlabelled: Iterable[tuple[str, float]],
    lambda_: float | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Estimate a prediction-powered mean of units that come in conversations.

    Args:
        labelled: (conversation, annotators' value, judge's value) of each unit.
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
    own, names = number_distinct_keys_by_occurrence([group for group, *_ in known])
    found = ppi_mean(pairs, rest, lambda_)
    if isinstance(found, WithheldReason):
        return make_undefined_estimate(found, len(known), len(names))
    if len(names) < FEWEST_GROUPS:
        return Estimate(
            found.value, EstimateStatus.OK, len(known), len(names), WithheldReason.TOO_FEW_CLUSTERS
        )
    trust, count = found.lambda_, len(names)
    human, judge, _ = _to_columns(pairs, 3)
    left = human - trust * judge
    mean, _ = _compute_mean_and_squares(left, np.ones(len(left)))
    residuals = (left - mean) * math.sqrt(count / (count - 1)) / len(known)
    groups = own
    if trust:
        alone, times = _to_columns(rest, 2)
        mean, _ = _compute_mean_and_squares(alone, times)
        number_of = {name: place for place, name in enumerate(names)}
        theirs = [number_of.setdefault(group, len(number_of)) for group, _ in others]
        # A single conversation without labels tells no spread of its own.
        several = len(set(theirs))
        widened = trust * math.sqrt(several / max(1, several - 1)) / len(others)
        groups = np.concatenate([own, theirs])
        residuals = np.concatenate([residuals, (alone - mean) * widened])
    se = math.sqrt((np.bincount(groups, weights=residuals) ** 2).sum())
    if not se:
        return Estimate(
            found.value, EstimateStatus.OK, len(known), count, WithheldReason.NO_VARIATION
        )
    half = t_quantile(level, count - 1) * se
    return Estimate(
        found.value,
        EstimateStatus.OK,
        len(known),
        count,
        ci_low=found.value - half,
        ci_high=found.value + half,
        level=level,
        method=EstimateMethod.PPI,
        se=se,
    )


def _to_columns(rows: Sequence[tuple[float, ...]], width: int) -> Floats:
    """Turn rows into columns; shape (width, rows)."""
    return np.array(rows, np.float64).reshape(-1, width).T


def _compute_mean_and_squares(values: Floats, times: Floats) -> tuple[float, float]:
    """Compute the mean of values, and the sum of squared distances from it."""
    mean = math.fsum(times * values) / float(times.sum())
    return mean, float(times @ (values - mean) ** 2)


@dataclass(frozen=True, slots=True)
class LabelCosts:
    """What things cost, in any one unit; at least 0.

    Raises:
        InputError: Labels, or judged units, cost nothing: there is then no best split.
    """

    label: float
    """A human label."""
    prediction: float
    """A judge's verdict."""
    unit: float = 0.0
    """To have the unit at all."""

    def __post_init__(self) -> None:
        """Check that there is something to share out."""
        if self.label <= 0 or self.prediction < 0 or self.unit < 0:
            raise InputError("a label must cost more than 0, and nothing may cost less than 0")
        if not self.judged_unit_cost:
            raise InputError("judged units cost nothing, so there is no best number of them")

    @property
    def judged_unit_cost(self) -> float:
        """A unit with the judge's verdict only."""
        return self.unit + self.prediction


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """How many of each."""

    labelled: int
    """Units with a human label; also judged, unless nothing else is."""
    judged_only: int
    cost: float
    effective: float
    """As many labels alone would tell as much."""


def split_budget_labels_and_judging(
    correlation: float, costs: LabelCosts, budget: float
) -> BudgetSplit:
    """Get the most out of a budget.

    Args:
        correlation: Of judge and annotators, in [-1, 1].
        costs: What things cost.
        budget: In the unit of the costs, at least 0.

    Returns:
        Numbers rounded down, so that the budget is kept. Labels alone when the judge correlates
        too little to be worth its cost.
    """
    if _is_judge_worth_cost(correlation, costs):
        labelled, judged_only = _compute_optimal_unit_counts(
            correlation, costs, budget / _compute_price_per_label(correlation, costs)
        )
        n = max(1, math.floor(labelled))
        left = budget - n * (costs.label + costs.judged_unit_cost)
        others = min(math.ceil(judged_only), math.floor(left / costs.judged_unit_cost + 1e-9))
        if others > 0:
            return _make_budget_split(correlation, costs, n, others)
    return _make_budget_split(
        correlation, costs, math.floor(budget / (costs.label + costs.unit) + 1e-9), 0
    )


def find_cheapest_label_budget(
    correlation: float, costs: LabelCosts, effective: float
) -> BudgetSplit:
    """Find the cheapest way to know as much as a number of labels would tell.

    Args:
        correlation: Of judge and annotators, in [-1, 1].
        costs: What things cost.
        effective: That number of labels, at least 0.

    Returns:
        Numbers rounded up, so that it is reached.
    """
    if _is_judge_worth_cost(correlation, costs):
        labelled, _ = _compute_optimal_unit_counts(correlation, costs, effective)
        n = max(1, math.ceil(labelled - 1e-9))
        unexplained = 1 - correlation**2
        # Solved from effective = n (n + N) / (n + N (1 - r²)), of which n / (1 - r²) is the limit.
        room = n - effective * unexplained
        if n < effective and room > 0:
            others = math.ceil(n * (effective - n) / room - 1e-9)
            return _make_budget_split(correlation, costs, n, others)
    return _make_budget_split(correlation, costs, math.ceil(effective - 1e-9), 0)


def compute_ppi_effective_size(correlation: float, labelled: int, judged_only: int) -> float:
    """Compute n (n + N) / (n + N (1 - r²)); 0 without labels."""
    if not labelled:
        return 0.0
    units = labelled + judged_only
    return labelled * units / (labelled + judged_only * (1 - correlation**2))


def _compute_price_per_label(correlation: float, costs: LabelCosts) -> float:
    """Compute what it costs at best to know as much as one label tells, with the judge's help."""
    explained = correlation**2
    ratio = costs.judged_unit_cost / costs.label
    both = math.sqrt(ratio * explained * (1 - explained))
    return costs.label * (1 - explained + ratio * explained + 2 * both)


def _is_judge_worth_cost(correlation: float, costs: LabelCosts) -> bool:
    return (
        correlation != 0 and _compute_price_per_label(correlation, costs) < costs.label + costs.unit
    )


def _compute_optimal_unit_counts(
    correlation: float, costs: LabelCosts, effective: float
) -> tuple[float, float]:
    """Find the best real numbers of labelled and judged-only units for an effective size."""
    explained = correlation**2
    ratio = costs.judged_unit_cost / costs.label
    both = math.sqrt(explained * (1 - explained))
    labelled = effective * (1 - explained + both * math.sqrt(ratio))
    units = effective * (explained + both / math.sqrt(ratio))
    return labelled, units - labelled


def _make_budget_split(
    correlation: float, costs: LabelCosts, labelled: int, judged_only: int
) -> BudgetSplit:
    if judged_only:
        cost = (
            labelled * (costs.label + costs.judged_unit_cost) + judged_only * costs.judged_unit_cost
        )
    else:
        cost = labelled * (costs.label + costs.unit)
    return BudgetSplit(
        labelled, judged_only, cost, compute_ppi_effective_size(correlation, labelled, judged_only)
    )
