"""How far two orderings agree: Spearman's correlation and the area under the ROC curve.

Scores are shares of few claims and ratings have few levels, so everything is computed from a
table of (score, rating) cells; leaving out a group subtracts its part and counts nothing again.
"""

import math
from collections.abc import Sequence

from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.agreement.statistics.joint_counts import (
    Cells,
    GroupedCells,
    above,
    around,
    cells_of,
    double_midranks,
    group_cells,
    margins,
)
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason


def spearman(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute Spearman's rank correlation with midranks for ties, in [-1, 1].

    Undefined when one side has a single value.

    Source:
        Spearman 1904; Pearson's correlation of the midranks.
    """
    return spearman_of_cells(*cells_of(pairs))


def auroc(scores: Sequence[tuple[float, bool]]) -> Point:
    """Compute the probability that a positive scores above a negative; ties count half.

    Args:
        scores: (score, is positive) of each unit.

    Returns:
        A share; undefined when one of the two classes is missing.

    Source:
        Mann & Whitney 1947; Hanley & McNeil 1982, Radiology 143:29-36.
    """
    cells, width, _ = cells_of([(score, float(positive)) for score, positive in scores], (0.0, 1.0))
    return auroc_of_cells(cells, width)


def spearman_estimate(
    readings: Sequence[tuple[str, float, float]], level: float = LEVEL
) -> Estimate:
    """Estimate Spearman's correlation of (group, score, rating), leaving out whole groups."""
    grouped = group_cells(readings)
    return estimate(
        spearman_of_cells(grouped.total, grouped.width, grouped.height),
        _spearman_left_out(grouped),
        Scale.ATANH,
        n=grouped.n,
        level=level,
    )


def auroc_estimate(readings: Sequence[tuple[str, float, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the area under the curve of (group, score, is positive), leaving out groups."""
    grouped = group_cells(
        ((group, score, float(positive)) for group, score, positive in readings), (0.0, 1.0)
    )
    return estimate(
        auroc_of_cells(grouped.total, grouped.width),
        _auroc_left_out(grouped),
        Scale.LOGIT,
        n=grouped.n,
        level=level,
    )


def spearman_of_cells(cells: Cells, width: int, height: int) -> Point:
    """Compute Spearman's correlation of counted units, see `spearman`."""
    x_counts, y_counts = margins(cells, width, height)
    x_ranks, y_ranks = double_midranks(x_counts), double_midranks(y_counts)
    return _correlation(
        sum(x_counts),
        sum(count * x_ranks[x] * y_ranks[y] for (x, y), count in cells.items()),
        _cubes(x_counts),
        _cubes(y_counts),
    )


def auroc_of_cells(cells: Cells, width: int) -> Point:
    """Compute the area of counted units, see `auroc`.

    Args:
        cells: Second position 0 is negative, 1 positive.
        width: Levels of the score.
    """
    _, (negatives, positives) = margins(cells, width, 2)
    return _area(_won(cells), negatives, positives)


def _correlation(n: int, together: int, x_cubes: int, y_cubes: int) -> Point:
    """Compute the correlation of doubled midranks.

    Args:
        n: Units.
        together: Sum of the products of their doubled midranks.
        x_cubes: Sum of the cubes of the numbers of units that tie in the first value.
        y_cubes: In the second value.
    """
    if not n:
        return Reason.NO_ITEMS
    # n times the sum of squares less the square of the sum, both doubled; ties narrow it.
    x_spread, y_spread = (n * (n**3 - cubes) // 3 for cubes in (x_cubes, y_cubes))
    if not x_spread or not y_spread:
        return Reason.NO_VARIATION
    joint = n * together - (n * (n + 1)) ** 2
    return min(max(joint / math.sqrt(x_spread * y_spread), -1.0), 1.0)


def _spearman_left_out(grouped: GroupedCells) -> list[tuple[Point, int]]:
    """Compute the correlation without each different group.

    A unit that leaves lowers the doubled rank of every higher one by 2 and of every equal one by
    1; so the sum of products changes by sums over the units around the point that leaves.
    """
    total = grouped.total
    x_counts, y_counts = margins(total, grouped.width, grouped.height)
    x_ranks, y_ranks = double_midranks(x_counts), double_midranks(y_counts)
    n = sum(x_counts)
    together = 0
    y_of_x, x_of_y = [0] * grouped.width, [0] * grouped.height
    for (x, y), count in total.items():
        together += count * x_ranks[x] * y_ranks[y]
        y_of_x[x] += count * y_ranks[y]
        x_of_y[y] += count * x_ranks[x]
    x_lost = [2 * high + here for high, here in zip(above(y_of_x), y_of_x, strict=True)]
    y_lost = [2 * high + here for high, here in zip(above(x_of_y), x_of_y, strict=True)]
    points = {(x, y) for kind, _ in grouped.kinds for x, _ in kind for _, y in kind}
    near = around(total, points)
    both_lost = {
        point: 4 * at.both + 2 * (at.x_only + at.y_only) + total.get(point, 0)
        for point, at in near.items()
    }
    x_cubes, y_cubes = _cubes(x_counts), _cubes(y_counts)
    left_out = []
    for kind, times in grouped.kinds:
        xs, ys = _sides(kind)
        rest = (
            together
            - sum(count * x_lost[x] for x, count in xs.items())
            - sum(count * y_lost[y] for y, count in ys.items())
            + sum(a * b * both_lost[x, y] for x, a in xs.items() for y, b in ys.items())
            - sum(
                count * (x_ranks[x] - _lowered(x, xs)) * (y_ranks[y] - _lowered(y, ys))
                for (x, y), count in kind.items()
            )
        )
        value = _correlation(
            n - sum(xs.values()),
            rest,
            x_cubes - _cubes_lost(x_counts, xs),
            y_cubes - _cubes_lost(y_counts, ys),
        )
        left_out.append((value, times))
    return left_out


def _auroc_left_out(grouped: GroupedCells) -> list[tuple[Point, int]]:
    """Compute the area without each different group: its pairs leave, with it and within it."""
    total, width = grouped.total, grouped.width
    _, (negatives, positives) = margins(total, width, 2)
    lows = [total.get((x, 0), 0) for x in range(width)]
    highs = [total.get((x, 1), 0) for x in range(width)]
    lows_above = above(lows)
    # Twice what a positive at a level wins, and twice what a negative there loses.
    wins = [2 * (negatives - lows_above[x]) - lows[x] for x in range(width)]
    losses = [2 * higher + here for higher, here in zip(above(highs), highs, strict=True)]
    won = _won(total)
    left_out = []
    for kind, times in grouped.kinds:
        lost = sum(
            count * (wins[x] if is_positive else losses[x])
            for (x, is_positive), count in kind.items()
        )
        gone = sum(count for (_, is_positive), count in kind.items() if is_positive)
        value = _area(
            won - lost + _won(kind),
            negatives - sum(kind.values()) + gone,
            positives - gone,
        )
        left_out.append((value, times))
    return left_out


def _won(cells: Cells) -> int:
    """Count pairs in which the positive scores higher, twice, and ties once."""
    won = below = 0
    for x in sorted({x for x, _ in cells}):
        level_with = cells.get((x, 0), 0)
        won += cells.get((x, 1), 0) * (2 * below + level_with)
        below += level_with
    return won


def _area(won: int, negatives: int, positives: int) -> Point:
    if not negatives + positives:
        return Reason.NO_ITEMS
    if not negatives or not positives:
        return Reason.ONE_CLASS_ONLY
    return won / (2 * negatives * positives)


def _sides(kind: Cells) -> tuple[dict[int, int], dict[int, int]]:
    """Count the units of a group by each value."""
    xs: dict[int, int] = {}
    ys: dict[int, int] = {}
    for (x, y), count in kind.items():
        xs[x] = xs.get(x, 0) + count
        ys[y] = ys.get(y, 0) + count
    return xs, ys


def _lowered(level: int, gone: dict[int, int]) -> int:
    """Say by how much the doubled rank of a level falls when units leave."""
    return sum(count * (2 * (other < level) + (other == level)) for other, count in gone.items())


def _cubes(counts: Sequence[int]) -> int:
    return sum(count**3 for count in counts)


def _cubes_lost(counts: Sequence[int], gone: dict[int, int]) -> int:
    return sum(counts[level] ** 3 - (counts[level] - left) ** 3 for level, left in gone.items())
