"""Events of a run: named, drawn, and the cursor kept on its entry."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.runs.events import ItemFinished, RunEvent
from faithtui.store.records import ItemRow, ItemState
from faithtui.tui.app import FaithApp
from faithtui.tui.progress.event_list import EventList
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Line
from tests.tui import staged_runs
from tests.tui.driving import press, status, text_of, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.progress.test_progress_screen import watching
from tests.tui.staged_runs import SOME, StagedRun


async def test_an_event_opens_its_conversation_and_keeps_its_place(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        run = StagedRun()
        screen = await watching(pilot, run)
        await press(pilot, "j", "j")
        assert screen.get_item_id_at_cursor() is None
        await press(pilot, "enter")
        assert "about the run" in status(app)
        await press(pilot, "j")
        chosen = screen.event_list.entries[screen.events.cursor]
        run.now = replace(staged_runs.TROUBLED)
        await until(pilot, lambda: "held in memory" in text_of(app, "events"))
        assert screen.event_list.entries[screen.events.cursor].first_s == chosen.first_s
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.view is not None
        assert app.screen.view.item.key == "conv-0147"


# On a screen that is not drawn


class FakePane:
    """Keeps the lines that are drawn, and a cursor."""

    def __init__(self) -> None:
        self.cursor = 0
        self.text = ""

    def show(self, build: Callable[[int], list[Line]], **_how: object) -> None:
        self.text = "\n".join(line.text for line in build(80))

    def move_to(self, row: int) -> None:
        self.cursor = row


class FakeProgressScreen(FakeScreen):
    """A progress screen with nothing but its events."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.events = FakePane()
        self.event_list = EventList(cast(ProgressScreen, self))


def finished(at: float, item: int) -> tuple[float, RunEvent]:
    return (at, ItemFinished(RunId(1), ItemId(item), ItemState.DONE, SOME))


async def test_events_name_conversations_also_where_they_come_faster_than_names_are_read(
    session: Session,
) -> None:
    screen = FakeProgressScreen(session)
    screen.event_list.set_attempt_start(10.0)
    going = threading.Event()
    rows, asked = session.store.runs.read_item_rows, []

    def read_slowly(items: Sequence[ItemId]) -> tuple[ItemRow, ...]:
        asked.append(tuple(items))
        going.wait()
        return rows(items)

    session.store.runs.read_item_rows = read_slowly  # type: ignore[method-assign]  # held back
    screen.event_list.add_events([finished(1.0, 1)])
    screen.event_list.add_events([finished(1.0, 1), finished(2.0, 2)])
    going.set()
    await screen.settle()
    assert "conv-0147" in screen.events.text
    assert "conv-0031" in screen.events.text
    assert asked == [(ItemId(1),), (ItemId(2),)], "each is read once"


async def test_the_cursor_stays_on_its_entry_unless_it_is_on_the_newest(session: Session) -> None:
    screen = FakeProgressScreen(session)
    screen.event_list.set_attempt_start(10.0)
    screen.event_list.add_events([finished(1.0, 1), finished(2.0, 2)])
    screen.events.cursor = 1
    screen.event_list.add_events([finished(1.0, 1), finished(2.0, 2), finished(3.0, 3)])
    assert screen.events.cursor == 2
    screen.events.cursor = 0
    screen.event_list.add_events([finished(float(at), at) for at in range(1, 5)])
    assert screen.events.cursor == 0
    await screen.settle()


async def test_another_run_begins_without_events_and_names(session: Session) -> None:
    screen = FakeProgressScreen(session)
    screen.event_list.set_attempt_start(10.0)
    screen.event_list.add_events([finished(1.0, 1)])
    await screen.settle()
    screen.event_list.reset_for_other_run()
    assert not screen.event_list.entries
    assert not screen.event_list.names
    screen.event_list.paint_events()
    assert "Events are kept for runs started here" in screen.events.text
    screen.event_list.set_attempt_start(4.0)
    screen.event_list.add_events([finished(1.0, 1)])
    await screen.settle()
    assert "12:04:16" in screen.events.text, "noon of the test, 4 s on, 1 s after it began"
    assert "conv-0147" in screen.events.text, "names are asked for again"
