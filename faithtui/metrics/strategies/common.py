"""What both ways of asking about turn faithfulness share."""

import re
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from faithtui.domain.assessment import Truth, Verdict
from faithtui.domain.conversation import Conversation
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.scores import ScoringRule, window_score
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import STOPS_THE_RUN, Ask, Question
from faithtui.metrics.prompting import PromptSet
from faithtui.metrics.shapes import Said

T = TypeVar("T")

ASKED_AGAIN = 2
"""How often missing verdicts are asked for again."""

PEER_WORDS = ("yes", "no", "borderline", "idk")
"""Words a structured reply may use under the peer's rules; older versions say idk."""

_LEADING_LETTERS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class WindowFindings:
    """What was found out about one window, before it is scored."""

    verdicts: tuple[Verdict, ...] = ()
    truths: tuple[Truth, ...] = ()
    surplus: tuple[str | None, ...] = ()
    reason: str | None = None
    """The judge's reason for the score; None when it was not asked for one."""
    failure: str | None = None
    """Why the window could not be judged."""
    without_context: bool = False
    """No assistant turn of the window has a document."""


class FaithfulnessOptions(Protocol):
    """The side of the metric that the strategies see."""

    @property
    def prompts(self) -> PromptSet:
        """Prompt texts by step."""

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores."""

    @property
    def truths_extraction_limit(self) -> int | None:
        """At most so many truths per document, per window under `as_peer`."""

    @property
    def include_reason(self) -> bool:
        """Whether reasons are asked for."""

    @property
    def async_mode(self) -> bool:
        """Whether questions that do not depend on each other are asked at once."""

    @property
    def as_peer(self) -> bool:
        """Whether the peer's arithmetic is used."""

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation."""

    def window_reason(self, score: float, verdicts: Sequence[Verdict]) -> Question[str]:
        """Ask why a window got its score."""


async def tried(answer: Awaitable[T], as_peer: bool) -> T | JudgeError:
    """Wait for an answer and hand a failure back as a value.

    Raises:
        JudgeAuthFailed, JudgeQuotaExceeded: Always.
        JudgeError: Under `as_peer`, where one failure loses the conversation.
    """
    try:
        return await answer
    except STOPS_THE_RUN:
        raise
    except JudgeError as error:
        if as_peer:
            raise
        return error


def told(error: JudgeError) -> str:
    """Describe a failure for the store: its kind and its sentence."""
    return f"{type(error).__name__}: {error}"


def read_word(word: str | None, as_peer: bool) -> str | None:
    """Turn what the judge wrote into a label; None when it is no word of the vocabulary.

    Source of the loose reading under `as_peer`: deepeval 4.3.1 takes the leading letters of the
    trimmed, lower-cased word.
    """
    if word is None:
        return None
    if as_peer:
        found = _LEADING_LETTERS.match(word.strip().lower())
        return FAITHFULNESS.read(found.group()) if found else None
    return FAITHFULNESS.read(word)


def understood(said: Said | None, as_peer: bool) -> bool:
    """Whether an entry answers the question, so that it need not be asked again."""
    if said is None:
        return False
    return bool(said.supports or said.contradicts) or read_word(said.word, as_peer) is not None


def limit_phrase(limit: int | None, of_what: str) -> str:
    """Put a limit into words for a prompt."""
    if limit is None:
        return "all facts"
    return f"at most the {max(0, limit)} most important facts {of_what}"


def has_context(conversation: Conversation, window: Window) -> bool:
    """Whether any assistant turn of the window has a document."""
    return any(
        conversation.turns[turn].role == "assistant" and conversation.turns[turn].retrieval_context
        for turn in window.turns
    )


async def with_peer_reasons(
    metric: FaithfulnessOptions, findings: Sequence[WindowFindings], ask: Ask
) -> tuple[WindowFindings, ...]:
    """Under `as_peer`, ask for each window's reason as the peer does."""
    if not (metric.as_peer and metric.include_reason):
        return tuple(findings)
    explained = []
    for found in findings:
        labels = [each.label for each in found.verdicts]
        score = window_score(labels, metric.rule, found.surplus).value
        if score is None or not any(label is not None for label in (*labels, *found.surplus)):
            explained.append(found)
            continue
        reason = await ask(metric.window_reason(score, found.verdicts))
        explained.append(replace(found, reason=reason))
    return tuple(explained)


def composed_reason(rule: ScoringRule, verdicts: Sequence[Verdict]) -> str | None:
    """Say what cost a window its score, from the verdicts' own reasons; None when nothing did."""
    parts = [
        f"{each.claim.text} ({each.label}): {each.reason or 'no reason given'}"
        for each in verdicts
        if each.label is not None and each.label not in rule.passing
    ]
    return "; ".join(dict.fromkeys(parts)) or None
