"""New conversations of a rehearsal whose turns another data set has."""

from collections import Counter

from faithtui.store.records import EqualElsewhere
from faithtui.store.store import Store


class NewContents:
    """Contents that an import would add, and the data sets they would be in.

    What comes in is counted by the data sets that had its content before, as the store counts it
    after an import.
    """

    def __init__(self) -> None:
        self._sources: dict[str, tuple[str, ...]] = {}
        """Data sets of the new conversations of each content hash, in their order."""

    def add(self, source: str, hashed: str) -> None:
        """Note a conversation that would be stored."""
        self._sources[hashed] = (*self._sources.get(hashed, ()), source)

    def count_equal_elsewhere(self, store: Store | None) -> tuple[EqualElsewhere, ...]:
        """Count them.

        Args:
            store: Where the import would write; None: nothing is there yet.
        """
        stored: dict[str, set[str]] = {}
        for source, hashed in (
            () if store is None or not self._sources else store.equal_contents.iter_contents()
        ):
            if hashed in self._sources:
                stored.setdefault(hashed, set()).add(source)
        counts: Counter[tuple[str, str]] = Counter()
        for hashed, new in self._sources.items():
            if len(new) == 1 and hashed not in stored:
                continue
            known = stored.get(hashed, set())
            for source in new:
                counts.update((source, other) for other in known if other != source)
                known.add(source)
        return tuple(
            EqualElsewhere(source, other, count)
            for (source, other), count in sorted(
                counts.items(), key=lambda each: (each[0][0], -each[1], each[0][1])
            )
        )
