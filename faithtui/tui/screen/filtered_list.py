"""`/`, `s`, `V` and marks: what lists that can be filtered have in common."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.worker import Worker

from faithtui.domain.filter_completion import suggest_terms
from faithtui.domain.filters import Filter, FilterContext, parse_filter
from faithtui.store.runs.run_records import SavedView
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.screen.row_marks import RowMarks
from faithtui.tui.screen.saved_views import SavedViewsDialog
from faithtui.tui.session import ListState
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.bars import KeyBar, StatusLine, TitleBar
from faithtui.tui.widgets.filter_bar import FilterBar
from faithtui.tui.widgets.virtual_list import EmptyChoice, VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes


class FilteredListScreen(FaithScreen):
    """A list with a filter and an order, kept in the session under the screen's name."""

    LIST: ClassVar[str] = ""
    """Name under which filter, order and saved views are kept."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "type_filter",
            "filter",
            tooltip="Show only what words or terms find",
            id="list.filter",
        ),
        Binding("s", "next_order", "order", tooltip="Sort by another column", id="list.order"),
        Binding(
            "V",
            "choose_saved_view",
            "saved views",
            tooltip="Filters and orders under a name: take one, save this one",
            id="list.views",
        ),
        Binding(
            "space",
            "mark_and_step",
            "mark",
            tooltip="Mark the chosen row, or no longer, and go to the next one",
            id="list.mark",
        ),
        Binding(
            "m",
            "mark_range",
            "mark to here",
            show=False,
            tooltip="Mark all rows from the one marked last to the chosen one",
            id="list.mark-range",
        ),
    ]

    @property
    def state(self) -> ListState:
        """Filter and order in force."""
        return self.session.lists[self.LIST]

    @property
    def active_filter(self) -> Filter:
        """The filter in force."""
        return parse_filter(self.state.filter, self.filter_context).filter

    @property
    @abstractmethod
    def filter_context(self) -> FilterContext:
        """Say which words a filter may hold here."""

    @property
    @abstractmethod
    def sort_orders(self) -> Mapping[str, str]:
        """Orders there are, each in words."""

    @abstractmethod
    def show_matching_rows(self) -> None:
        """Read the list again, for another filter or order."""

    @property
    def marks_storage_key(self) -> str:
        """Name of what is listed: marks are kept under it."""
        return self.LIST

    @property
    @abstractmethod
    def listed_ids(self) -> Sequence[int]:
        """Ids of the rows, in the order of the list."""

    @property
    def id_at_cursor(self) -> int | None:
        """The id of the chosen row; None: no row is listed, or none there any more."""
        at = self.query_one(VirtualList).cursor
        return self.listed_ids[at] if at < len(self.listed_ids) else None

    @property
    def marks(self) -> RowMarks:
        """Rows that are marked, listed now or not."""
        return self.session.marks[self.marks_storage_key]

    def compose(self) -> ComposeResult:
        """Stack title, panes, the line for the filter, status and keys."""
        yield TitleBar(id="title")
        yield from self.compose_heading()
        yield self.make_panes()
        yield FilterBar(self.keys("list.filter"), lambda: self.filter_context)
        yield StatusLine(id="status")
        yield KeyBar(id="keys")

    def compose_heading(self) -> ComposeResult:
        """Give what stands between the title and the panes."""
        return ()

    def on_mount(self) -> None:
        """Show the filter that is in force."""
        self._previous_filter = self.state.filter
        self._problem: str | None = None
        self._was_read = False
        self._is_other_order = False
        self._described_state: ListState | None = None
        """Filter and order that the status line described last."""
        super().on_mount()
        self.query_one(FilterBar).show_filter_text(self.state.filter)

    def on_screen_resume(self) -> None:
        """Show the filter in force: another screen may have set it."""
        self._described_state = None
        bar = self.query_one(FilterBar)
        if not bar.is_typing:
            bar.show_filter_text(self.state.filter)

    def show_filter_status(self) -> None:
        """Say what could not be read of the filter, else the order; terms while one types.

        What was said meanwhile of a key stays where filter and order are as they were described.
        """
        described_state, self._described_state = self._described_state, None
        if self.query_one(FilterBar).is_typing:
            self._show_completions_or_problem(self.state.filter)
            return
        reading = parse_filter(self.state.filter, self.filter_context)
        if reading.problem is not None:
            self.show_message(escape_line(reading.problem, "warn", limit=400))
            return
        self._described_state = self.state
        if described_state == self.state and self.query_one(StatusLine).left:
            return
        orders = self.sort_orders
        words = orders.get(self.state.sort) or next(iter(orders.values()))
        self.show_message(Piece(f"order: {words}", "quiet"))

    def hold_keys_until_first_rows(self, reading: Worker[None]) -> None:
        """Let keys wait for the first rows of the list: what is typed ahead is about them."""
        if not self._was_read:
            self._was_read = True
            self.input_queue.hold_keys_for(reading, can_give_up=False)

    @on(FilterBar.FilterChanged)
    def apply_filter(self, event: FilterBar.FilterChanged) -> None:
        """Let the list follow what is typed."""
        if event.text != self.state.filter:
            self.session.lists[self.LIST] = ListState(event.text, self.state.sort)
            self.show_matching_rows()
        if event.is_final:
            self._leave_filter_line()

    @on(FilterBar.Typed)
    def show_completions(self, event: FilterBar.Typed) -> None:
        """List what the last word may become."""
        self._show_completions_or_problem(event.text)

    def _show_completions_or_problem(self, text: str) -> None:
        """List what the last word of a filter may become, else what is wrong with the filter."""
        bar = self.query_one(FilterBar)
        self.show_message(*bar.format_hint(text, self.keys("filter.complete")))

    @on(FilterBar.FilterCancelled)
    def restore_previous_filter(self) -> None:
        """Go on with the filter there was."""
        self.apply_saved_view(SavedView("", self._previous_filter, self.state.sort))
        self._leave_filter_line()

    def action_type_filter(self) -> None:
        """Type a filter."""
        self._previous_filter = self.state.filter
        self.query_one(FilterBar).start_typing(self.state.filter)
        self._show_completions_or_problem(self.state.filter)

    def choose_initial_row(self, at: int | None) -> int:
        """Say which row to choose in a list that was read.

        Args:
            at: Row of the entry that was chosen before; None: it is not in the list.

        Returns:
            The first one after another order was chosen.
        """
        if self._is_other_order:
            self._is_other_order = False
            return 0
        return self.query_one(VirtualList).cursor if at is None else at

    def action_next_order(self) -> None:
        """Sort by the next column, and go to what is first in it."""
        self._is_other_order = True
        names = list(self.sort_orders)
        here = names.index(self.state.sort) if self.state.sort in names else 0
        self.session.lists[self.LIST] = ListState(self.state.filter, names[(here + 1) % len(names)])
        self.show_matching_rows()

    def action_mark_and_step(self) -> None:
        """Mark the chosen row and go on, so that a held key marks many."""
        entry = self.id_at_cursor
        if entry is not None:
            self.marks.toggle(entry)
            self.query_one(VirtualList).action_step(1)
            self.show_marks()

    def action_mark_range(self) -> None:
        """Mark from the row that was marked last to the chosen one."""
        entry = self.id_at_cursor
        if entry is not None:
            self.marks.mark_range(entry, self.listed_ids)
            self.show_marks()

    def show_marks(self) -> None:
        """Draw the marks there are, and offer what can be done with them."""
        self.query_one(VirtualList).show_marks(self.marks)
        self.refresh_bindings()

    def apply_saved_view(self, view: SavedView) -> None:
        """Take filter and order of a view."""
        sort = view.sort if view.sort in self.sort_orders else self.state.sort
        self.session.lists[self.LIST] = ListState(view.filter, sort)
        self.query_one(FilterBar).show_filter_text(view.filter)
        self.show_matching_rows()

    @hold_keys_during_worker(can_give_up=True)
    @work(exclusive=True, group="views", exit_on_error=False)
    async def action_choose_saved_view(self) -> None:
        """Read the saved views and let one be chosen, saved or deleted."""
        store = self.session.store
        views = await self.read_in_thread(store.saved_views.list_views, self.LIST)
        here = SavedView("", self.state.filter, self.state.sort)
        dialog = SavedViewsDialog(store.saved_views, self.LIST, views, here, self.keys)
        self.input_queue.open_window(dialog, self._apply_chosen_view)

    def _apply_chosen_view(self, chosen: SavedView | None) -> None:
        if chosen is not None:
            self.apply_saved_view(chosen)

    def action_unzoom(self) -> None:
        """Give each pane its place again, else take the filter away, else the marks."""
        if self.query_one(Panes).zoomed_id is not None:
            super().action_unzoom()
        elif self.state.filter:
            self.apply_saved_view(SavedView("", "", self.state.sort))
        else:
            self.marks.clear()
            self.show_marks()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let escape take the filter and the marks away."""
        if action == "unzoom" and (self.state.filter or self.marks):
            return True
        if action in ("mark_and_step", "mark_range"):
            return self.is_mounted and len(self.listed_ids) > 0
        if action in ("type_filter", "next_order", "choose_saved_view"):
            return self.session.is_open
        return super().check_action(action, parameters)

    def list_suggestions(self) -> Sequence[str]:
        """List the terms that may have been meant by words that find nothing."""
        return suggest_terms(self.state.filter, self.filter_context)

    def make_empty_choice(self) -> EmptyChoice:
        """Let the key that opens a row take the first of these terms, where there is one."""
        return EmptyChoice(
            lambda: bool(self.state.filter and self.list_suggestions()),
            self.apply_first_filter_suggestion,
        )

    def apply_first_filter_suggestion(self) -> None:
        """Take the first term that may have been meant."""
        found = self.list_suggestions() if self.state.filter else ()
        if found:
            self.apply_saved_view(SavedView("", found[0], self.state.sort))

    def _leave_filter_line(self) -> None:
        self.query_one(FilterBar).show_filter_text(self.state.filter)
        # At once: while the line has the focus, what may be typed is said.
        self.set_focus(self.query_one(VirtualList))
        self.show_filter_status()
