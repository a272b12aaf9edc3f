"""How far two orderings agree: Spearman, Kendall's tau-b and the area under the ROC curve.

Scores are shares of few claims and ratings have few levels, so units are counted by their two
levels first. Intervals leave out whole groups, all groups in one pass.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from faithtui.agreement.statistics.figures import divide_or_nan
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import Floats, Ints, number_distinct_keys_by_occurrence
from faithtui.domain.estimates import FEWEST_GROUPS, LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

_AT_ONCE = 4_000_000
"""Numbers held at a time, some 32 MB."""

Levels = Mapping[float, tuple[int, int]]
"""Negatives and positives at each score."""


@dataclass(frozen=True, slots=True, eq=False)
class JointCounts:
    """Units counted by the levels of two values."""

    x: Ints
    """Level of the first value of each cell, from 0 in rising order; shape (cells,)."""
    y: Ints
    """Level of the second value of each cell."""
    counts: Ints
    """Units of each cell."""
    groups: Ints
    """Number of the group of each part of a cell, from 0; shape (parts,), rising."""
    cells: Ints
    """Cell of each part."""
    parts: Ints
    """Units of each part."""

    @classmethod
    def from_pairs(
        cls, x: npt.ArrayLike, y: npt.ArrayLike, groups: Sequence[str] | None = None
    ) -> "JointCounts":
        """Count units.

        Args:
            x: First value of each.
            y: Second value of each.
            groups: Group of each; None: all are of one.
        """
        x_levels = np.unique(np.asarray(x, dtype=np.float64), return_inverse=True)[1]
        y_levels = np.unique(np.asarray(y, dtype=np.float64), return_inverse=True)[1]
        number = (
            np.zeros(len(x_levels), np.int64)
            if groups is None
            else number_distinct_keys_by_occurrence(groups)[0]
        )
        return cls.from_counts(x_levels, y_levels, np.ones_like(x_levels), number)

    @classmethod
    def from_counts(
        cls, x: Ints, y: Ints, counts: Ints, groups: Ints | None = None
    ) -> "JointCounts":
        """Take levels that are numbered and may be counted already.

        Args:
            x: Level of the first value, from 0.
            y: Level of the second value, from 0.
            counts: Units of both levels.
            groups: Number of their group, from 0; None: all are of one.
        """
        height = int(y.max(initial=0)) + 1
        points, which = np.unique(x * height + y, return_inverse=True)
        number = np.zeros(len(x), np.int64) if groups is None else groups
        keys, own = np.unique(number * max(1, len(points)) + which, return_inverse=True)
        return cls(
            points // height,
            points % height,
            _sum_numbers_by_index(which, counts, len(points)),
            keys // max(1, len(points)),
            keys % max(1, len(points)),
            _sum_numbers_by_index(own, counts, len(keys)),
        )

    @property
    def n(self) -> int:
        """Number of units."""
        return int(self.counts.sum())

    @property
    def group_sizes(self) -> Ints:
        """Units of each group."""
        return _sum_numbers_by_index(self.groups, self.parts, int(self.groups.max(initial=-1)) + 1)


def _sum_numbers_by_index(places: Ints, numbers: Ints, size: int) -> Ints:
    """Add whole numbers up by place."""
    return np.bincount(places, weights=numbers, minlength=size).astype(np.int64)


def spearman(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute Spearman's rank correlation with midranks for ties, in [-1, 1].

    Args:
        pairs: Two values of each unit, in any order.

    Returns:
        Undefined without units (`NO_ITEMS`), and when one side has a single value
        (`NO_VARIATION`).

    Source:
        Spearman 1904, American Journal of Psychology 15:72-101; Pearson's correlation of the
        midranks.
    """
    return spearman_of_counts(_make_joint_counts(pairs))


