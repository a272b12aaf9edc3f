"""Intervals where few labels stand for many units: draws of the confusion matrix that may be true.

Leaving out one conversation at a time cannot tell what a thinly labelled stratum did not show:
where none of 30 labels of 800 passed claims is a miss, every value without a conversation agrees.
Here the share of each human label among the units with one verdict has a posterior distribution,
and the verdicts, which are known of all units, weigh it.
"""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from faithtui.agreement.statistics.figures import Statistic, estimate_figures
from faithtui.agreement.statistics.intervals import t_quantile
from faithtui.agreement.statistics.matrices import (
    Floats,
    GroupedMatrix,
    Ints,
    MatrixStack,
    WeightedTotals,
    collapse_counts_to_two,
    count_distinct_columns,
    stack_counts,
)
from faithtui.agreement.statistics.pass_rates import (
    GroupedStrata,
    LabelledStratum,
    compute_variance_share_of_undrawn,
    compute_worst_case_bounds,
    count_units_of_large_undrawn_conversations,
    estimate_fair_claim_count,
    estimate_future_rate,
    widen_interval_for_unknown_units,
)
from faithtui.domain.estimates import (
    FEWEST_DRAWN_GROUPS,
    FEWEST_GROUPS,
    LEVEL,
    Estimate,
    EstimateMethod,
)
from faithtui.domain.withheld_reasons import WithheldReason

DRAWS: Final = 1_000
"""Matrices that are drawn: the ends of an interval are then known to a tenth of its width."""
SEED: Final = 20_190_614
"""One set of labels gives one interval."""
PSEUDO_LABELS: Final = 1.0
"""Labels that every verdict is given beforehand: half of one agrees with the verdict, the other
half is shared by the other labels. With two labels this is the prior of Jeffreys."""
INTRACLASS_CORRELATION: Final = 0.2
"""Correlation taken for two units with one verdict in one conversation, in the weight of the labels
given beforehand: thirty units of one conversation say less than thirty of thirty."""
SPREAD: Final = 4 / 3
"""Variance over that of the plain Bayesian bootstrap, beside Student's t. Measured: with 1 the
intervals for future conversations held the truth in 0.93 to 0.96 of the simulations of
tests/benchmarks/coverage.py."""

_PAIR_LABELS = 0.25
"""Labels given beforehand to a pair of different verdicts. Measured in samples of 100 by verdict,
with tests/benchmarks/judge_changes.py: 0.25 held the true change in 0.98 or more and was a tenth
wider than one label shared by both sides, which held it in 0.96; 1 held it always, and was a third
wider."""
_LABELLED_PAIRS = 0.5
"""Labels given beforehand to each stratum where the judges' verdicts are known of labelled units
alone."""
_OTHER_SIDE = 0.7
"""Labels given beforehand against the verdict, of two kinds of label. Measured: with half a one the
lower end of the negative predictive value lay above the value to expect in 0.07 of simulated
samples of 60 by verdict at 30 % errors; with this in less than 0.02, and recall is .01 wider."""
_NUMBERS = 2_000_000
"""Weights drawn at a time, to bound the memory."""
_NUMBERS_KEPT = 200_000
"""Most numbers of a result that is kept for the next one who asks."""
_NOTHING = 1e-9
_MOST_VERDICTS = 4
"""Strata of a simple sample: three labels of the judge, and none."""
_UNDEFINED = 0.5
"""Share of the draws that may have no value where there is an interval."""


