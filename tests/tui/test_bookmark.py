"""The next start goes on where the last one stopped."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ClaimId
from faithtui.store.store import Store
from faithtui.tui.bookmark import (
    Bookmark,
    BookmarkFile,
    make_bookmark,
    resolve_bookmark,
    restore_session,
)
from faithtui.tui.session import ListState, Session

PLACE = Bookmark("review", 1, 2, 3, None, True, (("runs", "metric:x", "score"),))


def test_a_bookmark_is_kept_per_store_and_person(tmp_path: Path) -> None:
    marks = BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann")
    assert marks.read() == Bookmark()
    marks.write(PLACE)
    marks.write(PLACE)
    assert BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann").read() == PLACE
    assert BookmarkFile(tmp_path / "places", tmp_path / "a.db", "bo").read() == Bookmark()
    assert BookmarkFile(tmp_path / "places", tmp_path / "b.db", "ann").read() == Bookmark()


def test_a_directory_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "places").write_text("a file", encoding="utf-8")
    BookmarkFile(tmp_path / "places", tmp_path / "a.db", "ann").write(PLACE)


@given(st.text())
def test_any_file_is_read(text: str) -> None:
    assert isinstance(Bookmark.from_json(text), Bookmark)


def test_what_is_not_what_it_should_be_is_left_out() -> None:
    text = '{"screen": 4, "run": "1", "item": -3, "lists": [["a"], 3, ["a", "b", "c"]]}'
    assert Bookmark.from_json(text) == Bookmark(lists=(("a", "b", "c"),))
    assert Bookmark.from_json(PLACE.to_json()) == PLACE


def test_a_place_is_taken_up_as_far_as_it_is_still_there(store_path: Path) -> None:
    with Store.open(store_path) as store:
        (run,) = store.runs.rows()
        item = store.runs.item_ids(run.id)[0]
        session = Session(reviewer="ann", store_path=store_path)
        restore_session(
            session, resolve_bookmark(Bookmark("review", run.id, item, 2, blind=True), store, "ann")
        )
        assert (session.run, session.item, session.claim) == (run.id, item, ClaimId(2))
        assert session.is_blind
        assert make_bookmark(session, "review", None) == Bookmark(
            "review", run.id, item, 2, blind=True
        )
        gone = resolve_bookmark(
            Bookmark("review", 99, item, lists=(("runs", "x", ""),)), store, "ann"
        )
        assert (gone.run, gone.item) == (None, None)
        other = resolve_bookmark(Bookmark("review", run.id, 9999), store, "ann")
        assert (other.run, other.item) == (run.id, None)
        session = Session(reviewer="ann", store_path=store_path)
        restore_session(session, gone)
        assert session.lists["runs"] == ListState("x", "")
        assert session.run is None
