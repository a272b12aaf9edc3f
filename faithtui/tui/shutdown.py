"""Quitting: a run that is on finishes the replies in flight first, if somebody waits for them.

What is stored is safe whatever happens here. An answer that is given up is paid for and lost.
"""

import asyncio
import contextlib
import logging
import signal
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from rich.text import Text
from textual.app import ScreenStackError
from textual.binding import Binding, BindingType
from textual.css.query import QueryError

from faithtui.domain.text.visible_text import make_visible
from faithtui.errors import StoreError
from faithtui.tui.terminal import HANGUP_EXIT_CODE, HangupDriver

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp
    from faithtui.tui.screen.dialogs import ConfirmDialog

CLOSE_TIMEOUT_S = 0.8
"""How long quitting waits for the store to close once no answer is waited for any more."""
SHOW_WAIT_AFTER_S = 0.3
"""How long answers may take before it is said that they are waited for."""
UNATTENDED_TIMEOUT_S = 2.0
"""How long answers are waited for when nobody could say not to: the terminal is gone, or the
process is asked to end. With the store's closing it is less than `terminal.HANGUP_TIMEOUT_S`."""
_LOOK_S = 0.05
_AFTER_A_BUG = (
    "This is a bug in faithtui. Labels and replies were stored as they came; the next start goes "
    "on where this one ended. `faithtui doctor --bundle` collects what helps to mend it."
)


@runtime_checkable
class TypedText(Protocol):
    """A screen on which somebody may be typing what is to be stored."""

    def save_typed_text_or_say_why_not(self) -> bool:
        """Save it; False when it cannot be, and that was said; True when it is asked once more."""


