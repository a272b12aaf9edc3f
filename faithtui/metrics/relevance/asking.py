"""Asking about a document until every statement has a verdict, or nothing more can be tried."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from faithtui.domain.conversation import normalised
from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.again import Rounds
from faithtui.metrics.base import AGAIN, Ask, Question
from faithtui.metrics.relevance.questions import which_statements
from faithtui.metrics.relevance.replies import Statement
from faithtui.metrics.relevance.words import contradicts_itself, understood
from faithtui.metrics.shapes import Said


async def statements_of(
    ask: Ask,
    question: Callable[[str], Question[tuple[Statement, ...]]],
    *,
    chosen: Sequence[str] | None = None,
    names_messages: bool = False,
    as_peer: bool,
) -> tuple[Statement, ...]:
    """Ask for statements; those without a verdict are asked about again, at most twice.

    Then those whose verdict and messages contradict each other are asked about once more. What the
    judge says then counts, and its verdict if it still contradicts itself.

    Args:
        ask: The judge.
        question: Makes the question from the words for which statements are wanted.
        chosen: Statements that are known already; None: all that the document makes.
        names_messages: The question wants the messages that a statement serves.
        as_peer: Ask nothing again.

    Returns:
        One per statement, in order; one per chosen statement when there are some.

    Raises:
        JudgeError: A question failed.
    """
    first = question(which_statements(chosen, 0, as_peer=as_peer))
    found = await ask(first)
    if chosen is not None:
        found = _aligned(chosen, found)
    if as_peer:
        return found
    rounds = Rounds(first.count)
    rounds.end()
    while rounds.are_left:
        missing = [each.text for each in found if not understood(each.said, as_peer)]
        if not missing:
            break
        again = question(which_statements(missing, rounds.replicate, as_peer=as_peer))
        try:
            said = await ask(replace(again, count=first.count))
        except JudgeReplyInvalid:
            break  # what came before stands, and the rest has no verdict
        rounds.end()
        better = iter(_aligned(missing, said))
        found = tuple(each if understood(each.said, as_peer) else next(better) for each in found)
    disputed = [n for n, each in enumerate(found) if contradicts_itself(each.said)]
    if not disputed or not names_messages:
        return found
    texts = [found[n].text for n in disputed]
    reconsider = question(which_statements(texts, 0, contradictory=True, as_peer=as_peer))
    try:
        said = await ask(replace(reconsider, step=f"{first.step}{AGAIN}", count=first.count))
    except JudgeReplyInvalid:
        return found  # the first answer could be used, and stands
    now = dict(zip(disputed, _aligned(texts, said), strict=True))
    return tuple(
        now[n] if n in now and understood(now[n].said, as_peer) else each
        for n, each in enumerate(found)
    )


def _aligned(chosen: Sequence[str], found: Sequence[Statement]) -> tuple[Statement, ...]:
    """Find each chosen statement in a reply, up to case and white space; extra ones are dropped."""
    left: dict[str, deque[Statement]] = {}
    for each in found:
        left.setdefault(normalised(each.text), deque()).append(each)
    aligned = []
    for text in chosen:
        matching = left.get(normalised(text))
        said = matching.popleft().said if matching else Said(word=None)
        aligned.append(Statement(text, said))
    return tuple(aligned)
