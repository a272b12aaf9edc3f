"""Turn faithfulness: what share of an assistant's claims do the retrieved documents back?

Two strategies ask, one arithmetic scores:

- `evidence` asks about every document, answer and (claim, truth) pair once and derives each
  window's verdicts from the evidence named.
- `window` asks what the peer asks, window by window.

Source: deepeval 4.3.1, metrics/turn_faithfulness. docs/metrics/turn-faithfulness.md has the formula
and every difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.errors import PeerFails
from faithtui.metrics import questions
from faithtui.metrics.base import JudgeTraits, MetricSpec, QuestionPace, Questions
from faithtui.metrics.option_checks import (
    check_threshold,
    check_truths_extraction_limit,
    check_window_size,
)
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import list_messages, refuse_unsupported_images
from faithtui.metrics.strategies.evidence_strategy import gather_by_evidence as by_evidence
from faithtui.metrics.strategies.window_strategy import gather_by_window as by_window
from faithtui.metrics.window_scores import (
    WindowFindings,
    add_undefined_score_reason,
    assess_window,
    average_windows_and_ask_reason,
    make_deepeval_result,
    prefix_bare_model_with_openai,
)

SPEC = MetricSpec(
    key="turn-faithfulness",
    title="Turn faithfulness",
    version="3",
    peer="deepeval 4.3.1",
    labels=FAITHFULNESS,
    judges="claim",
    units=("claim", "claims"),
    references="truths",
    references_are_facts=True,
    nothing_judged="The judge found no claim here.",
    nothing_checked="The judge drew no truth from the documents in view.",
    context_from="the documents of assistant turns",
)

STEPS = {**questions.STEPS, "evidence": ("groups",)}
"""Prompt texts and the holes each must have."""

VERDICT_STEPS = ("verdicts", "verdict-list", "evidence")
"""Those that ask for a verdict."""


@dataclass(frozen=True, slots=True)
class TurnFaithfulness:
    """The metric with its options; names and defaults are the peer's."""

    prompts: PromptSet
    strategy: Literal["evidence", "window"] = "evidence"
    """`evidence` asks about everything once, `window` as the peer does."""
    threshold: float | None = 0.5
    """A conversation passes from here on, in [0, 1]; None: no pass or fail."""
    strict_mode: bool = False
    """Binary: 1 when every claim of every window passes, else 0. The threshold becomes 1."""
    include_reason: bool = True
    """Ask for a final reason."""
    truths_extraction_limit: int | None = None
    """At most so many truths per document (under `as_peer` per window); None: all."""
    penalize_ambiguous_claims: bool = False
    """Claims that the context does not address fail."""
    window_size: int = 10
    """How far a window reaches back, in interactions."""
    model: str | None = None
    """The judge: `provider:model`, or a bare name of OpenAI's; None: the run's."""
    async_mode: bool = True
    """Ask what does not depend on each other at once; False: one question at a time."""
    verbose_mode: bool = False
    """Tell the steps of each conversation on stderr."""
    answers_alone: bool = False
    """Take a conversation without any user turn as one interaction."""
    as_peer: bool = False
    """Use the peer's arithmetic with its oddities."""

    def __post_init__(self) -> None:
        """Refuse options that cannot be meant.

        Raises:
            ConfigError: A value outside its range. The peer takes any window size and limit.
        """
        if self.as_peer:
            return
        check_threshold(self.threshold)
        check_window_size(self.window_size)
        check_truths_extraction_limit(self.truths_extraction_limit)

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about the metric."""
        return SPEC

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores."""
        return ScoringRule(
            passing=("yes",) if self.penalize_ambiguous_claims else ("yes", "idk"),
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
        turns = conversation.turns
        if not split_into_interactions(turns, answers_alone=self.answers_alone):
            if not any(turn.role == "user" for turn in turns):
                return "no user turn"
            return "no answered user turn"
        if all(turn.retrieval_context is None for turn in turns if turn.role == "assistant"):
            return "no retrieval context"
        return None

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[tuple[WindowFindings, ...]]:
        """Ask everything about a conversation, by the chosen strategy; one entry per window."""
        refuse_unsupported_images(conversation, judge)
        if self.as_peer and any(
            document.source is not None
            for window in self.windows(conversation)
            for turn in window.turns
            if conversation.turns[turn].role == "assistant"
            for document in conversation.turns[turn].retrieval_context or ()
        ):
            raise PeerFails(
                f"{SPEC.peer} fails with a TypeError on documents that carry a source; "
                "run without --as-peer"
            )
        # With a size below 1 no window holds an interaction: only the peer's questions are left.
        by_strategy = (
            by_evidence if self.strategy == "evidence" and self.window_size > 0 else by_window
        )
        found = yield from by_strategy(self, conversation, claims)
        return tuple(
            add_undefined_score_reason(
                each,
                SPEC,
                self.rule,
                list_messages(conversation, window.turns, "assistant"),
                given=claims is not None,
            )
            for each, window in zip(found, self.windows(conversation), strict=True)
        )

    def assess(self, findings: tuple[WindowFindings, ...], window: Window) -> Assessment:
        """Score one window."""
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Average the windows and ask why."""
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
