"""What an export tells for `--verbose`: what was left out and why, and where time went."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from faithtui.domain.run_export import ExportConversation

_log = logging.getLogger("faithtui.export")

MOST_NAMED: Final = 20
"""Conversations that are named for one reason; the others are counted."""


class ExportLog:
    """One export of a run.

    Args:
        clock: Seconds that never jump.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._read_s = 0.0
        self._read = 0
        self._left_out: Counter[str] = Counter()

    def iter_and_time_reading(
        self, conversations: Iterable[ExportConversation]
    ) -> Iterator[ExportConversation]:
        """Hand conversations on, and count the time until the store gave each."""
        iterator = iter(conversations)
        while True:
            began = self._clock()
            found = next(iterator, None)
            self._read_s += self._clock() - began
            if found is None:
                return
            self._read += 1
            yield found

    def log_left_out(self, conversation: ExportConversation, reason: str) -> None:
        """Name a conversation, or one of its answers, that is not written."""
        self._left_out[reason] += 1
        if self._left_out[reason] <= MOST_NAMED:
            _log.debug("%s/%s %s", conversation.source, conversation.key, reason)

    def log_omission_counts_and_times(self) -> None:
        """Tell how many were not named, and where time went."""
        for reason, count in self._left_out.items():
            if count > MOST_NAMED:
                _log.debug("%d more: each %s", count - MOST_NAMED, reason)
        _log.debug(
            "%d conversations read in %.2f s, made and written in %.2f s",
            self._read,
            self._read_s,
            self._clock() - self._began - self._read_s,
        )
