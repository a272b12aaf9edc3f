"""Beginning runs in the app and keeping them going, one after the other."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work

from faithtui.domain.text.sanitizing import visible_line
from faithtui.engine.runs.request import RunRequest
from faithtui.store.runs.run_records import RunState
from faithtui.tui.messages import NewRunWanted, ResumeWanted
from faithtui.tui.navigation import holds_keys
from faithtui.tui.screen_navigation import MovingApp
from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.domain.ids import RunId
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.store.store import Store


class RunningApp(MovingApp):
    """An app that has runs under way.

    Args:
        session: What screens share.
        first_screen: Main screen to begin with.
        resume: Take up the session's run at once, in the background.
    """

    def __init__(self, session: Session, *, first_screen: str, resume: bool) -> None:
        super().__init__(session, first_screen=first_screen)
        self._resume = resume
        self.waiting: list[RunId] = []
        """Runs ordered together with the one under way, still to begin."""
        self._beginning: set[RunId] = set()
        """Runs that are about to begin and cannot be seen yet."""

    def resume_at_once(self) -> None:
        """Take up the run that the app was started for, if any."""
        if self._resume and self.session.run is not None:
            self.begin_run(self.session.run)

    @on(NewRunWanted)
    def ask_for_run(self) -> None:
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
        remembered = await asyncio.to_thread(_remembered, store)
        if sources:
            specs = [each.spec for each in registry.METRICS]
            self.navigation.open_window(
                NewRunScreen(
                    specs,
                    sources,
                    self.session.defaults,
                    remembered,
                    self.start_runs,
                    self.foresee,
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
        first, *rest = await asyncio.to_thread(_planned, self.session, requests)
        self.waiting = [*self.waiting, *rest]
        self.begin_run(first)

    async def foresee(self, requests: Sequence[RunRequest]) -> str:
        """Say in a line what runs would ask and cost; nothing is planned.

        Raises:
            FaithtuiError: An order cannot be carried out.
        """
        return await asyncio.to_thread(_foreseen, self.session, requests)

    def go_on(self) -> None:
        """Begin the next run that waits, once the one before is through."""
        if not self.waiting or self._beginning or self.session.snapshots():
            return
        before = self.session.active[-1] if self.session.active else None
        through = (RunState.DONE, RunState.WAITING)
        if before is not None and before.snapshot().state not in through:
            left = ", ".join(f"#{run}" for run in self.waiting)
            self.waiting = []
            self.notify(
                f"Run #{before.run_id} did not get through. Not begun: {left}. They stay planned; "
                f"{self.session.keys('runs.continue')} in the list of runs begins one.",
                title="Runs are left",
                severity="warning",
                markup=False,
                timeout=15,
            )
            return
        self.begin_run(self.waiting[0], follow=False)

    def begin_run(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Begin a run, or go on with one, and show it if it is to be followed."""
        if run_id in self._beginning:
            return
        self._beginning.add(run_id)
        self.waiting = [each for each in self.waiting if each != run_id]
        worker = self.take_up(run_id, follow=follow)
        if follow:
            self.navigation.hold_keys_for(worker, can_give_up=False)

    @on(ResumeWanted)
    def resume_run(self, event: ResumeWanted) -> None:
        """Take up a run, and let others follow."""
        self.waiting = [*self.waiting, *event.then]
        self.begin_run(event.run)

    @work(group="start", exit_on_error=False)
    async def take_up(self, run_id: "RunId", *, follow: bool = True) -> None:
        """Go on with a run in the background, and show it unless something else is looked at."""
        try:
            run = await asyncio.to_thread(_begun, self.session, run_id)
        finally:
            self._beginning.discard(run_id)
        before = self.session.active[-1].run_id if self.session.active else None
        self.session.active.append(run)
        watched = self.here == "progress" and self.session.run == before
        if follow or watched:
            self.session.choose_run(run.run_id)
        if follow and not self._resume:
            self.go("progress")
        self._resume = False
        self.reload_screens()


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


def _foreseen(session: Session, requests: Sequence[RunRequest]) -> str:
    # Imported here, on a thread: it brings what judges are made of.
    from faithtui.engine.preview.estimates import sentence
    from faithtui.engine.preview.run_preview import preview

    return sentence(preview(session.store, requests, around=session.circumstances()))


def _planned(session: Session, requests: Sequence[RunRequest]) -> list["RunId"]:
    """Write runs down as planned, after all of them were checked."""
    from faithtui.engine.runs import planner

    for request in requests:
        planner.metric_of(request)
    around = session.circumstances()
    return [planner.plan(session.store, request, around=around) for request in requests]


def _begun(session: Session, run: "RunId") -> "BackgroundRun":
    """Go on with a run in the background, under the limits that all runs of the app share."""
    from faithtui.engine.runs.background import BackgroundRun

    return BackgroundRun.resume(session.store, run, around=session.circumstances())
