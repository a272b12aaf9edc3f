"""The events of a run, with the names of the conversations that they speak of."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.runs.events import ItemFinished, RunEvent, WindowAssessed, WindowFailed
from faithtui.tui.progress import event_lines
from faithtui.tui.screen.controller import Controller, run_in_worker

if TYPE_CHECKING:
    from faithtui.tui.progress.progress_screen import ProgressScreen

MOST_NAMED = 5_000
"""Conversations whose names are read ahead; those of more are read as events speak of them."""


class EventList(Controller["ProgressScreen"]):
    """Takes and draws the events of the run that the progress screen shows."""

    def __init__(self, screen: "ProgressScreen") -> None:
        super().__init__(screen)
        self.reset_for_other_run()

    def reset_for_other_run(self) -> None:
        """Begin with another run."""
        self.names: dict[ItemId, str] = {}
        self._asked: set[ItemId] = set()
        """Conversations whose names are read, or are being read."""
        self.began: datetime | None = None
        """When the attempt of the run began."""
        self.recent: Sequence[tuple[float, RunEvent]] = ()
        self.entries: Sequence[event_lines.EventGroup] = ()

    def set_attempt_start(self, elapsed_s: float) -> None:
        """Begin with another attempt of the run, which has been on for some seconds."""
        self.began = self.session.now() - timedelta(seconds=elapsed_s)

    @run_in_worker("all names")
    async def read_conversation_names_ahead(self, run: RunId) -> None:
        """Read the names of a run's conversations ahead: the newest event is named at once."""
        ids = await self.read_in_thread(self.session.store.runs.list_item_ids, run)
        some = tuple(ids[:MOST_NAMED])
        rows = await self.read_in_thread(self.session.store.runs.read_item_rows, some)
        self._asked |= set(some)
        self.screen.call_later(self._paint_with_names, {row.id: row.key for row in rows})

    def add_events(self, recent: Sequence[tuple[float, RunEvent]]) -> None:
        """Take new events, with the cursor on the entry it was on unless that is the newest."""
        if recent == self.recent:
            return
        pane = self.screen.events
        chosen = self.entries[pane.cursor] if 0 < pane.cursor < len(self.entries) else None
        self.recent, self.entries = recent, event_lines.group_events(recent)
        self._read_missing_names()
        self.paint_events()
        if chosen is not None:
            kept = (row for row, each in enumerate(self.entries) if each.first_s == chosen.first_s)
            pane.move_to(next(kept, min(pane.cursor, len(self.entries) - 1)))

    def paint_events(self) -> None:
        """Draw the events there are."""
        entries, began, names = self.entries, self.began, self.names
        self.screen.events.show(
            lambda width: event_lines.event_lines(entries, began, names, width),
            title="Events",
            made_of=(entries, began, names),
        )

    def _read_missing_names(self) -> None:
        """Read the names of conversations that events speak of for the first time."""
        unknown = {
            event.item
            for _, event in self.recent
            if isinstance(event, ItemFinished | WindowAssessed | WindowFailed)
            and event.item not in self._asked
        }
        if unknown:
            self._asked |= unknown
            self._read_and_paint_names(tuple(unknown))

    # Not exclusive: where events come faster than names are read, none would ever be.
    @run_in_worker("names", exclusive=False)
    async def _read_and_paint_names(self, items: tuple[ItemId, ...]) -> None:
        """Read names of conversations."""
        rows = await self.read_in_thread(self.session.store.runs.read_item_rows, items)
        self.screen.call_later(self._paint_with_names, {row.id: row.key for row in rows})

    def _paint_with_names(self, names: dict[ItemId, str]) -> None:
        """Draw events with names."""
        self.names = self.names | names
        self.paint_events()
