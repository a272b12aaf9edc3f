"""How many labels of which stratum bring the rate and the recall to a half width.

The rate is that of this run, whose claims are drawn one by one: for it claims of one conversation
may be alike without any harm, and a stratum that is labelled as a whole adds nothing to its
interval. Claims that are served with the judge's verdict in view give no label that counts, so that
no stratum of a blind sample is ever labelled as a whole. Recall is as reports give it, whose
interval is that of conversations like these.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from faithtui.domain.estimates import LEVEL

FEWEST = 10
"""Labels of a stratum, or all that can count: of fewer, nothing can be said of how conversations
differ."""

_LEAST_SHARE = 0.01
"""Share of unfaithful claims that is allowed for where none, or nothing else, is expected."""
_LARGE, _HALVINGS = 1e30, 100
"""Bounds of the search for the factor between weights and labels: to the last digit."""
_MIXTURES = 20
"""Steps between the allocation that is best for the rate and the one that is best for recall."""


@dataclass(frozen=True, slots=True)
class PlanStratum:
    """A stratum, and what is expected of it."""

    name: str
    population: int
    is_flagged: bool | None
    """The judge calls its claims unfaithful; None: some of them."""
    share: float
    """Share of unfaithful claims among fair ones that is expected, in [0, 1]."""
    labels: int = 0
    """Labels that the share is from; 0: it is assumed."""
    most: int | None = None
    """Labels of it that can count; None: one of each claim."""
    without_verdict: int = 0
    """Claims of it without a verdict of the judge: the share that passes is of these, too, recall
    is not."""
    unfair_share: float = 0.0
    """Share of claims that is expected to be labelled `x`, in [0, 1): no figure is
    about them, and a label that says so tells nothing else."""

    @property
    def failing_share(self) -> float:
        """Share of claims, fair or not, that are expected to be fair and unfaithful."""
        return self.share * (1 - self.unfair_share)

    @property
    def expected_fair_count(self) -> float:
        """Claims that are expected to be fair: a rate is of these."""
        return self.population * (1 - self.unfair_share)

    @property
    def judged_share(self) -> float:
        """Share of its claims that recall is about."""
        return 1 - self.without_verdict / self.population

    @property
    def most_countable_labels(self) -> int:
        """Labels of it that can count."""
        return self.population if self.most is None else self.most


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """Half widths of 95 % intervals; None: as they come."""

    rate: float | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Labels of each stratum, and what they will give."""

    sizes: Mapping[str, int]
    rate: float | None
    """Half width of the share of faithful claims; None where a stratum gives no label."""
    recall: float | None
    """Half width of recall; None where strata mix verdicts, too, where nothing unfaithful is
    expected, or the judge flags all claims or none. Even all claims of a run leave some."""

    @property
    def label_count(self) -> int:
        """All labels."""
        return sum(self.sizes.values())


def limit_labels_per_stratum(
    strata: Sequence[PlanStratum], shown_share: float
) -> tuple[PlanStratum, ...]:
    """Say how many labels of each stratum can count, with all its claims drawn.

    Args:
        strata: All claims of the run.
        shown_share: Share of the drawn claims that are served with the judge's verdict in view,
            in [0, 1): their labels are in no figure.
    """
    most = compute_expected_blind_counts(
        {each.name: each.population for each in strata}, shown_share
    )
    return tuple(replace(each, most=most[each.name]) for each in strata)


