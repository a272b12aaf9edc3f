"""What lists show of a conversation of a run, kept in its row and in the run's.

Computed from the stored windows and the log of human labels, by the one scoring code of the
domain; written whenever one of the two changes. The run's counters move by the difference, so no
list ever adds up verdicts.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Update, bindparam, select, update

from faithtui.domain.conversation import Turn
from faithtui.domain.ids import ClaimId
from faithtui.domain.integrity.run_summary import CHECKS
from faithtui.domain.labels.label_events import TIE, HumanVerdict
from faithtui.domain.scores import (
    ClaimOccurrence,
    Score,
    ScoreSet,
    ScoreState,
    WindowLabels,
    make_empty_score,
    score_conversation,
)
from faithtui.domain.windows import split_into_interactions
from faithtui.store.annotations.label_replay import (
    compute_consensus,
    read_conversation_events,
    replay_verdicts,
)
from faithtui.store.records import ItemState
from faithtui.store.schema.json_columns import (
    AnyRow,
    convert_score_to_integer_units,
    score_set_to_json,
    scoring_rule_from_json,
)
from faithtui.store.schema.tables import claim, run, run_item, turn, verdict, window

# Made once: these run at every verdict and every window, and making one takes longer than SQLite
# takes to answer it.
_WINDOWS = (
    select(
        window.c.id,
        window.c.position,
        window.c.turns,
        window.c.interactions,
        window.c.score,
        window.c.score_state,
        window.c.score_reason,
        window.c.surplus,
    )
    .where(window.c.run_item_id == bindparam("item"))
    .order_by(window.c.position)
)
_VERDICTS = (
    select(verdict.c.window_id, verdict.c.claim_id, claim.c.turn, verdict.c.label)
    .join(claim, claim.c.id == verdict.c.claim_id)
    .where(verdict.c.run_item_id == bindparam("item"))
    .order_by(verdict.c.window_id, verdict.c.position)
)
_ROLES = (
    select(turn.c.role)
    .where(turn.c.conversation_id == bindparam("conversation"))
    .order_by(turn.c.position)
)
_HOME_LABELS = select(verdict.c.label).where(
    verdict.c.run_item_id == bindparam("item"), verdict.c.is_home
)
_STATE = (
    select(run_item.c.state, run_item.c.reason, run.c.rule)
    .join(run, run.c.id == run_item.c.run_id)
    .where(run_item.c.id == bindparam("item"))
)
TEXT_COUNTS = {
    "checked_claims": "claims",
    "phantom_claims": "phantom",
    "checked_truths": "truths",
    "invented_truths": "invented",
    "checked_texts": "texts",
    "echoed_texts": "echoed",
}
"""Columns with what the checks counted, and the field of `TextCounts` that each holds."""
_COUNTED_COLUMNS = (
    run_item.c.run_id,
    run_item.c.state,
    run_item.c.windows,
    run_item.c.failed_windows,
    run_item.c.undefined_windows,
    run_item.c.skipped_windows,
    run_item.c.claims,
    run_item.c.missing,
    run_item.c.labelled,
    run_item.c.score,
    run_item.c.scores,
    run_item.c.corrected,
    run_item.c.checked,
    *(run_item.c[name] for name in TEXT_COUNTS),
)
_COUNTS = select(*_COUNTED_COLUMNS).where(run_item.c.id == bindparam("item"))
_ALL_COUNTS = select(*_COUNTED_COLUMNS).where(run_item.c.run_id == bindparam("number"))
_CHANGE = update(run_item).where(run_item.c.id == bindparam("item"))


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """A window as scoring needs it, and the score it got when it was judged."""

    id: int
    position: int
    turns: tuple[int, ...]
    claims: tuple[ClaimId, ...]
    """One per verdict, in order."""
    score: Score
    judged: WindowLabels


def read_stored_windows(
    connection: Connection,
    item: int,
    conversation_id: int,
    verdicts: Iterable[tuple[int, int, int, str | None]] | None = None,
) -> tuple[StoredWindow, ...]:
    """Read the windows of a conversation of a run, in order.

    Args:
        connection: Where to read.
        item: Conversation of the run.
        conversation_id: The conversation.
        verdicts: Window, claim, the claim's turn and the label of each verdict, as they stand in
            the windows, where they were read already; None: they are read here.
    """
    interaction_of = _map_turns_to_interactions(connection, conversation_id)
    rows = connection.execute(_WINDOWS, {"item": item}).all()
    claims: dict[int, list[ClaimId]] = {row.id: [] for row in rows}
    occurrences: dict[int, list[ClaimOccurrence]] = {row.id: [] for row in rows}
    if verdicts is None:
        verdicts = ((*each,) for each in connection.execute(_VERDICTS, {"item": item}).all())
    for window_id, claim_id, at_turn, label in verdicts:
        claims[window_id].append(ClaimId(claim_id))
        occurrences[window_id].append(
            ClaimOccurrence(claim_id, interaction_of.get(at_turn, -1), label)
        )
    return tuple(
        _make_window_from_row(row, tuple(claims[row.id]), tuple(occurrences[row.id]))
        for row in rows
    )


def _map_turns_to_interactions(connection: Connection, conversation_id: int) -> dict[int, int]:
    """Say in which interaction each turn is; turns in none are left out."""
    roles = connection.execute(_ROLES, {"conversation": conversation_id}).scalars()
    # `answers_alone` changes nothing in a conversation that has a user turn, and without it a
    # conversation that has none would not have been judged.
    parts = split_into_interactions([Turn(role, "") for role in roles], answers_alone=True)
    return {position: part.position for part in parts for position in part.turns}


def _make_window_from_row(
    row: AnyRow, claims: tuple[ClaimId, ...], occurrences: tuple[ClaimOccurrence, ...]
) -> StoredWindow:
    score = Score(row.score, ScoreState(row.score_state), row.score_reason)
    missing = any(each.label is None for each in occurrences)
    return StoredWindow(
        id=row.id,
        position=row.position,
        turns=tuple(row.turns),
        claims=claims,
        score=score,
        judged=WindowLabels(
            interactions=tuple(row.interactions),
            occurrences=occurrences,
            surplus=tuple(row.surplus),
            failure=None
            if is_score_state_explained_by_labels(score.state, missing=missing)
            else score,
            undefined=score.reason if score.state is ScoreState.UNDEFINED and not missing else None,
        ),
    )


def is_score_state_explained_by_labels(state: ScoreState, *, missing: bool) -> bool:
    """Say whether the judge's labels explain the state of a window's score.

    What they do not explain was decided when the window was judged, and no human label changes it.

    Args:
        state: The state.
        missing: Whether a verdict is missing.
    """
    return state in (ScoreState.SCORED, ScoreState.UNDEFINED) or (
        state is ScoreState.INCOMPLETE and missing
    )


def compute_judge_label_columns(connection: Connection, item: int) -> dict[str, object]:
    """Count the unique claims of a conversation of a run by the judge's label of each.

    Returns:
        The columns `claims`, `missing` and `labels` of its row.
    """
    labels = Counter(connection.execute(_HOME_LABELS, {"item": item}).scalars())
    return {
        "claims": labels.total(),
        "missing": labels[None],
        "labels": {label: count for label, count in labels.items() if label is not None},
    }


def update_human_columns_of_items(
    connection: Connection, conversation_id: int, items: Sequence[int]
) -> None:
    """Bring conversations of runs up to date with the human labels.

    Args:
        connection: In a write.
        conversation_id: The conversation they are all about.
        items: Ids of the rows to bring up to date.
    """
    human = replay_verdicts(read_conversation_events(connection, conversation_id))
    for item in items:
        update_item_and_run_counters(
            connection, item, compute_human_columns(connection, item, conversation_id, human)
        )


def list_items_with_verdict_on_claim(connection: Connection, claim_id: int) -> list[int]:
    """List the conversations of runs in which a claim got a verdict."""
    return list(
        connection.execute(
            select(verdict.c.run_item_id).where(verdict.c.claim_id == claim_id).distinct()
        ).scalars()
    )


def compute_human_columns(
    connection: Connection,
    item: int,
    conversation_id: int,
    human: Mapping[ClaimId, tuple[HumanVerdict, ...]],
    *,
    state: ItemState | None = None,
    reason: str | None = None,
) -> dict[str, object]:
    """Compute the columns of a row that depend on the human labels.

    Args:
        connection: In a write.
        item: Id of the row.
        conversation_id: Its conversation.
        human: The human labels in force, per claim, in any metric's words.
        state: State the row is about to have; None: the one it has.
        reason: Its reason; only read with `state`.

    Returns:
        `labelled` and `overridden`, by the words that mean something in the run, and the scores,
        which are None while it is pending.
    """
    row = connection.execute(_STATE, {"item": item}).one()
    rule = scoring_rule_from_json(row.rule)
    stored = read_stored_windows(connection, item, conversation_id)
    windows = [each.judged for each in stored]
    at_home: dict[Hashable, str | None] = {}
    for each in windows:
        for occurrence in each.occurrences:
            at_home.setdefault(occurrence.claim, occurrence.label)
    here = {
        claim_id: word
        for claim_id, word in compute_consensus(human, rule).items()
        if claim_id in at_home
    }
    columns: dict[str, object] = {
        "labelled": len(here),
        "overridden": sum(word not in (at_home[claim_id], TIE) for claim_id, word in here.items()),
    }
    if state is None:
        state, reason = ItemState(row.state), row.reason
    match state:
        case ItemState.PENDING:
            judge = corrected = None
        case ItemState.SKIPPED:
            judge = corrected = _make_score_set_from_one_score(
                make_empty_score(ScoreState.SKIPPED, reason or "skipped")
            )
        case ItemState.FAILED | ItemState.DONE:
            judge, _ = score_conversation(windows, rule)
            corrected, _ = score_conversation(windows, rule, here)
            if state is ItemState.FAILED and judge.windowed.state is not ScoreState.FAILED:
                # Something failed outside the stored windows; what is there is not the whole.
                judge = corrected = _make_score_set_from_one_score(
                    make_empty_score(ScoreState.FAILED, reason or "failed")
                )
    return {
        **columns,
        "score": judge and judge.windowed.value,
        "scores": judge and score_set_to_json(judge),
        "corrected": corrected and corrected.windowed.value,
        "corrected_scores": corrected and score_set_to_json(corrected),
    }


def _make_score_set_from_one_score(score: Score) -> ScoreSet:
    return ScoreSet(score, score, score)


def update_item_and_run_counters(
    connection: Connection, item: int, columns: dict[str, object]
) -> None:
    """Write columns of a conversation of a run, and move the run's counters by the difference."""
    before = connection.execute(_COUNTS, {"item": item}).one()._asdict()
    connection.execute(_CHANGE, {**columns, "item": item})
    old = _compute_run_counters_of_item(before)
    new = _compute_run_counters_of_item({**before, **columns})
    moves = {f"by_{name}": new[name] - old[name] for name in new if new[name] != old[name]}
    if moves:
        moving = _make_counter_increment_statement(
            tuple(name.removeprefix("by_") for name in moves)
        )
        connection.execute(moving, {**moves, "run_under_way": before["run_id"]})


