"""What agreement is computed from, read for a whole run at once.

One query per table and no query per conversation, so that a run of many thousand claims takes
moments.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.review import Action, HumanVerdict, consensus
from faithtui.domain.scales import rating_of
from faithtui.domain.scores import (
    Score,
    ScoreState,
    ScoringRule,
    no_score,
    passes,
    window_score,
)
from faithtui.store.codecs import AnyRow, rule_from_json
from faithtui.store.labels import acts_of, consensus_of, human_verdicts
from faithtui.store.records import ItemState
from faithtui.store.tables import (
    claim,
    conversation,
    human_label,
    run,
    run_item,
    verdict,
    window,
)

_UNSEEN = (Action.BLIND, Action.IMPORTED)
"""Acts of people who had not seen this judge's verdict."""

_NO_LABEL = ""
"""Stands for a missing label where SQL compares labels; no metric has an empty one."""


def claim_readings(connection: Connection, run_id: RunId) -> tuple[ClaimReading, ...]:
    """Read the claims of a run; see `Reviews.claim_readings`."""
    human = human_verdicts(acts_of(connection, _in_conversations_of(run_id, "claim")))
    said = consensus_of(human)
    rows = connection.execute(_claims_of_run(run_id))
    return tuple(
        ClaimReading(
            claim=ClaimId(row.id),
            conversation=ConversationId(row.conversation_id),
            key=row.key,
            group=row.group,
            turn=row.turn,
            text=row.text,
            judge=row.judge,
            human=said.get(ClaimId(row.id)),
            reviewers=sum(each.counts for each in human.get(ClaimId(row.id), ())),
            blind=_blind(human.get(ClaimId(row.id), ())),
            windows=row.windows,
            steady=row.distinct_labels == 1,
        )
        for row in rows
    )


def _blind(human: tuple[HumanVerdict, ...]) -> bool | None:
    """Whether all verdicts that count were given before the judge's was seen; None without any."""
    counted = [each.action for each in human if each.counts]
    return all(action in _UNSEEN for action in counted) if counted else None


def _in_conversations_of(run_id: RunId, kind: str) -> Any:
    """Condition: a claim of this kind, in a conversation of the run."""
    return (claim.c.kind == kind) & claim.c.conversation_id.in_(
        select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
    )


