"""Opening the store after the first paint.

The first paint waits for nothing. The store, and with it everything that is slow to import, comes
in a worker afterwards.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.domain.text.near_spellings import preload_rapidfuzz
from faithtui.errors import StoreError
from faithtui.tui import screen_catalog
from faithtui.tui.conversations.import_files import pause_gc_then_freeze_objects
from faithtui.tui.messages import FirstRunsRead, StoreOpened
from faithtui.tui.theme.lines import escape_text

if TYPE_CHECKING:
    from faithtui.store.records import RunRow
    from faithtui.store.store import Store
    from faithtui.tui.app import FaithApp

LOAD_AFTER_S = 0.3
"""How long the first rows have to themselves before the other screens are imported."""


class StoreOpener:
    """Shows the first rows of the list of runs, opens the store, then imports the other screens.

    Where a bookmark leads elsewhere, or hides the judge, no rows are shown before it is open.

    Args:
        app: The app; gets `StoreOpened`.
        path: The store's file; made when there is none.
        open_store: Opens the store; None: as `Store.open` does.
    """

    def __init__(
        self, app: "FaithApp", path: Path, open_store: "Callable[[Path], Store] | None"
    ) -> None:
        self.app = app
        self._path = path
        self._open_store = open_store or _open_store

    def hold_keys(self) -> None:
        """Keep what is typed until the store is open: it is meant for what it shows."""
        self.app.input_queue.hold_keys(self)

    def open_store_in_background(self) -> None:
        """Open the store without holding up the screen."""
        self.app.start_worker(self._open_store_and_show_first_rows, group="open")

    async def _open_store_and_show_first_rows(self) -> None:
        app = self.app
        await asyncio.to_thread(app.bookmark_keeper.read_bookmark)
        is_shown = not app.bookmark_keeper.replaces_first_screen
        if is_shown and app.screen_switcher.first_screen == "runs":
            rows = await asyncio.to_thread(_read_first_runs, self._path)
            if rows:
                await self._show_first_rows_and_wait(rows)
        try:
            store = await asyncio.to_thread(self._open_store, self._path)
        except StoreError as error:
            self._show_failure(error)
            return
        await asyncio.to_thread(app.bookmark_keeper.load_bookmark_target, store)
        app.session.set_store(store)
        self._show_notes(store)
        app.post_message(StoreOpened())

    async def _show_first_rows_and_wait(self, rows: "tuple[RunRow, ...]") -> None:
        """Let the list of runs draw what was read, and wait until it has."""
        painted = asyncio.Event()
        self.app.screen.post_message(FirstRunsRead(rows))
        self.app.screen.call_after_refresh(painted.set)
        await painted.wait()

    def _show_notes(self, store: "Store") -> None:
        """Say what whoever opens this store should know."""
        from faithtui.store.file.location import format_opening_notes

        for note in format_opening_notes(store):
            words = escape_text(note).text
            self.app.notify(words, severity="warning", markup=False, timeout=15)

    def release_keys_and_load_screens(self) -> None:
        """Let keys reach the screens that read the store, and import the other screens soon."""
        self.app.set_timer(LOAD_AFTER_S, self._load_screens_in_background)
        self.app.input_queue.release_keys(self)

    def _show_failure(self, error: StoreError) -> None:
        """Say why there is no store, and the way out."""
        from faithtui.tui.screen.store_error import StoreErrorScreen

        self.app.input_queue.release_keys(self)
        self.app.shutdown.set_exit_code(error.exit_code)
        self.app.input_queue.open_window(StoreErrorScreen(str(error), self._path))

    def _load_screens_in_background(self) -> None:
        self.app.start_worker(self._load_screens, group="open")

    async def _load_screens(self) -> None:
        """Import the other screens before anybody wants them."""
        await asyncio.to_thread(_load_screens)


def _read_first_runs(path: Path) -> "tuple[RunRow, ...] | None":
    """Read the runs without what is slow to import."""
    from faithtui.store.runs.startup_list import read_startup_runs

    return read_startup_runs(path)


def _open_store(path: Path) -> "Store":
    """Open the store; imports what is slow only now."""
    with pause_gc_then_freeze_objects():
        from faithtui.store.store import Store

    return Store.open(path)


def _load_screens() -> None:
    """Import all screens, and what the first conversation that is opened would wait for."""
    with pause_gc_then_freeze_objects():
        screen_catalog.import_all_screens()
        preload_rapidfuzz()