def plan_fewest_labels_for_target(
    strata: Sequence[PlanStratum],
    target: PlanTarget,
    *,
    fewest: int = FEWEST,
    design_effect: float = 1.0,
    level: float = LEVEL,
) -> LabelPlan:
    """Find the fewest labels that reach all half widths that are wanted.

    Args:
        strata: All claims of the run.
        target: At least one half width, above 0. A recall that cannot be foreseen is left out.
        fewest: Labels of each stratum at least, or all of it that can count.
        design_effect: By how much the variance is larger than that of independent claims.
        level: Confidence level in (0, 1).

    Returns:
        All labels that can count where a figure is not to be had as narrow as wanted.
    """
    if _find_recall_slopes(strata) is None:
        target = replace(target, recall=None)

    def find_smallest_plan(recall_share: float) -> LabelPlan:
        def make_plan(size: int) -> LabelPlan:
            sizes = allocate_labels(
                strata, size, _compute_stratum_weights(strata, target, recall_share), fewest
            )
            return predict_half_widths(strata, sizes, design_effect=design_effect, level=level)

        sizes = range(
            sum(min(fewest, each.most_countable_labels) for each in strata),
            sum(each.most_countable_labels for each in strata),
        )
        place = bisect_left(sizes, True, key=lambda n: _meets_target(make_plan(n), target))
        return make_plan(sizes.start + place)

    if target.recall is None:
        return find_smallest_plan(0.0)
    if target.rate is None:
        return find_smallest_plan(1.0)
    plans = [find_smallest_plan(step / _MIXTURES) for step in range(_MIXTURES + 1)]
    return min(plans, key=lambda each: each.label_count)


def plan_labels_for_budget(
    strata: Sequence[PlanStratum],
    size: int,
    *,
    fewest: int = FEWEST,
    design_effect: float = 1.0,
    level: float = LEVEL,
) -> LabelPlan:
    """Share labels among strata such that rate and recall both come near the best there is.

    Args:
        strata: All claims of the run.
        size: Labels; more than can count mean all of these.
        fewest: Labels of each stratum at least, or all of it that can count, as far as `size` goes.
        design_effect: By how much the variance is larger than that of independent claims.
        level: Confidence level in (0, 1).

    Returns:
        Of all allocations the one with the smallest sum of variances, each as a multiple of its
        smallest. Without a recall to foresee: the best for the rate.
    """

    def make_plan(target: PlanTarget, recall_share: float) -> LabelPlan:
        sizes = allocate_labels(
            strata, size, _compute_stratum_weights(strata, target, recall_share), fewest
        )
        return predict_half_widths(strata, sizes, design_effect=design_effect, level=level)

    for_rate = make_plan(PlanTarget(), 0.0)
    if not for_rate.rate or for_rate.recall is None:
        return for_rate
    best = PlanTarget(for_rate.rate, make_plan(PlanTarget(), 1.0).recall)
    return make_plan(best, 0.5)


def count_claims_to_draw(
    sizes: Mapping[str, int], strata: Sequence[PlanStratum], shown_share: float
) -> dict[str, int]:
    """Count the claims to draw for so many labels that count.

    Args:
        sizes: Labels by stratum.
        strata: All claims of the run.
        shown_share: Share of the drawn claims that are served with the judge's verdict in view,
            in [0, 1]: their labels are in no figure.

    Returns:
        By stratum; no more than it has.
    """
    populations = {each.name: each.population for each in strata}
    counting = 1 - shown_share
    return {
        name: min(populations[name], math.ceil(size / counting - 1e-9) if counting else size)
        for name, size in sizes.items()
    }


def compute_expected_blind_counts(drawn: Mapping[str, int], shown_share: float) -> dict[str, int]:
    """Count how many of the drawn claims are to be expected to be served blind, by stratum.

    Of a single one it is one: less would leave every figure of such a stratum unknown beforehand.
    """
    counting = 1 - shown_share
    return {
        name: max(int(size > 0 and counting > 0), math.floor(size * counting + 1e-9))
        for name, size in drawn.items()
    }


