"""Asking again for what a judge left out of its reply."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.base import AnswerCount, Question, Questions

T = TypeVar("T")

MOST_REPEATS = 2
"""How often missing verdicts are asked for again."""


def ask_until_complete(
    count: int,
    question: Callable[[Sequence[int]], Question[Sequence[T | None]]],
    ask: Callable[[Question[Sequence[T | None]]], Questions[Sequence[T | None]]],
    is_answer: Callable[[T], bool],
) -> Questions[tuple[T | None, ...]]:
    """Ask for one entry per unit; those that are missing are asked for again, at most twice.

    Replies that are from before the question was to be asked again are read in their order, and
    count as none of these times.

    Args:
        count: How many units there are.
        question: Makes the question about the units at these positions, whose reply has one entry
            each, in their order. What is asked again shares the first question's count of answers.
        ask: Puts a question, on behalf of its window.
        is_answer: Whether an entry says something, so that it need not be asked for again.

    Returns:
        The last entry of each unit, in order; None where none came.

    Raises:
        JudgeError: The first question failed, or a later one was not answered at all. Answers to a
            later one that cannot be used leave what came before.
    """
    entries: list[T | None] = [None] * count
    left = list(range(count))
    answers = AnswerCount()
    rounds = AskRounds(answers)

    def is_missing(entry: T | None) -> bool:
        return entry is None or not is_answer(entry)

    while left and rounds.has_more:
        asked = replace(
            question(left),
            replicate=rounds.replicate,
            count=answers,
            says_something=lambda found: not all(map(is_missing, found)),
        )
        try:
            found = yield from ask(asked)
        except JudgeReplyInvalid:
            if not rounds.replicate:
                raise
            break  # what came before stands, and the rest has no verdict
        for position, entry in zip(left, found, strict=True):
            entries[position] = entry
        rounds.count_reply()
        left = [n for n in left if is_missing(entries[n])]
    return tuple(entries)


class AskRounds:
    """How often a question was put whose replies leave something out.

    Attributes:
        replicate: Number of the next repetition, from 0.
    """

    def __init__(self, count: AnswerCount) -> None:
        """Prepare.

        Args:
            count: The count that all repetitions share.
        """
        self.replicate = 0
        self._count = count
        self._used = 0

    @property
    def has_more(self) -> bool:
        """Whether it may be put again."""
        return self._used <= MOST_REPEATS

    def count_reply(self) -> None:
        """Count a reply that came, unless it is from before the question was to be asked again."""
        self.replicate += 1
        self._used += not self._count.is_earlier
