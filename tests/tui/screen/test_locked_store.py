"""A store that another process locks for a moment while rows of a list are read."""

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from faithtui.domain.ids import ItemId
from faithtui.errors import StoreBusy
from faithtui.store.records import ItemRow
from faithtui.tui.app import FaithApp
from faithtui.tui.screen import pager
from tests.tui.driving import screen_text, status, until

UNREAD = "gone, or not to be read"


@pytest.mark.thorough
async def test_rows_come_by_themselves_when_the_lock_is_gone(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pager, "SHORTEST_REST_S", 0.1)
    async with app.run_test(size=(150, 45)) as pilot:
        await until(pilot, lambda: app.session.is_open)
        runs = type(app.session.store.runs)
        read = runs.read_items_with_list_marks
        is_locked = True
        asked: list[int] = []

        def read_unless_locked(
            self: object, ids: Sequence[ItemId], reviewer: str
        ) -> Sequence[ItemRow]:
            asked.append(len(ids))
            if is_locked:
                raise StoreBusy("the store is locked by another process")
            return read(self, ids, reviewer)  # type: ignore[arg-type]  # it is such a one

        monkeypatch.setattr(runs, "read_items_with_list_marks", read_unless_locked)
        await show_conversations(pilot)
        await until(pilot, lambda: UNREAD in screen_text(app))
        await until(pilot, lambda: "is locked by another process" in status(app))
        assert 1 not in asked, "one by one each row would wait for the lock"
        is_locked = False
        await until(pilot, lambda: UNREAD not in screen_text(app))


async def show_conversations(pilot: Pilot[None]) -> None:
    await pilot.press("g")
    await pilot.pause()
    await pilot.press("c")