def predict_half_widths(
    strata: Sequence[PlanStratum],
    sizes: Mapping[str, int],
    *,
    design_effect: float = 1.0,
    level: float = LEVEL,
) -> LabelPlan:
    """Foresee the half widths that so many labels of each stratum give.

    Args:
        strata: All claims of the run.
        sizes: Labels by stratum; 0 where none are named.
        design_effect: By how much the variance is larger than that of independent claims.
        level: Confidence level in (0, 1).

    Source:
        Cochran 1977, 5.6 for the rate, with the shares that `estimate_run_rate` takes for its
        variance, and the moments of the beta-binomial draws by which `widen_run_rate` widens it to
        one side; 6.3 for recall, a ratio, by its residuals and without the finite population
        correction.
    """
    recall = drawn = shift = variance = 0.0
    whole = sum(each.expected_fair_count for each in strata)
    mean = _predict_unfaithful_share(strata)
    # What a label may say: without claims that are expected to be unfair there are two answers.
    outcomes = 3 if any(each.unfair_share for each in strata) else 2
    parts = _find_recall_slopes(strata)
    for each in strata:
        n = sizes.get(each.name, 0)
        if not n:
            return LabelPlan(sizes, None, None)
        failing = (each.failing_share * n + 1) / (n + outcomes)
        passing = ((1 - each.unfair_share - each.failing_share) * n + 1) / (n + outcomes)
        scale = each.population**2 / n / whole**2 * (1 - n / each.population)
        variance += _compute_share_variance(failing, passing, mean) * scale
        is_fair = 1 - each.unfair_share
        fair = n * is_fair
        share = (each.share * fair + 1) / (fair + 2)
        unlabelled = (each.population - n) * is_fair
        population = each.expected_fair_count
        drawn += unlabelled * share * (1 - share) * (population + 2) / (fair + 3) / whole**2
        # How many of the others are fair is drawn, too: it moves the share if they differ from it.
        others = unlabelled * each.unfair_share * (each.population + 2) / (n + 3)
        drawn += others * (each.share - mean) ** 2 / whole**2
        shift += unlabelled * (share - each.share) / whole
        if parts is not None:
            found = (each.failing_share * n + 1) / (n + 2)
            slope = parts[each.is_flagged is True]
            recall += found * (1 - found) / n * each.population**2 * each.judged_share * slope**2
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(design_effect)
    normal = half * math.sqrt(variance)
    return LabelPlan(
        sizes,
        min(0.5, (normal + max(normal, half * math.sqrt(drawn) + abs(shift))) / 2),
        None if parts is None else min(0.5, half * math.sqrt(recall)),
    )


def list_missed_half_widths(
    plan: LabelPlan, target: PlanTarget
) -> tuple[tuple[str, float, float], ...]:
    """List what a plan for a target does not reach: the figure, its wanted half width and its own.

    A recall that cannot be foreseen is left out.
    """
    aims = (
        ("the share that passes", target.rate, plan.rate),
        ("recall", target.recall, plan.recall),
    )
    return tuple(
        (name, aim, half)
        for name, aim, half in aims
        if aim is not None and half is not None and half > aim
    )


def _meets_target(plan: LabelPlan, target: PlanTarget) -> bool:
    wanted = ((plan.rate, target.rate), (plan.recall, target.recall))
    return all(aim is None or (half is not None and half <= aim) for half, aim in wanted)


def _find_recall_slopes(strata: Sequence[PlanStratum]) -> tuple[float, float] | None:
    """Say by how much recall changes with one unfaithful claim more.

    Returns:
        Where the judge passes it, and where it flags it; None where strata mix both, the judge
        does only one of them, or nothing unfaithful is expected.
    """
    found = _predict_unfaithful_counts(strata)
    if found is None:
        return None
    flagged, unfaithful = found
    recall = flagged / unfaithful
    return recall / unfaithful, (1 - recall) / unfaithful


def predict_recall(strata: Sequence[PlanStratum]) -> float | None:
    """Expect the recall of the judge; None where it has none to foresee, as of `LabelPlan`."""
    found = _predict_unfaithful_counts(strata)
    return None if found is None else found[0] / found[1]


def find_sides_of_judge(strata: Sequence[PlanStratum]) -> set[bool | None]:
    """Say whether strata with verdicts are flagged (True), passed (False) or mixed (None)."""
    return {each.is_flagged for each in strata if each.judged_share}


