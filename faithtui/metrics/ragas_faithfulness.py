"""Faithfulness as ragas defines it: what share of an answer's statements follow from the passages?

Two steps per answer: cut it into statements, then say of each whether it can be inferred. There is
no third word: what the passages do not mention cannot be inferred.

Source: ragas 0.4.3, metrics/_faithfulness.py, the class `ragas.metrics.Faithfulness`.
docs/metrics/ragas-faithfulness.md has the formula and every difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Literal

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.judging.tasks import InferStatementList, InferStatements, SplitAnswer
from faithtui.domain.labels.label_sets import INFERENCE
from faithtui.domain.scores import ScoringRule
from faithtui.domain.windows import Window
from faithtui.errors import ConfigError, MissingParameters
from faithtui.metrics.attribution import attribute_claims_to_answers
from faithtui.metrics.base import JudgeTraits, MetricSpec, Question, QuestionPace, Questions, ask
from faithtui.metrics.missing_verdicts import ask_until_complete
from faithtui.metrics.prompt_texts import PromptSet, fence_texts, format_numbered_lines
from faithtui.metrics.questions import format_passages_with_image_marks, list_images, list_texts
from faithtui.metrics.ragas.replies import (
    ParsedInference,
    make_inference_list_reply_shape,
    make_keyed_inferences_reply_shape,
    make_statement_list_reply_shape,
)
from faithtui.metrics.single_answers import (
    AnsweredInteraction,
    cut_answer_windows,
    explain_missing_answer,
    judge_each_answer,
)
from faithtui.metrics.window_scores import (
    WindowFindings,
    add_undefined_score_reason,
    assess_window,
    average_windows_without_reason,
    prefix_bare_model_with_openai,
)

SPEC = MetricSpec(
    key="ragas-faithfulness",
    title="ragas faithfulness",
    version="1",
    peer="ragas 0.4.3",
    labels=INFERENCE,
    judges="claim",
    units=("statement", "statements"),
    references=None,
    references_are_facts=True,
    nothing_judged="The judge found no statement here.",
    nothing_checked="The judge reads the passages themselves.",
    context_from="the documents of assistant turns",
)

STEPS = {
    "system": (),
    "statements": ("question", "answer"),
    "inference": ("passages", "statements"),
    "inference-list": ("passages", "statements"),
}
"""Prompt texts and the holes each must have."""

VERDICT_STEPS = ("inference", "inference-list")
"""Those that ask for a verdict."""

NOTHING_RETRIEVED = ParsedInference("0", None, "Retrieval returned nothing to infer it from.")


@dataclass(frozen=True, slots=True)
class RagasFaithfulness:
    """The metric with its options; names and defaults are the peer's."""

    prompts: PromptSet
    batch_size: int = 10
    """At most so many answers in flight at once, 1 or more."""
    llm: str | None = None
    """The judge: `provider:model`, or a bare name of OpenAI's; None: the run's."""
    strategy: Literal["evidence", "window"] = "evidence"
    """Both ask the same: this metric judges each answer by itself."""
    verbose_mode: bool = False
    """Tell the steps of each conversation on stderr."""
    answers_alone: bool = False
    """Take a conversation without any user turn as one answer to no question."""
    as_peer: bool = False
    """Use the peer's arithmetic with its oddities."""

    def __post_init__(self) -> None:
        """Refuse options that cannot be meant.

        Raises:
            ConfigError: No answer could ever be in flight.
        """
        if self.batch_size < 1:
            raise ConfigError(f"batch_size is {self.batch_size}; expected 1 or more answers")

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about the metric."""
        return SPEC

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores; without any there is none, and nothing passes or fails."""
        return ScoringRule(
            passing=("1",),
            when_empty=None,
            threshold=None,
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
        """As many answers in flight as `batch_size` says."""
        return QuestionPace(answers=self.batch_size)

    @property
    def judge(self) -> str | None:
        """The judge that `llm` names."""
        return prefix_bare_model_with_openai(self.llm)

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation into windows of one interaction each."""
        return cut_answer_windows(conversation, answers_alone=self.answers_alone or self.as_peer)

    def explain_skip(self, conversation: Conversation) -> str | None:
        """Say why there is no answer to judge; never under the peer's rules, which fail then."""
        return (
            None
            if self.as_peer
            else explain_missing_answer(conversation, self.windows(conversation))
        )

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[tuple[WindowFindings, ...]]:
        """Ask about every answer; one entry per window."""

        def judge_one(answered: AnsweredInteraction) -> Questions[WindowFindings]:
            statements, inferences = yield from self._ask_statements_and_verdicts(answered, claims)
            verdicts = tuple(
                Verdict(statement, None)
                if found is None
                else Verdict(statement, found.label, found.word, found.reason, found.confidence)
                for statement, found in zip_longest(statements, inferences[: len(statements)])
            )
            surplus = tuple(found.label for found in inferences[len(statements) :] if found)
            judged = WindowFindings(
                verdicts, surplus=surplus, without_context=not answered.contexts
            )
            return add_undefined_score_reason(
                judged, SPEC, self.rule, answered.answers, given=claims is not None
            )

        return (
            yield from judge_each_answer(
                conversation, self.windows(conversation), judge, judge_one, as_peer=self.as_peer
            )
        )

    def assess(self, findings: tuple[WindowFindings, ...], window: Window) -> Assessment:
        """Score one answer."""
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Average the answers that have a score; nothing is asked."""
        yield from ()
        return average_windows_without_reason(self.rule, assessments)

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        """Say each answer's result as ragas does: a number or, for NaN, none."""
        return tuple({"score": each.score.value} for each in assessments)

    def _ask_statements_and_verdicts(
        self, answered: AnsweredInteraction, given: Sequence[Claim] | None
    ) -> Questions[tuple[tuple[Claim, ...], Sequence[ParsedInference | None]]]:
        """Ask about one answer: its statements, and what was said of them in their order.

        Raises:
            MissingParameters: Nobody knows the context, which the peer notices after the first
                question; under `as_peer` also: there is no question.
        """
        if self.as_peer and not answered.questions:
            raise MissingParameters(("user_input",))
        if answered.contexts is None and not self.as_peer:
            raise MissingParameters(("retrieved_contexts",))
        if given is not None:
            statements = tuple(claim for claim in given if claim.turn in answered.turns)
        elif self.as_peer or any(passage.text_with_marks.strip() for passage in answered.answers):
            question = _make_statements_question(self.prompts, answered, as_peer=self.as_peer)
            found = yield from ask(question, answered.window.position)
            statements = attribute_claims_to_answers(
                found, answered.turns, list_texts(answered.answers)
            )
        else:
            statements = ()
        if not statements:
            return (), ()
        if answered.contexts is None:
            raise MissingParameters(("retrieved_contexts",))
        wanted = [statement.text for statement in statements]
        if self.as_peer:
            listed = _make_inference_list_question(self.prompts, wanted, answered.contexts)
            return statements, (yield from ask(listed, answered.window.position))
        passages = [one for one in dict.fromkeys(answered.contexts) if one.text_with_marks.strip()]
        if not passages:
            return statements, [NOTHING_RETRIEVED] * len(statements)
        inferences = yield from _ask_inferences(
            self.prompts, wanted, passages, answered.window.position
        )
        return statements, inferences


def _ask_inferences(
    prompts: PromptSet, statements: Sequence[str], passages: Sequence[Passage], window: int
) -> Questions[tuple[ParsedInference | None, ...]]:
    """Ask for one verdict per statement; missing ones are asked for again, at most twice."""
    return ask_until_complete(
        len(statements),
        lambda left: _make_inference_question(prompts, [statements[n] for n in left], passages),
        partial(ask, window=window),
        _has_label,
    )


def _has_label(inference: ParsedInference) -> bool:
    return inference.label is not None


def _make_statements_question(
    prompts: PromptSet, answered: AnsweredInteraction, *, as_peer: bool
) -> Question[tuple[str, ...]]:
    """Ask for the statements of an answer."""
    return Question(
        step="statements",
        task=SplitAnswer(answered.question, answered.response),
        system=prompts.render("system"),
        prompt=prompts.render(
            "statements",
            question=fence_texts(
                "question", "q", format_passages_with_image_marks(answered.questions)
            ),
            answer=fence_texts("answer", "a", format_passages_with_image_marks(answered.answers)),
        ),
        reply=make_statement_list_reply_shape(as_peer=as_peer),
        max_tokens=600 + len(answered.response),
        images=list_images([*answered.questions, *answered.answers]),
    )


def _make_inference_question(
    prompts: PromptSet, statements: Sequence[str], passages: Sequence[Passage]
) -> Question[tuple[ParsedInference | None, ...]]:
    """Ask for one verdict per numbered statement."""
    return Question(
        step="inference",
        task=InferStatements(tuple(statements), list_texts(passages)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "inference",
            passages=fence_texts("passage", "p", format_passages_with_image_marks(passages)),
            statements=format_numbered_lines("s", statements),
        ),
        reply=make_keyed_inferences_reply_shape([f"s{n}" for n in range(len(statements))]),
        max_tokens=400 + 120 * len(statements),
        images=list_images(passages),
    )


def _make_inference_list_question(
    prompts: PromptSet, statements: Sequence[str], passages: Sequence[Passage]
) -> Question[tuple[ParsedInference, ...]]:
    """Ask for an unnumbered list of verdicts, as the peer does."""
    return Question(
        step="inference",
        task=InferStatementList(tuple(statements), list_texts(passages)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "inference-list",
            passages=fence_texts("passage", "p", format_passages_with_image_marks(passages)),
            statements=format_numbered_lines("s", statements),
        ),
        reply=make_inference_list_reply_shape(),
        max_tokens=400 + 150 * len(statements),
        images=list_images(passages),
    )
