"""The log of human labels as the domain replays it."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import (
    TIE,
    Action,
    Event,
    HumanVerdict,
    LabelEvent,
    LabelMark,
    MarkedPassage,
    list_top_verdicts,
    replay_log_into_verdicts,
)
from faithtui.domain.scores import ScoringRule
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import claim, human_label, label_evidence

EVENT_COLUMNS = (
    human_label.c.id,
    human_label.c.claim_id,
    human_label.c.reviewer,
    human_label.c.action,
    human_label.c.verdict,
    human_label.c.note,
    human_label.c.target_id,
    human_label.c.batch,
    human_label.c.reason_code,
    human_label.c.mark,
    human_label.c.saw_judge,
    human_label.c.sample_id,
    human_label.c.run_id,
    human_label.c.judge_verdict,
    human_label.c.seconds,
    human_label.c.scale,
    human_label.c.raw_label,
    human_label.c.unverified,
)
"""The fields of a `LabelEvent` that are read for a replay: the first ones, in their order."""

IS_IMPORTED_LABEL = or_(
    human_label.c.action == Action.IMPORTED.value, human_label.c.scale.is_not(None)
)
"""Came with data; with exported claims also as a skip, a label in bulk or a final label."""

LOG_ORDER = (human_label.c.clock, human_label.c.uid)
"""The order of the log: the same in every store that has the same events."""


def compute_next_clock(connection: Connection) -> int:
    """Give the logical clock of the next act: after all that this store knows."""
    last = connection.execute(select(func.max(human_label.c.clock))).scalar()
    return 1 if last is None else last + 1


def read_events(connection: Connection, where: ColumnElement[bool]) -> list[LabelEvent]:
    """Read events in the order of the log; the condition may name labels and their claims."""
    rows = connection.execute(
        select(*EVENT_COLUMNS)
        .join(claim, claim.c.id == human_label.c.claim_id)
        .where(where)
        .order_by(*LOG_ORDER)
    )
    return _add_marked_passages(connection, [event_from_row(row) for row in rows])


def _add_marked_passages(connection: Connection, acts: list[LabelEvent]) -> list[LabelEvent]:
    """Add to events what they mark as evidence; few events do."""
    marking = [act.id for act in acts if act.action is Action.EVIDENCE]
    if not marking:
        return acts
    marks = read_marked_passages(connection, marking)
    return [
        act._replace(evidence=marks.get(act.id, ())) if act.action is Action.EVIDENCE else act
        for act in acts
    ]


def read_marked_passages(
    connection: Connection, acts: Sequence[int]
) -> dict[int, tuple[MarkedPassage, ...]]:
    """Read what events mark as evidence, in order; events that mark nothing are left out."""
    found: dict[int, list[MarkedPassage]] = defaultdict(list)
    for some in split_into_chunks(acts):
        for row in connection.execute(
            select(label_evidence)
            .where(label_evidence.c.label_id.in_(some))
            .order_by(label_evidence.c.label_id, label_evidence.c.position)
        ):
            found[row.label_id].append(MarkedPassage(row.document, row.span_start, row.span_end))
    return {act: tuple(marks) for act, marks in found.items()}


def store_marked_passages(
    connection: Connection, marks: Mapping[int, Sequence[MarkedPassage]]
) -> None:
    """Write what events mark as evidence, by the number of the event."""
    rows = [
        {
            "label_id": act,
            "position": position,
            "document": mark.document,
            "span_start": mark.start,
            "span_end": mark.end,
        }
        for act, marked in marks.items()
        for position, mark in enumerate(marked)
    ]
    if rows:
        connection.execute(insert(label_evidence), rows)


_OF_CONVERSATION = (
    select(*EVENT_COLUMNS)
    .join(claim, claim.c.id == human_label.c.claim_id)
    .where(claim.c.conversation_id == bindparam("conversation"))
    .order_by(*LOG_ORDER)
)


def read_conversation_events(connection: Connection, conversation_id: int) -> list[LabelEvent]:
    """Read the events on the claims of a conversation, in the order of the log."""
    rows = connection.execute(_OF_CONVERSATION, {"conversation": conversation_id})
    return _add_marked_passages(connection, [event_from_row(row) for row in rows])


def event_from_row(row: Iterable[Any]) -> LabelEvent:
    """Read a row of `EVENT_COLUMNS`."""
    # There may be a million, so the fields are filled by place and past `Event._make`, which takes
    # half as long again.
    values = [*row, *_NOT_READ]
    values[_ACTION] = _ACTIONS[values[_ACTION]]
    if values[_MARK] is not None:
        values[_MARK] = LabelMark(values[_MARK])
    return tuple.__new__(Event, values)


_ACTION, _MARK = Event._fields.index("action"), Event._fields.index("mark")
_NOT_READ = tuple(Event._field_defaults[name] for name in Event._fields[len(EVENT_COLUMNS) :])
"""What stands in the fields after those that are read."""

_ACTIONS = {str(each): each for each in Action}


def make_event_columns(event: Event[Any, Any, Any, Any]) -> dict[str, Any]:
    """Give the columns of a row of the log, but for its `uid`."""
    return {
        "clock": event.clock,
        "batch": event.batch,
        "claim_id": event.claim,
        "reviewer": event.reviewer,
        "action": event.action.value,
        "verdict": event.verdict,
        "note": event.note,
        "target_id": event.target,
        "scale": event.scale,
        "raw_label": event.raw_label,
        "unverified": event.unverified,
        "run_id": event.run,
        "judge_verdict": event.judge_verdict,
        "saw_judge": event.saw_judge,
        "seconds": event.seconds,
        "reason_code": event.code,
        "mark": None if event.mark is None else event.mark.value,
        "sample_id": event.sample,
        "stratum": event.stratum,
        "probability": event.probability,
        "guideline_version": event.guideline,
        "created_at": event.created_at,
    }


def replay_verdicts(log: Iterable[LabelEvent]) -> dict[ClaimId, tuple[HumanVerdict, ...]]:
    """Replay a log into each annotator's label, per claim."""
    verdicts: dict[ClaimId, list[HumanVerdict]] = defaultdict(list)
    events = [_turn_import_without_verdict_into_note(act) for act in log]
    for found in replay_log_into_verdicts(events).values():
        verdicts[found.claim].append(found)
    return {claim_id: tuple(each) for claim_id, each in verdicts.items()}


