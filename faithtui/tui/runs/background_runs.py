"""Beginning runs in the app and keeping them going, one after the other."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from faithtui.engine.runs.request import RunRequest
from faithtui.store.runs.run_records import RunState
from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.tui.app import FaithApp

NEXT_RUN_POLL_S = 0.25
"""How often is looked whether a run that others wait for is through."""
YIELD_AFTER_KEY_S = 0.08
"""How long a run rests after a key, so that it is answered as if none were on. Somebody who gives a
verdict a second makes a run slower by a twelfth."""


class BackgroundRuns:
    """Begins runs in the background; those that were ordered together begin one after the other.

    The runs themselves are in the session, where screens find them: `process_runs` those that
    began, `waiting_runs` those still to begin.

    Args:
        app: The app.
        resume: Take up the session's run as soon as the store is open.
    """

    def __init__(self, app: "FaithApp", *, resume: bool) -> None:
        self.app = app
        self._resume_first = resume
        """The first run is still to be taken up; no screen changes for it."""
        self._about_to_begin: set[RunId] = set()
        """Runs that are about to begin and cannot be seen yet."""

    def resume_first_run_and_poll_queue(self) -> None:
        """Take up the run that the app was started for, if any, and let others follow from now."""
        session = self.app.session
        if self._resume_first and session.run is not None:
            self.begin_or_resume_run(session.run)
        self.app.set_interval(NEXT_RUN_POLL_S, self.begin_next_waiting_run)

    async def plan_all_and_begin_first(self, requests: Sequence[RunRequest]) -> None:
        """Plan all runs, begin the first in the background and show how it goes on.

        The others begin one after the other: where metrics ask the same questions, the replies of
        the run before are used.

        Raises:
            FaithtuiError: An order cannot be carried out; nothing was begun.
        """
        session = self.app.session
        first, *rest = await asyncio.to_thread(_save_planned_runs, session, requests)
        session.waiting_runs.extend(rest)
        self.begin_or_resume_run(first)

    def begin_run_and_queue_others(self, run: "RunId", then: Sequence["RunId"] = ()) -> None:
        """Take up a run, and let others follow."""
        session = self.app.session
        session.waiting_runs.extend(then)
        self.begin_or_resume_run(run)

    def begin_next_waiting_run(self) -> None:
        """Begin the next run that waits, once the one before is through."""
        session = self.app.session
        if (
            not session.waiting_runs
            or self._about_to_begin
            or session.list_unfinished_run_snapshots()
        ):
            return
        before = session.process_runs[-1] if session.process_runs else None
        through = (RunState.DONE, RunState.WAITING)
        if before is not None and before.snapshot().state not in through:
            left = ", ".join(f"#{run}" for run in session.waiting_runs)
            session.waiting_runs.clear()
            self.app.notify(
                f"Run #{before.run_id} did not get through. Not begun: {left}. They stay planned; "
                f"{session.keys('runs.continue')} in the list of runs begins one.",
                title="Runs are left",
                severity="warning",
                markup=False,
                timeout=15,
            )
            return
        self.begin_or_resume_run(session.waiting_runs[0], follow=False)

    def begin_or_resume_run(self, run: "RunId", *, follow: bool = True) -> None:
        """Begin a run, or go on with one.

        Args:
            run: The run.
            follow: Show how it goes on; keys wait for that. Otherwise it is shown only where the
                run before it was looked at.
        """
        if run in self._about_to_begin:
            return
        self._about_to_begin.add(run)
        session = self.app.session
        if run in session.waiting_runs:
            session.waiting_runs.remove(run)
        worker = self.app.start_worker(
            partial(self._begin_and_show, run, follow=follow), group="start"
        )
        if follow:
            self.app.input_queue.hold_keys_for(worker, can_give_up=False)

    async def _begin_and_show(self, run_id: "RunId", *, follow: bool) -> None:
        app, session = self.app, self.app.session
        try:
            run = await asyncio.to_thread(_begin_background_run, session, run_id)
        finally:
            self._about_to_begin.discard(run_id)
        before = session.process_runs[-1].run_id if session.process_runs else None
        session.process_runs.append(run)
        watched = app.current_screen_name == "progress" and session.run == before
        if follow or watched:
            session.switch_run(run.run_id)
        if follow and not self._resume_first:
            app.show_screen("progress")
        self._resume_first = False
        app.screen_switcher.reload_open_screens()

    def yield_to_ui(self) -> None:
        """Let runs rest while what somebody pressed is drawn, and what they write."""
        session = self.app.session
        for run in session.process_runs:
            run.yield_to_ui(YIELD_AFTER_KEY_S)
        if session.is_open and session.list_unfinished_run_snapshots():
            session.store.delay_non_urgent_writes(YIELD_AFTER_KEY_S)

    def raise_bug_of_ended_run(self) -> None:
        """Raise the bug that ended a run, if one did."""
        for run in self.app.session.process_runs:
            if run.is_finished and run.bug is not None:
                raise run.bug

    def cancel_all_and_clear_waiting(self) -> None:
        """Ask for nothing more, and begin nothing more."""
        self.app.session.waiting_runs.clear()
        for run in self.app.session.process_runs:
            run.cancel()


def _save_planned_runs(session: Session, requests: Sequence[RunRequest]) -> list["RunId"]:
    """Write runs down as planned, after all of them were checked."""
    from faithtui.engine.runs import run_planner

    return run_planner.save_planned_runs(session.store, requests, session.get_run_environment())


def _begin_background_run(session: Session, run: "RunId") -> "BackgroundRun":
    """Go on with a run in the background, under the limits that all runs of the app share."""
    from faithtui.engine.runs.background import BackgroundRun

    return BackgroundRun.resume(session.store, run, environment=session.get_run_environment())