def update_run_counters_from_items(connection: Connection, number: int) -> None:
    """Count the conversations of a run anew, after some are no longer there.

    What its calls cost stays: it was spent.
    """
    totals: Counter[str] = Counter()
    rows = connection.execute(_ALL_COUNTS, {"number": number}).all()
    for row in rows:
        totals.update(_compute_run_counters_of_item(row._asdict()))
    if not rows:
        return
    counted = {name: totals[name] for name in _compute_run_counters_of_item(rows[0]._asdict())}
    connection.execute(
        update(run).where(run.c.id == number).values(**counted, conversations=len(rows))
    )


@cache
def _make_counter_increment_statement(counters: tuple[str, ...]) -> Update:
    """Make the statement that moves some of a run's counters."""
    return (
        update(run)
        .where(run.c.id == bindparam("run_under_way"))
        .values({name: run.c[name] + bindparam(f"by_{name}") for name in counters})
    )


def _read_windowed_score_state(scores: Mapping[str, Any] | None) -> ScoreState | None:
    """Read the state of the headline of stored scores."""
    return None if scores is None else ScoreState(scores["windowed"]["state"])


def _is_done_with_incomplete_score(row: Mapping[str, Any]) -> bool:
    return (
        row["state"] == ItemState.DONE.value
        and _read_windowed_score_state(row["scores"]) is ScoreState.INCOMPLETE
    )


def _compute_run_counters_of_item(row: Mapping[str, Any]) -> dict[str, int]:
    """Say what a conversation adds to its run's counters."""
    is_checked = row["checked"] == CHECKS
    return {
        **{state: int(row["state"] == state) for state in ("pending", "done", "failed", "skipped")},
        **{
            name: row[name]
            for name in (
                "windows",
                "failed_windows",
                "undefined_windows",
                "skipped_windows",
                "claims",
                "missing",
                "labelled",
            )
        },
        "undefined": int(_read_windowed_score_state(row["scores"]) is ScoreState.UNDEFINED),
        "incomplete": int(_is_done_with_incomplete_score(row)),
        "scored": int(row["score"] is not None),
        "score_sum": convert_score_to_integer_units(row["score"]),
        "corrected_scored": int(row["corrected"] is not None),
        "corrected_sum": convert_score_to_integer_units(row["corrected"]),
        "checked": int(is_checked),
        **{name: row[name] if is_checked else 0 for name in TEXT_COUNTS},
    }
