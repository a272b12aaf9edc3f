"""Faithfulness as DeepEvalEx defines it: what share of an answer's claims does nothing contradict?

Per answer: the truths of its documents and the claims of its replies, then a verdict per claim,
then a reason. Truths and claims are asked for in the words of turn faithfulness, so that runs of
both metrics share the replies.

Source: DeepEvalEx 0.1.0, metrics/faithfulness.ex. docs/metrics/deepevalex-faithfulness.md has the
formula and every difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import Score, ScoringRule, passes_threshold
from faithtui.domain.windows import Window
from faithtui.errors import ConfigError, JudgeError, MissingParameters
from faithtui.metrics import questions
from faithtui.metrics.attribution import attribute_claims_to_answers, attribute_truths_to_documents
from faithtui.metrics.base import (
    JudgeTraits,
    MetricSpec,
    Question,
    QuestionPace,
    Questions,
    ask_branches,
)
from faithtui.metrics.deepevalex.extraction import extract_claims_and_truths
from faithtui.metrics.deepevalex.replies import (
    ask_with_deepevalex_errors,
    format_deepevalex_failure,
    make_any_verdict_list_reply_shape,
    make_text_list_reply_shape,
    normalise_verdict,
    parse_deepevalex_failure,
    parse_strict_json,
)
from faithtui.metrics.missing_verdicts import ask_until_complete
from faithtui.metrics.option_checks import check_threshold, check_truths_extraction_limit
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import list_texts, refuse_unsupported_images
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.single_answers import (
    AnsweredInteraction,
    cut_answer_windows,
    explain_missing_answer,
    judge_each_answer,
    read_interaction,
)
from faithtui.metrics.strategies.faithfulness_labels import ask_or_return_error
from faithtui.metrics.window_scores import (
    WindowFindings,
    add_undefined_score_reason,
    assess_window,
    average_windows_without_reason,
    join_answer_reasons,
    list_score_lowering_reasons,
    prefix_bare_model_with_openai,
    score_findings,
)

SPEC = MetricSpec(
    key="deepevalex-faithfulness",
    title="DeepEvalEx faithfulness",
    version="2",
    peer="DeepEvalEx 0.1.0",
    labels=FAITHFULNESS,
    judges="claim",
    units=("claim", "claims"),
    references="truths",
    references_are_facts=True,
    nothing_judged="The judge found no claim here.",
    nothing_checked="The judge drew no truth from the documents of this answer.",
    context_from="the documents of assistant turns",
)

STEPS = {
    step: questions.STEPS[step]
    for step in (
        "system",
        "quoted-truths",
        "pooled-truths",
        "claims",
        "pooled-claims",
        "verdicts",
        "verdict-list",
        "reason",
    )
}
"""Prompt texts and the holes each must have."""

VERDICT_STEPS = ("verdicts", "verdict-list")
"""Those that ask for a verdict."""

ADAPTERS = ("openai", "anthropic")
"""Providers that `adapter` can name."""


@dataclass(frozen=True, slots=True)
class DeepEvalExFaithfulness:
    """The metric with its options; names and defaults are the peer's."""

    prompts: PromptSet
    threshold: float | None = 0.5
    """An answer passes from here on, in [0, 1]; None: no pass or fail."""
    include_reason: bool = True
    """Ask for a reason per answer."""
    truths_extraction_limit: int | None = None
    """At most so many truths per document (under `as_peer` in words only); None: all."""
    adapter: str | None = None
    """Provider of the judge, `openai` or `anthropic`, with its `model`; None: see `model`."""
    model: str | None = None
    """The judge: a model of the `adapter`; without one `provider:model`, or a bare name of
    OpenAI's; None: the run's."""
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
            ConfigError: A value outside its range (the peer takes any threshold and limit), an
                adapter that does not exist here, or one without a model.
        """
        if self.adapter is not None:
            if self.adapter not in ADAPTERS:
                known = " and ".join(ADAPTERS)
                raise ConfigError(f"there is no adapter `{self.adapter}`; there are {known}")
            if self.model is None:
                raise ConfigError(
                    f"adapter is {self.adapter} and model is not set; name the model too "
                    f"(model=NAME), or choose the judge by --judge {self.adapter}:NAME"
                )
        if self.as_peer:
            return
        check_threshold(self.threshold)
        check_truths_extraction_limit(self.truths_extraction_limit)

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about the metric."""
        return SPEC

    @property
    def rule(self) -> ScoringRule:
        """How labels become scores: what is not contradicted passes."""
        return ScoringRule(
            passing=("yes", "idk"),
            when_empty=1.0 if self.as_peer else None,
            threshold=self.threshold,
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
        """As fast as the engine allows."""
        return QuestionPace()

    @property
    def judge(self) -> str | None:
        """The judge that `adapter` and `model` name."""
        if self.adapter is None:
            return prefix_bare_model_with_openai(self.model)
        return f"{self.adapter}:{self.model}"

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
        refuse_unsupported_images(conversation, judge)
        windows = self.windows(conversation)
        if self.as_peer and not windows:
            raise MissingParameters(("actual_output",))
        every = [read_interaction(conversation, window) for window in windows]
        missing = [_find_missing_fields(each, as_peer=self.as_peer) for each in every]
        extracted = None
        if self.as_peer:
            # One of them loses the conversation: then nothing is asked about the others either.
            for fields in filter(None, missing):
                raise MissingParameters(fields)
        else:
            judged = [each for each in every if not missing[each.window.position]]
            extracted = yield from extract_claims_and_truths(
                self.prompts, self.truths_extraction_limit, every, judged, claims
            )

        def judge_one(answered: AnsweredInteraction) -> Questions[WindowFindings]:
            if missing[answered.window.position]:
                raise MissingParameters(missing[answered.window.position])
            if extracted is None:
                return (yield from self._judge_answer_as_deepevalex(answered, claims))
            found, truths = extracted.get_claims_and_truths_of_answer(answered)
            return (
                yield from self._judge_numbered_claims(
                    answered, found, truths, given=claims is not None
                )
            )

        return (
            yield from judge_each_answer(
                conversation,
                windows,
                judge,
                judge_one,
                as_peer=self.as_peer,
                describe_error=format_deepevalex_failure,
            )
        )

    def assess(self, findings: tuple[WindowFindings, ...], window: Window) -> Assessment:
        """Score one answer."""
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Average the answers; nothing is asked, and the reasons are those of the answers."""
        yield from ()
        score = average_windows_without_reason(self.rule, assessments).score
        if not self.include_reason:
            return Conclusion(score, self._is_success(score), None)
        why = join_answer_reasons(SPEC, self.rule, score, assessments)
        return Conclusion(score, self._is_success(score), why)

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        """Say each answer's result in DeepEvalEx' words; the latency is the conversation's."""
        return tuple(self._make_deepevalex_result(each, latency_ms) for each in assessments)

    def _make_deepevalex_result(self, answer: Assessment, latency_ms: int) -> Mapping[str, object]:
        return {
            "metric": "Faithfulness",
            "score": answer.score.value,
            "success": self._is_success(answer.score),
            "reason": answer.reason if self.include_reason else None,
            "threshold": self.threshold,
            "latency_ms": latency_ms,
            "metadata": _make_deepevalex_metadata(answer, self.truths_extraction_limit),
            "error": None
            if answer.score.reason is None
            else parse_deepevalex_failure(answer.score.reason),
        }

    def _is_success(self, score: Score) -> bool | None:
        """Compare with the threshold; under the peer's rules nothing passes without one."""
        if self.as_peer and self.threshold is None and score.value is not None:
            return False
        return passes_threshold(score, self.rule)

    def _judge_answer_as_deepevalex(
        self, each: AnsweredInteraction, given: Sequence[Claim] | None
    ) -> Questions[WindowFindings]:
        """Ask about one answer as the peer does: the first question that fails loses it."""
        contexts, window = each.contexts or (), each.window.position

        def ask_truths() -> Questions[tuple[Truth, ...]]:
            question = questions.make_pooled_truths_question(
                self.prompts, contexts, self.truths_extraction_limit, as_peer=True
            )
            reply = make_text_list_reply_shape("truths")
            facts = yield from ask_with_deepevalex_errors(
                replace(question, reply=reply), "truths", window
            )
            return attribute_truths_to_documents(facts, list_texts(contexts))

        def ask_claims() -> Questions[tuple[Claim, ...]]:
            if given is not None:
                return tuple(claim for claim in given if claim.turn in each.turns)
            question = questions.make_pooled_claims_question(
                self.prompts, each.answers, (), as_peer=True
            )
            reply = make_text_list_reply_shape("claims")
            found = yield from ask_with_deepevalex_errors(
                replace(question, reply=reply), "claims", window
            )
            return attribute_claims_to_answers(found, each.turns, list_texts(each.answers))

        # As the peer: the truths' failure is reported first, whichever came first.
        branches: tuple[Questions[Any], ...] = (
            ask_or_return_error(ask_truths(), as_peer=False),
            ask_or_return_error(ask_claims(), as_peer=False),
        )
        outcomes = yield from ask_branches(branches)
        for outcome in outcomes:
            if isinstance(outcome, JudgeError):
                raise outcome
        facts: tuple[Truth, ...] = outcomes[0]
        found: tuple[Claim, ...] = outcomes[1]
        parsed_verdicts: Sequence[ParsedVerdict] = ()
        if found:
            question = questions.make_verdict_list_question(
                self.prompts,
                [claim.text for claim in found],
                [truth.text for truth in facts],
                FAITHFULNESS.names,
            )
            parsed_verdicts = yield from ask_with_deepevalex_errors(
                replace(question, reply=make_any_verdict_list_reply_shape()), "verdicts", window
            )
        labels = [normalise_verdict(each.word) for each in parsed_verdicts]
        judged = WindowFindings(
            verdicts=tuple(
                Verdict(claim, None)
                if each is None
                else Verdict(claim, normalise_verdict(each.word), each.word, each.reason)
                for claim, each in zip_longest(found, parsed_verdicts[: len(found)])
            ),
            truths=facts,
            surplus=tuple(labels[len(found) :]),
        )
        beyond = [
            each.reason or "no reason given"
            for each, label in zip(parsed_verdicts[len(found) :], judged.surplus, strict=True)
            if label == "no"
        ]
        why = self._make_reason_question(judged, beyond)
        if why is None:
            return judged
        reply = replace(why.reply, parse=parse_strict_json)
        reason = yield from ask_with_deepevalex_errors(replace(why, reply=reply), "reason", window)
        return replace(judged, reason=reason)

    def _judge_numbered_claims(
        self,
        answer: AnsweredInteraction,
        claims: tuple[Claim, ...],
        truths: tuple[Truth, ...],
        *,
        given: bool,
    ) -> Questions[WindowFindings]:
        """Ask for one verdict per numbered claim, and for a reason."""
        in_view, window = [truth.text for truth in truths], answer.window.position
        parsed_verdicts = yield from ask_until_complete(
            len(claims),
            lambda left: questions.make_verdicts_question(
                self.prompts, [claims[n].text for n in left], in_view
            ),
            lambda question: ask_with_deepevalex_errors(question, "verdicts", window),
            lambda each: _read_known_label(each) is not None,
        )
        found = WindowFindings(
            verdicts=tuple(
                Verdict(claim, None)
                if each is None
                else Verdict(
                    claim, _read_known_label(each), each.word, each.reason, each.confidence
                )
                for claim, each in zip(claims, parsed_verdicts, strict=True)
            ),
            truths=truths,
        )
        found = add_undefined_score_reason(found, SPEC, self.rule, answer.answers, given=given)
        why = self._make_reason_question(found) if claims else None
        if why is None:
            return found
        reason = yield from ask_or_return_error(
            ask_with_deepevalex_errors(why, "reason", window), as_peer=False
        )
        # A reason that cannot be had is put together from the verdicts' own.
        return replace(found, reason=None if isinstance(reason, JudgeError) else reason)

    def _make_reason_question(
        self, found: WindowFindings, beyond: Sequence[str] = ()
    ) -> Question[str] | None:
        """Make the question for a reason; None when none is wanted or there is no score."""
        score = score_findings(self.rule, found).value
        if not self.include_reason or score is None:
            return None
        costs = list_score_lowering_reasons(self.rule, found.verdicts)
        return questions.make_reason_question(self.prompts, score, [*costs, *beyond])


def _make_deepevalex_metadata(answer: Assessment, limit: int | None) -> Mapping[str, object]:
    return {
        "truths": [truth.text for truth in answer.truths],
        "claims": [verdict.claim.text for verdict in answer.verdicts],
        "verdicts": [
            *({"verdict": v.label, "reason": v.reason} for v in answer.verdicts),
            *({"verdict": label, "reason": None} for label in answer.surplus),
        ],
        "truths_extraction_limit": limit,
    }


def _read_known_label(verdict: ParsedVerdict) -> str | None:
    return None if verdict.word is None else FAITHFULNESS.find_label_name_for_word(verdict.word)


def _find_missing_fields(each: AnsweredInteraction, *, as_peer: bool) -> tuple[str, ...]:
    """Name what an answer lacks, in the peer's words and order.

    The peer takes white space for a text. A conversation of answers alone has no question, which
    the peer does not let pass.
    """

    def has_text(passages: Sequence[Passage]) -> bool:
        return any(
            each.text_with_marks if as_peer else each.text_with_marks.strip() for each in passages
        )

    contexts = each.contexts or ()
    there = {
        "input": has_text(each.questions) or not (as_peer or each.questions),
        "actual_output": has_text(each.answers),
        "retrieval_context": bool(contexts) if as_peer else has_text(contexts),
    }
    return tuple(name for name, known in there.items() if not known)
