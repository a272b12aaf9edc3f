"""Counts of units by two ordered values: what rank statistics and their leave-out values need.

Scores are shares of few claims and ratings have few levels, so there are fewer cells than units.
Leaving out a group must not count everything again: what a unit adds to a sum over pairs depends
only on how many units lie above it, beside it and below it, and that is counted once for all.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

Place = tuple[int, int]
"""(position of the first value, position of the second), each among its levels, from 0."""

Cells = Mapping[Place, int]
"""Number of units at each point; points without units may be missing."""


@dataclass(frozen=True, slots=True)
class GroupedCells:
    """Cells that know which units belong together."""

    total: Cells
    kinds: tuple[tuple[Cells, int], ...]
    """Different cells of groups, and how many groups have each. Sorted."""
    width: int
    """Levels of the first value."""
    height: int
    """Levels of the second value."""

    @property
    def n(self) -> int:
        """Number of units."""
        return sum(self.total.values())


def cells_of(
    pairs: Iterable[tuple[float, float]], declared: Sequence[float] = ()
) -> tuple[Counter[Place], int, int]:
    """Count pairs into cells.

    Args:
        pairs: Two values of each unit.
        declared: Levels of the second value that there are even when nobody used them.

    Returns:
        The cells, the number of levels of the first value, and of the second.
    """
    grouped = group_cells((("", x, y) for x, y in pairs), declared)
    return Counter(grouped.total), grouped.width, grouped.height


def group_cells(
    readings: Iterable[tuple[str, float, float]], declared: Sequence[float] = ()
) -> GroupedCells:
    """Count (group, first value, second value) into cells; `declared` as for `cells_of`."""
    rows = list(readings)
    xs = _levels(x for _, x, _ in rows)
    ys = _levels((y for _, _, y in rows), declared)
    by_group: dict[str, list[Place]] = defaultdict(list)
    for group, x, y in rows:
        by_group[group].append((xs[x], ys[y]))
    alike = Counter(tuple(sorted(places)) for places in by_group.values())
    kinds = sorted((tuple(Counter(places).items()), times) for places, times in alike.items())
    total: Counter[Place] = Counter()
    for cells, times in kinds:
        for place, count in cells:
            total[place] += times * count
    return GroupedCells(
        total,
        tuple((dict(cells), times) for cells, times in kinds),
        len(xs),
        len(ys),
    )


def margins(cells: Cells, width: int, height: int) -> tuple[list[int], list[int]]:
    """Count the units at each level of the first value, and of the second."""
    x_counts, y_counts = [0] * width, [0] * height
    for (x, y), count in cells.items():
        x_counts[x] += count
        y_counts[y] += count
    return x_counts, y_counts


def above(counts: Sequence[int]) -> list[int]:
    """Say for each level how many units have a higher one."""
    found = [0] * len(counts)
    for level in range(len(counts) - 2, -1, -1):
        found[level] = found[level + 1] + counts[level + 1]
    return found


def double_midranks(counts: Sequence[int]) -> list[int]:
    """Give twice the midrank of each level, which is a whole number, so that sums are exact."""
    ranks = []
    below = 0
    for count in counts:
        ranks.append(2 * below + count + 1)
        below += count
    return ranks


@dataclass(frozen=True, slots=True)
class Around:
    """How many units lie above a point in both values, and level with it in one of them."""

    both: int
    """Both values are higher."""
    x_only: int
    """The first value is higher, the second equal."""
    y_only: int
    """The second value is higher, the first equal."""


def around(cells: Cells, points: Collection[Place]) -> dict[Place, Around]:
    """Count what lies above points; n cells and m points take (n + m) log n steps.

    Source:
        Fenwick 1994, Software: Practice and Experience 24:327-336, for the running counts;
        Knight 1966, Journal of the American Statistical Association 61:436-439, for the idea.
    """
    if not points:
        return {}
    height = 1 + max(y for _, y in (*cells, *points))
    tree = [0] * (height + 1)
    level_y = [0] * height
    by_x: dict[int, list[tuple[int, int]]] = {}
    for (x, y), count in cells.items():
        by_x.setdefault(x, []).append((y, count))
    asked: dict[int, list[int]] = {}
    for x, y in points:
        asked.setdefault(x, []).append(y)
    found: dict[Place, Around] = {}
    for x in sorted(by_x.keys() | asked.keys(), reverse=True):
        here = sorted(by_x.get(x, ()), reverse=True)
        place = same_x = 0
        for y in sorted(asked.get(x, ()), reverse=True):
            while place < len(here) and here[place][0] > y:
                same_x += here[place][1]
                place += 1
            found[x, y] = Around(_higher(tree, y), level_y[y], same_x)
        for y, count in here:
            level_y[y] += count
            _add(tree, y, count)
    return found


def _add(tree: list[int], level: int, count: int) -> None:
    """Count units at a level; node i of the tree counts levels from the top down."""
    node = len(tree) - 1 - level
    while node < len(tree):
        tree[node] += count
        node += node & -node


def _higher(tree: Sequence[int], level: int) -> int:
    """Say how many units were counted at higher levels."""
    node = len(tree) - 2 - level
    total = 0
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


def _levels(values: Iterable[float], declared: Sequence[float] = ()) -> dict[float, int]:
    return {value: i for i, value in enumerate(sorted({*values, *declared}))}
