"""What a run's judge said, read for the whole run at once.

One query per table and none per conversation. Rows stay rows of columns: a run may have a million
verdicts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, select

from faithtui.agreement.labelled_units import Duplicates
from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.ids import ClaimId, ConversationId, ItemId, RunId
from faithtui.domain.scores import ScoreState, ScoringRule
from faithtui.errors import StoreError
from faithtui.store.records import ItemState
from faithtui.store.schema.json_columns import scoring_rule_from_json
from faithtui.store.schema.statements import make_unindexed_key_expression
from faithtui.store.schema.tables import claim, conversation, run, run_item, turn, verdict, window

_AT_ONCE = 1_000
"""Rows that are fetched at a time; few, so that they are gone when garbage is next collected."""

HomeVerdict = tuple[int, int, int, ClaimId, str | None, float | None, ClaimKind, str]
"""The judge's verdict on a unique claim in its home window: place of the conversation in the run,
turn, place in the window, claim, label, confidence; kind and text, "" for a whole answer.

A plain tuple, since there may be a million and the garbage collector leaves such tuples alone. They
sort in the order of the run and of the text."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A conversation of a run."""

    id: ItemId
    conversation: ConversationId
    key: str
    group: str
    state: ItemState
    score: float | None


class WindowScore(NamedTuple):
    """A window of a run."""

    id: int
    number: int
    """Place of its conversation in the run."""
    position: int
    score: float | None
    state: ScoreState
    reason: str | None
    """Why there is no score."""


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run as it stands."""

    rule: ScoringRule
    items: Mapping[int, JudgedItem]
    """Conversations by their place in the run, in its order."""
    windows: Sequence[WindowScore]
    """In the order of the run."""
    claims: Mapping[int, Sequence[ClaimId]]
    """One per verdict, in order, of each window that has any, by the window's id."""
    missing: frozenset[int]
    """Ids of windows in which a verdict is missing."""
    homes: Sequence[HomeVerdict]
    """Unique claims, in the order of the run and of the text."""
    repeated: Mapping[ClaimId, Sequence[str | None]]
    """What was said of each claim in the windows that hold it, in order; of claims with several
    verdicts."""
    inconsistent_claims: frozenset[ClaimId]
    """Claims of which the judge did not always say the same."""


def read_judged_run(connection: Connection, run_id: RunId) -> JudgedRun:
    """Read a run.

    Raises:
        StoreError: There is no such run.
    """
    rule = read_scoring_rule(connection, run_id)
    claims: dict[int, list[ClaimId]] = {}
    missing: set[int] = set()
    homes: list[HomeVerdict] = []
    first: dict[ClaimId, str | None] = {}
    last_window: dict[ClaimId, int] = {}
    repeated: dict[ClaimId, list[str | None]] = {}
    unsteady: set[ClaimId] = set()
    for part in connection.execute(_select_verdicts(run_id)).partitions(_AT_ONCE):
        for number, window_id, place, claim_id, label, confidence, is_home, at, kind, text in part:
            claims.setdefault(window_id, []).append(claim_id)
            if label is None:
                missing.add(window_id)
            if is_home:
                homes.append((number, at, place, claim_id, label, confidence, kind, text))
            if claim_id not in first:
                first[claim_id] = label
            else:
                labels = repeated.get(claim_id)
                if labels is None:
                    labels = repeated[claim_id] = [first[claim_id]]
                if label != first[claim_id]:
                    unsteady.add(claim_id)
                # A second verdict in the same window is no other word on the claim.
                if last_window[claim_id] != window_id:
                    labels.append(label)
            last_window[claim_id] = window_id
    homes.sort()
    return JudgedRun(
        rule=rule,
        items={
            row.number: JudgedItem(
                ItemId(row.id),
                ConversationId(row.conversation_id),
                row.key,
                row.group,
                ItemState(row.state),
                row.score,
            )
            for row in connection.execute(_select_items(run_id)).all()
        },
        windows=[
            WindowScore(window_id, number, position, score, ScoreState(state), reason)
            for window_id, number, position, score, state, reason in connection.execute(
                _select_windows(run_id)
            ).all()
        ],
        claims=claims,
        missing=frozenset(missing),
        homes=homes,
        repeated=repeated,
        inconsistent_claims=frozenset(unsteady),
    )


