"""The app: opens the store, moves between screens, keeps runs going.

The first paint waits for nothing. The store, and with it everything that is slow to import, comes
in a worker afterwards.
"""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

os.environ.setdefault("TEXTUAL_FPS", "120")  # Read at import: halves the wait for a second frame.

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerState

from faithtui.domain.plain import visible_line
from faithtui.engine.requests import RunRequest
from faithtui.errors import FaithtuiError, StoreError
from faithtui.store.records import RunState
from faithtui.tui import catalog, theme
from faithtui.tui.keys import display
from faithtui.tui.lines import shown
from faithtui.tui.messages import (
    Failed,
    Go,
    NewRunWanted,
    ResumeWanted,
    StoreOpened,
    StoreRefused,
)
from faithtui.tui.screens.base import FaithScreen
from faithtui.tui.session import Defaults, Session, utc_now

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.store.store import Store

POLL_S = 1.0
"""How often another process's writes are looked for."""
NEXT_WITHIN_S = 0.25
"""How often is looked whether a run that others wait for is through."""
LEAVE_WITHIN_S = 0.8
"""How long quitting waits for runs to stop; what is stored is safe whatever happens after."""

SWITCH_INTERVAL_S = 0.0005
"""How long a thread that computes (a run, the store) may hold up the one that answers keys."""


