"""Kendall's tau-b: how many pairs of units two orderings put the same way round."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.agreement.statistics.joint_counts import (
    Cells,
    GroupedCells,
    above,
    around,
    cells_of,
    group_cells,
    margins,
)
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason


def kendall_tau_b(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute tau-b, in [-1, 1]; n units take n log n steps.

    Undefined when one side has a single value.

    Source:
        Kendall 1945, Biometrika 33:239-251: (concordant - discordant) / sqrt(pairs that differ in
        the first value * pairs that differ in the second).
    """
    return kendall_of_cells(*cells_of(pairs))


def kendall_of_cells(cells: Cells, width: int, height: int) -> Point:
    """Compute tau-b of counted units, see `kendall_tau_b`."""
    x_counts, y_counts = margins(cells, width, height)
    n = sum(x_counts)
    near = around(cells, cells.keys())
    concordant = sum(count * near[point].both for point, count in cells.items())
    # Of the pairs that differ in both values, those not concordant are discordant.
    differing = _pairs(n) - _ties(x_counts) - _ties(y_counts) + _ties(cells.values())
    return _tau(2 * concordant - differing, n, _ties(x_counts), _ties(y_counts))


def kendall_estimate(
    readings: Sequence[tuple[str, float, float]], level: float = LEVEL
) -> Estimate:
    """Estimate tau-b of (group, first value, second value), leaving out whole groups."""
    grouped = group_cells(readings)
    return estimate(
        kendall_of_cells(grouped.total, grouped.width, grouped.height),
        _left_out(grouped),
        Scale.ATANH,
        n=grouped.n,
        level=level,
    )


def _left_out(grouped: GroupedCells) -> list[tuple[Point, int]]:
    """Compute tau-b without each different group: its pairs leave, with it and within it."""
    total = grouped.total
    x_counts, y_counts = margins(total, grouped.width, grouped.height)
    n = sum(x_counts)
    x_above, y_above = above(x_counts), above(y_counts)
    balances: dict[tuple[int, int], int] = {}
    for (x, y), at in around(total, total.keys()).items():
        higher_lower = x_above[x] - at.both - at.x_only
        lower_higher = y_above[y] - at.both - at.y_only
        level_lower = y_counts[y] - total[x, y] - at.x_only
        lower_lower = n - x_above[x] - x_counts[x] - lower_higher - level_lower
        balances[x, y] = at.both + lower_lower - higher_lower - lower_higher
    whole = sum(count * balances[point] for point, count in total.items()) // 2
    x_ties, y_ties = _ties(x_counts), _ties(y_counts)
    left_out = []
    for kind, times in grouped.kinds:
        within = 0
        xs: Counter[int] = Counter()
        ys: Counter[int] = Counter()
        for (x, y), count in kind.items():
            xs[x] += count
            ys[y] += count
            for (x2, y2), others in kind.items():
                within += count * others * ((x > x2) - (x < x2)) * ((y > y2) - (y < y2))
        gone = sum(count * balances[point] for point, count in kind.items())
        value = _tau(
            whole - gone + within // 2,
            n - sum(kind.values()),
            x_ties - _ties_lost(x_counts, xs),
            y_ties - _ties_lost(y_counts, ys),
        )
        left_out.append((value, times))
    return left_out


def _tau(balance: int, n: int, x_ties: int, y_ties: int) -> Point:
    """Compute tau-b from concordant less discordant pairs, and pairs that tie."""
    if not n:
        return Reason.NO_ITEMS
    x_untied, y_untied = _pairs(n) - x_ties, _pairs(n) - y_ties
    if not x_untied or not y_untied:
        return Reason.NO_VARIATION
    return min(max(balance / math.sqrt(x_untied * y_untied), -1.0), 1.0)


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


def _ties(counts: Iterable[int]) -> int:
    return sum(map(_pairs, counts))


def _ties_lost(counts: Sequence[int], gone: Mapping[int, int]) -> int:
    return sum(_pairs(counts[at]) - _pairs(counts[at] - left) for at, left in gone.items())
