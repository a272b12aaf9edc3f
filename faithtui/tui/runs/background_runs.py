"""Beginning runs in the app and keeping them going, one after the other."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work

from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.runs.request import RunRequest
from faithtui.store.runs.run_records import RunState
from faithtui.tui.messages import NewRunRequested, ResumeRequested
from faithtui.tui.navigation import holds_keys
from faithtui.tui.screen_navigation import ScreenNavigationApp
from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.store.store import Store


class BackgroundRunsApp(ScreenNavigationApp):
    """An app that has runs under way.

    Args:
        session: What screens share.
        first_screen: Main screen to begin with.
        resume: Take up the session's run at once, in the background.
    """

    def __init__(self, session: Session, *, first_screen: str, resume: bool) -> None:
        super().__init__(session, first_screen=first_screen)
        self._resume = resume
        self.waiting_runs: list[RunId] = []
        """Runs ordered together with the one under way, still to begin."""
        self._runs_about_to_begin: set[RunId] = set()
        """Runs that are about to begin and cannot be seen yet."""

    def resume_first_run(self) -> None:
        """Take up the run that the app was started for, if any."""
        if self._resume and self.session.run is not None:
            self.begin_run(self.session.run)

    @on(NewRunRequested)
    def open_new_run_form(self) -> None:
        """Read what the form needs, then show it."""
        self.prepare_form()

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="form", exit_on_error=False)
    async def prepare_form(self) -> None:
        """Read metrics and sources and show the form."""
        from faithtui.metrics import registry
        from faithtui.tui.runs.new_run import NewRunScreen

        store = self.session.store
        sources = await asyncio.to_thread(store.conversations.sources)
        remembered = await asyncio.to_thread(_read_last_options, store)
        if sources:
            specs = [each.spec for each in registry.METRICS]
            self.navigation.open_window(
                NewRunScreen(
                    specs,
                    sources,
                    self.session.defaults,
                    remembered,
                    self.start_runs,
                    self.preview_runs,
                )
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
        first, *rest = await asyncio.to_thread(_plan_runs, self.session, requests)
        self.waiting_runs = [*self.waiting_runs, *rest]
        self.begin_run(first)

    async def preview_runs(self, requests: Sequence[RunRequest]) -> str:
        """Say in a line what runs would ask and cost; nothing is planned.

        Raises:
            FaithtuiError: An order cannot be carried out.
        """
        return await asyncio.to_thread(_preview_runs, self.session, requests)

    def begin_next_run(self) -> None:
        """Begin the next run that waits, once the one before is through."""
        if not self.waiting_runs or self._runs_about_to_begin or self.session.list_snapshots():
            return
        before = self.session.process_runs[-1] if self.session.process_runs else None
        through = (RunState.DONE, RunState.WAITING)
        if before is not None and before.snapshot().state not in through:
            left = ", ".join(f"#{run}" for run in self.waiting_runs)
            self.waiting_runs = []
            self.notify(
                f"Run #{before.run_id} did not get through. Not begun: {left}. They stay planned; "
                f"{self.session.keys('runs.continue')} in the list of runs begins one.",
                title="Runs are left",
                severity="warning",
                markup=False,
                timeout=15,
            )
            return
        self.begin_run(self.waiting_runs[0], follow=False)

    def begin_run(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Begin a run, or go on with one, and show it if it is to be followed."""
        if run_id in self._runs_about_to_begin:
            return
        self._runs_about_to_begin.add(run_id)
        self.waiting_runs = [each for each in self.waiting_runs if each != run_id]
        worker = self.resume_in_background(run_id, follow=follow)
        if follow:
            self.navigation.hold_keys_for(worker, can_give_up=False)

    @on(ResumeRequested)
    def resume_run(self, event: ResumeRequested) -> None:
        """Take up a run, and let others follow."""
        self.waiting_runs = [*self.waiting_runs, *event.then]
        self.begin_run(event.run)

    @work(group="start", exit_on_error=False)
    async def resume_in_background(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Go on with a run in the background, and show it unless something else is looked at."""
        try:
            run = await asyncio.to_thread(_begin_background_run, self.session, run_id)
        finally:
            self._runs_about_to_begin.discard(run_id)
        before = self.session.process_runs[-1].run_id if self.session.process_runs else None
        self.session.process_runs.append(run)
        watched = self.current_screen_name == "progress" and self.session.run == before
        if follow or watched:
            self.session.choose_run(run.run_id)
        if follow and not self._resume:
            self.show_screen("progress")
        self._resume = False
        self.reload_screens()


def _read_last_options(store: "Store") -> dict[str, dict[str, str]]:
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
            changed = registry.drop_default_options(key, row.spec.options)
            texts = {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in changed.items()
            }
            found[key] = {
                name: text for name, text in texts.items() if make_visible_line(text) == text
            }
    return found


def _preview_runs(session: Session, requests: Sequence[RunRequest]) -> str:
    # Imported here, on a thread: it brings what judges are made of.
    from faithtui.engine.preview.estimates import format_preview
    from faithtui.engine.preview.run_preview import preview_requests

    return format_preview(
        preview_requests(session.store, requests, around=session.get_run_environment())
    )


def _plan_runs(session: Session, requests: Sequence[RunRequest]) -> list["RunId"]:
    """Write runs down as planned, after all of them were checked."""
    from faithtui.engine.runs import planner

    for request in requests:
        planner.build_request_metric(request)
    around = session.get_run_environment()
    return [planner.plan_run(session.store, request, around=around) for request in requests]


def _begin_background_run(session: Session, run: "RunId") -> "BackgroundRun":
    """Go on with a run in the background, under the limits that all runs of the app share."""
    from faithtui.engine.runs.background import BackgroundRun

    return BackgroundRun.resume(session.store, run, around=session.get_run_environment())
