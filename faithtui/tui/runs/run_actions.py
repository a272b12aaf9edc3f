"""What is done with runs from their list: put away, retried, compared, exported."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import RunId
from faithtui.errors import FaithtuiError
from faithtui.store.runs.run_records import RunRow
from faithtui.tui.agreement.export import (
    describe_report_paths,
    explain_blind_refusal,
    write_run_report,
)
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ResumeRequested
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.engine.review.reports.run_comparison import RunComparison
    from faithtui.tui.runs.runs_screen import RunsScreen


class RunActions(Controller["RunsScreen"]):
    """What can be done with runs of the list: with the marked ones, else the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "X",
            "export",
            "export report",
            tooltip="Write the reports of the marked runs, or of the chosen one, as HTML, "
            "Markdown, JSON and CSV, each into a new directory",
            id="runs.export",
        ),
        Binding(
            "b",
            "compare",
            "compare both",
            tooltip="What changed between the two marked runs, against human labels",
            id="runs.compare",
        ),
        Binding(
            "R",
            "retry",
            "retry errors",
            tooltip="Ask again what failed or lacks a verdict in the marked runs, or in the chosen "
            "one, and nothing else",
            id="runs.retry",
        ),
        Binding(
            "d",
            "archive_or_restore",
            "archive",
            tooltip="Put the marked runs, or the chosen one, out of the list, or archived ones "
            "back; the filter archived:yes finds them. Nothing is deleted; `faithtui delete` does "
            "that",
            id="runs.archive",
        ),
        Binding(
            "u",
            "undo_archiving",
            "undo",
            show=False,
            tooltip="Undo what was archived or brought back last",
            id="runs.undo",
        ),
        Binding(
            "ctrl+r",
            "redo_archiving",
            "redo",
            show=False,
            tooltip="Redo what was undone",
            id="runs.redo",
        ),
    ]

    def __init__(self, screen: "RunsScreen") -> None:
        super().__init__(screen)
        self.done_archivings: list[tuple[tuple[RunId, ...], bool]] = []
        """What was archived (True) or brought back here, the last one last."""
        self.undone_archivings: list[tuple[tuple[RunId, ...], bool]] = []

    @property
    def target_runs(self) -> tuple[RunRow, ...]:
        """What a key is about: the marked runs, else the chosen one."""
        marked = tuple(row for row in self.screen.all_runs if row.id in self.screen.marks)
        if marked or self.screen.run_at_cursor is None:
            return marked
        return (self.screen.run_at_cursor,)

    # Archiving

    def action_archive_or_restore(self) -> None:
        """Archive runs; bring them back where all are archived."""
        targets = self.target_runs
        back = all(row.archived_at is not None for row in targets)
        busy = [row.id for row in targets if self.screen.is_under_way(row.id)]
        if busy and not back:
            self.refuse(f"{format_run_names(busy)} is under way: archive it when it is through")
            return
        runs = tuple(row.id for row in targets if back or row.archived_at is None)
        self.archive_or_restore_runs(runs, archived=not back)

    def action_undo_archiving(self) -> None:
        """Take back the last archiving."""
        if not self.done_archivings:
            self.show_message(Piece("nothing was archived here that could be undone", "warn"))
            return
        runs, archived = self.done_archivings.pop()
        self.archive_or_restore_runs(runs, archived=not archived, how="undone")

    def action_redo_archiving(self) -> None:
        """Archive again."""
        if not self.undone_archivings:
            self.show_message(Piece("nothing to redo", "warn"))
            return
        runs, archived = self.undone_archivings.pop()
        self.archive_or_restore_runs(runs, archived=archived, how="redone")

    @run_in_worker("archive", exclusive=False)
    async def archive_or_restore_runs(
        self, runs: tuple[RunId, ...], *, archived: bool, how: str = "done"
    ) -> None:
        """Write it down."""
        kept = self.session.store.runs
        await self.read_in_thread(kept.archive if archived else kept.restore, runs)
        self.screen.call_later(self.reload_and_show_archived, runs, archived, how)

    def reload_and_show_archived(self, runs: tuple[RunId, ...], archived: bool, how: str) -> None:
        """Read the list again and say what happened.

        Args:
            runs: The runs.
            archived: Whether they were archived, or brought back.
            how: `done`, `undone` or `redone`.
        """
        if how == "undone":
            self.undone_archivings.append((runs, not archived))
        else:
            self.done_archivings.append((runs, archived))
            if how == "done":
                self.undone_archivings.clear()
        self.screen.marks.clear()
        self.screen.show_marks()
        self.screen.reload()
        listed = "is listed again" if len(runs) == 1 else "are listed again"
        words = f"{format_run_names(runs)} {'archived' if archived else listed}"
        if how == "undone":
            self.show_message(Piece("undone: ", "human strong"), Piece(words))
        else:
            key = self.keys("runs.undo")
            self.show_message(Piece(words, "good"), Piece(f" · {key} undoes", "quiet"))

    # Asking again

    def action_retry(self) -> None:
        """Ask again what failed or lacks a verdict."""
        busy = [row.id for row in self.target_runs if self.screen.is_under_way(row.id)]
        unfinished = tuple(row.id for row in self.target_runs if row.failed or row.incomplete)
        if busy:
            self.refuse(
                f"{format_run_names(busy)} is under way: what fails can be retried afterwards"
            )
        elif not unfinished:
            which = format_run_names([row.id for row in self.target_runs])
            self.refuse(f"nothing failed or lacks a verdict in {which}")
        else:
            self.reopen_failed_items_and_resume(unfinished)

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("retry")
    async def reopen_failed_items_and_resume(self, runs: Sequence[RunId]) -> None:
        """Make what failed or lacks a verdict wait again."""
        reopen = self.session.store.runs.reopen_failed_or_incomplete_items
        reopened = tuple([run for run in runs if await self.read_in_thread(reopen, run)])
        if reopened:
            self.screen.post_message(ResumeRequested(reopened[0], then=reopened[1:]))

    # Comparing

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("compare")
    async def action_compare(self) -> None:
        """Compare the two marked runs, the older one first."""
        from faithtui.engine.review.reports.run_comparison import compare_runs

        first, second = sorted(row.id for row in self.target_runs)
        store, who = self.session.store, self.session.reviewer
        self.show_message(Piece(f"comparing #{first} with #{second} …", "quiet"))
        try:
            change = await self.read_in_thread(compare_runs, store, first, second, who)
        except FaithtuiError:
            self.show_message()
            raise
        self.screen.call_later(self.show_compared, change)

    def show_compared(self, change: "RunComparison") -> None:
        """Show what changed."""
        from faithtui.tui.agreement.change_lines import format_run_comparison_lines
        from faithtui.tui.screen.dialogs import TextDialog

        a, b = change.a.id, change.b.id
        self.show_message()
        self.input_queue.open_window(
            TextDialog(
                f"From run #{a} to run #{b}", lambda w: format_run_comparison_lines(change, w)
            )
        )

    # Exporting

    @run_in_worker("export")
    async def action_export(self) -> None:
        """Write the reports."""
        if self.session.is_blind:
            self.refuse(explain_blind_refusal(self.session, "the report"))
            return
        runs = [row.id for row in self.target_runs]
        directories = []
        for run in runs:
            self.show_message(Piece(f"writing the report of #{run} …", "quiet"))
            directories.append(await self.read_in_thread(write_run_report, self.session, run))
        self.show_message(*describe_report_paths(*directories))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run while there is none, and everything until the store is open."""
        if not self.session.is_open:
            return False
        if action == "compare":
            return len(self.screen.marks) == 2 and len(self.target_runs) == 2
        if action in ("export", "archive_or_restore", "retry"):
            return bool(self.target_runs)
        return True


def format_run_names(runs: Sequence[RunId]) -> str:
    """Name runs: `run #3`, `runs #1 #3`; of many only how many."""
    if len(runs) > 6:
        return f"{len(runs)} runs"
    return f"run{'s' if len(runs) > 1 else ''} " + " ".join(f"#{run}" for run in runs)
