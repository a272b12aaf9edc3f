"""A framed pane that draws prepared lines and scrolls through them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from faithtui.tui.theme.lazy_lines import list_rows
from faithtui.tui.theme.lines import BLANK, Line
from faithtui.tui.widgets.line_widget import LineWidget
from faithtui.tui.widgets.seen_rows import SeenRows

_OFFSETS_KEPT = 2048
"""Styles with places in them; lines of a pane begin in few columns, and in few styles."""
_BETWEEN_HINTS = " · "

Builder = Callable[[int], Sequence[Line]]
"""Makes all lines of a pane for a width in cells."""

MOVE = Binding.Group("move", compact=True)


class Pane(LineWidget, ScrollView, can_focus=True):
    """Lines in a frame. Knows nothing of what they say.

    With `reports_seen_rows` it posts `RowsSeen` for entries that came into view.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "j,down", "down", "Down", show=False, tooltip="One line or entry down", id="move.down"
        ),
        Binding("k,up", "up", "Up", show=False, tooltip="One line or entry up", id="move.up"),
        Binding(
            "pagedown,space",
            "page_down",
            "Page down",
            show=False,
            tooltip="One page down",
            id="move.page-down",
        ),
        Binding(
            "pageup", "page_up", "Page up", show=False, tooltip="One page up", id="move.page-up"
        ),
        Binding("home", "home", "First", show=False, tooltip="To the beginning", id="move.home"),
        Binding("end", "end", "Last", show=False, tooltip="To the end", id="move.end"),
    ]

    def __init__(
        self, *, id: str, title: str = "", hint: str = "", reports_seen_rows: bool = False
    ) -> None:
        super().__init__(id=id)
        self._seen_rows = SeenRows(self) if reports_seen_rows else None
        self._build: Builder = lambda _width: ()
        self._lines: Sequence[Line] = ()
        self._built_for = Size(0, 0)
        self._stale = True
        self._made_of: tuple[object, ...] = ()
        self._hint = hint
        self._frame = ("", "")
        self._pinned = 0
        self._top = 0
        self._paint_first: Callable[[int], Line] | None = None
        self._begins_anew = True
        self._set_frame_titles(title, "")

    def show(
        self,
        build: Builder,
        *,
        title: str | None = None,
        keep: bool = True,
        made_of: tuple[object, ...] = (),
    ) -> None:
        """Draw something else.

        Args:
            build: Makes the lines; called again when the width changes.
            title: Text for the frame, already made visible; None keeps it.
            keep: Stay scrolled where it is, as far as there are lines.
            made_of: All that the lines depend on besides the width. Where each is the very object
                that it was the time before, no lines are made. (): that is not known.
        """
        if self._seen_rows is not None:
            self._seen_rows.forget_rows()
            # What looks as before is not painted again, but may be something else.
            self.refresh()
        before, self._made_of = self._made_of, made_of
        same = (
            bool(made_of)
            and len(before) == len(made_of)
            and all(one is other for one, other in zip(before, made_of, strict=True))
        )
        self._build = build
        self._stale = self._stale or not same
        if title is not None:
            self._set_frame_titles(title, self._frame[1])
        self._begins_anew = self._begins_anew or not keep
        # What is not on screen is made when it comes back.
        if self.display and self._stale:
            self._rebuild_lines()
        elif not keep:
            self._scroll_to_beginning()

    def set_pinned_and_scroll_lines(
        self, pinned: int, top: int, paint_first: Callable[[int], Line] | None = None
    ) -> None:
        """Say, while lines are made, which of them are seen.

        Args:
            pinned: So many of the first lines stay at the top wherever the pane is scrolled to.
            top: How far it is scrolled when something else is shown.
            paint_first: Draws the line of an index where it is the first below those that stay;
                None: as everywhere else.
        """
        self._pinned, self._top, self._paint_first = pinned, top, paint_first

    def clear_lines(self) -> None:
        """Drop what is drawn, and what is kept while the pane is hidden."""
        self._build, self._lines, self._stale = lambda _width: (), (), True
        self._hint = ""
        self._set_frame_titles("", "")
        self.refresh()

    @property
    def lines(self) -> Sequence[Line]:
        """What is drawn now."""
        return self._lines

    @property
    def hint(self) -> str:
        """Words in the lower frame."""
        return self._hint

    @hint.setter
    def hint(self, words: str) -> None:
        self._hint = words
        self._update_subtitle()

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give one line of the window onto the lines."""
        index = self.get_line_index_at(y)
        if self._seen_rows is not None and index < len(self._lines):
            self._seen_rows.note_painted_row(self._lines[index].row)
        if index >= len(self._lines):
            line = BLANK
        elif y == self._pinned and self._paint_first is not None:
            line = self._paint_first(index)
        else:
            line = self._lines[index]
        return line, self.looks.base_style

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw what is seen of the pane.

        Textual paints a new layout before it tells the panes of their new sizes: lines are made
        for the size they are painted in, or one frame would show them cut.
        """
        self._rebuild_if_resized()
        return super().render_lines(crop)

    def make_segments(self, y: int, width: int) -> list[Segment]:
        """Draw a line whose pieces know where they stand, so that the mouse can select text."""
        index, x = self.get_line_index_at(y), 0
        segments = []
        for text, style, _ in self.looks.make_segments(*self.get_line_and_style_at(y), width):
            segments.append(Segment(text, _add_offset_to_style(style, x, index)))
            x += len(text)
        return segments

    def get_line_index_at(self, y: int) -> int:
        """Give the index of the line that is `y` below the top of what is seen."""
        return y if y < self._pinned else self.scroll_offset.y + y

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Give the text that the mouse selected."""
        return selection.extract("\n".join(each.text for each in self._lines)), "\n"

    def scroll_to_lines(self, first: int, last: int) -> None:
        """Scroll so that these lines are seen, the first one rather than the last."""
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if last >= top + height:
            top = last - height + 1
        if first < top + self._pinned:
            top = max(0, first - self._pinned)
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    def action_down(self) -> None:
        """Scroll one line down."""
        self.scroll_to(y=self.scroll_offset.y + 1, animate=False)

    def action_up(self) -> None:
        """Scroll one line up."""
        self.scroll_to(y=self.scroll_offset.y - 1, animate=False)

    def action_page_down(self) -> None:
        """Scroll one page down."""
        self.scroll_to(y=self.scroll_offset.y + self._page_height, animate=False)

    def action_page_up(self) -> None:
        """Scroll one page up."""
        self.scroll_to(y=self.scroll_offset.y - self._page_height, animate=False)

    def action_home(self) -> None:
        """Scroll to the first line."""
        self.scroll_to(y=0, animate=False)

    def action_end(self) -> None:
        """Scroll to the last line."""
        self.scroll_to(y=len(self._lines), animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the words in the frame true."""
        super().watch_scroll_y(old_value, new_value)
        self._update_subtitle()

    def on_resize(self, event: events.Resize) -> None:
        """Make the lines again for the new size: what is drawn may depend on both."""
        self._rebuild_if_resized()
        self._update_subtitle()

    def keep_scroll_on_resize(self) -> None:
        """Keep in view, in another size, what was."""

    def on_show(self) -> None:
        """Make lines that were not made while the pane was hidden."""
        if self._stale:
            self._rebuild_lines()

    @property
    def _page_height(self) -> int:
        return max(1, self.scrollable_content_region.height - self._pinned - 1)

    def _rebuild_if_resized(self) -> None:
        """Make the lines again where they were made for another size."""
        if self._stale or self.scrollable_content_region.size != self._built_for:
            self._rebuild_lines()
            self.keep_scroll_on_resize()

    def _rebuild_lines(self) -> None:
        width = self.scrollable_content_region.width
        was, self._built_for = self._built_for, self.scrollable_content_region.size
        self._stale = width <= 0
        top_before = self._top
        self._pinned, self._top, self._paint_first = 0, 0, None
        before, self._lines = self._lines, self._build(width) if width > 0 else ()
        size = Size(width, len(self._lines))
        if self.styles.is_auto_height:
            self.virtual_size = size
        elif size != self.virtual_size:
            # Without the layout of the whole screen that assigning it would cause at every key.
            self.set_reactive(Pane.virtual_size, size)
            self.scroll_to(y=self.scroll_offset.y, animate=False)
        # In another size the lines to begin with are others.
        has_top = self._top > 0 or top_before > 0
        self._begins_anew = self._begins_anew or (has_top and was != self._built_for)
        if self._begins_anew and width > 0:
            self._begins_anew = False
            self._scroll_to_beginning()
        self._update_subtitle()
        self._refresh_changed(before)

    def _scroll_to_beginning(self) -> None:
        """Scroll to what something else begins with."""
        if self._top != self.scroll_offset.y:
            self.scroll_to(y=self._top, animate=False, immediate=True)

    def _refresh_changed(self, before: Sequence[Line]) -> None:
        """Draw again what is not as it was: a key in review touches a few lines of most panes."""
        top = self.scroll_offset.y
        seen = range(top, top + self.scrollable_content_region.height)
        if before[: self._pinned] != self._lines[: self._pinned]:
            self.refresh()
            return
        changed = [
            index
            for index in seen
            if (before[index] if index < len(before) else BLANK)
            != (self._lines[index] if index < len(self._lines) else BLANK)
        ]
        if changed:
            self.refresh_lines(changed[0], changed[-1] - changed[0] + 1)

    def _set_frame_titles(self, title: str, subtitle: str) -> None:
        """Change words in the frame; Textual draws the whole pane again when they are set."""
        before, self._frame = self._frame, (title, subtitle)
        if title != before[0]:
            self.border_title = Content(title)
        if subtitle != before[1]:
            self.border_subtitle = Content(subtitle)

    def _update_subtitle(self) -> None:
        """Say in the lower frame which part is seen, as there is no scroll bar to say it."""
        height = self.scrollable_content_region.height
        total = len(self._lines)
        where = ""
        if 0 < height < total:
            where = self.describe_seen_part(height)
        parts = [where] if where else []
        parts += self._hint.split(_BETWEEN_HINTS) if self._hint else []
        # Whole hints, the first of them: half a legend says nothing.
        while len(parts) > bool(where) and len(_BETWEEN_HINTS.join(parts)) + 4 > self.size.width:
            parts.pop()
        self._set_frame_titles(self._frame[0], _BETWEEN_HINTS.join(parts))

    def describe_seen_part(self, height: int) -> str:
        """Say which lines are seen, where not all are."""
        first, total = self.scroll_offset.y + 1, len(self._lines)
        return f"{first}-{min(total, first + height - 1)} of {total}"


