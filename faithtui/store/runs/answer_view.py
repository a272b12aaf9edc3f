"""One answer by itself: its home labels, its score, and the window it was first judged in.

What agreement with ratings of whole answers and the comparison of metrics have in common.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, select

from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.ids import ClaimId
from faithtui.domain.scores import (
    NOTHING_JUDGED,
    Score,
    ScoreState,
    ScoringRule,
    make_empty_score,
    score_window_with_human_labels,
)
from faithtui.store.schema.tables import claim, run_item, turn_document, verdict, window

AnswerKey = tuple[int, int]
"""Id of the conversation of a run, and the turn."""


@dataclass(frozen=True, slots=True)
class HomeLabel:
    """What the judge said of one claim in the first window that holds it."""

    claim: ClaimId
    kind: ClaimKind
    label: str | None


def read_claim_labels_by_answer(
    connection: Connection, which: ColumnElement[bool]
) -> dict[AnswerKey, list[HomeLabel]]:
    """Read the home labels of conversations of runs, by item and turn.

    Args:
        connection: Where to read.
        which: Condition on `run_item`.
    """
    labels: dict[AnswerKey, list[HomeLabel]] = {}
    for row in connection.execute(
        select(verdict.c.run_item_id, claim.c.id, claim.c.kind, claim.c.turn, verdict.c.label)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(which, verdict.c.is_home)
    ):
        found = HomeLabel(ClaimId(row.id), row.kind, row.label)
        labels.setdefault((row.run_item_id, row.turn), []).append(found)
    return labels


def read_document_labels_by_answer(
    connection: Connection, which: ColumnElement[bool]
) -> dict[AnswerKey, list[HomeLabel]]:
    """Read what was said of the documents behind each answer, by item and turn.

    A document that was retrieved before has its statements at the earlier turn. What counts for
    this answer is what the first window that holds it says of them: there its question is in view.

    Args:
        connection: Where to read.
        which: Condition on `run_item`.

    Returns:
        Statements of the documents of each turn, each once; nothing for runs that judge none.
    """
    windows = connection.execute(
        select(window.c.id, window.c.run_item_id, window.c.turns)
        .join(run_item, run_item.c.id == window.c.run_item_id)
        .where(which)
        .order_by(window.c.run_item_id, window.c.position)
    ).all()
    homes: dict[AnswerKey, int] = {}
    for row in windows:
        for turn in row.turns:
            homes.setdefault((row.run_item_id, turn), row.id)
    labels_by_document: dict[tuple[int, int], dict[ClaimId, HomeLabel]] = {}
    for stated in connection.execute(
        select(verdict.c.window_id, claim.c.id, claim.c.kind, claim.c.document_id, verdict.c.label)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(which, claim.c.kind == "statement", claim.c.document_id.is_not(None))
        .order_by(verdict.c.window_id, verdict.c.position)
    ):
        found = labels_by_document.setdefault((stated.window_id, stated.document_id), {})
        found.setdefault(
            ClaimId(stated.id), HomeLabel(ClaimId(stated.id), stated.kind, stated.label)
        )
    labels: dict[AnswerKey, dict[ClaimId, HomeLabel]] = {}
    for retrieved in connection.execute(
        select(run_item.c.id, turn_document.c.turn, turn_document.c.document_id)
        .join(run_item, run_item.c.conversation_id == turn_document.c.conversation_id)
        .where(which)
        .order_by(turn_document.c.turn, turn_document.c.position)
    ):
        key = (retrieved.id, retrieved.turn)
        behind = labels_by_document.get((homes.get(key, -1), retrieved.document_id), {})
        if behind:
            labels.setdefault(key, {}).update(behind)
    return {key: list(found.values()) for key, found in labels.items()}


def read_first_window_scores(
    connection: Connection, which: ColumnElement[bool]
) -> dict[AnswerKey, Score]:
    """Read the score of the first window that holds each turn, by item and turn.

    Args:
        connection: Where to read.
        which: Condition on `run_item`.
    """
    homes: dict[AnswerKey, Score] = {}
    for row in connection.execute(
        select(
            window.c.run_item_id,
            window.c.turns,
            window.c.score,
            window.c.score_state,
            window.c.score_reason,
        )
        .join(run_item, run_item.c.id == window.c.run_item_id)
        .where(which)
        .order_by(window.c.run_item_id, window.c.position)
    ):
        score = Score(row.score, ScoreState(row.score_state), row.score_reason)
        for turn in row.turns:
            homes.setdefault((row.run_item_id, turn), score)
    return homes


def score_answer(
    rule: ScoringRule,
    labels: Sequence[HomeLabel],
    home: Score | None,
    human: Mapping[Hashable, str] | None = None,
) -> Score:
    """Score one answer by itself.

    Args:
        rule: The run's rule. A missing verdict leaves no score even under a peer's rule.
        labels: Home labels of the answer's claims.
        home: Score of the first window that holds the answer; None when none does. One that
            failed or was skipped is the answer's too; where it is undefined, only the human labels
            count.
        human: Human labels in the run's words, which replace the judge's; a claim called
            `x` is left out.
    """
    if home is None:
        return make_empty_score(ScoreState.SKIPPED, "the answer is in no window")
    if home.state in (ScoreState.FAILED, ScoreState.SKIPPED):
        return home
    human_labels = human or {}
    why = NOTHING_JUDGED
    if home.state is ScoreState.UNDEFINED and all(each.label is not None for each in labels):
        labels = [each for each in labels if each.claim in human_labels]
        why = home.reason or why
    found = [human_labels.get(each.claim, each.label) for each in labels]
    return score_window_with_human_labels(found, replace(rule, as_peer=False), why_empty=why)
