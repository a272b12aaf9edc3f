"""Turn contextual relevancy: what share of the retrieved documents serves what the user asked?

Every document is cut into statements, and each statement is relevant to the user's messages or not.
The assistant's answers are never read. Two strategies ask, one arithmetic scores:

- `evidence` asks about every document once, with all messages it can meet, and derives each
  window's verdicts from the messages named.
- `window` asks what the peer asks, window by window.

Source: deepeval 4.3.1, metrics/turn_contextual_relevancy. docs/metrics/turn-contextual-relevancy.md
has the formula and every difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.label_sets import RELEVANCE
from faithtui.domain.scores import ScoringRule
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.errors import MetricError, PeerFails
from faithtui.metrics.base import JudgeTraits, MetricSpec, QuestionPace, Questions
from faithtui.metrics.option_checks import check_threshold, check_window_size
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import list_documents, refuse_unsupported_images
from faithtui.metrics.relevance.evidence_strategy import gather_relevance_by_evidence as by_evidence
from faithtui.metrics.relevance.questions import STEPS as STEPS
from faithtui.metrics.relevance.questions import VERDICT_STEPS as VERDICT_STEPS
from faithtui.metrics.relevance.window_passages import NO_CONTEXT, NO_MESSAGE, make_window_views
from faithtui.metrics.relevance.window_strategy import gather_relevance_by_window as by_window
from faithtui.metrics.window_scores import (
    WindowFindings,
    add_undefined_score_reason,
    assess_window,
    average_windows_and_ask_reason,
    make_deepeval_result,
    prefix_bare_model_with_openai,
)

SPEC = MetricSpec(
    key="turn-contextual-relevancy",
    title="Turn contextual relevancy",
    version="2",
    peer="deepeval 4.3.1",
    labels=RELEVANCE,
    judges="statement",
    units=("statement", "statements"),
    references="messages",
    references_are_facts=False,
    nothing_judged="The judge found no statement in the documents.",
    nothing_checked="There is no user message in view.",
    context_from="the documents of assistant turns",
)


@dataclass(frozen=True, slots=True)
class TurnContextualRelevancy:
    """The metric with its options; names and defaults are the peer's."""

    prompts: PromptSet
    strategy: Literal["evidence", "window"] = "evidence"
    """`evidence` asks about every document once, `window` as the peer does."""
    threshold: float | None = 0.5
    """A conversation passes from here on, in [0, 1]; None: no pass or fail."""
    strict_mode: bool = False
    """Binary: 1 when every statement of every window is relevant, else 0. The threshold becomes
    1."""
    include_reason: bool = True
    """Ask for a final reason."""
    window_size: int = 10
    """How far a window reaches back, in interactions."""
    model: str | None = None
    """The judge: `provider:model`, or a bare name of OpenAI's; None: the run's."""
    async_mode: bool = True
    """Ask what does not depend on each other at once; False: one question at a time."""
    verbose_mode: bool = False
    """Tell the steps of each conversation on stderr."""
    answers_alone: bool = False
    """Take a conversation without any user turn as one interaction. It is skipped all the same:
    there is no message that a document could serve."""
    as_peer: bool = False
    """Use the peer's arithmetic with its oddities."""

    def __post_init__(self) -> None:
        """Refuse options that cannot be meant.

        Raises:
            ConfigError: A value outside its range. The peer takes any.
        """
        if self.as_peer:
            return
        check_threshold(self.threshold)
        check_window_size(self.window_size)

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about the metric."""
        return SPEC

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores."""
        return ScoringRule(
            passing=("yes",),
            when_empty=1.0 if self.as_peer else None,
            threshold=self.threshold,
            strict=self.strict_mode,
            as_peer=self.as_peer,
            labels=SPEC.labels.names,
            synonyms=SPEC.labels.synonyms,
        )

    @property
    def prompt_digest(self) -> str:
        """Changes when any prompt text changes."""
        return self.prompts.digest

    @property
    def pace(self) -> QuestionPace:
        """One question at a time without `async_mode`."""
        return QuestionPace(one_call=not self.async_mode)

    @property
    def judge(self) -> str | None:
        """The judge that `model` names."""
        return prefix_bare_model_with_openai(self.model)

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation into sliding windows of interactions."""
        parts = split_into_interactions(conversation.turns, answers_alone=self.answers_alone)
        return cut_sliding_windows(parts, self.window_size)

    def explain_skip(self, conversation: Conversation) -> str | None:
        """Say why there is nothing to judge; never under the peer's rules, which score it 1."""
        if self.as_peer:
            return None
        windows = self.windows(conversation)
        if not windows:
            if not any(turn.role == "user" for turn in conversation.turns):
                return "no user turn"
            return "no answered user turn"
        reasons = {
            view.explain_skip for view in make_window_views(conversation, windows, as_peer=False)
        }
        return next((each for each in (None, NO_MESSAGE) if each in reasons), NO_CONTEXT)

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[tuple[WindowFindings, ...]]:
        """Ask everything about a conversation, by the chosen strategy; one entry per window."""
        if claims is not None:
            raise MetricError(
                f"{SPEC.key} judges statements of documents and cannot judge given claims; "
                "run it without them"
            )
        refuse_unsupported_images(conversation, judge)
        windows = self.windows(conversation)
        if self.as_peer and not conversation.images:
            _refuse_document_sources(conversation, windows)
        gather = by_evidence if self.strategy == "evidence" else by_window
        found = yield from gather(self, conversation, windows)
        return tuple(
            add_undefined_score_reason(
                each, SPEC, self.rule, list_documents(conversation, window.turns)
            )
            for each, window in zip(found, windows, strict=True)
        )

    def assess(self, findings: tuple[WindowFindings, ...], window: Window) -> Assessment:
        """Score one window."""
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Average the windows that have context and ask why."""
        return average_windows_and_ask_reason(
            self.prompts, SPEC, self.rule, assessments, include_reason=self.include_reason
        )

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        """Say the result in deepeval's words."""
        return make_deepeval_result(conclusion, self.rule.effective_threshold)


def _refuse_document_sources(conversation: Conversation, windows: Sequence[Window]) -> None:
    """Fail where the peer fails: it splits every document as plain text, unless there are images.

    Raises:
        PeerFails: A document in a window carries a source.
    """
    for window in windows:
        for turn in window.turns:
            if conversation.turns[turn].role == "assistant" and any(
                document.source is not None
                for document in conversation.turns[turn].retrieval_context or ()
            ):
                raise PeerFails(
                    f"{SPEC.peer} fails with a TypeError on documents that carry a source; "
                    "run without --as-peer"
                )
