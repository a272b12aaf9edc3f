"""A run in a thread of its own, for an app that must answer keys meanwhile.

The app reads a small immutable snapshot ten times a second; nothing here touches a widget, and
nothing of the app is awaited here.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Self

from faithtui.domain.ids import RunId
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import (
    Gauges,
    RunEnded,
    RunEvent,
    RunProgress,
    RunSnapshot,
    StepCount,
    StoreTroubled,
)
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import FaithtuiError
from faithtui.store.records import RunState
from faithtui.store.store import Store

RECENT = 100
"""Events a snapshot carries."""


class BackgroundRun:
    """A run under way in this process."""

    def __init__(
        self,
        store: Store,
        run: RunId,
        workers: int,
        *,
        retry_unfinished: bool = False,
        environment: RunEnvironment | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run_id = run
        self.control = RunControl(workers, clock)
        self._clock = clock
        self._store = store
        self._retry_unfinished = retry_unfinished
        self._environment = environment
        self._trouble: str | None = None
        self._began = clock()
        self._ended: float | None = None
        self._state = RunState.RUNNING
        self._reason: str | None = None
        self._progress = RunProgress()
        self._done_before = 0
        self._recent: deque[tuple[float, RunEvent]] = deque(maxlen=RECENT)
        # The run changes what `snapshot` reads, which the app asks for on its own thread.
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[RunState] | None = None
        self._cancelled = False
        self.bug: BaseException | None = None
        """An error that is not one of ours; the app must let it be seen."""
        # A daemon: quitting asks the run to stop, waits less than a second, and leaves.
        self._thread = threading.Thread(
            target=self._run_in_thread, name=f"faithtui-run-{run}", daemon=True
        )

    @classmethod
    def start(
        cls,
        store: Store,
        request: RunRequest,
        *,
        environment: RunEnvironment | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Plan a run and begin it.

        Args:
            store: Where the conversations are.
            request: The order.
            environment: What it shares with other runs of the process; None: nothing.
            clock: Seconds that never jump.

        Raises:
            FaithtuiError: The order cannot be carried out; nothing was begun.
        """
        return cls.resume(
            store,
            run_planner.save_planned_run(store, request, environment=environment),
            environment=environment,
            clock=clock,
        )

    @classmethod
    def resume(
        cls,
        store: Store,
        run: RunId,
        *,
        retry_unfinished: bool = False,
        environment: RunEnvironment | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Go on with a run; questions that were answered are not asked again.

        Args:
            store: Where it is.
            run: The run.
            retry_unfinished: Take up failed conversations again.
            environment: What it shares with other runs of the process; None: nothing.
            clock: Seconds that never jump.

        Raises:
            StoreError: There is no such run.
        """
        row = store.runs.read_run(run)
        begun = cls(
            store,
            run,
            row.spec.concurrency,
            retry_unfinished=retry_unfinished,
            environment=environment,
            clock=clock,
        )
        begun._done_before = row.done + row.failed + row.skipped
        begun._thread.start()
        return begun

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen."""
        # A thread that has not begun yet is not alive either.
        return not self._thread.is_alive() and self._ended is not None

    def snapshot(self) -> RunSnapshot:
        """Describe the run at this moment. Cheap; any thread."""
        with self._lock:
            elapsed = (self._ended or self._clock()) - self._began
            worked = max(0.0, elapsed - self.control.pause_duration_s)
            fresh = self._progress.finished_conversations - self._done_before
            left = self._progress.conversations - self._progress.finished_conversations
            return RunSnapshot(
                run=self.run_id,
                state=self._state,
                reason=self._reason,
                progress=self._progress,
                elapsed_s=elapsed,
                eta_s=worked / fresh * left if fresh > 0 else None,
                recent=tuple(self._recent),
                gauges=read_call_gauges(self.control),
                trouble=self._trouble,
            )

    def cancel(self) -> None:
        """Ask it to stop. Answers in flight are waited for, unless it is asked again.

        Stored results stay; it can be taken up again.
        """
        # Set before the task is looked for: a run that has none yet looks here once it has.
        self._cancelled = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    def yield_to_ui(self, seconds: float) -> None:
        """Rest for a moment, because somebody waits for the app. Any thread."""
        yielder, loop = self.control.ui_yielder, self._loop
        yielder.pause_run_for(seconds)
        if loop is not None:
            # It may be in code of an SDK, which does not ask.
            with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
                loop.call_soon_threadsafe(yielder.wait_until_pause_ends)

    def join(self, timeout_s: float) -> bool:
        """Wait for the end; False when it did not come in time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run_in_thread(self) -> None:
        try:
            asyncio.run(self._execute_run())
        except asyncio.CancelledError:
            # Questions that are with the provider stay there, and the run says so.
            is_waiting = self._state is RunState.WAITING
            self._set_ended(RunState.WAITING if is_waiting else RunState.CANCELLED, self._reason)
        except FaithtuiError as error:
            self._set_ended(RunState.STOPPED, str(error))
        except BaseException as error:
            self.bug = error
            self._set_ended(RunState.STOPPED, f"{type(error).__name__}: {error}")
        else:
            self._set_ended(self._state, self._reason)

    async def _execute_run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(
            runner.execute_run(
                self._store,
                self.run_id,
                self._on_event,
                retry_unfinished=self._retry_unfinished,
                control=self.control,
                environment=self._environment,
            )
        )
        # Asked to stop before there was a task to cancel.
        if self._cancelled:
            self._task.cancel()
        await self._task

    def _on_event(self, event: RunEvent) -> None:
        with self._lock:
            self._progress = event.progress
            self._recent.append((self._clock() - self._began, event))
            if isinstance(event, RunEnded):
                self._state, self._reason = event.state, event.reason
            elif isinstance(event, StoreTroubled):
                self._trouble = event.trouble

    def _set_ended(self, state: RunState, reason: str | None) -> None:
        with self._lock:
            self._state, self._reason, self._ended = state, reason, self._clock()


def read_call_gauges(control: RunControl) -> Gauges:
    """Read how the calls of a run go. Cheap; any thread."""
    tally, limiter = control.tally, control.limiter
    latencies = sorted(tally.latencies_ms)
    return Gauges(
        workers=control.max_in_flight,
        allowed=None if limiter is None else limiter.max_in_flight,
        pace=None if limiter is None else limiter.requests_per_second,
        is_paused=control.is_paused,
        p50_ms=_find_quantile(latencies, 0.5),
        p95_ms=_find_quantile(latencies, 0.95),
        steps=tuple(
            StepCount(name, step.calls, step.stored, step.in_flight, step.retries)
            # A copy: the run may add a step while it is read here.
            for name, step in list(tally.steps.items())
        ),
        cost_nusd=tally.cost_nusd,
        unpriced_calls=tally.unpriced,
    )


def _find_quantile(ordered: list[int], share: float) -> int | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
