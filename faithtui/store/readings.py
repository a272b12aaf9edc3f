"""What agreement is computed from, read for a whole run at once.

One query per table and no query per conversation, so that a run of many thousand claims takes
moments. What people said comes in the words of the run's metric.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select

from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.labels import NOT_A_CLAIM
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.review import Action, HumanVerdict, consensus
from faithtui.domain.scales import rating_of
from faithtui.domain.scores import Score, ScoringRule, passes
from faithtui.store.answers import HomeLabel, answer_score, home_labels, home_windows
from faithtui.store.codecs import AnyRow, rule_from_json
from faithtui.store.labels import acts_of, consensus_of, human_verdicts
from faithtui.store.records import ItemState
from faithtui.store.tables import (
    claim,
    conversation,
    human_label,
    run,
    run_item,
    turn,
    verdict,
)

_UNSEEN = (Action.BLIND, Action.IMPORTED)
"""Acts of people who had not seen this judge's verdict."""

_NO_LABEL = ""
"""Stands for a missing label where SQL compares labels; no metric has an empty one."""


def claim_readings(connection: Connection, run_id: RunId) -> tuple[ClaimReading, ...]:
    """Read what a run judged; see `Reviews.claim_readings`."""
    human = human_verdicts(acts_of(connection, _in_conversations_of(run_id)))
    said = consensus_of(human, _rule(connection, run_id))
    rows = connection.execute(_claims_of_run(run_id))
    return tuple(
        _claim_reading(row, human.get(ClaimId(row.id), ()), said.get(ClaimId(row.id)))
        for row in rows
    )


def _claim_reading(row: AnyRow, human: tuple[HumanVerdict, ...], said: str | None) -> ClaimReading:
    """Put together what is known about one claim; `said` is the consensus in the run's words."""
    return ClaimReading(
        claim=ClaimId(row.id),
        conversation=ConversationId(row.conversation_id),
        key=row.key,
        group=row.group,
        turn=row.turn,
        text=row.text,
        judge=row.judge,
        # Words that mean nothing in the run are shown as such: whoever said them did review it.
        human=consensus(human) if said is None else said,
        reviewers=sum(each.counts for each in human),
        blind=_blind(human),
        windows=row.windows,
        steady=row.distinct_labels == 1,
    )


def _rule(connection: Connection, run_id: RunId) -> ScoringRule:
    """Read a run's rule."""
    return rule_from_json(
        connection.execute(select(run.c.rule).where(run.c.id == run_id)).scalar_one()
    )


def _blind(human: tuple[HumanVerdict, ...]) -> bool | None:
    """Whether all verdicts that count were given before the judge's was seen; None without any."""
    counted = [each.action for each in human if each.counts]
    return all(action in _UNSEEN for action in counted) if counted else None


def _in_conversations_of(run_id: RunId) -> ColumnElement[bool]:
    """Condition: a claim of any kind, in a conversation of the run."""
    return claim.c.conversation_id.in_(
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
            case((claim.c.kind == "answer", turn.c.content), else_=claim.c.text).label("text"),
            each.c.judge,
            each.c.windows,
            each.c.distinct_labels,
        )
        .select_from(each)
        .join(claim, claim.c.id == each.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .join(run_item, run_item.c.id == each.c.run_item_id)
        .outerjoin(
            turn,
            and_(
                claim.c.kind == "answer",
                turn.c.conversation_id == claim.c.conversation_id,
                turn.c.position == claim.c.turn,
            ),
        )
        .order_by(run_item.c.number, claim.c.turn, each.c.place, claim.c.id)
    )


@dataclass(slots=True)
class _Answer:
    """A rated answer while its parts are gathered."""

    row: AnyRow
    ratings: list[float] = field(default_factory=list)
    raters: set[str] = field(default_factory=set)
    """People whose label came with the data."""


def answer_readings(connection: Connection, run_id: RunId) -> tuple[AnswerReading, ...]:
    """Read the rated answers of a run; see `Reviews.answer_readings`."""
    if not _judges_answers(connection, run_id):
        return ()
    rule = _rule(connection, run_id)
    human = human_verdicts(acts_of(connection, _in_conversations_of(run_id)))
    said = consensus_of(human, rule)
    answers: dict[int, _Answer] = {}
    for row in connection.execute(_rated_answers_of_run(run_id)):
        answer = answers.setdefault(row.claim_id, _Answer(row))
        if row.action == Action.IMPORTED.value:
            answer.raters.add(row.reviewer)
            rating = rating_of(row.scale, row.raw_label)
            if rating is not None:
                answer.ratings.append(rating)
    labels = home_labels(connection, run_item.c.run_id == run_id)
    homes = home_windows(connection, run_item.c.run_id == run_id)
    return tuple(
        _answer_reading(
            answer.row,
            rule,
            labels.get((answer.row.item, answer.row.turn), []),
            homes.get((answer.row.item, answer.row.turn)),
            said.get(ClaimId(claim_id)),
            answer.ratings,
            raters,
        )
        for claim_id, answer in answers.items()
        # Somebody may have skipped the answer, or taken a verdict back.
        if (raters := len(answer.raters | _who_said(human, ClaimId(claim_id))))
    )


def _judges_answers(connection: Connection, run_id: RunId) -> bool:
    """Whether the run judged answers or what they say; so does one that judged nothing yet."""
    kinds = set(
        connection.execute(
            select(claim.c.kind)
            .distinct()
            .join(verdict, verdict.c.claim_id == claim.c.id)
            .join(run_item, run_item.c.id == verdict.c.run_item_id)
            .where(run_item.c.run_id == run_id)
        ).scalars()
    )
    return kinds != {"statement"}


def _who_said(human: Mapping[ClaimId, tuple[HumanVerdict, ...]], claim_id: ClaimId) -> set[str]:
    return {each.reviewer for each in human.get(claim_id, ()) if each.counts}


def _answer_reading(
    row: AnyRow,
    rule: ScoringRule,
    labels: list[HomeLabel],
    home: Score | None,
    said: str | None,
    ratings: list[float],
    raters: int,
) -> AnswerReading:
    score = answer_score(rule, labels, home)
    return AnswerReading(
        conversation=ConversationId(row.conversation_id),
        key=row.key,
        group=row.group,
        turn=row.turn,
        score=score,
        claims=len(labels),
        passes=passes(score, rule),
        # An answer that nobody should be judged on neither passes nor fails.
        human=None if said == NOT_A_CLAIM else said,
        rating=sum(ratings) / len(ratings) if ratings else None,
        raters=raters,
    )


def _rated_answers_of_run(run_id: RunId) -> Select[Any]:
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
        )
        .order_by(run_item.c.number, claim.c.turn, human_label.c.id)
    )