class Shutdown:
    """Leaves the app: asked for by a key, by a signal, or by a terminal that goes away.

    Args:
        app: The app.

    Attributes:
        is_leaving: The store closes, and the app ends.
        exit_code: What the process ends with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+q",
            "leave",
            "quit",
            key_display="ctrl+q",
            priority=True,
            tooltip="Quit; asks while a run is on",
            id="app.quit",
        ),
    ]

    def __init__(self, app: "FaithApp") -> None:
        self.app = app
        self.is_leaving = False
        self.exit_code = 0
        self._question: ConfirmDialog | None = None
        """The question whether to quit, asked last."""
        self._is_finishing = False
        """Replies in flight are waited for; who quits again gives them up."""

    @property
    def quit_keys(self) -> tuple[str, ...]:
        """Keys that quit."""
        return tuple(self.app.session.keymap.get("app.quit", "ctrl+q").split(","))

    @property
    def process_exit_code(self) -> int:
        """What the process ends with once the app has: also where it ended before it was told to.

        What is still drawn when the store is closed may end it first.
        """
        return self.app.return_code or self.exit_code

    def set_exit_code(self, code: int) -> None:
        """Say what the process ends with."""
        self.exit_code = code

    async def quit_or_ask_first(self) -> None:
        """Quit; ask first while a run is on, if there is room for a question."""
        from faithtui.tui.screen.dialogs import ConfirmDialog

        if self._question in self.app.screen_stack or not self._save_typed_text_or_say_why_not():
            return
        if self._is_finishing or not self.app.session.list_unfinished_run_snapshots():
            await self._quit_now()
            return
        if self.app.small_terminal.is_small:  # There is no room to ask.
            self._start_finishing()
            return

        def leave_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self._start_finishing()

        question = self._question = ConfirmDialog(
            "A run is on. Quit?",
            "The run stops here. The replies in flight are waited for and kept. Everything "
            "judged is stored, and it can be resumed later without asking anything twice.",
        )
        self.app.input_queue.open_window(question, leave_if_confirmed)

    def _save_typed_text_or_say_why_not(self) -> bool:
        """Save what somebody is typing; False: it cannot be saved, and that was said."""
        screens = self.app.screen_stack if self.app.session.is_open else ()
        return all(
            [
                each.save_typed_text_or_say_why_not()
                for each in screens
                if isinstance(each, TypedText)
            ]
        )

    def _start_finishing(self) -> None:
        self.app.start_worker(self._quit_after_replies_in_flight, group="finish", exclusive=True)

    async def _quit_after_replies_in_flight(self) -> None:
        """Ask for nothing more, wait for the replies in flight, and quit."""
        from faithtui.tui.screen.quit_wait_dialog import QuitProgressDialog

        self._is_finishing = True
        self.app.background_runs.cancel_all_and_clear_waiting()
        if not await self._wait_for_runs_or_leaving_within(SHOW_WAIT_AFTER_S):
            self.app.input_queue.open_window(QuitProgressDialog(self.app.session))
            while not await self._wait_for_runs_or_leaving_within(_LOOK_S):
                pass
        await self._quit_now()

    def listen_for_hangup_and_signals(self, driver: HangupDriver) -> None:
        """Leave when the terminal or the page goes away, or when the process is asked to end."""
        loop = asyncio.get_running_loop()
        for name in ("SIGHUP", "SIGTERM"):
            # Windows lacks the first, and its loop can hear neither.
            with contextlib.suppress(AttributeError, NotImplementedError):
                number: signal.Signals = getattr(signal, name)
                loop.add_signal_handler(number, self._leave_without_asking, 128 + number)

        def detach_and_leave() -> None:
            driver.detach()
            loop.call_soon_threadsafe(self._leave_without_asking, HANGUP_EXIT_CODE)

        driver.watch_for_hangup(detach_and_leave, self.wait_for_runs_and_close_store)

    def _leave_without_asking(self, code: int) -> None:
        """Quit without a question: there is nobody who could answer."""
        if not self.is_leaving:
            self.set_exit_code(code)
            self.app.start_worker(self._cancel_runs_and_quit, group="leave")

    async def _cancel_runs_and_quit(self) -> None:
        if not self._is_finishing:
            self._is_finishing = True
            self.app.background_runs.cancel_all_and_clear_waiting()
            await self._wait_for_runs_or_leaving_within(UNATTENDED_TIMEOUT_S)
        await self._quit_now()

    async def _wait_for_runs_or_leaving_within(self, patience_s: float) -> bool:
        """Wait for all runs to end, or for the app to be left; False when neither came in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while self.app.session.list_unfinished_run_snapshots():
            if self.is_leaving or loop.time() >= deadline:
                return self.is_leaving
            await asyncio.sleep(_LOOK_S)
        return True

    async def _quit_now(self) -> None:
        """Quit now; what is still in flight is given up."""
        if self.is_leaving:
            return
        self._save_typed_text_or_say_why_not()
        self.is_leaving = True
        if self.app.session.is_open:
            await self.app.bookmark_keeper.save_current_place()
            self.app.screen_switcher.record_claims_shown_by_queue()
        self.app.background_runs.cancel_all_and_clear_waiting()
        if self.app.session.is_open:
            # In a daemon thread: a write that hangs must not keep the terminal.
            await _run_with_timeout(CLOSE_TIMEOUT_S, self.wait_for_runs_and_close_store)
        self.app.exit(return_code=self.exit_code)

    def wait_for_runs_and_close_store(self) -> None:
        """Wait a moment for runs, and close the store. Any thread."""
        session = self.app.session
        session.image_files.remove_files()
        for run in session.process_runs:
            run.join(CLOSE_TIMEOUT_S)
        if session.is_open:
            session.store.close()

    def is_shutdown_error(self, error: Exception) -> bool:
        """Whether an error is no bug: the store is closed, or widgets are gone, because one leaves.

        A widget that closes while its screen is still mounted composes nothing, so that the screen
        misses it.
        """
        is_ending = self.is_leaving or not self.app.is_running
        return is_ending and isinstance(error, StoreError | QueryError | ScreenStackError)

    def log_and_format_bug(self) -> Text:
        """Write the bug that is being handled as text alone, into the log too.

        Textual would show the values of variables too: keys, and what conversations say.
        """
        written = traceback.format_exc()
        logging.getLogger(__name__).error("the app ended with a bug\n%s", written)
        return Text(f"{make_visible(written)}\n{_AFTER_A_BUG}")


async def _run_with_timeout(seconds: float, work_to_do: Callable[[], None]) -> None:
    """Run something in a daemon thread and wait for it, but not for ever."""
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def run_and_notify() -> None:
        try:
            work_to_do()
        finally:
            # Whoever waited may have gone on without it, and the loop is closed by now.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run_and_notify, name="faithtui-close", daemon=True).start()
    try:
        await asyncio.wait_for(done.wait(), seconds)
    except TimeoutError:
        return
