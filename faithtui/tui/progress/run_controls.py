"""Keys that act on one run: pause, resume, workers, cancel, ask again, budget."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import RunId
from faithtui.engine.calls.budget import BudgetCaps
from faithtui.engine.runs.events import Draining
from faithtui.store.records import RunRow, RunState
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ResumeRequested
from faithtui.tui.runs.budget_dialog import BudgetDialog
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.engine.runs.background import BackgroundRun
    from faithtui.tui.progress.progress_screen import ProgressScreen

WORKERS = Binding.Group("workers", compact=True)

_ACTIVE_RUN_ACTIONS = ("pause", "change_worker_count", "cancel")
"""Actions on a run that is on in this process."""


class RunControls(Controller["ProgressScreen"]):
    """Acts on the run that a screen shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "p",
            "pause",
            "pause",
            tooltip="Ask nothing new for now; replies in flight are kept",
            id="progress.pause",
        ),
        Binding(
            "plus",
            "change_worker_count(1)",
            "more workers",
            group=WORKERS,
            key_display="+",
            tooltip="Let more questions be in flight at once",
            id="progress.more-workers",
        ),
        Binding(
            "minus",
            "change_worker_count(-1)",
            "fewer workers",
            group=WORKERS,
            key_display="-",
            tooltip="Let fewer questions be in flight at once",
            id="progress.fewer-workers",
        ),
        Binding(
            "r",
            "resume",
            "resume",
            tooltip="Resume this run when it is paused or stopped, or start it; nothing is asked "
            "twice",
            id="progress.continue",
        ),
        Binding(
            "R",
            "retry",
            "retry errors",
            tooltip="Ask again what failed or lacks a verdict in this run, and nothing else",
            id="progress.retry",
        ),
        Binding(
            "b",
            "ask_for_budget",
            "budget",
            tooltip="Change what this run may cost",
            id="progress.budget",
        ),
        Binding(
            "ctrl+x",
            "cancel",
            "cancel",
            tooltip="Ask nothing more, keep the replies in flight and stop; once more: stop at "
            "once",
            id="progress.cancel",
        ),
    ]

    def __init__(self, screen: "ProgressScreen") -> None:
        super().__init__(screen)
        self._is_cancelling = False
        """Somebody said here that it is to end."""
        self._question: ConfirmDialog | None = None
        """The question whether it is to end, asked last."""

    def forget_cancel_request(self) -> None:
        """Begin with another attempt of the run."""
        self._is_cancelling = False

    def show_cancelled_end(self) -> None:
        """Say that the run is over, if it was cancelled here."""
        if self._is_cancelling:
            self._is_cancelling = False
            self.show_message(
                Piece("cancelled", "warn"), Piece(": the replies in flight were kept")
            )

    @property
    def active_run(self) -> "BackgroundRun | None":
        """The run, if it is on in this process."""
        run = self.session.find_background_run(
            None if self.screen.row is None else self.screen.row.id
        )
        return None if run is None or run.is_finished else run

    def action_pause(self) -> None:
        """Ask nothing new for now."""
        run = self.active_run
        if run is None:
            return
        if run.control.is_paused:
            self.refuse(f"paused already; {self.keys('progress.continue')} resumes")
            return
        run.control.pause()
        self.show_message(Piece("paused", "warn"), Piece(": replies in flight are still kept"))
        self.screen.refresh_bindings()

    def action_change_worker_count(self, direction: int) -> None:
        """Let more or fewer questions be in flight."""
        run = self.active_run
        if run is None:
            return
        before = run.control.max_in_flight
        now = run.control.set_max_in_flight(before + direction * max(1, before // 8))
        if now == before:
            self.refuse(f"{fmt.format_count_with_noun(now, 'worker')}: there can be 1 to 256")
        else:
            self.show_message(
                Piece(fmt.format_count_with_noun(now, "worker"), "human strong"),
                Piece(", until it ends"),
            )

    def action_cancel(self) -> None:
        """Ask, then stop once the replies in flight are there; stop at once if that is on."""
        run = self.active_run
        if run is None:
            return
        if any(isinstance(event, Draining) for _, event in run.snapshot().recent):
            run.cancel()
            self._is_cancelling = False
            self.show_message(Piece("stopped at once: replies in flight were given up", "warn"))
            return

        def cancel_if_confirmed(answer: str | None) -> None:
            if answer == "yes" and not run.is_finished:
                run.cancel()
                self._is_cancelling = True
                words = "cancelling: the replies in flight are kept; {progress.cancel} again "
                self.show_message(Piece(self.keys.fill_in_keys(f"{words}stops at once"), "warn"))

        self._question = ConfirmDialog(
            f"Cancel run #{run.run_id}?",
            "Nothing more is asked; the replies in flight are paid for, so they are waited "
            "for and kept. What is judged stays. The run can be resumed later and asks "
            "nothing twice.",
        )
        self.input_queue.open_window(self._question, cancel_if_confirmed)

    def close_outdated_question(self) -> None:
        """Close the question whether to cancel a run that is over."""
        if self._question is not None and self.active_run is None:
            if self._question.is_attached:
                self._question.dismiss()
            self._question = None

    def action_resume(self) -> None:
        """Resume the run where it is paused here, else ask for it to be taken up."""
        run = self.active_run
        if run is not None:
            run.control.resume()
            self.show_message()  # That it was paused is over; the title says that it runs.
            self.screen.refresh_bindings()
        elif self.screen.row is not None:
            self.screen.post_message(ResumeRequested(self.screen.row.id))

    def action_retry(self) -> None:
        """Ask again what failed or lacks a verdict."""
        row = self.screen.row
        if row is None:
            return
        if self.active_run is not None:
            self.refuse(f"run #{row.id} is on: what fails can be asked again afterwards")
        elif not (row.failed or row.incomplete):
            self.refuse(f"nothing failed or lacks a verdict in run #{row.id}")
        else:
            self.reopen_failed_items_and_resume(row.id)

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("retry")
    async def reopen_failed_items_and_resume(self, run: RunId) -> None:
        """Make what failed or lacks a verdict wait again."""
        count = await self.read_in_thread(
            self.session.store.runs.reopen_failed_or_incomplete_items, run
        )
        if count:
            self.screen.post_message(ResumeRequested(run))

    def action_ask_for_budget(self) -> None:
        """Ask for the budget."""
        row = self.screen.row
        if row is None:
            return

        def save_budget(wanted: BudgetCaps | None) -> None:
            if wanted is not None:
                self.set_budget(row, wanted)

        self.input_queue.open_window(BudgetDialog(row), save_budget)

    @run_in_worker("budget")
    async def set_budget(self, row: RunRow, wanted: BudgetCaps) -> None:
        """Write the budget down, and let a run that is on keep to it."""
        await self.read_in_thread(_write_budget, self.session, row, wanted)
        mine = self.session.find_background_run(row.id)
        if mine is not None and not mine.is_finished:
            mine.control.set_budget(wanted.nusd, wanted.tokens)
        self.screen.call_later(self.show_changed_budget_and_reload, wanted)

    def show_changed_budget_and_reload(self, wanted: BudgetCaps) -> None:
        """Say what the budget is now."""
        parts = [] if wanted.nusd is None else [fmt.format_money(wanted.nusd)]
        if wanted.tokens is not None:
            parts.append(f"{fmt.format_count(wanted.tokens)} tokens")
        words = f"budget {' and '.join(parts)}" if parts else "no budget any more"
        way = (
            ""
            if self.active_run is not None
            else self.keys.fill_in_keys(" · {progress.continue} resumes")
        )
        self.show_message(Piece(words, "human strong"), Piece(way if self._can_resume() else ""))
        self.screen.reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with this run now."""
        row = self.screen.row
        if action in _ACTIVE_RUN_ACTIONS:
            return row is not None and self.active_run is not None
        if action == "resume":
            return self._can_resume()
        if action == "retry":
            return row is not None and row.failed + row.incomplete > 0
        if action == "ask_for_budget":
            return row is not None and (
                row.state is not RunState.DONE or self.active_run is not None
            )
        return True

    def is_key_shown(self, action: str) -> bool:
        """Leave the key to pause out of the footer while the run is paused."""
        run = self.active_run
        return action != "pause" or run is None or not run.control.is_paused

    def _can_resume(self) -> bool:
        row, run = self.screen.row, self.active_run
        if run is not None:
            return run.control.is_paused
        return row is not None and row.state is not RunState.DONE and row.pending > 0


def _write_budget(session: Session, row: RunRow, wanted: BudgetCaps) -> None:
    """Write a budget down. Imports what is slow: meant for a thread.

    Raises:
        ConfigError: It is in money, and the price of the judge is not known.
    """
    from faithtui.engine.runs.run_planner import check_budget

    spec = row.spec
    environment = session.get_run_environment()
    check_budget(wanted.nusd, wanted.tokens, spec.judge, spec.base_url, environment)
    session.store.runs.set_budget(row.id, wanted.nusd, wanted.tokens)
