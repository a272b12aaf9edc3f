"""Asking again for what a judge left out of its reply."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

ASKED_AGAIN = 2
"""How often missing verdicts are asked for again."""


async def one_for_each(
    count: int,
    entries: Callable[[Sequence[int], int], Awaitable[Sequence[T | None]]],
    is_answer: Callable[[T], bool],
) -> tuple[T | None, ...]:
    """Ask for one entry per unit; those that are missing are asked for again, at most twice.

    Args:
        count: How many units there are.
        entries: Asks about the units at these positions; one entry each, in their order. The
            second argument counts the times, from 0, and is the question's `replicate`: where
            nothing was answered the same question is asked again, and its stored reply is no
            answer.
        is_answer: Whether an entry says something, so that it need not be asked for again.

    Returns:
        The last entry of each unit, in order; None where none came.
    """
    said: list[T | None] = [None] * count
    left = list(range(count))
    for times in range(1 + ASKED_AGAIN):
        if not left:
            break
        for position, found in zip(left, await entries(left, times), strict=True):
            said[position] = found
        left = [n for n in left if (entry := said[n]) is None or not is_answer(entry)]
    return tuple(said)