def draw_confusion_matrices(groups: GroupedMatrix, level: float = LEVEL) -> MatrixStack:
    """Draw confusion matrices of all units from their posterior distribution.

    Each draw gives every conversation a random weight, the same for its labels and its units
    (Bayesian bootstrap), adds `PSEUDO_LABELS` of random weight to the labels of each verdict,
    shared among its strata by their units, and weighs the shares of human labels by the units with
    that verdict. With one unit in each conversation this is the Dirichlet posterior per stratum and
    verdict; with several, the spread
    between conversations comes in.

    Args:
        groups: Labelled units, with their `frame` where they were drawn from more.
        level: Confidence level in (0, 1) that intervals will have, for Student's t.

    Returns:
        Cells of shape (q, q, 1, `DRAWS`); units weigh as much as there are. Where labels were put
        together, (2, 2, 3, `DRAWS`): first with half a label given beforehand to the side of the
        verdict and `_OTHER_SIDE` to the other; then as if they were still apart, where a side may
        have a quarter; then with what agrees with the verdict alone. The first pulls rare errors
        up, the second leaves too little where a stratum has few labels, and both give every
        stratum misses that nobody saw: of rare errors in ten groups they held the recall to expect
        in 0.92 to 0.93 of simulations, always for being too low.

    Source:
        Rubin 1981, Annals of Statistics 9:130-134, for the weights; Brown, Cai and DasGupta 2001,
        Statistical Science 16:101-133, for the prior; Ghosh and Meeden 1997, Bayesian Methods for
        Finite Population Sampling, for strata. Coverage is measured, see docs/agreement.md.
    """
    whole, positive = groups.collapsed_from or (groups, None)
    known = whole.draws.get((level, positive))
    if known is None:
        totals = whole.totals.get(level)
        if totals is None:
            totals = whole.totals[level] = _draw_group_weighted_totals(
                *_count_labelled_and_all_units(whole), level
            )
        cells = _draw_matrix_cells(totals, whole.categories, positive)[:, :, None]
        if positive is not None:
            full = draw_confusion_matrices(whole, level).cells[None]
            collapsed = collapse_counts_to_two(full, whole.categories, positive)[0]
            seen = _draw_matrix_cells(totals, whole.categories, positive, seen_only=True)[
                :, :, None
            ]
            cells = np.concatenate([cells, collapsed, seen], axis=2)
        known = MatrixStack(cells)
        whole.draws[level, positive] = known
    return known


def _draw_matrix_cells(
    totals: WeightedTotals,
    categories: Sequence[str],
    positive: Collection[str] | None,
    *,
    seen_only: bool = False,
) -> Floats:
    """Add labels given beforehand, and weigh the shares of labels by the units of each verdict.

    Of labels that are put together either side has a label of its own beforehand; with `seen_only`,
    only what agrees with the verdict.
    """
    labels, size = totals.labels, len(categories)
    if positive is None:
        agrees = np.eye(size, dtype=np.bool_)
    else:
        is_positive = np.array([name in positive for name in categories])
        sides = (is_positive, ~is_positive)
        labels = np.stack(
            [
                *(labels[:, :, :size][:, :, side].sum(axis=2) for side in sides),
                labels[:, :, size],
            ],
            axis=2,
        )
        agrees = np.array(sides)
    rows = len(agrees)
    prior = np.full((rows + 1, size), 0.0 if seen_only else PSEUDO_LABELS / 2 / max(1, rows - 1))
    if positive is not None and not seen_only:
        prior[:rows] = _OTHER_SIDE
    prior[:rows][agrees] = PSEUDO_LABELS / 2
    # Nobody expects unfair claims where there has been none.
    prior[rows] *= bool(labels[:, :, rows].any())
    cells = _distribute_units(totals, labels, prior, totals.parts)[:rows]
    if positive is None:
        return cells
    return np.stack([cells[:, side].sum(axis=1) for side in agrees], axis=1)


def _count_labelled_and_all_units(groups: GroupedMatrix) -> tuple[Ints, Floats | Ints, Ints]:
    """Count labelled and all units, of the different groups.

    Returns:
        Labelled units by stratum, human label (the last: `x`) and verdict; all units by
        stratum and verdict; how many groups there are of each type.
    """
    if groups.frame is None:
        # Labelled units stand for as many as they weigh.
        by_verdict = groups.counts.sum(axis=1)
        labelled = np.concatenate([groups.counts, np.zeros_like(by_verdict)[:, None]], axis=1)
        return labelled, groups.stratum_weights[:, None, None] * by_verdict, groups.times
    frame = groups.frame
    strata, size, _, number = frame.labelled.shape
    of_strata = (
        stack_counts(*frame.labelled[stratum], frame.unfair[stratum]) for stratum in range(strata)
    )
    counts = stack_counts(*of_strata, frame.verdicts.reshape(strata * size, number))
    types, times = count_distinct_columns(counts, dtype=np.int32)
    split = strata * (size + 1) * size
    return (
        types[:split].reshape(strata, size + 1, size, len(times)),
        types[split:].reshape(strata, size, len(times)),
        times,
    )


