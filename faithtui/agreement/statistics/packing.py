"""Counts of groups, each group's packed into one whole number.

A million units have a hundred thousand groups. Adding to a long number and counting equal numbers
are single steps of the interpreter, where a table per group would be hundreds of objects. Where
the units of a group follow each other, as they do in a run, groups need not even be looked up: a
group is what a running sum grows by from its first unit to its last.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, chain, compress, count, islice
from operator import ne, sub

_BITS = 32
"""Of a count, where it is not known how large one can become."""


class Spans:
    """Which units of a column belong together."""

    __slots__ = ("_last", "_pieces", "most", "names")

    def __init__(self, groups: Sequence[str]) -> None:
        """Find the groups.

        Args:
            groups: Of each unit. Fastest where those of a group follow each other.
        """
        self._last = bytes(map(ne, groups, chain(islice(groups, 1, None), (None,))))
        """1 where another group follows, else 0, by unit."""
        ends = [*compress(count(1), self._last)]
        sizes = [*map(sub, ends, chain((0,), ends))]
        pieces = [*compress(groups, self._last)]
        self.names: Sequence[str] = [*dict.fromkeys(pieces)]
        """Of the groups, as they come first."""
        self._pieces = pieces if len(self.names) < len(pieces) else None
        """Of which group each piece is; None where each is in one piece."""
        self.most: int = max(self._whole(sizes), default=0)
        """Units of the largest group."""

    def sums(self, numbers: Iterable[int]) -> Sequence[int]:
        """Add up a number of each unit by group."""
        ends = [*compress(accumulate(numbers), self._last)]
        return self._whole([*map(sub, ends, chain((0,), ends))])

    def _whole(self, pieces: Sequence[int]) -> Sequence[int]:
        """Put the pieces of groups together."""
        if self._pieces is None:
            return pieces
        found: dict[str, int] = {}
        for name, piece in zip(self._pieces, pieces, strict=True):
            found[name] = found.get(name, 0) + piece
        return [*found.values()]


class Groups(list[str]):
    """The groups of units, which are looked for once for everything that is counted by them."""

    @cached_property
    def spans(self) -> Spans:
        """Which units belong together."""
        return Spans(self)


def spans_of(groups: Sequence[str]) -> Spans:
    """Say which units belong together."""
    return groups.spans if isinstance(groups, Groups) else Spans(groups)


class Packing:
    """How the counts of a group are packed into one number."""

    __slots__ = ("_mask", "_shifts", "bits", "ones")

    def __init__(self, size: int, most: int | None = None) -> None:
        """Lay the counts out.

        Args:
            size: Counts of each group.
            most: The largest that a count can become; None: not known.
        """
        width = _BITS if most is None else max(1, most.bit_length())
        self._shifts = tuple(width * place for place in range(size))
        self._mask = (1 << width) - 1
        self.bits = width * size
        """Of a packed number."""
        self.ones = tuple(1 << shift for shift in self._shifts)
        """What adds one to each count; sums of them add to several counts at once."""

    def kinds_of(self, groups: Iterable[int]) -> dict[tuple[int, ...], int]:
        """Unpack groups.

        Returns:
            The different counts of groups, and how many groups have each; without groups that have
            nothing to count.
        """
        kinds = Counter(groups)
        kinds.pop(0, None)
        return {self.unpacked(packed): times for packed, times in kinds.items()}

    def unpacked(self, packed: int) -> tuple[int, ...]:
        """Give the counts of a group."""
        mask = self._mask
        return tuple([packed >> shift & mask for shift in self._shifts])


class PackedGroups(Packing):
    """Counts that grow, by group; for units that come one by one, see `Packing`."""

    __slots__ = ("_by_group",)

    def __init__(self, size: int, most: int | None = None) -> None:
        """Begin without any group."""
        super().__init__(size, most)
        self._by_group: dict[str, int] = {}

    def add(self, units: Iterable[tuple[str, int]]) -> None:
        """Add to the counts of groups: per unit its group, and one of `ones` or a sum of some."""
        found = self._by_group
        known = found.get
        for group, more in units:
            found[group] = known(group, 0) + more

    def kinds(self) -> dict[tuple[int, ...], int]:
        """Give the different counts of groups, see `kinds_of`."""
        return self.kinds_of(self._by_group.values())


def packed_kinds(spans: Spans, places: Iterable[int], size: int) -> dict[tuple[int, ...], int]:
    """Count units by group and place.

    Args:
        spans: Which units belong together.
        places: Of each unit, below `size`.
        size: Counts of each group.

    Returns:
        The different counts of groups, and how many groups have each.
    """
    packing = Packing(size, spans.most)
    return packing.kinds_of(spans.sums(map(packing.ones.__getitem__, places)))
