"""What both ways of asking about contextual relevancy share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from faithtui.domain.claims.verdicts import Claim, Truth
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.scores import ScoringRule, score_window
from faithtui.domain.text.location import find_span
from faithtui.domain.windows import Window
from faithtui.metrics.base import Questions, ask, ask_branches
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import list_documents, list_messages
from faithtui.metrics.relevance.questions import make_relevance_reason_question
from faithtui.metrics.window_scores import WindowFindings, has_context

NO_CONTEXT = "no retrieval context"
NO_MESSAGE = "no user message"
"""Why a window, or a whole conversation, is skipped."""

NOTHING_JUDGED = "No statement of a document was judged, so nothing was found irrelevant."
"""The peer's windows without a verdict have a fixed reason; this is ours."""


class RelevanceOptions(Protocol):
    """The side of the metric that the strategies see."""

    @property
    def prompts(self) -> PromptSet:
        """Prompt texts by step."""

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores."""

    @property
    def include_reason(self) -> bool:
        """Whether reasons are asked for."""

    @property
    def window_size(self) -> int:
        """How far a window reaches back, in interactions."""

    @property
    def async_mode(self) -> bool:
        """Whether questions that do not depend on each other are asked at once."""

    @property
    def as_peer(self) -> bool:
        """Whether the peer's arithmetic is used."""


@dataclass(frozen=True, slots=True)
class WindowView:
    """What of a window this metric looks at."""

    window: Window
    documents: tuple[Passage, ...]
    """Documents of its assistant turns, in order, repeats kept."""
    messages: tuple[Passage, ...]
    """Messages of its user turns, in order, without those that look like an earlier one."""
    newest: tuple[Passage, ...]
    """Those of its last interaction."""
    without_context: bool
    """No assistant turn of the window has a document."""

    @property
    def messages_as_truths(self) -> tuple[Truth, ...]:
        """The messages, as what statements are checked against."""
        return tuple(Truth(message.text_with_marks) for message in self.messages)

    @property
    def explain_skip(self) -> str | None:
        """Say why there is nothing to judge; None when there is something."""
        if not self.documents:
            return NO_CONTEXT
        if not self.messages:
            return NO_MESSAGE
        return None


def make_window_views(
    conversation: Conversation, windows: Sequence[Window], *, as_peer: bool
) -> tuple[WindowView, ...]:
    """Look at every window; blank documents and messages count under `as_peer` only."""

    def drop_blank(passages: Sequence[Passage]) -> tuple[Passage, ...]:
        return tuple(each for each in passages if as_peer or each.text_with_marks.strip())

    def list_user_messages(turns: Sequence[int]) -> tuple[Passage, ...]:
        return drop_repeated_passages(drop_blank(list_messages(conversation, turns, "user")))

    views = []
    before: frozenset[int] = frozenset()
    for window in windows:
        views.append(
            WindowView(
                window=window,
                documents=drop_blank(list_documents(conversation, window.turns)),
                messages=list_user_messages(window.turns),
                newest=list_user_messages([turn for turn in window.turns if turn not in before]),
                without_context=not has_context(conversation, window),
            )
        )
        before = frozenset(window.turns)
    return tuple(views)


def drop_repeated_passages(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Drop passages that look like an earlier one."""
    first: dict[str, Passage] = {}
    for each in passages:
        first.setdefault(each.text_with_marks, each)
    return tuple(first.values())


def map_documents_to_first_turns(conversation: Conversation) -> Mapping[str, int]:
    """Give the first assistant turn that has each document, by what is shown of it."""
    first_turns: dict[str, int] = {}
    for position, turn in enumerate(conversation.turns):
        if turn.role == "assistant":
            for document in turn.retrieval_context or ():
                first_turns.setdefault(
                    Passage(document.text, document.images).text_with_marks, position
                )
    return first_turns


def make_claim_from_statement(
    statement: str, document: Passage, first_turns: Mapping[str, int]
) -> Claim:
    """Make what gets the verdict."""
    return Claim(
        turn=first_turns[document.text_with_marks],
        text=statement,
        span=find_span(statement, document.text),
        kind="statement",
        document=document.text_with_marks,
    )


def add_deepeval_relevance_reasons(
    metric: RelevanceOptions, views: Sequence[WindowView], findings: Sequence[WindowFindings]
) -> Questions[tuple[WindowFindings, ...]]:
    """Under `as_peer`, ask for each window's reason as the peer does.

    A window without a verdict has a fixed reason there, asked for or not.
    """
    if not metric.as_peer:
        return tuple(findings)

    def explain_window(view: WindowView, found: WindowFindings) -> Questions[WindowFindings]:
        labels = [each.label for each in found.verdicts]
        score = score_window(labels, metric.rule).value
        if score is None or not any(labels):
            return replace(found, reason=NOTHING_JUDGED)
        if not metric.include_reason:
            return found
        irrelevant = [
            f"{each.claim.text}: {each.reason or 'no reason given'}"
            for each in found.verdicts
            if each.label == "no"
        ]
        relevant = [each.claim.text for each in found.verdicts if each.label == "yes"]
        question = make_relevance_reason_question(
            metric.prompts, score, view.messages, irrelevant=irrelevant, relevant=relevant
        )
        return replace(found, reason=(yield from ask(question, view.window.position)))

    explained = yield from ask_branches(
        map(explain_window, views, findings), at_once=metric.async_mode
    )
    return tuple(explained)
