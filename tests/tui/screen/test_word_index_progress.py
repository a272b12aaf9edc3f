"""Words that an import left to the first search: the app indexes them and says how far it is."""

import sqlite3

import pytest

from faithtui.store.search import word_index
from faithtui.tui.app import FaithApp
from tests.tui.driving import calm, press, screen_text, status, until
from tests.tui.screen.test_row_marks import SIZE, listed


@pytest.mark.thorough
async def test_a_search_for_words_indexes_what_waits_and_says_so(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    index_next_lot = word_index.index_next_lot

    def look_and_index(connection: object) -> None:
        app.call_from_thread(lambda: seen.append(status(app)))
        index_next_lot(connection)  # type: ignore[arg-type]  # as it was called

    async with app.run_test(size=SIZE) as pilot:
        screen = await listed(pilot, app)
        store = app.session.store
        connection = sqlite3.connect(store.path)
        for name in ("search_conversation", "search_document"):
            connection.execute(f"INSERT INTO {name} ({name}) VALUES ('delete-all')")
        connection.commit()
        connection.close()
        waiting = store.word_index.count_unindexed_texts()
        assert waiting > 0
        monkeypatch.setattr(word_index, "index_next_lot", look_and_index)
        await press(pilot, "/", *"receipt", "enter")
        await calm(pilot)
        await until(pilot, lambda: store.word_index.count_unindexed_texts() == 0)
        assert f"indexing words for search: 0 of {waiting} conversations and passages" in seen[0]
        assert 0 < len(screen.listed_ids) < 4
        assert "indexing" not in screen_text(app)
