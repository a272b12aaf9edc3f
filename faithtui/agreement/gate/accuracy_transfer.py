"""What a judge's accuracy on labelled data says of runs that nobody labelled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.statistics.pass_rates import (
    OutsideAccuracy,
    OutsideRate,
    correct_by_accuracy,
)
from faithtui.domain.estimates import Estimate, make_withheld_estimate
from faithtui.domain.withheld_reasons import WithheldReason


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """How well the judge separates what fails from what passes; for runs without labels."""

    positive: tuple[str, ...]
    """Labels that fail."""
    sensitivity: Estimate
    """Share of what fails by human labels that fails by the judge."""
    specificity: Estimate


def find_judge_sensitivity_and_specificity(
    report: LevelReport, passing: Sequence[str]
) -> JudgeAccuracy | None:
    """Find the detection table whose positive labels are those that fail.

    Args:
        report: Of one level.
        passing: Labels that pass at this level.

    Returns:
        None when neither reading of "unfaithful" is what fails.
    """
    failing = {name for name in report.table.categories if name not in passing}
    for found in (report.strict, report.lenient):
        if found is not None and set(found.positive) == failing:
            return JudgeAccuracy(tuple(sorted(failing)), found.recall, found.specificity)
    return None


def correct_other_run_fail_rate(
    accuracy: JudgeAccuracy, judge: Estimate, level: float
) -> OutsideRate | WithheldReason:
    """Correct another run's rate of failing units by an accuracy that was certified.

    Labels of one conversation resemble each other, and in a sample by strata a few of them stand
    for many units, so each share counts as many independent units as have an interval that reaches
    as far.

    Args:
        accuracy: Of the same judge.
        judge: Share that passes by the judge in the other run.
        level: Confidence level in (0, 1).

    Returns:
        The rate of units that *fail*; a reason where it cannot be had.
    """
    hits, rejections = accuracy.sensitivity, accuracy.specificity
    if judge.value is None:
        return judge.reason or WithheldReason.NO_ITEMS
    for each in (hits, rejections):
        if each.value is None:
            return each.reason or WithheldReason.NO_ITEMS
        if not each.has_interval:
            return WithheldReason.TOO_FEW_CLUSTERS
    return correct_by_accuracy(
        OutsideAccuracy(
            apparent=1 - judge.value,
            tested=judge.n,
            sensitivity=hits.value or 0.0,
            n_sensitivity=_compute_effective_unit_count(hits),
            specificity=rejections.value or 0.0,
            n_specificity=_compute_effective_unit_count(rejections),
        ),
        level,
    )


def estimate_other_run_pass_rate(
    accuracy: JudgeAccuracy | None, judge: Estimate, level: float
) -> Estimate:
    """Estimate the share that passes in another run; see `correct_other_run_fail_rate`."""
    if accuracy is None:
        return make_withheld_estimate(WithheldReason.UNINFORMATIVE_JUDGE, judge.n, judge.clusters)
    found = correct_other_run_fail_rate(accuracy, judge, level)
    if isinstance(found, WithheldReason):
        return make_withheld_estimate(found, judge.n, judge.clusters)
    failing = found.estimate
    if failing.reason is WithheldReason.RATE_OUT_OF_RANGE:
        return make_withheld_estimate(failing.reason, judge.n, judge.clusters)
    if failing.value is None or failing.ci_low is None or failing.ci_high is None:
        return failing
    return Estimate(
        1 - failing.value,
        failing.status,
        judge.n,
        judge.clusters,
        failing.reason,
        ci_low=1 - failing.ci_high,
        ci_high=1 - failing.ci_low,
        level=failing.level,
        method=failing.method,
    )


def _compute_effective_unit_count(found: Estimate) -> int:
    """Count the independent units whose Wilson interval would reach as far as a share's own does.

    Source:
        Wilson 1927: (value - end)² = z² end (1 - end) / n, solved for n.
    """
    if found.value is None or found.ci_low is None or found.ci_high is None or found.level is None:
        return max(1, found.clusters)
    z = NormalDist().inv_cdf((1 + found.level) / 2)
    if found.ci_low == found.ci_high:
        return found.n
    # No number of units has an interval that ends at 0 or 1, but for a share that is there.
    numbers = [
        z**2 * end * (1 - end) / (found.value - end) ** 2
        for end in (found.ci_low, found.ci_high)
        if 0 < end < 1 and end != found.value
    ]
    return max(1, min(found.n, *(math.floor(each) for each in numbers)) if numbers else 1)
