"""From what was found out about windows to their scores and the conversation's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from faithtui.domain.claims.verdicts import Assessment, Conclusion, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.integrity.contradicting_reasons import (
    says_nothing_was_wrong,
    says_something_was_wrong,
)
from faithtui.domain.labels.label_sets import LabelSet, Polarity
from faithtui.domain.scores import (
    TOLERANCE,
    Score,
    ScoreState,
    ScoringRule,
    average_scores,
    format_parts_left_out_of_mean,
    make_empty_score,
    passes_threshold,
    score_window,
)
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import STOPS_THE_RUN, MetricSpec, Questions, ask
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import make_final_reason_question

MOST_NOTED = 100
"""Notes that go into the question for a final reason, about three pages of them."""


STRICT = "strict mode: one of these is enough for a score of 0"
"""Noted where a whole conversation got 0 for what may be a single claim."""


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
    undefined: str | None = None
    """Why the verdicts make no score; None when they do. Without effect where the rule has a
    number for a window without claims, as peers do."""


def add_undefined_score_reason(
    found: WindowFindings,
    spec: MetricSpec,
    rule: ScoringRule,
    read: Sequence[Passage],
    *,
    given: bool = False,
) -> WindowFindings:
    """Say why a window's verdicts make no score, where they make none.

    There are none, or all of them pass only because there was nothing to compare with. A window
    that failed or was skipped stays as it is.

    Args:
        found: The window.
        spec: The metric.
        rule: How its labels become scores.
        read: What was read for what is judged: the window's answers, or its documents.
        given: The claims were given and not drawn.
    """
    if found.failure is not None or found.skipped is not None:
        return found
    source = "documents" if spec.judges == "statement" else "answer"
    if len(read) > 1 and spec.judges != "statement":
        source = "answers"
    units = spec.units[1]
    why = None
    if not found.verdicts:
        if not any(each.text_with_marks.strip() for each in read):
            why = f"the {source} {'has' if source == 'answer' else 'have'} no text"
        elif given:
            why = f"no {units} were given for the {source}"
        else:
            why = f"the judge drew no {units} from the {source}"
    elif spec.references_are_facts and spec.references is not None and not found.truths:
        unsure = {each.name for each in spec.labels.labels if each.polarity is Polarity.UNSURE}
        if all(each.label in unsure and each.label in rule.passing for each in found.verdicts):
            reference = (
                "there is no document"
                if found.without_context
                else f"the judge drew no {spec.references} from the documents"
            )
            why = f"{reference}, so no {spec.units[0]} was compared with anything"
    return found if why is None else replace(found, undefined=why)


def assess_window(rule: ScoringRule, found: WindowFindings, window: Window) -> Assessment:
    """Score one window. Pure."""
    if found.failure is not None:
        return Assessment(window, make_empty_score(ScoreState.FAILED, found.failure))
    if found.skipped is not None:
        return Assessment(
            window,
            make_empty_score(ScoreState.SKIPPED, found.skipped),
            without_context=found.without_context,
        )
    return Assessment(
        window=window,
        score=score_findings(rule, found),
        verdicts=found.verdicts,
        truths=found.truths,
        surplus=found.surplus,
        reason=found.reason or compose_window_reason(rule, found.verdicts),
        without_context=found.without_context,
    )


def score_findings(rule: ScoringRule, found: WindowFindings) -> Score:
    """Score a window that was judged."""
    if found.undefined is not None and rule.when_empty is None:
        return make_empty_score(ScoreState.UNDEFINED, found.undefined)
    return score_window([each.label for each in found.verdicts], rule, found.surplus)


def compose_window_reason(rule: ScoringRule, verdicts: Sequence[Verdict]) -> str | None:
    """Say what cost a window its score, from the verdicts' own reasons; None when nothing did."""
    return "; ".join(_format_failed_claims(rule, verdicts)) or None


