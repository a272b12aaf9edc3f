"""The verdicts and human labels of each answer, as one result for each rater.

Tracing tools keep scores of traces and spans, so claims are counted up to their answer here, and
stand in the result's details.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from faithtui.agreement.rating_scales import translate_to_rating
from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportLabel,
    ExportPassage,
    ExportRun,
    ExportWindow,
    make_stable_uuid,
)
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import (
    NOTHING_JUDGED,
    Score,
    ScoreState,
    ScoringRule,
    make_empty_score,
    passes_threshold,
    score_window,
)
from faithtui.formats.writers.flat_rows import format_utc_time
from faithtui.formats.writers.trace_ids import TraceIds, find_trace_ids
from faithtui.formats.writers.window_states import list_repeats, list_window_states

OWN_KEY: Final = "faithtui"
"""Key in the metadata of other tools under which details stand."""


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What one rater says of one answer."""

    id: str
    """Holds in every store, so that what is sent twice is one score."""
    name: str
    """Key of the metric; of annotators with `-human` behind it."""
    rater: str
    """Name of the judge or the annotator."""
    by: Literal["judge", "annotator"]
    score: float | None
    """Share of the claims that pass, in [0, 1]; of a label of the whole answer its rating. None:
    there is none, and `explanation` says why."""
    label: str | None
    """`pass` or `fail`; `undefined`, `incomplete`, `failed` or `skipped` without a score; of a
    label of the whole answer the label. None: the run has no threshold."""
    explanation: str | None
    at: datetime | None
    turn: int
    question: str | None
    answer: str
    passages: tuple[ExportPassage, ...]
    """What the assistant was shown for this answer and those in view before it."""
    ids: TraceIds
    details: dict[str, object]
    """Run, judge, conversation and claims, as JSON values: what an import here reads again."""

    @property
    def metadata(self) -> dict[str, object]:
        """What goes with it into another tool: who said it, and the details under our name."""
        return {"judge" if self.by == "judge" else "annotator": self.rater, OWN_KEY: self.details}


def list_answer_results(run: ExportRun, conversation: ExportConversation) -> Iterator[AnswerResult]:
    """List the results of a conversation, answer by answer, the judge's first.

    Every answer that the judge is done with has a result of the judge, claims or not.
    """
    by_turn: dict[int, list[ExportClaim]] = {
        turn: []
        for turn, each in enumerate(conversation.turns)
        if each.role == "assistant" and _is_turn_judged_or_given_up(conversation, turn)
    }
    for claim in conversation.claims:
        by_turn.setdefault(claim.turn, []).append(claim)
    for turn in sorted(by_turn):
        answer = _Answer(run, conversation, turn, by_turn[turn])
        yield from answer.list_results_of_judge_and_annotators()