@lru_cache(_OFFSETS_KEPT)
def _add_offset_to_style(style: Style | None, x: int, y: int) -> Style:
    """Do for a style what `Strip.apply_offsets` does."""
    offset = Style.from_meta({"offset": (x, y)})
    return style + offset if style else offset


class RowPane(Pane):
    """A pane whose lines belong to entries, one of which is chosen.

    Args:
        id: As of every widget.
        title: Text for the frame.
        hint: Words in the lower frame.
        opens_on_first_click: One click opens an entry; else the first one chooses it.
        reports_seen_rows: Post `RowsSeen` for entries that came into view.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", tooltip="Open the chosen entry", id="list.open"),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Moved(Message):
        """Another entry is chosen."""

        pane: "RowPane"
        row: int

        @property
        def control(self) -> "RowPane":
            """The pane."""
            return self.pane

    @dataclass
    class Chosen(Message):
        """The chosen entry is to be opened."""

        pane: "RowPane"
        row: int

        @property
        def control(self) -> "RowPane":
            """The pane."""
            return self.pane

    def __init__(
        self,
        *,
        id: str,
        title: str = "",
        hint: str = "",
        opens_on_first_click: bool = False,
        reports_seen_rows: bool = False,
    ) -> None:
        super().__init__(id=id, title=title, hint=hint, reports_seen_rows=reports_seen_rows)
        self._opens_on_first_click = opens_on_first_click
        self._clicked_row: int | None = None
        """Of the first click of several; None: none, or it was opened."""
        self._clicked_at_s = float("-inf")
        self.opens_entries = True
        """Whether there is anything to open now: else no line of keys names the key that does."""

    def is_key_shown(self, action: str) -> bool:
        """Whether the lines of keys name the key of an action that can be done now."""
        return action != "choose" or self.opens_entries

    @property
    def row_count(self) -> int:
        """How many entries there are."""
        return 1 + max((row for row in list_rows(self._lines) if row is not None), default=-1)

    def move_to(self, row: int) -> None:
        """Choose an entry without a message, and make it seen."""
        before = self.cursor
        self.set_reactive(RowPane.cursor, row)
        self._repaint_moved_cursor(before)

    def describe_seen_part(self, height: int) -> str:
        """Say which entries are seen: lines of heads and sums are none, and the title counts none.

        Where no entry is, the lines are counted.
        """
        lines = [self.get_line_index_at(y) for y in range(height)]
        rows = [self._lines[at].row for at in lines if at < len(self._lines)]
        seen = [row for row in rows if row is not None]
        if not seen:
            return super().describe_seen_part(height)
        count = self.row_count
        more = " · more below" if seen[-1] + 1 == count and lines[-1] + 1 < len(self._lines) else ""
        until = f"-{seen[-1] + 1}" if seen[-1] != seen[0] else ""
        return f"{seen[0] + 1}{until} of {count}{more}"

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give one line, marked when it belongs to the chosen entry."""
        line, base = super().get_line_and_style_at(y)
        if line.row is None or line.row != self.cursor:
            return line, base
        return line, self.looks.get_component_style(
            "drawn--cursor" if self.has_focus else "drawn--cursor-quiet"
        )

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw the entries concerned, make the chosen one seen, and report it."""
        self._repaint_moved_cursor(old)
        self.report_move(new)

    def keep_scroll_on_resize(self) -> None:
        """Keep the chosen entry in view."""
        self._reveal_cursor()

    def report_move(self, row: int) -> None:
        """Report that another entry was chosen."""
        self.post_message(self.Moved(self, row))

    def action_down(self) -> None:
        """Choose the next entry."""
        self._move_cursor(1)

    def action_up(self) -> None:
        """Choose the entry before."""
        self._move_cursor(-1)

    def action_page_down(self) -> None:
        """Choose an entry a page further."""
        self._move_cursor(self._page_height)

    def action_page_up(self) -> None:
        """Choose an entry a page back."""
        self._move_cursor(-self._page_height)

    def action_home(self) -> None:
        """Choose the first entry."""
        self._move_cursor(-self.row_count)

    def action_end(self) -> None:
        """Choose the last entry."""
        self._move_cursor(self.row_count)

    def action_choose(self) -> None:
        """Report that the chosen entry is to be opened."""
        if self.row_count:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Choose the entry under the mouse, and open it at the click that opens."""
        is_first = event.time - self._clicked_at_s > self.app.CLICK_CHAIN_TIME_THRESHOLD
        self._clicked_at_s = event.time
        # Clicks are counted by place and time: the first one may have been on another pane.
        if event.chain == 1 or is_first:
            index = self.get_line_index_at(event.get_content_offset_capture(self).y)
            self._clicked_row = self._lines[index].row if 0 <= index < len(self._lines) else None
            if self._clicked_row is not None:
                self.cursor = self._clicked_row
        # The first click may have scrolled another entry under the mouse; the second means this.
        opens = event.chain == 1 if self._opens_on_first_click else event.chain > 1 and not is_first
        if opens and self._clicked_row is not None and self._clicked_row == self.cursor:
            self._clicked_row = None
            self.action_choose()

    def on_focus(self) -> None:
        """Draw the mark of the chosen entry strongly."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the mark of the chosen entry quietly."""
        self.refresh()

    def _move_cursor(self, by: int) -> None:
        if self.row_count:
            self.cursor = min(self.row_count - 1, max(0, self.cursor + by))

    def _repaint_moved_cursor(self, before: int) -> None:
        """Draw the entries between which the cursor moved, and make the chosen one seen."""
        if before != self.cursor:
            for index, row in enumerate(list_rows(self._lines)):
                if row is not None and row in (before, self.cursor):
                    self.refresh_line(index)
        self._reveal_cursor()

    def _reveal_cursor(self) -> None:
        own = [index for index, row in enumerate(list_rows(self._lines)) if row == self.cursor]
        if own:
            # No other key leads to heads above the first entry, nor to sums below the last one.
            last = len(self._lines) - 1 if self.cursor == self.row_count - 1 else own[-1]
            self.scroll_to_lines(0 if self.cursor == 0 else own[0], last)
