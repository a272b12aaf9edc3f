"""Figures of runs on a screen that is not drawn: in which order they are read, and when again."""

from dataclasses import replace
from itertools import count
from typing import cast

import pytest

from faithtui.domain.ids import RunId
from faithtui.errors import StoreError
from faithtui.store.annotations.label_log import LabelLog
from faithtui.store.runs.run_records import RunRow
from faithtui.tui.runs.run_figures import FigureReader
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


class RunListScreen(FakeScreen):
    """A list of the runs of the store, of which the last one is chosen."""

    is_at_start = False

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        (row,) = session.store.runs.list_runs()
        gone = replace(row, id=RunId(999))
        self.rows: list[RunRow] = [gone, row]
        self.run_at_cursor: RunRow | None = row
        self.under_way: set[RunId] = set()
        self.shown: list[RunId] = []
        self.waits: list[float] = []
        self.figures = FigureReader(cast(RunsScreen, self))

    @property
    def all_runs(self) -> list[RunRow]:
        return self.rows

    def is_under_way(self, run: RunId) -> bool:
        return run in self.under_way

    def show_figures(self, run: RunId) -> None:
        self.shown.append(run)

    def set_timer(self, wait_s: float, _callback: object) -> None:
        self.waits.append(wait_s)

    async def read(self) -> None:
        self.figures.start_reading_outdated_figures()
        await self.settle()
        assert not self.failures


@pytest.fixture
def screen(session: Session) -> RunListScreen:
    return RunListScreen(session)


async def test_each_run_is_read_once_the_chosen_one_first(screen: RunListScreen) -> None:
    gone, chosen = (row.id for row in screen.rows)
    await screen.read()
    assert screen.shown == [chosen, gone]
    found = screen.figures.get_known_figures(chosen)
    assert found is not None
    assert found.failure is None
    assert found.counts is not None
    assert found.lowest
    assert screen.figures.make_run_knowledge(screen.rows[1]).counts == found.counts
    await screen.read()
    assert screen.shown == [chosen, gone], "nothing has changed"


async def test_a_run_that_is_not_there_any_more_says_so_and_the_others_are_read(
    screen: RunListScreen,
) -> None:
    await screen.read()
    found = screen.figures.get_known_figures(RunId(999))
    assert found is not None
    assert found.failure is not None
    assert "999" in found.failure


async def test_what_changed_is_read_again_when_it_has_rested(screen: RunListScreen) -> None:
    seconds = count(0, 1)
    screen.session.seconds = lambda: float(next(seconds))
    await screen.read()
    screen.shown.clear()
    screen.rows = [replace(screen.rows[1], claims=screen.rows[1].claims + 1)]
    screen.run_at_cursor = screen.rows[0]
    await screen.read()
    assert screen.shown == []
    assert len(screen.waits) == 1, "a timer begins it again"
    assert screen.waits[0] > 1
    seconds = count(1_000)
    await screen.read()
    assert screen.shown == [screen.rows[0].id]


async def test_a_store_that_cannot_be_read_is_said_of_each_run(
    screen: RunListScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_reviews: LabelLog) -> None:
        raise StoreError("the file is damaged")

    monkeypatch.setattr(LabelLog, "read_newest_event_id", fail)
    await screen.read()
    for row in screen.rows:
        found = screen.figures.get_known_figures(row.id)
        assert found is not None
        assert found.failure == "the file is damaged"
    assert "not read" in screen.figures.format_run_line(screen.rows[0], 100, False).text