def _claims_of_run(run_id: RunId) -> Select[Any]:
    each = (
        select(
            verdict.c.claim_id,
            verdict.c.run_item_id,
            func.max(case((verdict.c.is_home, verdict.c.label))).label("judge"),
            func.max(case((verdict.c.is_home, verdict.c.position))).label("place"),
            func.count(verdict.c.window_id.distinct()).label("windows"),
            func.count(func.coalesce(verdict.c.label, _NO_LABEL).distinct()).label(
                "distinct_labels"
            ),
        )
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(run_item.c.run_id == run_id)
        .group_by(verdict.c.run_item_id, verdict.c.claim_id)
        .subquery()
    )
    return (
        select(
            claim.c.id,
            claim.c.conversation_id,
            conversation.c.key,
            conversation.c.group,
            claim.c.turn,
            claim.c.text,
            each.c.judge,
            each.c.windows,
            each.c.distinct_labels,
        )
        .select_from(each)
        .join(claim, claim.c.id == each.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .join(run_item, run_item.c.id == each.c.run_item_id)
        .where(claim.c.kind == "claim")
        .order_by(run_item.c.number, claim.c.turn, each.c.place, claim.c.id)
    )


@dataclass(slots=True)
class _Answer:
    """A rated answer while its parts are gathered."""

    row: AnyRow
    ratings: list[float] = field(default_factory=list)
    raters: set[str] = field(default_factory=set)


def answer_readings(connection: Connection, run_id: RunId) -> tuple[AnswerReading, ...]:
    """Read the rated answers of a run; see `Reviews.answer_readings`."""
    rule = rule_from_json(
        connection.execute(select(run.c.rule).where(run.c.id == run_id)).scalar_one()
    )
    human = human_verdicts(acts_of(connection, _in_conversations_of(run_id, "answer")))
    answers: dict[int, _Answer] = {}
    for row in connection.execute(_ratings_of_run(run_id)):
        answer = answers.setdefault(row.claim_id, _Answer(row))
        answer.raters.add(row.reviewer)
        if row.action == Action.IMPORTED.value:
            rating = rating_of(row.scale, row.raw_label)
            if rating is not None:
                answer.ratings.append(rating)
    labels = _labels_by_turn(connection, run_id)
    homes = _home_windows(connection, run_id)
    return tuple(
        _answer_reading(
            answer,
            rule,
            labels.get((answer.row.item, answer.row.turn), []),
            homes.get((answer.row.item, answer.row.turn)),
            human.get(ClaimId(claim_id), ()),
        )
        for claim_id, answer in answers.items()
    )


def _answer_reading(
    answer: _Answer,
    rule: ScoringRule,
    labels: list[str | None],
    home: Score | None,
    human: tuple[HumanVerdict, ...],
) -> AnswerReading:
    row = answer.row
    score = _answer_score(rule, labels, home)
    return AnswerReading(
        conversation=ConversationId(row.conversation_id),
        key=row.key,
        group=row.group,
        turn=row.turn,
        score=score,
        claims=len(labels),
        passes=passes(score, rule),
        human=consensus(human),
        rating=sum(answer.ratings) / len(answer.ratings) if answer.ratings else None,
        raters=len(answer.raters),
    )


def _answer_score(rule: ScoringRule, labels: list[str | None], home: Score | None) -> Score:
    """Score one answer by itself.

    Args:
        rule: The run's rule. A missing verdict leaves no score even under a peer's rule.
        labels: Home labels of the answer's claims.
        home: Score of the first window that holds the answer; None when none does.
    """
    if home is None:
        return no_score(ScoreState.SKIPPED, "the answer is in no window")
    if home.state is ScoreState.FAILED:
        return home
    return window_score(labels, replace(rule, as_peer=False))


def _ratings_of_run(run_id: RunId) -> Select[Any]:
    """Select the labels of whole answers, in the order of the run, turns and log."""
    return (
        select(
            human_label.c.claim_id,
            human_label.c.reviewer,
            human_label.c.action,
            human_label.c.scale,
            human_label.c.raw_label,
            claim.c.turn,
            claim.c.conversation_id,
            conversation.c.key,
            conversation.c.group,
            run_item.c.id.label("item"),
        )
        .join(claim, claim.c.id == human_label.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .join(run_item, run_item.c.conversation_id == claim.c.conversation_id)
        .where(
            claim.c.kind == "answer",
            run_item.c.run_id == run_id,
            run_item.c.state == ItemState.DONE.value,
            human_label.c.action.not_in([Action.WITHDRAWN.value, Action.RESTORED.value]),
        )
        .order_by(run_item.c.number, claim.c.turn, human_label.c.id)
    )


def _labels_by_turn(
    connection: Connection, run_id: RunId
) -> dict[tuple[int, int], list[str | None]]:
    """Read the home labels of a run's claims by item and turn."""
    labels: dict[tuple[int, int], list[str | None]] = defaultdict(list)
    for item, turn, label in connection.execute(
        select(verdict.c.run_item_id, claim.c.turn, verdict.c.label)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(run_item.c.run_id == run_id, verdict.c.is_home)
    ):
        labels[item, turn].append(label)
    return labels


def _home_windows(connection: Connection, run_id: RunId) -> dict[tuple[int, int], Score]:
    """Read the score of the first window that holds each turn, by item and turn."""
    homes: dict[tuple[int, int], Score] = {}
    for row in connection.execute(
        select(
            window.c.run_item_id,
            window.c.turns,
            window.c.score,
            window.c.score_state,
            window.c.score_reason,
        )
        .join(run_item, run_item.c.id == window.c.run_item_id)
        .where(run_item.c.run_id == run_id)
        .order_by(window.c.run_item_id, window.c.position)
    ):
        score = Score(row.score, ScoreState(row.score_state), row.score_reason)
        for turn in row.turns:
            homes.setdefault((row.run_item_id, turn), score)
    return homes
