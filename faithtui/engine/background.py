"""A run in a thread of its own, for an app that must answer keys meanwhile.

The app reads a small immutable snapshot ten times a second; nothing here touches a widget, and
nothing of the app is awaited here.
"""

import asyncio
import threading
import time
from collections import deque
from typing import Self

from faithtui.domain.ids import RunId
from faithtui.engine import planner, runner
from faithtui.engine.events import Progress, RunEnded, RunEvent, RunSnapshot
from faithtui.engine.requests import RunRequest
from faithtui.errors import FaithtuiError
from faithtui.store.records import RunState
from faithtui.store.store import Store

RECENT = 100
"""Events a snapshot carries."""


class BackgroundRun:
    """A run under way in this process."""

    def __init__(self, store: Store, run: RunId, *, retry_failed: bool = False) -> None:
        self.run_id = run
        self._store = store
        self._retry_failed = retry_failed
        self._began = time.monotonic()
        self._ended: float | None = None
        self._state = RunState.RUNNING
        self._reason: str | None = None
        self._progress = Progress()
        self._done_before = 0
        self._recent: deque[tuple[float, RunEvent]] = deque(maxlen=RECENT)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[RunState] | None = None
        self._cancelled = False
        self.bug: BaseException | None = None
        """An error that is not one of ours; the app must let it be seen."""
        self._thread = threading.Thread(target=self._work, name=f"faithtui-run-{run}", daemon=True)

    @classmethod
    def start(cls, store: Store, request: RunRequest) -> Self:
        """Plan a run and begin it.

        Raises:
            FaithtuiError: The order cannot be carried out; nothing was begun.
        """
        return cls.resume(store, planner.plan(store, request))

    @classmethod
    def resume(cls, store: Store, run: RunId, *, retry_failed: bool = False) -> Self:
        """Go on with a run; questions that were answered are not asked again.

        Raises:
            StoreError: There is no such run.
        """
        row = store.runs.row(run)
        begun = cls(store, run, retry_failed=retry_failed)
        begun._done_before = row.done + row.failed + row.skipped
        begun._thread.start()
        return begun

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen."""
        return not self._thread.is_alive() and self._ended is not None

    def snapshot(self) -> RunSnapshot:
        """Describe the run at this moment. Cheap; any thread."""
        with self._lock:
            elapsed = (self._ended or time.monotonic()) - self._began
            fresh = self._progress.finished - self._done_before
            left = self._progress.conversations - self._progress.finished
            return RunSnapshot(
                run=self.run_id,
                state=self._state,
                reason=self._reason,
                progress=self._progress,
                elapsed_s=elapsed,
                eta_s=elapsed / fresh * left if fresh > 0 else None,
                recent=tuple(self._recent),
            )

    def cancel(self) -> None:
        """Ask it to stop. Stored results stay; it can be taken up again."""
        self._cancelled = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; False when it did not come in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            asyncio.run(self._main())
        except asyncio.CancelledError:
            self._end(RunState.CANCELLED, None)
        except FaithtuiError as error:
            self._end(RunState.STOPPED, str(error))
        except BaseException as error:
            self.bug = error
            self._end(RunState.STOPPED, f"{type(error).__name__}: {error}")
        else:
            self._end(self._state, self._reason)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(
            runner.execute(self._store, self.run_id, self._heard, retry_failed=self._retry_failed)
        )
        if self._cancelled:
            self._task.cancel()
        await self._task

    def _heard(self, event: RunEvent) -> None:
        with self._lock:
            self._progress = event.progress
            self._recent.append((time.monotonic() - self._began, event))
            if isinstance(event, RunEnded):
                self._state, self._reason = event.state, event.reason

    def _end(self, state: RunState, reason: str | None) -> None:
        with self._lock:
            self._state, self._reason, self._ended = state, reason, time.monotonic()
