"""Whether a share differs between two kinds of labels, when labels come in conversations.

Blind against shown: what seeing the judge's verdict does to people. First against second verdict:
how a person drifts.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason

_NOTHING = 1e-9
"""Weights are 1 or more, so what is below this is rounding."""

_Kind = tuple[float, float, float, float]
"""Weight and weight of the hits of the first kind, then of the second."""


def share_difference(
    flags: Iterable[tuple[str, bool, bool, float]], level: float = LEVEL
) -> Estimate:
    """Compare the share of hits among units of a first kind with that among the others.

    Conversations are left out whole, with their units of both kinds, so that it does not matter
    whether the two kinds come from the same conversations.

    Args:
        flags: (conversation, is of the first kind, is a hit, weight) of each unit; a unit that has
            both kinds of labels is given twice. Weights are above 0, whole where all are alike.
        level: Confidence level in (0, 1).

    Returns:
        First share minus second, in [-1, 1]; `n` counts units.
    """
    counts: Counter[tuple[str, bool, bool, float]] = Counter(flags)
    by_group: dict[str, dict[tuple[bool, bool], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for (group, is_first, hit, weight), times in counts.items():
        by_group[group][is_first, hit].append(weight * times)
    kinds: Counter[_Kind] = Counter()
    for cells in by_group.values():
        first_hits, first = _sum(cells[True, True]), _sum(cells[True, False])
        hits, rest = _sum(cells[False, True]), _sum(cells[False, False])
        kinds[first_hits + first, first_hits, hits + rest, hits] += 1
    total = _add(kinds)
    left_out = [
        (_difference((total[0] - a, total[1] - b, total[2] - c, total[3] - d)), times)
        for (a, b, c, d), times in sorted(kinds.items())
    ]
    n = sum(counts.values())
    return _clipped(estimate(_difference(total), left_out, Scale.NATURAL, n=n, level=level))


def _sum(weights: list[float]) -> float:
    """Add up so that the order does not show; whole numbers stay whole."""
    return sum(weights) if all(isinstance(each, int) for each in weights) else math.fsum(weights)


def _add(kinds: Counter[_Kind]) -> _Kind:
    a, b, c, d = (_sum([kind[i] * times for kind, times in kinds.items()]) for i in range(4))
    return a, b, c, d


def _difference(cells: _Kind) -> Point:
    first, first_hits, second, second_hits = cells
    # What is left of a weight after its last unit is gone is rounding.
    if first <= _NOTHING or second <= _NOTHING:
        return Reason.NO_ITEMS
    return first_hits / first - second_hits / second


def _clipped(found: Estimate) -> Estimate:
    """Keep the ends where a difference of shares can be."""
    if found.ci_low is None or found.ci_high is None:
        return found
    return replace(found, ci_low=max(-1.0, found.ci_low), ci_high=min(1.0, found.ci_high))
