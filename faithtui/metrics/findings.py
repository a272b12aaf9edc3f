"""From what was found out about windows to their scores and the conversation's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithtui.domain.assessment import Assessment, Conclusion, Truth, Verdict
from faithtui.domain.conversation import Conversation
from faithtui.domain.scores import (
    ScoreState,
    ScoringRule,
    mean_score,
    no_score,
    passes,
    window_score,
)
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import STOPS_THE_RUN, Ask
from faithtui.metrics.prompting import PromptSet
from faithtui.metrics.questions import why_conversation

MOST_NOTED = 100
"""Notes that go into the question for a final reason, about three pages of them."""


@dataclass(frozen=True, slots=True)
class WindowFindings:
    """What was found out about one window, before it is scored."""

    verdicts: tuple[Verdict, ...] = ()
    truths: tuple[Truth, ...] = ()
    """What the verdicts are checked against, without repeats, in reading order."""
    surplus: tuple[str | None, ...] = ()
    reason: str | None = None
    """The judge's reason for the score; None when it was not asked for one."""
    failure: str | None = None
    """Why the window could not be judged."""
    skipped: str | None = None
    """Why the metric does not apply to the window."""
    without_context: bool = False
    """No assistant turn of the window has a document."""


def assessed(rule: ScoringRule, found: WindowFindings, window: Window) -> Assessment:
    """Score one window. Pure."""
    if found.failure is not None:
        return Assessment(window, no_score(ScoreState.FAILED, found.failure))
    if found.skipped is not None:
        return Assessment(
            window,
            no_score(ScoreState.SKIPPED, found.skipped),
            without_context=found.without_context,
        )
    return Assessment(
        window=window,
        score=window_score([each.label for each in found.verdicts], rule, found.surplus),
        verdicts=found.verdicts,
        truths=found.truths,
        surplus=found.surplus,
        reason=found.reason or composed_reason(rule, found.verdicts),
        without_context=found.without_context,
    )


def composed_reason(rule: ScoringRule, verdicts: Sequence[Verdict]) -> str | None:
    """Say what cost a window its score, from the verdicts' own reasons; None when nothing did."""
    return "; ".join(_costs(rule, verdicts)) or None


def _costs(rule: ScoringRule, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """List what cost a window its score, each once."""
    return tuple(
        dict.fromkeys(
            f"{each.claim.text} ({each.label}): {each.reason or 'no reason given'}"
            for each in verdicts
            if each.label is not None and each.label not in rule.passing
        )
    )


def mean_of(rule: ScoringRule, assessments: Sequence[Assessment]) -> Conclusion:
    """Average the windows; no reason is asked for."""
    score = mean_score([each.score for each in assessments], rule)
    return Conclusion(score, passes(score, rule))


async def concluded(
    prompts: PromptSet,
    rule: ScoringRule,
    assessments: Sequence[Assessment],
    ask: Ask,
    *,
    include_reason: bool,
) -> Conclusion:
    """Average the windows and ask why; a reason that cannot be had never costs the score."""
    mean = mean_of(rule, assessments)
    if not include_reason or not assessments or mean.score.value is None:
        return mean
    reasons = _noted(rule, assessments)
    reason: str | None
    try:
        reason = await ask(
            why_conversation(prompts, mean.score.value, mean.success, reasons, as_peer=rule.as_peer)
        )
    except STOPS_THE_RUN:
        raise
    except JudgeError:
        if rule.as_peer:
            raise
        reason = "; ".join(reasons) or None
    return Conclusion(mean.score, mean.success, reason or None)


def _noted(rule: ScoringRule, assessments: Sequence[Assessment]) -> tuple[str, ...]:
    """List what is to be said about the windows, in order.

    A claim that costs many windows something is noted once, and no more than `MOST_NOTED`: three
    sentences are to be made of it, and early claims weigh most. A peer's judge is shown all.
    """
    if rule.as_peer:
        return tuple(each.reason for each in assessments if each.reason)
    noted = tuple(
        dict.fromkeys(cost for each in assessments for cost in _costs(rule, each.verdicts))
    )
    more = len(noted) - MOST_NOTED
    return (*noted[:MOST_NOTED], f"and {more} more") if more > 0 else noted


def has_context(conversation: Conversation, window: Window) -> bool:
    """Whether any assistant turn of the window has a document."""
    return any(
        conversation.turns[turn].role == "assistant" and conversation.turns[turn].retrieval_context
        for turn in window.turns
    )


def conversation_result(
    conclusion: Conclusion, threshold: float | None
) -> tuple[Mapping[str, object], ...]:
    """Say a conversation's result in deepeval's words."""
    return (
        {
            "score": conclusion.score.value,
            "success": conclusion.success,
            "reason": conclusion.reason,
            "threshold": threshold,
            "error": None if conclusion.score.value is not None else conclusion.score.reason,
        },
    )


def openai_by_default(model: str | None) -> str | None:
    """Read a `model` option: `provider:model`, or a bare name, which is OpenAI's as in the peer."""
    if model is None or ":" in model or model == "offline":
        return model
    return f"openai:{model}"
