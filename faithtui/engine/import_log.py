"""What an import reports for `--verbose`: what was left out and why, and where time went."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal, get_args

from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.store.records import ImportCounts

_log = logging.getLogger("faithtui.import")

Part = Literal["reading", "storing", "runs of judges"]

MOST_NAMED: Final = 20
"""Conversations that are named for one reason; the others are counted."""


class ImportLog:
    """The import of one data set.

    Args:
        name: Of its first file.
        clock: Seconds that never jump.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._seconds: dict[Part, float] = dict.fromkeys(get_args(Part), 0.0)
        self._left_out: dict[str, int] = {}

    @contextmanager
    def time_block(self, part: Part) -> Iterator[None]:
        """Count the time of a block to a part of the import."""
        began = self._clock()
        try:
            yield
        finally:
            self._seconds[part] += self._clock() - began

    def iter_and_time_reading(self, records: Iterable[ParsedRecord]) -> Iterator[ParsedRecord]:
        """Hand records on, and count the time until each is there."""
        clock, taken = self._clock, 0.0
        try:
            began = clock()
            for record in records:
                taken += clock() - began
                yield record
                del record  # it may be large
                began = clock()
            taken += clock() - began
        finally:
            self._seconds["reading"] = taken

    def log_conversations_not_added(
        self,
        places: Mapping[str, tuple[int, int | None]],
        counts: ImportCounts,
        unanswered: Iterable[str],
    ) -> None:
        """Name the conversations of a batch that were not added, or that no run will judge.

        Args:
            places: Line of each key, and its place in an array.
            counts: What became of the batch.
            unanswered: Keys of conversations without an answered question.
        """
        for reason, keys in (
            ("is there already, with the same turns", counts.unchanged_keys),
            ("was merged into the one with the same turns", [key for key, _ in counts.merged]),
            ("has no question that was answered, so nothing to judge", unanswered),
        ):
            for key in keys:
                count = self._left_out[reason] = self._left_out.get(reason, 0) + 1
                if count <= MOST_NAMED:
                    line, record = places[key]  # of this batch, in which no key is there twice
                    place = f"line {line}" if record is None else f"record {record}"
                    _log.debug("%s, %s: %s %s", self._name, place, key, reason)

    def log_omission_counts_and_times(self, records: int) -> None:
        """Report how many were not named, and where time went."""
        for reason, count in self._left_out.items():
            if count > MOST_NAMED:
                _log.debug("%s: %d more: each %s", self._name, count - MOST_NAMED, reason)
        times = ", ".join(f"{part} {seconds:.2f} s" for part, seconds in self._seconds.items())
        _log.debug("%s: time for %d records: %s", self._name, records, times)
