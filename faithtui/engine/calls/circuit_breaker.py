"""Stopping a run whose judge answers, and whose answers keep failing in the same way.

A judge that does not answer at all is another case, which `send` knows: its questions wait two
minutes for it. What comes here was answered and paid for, or refused one question at a time.
"""

from collections import defaultdict
from typing import Final, NoReturn

from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.errors import JudgeError, JudgeKeepsFailing, JudgeRateLimited
from faithtui.metrics.base import AGAIN_SUFFIX

_OTHER_MODEL: Final = "choose another model"
_ASK_LESS: Final = "go on later with --resume, ask less at once with --concurrency"


class CircuitBreaker:
    """Counts what failed in one attempt at a run. Belongs to one event loop."""

    def __init__(self, limit: FailureLimit, conversations: int) -> None:
        """Begin to count.

        Args:
            limit: When to stop.
            conversations: Of the whole run.
        """
        self._limit = limit
        self._conversations = conversations
        self._unfinished = 0
        self._stop_error: JudgeKeepsFailing | None = None
        """Why, for all that fails until everything has come to its end."""
        self._failed_keys: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """By kind of failure and step: keys of the questions since the step was last answered."""

    def clear_failures_of_answered_step(self, step: str) -> None:
        """Note that a question of this step was answered by the judge, not from the store."""
        for of_kind in self._failed_keys.values():
            of_kind.pop(_strip_again_suffix(step), None)

    def record_failed_question_or_stop(
        self, step: str, key: str, kind: str, why: str, *, way_out: str = _OTHER_MODEL
    ) -> None:
        """Note that a question was given up.

        Args:
            step: The question's kind.
            key: Names the question: whoever waits for it as well counts no second time.
            kind: What went wrong, the same word for what is alike.
            why: What went wrong, as a sentence without a full stop.
            way_out: What may be done about it.

        Raises:
            JudgeKeepsFailing: So many failed alike that the next one will.
        """
        of_kind = self._failed_keys[kind]
        of_kind[_strip_again_suffix(step)].add(key)
        count = sum(map(len, of_kind.values()))
        if self._limit.in_a_row is not None and count >= self._limit.in_a_row:
            self._raise_stop_error(
                f"{count} questions in a row failed in the same way, the last one: {why}. Nothing "
                f"more is asked: {way_out}, or allow more with --max-failures"
            )

    def record_question_error_or_stop(self, step: str, key: str, error: JudgeError) -> None:
        """Note that a question was given up because of an error.

        See `record_failed_question_or_stop`.
        """
        way_out = _ASK_LESS if isinstance(error, JudgeRateLimited) else _OTHER_MODEL
        kind, why = type(error).__name__, str(error).rstrip(".")
        self.record_failed_question_or_stop(step, key, kind, why, way_out=way_out)

    def record_failed_conversation_or_stop(self, why: str) -> None:
        """Note that a conversation failed or lacks a verdict.

        Args:
            why: What went wrong, as a sentence without a full stop.

        Raises:
            JudgeKeepsFailing: More of them than may.
        """
        self._unfinished += 1
        share = self._limit.share
        if share is not None and self._unfinished > share * self._conversations:
            self._raise_stop_error(
                f"{self._unfinished} of {self._conversations} conversations failed or lack a "
                f"verdict, more than {self._limit}; the last one: {why}. Nothing more is asked: "
                f"{_OTHER_MODEL}, or allow more with --max-failures"
            )

    def _raise_stop_error(self, why: str) -> NoReturn:
        # The first reason stands: questions in flight go on failing, each for its own.
        self._stop_error = self._stop_error or JudgeKeepsFailing(why)
        raise self._stop_error


def _strip_again_suffix(step: str) -> str:
    """Name the step of a question that may be about what was asked before."""
    return step.removesuffix(AGAIN_SUFFIX)
