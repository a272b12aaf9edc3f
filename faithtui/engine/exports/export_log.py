"""What an export reports for `--verbose`: what was left out and why, and where time went."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final

from faithtui.domain.exported_conversation import ExportConversation

_log = logging.getLogger("faithtui.export")

MOST_NAMED: Final = 20
"""Conversations that are named for one reason; the others are counted."""


class LeftOutReason(StrEnum):
    """Why a conversation or an answer is not written; how those are counted that are not named.

    What a judge or a person wrote is in the line of the one it is of, and never here: every text
    would be a reason of its own, and the lines as many as the conversations.
    """

    OTHER_SPLIT = "is not in the split that is exported"
    NO_CLAIM = "has no claim"
    NO_ID = "has an answer without the id that says where it belongs"


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
        self._left_out: Counter[LeftOutReason] = Counter()

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

    def log_left_out(
        self, conversation: ExportConversation, reason: LeftOutReason, words: str
    ) -> None:
        """Name a conversation, or one of its answers, that is not written.

        Args:
            conversation: The conversation.
            reason: Why; the first of each reason are named.
            words: The same of this one.
        """
        self._left_out[reason] += 1
        if self._left_out[reason] <= MOST_NAMED:
            _log.debug("%s/%s %s", conversation.source, conversation.key, words)

    def log_omission_counts_and_times(self) -> None:
        """Report how many were not named, and where time went."""
        for reason, count in self._left_out.items():
            if count > MOST_NAMED:
                _log.debug("%d more: each %s", count - MOST_NAMED, reason)
        _log.debug(
            "%d conversations read in %.2f s, made and written in %.2f s",
            self._read,
            self._read_s,
            self._clock() - self._began - self._read_s,
        )
