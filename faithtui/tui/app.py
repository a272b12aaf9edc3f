"""The app: one store, the screens that show it, and the controllers between them."""

import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.actions import ActionParseResult
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from faithtui.clock import utc_now
from faithtui.engine.runs.request import RunRequest
from faithtui.tui.allowed_actions import is_action_writing_store
from faithtui.tui.input_queue import InputQueue
from faithtui.tui.keymap import palette
from faithtui.tui.messages import (
    NewRunRequested,
    ResumeRequested,
    SettingsChanged,
    ShowScreen,
    StoreOpened,
    WorkerFailed,
)
from faithtui.tui.new_run.form_opener import FormOpener
from faithtui.tui.notices import notify_failure, notify_read_only, notify_refusal
from faithtui.tui.resume_position import BookmarkFile, BookmarkKeeper
from faithtui.tui.runs.background_runs import BackgroundRuns
from faithtui.tui.screen_switcher import ScreenSwitcher
from faithtui.tui.session import Session
from faithtui.tui.shutdown import Shutdown
from faithtui.tui.small_terminal import SmallTerminalGuard
from faithtui.tui.store_opener import StoreOpener
from faithtui.tui.store_watcher import StoreWatcher
from faithtui.tui.terminal import HangupDriver, choose_driver
from faithtui.tui.theme import theme
from faithtui.tui.theme.appearance import Appearance
from faithtui.tui.widgets.component_styles import COMPONENTS

if TYPE_CHECKING:
    from faithtui.config import SettingsWithOrigins
    from faithtui.domain.ids import RunId
    from faithtui.store.store import Store

SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes (a run, the store) may hold up the one that answers keys."""


class _ThreadSwitchInterval:
    """How often the interpreter lets another thread run, which is of the whole process."""

    def __init__(self) -> None:
        self._before = sys.getswitchinterval()

    def shorten(self) -> None:
        """Let the thread that answers keys wait less."""
        self._before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL_S)

    def restore(self) -> None:
        """Switch as often as before."""
        sys.setswitchinterval(self._before)


class FaithApp(App[None]):
    """faithtui on one store, composed of controllers.

    A controller is a plain class that owns one concern: its state, its keys and what they do. It
    gets the app, and calls it and the other controllers directly.

    Textual looks for hooks (`on_event`, `refresh_css`), handlers (`@on`) and actions on the app
    alone. So all of them are here, and each passes on to the controller it concerns.

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
    COMMANDS = {palette.CommandProvider}  # noqa: RUF012 - the base class declares it so
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    # The base class declares an instance variable.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (160, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *ScreenSwitcher.BINDINGS,
        *Shutdown.BINDINGS,
        Binding(
            "question_mark",
            "help",
            "help",
            key_display="?",
            tooltip="Explain this screen and its keys",
            id="app.help",
        ),
    ]

    def __init__(
        self,
        store_path: Path,
        *,
        reviewer: str,
        first_screen: str = "runs",
        run: "RunId | None" = None,
        resume: bool = False,
        defaults: RunRequest | None = None,
        theme_name: str | None = None,
        report_directory: Path | None = None,
        now: Callable[[], datetime] = utc_now,
        open_store: "Callable[[Path], Store] | None" = None,
        configured: "SettingsWithOrigins | None" = None,
        keymap: Mapping[str, str] | None = None,
        ascii: bool = False,
        bookmarks: BookmarkFile | None = None,
    ) -> None:
        super().__init__()
        self.session = Session(
            reviewer=reviewer,
            store_path=store_path,
            defaults=defaults or RunRequest(),
            now=now,
            report_directory=report_directory or Path.cwd(),
            configured=configured,
            keymap=dict(keymap or {}),
            run=run,
        )
        self.appearance = Appearance(self, theme_name, ascii=ascii)
        self.small_terminal = SmallTerminalGuard(self)
        self.screen_switcher = ScreenSwitcher(self, first_screen=first_screen)
        self.store_opener = StoreOpener(self, store_path, open_store)
        self.store_watcher = StoreWatcher(self)
        self.bookmark_keeper = BookmarkKeeper(self, bookmarks)
        self.background_runs = BackgroundRuns(self, resume=resume)
        self.form_opener = FormOpener(self)
        self.shutdown = Shutdown(self)
        self.input_queue = InputQueue(
            self,
            self.forward_event,
            lambda: self.shutdown.quit_keys,
            self.screen_switcher.show_that_waiting_was_cancelled,
        )
        self._switch_interval = _ThreadSwitchInterval()

    # From the first paint to the open store

    def get_default_screen(self) -> Screen[None]:
        """Paint the first screen before anything is read."""
        return Screen()

    def get_driver_class(self) -> type[Driver]:
        """Take a driver that can do without the terminal or the page it draws on."""
        return choose_driver(super().get_driver_class(), os.environ)

    async def on_mount(self) -> None:
        """Show the first screen, then open the store."""
        self._switch_interval.shorten()
        self.set_keymap(self.session.keymap)
        self.store_opener.hold_keys()
        first = self.screen_switcher.first_screen
        self.screen_switcher.install_main_screen(first)
        await self.push_screen(first)
        if isinstance(self._driver, HangupDriver):
            # A screen that is half mounted cannot be left.
            self.shutdown.listen_for_hangup_and_signals(self._driver)
        self.call_after_refresh(self.store_opener.open_store_in_background)
        self.screen_change_signal.subscribe(self, lambda _: self.small_terminal.update_cover())

    @on(StoreOpened)
    def start_with_opened_store(self) -> None:
        """Go on where somebody stopped, let screens read, and look for changes from now on."""
        self.store_watcher.start_polling()
        self.appearance.read_styles_of_all_screens()
        self.bookmark_keeper.go_to_bookmark_and_keep_updating()
        self.screen_switcher.reload_open_screens()
        self.background_runs.resume_first_run_and_poll_queue()
        self.store_opener.release_keys_and_load_screens()

    def on_unmount(self) -> None:
        """Leave the process as it was."""
        self._switch_interval.restore()

    # Events for the screen

    async def on_event(self, event: events.Event) -> None:
        """Let what somebody does wait for its turn, and runs rest while it is drawn."""
        if isinstance(event, (events.Key, events.MouseDown)):
            self.background_runs.yield_to_ui()
        if self.input_queue.is_user_input(event):
            self.input_queue.add_input(event)
        else:
            await self.forward_event(event)

    async def forward_event(self, event: events.Event) -> None:
        """Give an event to the screen; keep keys and the mouse from one that is covered."""
        if self.small_terminal.is_unseen_input(event):
            await self.small_terminal.stop_unseen_input_but_quit_on_quit_keys(event)
        else:
            await super().on_event(event)

    def on_resize(self, event: events.Resize) -> None:
        """Cover or uncover the screen."""
        self.small_terminal.set_terminal_size(event.size)

    # How the app looks

    def refresh_css(self, animate: bool = True) -> None:
        """Read all styles anew, but for the first theme: they are read in its colours at once."""
        if not self.appearance.consume_fresh_styles_flag():
            super().refresh_css(animate)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colours to themes that do not have them."""
        return theme.get_default_variables(self.current_theme.dark)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Replace what is not ASCII last, where that is wanted."""
        return [*super().get_line_filters(), *self.appearance.line_filters]

    @on(SettingsChanged)
    def apply_settings(self, event: SettingsChanged) -> None:
        """Take changed settings into use at once, as far as that goes."""
        if event.keymap is not None:
            self.session.change_keymap(event.keymap)
            self.set_keymap(self.session.keymap)
        self.appearance.set_theme_and_ascii(event.configured.settings.theme, ascii=event.ascii)

    # Screens

    @property
    def current_screen_name(self) -> str:
        """Name of the main screen shown."""
        return self.screen_switcher.current

    def show_screen(self, name: str) -> None:
        """Show a main screen; `q` comes back to the one before."""
        self.screen_switcher.show(name)

    @on(ShowScreen)
    def go_to_screen(self, event: ShowScreen) -> None:
        """Show a main screen."""
        self.screen_switcher.show(event.screen, remember=not event.back)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what leads nowhere."""
        return self.screen_switcher.is_action_available(action)

    def action_ask_where_to_go(self) -> None:
        """Ask which screen."""
        self.screen_switcher.ask_where_to_go()

    def action_go_back(self) -> None:
        """Go to the screen before."""
        self.screen_switcher.go_back()

    def action_show_jump_labels(self) -> None:
        """Put a letter on everything that one can go to."""
        self.screen_switcher.show_jump_labels()

    def action_command_palette(self) -> None:
        """Offer every command."""
        self.screen_switcher.open_palette()

    def search_themes(self) -> None:
        """Offer every theme."""
        self.screen_switcher.search_themes()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer everything that can be done now, with its key and its id."""
        return self.screen_switcher.list_commands(screen)

    def action_help(self) -> None:
        """Explain the screen."""
        from faithtui.tui.screen.help_dialog import HelpDialog

        self.input_queue.open_window(HelpDialog.from_screen(self.screen, self.session.keys))

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key stands for, or say why that cannot be done in this store."""
        if self.session.is_read_only and is_action_writing_store(
            self.screen, action, default_namespace
        ):
            notify_read_only(self)
            return True
        return await super().run_action(action, default_namespace, namespaces)

    # Runs

    @on(NewRunRequested)
    def open_new_run_form(self) -> None:
        """Show the form for new runs."""
        self.form_opener.read_and_open_form()

    @on(ResumeRequested)
    def resume_run(self, event: ResumeRequested) -> None:
        """Take up a run, and let others follow."""
        self.background_runs.begin_run_and_queue_others(event.run, event.then)

    # Workers and their failures

    def start_worker(
        self,
        work_to_do: Callable[[], Coroutine[Any, Any, None]],
        *,
        group: str,
        exclusive: bool = False,
    ) -> Worker[None]:
        """Begin work of a controller beside the keys, alone in its group if exclusive."""
        worker: Worker[None] = self.run_worker(
            work_to_do, group=group, exclusive=exclusive, exit_on_error=False
        )
        return worker

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed in a worker of the app itself."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.show_failure(WorkerFailed(event.worker.error))

    @on(WorkerFailed)
    def show_failure(self, event: WorkerFailed) -> None:
        """Say what failed; a bug ends the app with its traceback."""
        notify_failure(self, event.error)

    # The end

    def _handle_exception(self, error: Exception) -> None:
        """End with a bug's traceback, except for a store that is closed because one leaves."""
        if not self.shutdown.is_shutdown_error(error):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Say what the bug is."""
        self.panic(self.shutdown.log_and_format_bug())

    async def action_leave(self) -> None:
        """Quit; ask first while a run is on."""
        await self.shutdown.quit_or_ask_first()

    async def action_quit(self) -> None:
        """Quit as ctrl+q does."""
        await self.shutdown.quit_or_ask_first()

    def action_help_quit(self) -> None:
        """Say which key quits, as ctrl+c does not."""
        notify_refusal(self, self.session.keys.fill_in_keys("{app.quit} quits, ctrl+c does not"))
