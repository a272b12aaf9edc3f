"""Saved views: kept by screen and name."""

from faithtui.store.records import SavedView
from faithtui.store.store import Store


def test_views_are_kept_replaced_and_deleted(store: Store) -> None:
    views = store.saved_views
    views.save("runs", SavedView("b", "metric:ragas", "score"))
    views.save("conversations", SavedView("b", "verdict:no", "number"))
    views.save("conversations", SavedView("a", "", "recent"))
    views.save("conversations", SavedView("b", "verdict:yes", "score"))
    assert views.list_views("conversations") == (
        SavedView("a", "", "recent"),
        SavedView("b", "verdict:yes", "score"),
    )
    views.delete("conversations", "b")
    views.delete("conversations", "nobody")
    assert [view.name for view in views.list_views("conversations")] == ["a"]
    assert [view.filter for view in views.list_views("runs")] == ["metric:ragas"]