def widen_future_rate(
    future: Estimate, this_run: Estimate, groups: GroupedStrata, level: float = LEVEL
) -> Estimate:
    """Widen the interval of a rate to expect to what the posterior and this run leave open.

    What is known of conversations to come is never surer than what is known of these.

    Args:
        future: By the jackknife, see `estimate_future_rate`.
        this_run: The rate of this run.
        groups: What both were computed from.
        level: Confidence level in (0, 1).

    Returns:
        The same rate; without an interval where this run's has none, or where all labels are of
        one group, or nearly all units of fewer than five: unlabelled groups tell how verdicts
        differ, not how labels do.
    """
    populations, labelled, faithful, unfair = groups.counts
    is_labelled = labelled.any(axis=0)
    if future.value is None:
        return future
    sizes = np.repeat(populations.sum(axis=0), groups.times)
    few = _has_too_few_groups(int(groups.times[is_labelled].sum()), sizes)
    if few or this_run.ci_low is None or this_run.ci_high is None:
        reason = WithheldReason.TOO_FEW_CLUSTERS if few else this_run.reason
        return Estimate(future.value, future.status, future.n, future.clusters, reason)
    by_label = np.stack([faithful, labelled - faithful, unfair], axis=1)[:, :, None]
    prior = np.array([[0.5], [0.5], [0.25 * unfair.any()]]) * PSEUDO_LABELS
    totals = _draw_group_weighted_totals(
        by_label, populations[:, None].astype(np.float64), groups.times, level
    )
    # Strata of the judge's verdicts have a label each; of more they share as many.
    parts = min(1.0, _MOST_VERDICTS / max(1, int((populations @ groups.times > 0).sum())))
    passing, failing, _ = _distribute_units(
        totals, totals.labels, prior, np.full((len(populations), 1), parts)
    )[:, 0]
    low, high = np.quantile(
        passing / (passing + failing), [(1 - level) / 2, (1 + level) / 2]
    ).tolist()
    # What is known of conversations to come is never surer than what is known of these.
    low, high = min(low, this_run.ci_low), max(high, this_run.ci_high)
    if future.ci_low is not None and future.ci_high is not None:
        low, high = min(low, future.ci_low), max(high, future.ci_high)
    return replace(
        future,
        reason=None,
        ci_low=low,
        ci_high=high,
        level=level,
        method=EstimateMethod.BOOTSTRAP,
    )


def _has_too_few_groups(labelled: int, sizes: Ints) -> bool:
    """Say whether drawn units are of too few groups for an interval.

    In simulated samples of 100 of runs with two to four groups, draws held the specificity to
    expect in 0.86 to 0.92 at 2 and 5 % errors, and in 0.62 to 0.87 where as few of five groups have
    nearly all units; where as few of ten and more were drawn, every figure in 0.96 and more.

    Args:
        labelled: Groups with a labelled unit.
        sizes: Units of each group that was drawn from; () where none was drawn.

    Source:
        Kish 1965, Survey Sampling, 11.7: the number of groups of equal size that are worth as much,
        (Σ units)² / Σ units².
    """
    if labelled >= FEWEST_GROUPS or labelled < FEWEST_DRAWN_GROUPS or not len(sizes):
        return labelled < FEWEST_GROUPS
    units = sizes.astype(np.float64)
    return bool(units.sum() ** 2 < FEWEST_GROUPS * (units**2).sum())


