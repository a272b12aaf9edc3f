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

from rich.text import Text
from textual import work

from faithtui.domain.text.visible_text import make_visible
from faithtui.errors import StoreError
from faithtui.tui.runs.background_runs import BackgroundRunsApp
from faithtui.tui.session import Session
from faithtui.tui.terminal import HANGUP_EXIT_CODE, DetachableDriver, HangupWatcher

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


class ShutdownApp(BackgroundRunsApp):
    """An app that can be left.

    Args:
        session: What screens share.
        first_screen: Main screen to begin with.
        resume: Take up the session's run at once, in the background.
    """

    def __init__(self, session: Session, *, first_screen: str, resume: bool) -> None:
        super().__init__(session, first_screen=first_screen, resume=resume)
        self._is_leaving = False
        self._is_finishing = False
        self._exit_code = 0

    def write_bookmark(self) -> None:
        """Keep where one is."""
        raise NotImplementedError

    async def action_leave(self) -> None:
        """Quit; ask first while a run is on, if there is room for a question."""
        from faithtui.tui.screen.dialogs import ConfirmDialog

        if any(isinstance(screen, ConfirmDialog) for screen in self.screen_stack):
            return
        if self._is_finishing or not self.session.list_snapshots():
            await self._quit_now()
            return
        if self.is_small:  # There is no room to ask.
            self.finish_and_leave()
            return

        def leave_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self.finish_and_leave()

        self.navigation.open_window(
            ConfirmDialog(
                "A run is on. Quit?",
                "The run stops here. The replies in flight are waited for and kept. Everything "
                "judged is stored, and it can be continued later without asking anything twice.",
            ),
            leave_if_confirmed,
        )

    async def action_quit(self) -> None:
        """Quit as ctrl+q does."""
        await self.action_leave()

    @work(exclusive=True, group="finish", exit_on_error=False)
    async def finish_and_leave(self) -> None:
        """Ask for nothing more, wait for the replies in flight, and quit."""
        from faithtui.tui.screen.finish_dialog import QuitProgressDialog

        self._is_finishing = True
        self._cancel_runs()
        if not await self._wait_for_runs(SHOW_WAIT_AFTER_S):
            self.navigation.open_window(QuitProgressDialog(self.session))
            while not await self._wait_for_runs(_LOOK_S):
                pass
        await self._quit_now()

    def leave_on_hangup(self, driver: DetachableDriver) -> None:
        """Leave when the terminal goes away, or when the process is asked to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, self._leave_without_asking, 128 + number)

        def detach_and_leave() -> None:
            driver.detach()
            loop.call_soon_threadsafe(self._leave_without_asking, HANGUP_EXIT_CODE)

        HangupWatcher(detach_and_leave, self._close_session).start()

    def _leave_without_asking(self, code: int) -> None:
        """Quit without a question: there is nobody who could answer."""
        if not self._is_leaving:
            self._exit_code = code
            self.run_worker(self._finish_briefly_and_leave(), group="leave", exit_on_error=False)

    async def _finish_briefly_and_leave(self) -> None:
        if not self._is_finishing:
            self._is_finishing = True
            self._cancel_runs()
            await self._wait_for_runs(UNATTENDED_TIMEOUT_S)
        await self._quit_now()

    def _handle_exception(self, error: Exception) -> None:
        """End with a bug's traceback, except for a store that is closed because one leaves."""
        if self._is_leaving and isinstance(error, StoreError):
            return
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Say what the bug is as text alone.

        Textual would show the values of variables too: keys, and what conversations say.
        """
        told = traceback.format_exc()
        logging.getLogger(__name__).error("the app ended with a bug\n%s", told)
        self.panic(Text(f"{make_visible(told)}\n{_AFTER_A_BUG}"))

    def _cancel_runs(self) -> None:
        self.waiting_runs = []
        for run in self.session.process_runs:
            run.cancel()

    async def _wait_for_runs(self, patience_s: float) -> bool:
        """Wait for all runs to end, or for the app to be left; False when neither came in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while self.session.list_snapshots():
            if self._is_leaving or loop.time() >= deadline:
                return self._is_leaving
            await asyncio.sleep(_LOOK_S)
        return True

    async def _quit_now(self) -> None:
        """Quit now; what is still on its way is given up."""
        if self._is_leaving:
            return
        self._is_leaving = True
        if self.session.is_open:
            self.write_bookmark()
        self._cancel_runs()
        if self.session.is_open:
            # In a daemon thread: a write that hangs must not keep the terminal.
            await _run_with_timeout(CLOSE_TIMEOUT_S, self._close_session)
        self.exit(return_code=self._exit_code)

    def _close_session(self) -> None:
        self.session.image_files.close()
        for run in self.session.process_runs:
            run.join(CLOSE_TIMEOUT_S)
        if self.session.is_open:
            self.session.store.close()


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
