"""What the embedded judge says in sentences: numbers and other reasons put into fixed words."""

from collections.abc import Sequence
from typing import Final

from faithtui.domain.judging.tasks import ConcludeReasons, ExplainRelevance, ExplainScore

_NAMED_FINDINGS: Final = 3
"""Reasons that are repeated; the rest is counted."""


def explain_turn_window_score(task: ExplainScore) -> str:
    """Say why a window got its score, from the reasons of its claims."""
    score = f"{task.score:.2f}"
    if not task.findings:
        if task.score < 1:
            return f"The score is {score}; no reason was given for what lowered it."
        return f"The score is {score}: no claim was found to depart from the context."
    count = len(task.findings)
    noun = "claim" if count == 1 else "claims"
    return f"The score is {score} because of {count} {noun}: {_join_reasons(task.findings)}"


def explain_relevance(task: ExplainRelevance) -> str:
    """Say why a window's context got its score, from what serves no message."""
    score = f"{task.score:.2f}"
    total = len(task.irrelevant) + len(task.relevant)
    if not total:
        return f"The score is {score}: there was no statement to compare with the messages."
    if not task.irrelevant:
        if task.score < 1:
            return f"The score is {score}; no reason was given for what lowered it."
        return f"The score is {score}: every statement shares enough words with a message."
    return (
        f"The score is {score}: {len(task.irrelevant)} of {total} statements share too few words "
        f"with the messages: {_join_reasons(task.irrelevant)}"
    )


def explain_conversation_score(task: ConcludeReasons) -> str:
    """Say why a conversation got its score, from the reasons of its windows."""
    passed = {True: ", which passes", False: ", which does not pass", None: ""}[task.success]
    opening = f"The conversation scored {task.score:.2f}{passed}."
    if not task.reasons:
        return f"{opening} {'No window gave a reason' if task.score < 1 else 'Nothing lowered it'}."
    return f"{opening} From its windows: {_join_reasons(task.reasons)}"


def _join_reasons(reasons: Sequence[str]) -> str:
    """The first few different reasons as one text, and how many are left."""
    distinct = list(dict.fromkeys(reason.strip() for reason in reasons))
    shown = " ".join(distinct[:_NAMED_FINDINGS])
    more = len(distinct) - _NAMED_FINDINGS
    return f"{shown} And {more} more." if more > 0 else shown