def widen_clustered_run_rate(
    this_run: Estimate,
    conversations: GroupedStrata,
    level: float = LEVEL,
    *,
    drawn_from: int | None = None,
) -> Estimate:
    """Widen the rate of this run, of drawn conversations, to what a forecast from them leaves open.

    Where few conversations are bad, or one has many of the claims, a draw without them both has a
    high rate and says little of how much conversations differ: by leaving out one at a time the
    lower end was above the truth in up to 18 % of simulated samples of 5 to 15 of 40, and in 43 %
    of 24 of 40 of which one has two fifths of the claims. With this in 3 % at most; what is
    left open says docs/decisions/0073.

    Args:
        this_run: By `estimate_run_rate_clustered`.
        conversations: What it was computed from.
        level: Confidence level in (0, 1).
        drawn_from: As of `estimate_run_rate_clustered`.

    Returns:
        The same rate with the ends of `widen_future_rate`, as much nearer as drawn conversations
        are a part of the run. An undrawn conversation that is large, see
        `count_units_of_large_undrawn_conversations`, may pass or fail as a whole. No wider
        than what unlabelled claims can change; without an interval where there is no forecast.

    Source:
        Cochran 1977, 2.6, for the part.
    """
    bounds = compute_worst_case_bounds(conversations.totals_by_stratum)
    if this_run.value is None or this_run.ci_low is None or this_run.ci_high is None:
        return this_run
    future = widen_future_rate(
        estimate_future_rate(conversations, level), this_run, conversations, level
    )
    if future.ci_low is None or future.ci_high is None:
        counts = this_run.n, this_run.clusters
        return Estimate(this_run.value, this_run.status, *counts, WithheldReason.TOO_FEW_CLUSTERS)
    share = min(1.0, math.sqrt(compute_variance_share_of_undrawn(conversations, drawn_from)))
    low = min(this_run.ci_low, this_run.value - share * (this_run.value - future.ci_low))
    high = max(this_run.ci_high, this_run.value + share * (future.ci_high - this_run.value))
    found = replace(this_run, ci_low=low, ci_high=high)
    if drawn_from is None:
        large = count_units_of_large_undrawn_conversations(conversations)
        fair = estimate_fair_claim_count(conversations.totals_by_stratum)
        found = widen_interval_for_unknown_units(found, max(0.0, fair - large), large)
    if bounds is None or found.ci_low is None or found.ci_high is None:
        return found
    return replace(
        found,
        ci_low=min(max(found.ci_low, bounds[0]), this_run.value),
        ci_high=max(min(found.ci_high, bounds[1]), this_run.value),
    )


def widen_run_rate(
    this_run: Estimate, strata: Sequence[LabelledStratum], level: float = LEVEL
) -> Estimate:
    """Widen the normal interval of this run's rate to what the posterior leaves open.

    Where few of a large stratum fail, a lucky sample has both a high rate and a small variance: the
    lower end of the normal interval was above the truth in 3 to 5 % of simulated samples by
    verdict, and with this in 1 to 2 %. With half a label to either side it were 2 to 3 %.

    Args:
        this_run: By the normal interval, see `rates.estimate_run_rate`.
        strata: What it was computed from.
        level: Confidence level in (0, 1).

    Returns:
        The same rate; as it was where it has no interval, or nothing is left to be drawn.
    """
    if this_run.value is None or this_run.ci_low is None or this_run.ci_high is None:
        return this_run
    if all(each.reviewed_count == each.population for each in strata):
        return this_run
    generator = np.random.Generator(np.random.PCG64(SEED))
    unfair = any(each.unfair for each in strata)
    passing, fair = np.zeros(DRAWS), np.zeros(DRAWS)
    for each in strata:
        if not each.reviewed_count:
            continue
        left_out = 0.25 * PSEUDO_LABELS * unfair
        is_fair = (
            generator.beta(each.labelled + 2, each.unfair + left_out, DRAWS) if unfair else 1.0
        )
        passes = generator.beta(
            each.faithful + 1,
            each.labelled - each.faithful + 1,
            DRAWS,
        )
        # What nobody looked at, as it may be.
        drawn_fair = generator.binomial(each.population - each.reviewed_count, is_fair, DRAWS)
        fair += each.labelled + drawn_fair
        passing += each.faithful + generator.binomial(drawn_fair, passes)
    low, high = np.quantile(
        passing / np.maximum(fair, 1), [(1 - level) / 2, (1 + level) / 2]
    ).tolist()
    return replace(
        this_run,
        ci_low=min(low, this_run.ci_low),
        ci_high=max(high, this_run.ci_high),
    )


def _draw_group_weighted_totals(
    labelled: Ints, all_units: Floats | Ints, times: Ints, level: float
) -> WeightedTotals:
    """Weigh whole groups at random, once for equal counts.

    A report asks about the same counts for its claims, its rate and its slices: drawing them each
    time took half of the time of a report of 100,000 claims.

    Args:
        labelled: See `_compute_group_weighted_totals`, as for the others.
        all_units: All units.
        times: How many groups there are of each type.
        level: Confidence level.
    """
    if DRAWS * (labelled.size + all_units.size) > _NUMBERS_KEPT * len(times):
        return _compute_group_weighted_totals(labelled, all_units, times, level)
    return _recall_group_weighted_totals(_CountsByContent((labelled, all_units, times)), level)


_NO_COUNTS = np.zeros(0, np.int64)


