"""One record of an act: every column of the log is one of its fields."""

from datetime import UTC, datetime

from faithtui.domain.ids import ClaimId, LabelId, RunId, SampleId
from faithtui.domain.labels.label_events import Action, Event, LabelMark, MarkedPassage
from faithtui.store.annotations.label_replay import (
    EVENT_COLUMNS,
    event_from_row,
    make_event_columns,
)
from faithtui.store.schema.tables import human_label

FULL = Event(
    id=LabelId(11),
    claim=ClaimId(12),
    reviewer="ann",
    action=Action.MARKED,
    verdict="yes",
    note="a note",
    target=LabelId(13),
    batch="batch",
    code="truth",
    mark=LabelMark.FLAG,
    saw_judge=True,
    sample=SampleId(14),
    run=RunId(15),
    judge_verdict="no",
    seconds=16.5,
    scale="yes-no",
    raw_label="Yes",
    stratum="judge no",
    probability=0.25,
    guideline="digest",
    clock=17,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    evidence=(MarkedPassage("hash", 1, 5),),
)


def test_every_column_of_the_log_but_its_names_is_a_field_of_an_event() -> None:
    """What an act marks as evidence has rows of its own."""
    columns = make_event_columns(FULL)
    assert set(columns) == set(human_label.c.keys()) - {"id", "uid", "checksum"}
    assert set(columns.values()) == {*FULL[1:]} - {FULL.evidence}
    assert len(columns) == len(Event._fields) - 2


def test_the_columns_that_are_read_for_a_replay_are_the_first_fields_in_their_order() -> None:
    stored = {**make_event_columns(FULL), "id": FULL.id}
    read = event_from_row([stored[column.name] for column in EVENT_COLUMNS])
    known = len(EVENT_COLUMNS)
    assert read[:known] == FULL[:known]
    assert isinstance(read.action, Action)
    assert isinstance(read.mark, LabelMark)
    unread = [Event._field_defaults[name] for name in Event._fields[known:]]
    assert list(read[known:]) == unread, "the other fields say that they were not read"