class _Answer:
    """One answer with its claims."""

    def __init__(
        self,
        run: ExportRun,
        conversation: ExportConversation,
        turn: int,
        claims: Sequence[ExportClaim],
    ) -> None:
        self._run = run
        self._conversation = conversation
        self._turn = turn
        self._claims = claims
        self._ids = find_trace_ids(conversation, turn)
        before = conversation.turns[:turn]
        self._question = next(
            (each.content for each in reversed(before) if each.role == "user"), None
        )
        shown = {each: None for claim in claims if claim.judged for each in claim.passages}
        self._passages = tuple(shown) or conversation.turns[turn].passages or ()

    def list_results_of_judge_and_annotators(self) -> Iterator[AnswerResult]:
        judged = [each for each in self._claims if each.judged]
        if judged:
            score = score_window([each.verdict for each in judged], self._run.rule)
            yield self._make_judge_result(judged, score)
        elif _is_turn_judged_or_given_up(self._conversation, self._turn):
            yield self._make_judge_result((), self._make_score_of_answer_without_claims())
        by_annotator: dict[str, list[tuple[ExportClaim, ExportLabel]]] = {}
        for claim in self._claims:
            for label in claim.labels:
                if label.is_counted:
                    by_annotator.setdefault(label.annotator, []).append((claim, label))
        for annotator in sorted(by_annotator):
            given = by_annotator[annotator]
            of_claims = [each for each in given if each[0].kind != "answer" or each[0].judged]
            if of_claims:
                yield self._make_annotator_result(annotator, of_claims)
            for claim, label in given:
                if claim.kind == "answer" and not claim.judged:
                    yield self._make_rating_result(annotator, claim, label)

    def _make_score_of_answer_without_claims(self) -> Score:
        """Say why an answer has no score of the judge; some peers' rules give it one."""
        window = _find_window(self._conversation, self._turn)
        judged_part = self._conversation if window is None else window
        state = ScoreState(judged_part.state)
        if window is None or state is not ScoreState.SCORED:
            return make_empty_score(state, judged_part.reason or NOTHING_JUDGED)
        return score_window((), self._run.rule)

    def _make_judge_result(self, judged: Sequence[ExportClaim], score: Score) -> AnswerResult:
        window = _find_window(self._conversation, self._turn)
        times = [each.judged_at for each in judged if each.judged_at]
        failed = [each for each in judged if each.verdict not in self._run.rule.passing]
        words = "; ".join(
            f"{each.text if each.kind != 'answer' else 'the answer'} "
            f"({each.verdict or 'no verdict'})" + (f": {each.reason}" if each.reason else "")
            for each in failed
        )
        return self._make_result(
            name=self._run.metric,
            rater=self._run.judge,
            by="judge",
            score=score.value,
            label=_name_pass_fail_or_state(score, self._run.rule),
            explanation=score.reason or words or _describe_all_pass(len(judged)),
            at=max(times, default=window.judged_at if window and not judged else None),
            details={
                "options": self._run.options,
                "state": score.state.value,
                "reason": score.reason,
                "claims": [
                    {
                        "claim_id": each.id,
                        "kind": each.kind,
                        "claim": each.text,
                        "span": each.span,
                        "window": each.window,
                        "repeats": list_repeats(each),
                        "verdict": each.verdict,
                        "word": each.word,
                        "reason": each.reason,
                        "confidence": each.confidence,
                    }
                    for each in judged
                ],
                "window_states": list_window_states(
                    self._conversation, self._list_windows_that_end_here()
                ),
            },
        )

    def _list_windows_that_end_here(self) -> list[int]:
        """List the windows of which this is the last answer: each is of one answer alone."""
        turns = self._conversation.turns
        return [
            window.position
            for window in self._conversation.windows
            if self._turn
            == max((each for each in window.turns if turns[each].role == "assistant"), default=None)
        ]

    def _make_annotator_result(
        self, annotator: str, given: Sequence[tuple[ExportClaim, ExportLabel]]
    ) -> AnswerResult:
        rule = self._run.rule
        words = [
            rule.translate_word_to_label(label.label)
            for _, label in given
            if label.label is not None and label.label != NOT_A_CLAIM
        ]
        known = [each for each in words if each is not None]
        score = score_window(known, rule, why_empty="no label is about a fair claim")
        notes = dict.fromkeys(label.note for _, label in given if label.note)
        return self._make_result(
            name=f"{self._run.metric}-human",
            rater=annotator,
            by="annotator",
            score=score.value,
            label=_name_pass_fail_or_state(score, rule),
            explanation=score.reason or "; ".join(notes) or None,
            at=max((label.at for _, label in given if label.at), default=None),
            details={"labels": [_label_to_json(claim, label) for claim, label in given]},
        )

    def _make_rating_result(
        self, annotator: str, claim: ExportClaim, label: ExportLabel
    ) -> AnswerResult:
        rating = None
        if label.scale is not None and label.raw_label is not None:
            rating = translate_to_rating(label.scale, label.raw_label)
        word = self._run.rule.translate_word_to_label(label.label or "")
        if rating is None and word is not None and word != NOT_A_CLAIM:
            rating = 1.0 if word in self._run.rule.passing else 0.0
        return self._make_result(
            name="answer-faithfulness-human",
            rater=annotator,
            by="annotator",
            score=rating,
            label=label.label,
            explanation=label.note,
            at=label.at,
            details={"labels": [_label_to_json(claim, label)]},
        )

    def _make_result(
        self,
        *,
        name: str,
        rater: str,
        by: Literal["judge", "annotator"],
        score: float | None,
        label: str | None,
        explanation: str | None,
        at: datetime | None,
        details: dict[str, object],
    ) -> AnswerResult:
        talk, run = self._conversation, self._run
        return AnswerResult(
            id=make_stable_uuid("result", run.id, talk.source, talk.key, self._turn, name, rater),
            name=name,
            rater=rater,
            by=by,
            score=score,
            label=label,
            explanation=explanation,
            at=at,
            turn=self._turn,
            question=self._question,
            answer=talk.turns[self._turn].content,
            passages=self._passages,
            ids=self._ids,
            details={
                "by": by,
                "rater": rater,
                "run_id": run.id,
                "metric": run.metric,
                "judge": run.judge,
                "model": run.model,
                "prompts": run.prompts,
                "conversation_id": talk.id,
                "source": talk.source,
                "conversation": talk.key,
                "turn": self._turn,
                "trace_id": self._ids.trace,
                "span_id": self._ids.span,
                **details,
            },
        )


def _name_pass_fail_or_state(score: Score, rule: ScoringRule) -> str | None:
    if score.value is None:
        return score.state.value
    passing = passes_threshold(score, rule)
    return None if passing is None else ("pass" if passing else "fail")


def _find_window(conversation: ExportConversation, turn: int) -> ExportWindow | None:
    """Find the first window that holds a turn."""
    return next((each for each in conversation.windows if turn in each.turns), None)


def _is_turn_judged_or_given_up(conversation: ExportConversation, turn: int) -> bool:
    """Say whether a judge is done with a turn, or will not judge it."""
    is_over = conversation.state in (ScoreState.FAILED, ScoreState.SKIPPED)
    return is_over or _find_window(conversation, turn) is not None


def _describe_all_pass(count: int) -> str:
    if not count:
        return NOTHING_JUDGED
    return "its only claim passes" if count == 1 else f"all {count} claims pass"


def _label_to_json(claim: ExportClaim, label: ExportLabel) -> dict[str, object]:
    return {
        "label_id": label.id,
        "claim_id": claim.id,
        "kind": claim.kind,
        "claim": claim.text,
        "span": claim.span,
        "label": label.label,
        "action": None if label.action is None else label.action.value,
        "note": label.note,
        "code": label.code,
        "at": None if label.at is None else format_utc_time(label.at),
        "seconds": label.seconds,
        "saw_judge": label.saw_judge,
        "judge_verdict": label.judge_verdict,
        "guideline": label.guideline,
        "scale": label.scale,
        "raw_label": label.raw_label,
    }
