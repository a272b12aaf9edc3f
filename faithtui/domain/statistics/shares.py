"""Whether a share differs between two kinds of labels, when labels come in conversations.

Blind against shown: what seeing the judge's verdict does to people. First against second verdict:
how a person drifts.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from faithtui.domain.agreement import share
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.intervals import Scale, estimate

_Kind = tuple[int, int, int, int]
"""Units and hits of the first kind, units and hits of the second."""


@dataclass(frozen=True, slots=True)
class ShareDifference:
    """Two shares and what lies between them."""

    first: Estimate
    second: Estimate
    difference: Estimate
    """First minus second, in [-1, 1]."""


def share_difference(
    flags: Iterable[tuple[str, bool, bool]], level: float = LEVEL
) -> ShareDifference:
    """Compare the share of hits among units of a first kind with that among the others.

    Conversations are left out whole, with their units of both kinds, so that it does not matter
    whether the two kinds come from the same conversations.

    Args:
        flags: (conversation, is of the first kind, is a hit) of each unit; a unit that has both
            kinds of labels is given twice.
        level: Confidence level in (0, 1).
    """
    rows = list(flags)
    by_group: dict[str, list[int]] = {}
    for group, is_first, hit in rows:
        cells = by_group.setdefault(group, [0, 0, 0, 0])
        place = 0 if is_first else 2
        cells[place] += 1
        cells[place + 1] += hit
    kinds: Counter[_Kind] = Counter((a, b, c, d) for a, b, c, d in by_group.values())
    total = _add(kinds)
    left_out = [
        (_difference((total[0] - a, total[1] - b, total[2] - c, total[3] - d)), times)
        for (a, b, c, d), times in sorted(kinds.items())
    ]
    found = estimate(_difference(total), left_out, Scale.NATURAL, n=len(rows), level=level)
    return ShareDifference(
        share(((group, hit) for group, is_first, hit in rows if is_first), level),
        share(((group, hit) for group, is_first, hit in rows if not is_first), level),
        _clipped(found),
    )


def _add(kinds: Counter[_Kind]) -> _Kind:
    a, b, c, d = (sum(kind[i] * times for kind, times in kinds.items()) for i in range(4))
    return a, b, c, d


def _difference(cells: _Kind) -> Point:
    first, first_hits, second, second_hits = cells
    if not first or not second:
        return Reason.NO_ITEMS
    return first_hits / first - second_hits / second


def _clipped(found: Estimate) -> Estimate:
    """Keep the ends where a difference of shares can be."""
    if found.ci_low is None or found.ci_high is None:
        return found
    return replace(found, ci_low=max(-1.0, found.ci_low), ci_high=min(1.0, found.ci_high))
