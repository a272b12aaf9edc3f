"""What is done with conversations from their list: queued, exported, asked again."""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.filters import TermName
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.scores import ScoreState
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ExportError
from faithtui.output_files import make_private_directory, write_text
from faithtui.store.records import ItemRow, ItemState
from faithtui.tui.agreement.export import (
    describe_report_paths,
    explain_blind_refusal,
    write_run_report,
)
from faithtui.tui.allowed_actions import FILES, refuse_disallowed_act_in_browser
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ResumeRequested, ShowScreen
from faithtui.tui.samples.queue import (
    ClaimQueue,
    find_nearest_open_conversation,
    make_found_queue_with_progress,
)
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece, escape_line

if TYPE_CHECKING:
    from faithtui.tui.conversations.conversations_screen import ConversationsScreen


class ConversationActions(Controller["ConversationsScreen"]):
    """What can be done with the conversations of the list, with many at once if marked."""

    screen: "ConversationsScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "N",
            "go_to_next_unlabelled",
            "next unlabelled",
            tooltip="Go to the next conversation with something without a verdict",
            id="conversations.next-unlabelled",
        ),
        Binding(
            "Q",
            "review_claims_as_queue",
            "queue of claims",
            tooltip="Review the claims of the marked conversations, or those that the filter "
            "finds, and no others",
            id="conversations.queue",
        ),
        Binding(
            "X",
            "export",
            "export",
            tooltip="Write the marked conversations, or those that the filter finds, with "
            "verdicts and labels as JSON, one a line; without either, the run's report",
            id="conversations.export",
        ),
        Binding(
            "R",
            "retry",
            "retry errors",
            tooltip="Ask again what failed or lacks a verdict in the marked conversations, or in "
            "the chosen one",
            id="conversations.retry",
        ),
    ]

    def refresh_after_blind_change(self) -> None:
        """Show what may be seen now; the order is read again, as another one may be allowed."""
        self.screen.items.refresh()
        self.screen.preview.paint_chosen_conversation()
        self.screen.quick_filters.paint_and_recount_filters()
        self.screen.show_matching_rows()

    @run_in_worker("next")
    async def action_go_to_next_unlabelled(self) -> None:
        """Choose the next conversation with something without a verdict."""
        listed, entry = self.screen.listed_ids, self.screen.id_at_cursor
        here = None if entry is None else ItemId(entry)
        item = await self.read_in_thread(
            find_nearest_open_conversation,
            self.session.store,
            self.session.reviewer,
            listed,
            here,
            1,
        )
        # Other conversations may be listed by now.
        pager = self.screen.pager
        at = None if item is None or pager is None else pager.find_index(item)
        if at is None:
            self.show_message(Piece("nothing without a verdict below", "warn"))
        else:
            self.screen.items.cursor = at

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def open_at_found_claim(self, row: ItemRow) -> None:
        """Review a conversation, beginning at what the filter finds in it, the open ones first."""
        wanted, store = self.screen.active_filter, self.session.store
        claim: ClaimId | None = None
        if wanted.claim_terms or wanted.list_terms_with_names(TermName.TEXT):
            entries = await self.read_in_thread(
                store.search.find_claims, row.run, wanted, item=row.id
            )
            found = ClaimQueue("", row.run, entries)
            found = await self.read_in_thread(
                make_found_queue_with_progress, store, self.session.reviewer, found
            )
            claim = found.first_open_claim
        self.session.open_conversation(row.id, claim)
        self.screen.post_message(ShowScreen("review"))

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("gather")
    async def action_review_claims_as_queue(self) -> None:
        """Read the claims of what is marked, else those that the filter finds."""
        row, blind = self.screen.run_row, self.session.is_blind
        if row is None:
            return
        marks = frozenset(self.screen.marks)
        found = await self.read_in_thread(
            self.session.store.search.find_claims,
            row.id,
            self.screen.active_filter,
            self.screen.list_order,
        )
        title = make_visible_line(self.screen.state.filter, 60)
        if marks:
            found = tuple(each for each in found if each[0] in marks)
            count = fmt.format_count_with_noun(len(marks), "marked conversation")
            title = f"{title} · {count}" if title else count
        tells = self.screen.active_filter.reveals_judge
        queue = ClaimQueue(title, row.id, found, blind=blind, reveals_judge=tells)
        store, reviewer = self.session.store, self.session.reviewer
        queue = await self.read_in_thread(make_found_queue_with_progress, store, reviewer, queue)
        self.screen.call_later(self._start_review_of_queue, queue)

    def _start_review_of_queue(self, queue: ClaimQueue) -> None:
        """Work through the claims that were found."""
        if not queue.entries:
            key = self.keys("list.open")
            words = f"no claim holds these words itself; {key} opens a conversation"
            if not self.screen.state.filter:
                words = "nothing was judged in the marked conversations"
            self.show_message(Piece(words, "warn"))
            return
        self.session.start_queue(queue)
        self.screen.post_message(ShowScreen("review"))

    @run_in_worker("export")
    async def action_export(self) -> None:
        """Write conversations, or the run's report where none is singled out."""
        row, session = self.screen.run_row, self.session
        if row is None:
            return
        if session.is_blind:
            self.refuse(explain_blind_refusal(self.session, "the file"))
            return
        if not self.screen.marks and not self.screen.state.filter:
            self.show_message(Piece("writing the report …", "quiet"))
            paths = await self.read_in_thread(write_run_report, session, row.id)
            self.show_message(*describe_report_paths(paths))
            return
        items = [ItemId(item) for item in self.screen.marks or self.screen.listed_ids]
        count = fmt.format_count_with_noun(len(items), "conversation")
        self.show_message(Piece(f"writing {count} …", "quiet"))
        # The thread goes on when the app is left, so it is asked to stop.
        left = threading.Event()
        try:
            path = await self.read_in_thread(self._export_conversations_json, row.id, items, left)
        finally:
            left.set()
        # The name comes first: where the line is cut, its place is.
        name, where = make_visible_line(path.name), escape_line(fmt.format_path(path.parent)).text
        self.show_message(
            Piece("written ", "good"), Piece(name), Piece(f" · {count} · in {where}", "quiet")
        )

    def _export_conversations_json(
        self, run: RunId, items: Sequence[ItemId], left: threading.Event
    ) -> Path:
        from faithtui.engine.review.conversation_json import conversation_json_lines

        refuse_disallowed_act_in_browser(FILES, os.environ)
        session = self.session
        name = f"faithtui-conversations-{run}-{session.now():%Y%m%d-%H%M%S}.jsonl"
        path = session.report_directory / name
        try:
            make_private_directory(path.parent)
        except OSError as error:
            raise ExportError(
                f"{path.parent} cannot be made: {error.strerror}; start faithtui in a directory of "
                "yours"
            ) from error
        lines = conversation_json_lines(session.store, items, session.reviewer)
        write_text(path, _iter_lines_unless_app_left(left, lines), force=False)
        return path

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("retry")
    async def action_retry(self) -> None:
        """Ask again what failed or lacks a verdict."""
        row, chosen = self.screen.run_row, self.screen.conversation_at_cursor
        if row is None or chosen is None:
            return
        mine = self.session.find_background_run(row.id)
        if mine is not None and not mine.is_finished:
            self.refuse(f"run #{row.id} is under way: what fails can be retried afterwards")
            return
        if not self.screen.marks and not (
            chosen.state is ItemState.FAILED or _is_unscored_for_missing_verdict(chosen)
        ):
            self.refuse("nothing failed or lacks a verdict in the chosen conversation")
            return
        items = [ItemId(item) for item in self.screen.marks] or [chosen.id]
        count = await self.read_in_thread(
            self.session.store.runs.reopen_failed_or_incomplete_items, row.id, items
        )
        if count:
            self.screen.post_message(ResumeRequested(row.id))
        else:
            self.refuse("nothing failed or lacks a verdict in the marked conversations")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a conversation while there is none."""
        if action in ("export", "retry", "go_to_next_unlabelled"):
            return len(self.screen.listed_ids) > 0
        if action == "review_claims_as_queue":
            narrowed = bool(self.screen.state.filter or self.screen.marks)
            return len(self.screen.listed_ids) > 0 and narrowed
        return True


def _is_unscored_for_missing_verdict(row: ItemRow) -> bool:
    """Whether a judged conversation has no score because a verdict is missing."""
    return row.scores is not None and row.scores.windowed.state is ScoreState.INCOMPLETE


def _iter_lines_unless_app_left(left: threading.Event, lines: Iterable[str]) -> Iterator[str]:
    """Give lines for as long as somebody wants them.

    Raises:
        ExportError: Nobody does any more; nothing of the file stays.
    """
    for each in lines:
        if left.is_set():
            raise ExportError("the app was left before the file was complete; nothing is written")
        yield each
