"""LlamaIndex faithfulness: does the retrieved context support the answer as a whole?

One verdict per answer, from one question per chunk of its context. docs/metrics/
llamaindex-faithfulness.md has the rule and every difference.

Source: llama-index-core 0.14.25, evaluation/faithfulness.py.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion, Verdict
from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.label_sets import SUPPORT
from faithtui.domain.scores import ScoringRule
from faithtui.domain.windows import Window
from faithtui.errors import ConfigError, MetricError, MissingParameters, NotFaithful
from faithtui.metrics.base import JudgeTraits, MetricSpec, QuestionPace, Questions
from faithtui.metrics.llamaindex.refinement import (
    RefinedReply,
    RefineSettings,
    judge_answer_over_context_chunks,
    make_no_context_reply,
)
from faithtui.metrics.llamaindex.templates import CallerTemplate, Holes, adapt_template
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import format_passages_with_image_marks, list_texts
from faithtui.metrics.single_answers import (
    AnsweredInteraction,
    cut_answer_windows,
    explain_missing_answer,
    judge_each_answer,
    read_interaction,
)
from faithtui.metrics.window_scores import (
    WindowFindings,
    add_undefined_score_reason,
    assess_window,
    average_windows_without_reason,
    prefix_bare_model_with_openai,
)

SPEC = MetricSpec(
    key="llamaindex-faithfulness",
    title="LlamaIndex faithfulness",
    version="1",
    peer="llama-index-core 0.14.25",
    labels=SUPPORT,
    judges="answer",
    units=("answer", "answers"),
    references=None,
    references_are_facts=True,
    nothing_judged="The answer has no text, so there is nothing to judge.",
    nothing_checked="The judge reads the passages themselves.",
    context_from="the documents of assistant turns",
)

STEPS = {
    "system": (),
    "question": ("context", "answer"),
    "refine": ("context", "answer", "earlier"),
}
"""Prompt texts and the holes each must have."""

VERDICT_STEPS = ("question", "refine")
"""Those that ask for a verdict."""

HOLES: Mapping[str, Holes] = {
    "eval_template": {"context_str": ("context_str",), "query_str": ("query_str",)},
    "refine_template": {
        "context_str": ("context_str", "context_msg"),
        "query_str": ("query_str",),
        "existing_answer": ("existing_answer",),
    },
}
"""Holes of a caller's templates by the peer's names. The peer's own refine template says
`context_msg`, its documentation `context_str`."""

PEER_CONTEXT_WINDOW = 3_900
"""What the peer takes for a model that does not say."""

UNREADABLE_MODEL = "llama3:8b"
"""The peer's own prompt for a model of this name has holes that nobody fills: no context."""

CONTEXT_WINDOW = 32_000
"""What we take for a judge that does not say: hardly a model in use reads less."""


