"""How far two selections of words are the same: of a human rationale and of the judge's evidence.

Source:
    DeYoung et al. 2020, ERASER: A Benchmark to Evaluate Rationalized NLP Models (ACL), section 4:
    token-level precision, recall and F1 of each instance, averaged over instances; intersection
    over union of tokens. ERASER turns the latter into an F1 of spans with at least 0.5 of it; here
    it is averaged as it is, because one marked stretch may be cut into several quotes.
"""

from collections.abc import Hashable, Iterable, Set
from typing import NamedTuple

import numpy as np

from faithtui.agreement.statistics.figures import divide_or_nan
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import number_distinct_keys_by_occurrence
from faithtui.domain.estimates import FEWEST_GROUPS, LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason


class SpanOverlap(NamedTuple):
    """Overlap of what is found with what is wanted; each in [0, 1]."""

    precision: float
    """Words of both / words found; 0 where nothing was found."""
    recall: float
    """Words of both / words wanted."""
    f1: float
    """Harmonic mean of both; 0 where they share nothing."""
    iou: float
    """Words of both / words of either."""


def compute_span_overlap(wanted: Set[Hashable], found: Set[Hashable]) -> SpanOverlap:
    """Compare two selections of words.

    Args:
        wanted: Marked by an annotator; at least one.
        found: What the judge points at; may be nothing.
    """
    both = len(wanted & found)
    return SpanOverlap(
        precision=both / len(found) if found else 0.0,
        recall=both / len(wanted),
        f1=2 * both / (len(wanted) + len(found)),
        iou=both / len(wanted | found),
    )


def estimate_mean_share(values: Iterable[tuple[str, float]], level: float = LEVEL) -> Estimate:
    """Estimate the mean of shares over units that come in groups.

    Args:
        values: (group, share in [0, 1]) of each unit; every unit counts the same.
        level: Confidence level in (0, 1).

    Returns:
        In [0, 1], a ratio of two totals by group; undefined without units.
    """
    units = sorted(values)
    places, names = number_distinct_keys_by_occurrence([group for group, _ in units])
    sums = np.bincount(places, weights=[share for _, share in units], minlength=len(names))
    counts = np.bincount(places, minlength=len(names))
    total, n = float(sums.sum()), int(counts.sum())
    value: Point = min(1.0, max(0.0, total / n)) if n else WithheldReason.NO_ITEMS
    left_out = np.zeros(len(names))
    if len(names) >= FEWEST_GROUPS:
        left_out = np.clip(divide_or_nan(total - sums, n - counts), 0.0, 1.0)
    return make_estimate_with_jackknife_interval(
        value, left_out, 1, IntervalScale.LOGIT, n=n, level=level
    )