def kendall_tau_b(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute tau-b, in [-1, 1]; undefined as `spearman` is.

    Args:
        pairs: Two values of each unit, in any order.

    Source:
        Kendall 1945, Biometrika 33:239-251: (concordant - discordant) / sqrt(pairs that differ in
        the first value * pairs that differ in the second).
    """
    return kendall_of_counts(_make_joint_counts(pairs))


def auroc(scores: Sequence[tuple[float, bool]]) -> Point:
    """Compute the probability that a positive scores above a negative; ties count half.

    Args:
        scores: (score, is positive) of each unit.

    Returns:
        In [0, 1]; undefined without units (`NO_ITEMS`), and when one of the two classes is missing
        (`ONE_CLASS_ONLY`).

    Source:
        Mann & Whitney 1947; Hanley & McNeil 1982, Radiology 143:29-36.
    """
    found = delong_auroc_interval(count_classes_by_score(scores))
    return found if isinstance(found, WithheldReason) else found.value


def estimate_spearman(units: Sequence[tuple[str, float, float]], level: float = LEVEL) -> Estimate:
    """Estimate Spearman's correlation, leaving out one group at a time.

    Args:
        units: (group, first value, second value) of each, in any order.
        level: Confidence level in (0, 1).
    """
    joint = _make_grouped_joint_counts(units)
    value = spearman_of_counts(joint)
    return _estimate_by_jackknife(
        value, _compute_spearman_without_each_group, joint, IntervalScale.ATANH, level
    )


def estimate_kendall(units: Sequence[tuple[str, float, float]], level: float = LEVEL) -> Estimate:
    """Estimate tau-b, leaving out one group at a time; arguments as of `estimate_spearman`."""
    joint = _make_grouped_joint_counts(units)
    return _estimate_by_jackknife(
        kendall_of_counts(joint),
        _compute_kendall_without_each_group,
        joint,
        IntervalScale.ATANH,
        level,
    )


def estimate_auroc(units: Sequence[tuple[str, float, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the area under the curve, leaving out one group at a time.

    Args:
        units: (group, score, is positive) of each, in any order.
        level: Confidence level in (0, 1).
    """
    joint = _make_grouped_joint_counts(
        [(group, score, float(positive)) for group, score, positive in units]
    )
    value = auroc([(score, positive) for _, score, positive in units])
    return _estimate_by_jackknife(
        value, _compute_auroc_without_each_group, joint, IntervalScale.LOGIT, level
    )


def _make_joint_counts(pairs: Sequence[tuple[float, float]]) -> JointCounts:
    return JointCounts.from_pairs([x for x, _ in pairs], [y for _, y in pairs])


def _make_grouped_joint_counts(units: Sequence[tuple[str, float, float]]) -> JointCounts:
    return JointCounts.from_pairs(
        [x for _, x, _ in units], [y for *_, y in units], [group for group, *_ in units]
    )


def _estimate_by_jackknife(
    value: Point,
    leave_out: Callable[[JointCounts], Floats],
    joint: JointCounts,
    scale: IntervalScale,
    level: float,
) -> Estimate:
    groups = len(joint.group_sizes)
    known = groups >= FEWEST_GROUPS and not isinstance(value, WithheldReason)
    # Sorted, so that the order of groups does not show in the last digit.
    left_out = np.sort(leave_out(joint)) if known else np.zeros(groups)
    return make_estimate_with_jackknife_interval(value, left_out, 1, scale, n=joint.n, level=level)


def spearman_of_counts(joint: JointCounts) -> Point:
    """Compute Spearman's correlation of counted units, see `spearman`."""
    n = joint.n
    if not n:
        return WithheldReason.NO_ITEMS
    x_counts, y_counts = _count_units_by_level(joint)
    x_ranks, y_ranks = _double_midranks(x_counts) - (n + 1), _double_midranks(y_counts) - (n + 1)
    together = float((joint.counts * x_ranks[joint.x]) @ y_ranks[joint.y].astype(np.float64))
    spread = (n**3 - (x_counts**3).sum()) / 3 * ((n**3 - (y_counts**3).sum()) / 3)
    if not spread:
        return WithheldReason.NO_VARIATION
    return min(max(together / math.sqrt(spread), -1.0), 1.0)


def kendall_of_counts(joint: JointCounts) -> Point:
    """Compute tau-b of counted units, see `kendall_tau_b`."""
    n = joint.n
    if not n:
        return WithheldReason.NO_ITEMS
    x_untied, y_untied = (
        _count_all_pairs(n) - _count_ties(each) for each in _count_units_by_level(joint)
    )
    if not x_untied or not y_untied:
        return WithheldReason.NO_VARIATION
    balance = joint.counts @ _sum_concordance_signs(joint.x, joint.y, joint.counts) / 2
    return min(max(float(balance) / math.sqrt(float(x_untied) * float(y_untied)), -1.0), 1.0)


def _count_units_by_level(joint: JointCounts) -> tuple[Ints, Ints]:
    """Count the units at each level of the first value, and of the second."""
    x_size, y_size = int(joint.x.max(initial=-1)) + 1, int(joint.y.max(initial=-1)) + 1
    return _sum_numbers_by_index(joint.x, joint.counts, x_size), _sum_numbers_by_index(
        joint.y, joint.counts, y_size
    )


def _double_midranks(counts: Ints) -> Ints:
    """Give twice the midrank of each level, which is a whole number, so that sums are exact."""
    return np.asarray(2 * np.cumsum(counts, axis=-1) - counts + 1)


def _count_all_pairs(n: npt.ArrayLike) -> Ints:
    units = np.asarray(n)
    return np.asarray(units * (units - 1) // 2)


def _count_ties(counts: Ints) -> Ints:
    return np.asarray(_count_all_pairs(counts).sum(axis=-1))


def _compute_spearman_without_each_group(joint: JointCounts) -> Floats:
    """Compute the correlation without each group, from the ranks among the units that are left."""
    x_counts, y_counts = _count_units_by_level(joint)
    found = []
    size = len(joint.x) + len(x_counts) + len(y_counts)
    at_once = max(1, _AT_ONCE // size)
    sizes = joint.group_sizes
    for first in range(0, len(sizes), at_once):
        last = min(first + at_once, len(sizes))
        here = slice(*np.searchsorted(joint.groups, [first, last]).tolist())
        groups, cells, parts = joint.groups[here] - first, joint.cells[here], joint.parts[here]
        n = joint.n - sizes[first:last]
        own = np.zeros((last - first, len(joint.x)), np.int64)
        own[groups, cells] = parts
        x_rest = x_counts - _count_levels_of_groups(groups, joint.x[cells], parts, x_counts, n)
        y_rest = y_counts - _count_levels_of_groups(groups, joint.y[cells], parts, y_counts, n)
        x_ranks = _double_midranks(x_rest) - (n + 1)[:, None]
        y_ranks = _double_midranks(y_rest) - (n + 1)[:, None]
        products = x_ranks[:, joint.x].astype(np.float64) * y_ranks[:, joint.y]
        together = (products * (joint.counts - own)).sum(axis=1)
        spread = (n**3 - (x_rest**3).sum(axis=1)) / 3 * ((n**3 - (y_rest**3).sum(axis=1)) / 3)
        found.append(np.clip(divide_or_nan(together, np.sqrt(spread)), -1.0, 1.0))
    return np.concatenate(found)


def _count_levels_of_groups(
    groups: Ints, levels: Ints, parts: Ints, counts: Ints, sizes: Ints
) -> Ints:
    """Count the units of each group at each level; shape (groups, levels)."""
    found = _sum_numbers_by_index(groups * len(counts) + levels, parts, len(sizes) * len(counts))
    return found.reshape(len(sizes), len(counts))


def _compute_kendall_without_each_group(joint: JointCounts) -> Floats:
    """Compute tau-b without each group: its pairs leave, with the others and within it."""
    signs = _sum_concordance_signs(joint.x, joint.y, joint.counts)
    x, y, sizes = joint.x[joint.cells], joint.y[joint.cells], joint.group_sizes
    within = _sum_concordance_signs(x, y, joint.parts, joint.groups)
    gone = _sum_numbers_by_index(joint.groups, joint.parts * signs[joint.cells], len(sizes))
    inside = _sum_numbers_by_index(joint.groups, joint.parts * within, len(sizes))
    balance = (joint.counts @ signs) / 2 - gone + inside / 2
    n = joint.n - sizes
    x_counts, y_counts = _count_units_by_level(joint)
    untied = [
        _count_all_pairs(n) - _count_ties(counts) + _count_lost_ties(joint, levels, counts)
        for levels, counts in ((x, x_counts), (y, y_counts))
    ]
    spread = np.sqrt(untied[0].astype(np.float64) * untied[1])
    return np.clip(divide_or_nan(balance, spread), -1.0, 1.0)


def _count_lost_ties(joint: JointCounts, levels: Ints, counts: Ints) -> Ints:
    """Count the tied pairs that leave with each group.

    Args:
        joint: All units.
        levels: Level of each part, of the value that is looked at.
        counts: Units at each level.
    """
    keys, which = np.unique(joint.groups * len(counts) + levels, return_inverse=True)
    own = _sum_numbers_by_index(which, joint.parts, len(keys))
    whole = counts[keys % len(counts)]
    lost = _count_all_pairs(whole) - _count_all_pairs(whole - own)
    return _sum_numbers_by_index(keys // len(counts), lost, len(joint.group_sizes))


def _sum_concordance_signs(x: Ints, y: Ints, counts: Ints, block: Ints | None = None) -> Ints:
    """Sum over all units of a block sign(x - theirs) sign(y - theirs), for each cell.

    Args:
        x: Level of the first value of each cell.
        y: Level of the second value.
        counts: Units of each cell.
        block: Cells of different blocks are not compared; None: all are of one.
    """
    blocks = np.zeros_like(x) if block is None else block
    turned_x, turned_y = x.max(initial=0) - x, y.max(initial=0) - y
    return np.asarray(
        _count_units_lower_in_both(blocks, x, y, counts)
        + _count_units_lower_in_both(blocks, turned_x, turned_y, counts)
        - _count_units_lower_in_both(blocks, x, turned_y, counts)
        - _count_units_lower_in_both(blocks, turned_x, y, counts)
    )


def _count_units_lower_in_both(blocks: Ints, x: Ints, y: Ints, counts: Ints) -> Ints:
    """Count for each cell the units of its block that are lower in both values.

    Two levels of x first differ at one bit: those with 0 there are lower. So for each bit, cells
    that are alike before it are put in the order of y, and the units with 0 are counted along.
    """
    found = np.zeros_like(counts)
    for bit in range(int(x.max(initial=0)).bit_length()):
        node = (blocks << 32) + (x >> (bit + 1))
        is_higher = (x >> bit) & 1
        # Of equal y the higher ones come first, so that they do not count the others.
        order = np.lexsort((1 - is_higher, y, node))
        lower = np.where(is_higher[order] == 0, counts[order], 0)
        before = np.cumsum(lower) - lower
        starts = np.flatnonzero(np.diff(node[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(order)))
        before -= np.repeat(before[starts], sizes)
        found[order] += np.where(is_higher[order] == 1, before, 0)
    return found


def _compute_auroc_without_each_group(joint: JointCounts) -> Floats:
    """Compute the area without each group: its pairs leave, with the others and within it."""
    is_high = joint.y == 1
    width = int(joint.x.max(initial=0)) + 1
    lows = _sum_numbers_by_index(joint.x[~is_high], joint.counts[~is_high], width)
    highs = _sum_numbers_by_index(joint.x[is_high], joint.counts[is_high], width)
    # Twice what a positive at a level wins, and twice what a negative there loses.
    wins = 2 * np.cumsum(lows) - lows
    losses = 2 * (highs.sum() - np.cumsum(highs)) + highs
    x, high, sizes = joint.x[joint.cells], is_high[joint.cells], joint.group_sizes
    gone = _sum_numbers_by_index(
        joint.groups, joint.parts * np.where(high, wins[x], losses[x]), len(sizes)
    )
    # Within groups: a positive wins against what of its group lies below it, and half of ties.
    own_lows = np.where(high, 0, joint.parts)
    below = np.cumsum(own_lows) - own_lows
    starts = np.searchsorted(joint.groups, np.arange(len(sizes)))
    below -= np.repeat(below[starts], np.diff(np.append(starts, len(x))))
    # Cells are sorted by x, then y: a negative of the same score stands just before.
    tied = np.zeros_like(own_lows)
    pairs = (x[1:] == x[:-1]) & (joint.groups[1:] == joint.groups[:-1]) & high[1:] & ~high[:-1]
    tied[1:][pairs] = own_lows[:-1][pairs]
    inside = _sum_numbers_by_index(
        joint.groups, np.where(high, joint.parts * (2 * below - tied), 0), len(sizes)
    )
    own_highs = _sum_numbers_by_index(joint.groups, np.where(high, joint.parts, 0), len(sizes))
    positives = highs.sum() - own_highs
    negatives = lows.sum() - (sizes - own_highs)
    won = highs @ wins - gone + inside
    return divide_or_nan(won, 2 * negatives * positives)


@dataclass(frozen=True, slots=True)
class RocArea:
    """An area under the ROC curve with the interval of independent units."""

    value: float
    """Probability that a positive scores above a negative, ties counting half; in [0, 1]."""
    se: float | None
    """None with a single unit of a class, and when nothing varies, as with perfect separation:
    the formula would claim that nothing is left to doubt."""
    ci_low: float | None
    ci_high: float | None


def delong_auroc_interval(levels: Levels, level: float = LEVEL) -> RocArea | WithheldReason:
    """Compute the area and its normal interval, clipped to [0, 1].

    Units count as independent; `estimate_auroc` leaves out whole conversations.

    Args:
        levels: Counts per score, in any order.
        level: Confidence level in (0, 1).

    Returns:
        `NO_ITEMS` or `ONE_CLASS_ONLY` when there is no area.

    Source:
        DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837-845, with the midranks of Sun & Xu
        2014, IEEE Signal Processing Letters 21:1389-1393; clipped as in pROC, ci.auc.
    """
    table = np.array([levels[score] for score in sorted(levels)], np.int64).reshape(-1, 2)
    lows, highs = table.T
    negatives, positives = int(lows.sum()), int(highs.sum())
    if not negatives + positives:
        return WithheldReason.NO_ITEMS
    if not negatives or not positives:
        return WithheldReason.ONE_CLASS_ONLY
    # What one positive of a level wins against all negatives, and one negative against positives.
    won = (np.cumsum(lows) - lows / 2) / negatives
    lost = (positives - np.cumsum(highs) + highs / 2) / positives
    value = float(highs @ (2 * np.cumsum(lows) - lows)) / (2 * negatives * positives)
    variance = sum(
        float(counts @ (values - value) ** 2) / max(1, n - 1) / n
        for values, counts, n in ((won, highs, positives), (lost, lows, negatives))
    )
    if min(negatives, positives) < 2 or not variance:
        return RocArea(value, None, None, None)
    se = math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + level) / 2) * se
    return RocArea(value, se, max(0.0, value - half), min(1.0, value + half))


def count_classes_by_score(scores: Iterable[tuple[float, bool]]) -> Levels:
    """Count the units of each score.

    Args:
        scores: (score, is positive) of each unit.

    Returns:
        Score -> (negatives, positives).
    """
    found: dict[float, tuple[int, int]] = {}
    for score, positive in scores:
        low, high = found.get(score, (0, 0))
        found[score] = (low + (not positive), high + bool(positive))
    return found