def _format_failed_claims(rule: ScoringRule, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """List what cost a window its score, each once."""
    return tuple(
        dict.fromkeys(
            f"{each.claim.text} ({each.label}): {each.reason or 'no reason given'}"
            for each in verdicts
            if each.label is not None and each.label not in rule.passing
        )
    )


def list_score_lowering_reasons(rule: ScoringRule, verdicts: Sequence[Verdict]) -> list[str]:
    """List the reasons of the verdicts that cost a window something; the claim where there is none.

    A cost without words is a cost all the same: without it there would be nothing to say.
    """
    return [
        each.reason or f"{each.claim.text} ({each.label}): no reason given"
        for each in verdicts
        if each.label is not None and each.label not in rule.passing
    ]


def average_windows_without_reason(
    rule: ScoringRule, assessments: Sequence[Assessment]
) -> Conclusion:
    """Average the windows; no reason is asked for."""
    score = average_scores([each.score for each in assessments], rule)
    return Conclusion(score, passes_threshold(score, rule))


def average_windows_and_ask_reason(
    prompts: PromptSet,
    spec: MetricSpec,
    rule: ScoringRule,
    assessments: Sequence[Assessment],
    *,
    include_reason: bool,
) -> Questions[Conclusion]:
    """Average the windows and ask why; a reason that cannot be had never costs the score.

    A reason that finds nothing wrong beside a score that something lowered, or something wrong
    where nothing did, is not kept: what lowered the score is counted instead.
    """
    mean = average_windows_without_reason(rule, assessments)
    score = mean.score.value
    if not include_reason or not assessments or score is None:
        return mean
    reasons = _list_window_reasons_for_final_reason(rule, assessments)
    composed = _compose_conversation_reason(spec, rule, mean.score, assessments, reasons)
    reason: str | None
    try:
        reason = yield from ask(
            make_final_reason_question(prompts, score, mean.success, reasons, as_peer=rule.as_peer)
        )
    except STOPS_THE_RUN:
        raise
    except JudgeError:
        if rule.as_peer:
            raise
        reason = composed
    is_lowered = score < 1 - TOLERANCE
    if reason and (
        says_nothing_was_wrong(reason) if is_lowered else says_something_was_wrong(reason)
    ):
        reason = composed
    return Conclusion(mean.score, mean.success, reason or None)


def join_answer_reasons(
    spec: MetricSpec, rule: ScoringRule, score: Score, assessments: Sequence[Assessment]
) -> str | None:
    """Join the reasons of answers to that of their mean; None when there is nothing to say.

    Where something lowered the mean, a reason that finds nothing wrong is left out: what is said
    of one answer would be read of the whole.
    """
    is_lowered = score.value is not None and score.value < 1 - TOLERANCE
    reasons = [
        each.reason
        for each in assessments
        if each.reason and not (is_lowered and says_nothing_was_wrong(each.reason))
    ]
    if is_lowered and not reasons:
        return _compose_conversation_reason(spec, rule, score, assessments, ())
    left_out = (
        () if rule.as_peer or score.value is None else _format_unscored_window_counts(assessments)
    )
    return "; ".join(dict.fromkeys([*reasons, *left_out])) or None


def format_score_lowering_counts(
    labels: LabelSet, units: tuple[str, str], rule: ScoringRule, assessments: Sequence[Assessment]
) -> tuple[str, ...]:
    """Count what lowered a conversation's score, and the windows that have none.

    Args:
        labels: The metric's.
        units: Name of what is judged, one and many.
        rule: How labels become scores.
        assessments: The windows, in order.

    Returns:
        Phrases such as `2 claims contradicted` (a claim counts once for each label, however many
        windows hold it) and `1 of 4 windows undefined`; () when nothing lowered it.
    """
    labelled_claims = {
        (each.claim, each.label)
        for window in assessments
        if window.score.value is not None
        for each in window.verdicts
    }
    counts = Counter(label for _, label in labelled_claims)
    phrases = [
        f"{_format_count(counts[each.name], units)} {each.meaning}"
        for each in labels.labels
        if each.name not in rule.passing and counts[each.name]
    ]
    surplus = sum(
        label is not None and label not in rule.passing
        for window in assessments
        for label in window.surplus
    )
    if rule.as_peer and surplus:
        phrases.append(
            f"{_format_count(surplus, ('verdict', 'verdicts'))} beyond the last {units[0]}"
        )
    return (*phrases, *_format_unscored_window_counts(assessments))


def _format_unscored_window_counts(assessments: Sequence[Assessment]) -> tuple[str, ...]:
    """Count the windows without a score, by state."""
    states = Counter(each.score.state for each in assessments)
    undefined, skipped = states[ScoreState.UNDEFINED], states[ScoreState.SKIPPED]
    words = (
        format_parts_left_out_of_mean(undefined, 0, len(assessments)),
        format_parts_left_out_of_mean(0, skipped, len(assessments)),
    )
    return tuple(each for each in words if each)


def _format_count(count: int, names: tuple[str, str]) -> str:
    return f"{count} {names[0] if count == 1 else names[1]}"


def _compose_conversation_reason(
    spec: MetricSpec,
    rule: ScoringRule,
    score: Score,
    assessments: Sequence[Assessment],
    noted: Sequence[str],
) -> str:
    """Say why a conversation got its score, from what was counted and noted."""
    if score.value is not None and score.value >= 1 - TOLERANCE:
        return "; ".join(
            ("nothing lowered the score", *_format_unscored_window_counts(assessments))
        )
    counted = "; ".join(format_score_lowering_counts(spec.labels, spec.units, rule, assessments))
    left_out = _format_unscored_window_counts(assessments)
    # Under a peer's rules a window that lost nothing has a reason too.
    costs = "; ".join(
        each for each in noted if each not in left_out and not says_nothing_was_wrong(each)
    )
    return ": ".join(part for part in (counted, costs) if part)


def _list_window_reasons_for_final_reason(
    rule: ScoringRule, assessments: Sequence[Assessment]
) -> tuple[str, ...]:
    """List what is to be said about the windows, in order.

    A claim that costs many windows something is noted once, and no more than `MOST_NOTED`: three
    sentences are to be made of it, and early claims weigh most. A peer's judge is shown all.
    """
    if rule.as_peer:
        return tuple(each.reason for each in assessments if each.reason)
    noted = tuple(
        dict.fromkeys(
            cost
            for each in assessments
            if each.score.value is not None
            for cost in _format_failed_claims(rule, each.verdicts)
        )
    )
    more = len(noted) - MOST_NOTED
    shown = (*noted[:MOST_NOTED], f"and {more} more") if more > 0 else noted
    strict = (STRICT,) if rule.strict and noted else ()
    return (*shown, *strict, *_format_unscored_window_counts(assessments))


def has_context(conversation: Conversation, window: Window) -> bool:
    """Whether any assistant turn of the window has a document."""
    return any(
        conversation.turns[turn].role == "assistant" and conversation.turns[turn].retrieval_context
        for turn in window.turns
    )


def make_deepeval_result(
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


def prefix_bare_model_with_openai(model: str | None) -> str | None:
    """Read a `model` option: `provider:model`, or a bare name, which is OpenAI's as in the peer."""
    if model is None or ":" in model or model == "offline":
        return model
    return f"openai:{model}"
