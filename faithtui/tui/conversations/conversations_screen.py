"""The conversations of a run, as a queue for review."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from faithtui.domain.filters import Filter, FilterContext, Scope
from faithtui.domain.ids import ItemId
from faithtui.store.records import ItemRow, RunRow
from faithtui.store.runs.conversation_order import ItemOrder
from faithtui.store.search.filter_search import SearchStop, SearchStopped
from faithtui.tui.conversations.conversation_lines import (
    RowOptions,
    empty_list_lines,
    format_conversation_row,
    format_list_heading,
    list_title_pieces,
    make_legend,
)
from faithtui.tui.conversations.conversation_preview import ConversationPreview
from faithtui.tui.conversations.list_actions import ConversationActions
from faithtui.tui.conversations.list_data import (
    NO_FACTS,
    ListMark,
    LoadedList,
    read_conversation_list_data,
    read_run_and_change_stamp,
)
from faithtui.tui.conversations.quick_filters import QuickFilters
from faithtui.tui.conversations.unanimous_rows import note_painted_list_row
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.replies.show_replies import RawReplies
from faithtui.tui.review.evidence.image_opener import OPEN_IMAGE, ImageOpener
from faithtui.tui.runs.run_lines import nothing_found_lines
from faithtui.tui.screen.blind_mode import BlindMode
from faithtui.tui.screen.filter_matches import make_context_of_run_filter
from faithtui.tui.screen.filtered_list import FilteredListScreen
from faithtui.tui.screen.main_screen import CONTENT_GROUP
from faithtui.tui.screen.pager import Pager
from faithtui.tui.screen.word_index_progress import index_words_and_show_progress
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Line
from faithtui.tui.widgets.bars import HintLine
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.virtual_list import NoRows, VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

ORDERS: Mapping[ItemOrder, str] = {
    "number": "as imported",
    "score": "lowest judge's score first",
    "unlabelled": "most unlabelled first",
    "corrected": "lowest score with overrides first",
    "overridden": "most disagreements first",
    "missing": "most missing verdicts first",
    "recent": "last labelled first",
}
BLIND_ORDERS: tuple[ItemOrder, ...] = ("number", "unlabelled", "recent")
"""Orders that reveal nothing of the judge's verdict."""
REREAD_FACTOR = 10
"""How many times as long as reading the order took nobody reads it again because of a change."""