class _CountsByContent:
    """Arrays that are equal where their numbers are."""

    def __init__(self, arrays: tuple[Ints, Floats | Ints, Ints]) -> None:
        self._arrays = arrays
        self._content = tuple(
            (each.shape, each.dtype.str, hashlib.blake2b(each.tobytes()).digest())
            for each in arrays
        )

    def take_arrays(self) -> tuple[Ints, Floats | Ints, Ints]:
        """Give the arrays, once: who keeps these counts keeps what they were told by alone."""
        arrays, self._arrays = self._arrays, (_NO_COUNTS,) * 3
        return arrays

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _CountsByContent) and self._content == other._content


@lru_cache(maxsize=16)
def _recall_group_weighted_totals(counts: _CountsByContent, level: float) -> WeightedTotals:
    found = _compute_group_weighted_totals(*counts.take_arrays(), level)
    for each in (found.units, found.labels, found.design_effects, found.parts):
        # Shared by all who ask about equal counts.
        each.setflags(write=False)
    return found


def _compute_group_weighted_totals(
    labelled: Ints, all_units: Floats | Ints, times: Ints, level: float
) -> WeightedTotals:
    """Weigh whole groups at random.

    Args:
        labelled: Labelled units by stratum, human label, verdict and type of group.
        all_units: All units by stratum, verdict and type of group.
        times: How many groups there are of each type.
        level: See `draw_confusion_matrices`.
    """
    strata, rows, columns, types = labelled.shape
    by_verdict = labelled.sum(axis=1)
    number = max(2, int(times[by_verdict.any(axis=(0, 1))].sum()))
    normal = NormalDist().inv_cdf((1 + level) / 2)
    # Weights of this shape spread by so much more as Student's t is wider than the normal.
    shape = (normal / t_quantile(level, number - 1)) ** 2 / SPREAD
    counts = (all_units.reshape(-1, types), labelled.reshape(-1, types))
    totals = tuple(np.empty((DRAWS, len(each))) for each in counts)
    rows_at_once = max(1, _NUMBERS // max(1, types))
    generator = np.random.Generator(np.random.PCG64(SEED))
    at_once = max(1, _NUMBERS // max(1, types))
    for start in range(0, DRAWS, at_once):
        count = min(at_once, DRAWS - start)
        # So many conversations of weight Gamma(shape) weigh Gamma(shape * times) together.
        weights = generator.gamma(shape * times, 1 / shape, (count, types))
        for total, each in zip(totals, counts, strict=True):
            # A thousand strata of five thousand kinds of groups would be a gigabyte of floats.
            for first in range(0, len(each), rows_at_once):
                some = each[first : first + rows_at_once].T.astype(np.float64)
                total[start : start + count, first : first + rows_at_once] = weights @ some
    # Units with one verdict that a conversation has, as a labelled unit sees it.
    mean_size = ((by_verdict**2) @ times) / np.maximum(by_verdict @ times, 1)
    units = all_units @ times
    return WeightedTotals(
        totals[0].reshape(DRAWS, strata, 1, columns),
        totals[1].reshape(DRAWS, strata, rows, columns),
        1 + INTRACLASS_CORRELATION * np.maximum(mean_size - 1, 0),
        units / np.maximum(units.sum(axis=0), 1),
        float(units.sum()),
    )


def _distribute_units(
    totals: WeightedTotals, labels: Floats, prior: Floats, parts: npt.ArrayLike
) -> Floats:
    """Share the units of each verdict out by the labels, and those given beforehand.

    Args:
        totals: All units.
        labels: Their labels, of one shape with those of `totals` but for the rows.
        prior: Labels given beforehand, by human label and verdict.
        parts: How much of them each stratum gets, by stratum and verdict.

    Returns:
        Units by human label, verdict and draw.
    """
    prior_labels = _draw_prior_labels(tuple(map(tuple, prior.tolist())), labels.shape[1])
    # Never nothing: a stratum without a label and almost without units has shares all the same.
    labels = (
        labels + prior_labels * (totals.design_effects * np.maximum(parts, _NOTHING))[:, None, :]
    )
    cells = (totals.units * labels / labels.sum(axis=2, keepdims=True)).sum(axis=1)
    # As many units as there are: alpha depends on their number.
    cells *= totals.total / cells.sum(axis=(1, 2), keepdims=True)
    return np.ascontiguousarray(np.moveaxis(cells, 0, -1))


@lru_cache(maxsize=32)
def _draw_prior_labels(prior: tuple[tuple[float, ...], ...], strata: int) -> Floats:
    """Draw weights of labels given beforehand; the same for all groups of units of a report.

    Returns:
        Shape (draws, strata, human labels, verdicts).
    """
    generator = np.random.Generator(np.random.PCG64(SEED + 1))
    shares = np.array(prior)
    found = generator.gamma(shares, 1.0, (DRAWS, strata, *shares.shape))
    found.flags.writeable = False
    return found


def estimate_figures_by_posterior(
    statistics: Mapping[str, Statistic], groups: GroupedMatrix, level: float = LEVEL
) -> dict[str, Estimate]:
    """Estimate figures with the wider of two intervals: of `estimate_figures`, and the posterior's.

    Args:
        statistics: Figures by name.
        groups: Units by group.
        level: Confidence level in (0, 1).

    Returns:
        By name; values are those of `estimate_figures`.
    """
    return widen_intervals_by_posterior(
        estimate_figures(statistics, groups, level), statistics, groups, level
    )


def widen_intervals_by_posterior(
    found: Mapping[str, Estimate],
    statistics: Mapping[str, Statistic],
    groups: GroupedMatrix,
    level: float = LEVEL,
) -> dict[str, Estimate]:
    """Widen the intervals of figures to what the posterior leaves open.

    The posterior knows what empty cells leave open, resampling and leaving out how far
    conversations differ, and Wilson's interval over groups that few of them tell little where a
    share is 0 or 1. Where a drawn sample gives no interval of these kinds because one conversation
    decides the figure, the posterior alone is taken; not where a stratum has labels of one
    conversation only, whose units would then be guessed.

    Args:
        found: Figures by name, by the jackknife or the bootstrap.
        statistics: The same figures by name.
        groups: What they were computed from; fewer than five labelled groups give no interval,
            and fewer than two where they were drawn from five or more that are about alike.
        level: Confidence level in (0, 1).
    """
    widened = dict(found)
    whole = groups if groups.collapsed_from is None else groups.collapsed_from[0]
    labelled = groups.labelled_group_count
    sizes = np.zeros(0, np.int64) if whole.frame is None else whole.frame.verdicts.sum(axis=(0, 1))
    if _has_too_few_groups(labelled, sizes):
        return widened
    is_thin = bool(np.isnan(groups.without_each_group.n).any())
    drawn = draw_confusion_matrices(groups, level)
    for name, each in found.items():
        if each.value is None or (each.ci_low is None and (whole.frame is None or is_thin)):
            continue
        widened[name] = widen_interval_to_posterior_draws(
            each, statistics[name].compute(drawn), level
        )
    return widened


def widen_interval_to_posterior_draws(estimate: Estimate, values: Floats, level: float) -> Estimate:
    """Widen the interval of a figure to the middle part of its values in draws.

    Args:
        estimate: The figure, with a value.
        values: Shape (..., draws); of several rows the widest interval is taken. NaN: undefined.
        level: Confidence level in (0, 1).

    Returns:
        As it was where half of the draws or more are undefined, or its interval is wider.
    """
    assert estimate.value is not None
    unknown = np.isnan(values)
    if unknown.mean() > _UNDEFINED:
        return estimate
    ends = [(1 - level) / 2, (1 + level) / 2]
    # Looking for values that are none takes several times as long.
    found_ends = (np.nanquantile if unknown.any() else np.quantile)(values, ends, axis=-1)
    low, high = float(found_ends[0].min()), float(found_ends[1].max())
    if estimate.ci_low is not None and estimate.ci_high is not None:
        if estimate.ci_low <= low and high <= estimate.ci_high:
            return estimate
        low, high = min(low, estimate.ci_low), max(high, estimate.ci_high)
    return replace(
        estimate,
        reason=None,
        ci_low=min(low, estimate.value),
        ci_high=max(high, estimate.value),
        level=level,
        method=EstimateMethod.BOOTSTRAP,
        se=float(np.nanstd(values, ddof=1)),
    )


def draw_judge_pair_matrices(
    labelled: Ints, all_units: npt.ArrayLike, times: Ints, level: float = LEVEL
) -> tuple[tuple[MatrixStack, MatrixStack], ...]:
    """Draw confusion matrices of two judges on the same units; see `draw_confusion_matrices`.

    What both judges say is known of all units, so a pair of verdicts takes the place of one: where
    they say the same, neither is better, whatever the human label. Where they differ, nobody knows
    beforehand who is right: the labels given beforehand are once the first judge's verdicts and
    once the second's, and of both intervals the wider one counts.

    Args:
        labelled: Labelled units by stratum, human label (the last: `x`), the first
            judge's verdict, the second's, and type of group; shape (strata, q + 1, q, q, types).
        all_units: All units, labelled or not; shape (strata, q, q, types).
        times: How many groups there are of each type.
        level: Confidence level in (0, 1) that intervals will have, for Student's t.

    Returns:
        Of the first judge and of the second, cells of shape (q, q, `DRAWS`) that belong together;
        once for each of the labels given beforehand.

    Source:
        Walley 1996, Journal of the Royal Statistical Society B 58:3-57, for a prior that may be any
        of several.
    """
    strata, _, size, _, types = labelled.shape
    totals = _draw_group_weighted_totals(
        labelled.reshape(strata, size + 1, size**2, types),
        np.asarray(all_units, np.float64).reshape(strata, size**2, types),
        times,
        level,
    )
    human, a, b = np.ix_(*[range(size)] * 3)
    same = np.where(human == a, PSEUDO_LABELS / 2, PSEUDO_LABELS / 2 / max(1, size - 1))
    found = []
    for favoured in (a, b):
        prior = np.zeros((size + 1, size, size))
        prior[:size] = np.where(a == b, same, _PAIR_LABELS * (human == favoured))
        # Nobody expects unfair claims where there has been none.
        prior[size] = PSEUDO_LABELS / 2 / max(1, size - 1) * bool(labelled[:, size].any())
        cells = _distribute_units(
            totals, totals.labels, prior.reshape(size + 1, size**2), totals.parts
        )
        cells = cells[:size].reshape(size, size, size, -1)
        found.append((MatrixStack(cells.sum(axis=2)), MatrixStack(cells.sum(axis=1))))
    return tuple(found)


def draw_labelled_judge_pair_matrices(
    labelled: Ints, weights: Sequence[float], times: Ints, level: float = LEVEL
) -> tuple[tuple[MatrixStack, MatrixStack], ...]:
    """Draw the matrices of two judges where one of them judged labelled units alone.

    How often they say what is then known of the labelled units only. What none of these shows may
    be there all the same: each stratum has labels given beforehand on which the judges differ,
    once as if the first one were right and once the second, see `draw_judge_pair_matrices`.

    Args:
        labelled: As in `draw_judge_pair_matrices`.
        weights: How many units a labelled one stands for, by stratum.
        times: How many groups there are of each type.
        level: Confidence level in (0, 1) that intervals will have, for Student's t.

    Returns:
        As `draw_judge_pair_matrices`.
    """
    strata, _, size, _, types = labelled.shape
    counts = labelled[:, :size].sum(axis=1)
    by_stratum = counts.sum(axis=(1, 2))[:, None]
    totals = _draw_group_weighted_totals(
        labelled.reshape(strata, -1, 1, types),
        np.array(weights)[:, None, None] * by_stratum,
        times,
        level,
    )
    human, a, b = np.ix_(*[range(size)] * 3)
    seen = np.maximum(by_stratum[:, 0] @ times, 1)[:, None]
    said_a, said_b = (counts.sum(axis=other) @ times / seen for other in (2, 1))
    # Either judge's verdict as often as it gives it, and any other one of the other judge.
    differing = (said_a[:, :, None] + said_b[:, None]) / 2 / max(1, size - 1)
    parts = min(1.0, _MOST_VERDICTS / strata)
    given = _LABELLED_PAIRS * parts * (differing * (a != b))[:, None] * np.ones((size, 1, 1))
    found = []
    for favoured in (a, b):
        prior = np.zeros((strata, size + 1, size, size))
        prior[:, :size] = given * (human == favoured)
        generator = np.random.Generator(np.random.PCG64(SEED + 1))
        extra = generator.gamma(
            prior.reshape(strata, -1, 1), 1.0, (DRAWS, strata, prior[0].size, 1)
        )
        labels = totals.labels + extra * totals.design_effects[:, None]
        cells = (
            totals.units * labels / np.maximum(labels.sum(axis=2, keepdims=True), _NOTHING)
        ).sum(axis=1)
        cells = np.moveaxis(cells.reshape(DRAWS, size + 1, size, size)[:, :size], 0, -1)
        cells *= totals.total / cells.sum(axis=(0, 1, 2))
        found.append((MatrixStack(cells.sum(axis=2)), MatrixStack(cells.sum(axis=1))))
    return tuple(found)
