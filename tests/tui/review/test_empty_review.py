"""The review screen without anything to review."""

from pathlib import Path

from faithtui.store.records import ItemState
from faithtui.tui.app import FaithApp
from tests.tui.driving import opened, press, screen_text, text_of


async def test_why_there_is_nothing_to_review_is_said_in_full_at_80x24(tmp_path: Path) -> None:
    app = FaithApp(tmp_path / "new.db", reviewer="ann")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "v")
        words = " ".join(screen_text(app).replace("┃", " ").split())
        assert "There is no run yet: g r, then n starts one." in words
        assert "Verdict" not in words, "panes with nothing in them take no room"


async def test_a_skipped_conversation_shows_its_turns_and_where_passages_may_be(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        store = app.session.store
        run = app.session.run or store.runs.list_runs()[0].id
        rows = store.runs.read_item_rows(store.runs.list_item_ids(run))
        skipped = next(each for each in rows if each.state is ItemState.SKIPPED)
        app.session.switch_run(run)
        app.session.choose_conversation(skipped.id)
        await press(pilot, "g", "v")
        words = " ".join(text_of(app, "claims").split())
        assert "It was skipped" in words
        assert "faithtui import FILE" in words
        assert skipped.opening[:20] in text_of(app, "transcript")