class ConversationsScreen(FilteredListScreen):
    """Conversations, and the one under the cursor."""

    TITLE_WORDS: ClassVar[str] = "CONVERSATIONS"
    LIST: ClassVar[str] = "conversations"
    HELP_WORDS: ClassVar[str] = (
        "Each row is one conversation of the run: how it begins, how often the judge gave each of"
        " the metric's labels, its score: the mean of its windows (* means with overrides: human "
        "labels changed it; in the order of the judge's score it is the judge's; in colour below "
        "the threshold), what annotators said of its answers where the data came with that "
        "(human), and how much of what was judged has a label of yours (by you); the title counts"
        " what has a label of anyone. Marks: 2x two annotators labelled it, ∅ an answer has no "
        "passages, ! something failed or has no verdict. What all ids begin with is left out. The"
        " digits above the list are filters with what they find. {list.open} reviews it. "
        "{list.filter} finds conversations by words and terms such as verdict:no or "
        "is:unlabelled; {conversations.queue} reviews just the claims found, or those of the "
        "marked conversations. Verdicts advance through the conversations in the order of this "
        "list."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *RawReplies.BINDINGS,
        Binding(
            "v",
            "review_chosen",
            "review",
            show=False,
            tooltip="Review the chosen conversation",
            id="conversations.review",
        ),
        OPEN_IMAGE,
        *ConversationActions.BINDINGS,
        *QuickFilters.BINDINGS,
        *BlindMode.BINDINGS,
    ]

    items = getters.query_one("#list", VirtualList)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.actions = ConversationActions(self)
        self.preview = ConversationPreview(self)
        self.quick_filters = QuickFilters(self)
        self.images = ImageOpener(self, self.preview.list_images)
        self.replies = RawReplies(self, self.get_item_id_at_cursor)
        self.blind_mode = BlindMode(self, self.actions.refresh_after_blind_change)
        self.add_controllers(
            self.actions, self.images, self.replies, self.quick_filters, self.blind_mode
        )

    def compose_heading(self) -> ComposeResult:
        """Give the line of filters that have a key."""
        yield HintLine(id="quick")

    def make_panes(self) -> Panes:
        """Make the list and the conversation beside it."""
        return Panes(
            VirtualList[ItemRow](
                id="list",
                title="Conversations",
                format_row=self._format_row_line,
                head=self._format_column_headings_line,
                empty=self._format_empty_list_lines,
                moved=self.preview.follow_cursor,
                identity=lambda row: row.id,
                empty_choice=self.make_empty_choice(),
            ),
            Pane(id="detail", title="Conversation"),
            layout_function=layouts.lay_out_list_and_text,
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self.run_row: RunRow | None = None
        self.spec: MetricSpec | None = None
        self.stop = SearchStop()
        self.shown_filter = Filter()
        self.pager: Pager[ItemId, ItemRow] | None = None
        self.mark: ListMark | None = None
        self.facts = NO_FACTS
        self.reread_after_s = 0.0
        self.reread_timer: Timer | None = None
        super().on_mount()
        self.items.focus()

    @property
    def marks_storage_key(self) -> str:
        """Keep the marks of each run by themselves."""
        return f"{self.LIST} of {None if self.run_row is None else self.run_row.id}"

    @property
    def filter_context(self) -> FilterContext:
        """Say which words a filter may hold: those of the run's metric."""
        if self.run_row is None:
            return FilterContext(Scope.CONVERSATIONS, blind=self.session.is_blind)
        rule = self.run_row.spec.rule
        filter_context = make_context_of_run_filter(
            rule, Scope.CONVERSATIONS, blind=self.session.is_blind
        )
        return replace(filter_context, known=self.facts.known)

    @property
    def sort_orders(self) -> Mapping[str, str]:
        """Orders there are; in a blind queue those that reveal nothing."""
        if self.session.is_blind:
            return {name: ORDERS[name] for name in BLIND_ORDERS}
        return {str(name): words for name, words in ORDERS.items()}

    @property
    def list_order(self) -> ItemOrder:
        """The order in force."""
        return cast(ItemOrder, self.state.sort if self.state.sort in self.sort_orders else "number")

    @property
    def listed_ids(self) -> Sequence[ItemId]:
        """Ids of the conversations that the filter finds."""
        return () if self.pager is None else self.pager.ids

    @property
    def conversation_at_cursor(self) -> ItemRow | None:
        """The conversation under the cursor."""
        if self.pager is None or not len(self.pager):
            return None
        return self.pager.fetch_row(min(self.items.cursor, len(self.pager) - 1))

    def get_item_id_at_cursor(self) -> ItemId | None:
        """Give the conversation under the cursor; None: there is none."""
        row = self.conversation_at_cursor
        return None if row is None else row.id

    def reload(self) -> None:
        """Read the ids again; rows follow as they are drawn."""
        self.show_matching_rows()

    def reload_after_store_change(self) -> None:
        """Follow a change of the store, as far as it is one of this run."""
        if self.mark is None:
            self.reload()
        else:
            self.refresh_if_run_changed()

    @work(exclusive=True, group="follow", exit_on_error=False)
    async def refresh_if_run_changed(self) -> None:
        """Look whether anything of the run changed, which costs little however long the list is."""
        if self.session.run is None:
            return
        row, mark = await self.read_in_thread(
            read_run_and_change_stamp, self.session.store, self.session.run
        )
        if mark != self.mark:
            self.call_later(self._refresh_after_store_change, row, mark)

    def _refresh_after_store_change(self, run: RunRow, mark: ListMark) -> None:
        """Read the rows that are seen again, and the order only where it may be another one."""
        if not self.facts.are_about(run) or self.pager is None:
            self.show_matching_rows()
        elif self.list_order != "number" or self.state.filter:
            self.show_matching_rows_soon()
        else:
            before = self.conversation_at_cursor, None if self.mark is None else self.mark[1]
            self.run_row, self.mark = run, mark
            self.pager.forget_pages()
            self.items.refresh()
            self._show_title(run)
            self.quick_filters.paint_and_recount_filters()
            if before != (self.conversation_at_cursor, mark[1]):
                self.preview.follow_cursor()

    def show_matching_rows_soon(self) -> None:
        """Read the ids again, but most of the time leave the processor to whoever types."""
        rest = self.reread_after_s - self.session.seconds()
        if rest <= 0:
            self.show_matching_rows()
        elif self.reread_timer is None:
            self.reread_timer = self.set_timer(rest, self.show_matching_rows)

    def show_matching_rows(self) -> None:
        """Read the ids again, and stop the search that is under way."""
        if self.reread_timer is not None:
            self.reread_timer.stop()
            self.reread_timer = None
        self.stop.stop()
        self.stop = SearchStop()
        self.hold_keys_until_first_rows(self.search_and_show_list(self.stop))

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def search_and_show_list(self, stop: SearchStop) -> None:
        """Read the order of the list."""
        runs = self.session.store.runs
        run = self.session.run or await self.read_in_thread(runs.find_newest_run_id)
        if run is None:
            self.call_later(self.show_list, LoadedList(None, None, ()))
            return
        row, mark = await self.read_in_thread(read_run_and_change_stamp, self.session.store, run)
        facts = self.facts
        if not facts.are_about(row):
            facts = await self.read_in_thread(read_conversation_list_data, self.session.store, row)
        spec = await self.read_in_thread(get_metric_spec, row.spec)
        self.run_row, began = row, self.session.seconds()
        try:
            await index_words_and_show_progress(self, run, self.active_filter, stop)
            ids = await self.read_in_thread(
                self.session.store.search.list_matching_items,
                run,
                self.active_filter,
                self.list_order,
                stop=stop,
            )
        except SearchStopped:
            return
        ended = self.session.seconds()
        self.reread_after_s = ended + REREAD_FACTOR * (ended - began)
        if stop is self.stop:
            self.call_later(self.show_list, LoadedList(row, spec, ids, mark, facts))

    def show_list(self, loaded: LoadedList) -> None:
        """Draw the list, with the cursor on the same conversation."""
        self.run_row, self.spec, self.mark = loaded.run, loaded.spec, loaded.mark
        self.facts = loaded.facts
        self.shown_filter = self.active_filter
        if loaded.run is None:
            self.items.show(NoRows(), 0, title="Conversations")
            self.set_title()
            self.preview.paint_chosen_conversation()
            return
        if self.session.run is None:
            self.session.switch_run(loaded.run.id)
        row = loaded.run
        runs, reviewer = self.session.store.runs, self.session.reviewer
        read_rows = partial(runs.read_items_with_list_marks, reviewer=reviewer)
        self.pager = Pager(
            loaded.ids,
            read_rows,
            lambda item: item.id,
            self.report_failed_reading,
            self.preview.repaint_rows_later,
        )
        self.session.set_conversation_queue(loaded.ids)
        at = self.pager.find_index(self.session.item) if self.session.item is not None else None
        count = fmt.format_count(len(loaded.ids))
        if self.state.filter:
            count += f" of {fmt.format_count(row.conversations)}"
        self.items.show(self.pager, self.choose_initial_row(at), title=f"Conversations {count}")
        self.show_marks()
        if loaded.spec is not None:
            self.items.show_legend(make_legend(loaded.spec, blind=self.session.is_blind))
        self._show_title(row)
        self.quick_filters.paint_and_recount_filters()
        self.show_filter_status()
        self.preview.follow_cursor()
        self.refresh_bindings()

    def _show_title(self, run: RunRow) -> None:
        if self.spec is not None:
            blind = self.session.is_blind
            self.set_title(*list_title_pieces(run, self.facts, self.spec, blind=blind))

    @on(VirtualList.Chosen)
    def review_chosen_conversation(self) -> None:
        """Review the chosen conversation."""
        self.action_review_chosen()

    def clear_content(self) -> None:
        """Forget the conversation that was read."""
        super().clear_content()
        self.preview.forget_conversation()

    def action_review_chosen(self) -> None:
        """Review the chosen conversation."""
        row = self.conversation_at_cursor
        if row is not None:
            self.actions.open_at_found_claim(row)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a conversation while there is none."""
        if action == "review_chosen":
            return self.is_mounted and self.pager is not None and len(self.pager) > 0
        return super().check_action(action, parameters)

    def _format_row_line(self, row: ItemRow, width: int, here: bool) -> Line:
        if self.spec is None or self.run_row is None:
            return BLANK
        note_painted_list_row(self.session, row)
        options = RowOptions(
            self.spec,
            self.run_row.spec.rule,
            self.session.is_blind,
            self.shown_filter,
            self.facts.key_prefix,
            judge_scores=self.list_order == "score",
        )
        return format_conversation_row(row, options, width, here)

    def _format_column_headings_line(self, width: int) -> Line:
        return BLANK if self.spec is None else format_list_heading(self.spec, width)

    def _format_empty_list_lines(self, width: int) -> list[Line]:
        if self.session.run is not None and self.state.filter:
            return nothing_found_lines(width, self.state.filter, self.keys, self.list_suggestions())
        return empty_list_lines(width, self.session.run is not None, self.keys)