class FaithApp(App[None]):
    """faithtui on one store.

    Args:
        store_path: The store's file; made when there is none.
        reviewer: Who gives verdicts.
        first_screen: Main screen to begin with.
        run: Run to begin with; None: the newest.
        resume: Take up that run at once, in the background.
        defaults: What the form for a new run begins with.
        theme_name: `dark`, `light`, the name of any theme of Textual's; None: dark.
        report_directory: Where reports go, each into a new directory; None: the working directory.
        now: Tells the time.
        open_store: Opens the store.
    """

    TITLE = "faithtui"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - the base class declares an instance variable
        (0, "-narrow"),
        (100, "-medium"),
        (160, "-wide"),
    ]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "g",
            "go",
            "go to",
            tooltip="Go to another screen: one more letter says which",
            id="app.go",
        ),
        Binding(
            "colon",
            "command_palette",
            "commands",
            show=False,
            key_display=":",
            tooltip="Search all commands",
            id="app.commands-colon",
        ),
        Binding(
            "ctrl+p",
            "command_palette",
            "commands",
            key_display="ctrl+p",
            tooltip="Search all commands",
            id="app.commands",
        ),
        Binding("q", "go_back", "back", tooltip="Back to the screen before", id="app.back"),
        Binding(
            "ctrl+q",
            "leave",
            "quit",
            key_display="ctrl+q",
            priority=True,
            tooltip="Quit; asks while a run is on",
            id="app.quit",
        ),
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
        defaults: Defaults | None = None,
        theme_name: str | None = None,
        report_directory: Path | None = None,
        now: Callable[[], datetime] = utc_now,
        open_store: "Callable[[Path], Store] | None" = None,
    ) -> None:
        super().__init__()
        self.session = Session(
            reviewer=reviewer, store_path=store_path, defaults=defaults or Defaults(), now=now
        )
        self.session.run = run
        if report_directory is not None:
            self.session.report_directory = report_directory
        self._store_path = store_path
        self._open_store = open_store or _open_store
        self._first = first_screen
        self._resume = resume
        self.waiting: list[RunId] = []
        """Runs ordered together with the one under way, still to begin."""
        self._beginning = 0
        """Runs that are about to begin and cannot be seen yet."""
        self._before: list[str] = []
        self._here = first_screen
        self._data_version = -1
        self._switch_interval = sys.getswitchinterval()
        self._leaving = False
        self._exit_code = 0
        for each in theme.THEMES.values():
            self.register_theme(each)
        chosen = theme.THEMES.get(theme_name or "dark")
        wanted = chosen.name if chosen else theme_name
        self.theme = wanted if wanted in self.available_themes else theme.DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our colours to themes that do not have them."""
        return theme.meaning(self.current_theme.dark)

    def get_default_screen(self) -> Screen[None]:
        """Paint the first screen before anything is read."""
        return Screen()

    async def on_mount(self) -> None:
        """Show the first screen, then open the store."""
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._install(self._first)
        await self.push_screen(self._first)
        self.call_after_refresh(self.open)

    def on_unmount(self) -> None:
        """Leave the process as it was."""
        sys.setswitchinterval(self._switch_interval)

    @work(exit_on_error=False, group="open")
    async def open(self) -> None:
        """Open the store without holding up the screen."""
        try:
            store = await asyncio.to_thread(self._open_store, self._store_path)
        except StoreError as error:
            self.post_message(StoreRefused(error))
            return
        self.session.opened(store)
        self.post_message(StoreOpened())
        await asyncio.to_thread(catalog.load_all)

    @on(StoreOpened)
    def begin(self) -> None:
        """Let the screen read, and look for changes from now on."""
        self._data_version = self.session.store.data_version()
        self.set_interval(POLL_S, self.poll)
        self.set_interval(NEXT_WITHIN_S, self.go_on)
        self._reload()
        if self._resume and self.session.run is not None:
            self.begin_run(self.session.run)

    @on(StoreRefused)
    def explain_refusal(self, event: StoreRefused) -> None:
        """Say why there is no store, and the way out."""
        from faithtui.tui.screens.refused import RefusedScreen

        self._exit_code = event.error.exit_code
        self.push_screen(RefusedScreen(str(event.error), self._store_path))

    def poll(self) -> None:
        """Read again when anybody wrote, in this process or in another one."""
        for run in self.session.active:
            if run.finished and run.bug is not None:
                raise run.bug
        version = self.session.store.data_version()
        if version != self._data_version:
            self._data_version = version
            self._reload()

    def _reload(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, FaithScreen) and screen.is_mounted:
                screen.changed()

    # Moving between screens

    @on(Go)
    def go_to_screen(self, event: Go) -> None:
        """Show a main screen."""
        self.go(event.screen, remember=not event.back)

    def go(self, name: str, *, remember: bool = True) -> None:
        """Show a main screen; `q` comes back to this one if it is to be remembered."""
        if name == self._here:
            return
        if not remember and self._before and self._before[-1] == name:
            self._before.pop()
        if remember:
            self._before.append(self._here)
        self._here = name
        self._install(name)
        self.switch_screen(name)

    def _install(self, name: str) -> None:
        """Make a main screen when it is first shown."""
        if not self.is_screen_installed(name):
            self.install_screen(catalog.main_screen(name)(self.session), name)

    def action_go(self) -> None:
        """Ask which screen."""
        from faithtui.tui.screens.dialogs import GoDialog

        def chosen(name: str | None) -> None:
            if name is not None:
                self.go(name)

        self.push_screen(GoDialog(), chosen)

    def action_go_back(self) -> None:
        """Go to the screen before."""
        if self._before:
            self.go(self._before[-1], remember=False)

    def action_help(self) -> None:
        """Explain the screen."""
        from faithtui.tui.screens.dialogs import HelpDialog

        self.push_screen(HelpDialog.about(self.screen))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what leads nowhere."""
        if action == "go_back":
            return bool(self._before)
        if action == "command_palette":
            return not isinstance(self.screen, ModalScreen)
        return True

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer everything that has a key here, and what has none."""
        seen: set[str] = set()
        for each in screen.active_bindings.values():
            binding = each.binding
            name = binding.id or binding.action
            if name in seen or not each.enabled or not binding.tooltip or name.startswith("move."):
                continue
            seen.add(name)
            yield SystemCommand(
                f"{binding.description}  ({display(binding)})",
                binding.tooltip,
                _runner(self, binding.action, each.node),
            )
        for name, letter in catalog.LETTERS.items():
            yield SystemCommand(
                f"go to {name}  (g {letter})", catalog.WORDS[name], _goer(self, name)
            )
        yield SystemCommand("theme", "Choose colours, dark or light", self.action_change_theme)

    # Runs

    @on(NewRunWanted)
    def ask_for_run(self) -> None:
        """Read what the form needs, then show it."""
        self.prepare_form()

    @work(exclusive=True, group="form", exit_on_error=False)
    async def prepare_form(self) -> None:
        """Read metrics and sources and show the form."""
        from faithtui.metrics import registry
        from faithtui.tui.screens.new_run import NewRunScreen

        store = self.session.store
        sources = await asyncio.to_thread(store.conversations.sources)
        remembered = await asyncio.to_thread(_remembered, store)
        if sources:
            specs = [each.spec for each in registry.METRICS]
            self.push_screen(
                NewRunScreen(specs, sources, self.session.defaults, remembered, self.start_runs)
            )
        else:
            self.notify(
                "There are no conversations yet: faithtui import FILE.jsonl",
                severity="warning",
                markup=False,
            )

    async def start_runs(self, requests: Sequence[RunRequest]) -> None:
        """Plan all runs, begin the first in the background and show how it goes on.

        The others begin one after the other: where metrics ask the same questions, the replies of
        the run before are used.

        Raises:
            FaithtuiError: An order cannot be carried out; nothing was begun.
        """
        first, *rest = await asyncio.to_thread(_planned, self.session.store, requests)
        self.waiting = [*self.waiting, *rest]
        self.begin_run(first)

    def go_on(self) -> None:
        """Begin the next run that waits, once the one before is through."""
        if not self.waiting or self._beginning or self.session.snapshots():
            return
        before = self.session.active[-1] if self.session.active else None
        if before is not None and before.snapshot().state is not RunState.DONE:
            left = ", ".join(f"#{run}" for run in self.waiting)
            self.waiting = []
            self.notify(
                f"Run #{before.run_id} did not get through. Not begun: {left}. They stay planned; "
                "c in the list of runs begins one.",
                title="Runs are left",
                severity="warning",
                markup=False,
                timeout=15,
            )
            return
        self.begin_run(self.waiting[0], follow=False)

    def begin_run(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Begin a run, or go on with one, and show it if it is to be followed."""
        self._beginning += 1
        self.waiting = [each for each in self.waiting if each != run_id]
        self.take_up(run_id, follow=follow)

    @on(ResumeWanted)
    def resume_run(self, event: ResumeWanted) -> None:
        """Take up a run."""
        self.begin_run(event.run)

    @work(group="start", exit_on_error=False)
    async def take_up(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Go on with a run in the background, and show it unless something else is looked at."""
        from faithtui.engine.background import BackgroundRun

        try:
            run = await asyncio.to_thread(BackgroundRun.resume, self.session.store, run_id)
        finally:
            self._beginning -= 1
        before = self.session.active[-1].run_id if self.session.active else None
        self.session.active.append(run)
        watched = self._here == "progress" and self.session.run == before
        if follow or watched:
            self.session.choose_run(run.run_id)
        if follow and not self._resume:
            self.go("progress")
        self._resume = False
        self._reload()

    # Leaving

    async def action_leave(self) -> None:
        """Quit; ask first while a run is on."""
        from faithtui.tui.screens.dialogs import ConfirmDialog

        if any(isinstance(screen, ConfirmDialog) for screen in self.screen_stack):
            return
        if not self.session.snapshots():
            await self._leave()
            return

        async def answered(answer: str | None) -> None:
            if answer == "yes":
                await self._leave()

        self.push_screen(
            ConfirmDialog(
                "A run is on. Quit?",
                "The run stops here. Everything judged is stored, and it can be continued later "
                "without asking anything twice.",
            ),
            answered,
        )

    async def action_quit(self) -> None:
        """Quit as ctrl+q does."""
        await self.action_leave()

    async def _leave(self) -> None:
        if self._leaving:
            return
        self._leaving = True
        for run in self.session.active:
            run.cancel()
        if self.session.is_open:
            # In a daemon thread: a write that hangs must not keep the terminal.
            await _within(LEAVE_WITHIN_S, self._close)
        self.exit(return_code=self._exit_code)

    def _close(self) -> None:
        self.session.pictures.close()
        for run in self.session.active:
            run.join(LEAVE_WITHIN_S)
        self.session.store.close()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed in a worker of the app itself."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.show_failure(Failed(event.worker.error))

    @on(Failed)
    def show_failure(self, event: Failed) -> None:
        """Say what failed; a bug ends the app with its traceback."""
        if self._leaving:
            return
        if not isinstance(event.error, FaithtuiError):
            raise event.error
        self.notify(
            shown(str(event.error)).text,
            title="That did not work",
            severity="error",
            markup=False,
            timeout=15,
        )


def _remembered(store: "Store") -> dict[str, dict[str, str]]:
    """Read the own options of each metric's newest run, so that runs stay comparable.

    Returns:
        Options by metric, as text, in the order in which the metrics were last used, newest first.
        What does not fit on a line of a form is left out.
    """
    from faithtui.metrics import registry

    known = {each.spec.key for each in registry.METRICS}
    found: dict[str, dict[str, str]] = {}
    for row in sorted(store.runs.rows(), key=lambda each: -each.id):
        key = row.spec.metric
        if key in known and key not in found:
            changed = registry.changed_options(key, row.spec.options)
            texts = {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in changed.items()
            }
            found[key] = {name: text for name, text in texts.items() if visible_line(text) == text}
    return found


def _planned(store: "Store", requests: Sequence[RunRequest]) -> list["RunId"]:
    """Write runs down as planned, after all of them were checked."""
    from faithtui.engine import planner

    for request in requests:
        planner.metric_of(request)
    return [planner.plan(store, request) for request in requests]


def _open_store(path: Path) -> "Store":
    """Open the store; imports what is slow only now."""
    from faithtui.store.store import Store

    return Store.open(path)


def _runner(app: FaithApp, action: str, node: object) -> Callable[[], object]:
    async def run() -> None:
        await app.run_action(action, node)  # type: ignore[arg-type]  # nodes own their bindings

    return run


def _goer(app: FaithApp, name: str) -> Callable[[], None]:
    return lambda: app.go(name)


async def _within(seconds: float, work_to_do: Callable[[], None]) -> None:
    """Run something in a daemon thread and wait for it, but not for ever."""
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def run() -> None:
        try:
            work_to_do()
        finally:
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, name="faithtui-close", daemon=True).start()
    try:
        await asyncio.wait_for(done.wait(), seconds)
    except TimeoutError:
        return
