"""How far two orderings agree: Spearman's correlation and the area under the ROC curve.

Scores are shares of few claims and ratings have few levels, so everything is computed from a
table of (score, rating) cells; leaving out a group subtracts its cells and sorts nothing again.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.intervals import Scale, estimate

Cells = Mapping[tuple[int, int], int]
"""Number of units at (position of the score, position of the rating), each among its levels."""


def spearman(pairs: Sequence[tuple[float, float]]) -> Point:
    """Compute Spearman's rank correlation with midranks for ties, in [-1, 1].

    Undefined when one side has a single value.

    Source:
        Spearman 1904; Pearson's correlation of the midranks.
    """
    cells, sizes = _cells(pairs)
    return _spearman(cells, *sizes)


def auroc(scores: Sequence[tuple[float, bool]]) -> Point:
    """Compute the probability that a positive scores above a negative; ties count half.

    Args:
        scores: (score, is positive) of each unit.

    Returns:
        A share; undefined when one of the two classes is missing.

    Source:
        Mann & Whitney 1947; Hanley & McNeil 1982, Radiology 143:29-36.
    """
    cells, sizes = _cells([(score, float(positive)) for score, positive in scores], (0.0, 1.0))
    return _auroc(cells, *sizes)


def spearman_estimate(
    readings: Sequence[tuple[str, float, float]], level: float = LEVEL
) -> Estimate:
    """Estimate Spearman's correlation of (group, score, rating), leaving out whole groups."""
    return _by_group(readings, _spearman, Scale.ATANH, (), level)


def auroc_estimate(readings: Sequence[tuple[str, float, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the area under the curve of (group, score, is positive), leaving out groups."""
    numbers = [(group, score, float(positive)) for group, score, positive in readings]
    return _by_group(numbers, _auroc, Scale.LOGIT, (0.0, 1.0), level)


def _by_group(
    readings: Sequence[tuple[str, float, float]],
    compute: Callable[[Cells, int, int], Point],
    scale: Scale,
    declared: Sequence[float],
    level: float,
) -> Estimate:
    """Compute the figure over all cells and without each different group of cells."""
    xs = _levels((score for _, score, _ in readings), ())
    ys = _levels((rating for _, _, rating in readings), declared)
    by_group: dict[str, Counter[tuple[int, int]]] = {}
    for group, score, rating in readings:
        by_group.setdefault(group, Counter())[xs[score], ys[rating]] += 1
    total: Counter[tuple[int, int]] = Counter()
    for cells in by_group.values():
        total.update(cells)
    kinds = Counter(tuple(sorted(cells.items())) for cells in by_group.values())
    left_out = []
    for kind, times in sorted(kinds.items()):
        rest = total.copy()
        rest.subtract(dict(kind))
        left_out.append((compute(rest, len(xs), len(ys)), times))
    return estimate(compute(total, len(xs), len(ys)), left_out, scale, n=len(readings), level=level)


def _spearman(cells: Cells, width: int, height: int) -> Point:
    n = sum(cells.values())
    if not n:
        return Reason.NO_ITEMS
    x_counts, y_counts = _margins(cells, width, height)
    # Twice the midrank is a whole number, so the sums are exact.
    x_ranks, y_ranks = _double_midranks(x_counts), _double_midranks(y_counts)
    x_spread = n * sum(c * r * r for c, r in zip(x_counts, x_ranks, strict=True)) - (
        sum(c * r for c, r in zip(x_counts, x_ranks, strict=True)) ** 2
    )
    y_spread = n * sum(c * r * r for c, r in zip(y_counts, y_ranks, strict=True)) - (
        sum(c * r for c, r in zip(y_counts, y_ranks, strict=True)) ** 2
    )
    if not x_spread or not y_spread:
        return Reason.NO_VARIATION
    together = n * sum(c * x_ranks[x] * y_ranks[y] for (x, y), c in cells.items()) - (
        sum(c * r for c, r in zip(x_counts, x_ranks, strict=True))
        * sum(c * r for c, r in zip(y_counts, y_ranks, strict=True))
    )
    return min(max(together / math.sqrt(x_spread * y_spread), -1.0), 1.0)


def _auroc(cells: Cells, width: int, height: int) -> Point:
    """Compute the area; the rating at position 0 is negative, at position 1 positive."""
    if not sum(cells.values()):
        return Reason.NO_ITEMS
    _, (negatives, positives) = _margins(cells, width, height)
    if not negatives or not positives:
        return Reason.ONE_CLASS_ONLY
    won = 0
    below = 0
    for x in range(width):
        level_with = cells.get((x, 0), 0)
        won += cells.get((x, 1), 0) * (2 * below + level_with)
        below += level_with
    return won / (2 * negatives * positives)


def _cells(
    pairs: Sequence[tuple[float, float]], declared: Sequence[float] = ()
) -> tuple[Counter[tuple[int, int]], tuple[int, int]]:
    xs = _levels((x for x, _ in pairs), ())
    ys = _levels((y for _, y in pairs), declared)
    return Counter((xs[x], ys[y]) for x, y in pairs), (len(xs), len(ys))


def _levels(values: Iterable[float], declared: Sequence[float]) -> dict[float, int]:
    return {value: i for i, value in enumerate(sorted({*values, *declared}))}


def _margins(cells: Cells, width: int, height: int) -> tuple[list[int], list[int]]:
    x_counts, y_counts = [0] * width, [0] * height
    for (x, y), count in cells.items():
        x_counts[x] += count
        y_counts[y] += count
    return x_counts, y_counts


def _double_midranks(counts: Sequence[int]) -> list[int]:
    ranks = []
    below = 0
    for count in counts:
        ranks.append(2 * below + count + 1)
        below += count
    return ranks
