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

from faithtui.domain.text.sanitizing import visible
from faithtui.errors import StoreError
from faithtui.tui.runs.background_runs import RunningApp
from faithtui.tui.session import Session
from faithtui.tui.terminal import GONE, Lookout, SteadyDriver

LEAVE_WITHIN_S = 0.8
"""How long quitting waits for the store to close once no answer is waited for any more."""
TELL_AFTER_S = 0.3
"""How long answers may take before it is said that they are waited for."""
UNASKED_S = 2.0
"""How long answers are waited for when nobody could say not to: the terminal is gone, or the
process is asked to end. With the store's closing it is less than `terminal.ENDS_WITHIN_S`."""
_LOOK_S = 0.05
_AFTER_A_BUG = (
    "This is a bug in faithtui. Labels and replies were stored as they came; the next start goes "
    "on where this one ended. `faithtui doctor --bundle` collects what helps to mend it."
)


class LeavingApp(RunningApp):
    """An app that can be left.

    Args:
        session: What screens share.
        first_screen: Main screen to begin with.
        resume: Take up the session's run at once, in the background.
    """

    def __init__(self, session: Session, *, first_screen: str, resume: bool) -> None:
        super().__init__(session, first_screen=first_screen, resume=resume)
        self._leaving = False
        self._finishing = False
        self._exit_code = 0

    def keep_place(self) -> None:
        """Keep where one is."""
        raise NotImplementedError

    async def action_leave(self) -> None:
        """Quit; ask first while a run is on, if there is room for a question."""
        from faithtui.tui.screen.dialogs import ConfirmDialog

        if any(isinstance(screen, ConfirmDialog) for screen in self.screen_stack):
            return
        if self._finishing or not self.session.snapshots():
            await self._leave()
            return
        if self.is_small:  # There is no room to ask.
            self.finish_and_leave()
            return

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self.finish_and_leave()

        self.navigation.open_window(
            ConfirmDialog(
                "A run is on. Quit?",
                "The run stops here. The replies in flight are waited for and kept. Everything "
                "judged is stored, and it can be continued later without asking anything twice.",
            ),
            answered,
        )

    async def action_quit(self) -> None:
        """Quit as ctrl+q does."""
        await self.action_leave()

    @work(exclusive=True, group="finish", exit_on_error=False)
    async def finish_and_leave(self) -> None:
        """Ask for nothing more, wait for the replies in flight, and quit."""
        from faithtui.tui.screen.finishing import FinishingDialog

        self._finishing = True
        self._cancel()
        if not await self._finished(TELL_AFTER_S):
            self.navigation.open_window(FinishingDialog(self.session))
            while not await self._finished(_LOOK_S):
                pass
        await self._leave()

    def look_out(self, driver: SteadyDriver) -> None:
        """Leave when the terminal goes away, or when the process is asked to end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, self._called_off, 128 + number)

        def gone() -> None:
            driver.rest()
            loop.call_soon_threadsafe(self._called_off, GONE)

        Lookout(gone, self._close).start()

    def _called_off(self, code: int) -> None:
        """Quit without a question: there is nobody who could answer."""
        if not self._leaving:
            self._exit_code = code
            self.run_worker(self._leave_unasked(), group="leave", exit_on_error=False)

    async def _leave_unasked(self) -> None:
        if not self._finishing:
            self._finishing = True
            self._cancel()
            await self._finished(UNASKED_S)
        await self._leave()

    def _handle_exception(self, error: Exception) -> None:
        """End with a bug's traceback, except for a store that is closed because one leaves."""
        if self._leaving and isinstance(error, StoreError):
            return
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Say what the bug is as text alone.

        Textual would show the values of variables too: keys, and what conversations say.
        """
        told = traceback.format_exc()
        logging.getLogger(__name__).error("the app ended with a bug\n%s", told)
        self.panic(Text(f"{visible(told)}\n{_AFTER_A_BUG}"))

    def _cancel(self) -> None:
        self.waiting = []
        for run in self.session.active:
            run.cancel()

    async def _finished(self, patience_s: float) -> bool:
        """Wait for all runs to end, or for the app to be left; False when neither came in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience_s
        while self.session.snapshots():
            if self._leaving or loop.time() >= deadline:
                return self._leaving
            await asyncio.sleep(_LOOK_S)
        return True

    async def _leave(self) -> None:
        """Quit now; what is still on its way is given up."""
        if self._leaving:
            return
        self._leaving = True
        if self.session.is_open:
            self.keep_place()
        self._cancel()
        if self.session.is_open:
            # In a daemon thread: a write that hangs must not keep the terminal.
            await _within(LEAVE_WITHIN_S, self._close)
        self.exit(return_code=self._exit_code)

    def _close(self) -> None:
        self.session.pictures.close()
        for run in self.session.active:
            run.join(LEAVE_WITHIN_S)
        if self.session.is_open:
            self.session.store.close()


async def _within(seconds: float, work_to_do: Callable[[], None]) -> None:
    """Run something in a daemon thread and wait for it, but not for ever."""
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def run() -> None:
        try:
            work_to_do()
        finally:
            # Whoever waited may have gone on without it, and the loop is closed by now.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, name="faithtui-close", daemon=True).start()
    try:
        await asyncio.wait_for(done.wait(), seconds)
    except TimeoutError:
        return
