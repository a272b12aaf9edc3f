"""The app: opens the store, moves between screens, keeps runs going.

The first paint waits for nothing. The store, and with it everything that is slow to import, comes
in a worker afterwards.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from faithtui.errors import FaithtuiError, StoreError
from faithtui.tui import screen_catalog
from faithtui.tui.bookmark import (
    BookmarkFile,
    BookmarkTarget,
    make_bookmark,
    resolve_bookmark,
    restore_session,
)
from faithtui.tui.conversations.import_files import pause_garbage_collection
from faithtui.tui.messages import (
    FirstRunsRead,
    SettingsChanged,
    StoreOpened,
    StoreOpenFailed,
    WorkerFailed,
)
from faithtui.tui.session import NewRunDefaults, ReviewPreferences, Session, utc_now
from faithtui.tui.shutdown import ShutdownApp
from faithtui.tui.terminal import DetachableDriver
from faithtui.tui.theme import theme
from faithtui.tui.theme.ascii import AsciiFilter
from faithtui.tui.theme.lines import escape_text
from faithtui.tui.widgets.drawn import COMPONENTS

if TYPE_CHECKING:
    from faithtui.config import SettingsWithOrigins
    from faithtui.domain.ids import RunId
    from faithtui.store.records import RunRow
    from faithtui.store.store import Store

BOOKMARK_S = 1.0
"""How often is written down where one is, if that has changed."""
POLL_S = 1.0
"""How often another process's writes are looked for."""
NEXT_RUN_POLL_S = 0.25
"""How often is looked whether a run that others wait for is through."""
LOAD_AFTER_S = 0.3
"""How long the first rows have to themselves before the other screens are imported."""
YIELD_AFTER_KEY_S = 0.08
"""How long a run rests after a key, so that it is answered as if none were on. Somebody who gives a
verdict a second makes a run slower by a twelfth."""
SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes (a run, the store) may hold up the one that answers keys."""
_STYLES = Path(__file__).parent


class FaithApp(ShutdownApp):
    """faithtui on one store.

    Args:
        store_path: The store's file; made when there is none.
        reviewer: Who gives verdicts.
        first_screen: Main screen to begin with.
        run: Run to begin with; None: the newest.
        resume: Take up that run at once, in the background.
        defaults: What the form for a new run begins with.
        theme_name: One of `theme.THEMES`, or the name of any theme of Textual's; None: dark.
        report_directory: Where reports go, each into a new directory; None: the working directory.
        now: Tells the time.
        open_store: Opens the store.
        configured: The user's settings, which the settings screen shows and changes; None: there
            are none to change.
        keymap: Keys by id of the binding where they are not the default ones.
        ascii: Draw with ASCII alone.
        bookmarks: Where to go on, and where to keep that; None: begin at the first screen.
    """

    TITLE = "faithtui"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - the base class declares an instance variable
        (0, "-narrow"),
        (100, "-medium"),
        (160, "-wide"),
    ]

    def __init__(
        self,
        store_path: Path,
        *,
        reviewer: str,
        first_screen: str = "runs",
        run: "RunId | None" = None,
        resume: bool = False,
        defaults: NewRunDefaults | None = None,
        theme_name: str | None = None,
        report_directory: Path | None = None,
        now: Callable[[], datetime] = utc_now,
        open_store: "Callable[[Path], Store] | None" = None,
        configured: "SettingsWithOrigins | None" = None,
        keymap: Mapping[str, str] | None = None,
        ascii: bool = False,
        bookmarks: BookmarkFile | None = None,
    ) -> None:
        session = Session(
            reviewer=reviewer, store_path=store_path, defaults=defaults or NewRunDefaults(), now=now
        )
        super().__init__(session, first_screen=first_screen, resume=resume)
        session.run = run
        session.configured = configured
        session.keymap = dict(keymap or {})
        if configured is not None:
            session.preferences = ReviewPreferences.from_settings(configured.settings)
        if report_directory is not None:
            session.report_directory = report_directory
        self._store_path = store_path
        self._open_store = open_store or _open_store
        self._first = first_screen
        self._ascii = AsciiFilter(enabled=ascii)
        self._bookmarks = bookmarks
        self._bookmark_target: BookmarkTarget | None = None
        self._data_version = -1
        self._switch_interval = sys.getswitchinterval()
        for each in theme.THEMES.values():
            self.register_theme(each)
        wanted = self._find_theme(theme_name)
        self._styles_are_fresh = wanted != self.theme
        self.theme = wanted
        self.stylesheet.set_variables(self.get_css_variables())

    def refresh_css(self, animate: bool = True) -> None:
        """Read all styles anew, but for the first theme: they are read in its colours at once."""
        if self._styles_are_fresh:
            self._styles_are_fresh = False
            return
        super().refresh_css(animate)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colours to themes that do not have them."""
        return theme.get_default_variables(self.current_theme.dark)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Replace what is not ASCII last, where that is wanted."""
        return [*super().get_line_filters(), *([self._ascii] if self._ascii.enabled else [])]

    def get_default_screen(self) -> Screen[None]:
        """Paint the first screen before anything is read."""
        return Screen()

    def get_driver_class(self) -> type[Driver]:
        """Take a driver for terminals that can do without one."""
        chosen = super().get_driver_class()
        return DetachableDriver if chosen is LinuxDriver else chosen

    async def on_mount(self) -> None:
        """Show the first screen, then open the store."""
        if isinstance(self._driver, DetachableDriver):
            self.leave_on_hangup(self._driver)
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self.set_keymap(self.session.keymap)
        self.install_main_screen(self._first)
        await self.push_screen(self._first)
        self.call_after_refresh(self.open_store)

    async def on_event(self, event: events.Event) -> None:
        """Let runs rest while what somebody pressed is drawn."""
        if isinstance(event, (events.Key, events.MouseDown)):
            for run in self.session.process_runs:
                run.yield_to_ui(YIELD_AFTER_KEY_S)
        await super().on_event(event)

    def on_unmount(self) -> None:
        """Leave the process as it was."""
        sys.setswitchinterval(self._switch_interval)

    @work(exit_on_error=False, group="open")
    async def open_store(self) -> None:
        """Open the store without holding up the screen."""
        if self._first == "runs":
            rows = await asyncio.to_thread(_read_first_runs, self._store_path)
            if rows:
                await self._show_first_rows(rows)
        try:
            store = await asyncio.to_thread(self._open_store, self._store_path)
        except StoreError as error:
            self.post_message(StoreOpenFailed(error))
            return
        if self._bookmarks is not None:
            stopped = await asyncio.to_thread(self._bookmarks.read)
            self._bookmark_target = await asyncio.to_thread(
                resolve_bookmark, stopped, store, self.session.reviewer
            )
        self.session.set_store(store)
        self._show_opening_notes(store)
        self.post_message(StoreOpened())

    async def _show_first_rows(self, rows: "tuple[RunRow, ...]") -> None:
        """Let the list of runs draw what was read, and wait until it has."""
        painted = asyncio.Event()
        # What is typed at the first rows is meant for what they lead to.
        self.navigation.hold_keys(self.open_store)
        self.screen.post_message(FirstRunsRead(rows))
        self.screen.call_after_refresh(painted.set)
        await painted.wait()

    @work(group="open")
    async def load_screens(self) -> None:
        """Import the other screens before anybody wants them."""
        await asyncio.to_thread(_load_screens)

    @on(StoreOpened)
    def begin_reading(self) -> None:
        """Let the screen read, and look for changes from now on."""
        self._data_version = self.session.store.data_version()
        # A screen that brings styles nobody read yet would have all others read anew with them.
        for path in sorted(_STYLES.rglob("*.tcss")):
            self.stylesheet.read(path)
        self.set_interval(POLL_S, self.poll_store)
        self.set_interval(NEXT_RUN_POLL_S, self.begin_next_run)
        self.set_timer(LOAD_AFTER_S, self.load_screens)
        self._restore_bookmark()
        self.reload_screens()
        self.resume_first_run()
        self.navigation.release_keys(self.open_store)

    def _restore_bookmark(self) -> None:
        """Go on at the place of the bookmark, and keep it up to date from now on."""
        if self._bookmarks is None:
            return
        if self._bookmark_target is not None:
            restore_session(self.session, self._bookmark_target)
            known = (
                self._bookmark_target.screen in screen_catalog.LETTERS
                and self.current_screen_name == self._first
            )
            if (
                self._bookmark_target.run is not None
                and self._bookmark_target.screen is not None
                and known
            ):
                self.show_screen(self._bookmark_target.screen)
        self.set_interval(BOOKMARK_S, self.write_bookmark)

    def write_bookmark(self) -> None:
        """Keep where one is; a small file, and only when it is another place."""
        if self._bookmarks is not None:
            claim = getattr(getattr(self.screen, "review_position", None), "claim", None)
            self._bookmarks.write(make_bookmark(self.session, self.current_screen_name, claim))

    @on(StoreOpenFailed)
    def show_store_error(self, event: StoreOpenFailed) -> None:
        """Say why there is no store, and the way out."""
        from faithtui.tui.screen.store_error import StoreErrorScreen

        self.navigation.release_keys(self.open_store)
        self._exit_code = event.error.exit_code
        self.navigation.open_window(StoreErrorScreen(str(event.error), self._store_path))

    def poll_store(self) -> None:
        """Read again when anybody wrote, in this process or in another one."""
        if self._is_leaving:
            return  # the store closes
        for run in self.session.process_runs:
            if run.is_finished and run.bug is not None:
                raise run.bug
        version = self.session.store.data_version()
        if version != self._data_version and not self._is_reading():
            self._data_version = version
            self.reload_screens()

    def _is_reading(self) -> bool:
        """Whether a screen still reads what changed before: threads that read do not stop."""
        shown = self.screen_stack
        return any(not each.is_finished and each.node in shown for each in self.workers)

    @on(SettingsChanged)
    def apply_settings(self, event: SettingsChanged) -> None:
        """Take changed settings into use at once, as far as that goes."""
        session, settings = self.session, event.configured.settings
        session.configured = event.configured
        session.preferences = ReviewPreferences.from_settings(settings)
        session.defaults = NewRunDefaults.from_settings(settings)
        if event.keymap is not None:
            # Changed in place: panes that show keys hold it.
            session.keymap.clear()
            session.keymap |= event.keymap
            self.set_keymap(session.keymap)
        self.theme = self._find_theme(settings.theme)
        if event.ascii != self._ascii.enabled:
            self._ascii.enabled = event.ascii
            for screen in self.screen_stack:
                for widget in screen.walk_children(with_self=True):
                    widget.notify_style_update()
                screen.refresh(layout=True)

    def _find_theme(self, name: str | None) -> str:
        """Find a theme by the word of the settings; dark when there is no such theme."""
        known = theme.THEMES.get(name or "dark")
        wanted = known.name if known is not None else name
        return wanted if wanted in self.available_themes else theme.DARK.name

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed in a worker of the app itself."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.show_failure(WorkerFailed(event.worker.error))

    def _show_opening_notes(self, store: "Store") -> None:
        """Say what whoever opens this store should know."""
        from faithtui.store.file.location import opening_notes

        for note in opening_notes(store):
            self.notify(escape_text(note).text, severity="warning", markup=False, timeout=15)

    @on(WorkerFailed)
    def show_failure(self, event: WorkerFailed) -> None:
        """Say what failed; a bug ends the app with its traceback."""
        if self._is_leaving:
            return
        if not isinstance(event.error, FaithtuiError):
            raise event.error
        self.notify(
            escape_text(str(event.error)).text,
            title="That did not work",
            severity="error",
            markup=False,
            timeout=15,
        )


def _read_first_runs(path: Path) -> "tuple[RunRow, ...] | None":
    """Read the runs without what is slow to import."""
    from faithtui.store.runs.startup_list import read_startup_runs

    return read_startup_runs(path)


def _open_store(path: Path) -> "Store":
    """Open the store; imports what is slow only now."""
    with pause_garbage_collection():
        from faithtui.store.store import Store

    return Store.open(path)


def _load_screens() -> None:
    """Import all screens."""
    with pause_garbage_collection():
        screen_catalog.load_all()