def _predict_unfaithful_counts(strata: Sequence[PlanStratum]) -> tuple[float, float] | None:
    """Expect so many unfaithful claims that the judge flags, and that it gave a verdict on.

    None where the judge flags all claims or none: recall is 1 or 0 then, whatever is labelled.
    """
    if find_sides_of_judge(strata) != {True, False}:
        return None
    expected = [(each, each.population * each.judged_share * each.failing_share) for each in strata]
    unfaithful = sum(number for _, number in expected)
    if not unfaithful:
        return None
    return sum(number for each, number in expected if each.is_flagged), unfaithful


def _predict_unfaithful_share(strata: Sequence[PlanStratum]) -> float:
    """Expect the share of unfaithful claims among all fair ones."""
    whole = sum(each.expected_fair_count for each in strata)
    return sum(each.expected_fair_count * each.share for each in strata) / whole


def _compute_share_variance(failing: float, passing: float, mean: float) -> float:
    """Say how what a claim adds to the share of unfaithful ones varies; nothing if it is unfair.

    Args:
        failing: Share of claims that are fair and unfaithful.
        passing: Share of claims that are fair and faithful.
        mean: Share of unfaithful claims among fair ones, in all strata.
    """
    centre = failing * (1 - mean) - passing * mean
    return failing * (1 - mean) ** 2 + passing * mean**2 - centre**2


def _compute_stratum_weights(
    strata: Sequence[PlanStratum], target: PlanTarget, recall_share: float
) -> dict[str, float]:
    """Say how much a label of each stratum tells.

    Args:
        strata: All claims of the run.
        target: What variances are measured in.
        recall_share: Part of recall in what is made small, in [0, 1].
    """
    whole = sum(each.expected_fair_count for each in strata)
    mean = _predict_unfaithful_share(strata)
    parts = _find_recall_slopes(strata) or (0.0, 0.0)
    found = {}
    for each in strata:
        rate = 1 / whole / (target.rate or 1)
        recall = parts[each.is_flagged is True] / (target.recall or 1)
        fair = 1 - each.unfair_share
        failing = min(max(each.share, _LEAST_SHARE), 1 - _LEAST_SHARE) * fair
        variance = _compute_share_variance(failing, fair - failing, mean) * rate**2
        by_recall = failing * (1 - failing) * each.judged_share * recall**2
        spread = (1 - recall_share) * variance + recall_share * by_recall
        found[each.name] = each.population * math.sqrt(spread)
    return found


def allocate_labels(
    strata: Sequence[PlanStratum], size: int, weights: Mapping[str, float], fewest: int
) -> dict[str, int]:
    """Share labels among strata by their weights.

    Args:
        strata: All claims of the run.
        size: Labels; more than can count mean all of these.
        weights: Claims times standard deviation of what a label says, by stratum.
        fewest: Labels of each stratum at least, or all of it that can count, as far as `size` goes.

    Source:
        Neyman 1934; Cochran 1977, 5.5 and 5.8 for strata that are to give more than they have.
    """
    size = min(size, sum(each.most_countable_labels for each in strata))
    fewest = bisect_right(
        range(1, fewest + 1),
        size,
        key=lambda n: sum(min(n, each.most_countable_labels) for each in strata),
    )
    # Where nothing tells anything, labels are shared by claims.
    floor = max(weights.values(), default=0.0) * 1e-9 or 1e-9

    def share_out(factor: float) -> dict[str, float]:
        return {
            each.name: min(
                float(each.most_countable_labels),
                max(fewest, factor * (weights[each.name] + floor * each.population)),
            )
            for each in strata
        }

    low, high = 0.0, 1.0
    while sum(share_out(high).values()) < size and high < _LARGE:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(share_out(middle).values()) < size else (low, middle)
    parts = share_out(high)
    sizes = {name: math.floor(part + 1e-6) for name, part in parts.items()}
    limits = {each.name: each.most_countable_labels for each in strata}
    left = size - sum(sizes.values())
    for name in sorted(parts, key=lambda each: (sizes[each] - parts[each], each)):
        if left > 0 and sizes[name] < limits[name]:
            sizes[name] += 1
            left -= 1
    return sizes
