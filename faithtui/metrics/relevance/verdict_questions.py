"""Asking about a document until every statement has a verdict, or nothing more can be tried."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from faithtui.domain.conversation import normalise_text
from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.base import AGAIN_SUFFIX, Question, Questions, ask
from faithtui.metrics.missing_verdicts import AskRounds
from faithtui.metrics.relevance.questions import describe_wanted_statements
from faithtui.metrics.relevance.replies import JudgedStatement
from faithtui.metrics.relevance.words import contradicts_itself, has_relevance_label
from faithtui.metrics.reply_shapes import ParsedVerdict


def ask_statements_until_all_have_verdicts(
    window: int,
    question: Callable[[str], Question[tuple[JudgedStatement, ...]]],
    *,
    chosen: Sequence[str] | None = None,
    names_messages: bool = False,
    as_peer: bool,
) -> Questions[tuple[JudgedStatement, ...]]:
    """Ask for statements; those without a verdict are asked about again, at most twice.

    Then those whose verdict and messages contradict each other are asked about once more. What the
    judge says then counts, and its verdict if it still contradicts itself.

    Args:
        window: Position of the window that asks.
        question: Makes the question from the words for which statements are wanted.
        chosen: Statements that are known already; None: all that the document makes.
        names_messages: The question wants the messages that a statement serves.
        as_peer: Ask nothing again.

    Returns:
        One per statement, in order; one per chosen statement when there are some.

    Raises:
        JudgeError: A question failed.
    """
    first = question(describe_wanted_statements(chosen, 0, as_peer=as_peer))
    found = yield from ask(first, window)
    if chosen is not None:
        found = _find_chosen_statements_in_reply(chosen, found)
    if as_peer:
        return found
    rounds = AskRounds(first.count)
    rounds.count_reply()
    while rounds.has_more:
        missing = [each.text for each in found if not has_relevance_label(each.verdict, as_peer)]
        if not missing:
            break
        again = question(describe_wanted_statements(missing, rounds.replicate, as_peer=as_peer))
        try:
            judged_again = yield from ask(replace(again, count=first.count), window)
        except JudgeReplyInvalid:
            break  # what came before stands, and the rest has no verdict
        rounds.count_reply()
        better = iter(_find_chosen_statements_in_reply(missing, judged_again))
        found = tuple(
            each if has_relevance_label(each.verdict, as_peer) else next(better) for each in found
        )
    disputed = [n for n, each in enumerate(found) if contradicts_itself(each.verdict)]
    if not disputed or not names_messages:
        return found
    texts = [found[n].text for n in disputed]
    reconsider = question(describe_wanted_statements(texts, 0, contradictory=True, as_peer=as_peer))
    reconsider = replace(reconsider, step=f"{first.step}{AGAIN_SUFFIX}", count=first.count)
    try:
        judged_again = yield from ask(reconsider, window)
    except JudgeReplyInvalid:
        return found  # the first answer could be used, and stands
    now = dict(zip(disputed, _find_chosen_statements_in_reply(texts, judged_again), strict=True))
    return tuple(
        now[n] if n in now and has_relevance_label(now[n].verdict, as_peer) else each
        for n, each in enumerate(found)
    )


def _find_chosen_statements_in_reply(
    chosen: Sequence[str], found: Sequence[JudgedStatement]
) -> tuple[JudgedStatement, ...]:
    """Find each chosen statement in a reply, up to case and white space; extra ones are dropped."""
    left: dict[str, deque[JudgedStatement]] = {}
    for each in found:
        left.setdefault(normalise_text(each.text), deque()).append(each)
    aligned = []
    for text in chosen:
        matching = left.get(normalise_text(text))
        verdict = matching.popleft().verdict if matching else ParsedVerdict(word=None)
        aligned.append(JudgedStatement(text, verdict))
    return tuple(aligned)
