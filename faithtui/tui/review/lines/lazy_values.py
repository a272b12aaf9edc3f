"""A mapping whose values are made when they are first asked for, and kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LazyMapping(Mapping[K, V]):
    """Values made one by one.

    Two threads that ask for the same value at once both make it, and both get what is kept.

    Args:
        keys: All keys, in order.
        make: Makes the value of a key; the same each time.
    """

    def __init__(self, keys: Iterable[K], make: Callable[[K], V]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make
        self._made: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        """Give a value, made now if nobody asked for it before."""
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._made:
            return self._made.setdefault(key, self._make(key))
        return self._made[key]

    def __iter__(self) -> Iterator[K]:
        """Go through the keys."""
        return iter(self._keys)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        """Whether there is a value, made or not."""
        return key in self._keys

    @property
    def made_count(self) -> int:
        """How many values were made."""
        return len(self._made)
