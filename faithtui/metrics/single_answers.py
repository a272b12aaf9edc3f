"""Conversations for metrics that judge one answer at a time: each interaction by itself.

Several user messages are one question and several replies one answer, joined by a line break.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.errors import JudgeError, MetricError, MissingParameters
from faithtui.metrics.base import STOPS_THE_RUN, JudgeTraits, Questions, ask_branches
from faithtui.metrics.questions import (
    HISTORY_MESSAGES,
    list_documents,
    list_messages,
    list_texts,
    refuse_unsupported_images,
)
from faithtui.metrics.window_scores import WindowFindings, has_context

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnsweredInteraction:
    """One interaction as a question, an answer and its context."""

    window: Window
    questions: tuple[Passage, ...]
    """User messages, in order; () when there is none."""
    answers: tuple[Passage, ...]
    """Replies, in order; never empty."""
    turns: tuple[int, ...]
    """Position of each reply's turn."""
    contexts: tuple[Passage, ...] | None
    """Documents of all replies, in order, repeats kept; None: nobody knows."""
    history: tuple[str, ...]
    """The last few messages before it, each prefixed with its role."""

    @property
    def question(self) -> str:
        """The user messages as one text."""
        return "\n".join(list_texts(self.questions))

    @property
    def response(self) -> str:
        """The replies as one text."""
        return "\n".join(list_texts(self.answers))


def cut_answer_windows(conversation: Conversation, *, answers_alone: bool) -> tuple[Window, ...]:
    """Cut a conversation into windows of one interaction each."""
    return cut_sliding_windows(
        split_into_interactions(conversation.turns, answers_alone=answers_alone), 1
    )


def read_interaction(conversation: Conversation, window: Window) -> AnsweredInteraction:
    """Read one window's interaction."""
    turns = tuple(turn for turn in window.turns if conversation.turns[turn].role == "assistant")
    known = any(conversation.turns[turn].retrieval_context is not None for turn in turns)
    first = window.turns[0]
    before = conversation.turns[max(0, first - HISTORY_MESSAGES) : first]
    return AnsweredInteraction(
        window=window,
        questions=tuple(list_messages(conversation, window.turns, "user")),
        answers=tuple(list_messages(conversation, window.turns, "assistant")),
        turns=turns,
        contexts=tuple(list_documents(conversation, window.turns)) if known else None,
        history=tuple(f"{each.role}: {each.content}" for each in before),
    )


def explain_missing_answer(
    conversation: Conversation, windows: Sequence[Window], *, context_required: bool = True
) -> str | None:
    """Say why there is no answer to judge; None when there is one."""
    if not windows:
        if not any(turn.role == "user" for turn in conversation.turns):
            return "no user turn"
        return "no answered user turn"
    if context_required and all(
        turn.retrieval_context is None for turn in conversation.turns if turn.role == "assistant"
    ):
        return "no retrieval context"
    return None


def judge_each_answer(
    conversation: Conversation,
    windows: Sequence[Window],
    judge: JudgeTraits,
    judge_one: Callable[[AnsweredInteraction], Questions[WindowFindings]],
    *,
    as_peer: bool,
    at_once: bool = True,
    describe_error: Callable[[JudgeError | MetricError], str] = lambda error: (
        f"{type(error).__name__}: {error}"
    ),
) -> Questions[tuple[WindowFindings, ...]]:
    """Judge every answer of a conversation; one entry per window.

    A question that fails fails its answer alone, and an answer that lacks what the metric needs is
    skipped; under `as_peer` either loses the conversation.

    Args:
        conversation: All of it.
        windows: Of one interaction each.
        judge: What the judge can do.
        judge_one: Asks about one answer, on behalf of its window.
        as_peer: Let errors through.
        at_once: Answers at the same time, as many as the pace allows; False: one after the other.
        describe_error: Puts a failure into words for the store.

    Raises:
        MissingParameters: Under `as_peer`, there is no answer at all.
        JudgeError, MetricError: As above.
    """
    refuse_unsupported_images(conversation, judge)
    if as_peer and not windows:
        raise MissingParameters(("response",))

    def judge_window(window: Window) -> Questions[WindowFindings]:
        without_context = not has_context(conversation, window)
        try:
            return (yield from judge_one(read_interaction(conversation, window)))
        except STOPS_THE_RUN:
            raise
        except MissingParameters as error:
            if as_peer:
                raise
            return WindowFindings(skipped=describe_error(error), without_context=without_context)
        except (JudgeError, MetricError) as error:
            if as_peer:
                raise
            return WindowFindings(failure=describe_error(error), without_context=without_context)

    found = yield from ask_branches(map(judge_window, windows), at_once=at_once, per_answer=True)
    return tuple(found)
