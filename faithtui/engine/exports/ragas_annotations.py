"""Human labels of a run, as annotations for ragas."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faithtui.agreement.labelled_units import ClaimUnit
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.split_rule import Split
from faithtui.engine.review.examples_from_labels import (
    get_question_before_turn,
    has_usable_label,
    list_consensus_verdicts,
    list_window_passages,
    read_conversation_of_claim,
)
from faithtui.engine.review.samples.store_split import read_split_conversations
from faithtui.errors import ConfigError
from faithtui.formats.writers.ragas_annotations import AnnotatedAnswer, AnnotatedStatement
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ClaimView, ReviewView
from faithtui.store.store import Store

_CODES = {code.name: code.meaning for code in REASON_CODES}


@dataclass(frozen=True, slots=True)
class AnswerAnnotations:
    """The reviewed answers of a run."""

    answers: tuple[AnnotatedAnswer, ...]
    """Every statement has a human label, and at least one is a fair one."""
    unfinished: int
    """Answers with labels on some statements but not all."""
    unfair: int
    """Answers of which no statement is a fair one, so that they have no score."""


def collect_fully_reviewed_answers(
    store: Store, run: RunId, split: Split | None = None
) -> AnswerAnnotations:
    """Collect the answers of a run that are reviewed whole.

    Args:
        store: Where they are.
        run: Of a metric that judges claims of answers. A verdict is 1 where its label is good, else
            0, as ragas has no third word.
        split: Only of conversations in this part; None: all.

    Raises:
        ConfigError: The run judged something else, or a split is wanted and there is none.
        StoreError: There is no such run.
    """
    run_spec = store.runs.read_run(run).spec
    spec = find_metric(run_spec.metric).spec
    of_run = {
        "rater": run_spec.judge_title,
        "metric": run_spec.metric,
        "options": dict(run_spec.options),
    }
    if spec.judges != "claim":
        raise ConfigError(
            f"ragas judges statements of answers, and run {run} ({spec.key}) judged "
            f"{spec.units[1]}{' of documents' if spec.judges == 'statement' else ''}; "
            "export a run of a metric that judges what answers say"
        )
    within = None if split is None else read_split_conversations(store, split)
    readings = {
        each.claim: each
        for each in store.labelled_units.read_claim_units(run)
        if within is None or each.conversation in within
    }
    read = {claim: each for claim, each in readings.items() if has_usable_label(each, spec.labels)}
    reviewed = {each.conversation: claim for claim, each in read.items()}
    answers: list[AnnotatedAnswer] = []
    unfinished = unfair = 0
    for some_claim in reviewed.values():
        view = read_conversation_of_claim(store, run, some_claim)
        for claims in _iter_claims_by_question(view):
            left = sum(claim.id not in read for claim in claims)
            if left:
                unfinished += left < len(claims)
                continue
            answer = replace(_make_answer(view, claims, read, spec.labels), run=of_run)
            if answer.human_score is None:
                unfair += 1
            else:
                answers.append(answer)
    return AnswerAnnotations(tuple(answers), unfinished, unfair)


def _iter_claims_by_question(view: ReviewView) -> Iterator[list[ClaimView]]:
    """Put claims together whose answers reply to the same message; in the order of the text."""
    together: dict[int, list[ClaimView]] = {}
    for claim in view.claims:
        together.setdefault(_find_question_position(view, claim.turn), []).append(claim)
    yield from together.values()


def _find_question_position(view: ReviewView, turn: int) -> int:
    """Give the position of the last message of the user before a turn; -1 when there is none."""
    return max((each.position for each in view.turns[:turn] if each.role == "user"), default=-1)


def _make_answer(
    view: ReviewView,
    claims: list[ClaimView],
    readings: dict[ClaimId, ClaimUnit],
    labels: LabelSet,
) -> AnnotatedAnswer:
    begins = _find_question_position(view, claims[0].turn)
    replies = [
        each.content
        for each in view.turns
        if each.role == "assistant" and _find_question_position(view, each.position) == begins
    ]
    return AnnotatedAnswer(
        question=get_question_before_turn(view, claims[0].turn),
        answer="\n".join(replies),
        contexts=list_window_passages(view, claims[0].first_window_verdict.window),
        statements=tuple(
            _make_statement(view, claim, str(readings[claim.id].human), labels) for claim in claims
        ),
        source=view.item.source,
        conversation=view.item.key,
        turn=claims[0].turn,
    )


def _make_statement(
    view: ReviewView, claim: ClaimView, human: str, labels: LabelSet
) -> AnnotatedStatement:
    first = claim.first_window_verdict
    label = first.label
    return AnnotatedStatement(
        text=claim.text,
        judge=None if label is None else _is_good(labels, label),
        judge_reason=first.reason or "",
        verdict=label,
        word=first.word,
        human=None if human == NOT_A_CLAIM else _is_good(labels, human),
        human_reason=""
        if human == NOT_A_CLAIM
        else _format_human_reason(view, claim, human, labels),
    )


def _is_good(labels: LabelSet, label: str) -> bool:
    return labels.get_label(label).polarity is Polarity.GOOD


def _format_human_reason(view: ReviewView, claim: ClaimView, human: str, labels: LabelSet) -> str:
    """Say why in annotators' words, else by their reason code, else by their label."""
    verdicts = list_consensus_verdicts(view, claim, human)
    notes = dict.fromkeys(each.note for each in verdicts if each.note)
    codes = dict.fromkeys(_CODES[each.code] for each in verdicts if each.code in _CODES)
    return " ".join(notes or codes or [labels.get_label(human).meaning])
