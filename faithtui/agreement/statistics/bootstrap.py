"""The cluster bootstrap: as many conversations drawn again, with replacement, many times.

A second opinion beside the jackknife. Equal seeds and groups give equal intervals.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from faithtui.agreement.statistics.figures import Statistic, estimate_figures
from faithtui.agreement.statistics.matrices import (
    GroupedMatrix,
    Ints,
    MatrixStack,
    collapse_counts_to_two,
)
from faithtui.domain.estimates import LEVEL, Estimate, EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason

_NUMBERS = 100_000
"""Numbers drawn at a time: what the processor's cache holds is drawn several times as fast."""
_FEW_KINDS = 16
"""Drawing a kind's number costs about as much as drawing this many single groups."""
_DEFINED = 0.95
"""Share of the resamples that must have a value for an interval."""


class Resamples:
    """Totals of groups that were drawn with replacement; figures are read off the same draws.

    Args:
        groups: At least one.
        count: How many resamples, each of as many groups as there are.
        seed: Decides all draws.
        on_progress: Called with the number of resamples that are drawn.

    Source:
        Efron 1979, Annals of Statistics 7:1-26, with conversations as what is drawn; the generator
        is PCG64, O'Neill 2014.
    """

    __slots__ = ("counts", "groups", "populations", "unfair")

    def __init__(
        self,
        groups: GroupedMatrix,
        count: int,
        seed: int,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        self.groups = groups
        generator = np.random.Generator(np.random.PCG64(seed))
        strata = len(groups.counts)
        flat = groups.counts.reshape(-1, len(groups.times))
        beside = [each for each in (groups.populations, groups.unfair) if each is not None]
        flat = np.concatenate([*beside, flat])
        parts = flat.T.astype(np.float64)
        totals: Ints = np.empty((len(flat), count), np.int64)
        size, number = len(groups.times), groups.group_count
        # Whether types or single groups are drawn only changes how long it takes.
        by_kind = size * _FEW_KINDS <= number
        type_of = np.repeat(np.arange(size), groups.times)
        at_once = max(1, _NUMBERS // (size if by_kind else max(size, number)))
        for start in range(0, count, at_once):
            rows = min(at_once, count - start)
            if by_kind:
                types: Ints = generator.multinomial(number, groups.times / number, size=rows)
            else:
                types = _resample_and_count_group_types(generator, type_of, rows, size)
            totals[:, start : start + rows] = (types.astype(np.float64) @ parts).T
            if on_progress is not None:
                on_progress(start + rows)
        parts_beside = [totals[n : n + strata] for n in range(0, strata * len(beside), strata)]
        self.populations = None if groups.populations is None else parts_beside[0]
        self.unfair = None if groups.unfair is None else parts_beside[-1]
        self.counts = totals[strata * len(beside) :].reshape(*groups.counts.shape[:-1], count)
        """Shape (strata, q, q, resamples)."""

    def make_matrices(self, positive: Collection[str] | None = None) -> MatrixStack:
        """Give the weighted matrices of all resamples.

        Args:
            positive: Categories that are put together, and all the others too; None: all stay
                apart.
        """
        counts: Ints = self.counts
        if positive is not None:
            counts = collapse_counts_to_two(counts, self.groups.categories, positive)
        return MatrixStack(self.groups.sum_strata_by_weight(counts, self.populations, self.unfair))


def _resample_and_count_group_types(
    generator: np.random.Generator, type_of: Ints, rows: int, size: int
) -> Ints:
    """Draw as many groups as there are, some times, and count their types."""
    number = len(type_of)
    types = type_of[generator.integers(number, size=(rows, number))]
    # Numbers of its own for each resample, so that one count serves them all.
    types += np.arange(rows)[:, None] * size
    return np.bincount(types.ravel(), minlength=rows * size).reshape(rows, size)


def estimate_by_bootstrap(
    statistics: Mapping[str, Statistic],
    groups: GroupedMatrix,
    positive: Collection[str] | None = None,
    *,
    resamples: Resamples,
    level: float = LEVEL,
) -> dict[str, Estimate]:
    """Estimate figures with percentile intervals over resamples of the groups.

    Where the jackknife gives no interval or Wilson's, for too few groups or no variation, its
    answer stands: resampling cannot know more. `widen_intervals_by_posterior` is for what labels
    leave open.

    Args:
        statistics: Figures by name; all are read off the same resamples.
        groups: What was resampled.
        positive: Labels that are put together, and all the others too; None: all stay apart.
        resamples: Of the groups.
        level: Confidence level in (0, 1).

    Returns:
        An estimate by name. A figure that more than one in twenty resamples leaves undefined has
        no interval, `too_few_clusters`.

    Source:
        Efron & Tibshirani, An Introduction to the Bootstrap (1993), 13.3: percentile interval;
        quantiles by Hyndman & Fan 1996, American Statistician 50:361-365, definition 7.
    """
    found = estimate_figures(
        statistics,
        groups if positive is None else groups.collapse_to_two_categories(positive),
        level,
    )
    drawn = resamples.make_matrices(positive)
    for name, each in found.items():
        # The jackknife found no variation or too few groups: resampling sees no more of them.
        if each.method in (None, EstimateMethod.WILSON):
            continue
        values = statistics[name].compute(drawn)
        defined = values[~np.isnan(values)]
        if len(defined) < max(2.0, _DEFINED * len(values)):
            found[name] = Estimate(
                each.value, each.status, each.n, each.clusters, WithheldReason.TOO_FEW_CLUSTERS
            )
            continue
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
        se = float(defined.std(ddof=1))
        found[name] = replace(
            each, ci_low=low, ci_high=high, method=EstimateMethod.BOOTSTRAP, se=se
        )
    return found
