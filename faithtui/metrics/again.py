"""Asking again for what a judge left out of its reply."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.base import AnswerCount, Question

T = TypeVar("T")

ASKED_AGAIN = 2
"""How often missing verdicts are asked for again."""


async def one_for_each(
    count: int,
    question: Callable[[Sequence[int]], Question[Sequence[T | None]]],
    ask: Callable[[Question[Sequence[T | None]]], Awaitable[Sequence[T | None]]],
    is_answer: Callable[[T], bool],
) -> tuple[T | None, ...]:
    """Ask for one entry per unit; those that are missing are asked for again, at most twice.

    Args:
        count: How many units there are.
        question: Makes the question about the units at these positions, whose reply has one entry
            each, in their order. What is asked again shares the first question's count of answers.
        ask: The judge.
        is_answer: Whether an entry says something, so that it need not be asked for again.

    Returns:
        The last entry of each unit, in order; None where none came.

    Raises:
        JudgeError: The first question failed, or a later one was not answered at all. Answers to a
            later one that cannot be used leave what came before.
    """
    said: list[T | None] = [None] * count
    left = list(range(count))
    answers = AnswerCount()
    for times in range(1 + ASKED_AGAIN):
        if not left:
            break
        try:
            found = await ask(replace(question(left), replicate=times, count=answers))
        except JudgeReplyInvalid:
            if not times:
                raise
            break  # what came before stands, and the rest has no verdict
        for position, entry in zip(left, found, strict=True):
            said[position] = entry
        left = [n for n in left if (entry := said[n]) is None or not is_answer(entry)]
    return tuple(said)