@dataclass(frozen=True, slots=True)
class LlamaIndexFaithfulness:
    """The metric with its options; names and defaults are the peer's."""

    prompts: PromptSet
    strategy: Literal["evidence", "window"] = "evidence"
    """Both ask the same: each answer is judged by itself."""
    raise_error: bool = False
    """Raise NotFaithful when an answer is not supported, instead of a failing result."""
    eval_template: str | object | None = None
    """The whole prompt of the first question, with {context_str} and {query_str} (the answer): a
    text, or an object with `format(**holes) -> str`; None: ours."""
    refine_template: str | object | None = None
    """The same for later questions, with {existing_answer} (the reply before) too."""
    query: str | None = None
    """The question as it stands in the result; None: the user's messages. Never shown."""
    sleep_time_in_seconds: float = 0
    """Seconds to wait before each question."""
    context_window: int | None = None
    """Tokens the judge reads and writes at once; None: what the judge says, else 32000 (under
    `as_peer` 3900)."""
    num_output: int = 256
    """Tokens of a reply; so many are kept free."""
    llm: str | None = None
    """The judge: `provider:model`, or a bare name of OpenAI's; None: the run's."""
    verbose_mode: bool = False
    """Tell the steps of each conversation on stderr."""
    answers_alone: bool = False
    """Take a conversation without any user turn as one interaction."""
    as_peer: bool = False
    """Use the peer's rules with their oddities."""

    def __post_init__(self) -> None:
        """Refuse options that cannot be meant, and try the templates.

        Raises:
            ConfigError: A value outside its range, a template that lacks a hole or has one that
                cannot be filled, or a template where examples are to be shown.
        """
        for option, holes in HOLES.items():
            given = getattr(self, option)
            if given is None:
                continue
            if self.prompts.examples:
                raise ConfigError(
                    f"{option} replaces the question that examples stand in; give one or the other"
                )
            template = adapt_template(option, given, holes, strict=not self.as_peer)
            if not isinstance(given, str):
                # Kept with the text it amounts to, so that the run can be stored.
                object.__setattr__(self, option, template)
        if self.as_peer:
            return
        if not 0 <= self.sleep_time_in_seconds < math.inf:
            raise ConfigError(
                f"sleep_time_in_seconds is {self.sleep_time_in_seconds}; expected 0 or more"
            )
        for name, value in (
            ("context_window", self.context_window),
            ("num_output", self.num_output),
        ):
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}; expected 1 or more tokens")

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about the metric."""
        return SPEC

    @property
    def rule(self) -> ScoringRule:
        """An answer passes or not; a conversation passes when all its answers do."""
        return ScoringRule(
            passing=("yes",),
            when_empty=None,
            threshold=1.0,
            as_peer=self.as_peer,
            labels=SPEC.labels.names,
            synonyms=SPEC.labels.synonyms,
        )

    @property
    def prompt_digest(self) -> str:
        """Changes when any prompt text changes, the caller's templates included."""
        own = {f"own {step}": template.text for step, template in self._adapt_templates().items()}
        return replace(self.prompts, texts={**self.prompts.texts, **own}).digest

    @property
    def pace(self) -> QuestionPace:
        """Waits before each question."""
        return QuestionPace(pause_s=float(self.sleep_time_in_seconds))

    @property
    def judge(self) -> str | None:
        """The judge that `llm` names."""
        return prefix_bare_model_with_openai(self.llm)

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation into windows of one interaction each."""
        return cut_answer_windows(conversation, answers_alone=self.answers_alone or self.as_peer)

    def explain_skip(self, conversation: Conversation) -> str | None:
        """Say why there is no answer to judge; never under the peer's rules, which raise then."""
        return (
            None
            if self.as_peer
            else explain_missing_answer(conversation, self.windows(conversation))
        )

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[tuple[WindowFindings, ...]]:
        """Judge every answer; one entry per window.

        Raises:
            MetricError: Claims are given.
        """
        if claims is not None:
            raise MetricError(
                f"{SPEC.key} judges whole answers, not claims; run it without imported claims"
            )
        settings = self._make_refine_settings(judge)
        return (
            yield from judge_each_answer(
                conversation,
                self.windows(conversation),
                judge,
                partial(self._judge_answer, settings),
                as_peer=self.as_peer,
            )
        )

    def assess(self, findings: tuple[WindowFindings, ...], window: Window) -> Assessment:
        """Score one answer: 1 or 0."""
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Average the answers; nothing is asked.

        Raises:
            NotFaithful: An answer is not supported, and `raise_error` is set.
        """
        yield from ()
        if self.raise_error:
            for found in assessments:
                for verdict in found.verdicts:
                    if verdict.label == "no":
                        raise NotFaithful(
                            f"the answer in turn {verdict.claim.turn + 1} is not supported by its "
                            f"context: {verdict.reason}"
                        )
        return average_windows_without_reason(self.rule, assessments)

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        """Say the result of each answer in LlamaIndex's words."""
        return tuple(
            self._make_llamaindex_result(read_interaction(conversation, found.window), found)
            for found in assessments
        )

    def _make_llamaindex_result(
        self, one: AnsweredInteraction, found: Assessment
    ) -> Mapping[str, object]:
        score = found.score.value
        return {
            "query": one.question if self.query is None else self.query,
            "contexts": None if one.contexts is None else list(list_texts(one.contexts)),
            "response": one.response,
            "passing": None if score is None else score == 1,
            "feedback": found.verdicts[0].word if found.verdicts else None,
            "score": score,
            "pairwise_source": None,
            "invalid_result": score is None,
            "invalid_reason": found.score.reason,
        }

    def _judge_answer(
        self, settings: RefineSettings, one: AnsweredInteraction
    ) -> Questions[WindowFindings]:
        """Judge one answer.

        Raises:
            MissingParameters: Under the peer's rules, nobody knows its context.
        """
        if one.contexts is None:
            if self.as_peer:
                raise MissingParameters(("contexts",))
            return WindowFindings(skipped="no retrieval context", without_context=True)
        contexts: tuple[str, ...] = format_passages_with_image_marks(one.contexts)
        if self.as_peer:
            # The peer cuts white space alone into no node, and an empty text into an empty one.
            contexts = tuple(each for each in contexts if not each or each.strip())
            if contexts and (self.llm or "").endswith(UNREADABLE_MODEL):
                contexts = ("",)
        else:
            contexts = tuple(each for each in contexts if each.strip())
            if not any(each.strip() for each in format_passages_with_image_marks(one.answers)):
                blank = WindowFindings(without_context=not contexts)
                return add_undefined_score_reason(blank, SPEC, self.rule, one.answers)
        reply = (
            (yield from judge_answer_over_context_chunks(one, contexts, settings))
            if contexts
            else make_no_context_reply(as_peer=self.as_peer)
        )
        return WindowFindings(
            verdicts=(_make_verdict(one, reply),), without_context=not one.contexts
        )

    def _make_refine_settings(self, judge: JudgeTraits) -> RefineSettings:
        window = self.context_window if self.context_window is not None else judge.context_window
        if window is None:
            window = PEER_CONTEXT_WINDOW if self.as_peer else CONTEXT_WINDOW
        return RefineSettings(
            self.prompts, self._adapt_templates(), window, self.num_output, self.as_peer
        )

    def _adapt_templates(self) -> dict[str, CallerTemplate]:
        """Give the caller's templates by step."""
        options = {"question": "eval_template", "refine": "refine_template"}
        return {
            step: adapt_template(option, given, HOLES[option], strict=not self.as_peer)
            for step, option in options.items()
            if (given := getattr(self, option)) is not None
        }


def _make_verdict(one: AnsweredInteraction, reply: RefinedReply) -> Verdict:
    claim = Claim(turn=one.turns[-1], text=one.response, kind="answer")
    return Verdict(claim, reply.label, word=reply.word, reason=reply.reason)
