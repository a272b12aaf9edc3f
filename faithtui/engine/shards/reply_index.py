"""Where the replies of a shard stand in its journal, by the key of their question.

A dict takes some 170 bytes a reply, which is most of what a worker would grow by; sorted arrays
take 16.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from heapq import merge
from typing import Final

_LEAST_NEW: Final = 4096
"""Replies in the dict before it is put into the arrays."""
_SHARE_NEW: Final = 8
"""The dict holds one in so many at most, so that arrays are not copied for every few replies."""


class ReplyIndex:
    """Numbers by number; a key that is added again has the later place."""

    def __init__(self) -> None:
        """Begin empty."""
        self._new: dict[int, int] = {}
        self._keys = array("q")
        self._places = array("q")

    def add(self, key: int, place: int) -> None:
        """Note the place of a key, both below 2 to the power of 63."""
        self._new[key] = place
        if len(self._new) >= max(_LEAST_NEW, len(self._keys) // _SHARE_NEW):
            self._merge()

    def find(self, key: int) -> int | None:
        """Give the place of a key; None: it was not added."""
        place = self._new.get(key)
        if place is not None:
            return place
        at = bisect_left(self._keys, key)
        return self._places[at] if at < len(self._keys) and self._keys[at] == key else None

    def _merge(self) -> None:
        keys, places = array("q"), array("q")
        for key, place in merge(self._iter_sorted_entries(), sorted(self._new.items())):
            keys.append(key)
            places.append(place)
        self._keys, self._places = keys, places
        self._new = {}

    def _iter_sorted_entries(self) -> Iterator[tuple[int, int]]:
        pairs = zip(self._keys, self._places, strict=True)
        return (pair for pair in pairs if pair[0] not in self._new)