def _turn_import_without_verdict_into_note(act: LabelEvent) -> LabelEvent:
    """Keep an imported label without a verdict from standing in for the same annotator's label.

    Such a label is a word its scale does not translate, or a rating of something else.
    """
    if act.action is Action.IMPORTED and act.verdict is None:
        return act._replace(action=Action.NOTED)
    return act


def compute_consensus(
    verdicts: Mapping[ClaimId, tuple[HumanVerdict, ...]], rule: ScoringRule
) -> dict[Hashable, str]:
    """Combine human labels in the words of a run.

    Each word is translated before they are combined: `no` and `idk` are two votes for one label
    where a metric knows no third.

    Args:
        verdicts: The label of each annotator, per claim.
        rule: The run's.

    Returns:
        Labels of the run's metric and `x`, `TIE` where labels are tied; claims without a label that
        counts, or with none that means something there, are left out.
    """
    found = {
        claim_id: list_top_verdicts(_translate_verdicts(each, rule))
        for claim_id, each in verdicts.items()
    }
    return {
        claim_id: words[0] if len(words) == 1 else TIE for claim_id, words in found.items() if words
    }


def _translate_verdicts(
    verdicts: tuple[HumanVerdict, ...], rule: ScoringRule
) -> tuple[HumanVerdict, ...]:
    """Translate the human labels into a run's words; a word it does not have becomes None."""
    return tuple(
        each
        if each.verdict is None
        else replace(each, verdict=rule.translate_word_to_label(each.verdict))
        for each in verdicts
    )
