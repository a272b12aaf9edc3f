"""A list of any length: one line per row, drawn from a page cache, first screen as fast as last."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Generic, Protocol, TypeVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from faithtui.tui.theme.lines import BLANK, Line, Piece, wrap
from faithtui.tui.widgets.line_widget import LineWidget

RowT = TypeVar("RowT")
RowT_co = TypeVar("RowT_co", covariant=True)


MARK = "+ "
"""Stands before a marked row."""


class RowSource(Protocol[RowT_co]):
    """Rows by index, such as a pager."""

    def __len__(self) -> int:
        """Count the rows."""

    def fetch_row(self, index: int) -> RowT_co | None:
        """Give a row; None when it is gone."""


@dataclass(frozen=True, slots=True)
class EmptyChoice:
    """What the key that opens a row does where there is none."""

    is_offered: Callable[[], bool]
    choose: Callable[[], None]


class NoRows:
    """A list without rows."""

    def __len__(self) -> int:
        """Count the rows."""
        return 0

    def fetch_row(self, index: int) -> None:
        """Give nothing."""


class VirtualList(LineWidget, ScrollView, Generic[RowT], can_focus=True):
    """Rows in a frame under a line of headings, one of them chosen.

    Args:
        format_row: Makes the line of a row for a width in cells.
        head: Makes the line of headings.
        empty: Makes what is drawn when there is no row.
        moved: Called when another row is chosen, at once: a message could come after rows that are
            read again, which would put the cursor back.
        identity: Gives the id under which a row is marked; None: rows cannot be marked.
        empty_choice: What can be chosen where the list is empty; None: nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", tooltip="Open the chosen row", id="list.open"),
        Binding("j,down", "step(1)", "down", show=False, tooltip="Next row", id="move.down"),
        Binding("k,up", "step(-1)", "up", show=False, tooltip="Row before", id="move.up"),
        Binding(
            "pagedown",
            "page(1)",
            "page down",
            show=False,
            tooltip="One page down",
            id="move.page-down",
        ),
        Binding(
            "pageup", "page(-1)", "page up", show=False, tooltip="One page up", id="move.page-up"
        ),
        Binding(
            "home",
            "go_to_first_or_last(0)",
            "first",
            show=False,
            tooltip="To the first row",
            id="move.home",
        ),
        Binding(
            "end",
            "go_to_first_or_last(1)",
            "last",
            show=False,
            tooltip="To the last row",
            id="move.end",
        ),
    ]

    cursor: reactive[int] = reactive(0, repaint=False, init=False)

    @dataclass
    class Chosen(Message):
        """The chosen row is to be opened."""

        list: "VirtualList[object]"
        row: int

        @property
        def control(self) -> "VirtualList[object]":
            """The list."""
            return self.list

    def __init__(
        self,
        *,
        id: str,
        title: str,
        format_row: Callable[[RowT, int, bool], Line],
        head: Callable[[int], Line],
        empty: Callable[[int], Sequence[Line]],
        moved: Callable[[], None],
        identity: Callable[[RowT], int] | None = None,
        empty_choice: EmptyChoice | None = None,
    ) -> None:
        super().__init__(id=id)
        self._identity = identity
        self._empty_choice = empty_choice
        self._legend = Content("")
        self._marks: Collection[int] = ()
        self._format_row = format_row
        self._head = head
        self._empty = empty
        self._cursor_moved_callback = moved
        self._source: RowSource[RowT] = NoRows()
        self._ready = False
        self._why_unread: Sequence[Piece] = [Piece("reading …", "quiet")]
        """What stands in place of rows until they are read."""
        self._early_actions: list[tuple[int, Callable[[], None]]] = []
        """What was asked for while the first rows were being read, in order, each with the state of
        the screens: once another one was looked at, nobody expects it any more."""
        self.border_title = Content(title)

    def show(self, source: RowSource[RowT], cursor: int, *, title: str | None = None) -> None:
        """Draw other rows and choose one, without a message."""
        had_rows, self._source = len(self._source) > 0, source
        self._ready = True
        if had_rows != (len(source) > 0):
            self.screen.refresh_bindings()
        if title is not None:
            self.border_title = Content(title)
        self.set_reactive(VirtualList.cursor, max(0, min(cursor, len(source) - 1)))
        self._update_virtual_size()
        self._scroll_to_cursor()
        self.refresh()
        early, self._early_actions = self._early_actions, []
        for screens, act in early:
            if screens == self.screen.stack_updates:
                act()

    def show_sentence_instead_of_rows(self, sentence: Sequence[Piece]) -> None:
        """Say why there are no rows; those that were read before go."""
        self._source, self._ready, self._why_unread = NoRows(), False, sentence
        self._update_virtual_size()
        self.refresh()

    def explain_unread_rows(self, why: Sequence[Piece]) -> None:
        """Say why there are no rows yet; rows that were read before stay."""
        self._why_unread = why
        self.refresh()

    def is_key_shown(self, action: str) -> bool:
        """Whether the lines of keys name the key of an action: where there is anything to open."""
        if action != "choose" or len(self._source):
            return True
        return self._empty_choice is not None and self._empty_choice.is_offered()

    def show_marks(self, marks: Collection[int]) -> None:
        """Draw these rows as marked, and say how many there are, those not listed too.

        Args:
            marks: Ids of rows. Changes in it are drawn at the next call.
        """
        self._marks = marks
        self._update_subtitle()
        self.refresh()

    def show_legend(self, legend: Content) -> None:
        """Explain the marks of the rows in the lower frame."""
        self._legend = legend
        self._update_subtitle()

    def _update_subtitle(self) -> None:
        words = Content(f"{len(self._marks)} marked") if self._marks else self._legend
        # Whole words, or none: half a legend says nothing.
        fits = words.cell_length + 4 <= self.size.width
        self.border_subtitle = Content.assemble(words) if fits else Content("")

    @property
    def row_at_cursor(self) -> RowT | None:
        """The row under the cursor; None in an empty list."""
        return self._source.fetch_row(self.cursor) if len(self._source) else None

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give the headings, a row, or what an empty list says."""
        width = self.scrollable_content_region.width
        base = self.looks.base_style
        if not self._ready:
            why = [BLANK, *wrap(self._why_unread, width - 1, first=[Piece(" ")])]
            return why[y] if y < len(why) else BLANK, base
        if not len(self._source):
            lines = self._empty(width)
            return lines[y] if y < len(lines) else BLANK, base
        # Rows move aside for marks only while there are any.
        aside = len(MARK) if self._marks else 0
        if y == 0:
            head = self._head(width - aside)
            return replace(head, pieces=(_margin_piece(aside), *head.pieces)), base
        index = self.scroll_offset.y + y - 1
        if index >= len(self._source):
            return BLANK, base
        row = self._source.fetch_row(index)
        here = index == self.cursor
        if here:
            base = self.looks.get_component_style(
                "drawn--cursor" if self.has_focus else "drawn--cursor-quiet"
            )
        if row is None:
            return Line((Piece(" gone, or not to be read", "quiet"),)), base
        line = self._format_row(row, width - aside, here)
        if aside:
            marked = self._identity is not None and self._identity(row) in self._marks
            margin = Piece(MARK, "human strong") if marked else _margin_piece(aside)
            line = replace(line, pieces=(margin, *line.pieces))
        return line, base

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw the rows concerned, make the chosen one seen, and report it."""
        for row in (old, new):
            self.refresh_line(row + 1)  # below the headings
        self._scroll_to_cursor()
        self._cursor_moved_callback()

    def action_step(self, by: int) -> None:
        """Choose a row some way off."""
        if not self._ready:
            self._run_after_first_rows(partial(self.action_step, by))
        if len(self._source):
            self.cursor = min(len(self._source) - 1, max(0, self.cursor + by))

    def action_page(self, direction: int) -> None:
        """Choose a row a page off."""
        if not self._ready:
            self._run_after_first_rows(partial(self.action_page, direction))
            return
        self.action_step(direction * max(1, self._row_space - 1))

    def action_go_to_first_or_last(self, last: int) -> None:
        """Choose the first or the last row."""
        if not self._ready:
            self._run_after_first_rows(partial(self.action_go_to_first_or_last, last))
            return
        self.action_step(len(self._source) if last else -len(self._source))

    def action_choose(self) -> None:
        """Report that the chosen row is to be opened."""
        if not self._ready:
            self._run_after_first_rows(self.action_choose)
        elif not len(self._source) and self._empty_choice is not None:
            self._empty_choice.choose()
        if len(self._source):
            self.post_message(self.Chosen(self, self.cursor))  # type: ignore[arg-type]  # a list of any rows

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse; a second click opens it."""
        index = self.scroll_offset.y + event.get_content_offset_capture(self).y - 1
        if 0 <= index < len(self._source):
            if index == self.cursor and event.chain > 1:
                self.action_choose()
            self.cursor = index

    def on_resize(self, event: events.Resize) -> None:
        """Fit rows and legend to the new size."""
        self._update_subtitle()
        self._update_virtual_size()
        self._scroll_to_cursor()

    def on_focus(self) -> None:
        """Draw the mark of the chosen row strongly."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the mark of the chosen row quietly."""
        self.refresh()

    @property
    def _row_space(self) -> int:
        """Lines for rows, without the headings."""
        return self.scrollable_content_region.height - 1

    def _run_after_first_rows(self, act: Callable[[], None]) -> None:
        """Do something once the first rows are there."""
        self._early_actions.append((self.screen.stack_updates, act))

    def _update_virtual_size(self) -> None:
        # One more than the rows: the headings stay in the window while it scrolls.
        size = Size(self.scrollable_content_region.width, len(self._source) + 1)
        if size != self.virtual_size:
            self.set_reactive(VirtualList.virtual_size, size)
            self.scroll_to(y=self.scroll_offset.y, animate=False)

    def _scroll_to_cursor(self) -> None:
        top = self.scroll_offset.y
        if self._row_space > 0 and self.cursor >= top + self._row_space:
            top = self.cursor - self._row_space + 1
        top = min(top, self.cursor)
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)


def _margin_piece(width: int) -> Piece:
    return Piece(" " * width)
