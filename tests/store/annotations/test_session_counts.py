"""Labels of today and the pace, from the newest acts of one annotator."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from tests.tui.building import NOON, shop


class Clock:
    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db", clock=clock) as opened:
        yield opened


def label(store: Store, claim: int, seconds: float | None, reviewer: str = "ann") -> None:
    store.label_log.record_verdict(
        claims(store)[claim], reviewer, "yes", run=RunId(1), saw_judge=True, seconds=seconds
    )


def claims(store: Store) -> list[ClaimId]:
    return [
        each.id
        for each in store.runs.read_conversation_for_review(
            store.runs.list_item_ids(RunId(1))[0], "x"
        ).claims
    ]


def test_labels_of_today_are_counted_once_a_claim_and_without_what_was_taken_back(
    store: Store, clock: Clock
) -> None:
    label(store, 0, 60.0)
    clock.time = NOON + timedelta(days=1)
    for claim, seconds in ((1, 4.0), (1, 6.0), (2, 8.0), (2, 0.3), (1, 8.0), (3, None)):
        label(store, claim, seconds)
    label(store, 4, 900.0, reviewer="bo")
    store.label_log.append_label_event(
        claims(store)[4], "ann", Action.ACCEPTED, "yes",
        run=RunId(1), judge_verdict="yes", saw_judge=True,
    )  # fmt: skip
    found = store.label_log.read_session_counts("ann", NOON + timedelta(hours=1))
    assert (found.labelled, found.pace_s) == (3, 8.0)
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    assert store.label_log.read_session_counts("ann", NOON + timedelta(hours=1)).labelled == 2
    store.label_log.redo("ann")
    assert store.label_log.read_session_counts("ann", NOON + timedelta(hours=1)).labelled == 3


def test_without_labels_there_is_no_pace(store: Store) -> None:
    found = store.label_log.read_session_counts("ann", NOON)
    assert (found.labelled, found.pace_s) == (0, None)
