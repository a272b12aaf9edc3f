"""What both ways of asking about turn faithfulness share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule, score_window
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import STOPS_THE_RUN, Questions, ask
from faithtui.metrics.deepeval_json import read_leading_letters
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import make_reason_question
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.window_scores import WindowFindings, list_score_lowering_reasons

T = TypeVar("T")

PEER_WORDS = ("yes", "no", "borderline", "idk")
"""Words a structured reply may use under the peer's rules; older versions say idk."""


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
    def window_size(self) -> int:
        """How far a window reaches back, in interactions."""

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


def ask_or_return_error(questions: Questions[T], as_peer: bool) -> Questions[T | JudgeError]:
    """Ask, and give a failure back as a value.

    Raises:
        JudgeUnusable: Always.
        JudgeError: Under `as_peer`, where one failure loses the conversation.
    """
    try:
        return (yield from questions)
    except STOPS_THE_RUN:
        raise
    except JudgeError as error:
        if as_peer:
            raise
        return error


def format_failure(error: JudgeError) -> str:
    """Describe a failure for the store: its kind and its sentence."""
    return f"{type(error).__name__}: {error}"


def read_faithfulness_label(word: str | None, as_peer: bool) -> str | None:
    """Turn what the judge wrote into a label; None when it is no word of the vocabulary."""
    if word is None:
        return None
    if as_peer:
        return FAITHFULNESS.find_label_name_for_word(read_leading_letters(word))
    return FAITHFULNESS.find_label_name_for_word(word)


def has_faithfulness_label(verdict: ParsedVerdict | None, as_peer: bool) -> bool:
    """Whether an entry answers the question, so that it need not be asked again."""
    return verdict is not None and read_faithfulness_label(verdict.word, as_peer) is not None


def add_deepeval_reasons(
    metric: FaithfulnessOptions, findings: Sequence[WindowFindings]
) -> Questions[tuple[WindowFindings, ...]]:
    """Under `as_peer`, ask for each window's reason as the peer does."""
    if not (metric.as_peer and metric.include_reason):
        return tuple(findings)
    explained = []
    for position, found in enumerate(findings):
        labels = [each.label for each in found.verdicts]
        score = score_window(labels, metric.rule, found.surplus).value
        if score is None or not any(label is not None for label in (*labels, *found.surplus)):
            explained.append(found)
            continue
        costs = list_score_lowering_reasons(metric.rule, found.verdicts)
        costs += [
            "a verdict beyond the last claim: no reason given"
            for label in found.surplus
            if label is not None and label not in metric.rule.passing
        ]
        question = make_reason_question(metric.prompts, score, costs, as_peer=True)
        reason = yield from ask(question, position)
        explained.append(replace(found, reason=reason))
    return tuple(explained)
