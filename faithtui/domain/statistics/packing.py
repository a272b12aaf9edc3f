"""Counts of groups, each group's packed into one whole number.

A million units have a hundred thousand groups. Adding to a long number and counting equal numbers
are single steps of the interpreter, where a table per group would be hundreds of objects.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

NameT = TypeVar("NameT", int, str)

_BITS = 32
"""Of a count, where it is not known how large one can become."""


class PackedGroups:
    """Counts that grow, by group."""

    __slots__ = ("_by_group", "_mask", "_shifts", "ones")

    def __init__(self, size: int, most: int | None = None) -> None:
        """Begin without any group.

        Args:
            size: Counts of each group.
            most: The largest that a count can become; None: not known.
        """
        width = _BITS if most is None else max(1, most.bit_length())
        self._shifts = tuple(width * place for place in range(size))
        self._mask = (1 << width) - 1
        self._by_group: dict[str, int] = {}
        self.ones = tuple(1 << shift for shift in self._shifts)
        """What adds one to each count; sums of them add to several counts at once."""

    def add(self, units: Iterable[tuple[str, int]]) -> None:
        """Add to the counts of groups: per unit its group, and one of `ones` or a sum of some."""
        found = self._by_group
        known = found.get
        for group, more in units:
            found[group] = known(group, 0) + more

    def kinds(self) -> dict[tuple[int, ...], int]:
        """Give the different counts of groups, and how many groups have each."""
        mask, shifts = self._mask, self._shifts
        return {
            tuple([packed >> shift & mask for shift in shifts]): times
            for packed, times in Counter(self._by_group.values()).items()
        }


def add_by_key(
    parts: Mapping[NameT, PackedGroups], units: Iterable[tuple[NameT, str, int]]
) -> None:
    """Add to the counts of several parts: per unit its part, its group and what is added."""
    by_part = {name: part._by_group for name, part in parts.items()}
    for name, group, more in units:
        found = by_part[name]
        found[group] = found.get(group, 0) + more


def packed_kinds(
    groups: Sequence[str], places: Iterable[int], size: int
) -> dict[tuple[int, ...], int]:
    """Count units by group and place.

    Args:
        groups: Of each unit.
        places: Of each unit, below `size`.
        size: Counts of each group.

    Returns:
        The different counts of groups, and how many groups have each.
    """
    packed = PackedGroups(size, len(groups))
    packed.add(zip(groups, map(packed.ones.__getitem__, places), strict=True))
    return packed.kinds()
