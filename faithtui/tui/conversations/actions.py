"""What is done with conversations from their list: queued, exported, asked again."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.binding import Binding
from textual.message import Message

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoreState
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ExportError
from faithtui.files import make_directory, write_text
from faithtui.store.records import ItemRow, ItemState, RunRow
from faithtui.store.runs.list_rows import ItemOrder
from faithtui.tui.agreement.export import (
    describe_report_paths,
    explain_blind_refusal,
    write_run_report,
)
from faithtui.tui.messages import ResumeRequested, ShowScreen
from faithtui.tui.navigation import holds_keys
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.filtered_list import FilteredListScreen
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

CONVERSATION_BINDINGS: tuple[Binding, ...] = (
    Binding(
        "Q",
        "queue",
        "queue of claims",
        tooltip="Review the claims of the marked conversations, or those that the filter "
        "finds, and no others",
        id="conversations.queue",
    ),
    Binding(
        "e",
        "export",
        "export",
        tooltip="Write the marked conversations, or those that the filter finds, with "
        "verdicts and labels as JSON, one a line; without either, the run's report",
        id="conversations.export",
    ),
    Binding(
        "x",
        "retry",
        "retry errors",
        tooltip="Ask again what failed or lacks a verdict in the marked conversations, or in the "
        "chosen one",
        id="conversations.retry",
    ),
)
"""Keys of what can be done with conversations. Screens list them behind their own."""


class ConversationActionsScreen(FilteredListScreen):
    """A list of a run's conversations with which something can be done, many at once if marked."""

    run_row: RunRow | None
    """The run; None: none is chosen."""

    @dataclass
    class ClaimsRead(Message):
        """The claims to review were read."""

        queue: ClaimQueue

    @dataclass
    class Exported(Message):
        """Something was written."""

        pieces: tuple[Piece, ...]

    @dataclass
    class Reopened(Message):
        """What failed or lacks a verdict waits to be asked again."""

        run: RunId
        count: int
        """Conversations in which something had failed, or lacked a verdict."""

    @property
    def marks_key(self) -> str:
        """Keep the marks of each run by themselves."""
        return f"{self.LIST} of {None if self.run_row is None else self.run_row.id}"

    @property
    def selection(self) -> ItemRow | None:
        """The conversation under the cursor."""
        raise NotImplementedError

    @property
    def list_order(self) -> ItemOrder:
        """The order in force."""
        raise NotImplementedError

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="gather", exit_on_error=False)
    async def action_queue(self) -> None:
        """Read the claims of what is marked, else those that the filter finds."""
        row, blind = self.run_row, self.session.is_blind
        if row is None:
            return
        marks = frozenset(self.marks)
        found = await self.read(
            self.session.store.search.find_claims, row.id, self.active_filter, self.list_order
        )
        title = make_visible_line(self.state.filter, 60)
        if marks:
            found = tuple(each for each in found if each[0] in marks)
            count = fmt.count_in_words(len(marks), "marked conversation")
            title = f"{title} · {count}" if title else count
        tells = self.active_filter.reveals_judge
        self.post_message(
            self.ClaimsRead(ClaimQueue(title, row.id, found, blind=blind, reveals_judge=tells))
        )

    @on(ClaimsRead)
    def review_claims(self, event: ClaimsRead) -> None:
        """Work through the claims that were found."""
        if not event.queue.entries:
            key = self.keys("list.open")
            words = f"no claim holds these words itself; {key} opens a conversation"
            if not self.state.filter:
                words = "nothing was judged in the marked conversations"
            self.show_message(Piece(words, "warn"))
            return
        self.session.take_queue(event.queue)
        self.post_message(ShowScreen("review"))

    @work(exclusive=True, group="export", exit_on_error=False)
    async def action_export(self) -> None:
        """Write conversations, or the run's report where none is singled out."""
        row, session = self.run_row, self.session
        if row is None:
            return
        if session.is_blind:
            self.app.bell()
            self.show_message(explain_blind_refusal("the file"))
            return
        if not self.marks and not self.state.filter:
            self.show_message(Piece("writing the report …", "quiet"))
            self.post_message(
                self.Exported(
                    describe_report_paths(await self.read(write_run_report, session, row.id))
                )
            )
            return
        items = [ItemId(item) for item in self.marks or self.listed_entries]
        count = fmt.count_in_words(len(items), "conversation")
        self.show_message(Piece(f"writing {count} …", "quiet"))
        # The thread goes on when the app is left, so it is told to stop.
        left = threading.Event()
        try:
            path = await self.read(self._write, row.id, items, left)
        finally:
            left.set()
        where = make_visible_line(str(path))
        self.post_message(
            self.Exported((Piece(f"{count} written", "good"), Piece(f" · {where}", "quiet")))
        )

    def _write(self, run: RunId, items: Sequence[ItemId], left: threading.Event) -> Path:
        from faithtui.engine.review.conversation_json import conversation_lines

        session = self.session
        name = f"faithtui-conversations-{run}-{session.now():%Y%m%d-%H%M%S}.jsonl"
        path = session.report_directory / name
        try:
            make_directory(path.parent)
        except OSError as error:
            raise ExportError(
                f"{path.parent} cannot be made: {error.strerror}; start faithtui in a directory of "
                "yours"
            ) from error
        lines = conversation_lines(session.store, items, session.reviewer)
        write_text(path, _stop_when_left(left, lines), force=False)
        return path

    @on(Exported)
    def show_exported(self, event: Exported) -> None:
        """Say where it is."""
        self.show_message(*event.pieces)

    @holds_keys(can_give_up=False)
    @work(exclusive=True, group="retry", exit_on_error=False)
    async def action_retry(self) -> None:
        """Ask again what failed or lacks a verdict."""
        row, chosen = self.run_row, self.selection
        if row is None or chosen is None:
            return
        mine = self.session.find_run(row.id)
        if mine is not None and not mine.is_finished:
            self.refuse(f"run #{row.id} is under way: what fails can be retried afterwards")
            return
        if not self.marks and not (chosen.state is ItemState.FAILED or _lacks_verdict(chosen)):
            self.refuse("nothing failed or lacks a verdict in the chosen conversation")
            return
        items = [ItemId(item) for item in self.marks] or [chosen.id]
        count = await self.read(self.session.store.runs.reopen_unfinished, row.id, items)
        self.post_message(self.Reopened(row.id, count))

    @on(Reopened)
    def request_resume(self, event: Reopened) -> None:
        """Take up the run."""
        if event.count:
            self.post_message(ResumeRequested(event.run))
        else:
            self.refuse("nothing failed or lacks a verdict in the marked conversations")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a conversation while there is none."""
        if action in ("export", "retry"):
            return self.is_mounted and len(self.listed_entries) > 0
        if action == "queue":
            narrowed = bool(self.state.filter or self.marks)
            return self.is_mounted and len(self.listed_entries) > 0 and narrowed
        return super().check_action(action, parameters)


def _lacks_verdict(row: ItemRow) -> bool:
    """Whether a judged conversation has no score because a verdict is missing."""
    return row.scores is not None and row.scores.windowed.state is ScoreState.INCOMPLETE


def _stop_when_left(left: threading.Event, lines: Iterable[str]) -> Iterator[str]:
    """Give lines for as long as somebody wants them.

    Raises:
        ExportError: Nobody does any more; nothing of the file stays.
    """
    for each in lines:
        if left.is_set():
            raise ExportError("the app was left before the file was complete; nothing is written")
        yield each