def read_scoring_rule(connection: Connection, run_id: RunId) -> ScoringRule:
    """Read a run's rule.

    Raises:
        StoreError: There is no such run.
    """
    rule = connection.execute(select(run.c.rule).where(run.c.id == run_id)).scalar()
    if rule is None:
        raise StoreError(f"there is no run {run_id}; faithtui runs lists them")
    return scoring_rule_from_json(rule)


def read_judge_labels_by_claim(
    connection: Connection, run_id: RunId, claims: Sequence[ClaimId] | None = None
) -> dict[ClaimId, str | None]:
    """Read what a run's judge said of each claim in its home window; None: of all claims."""
    words = (
        select(verdict.c.claim_id, verdict.c.label)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(verdict.c.is_home)
    )
    if claims is None:
        words = words.where(run_item.c.run_id == run_id)
    else:
        words = words.where(
            make_unindexed_key_expression(run_item.c.run_id) == run_id,
            verdict.c.claim_id.in_(claims),
        )
    return {ClaimId(claim_id): label for claim_id, label in connection.execute(words)}


def read_answer_texts(connection: Connection, run_id: RunId) -> dict[tuple[int, int], str]:
    """Read what the judged answers say, by place of the conversation in the run and turn."""
    rows = connection.execute(
        select(run_item.c.number, turn.c.position, turn.c.content)
        .join(run_item, run_item.c.conversation_id == turn.c.conversation_id)
        .join(
            claim,
            and_(
                claim.c.conversation_id == turn.c.conversation_id,
                claim.c.kind == "answer",
                claim.c.turn == turn.c.position,
            ),
        )
        .where(run_item.c.run_id == run_id)
    )
    return {(number, position): content for number, position, content in rows}


def choose_label_across_windows(
    labels: Sequence[str | None], rule: Duplicates, severity: Mapping[str, int]
) -> str | None:
    """Choose one label of those that a claim has in several windows.

    Args:
        labels: In the order of the windows, at least one.
        rule: Which.
        severity: How bad each label is; larger is worse. One that is not named is harmless.
    """
    if rule == "first_window":
        return labels[0]
    if rule == "latest":
        return labels[-1]
    votes = Counter(label for label in labels if label is not None)
    if not votes:
        return None
    counted = votes if rule == "majority" else dict.fromkeys(votes, 1)
    return max(votes, key=lambda label: (counted[label], severity.get(label, -1), label))


def _select_items(run_id: RunId) -> Select[Any]:
    return (
        select(
            run_item.c.number,
            run_item.c.id,
            run_item.c.conversation_id,
            run_item.c.state,
            run_item.c.score,
            conversation.c.key,
            conversation.c.group,
        )
        .join(conversation, conversation.c.id == run_item.c.conversation_id)
        .where(run_item.c.run_id == run_id)
        .order_by(run_item.c.number)
    )


def _select_windows(run_id: RunId) -> Select[Any]:
    return (
        select(
            window.c.id,
            run_item.c.number,
            window.c.position,
            window.c.score,
            window.c.score_state,
            window.c.score_reason,
        )
        .join(run_item, run_item.c.id == window.c.run_item_id)
        .where(run_item.c.run_id == run_id)
        .order_by(run_item.c.number, window.c.position)
    )


def _select_verdicts(run_id: RunId) -> Select[Any]:
    """Select all verdicts in the order of windows, with the claim where they are at home."""
    return (
        select(
            run_item.c.number,
            verdict.c.window_id,
            verdict.c.position,
            verdict.c.claim_id,
            verdict.c.label,
            verdict.c.confidence,
            verdict.c.is_home,
            claim.c.turn,
            claim.c.kind,
            claim.c.text,
        )
        .select_from(run_item)
        .join(window, window.c.run_item_id == run_item.c.id)
        .join(verdict, verdict.c.window_id == window.c.id)
        .outerjoin(claim, and_(claim.c.id == verdict.c.claim_id, verdict.c.is_home))
        .where(run_item.c.run_id == run_id)
        .order_by(run_item.c.number, window.c.position, verdict.c.position)
    )
