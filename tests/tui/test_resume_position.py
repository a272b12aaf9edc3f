"""The next start goes on where the last one stopped."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.store.store import Store
from faithtui.tui.resume_position import (
    Bookmark,
    BookmarkFile,
    find_bookmark_target,
    make_bookmark,
    queue_from_json,
    restore_session,
)
from faithtui.tui.samples.queue import ClaimQueue, load_queue_position
from faithtui.tui.session import ListState, Session

PLACE = Bookmark(
    "review", 1, 2, 3, None, True, (("runs", "metric:x", "score"),), final_notes=((5, "why"),)
)


def test_a_bookmark_is_kept_per_store_and_person(tmp_path: Path) -> None:
    marks = BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann")
    assert marks.read() == Bookmark()
    marks.write_bookmark_if_changed(PLACE)
    marks.write_bookmark_if_changed(PLACE)
    assert BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann").read() == PLACE
    assert BookmarkFile(tmp_path / "places", tmp_path / "a.db", "bo").read() == Bookmark()
    assert BookmarkFile(tmp_path / "places", tmp_path / "b.db", "ann").read() == Bookmark()


def test_a_directory_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "places").write_text("a file", encoding="utf-8")
    BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann").write_bookmark_if_changed(PLACE)


@pytest.mark.thorough
@given(st.text())
def test_any_file_is_read(text: str) -> None:
    assert isinstance(Bookmark.from_json(text), Bookmark)


def test_what_is_not_what_it_should_be_is_left_out() -> None:
    text = '{"screen": 4, "run": "1", "item": -3, "lists": [["a"], 3, ["a", "b", "c"]]}'
    assert Bookmark.from_json(text) == Bookmark(lists=(("a", "b", "c"),))
    text = '{"final_notes": [[7, "kept"], ["7", "no claim"], [-1, "none"], [8], [9, 9], 4]}'
    assert Bookmark.from_json(text) == Bookmark(final_notes=((7, "kept"),))
    assert Bookmark.from_json(PLACE.to_json()) == PLACE


def test_a_place_is_taken_up_as_far_as_it_is_still_there(store_path: Path) -> None:
    with Store.open(store_path) as store:
        (run,) = store.runs.list_runs()
        item = store.runs.list_item_ids(run.id)[0]
        session = Session(reviewer="ann", store_path=store_path)
        restore_session(
            session,
            find_bookmark_target(Bookmark("review", run.id, item, 2, blind=True), store, "ann"),
        )
        assert (session.run, session.item, session.claim) == (run.id, item, ClaimId(2))
        assert session.is_blind
        assert make_bookmark(session, "review", None) == Bookmark(
            "review", run.id, item, 2, blind=True
        )
        gone = find_bookmark_target(
            Bookmark("review", 99, item, lists=(("runs", "x", ""),)), store, "ann"
        )
        assert (gone.run, gone.item) == (None, None)
        other = find_bookmark_target(Bookmark("review", run.id, 9999), store, "ann")
        assert (other.run, other.item) == (run.id, None)
        session = Session(reviewer="ann", store_path=store_path)
        restore_session(session, gone)
        assert session.lists["runs"] == ListState("x", "")
        assert session.run is None


def queue_of(store: Store, *, blind: bool = False) -> ClaimQueue:
    (run,) = store.runs.list_runs()
    units = store.samples.read_frame(run.id)
    entries = tuple((each.item, each.claim) for each in (units[4], units[5], units[0]))
    newest = store.label_log.read_newest_event_id()
    return ClaimQueue("odd \x1b[31m ones", run.id, entries, blind=blind, newest_act=newest)


@pytest.mark.parametrize("blind", [False, True])
def test_a_queue_that_is_no_sample_is_taken_up_with_what_was_answered(
    tmp_path: Path, store_path: Path, blind: bool
) -> None:
    with Store.open(store_path) as store:
        session = Session(reviewer="ann", store_path=store_path)
        queue = queue_of(store, blind=blind)
        session.start_queue(queue)
        file = BookmarkFile(tmp_path / "places", store_path, "ann")
        session.choose_conversation(*queue.entries[0])
        file.write_bookmark_if_changed(make_bookmark(session, "review", queue.entries[0][1]), queue)
        # The process is killed right after a verdict: the bookmark is older than the label.
        answered = queue.entries[0][1]
        store.label_log.record_verdict(answered, "ann", "no", run=queue.run, saw_judge=True)
        store.label_log.record_verdict(
            queue.entries[1][1], "bo", "no", run=queue.run, saw_judge=True
        )
        again = BookmarkFile(tmp_path / "places", store_path, "ann")
        mark = again.read()
        target = find_bookmark_target(mark, store, "ann", again.read_queue(mark))
        assert target.queue == queue
        later = Session(reviewer="ann", store_path=store_path)
        restore_session(later, target)
        assert later.is_blind == blind
        assert later.claim_queue is not None
        walk = load_queue_position(store, later.claim_queue, "ann")
        assert walk.answered_claims == {answered}
        assert target.claim == queue.entries[1][1], "not the one that has its verdict"
        nowhere = replace(mark, claim=None)
        target = find_bookmark_target(nowhere, store, "ann", again.read_queue(mark))
        assert (target.item, target.claim) == queue.entries[1], "a claim of the queue, in any case"


def test_what_was_hidden_in_an_open_queue_stays_hidden(store_path: Path) -> None:
    with Store.open(store_path) as store:
        session = Session(reviewer="ann", store_path=store_path)
        session.start_queue(queue_of(store))
        session.set_judge_hidden(True)
        mark = make_bookmark(session, "review", None)
        later = Session(reviewer="ann", store_path=store_path)
        restore_session(later, find_bookmark_target(mark, store, "ann", queue_of(store)))
        assert later.is_blind
        assert later.claim_queue is not None


def test_a_queue_of_another_run_or_without_conversations_is_left_out(store_path: Path) -> None:
    with Store.open(store_path) as store:
        queue = queue_of(store)
        mark = Bookmark("review", queue.run, queue.entries[0][0], queue=True)
        for broken in (
            replace(queue, run=RunId(9), place={}),
            replace(queue, entries=((ItemId(99), ClaimId(1)),), place={}),
            None,
        ):
            assert find_bookmark_target(mark, store, "ann", broken).queue is None


@given(st.text())
def test_any_file_of_a_queue_is_read(text: str) -> None:
    assert queue_from_json(text) is None
