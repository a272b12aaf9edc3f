"""The conversations of a run, as a queue for review."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ItemId
from faithtui.store.records import ItemRow, ReviewView, RunRow
from faithtui.tui import format as fmt
from faithtui.tui import plans
from faithtui.tui.described import spec_of
from faithtui.tui.drawing.lists import (
    item_details,
    item_head,
    item_line,
    no_conversations,
    run_status,
)
from faithtui.tui.lines import BLANK, Line, Piece, shown_line
from faithtui.tui.messages import Go
from faithtui.tui.pager import Pager
from faithtui.tui.queue import open_item
from faithtui.tui.screens.images import OPEN_IMAGE, ImageScreen
from faithtui.tui.widgets.pane import Pane
from faithtui.tui.widgets.panes import Panes
from faithtui.tui.widgets.virtual_list import NoRows, VirtualList

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

Order = Literal["number", "unlabelled", "score", "corrected", "overridden", "missing"]
ORDERS: tuple[Order, ...] = get_args(Order)
ORDER_WORDS = {
    "number": "as imported",
    "unlabelled": "most unlabelled first",
    "score": "lowest judge's score first",
    "corrected": "lowest corrected score first",
    "overridden": "most overridden first",
    "missing": "most missing verdicts first",
}


class ConversationsScreen(ImageScreen):
    """Conversations, and the one under the cursor."""

    TITLE_WORDS: ClassVar[str] = "CONVERSATIONS"
    HELP_WORDS: ClassVar[str] = (
        "Each row is one conversation of the run: how often the judge gave each of the metric's "
        "labels, its windowed score (* means people changed it), and how much of what was judged "
        "has a person's verdict. Enter reviews it. "
        "Verdicts advance through the conversations in the order of this list."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "v",
            "open",
            "review",
            show=False,
            tooltip="Review the chosen conversation",
            id="conversations.review",
        ),
        Binding("s", "order", "order", tooltip="Sort by another column", id="conversations.order"),
        Binding(
            "N",
            "next_open",
            "next unlabelled",
            tooltip="Go to the next conversation with something without a verdict",
            id="conversations.next-unlabelled",
        ),
        OPEN_IMAGE,
    ]

    items = getters.query_one("#list", VirtualList)

    @dataclass
    class Loaded(Message):
        """The order of the list was read."""

        run: RunRow | None
        spec: "MetricSpec | None"
        """The run's metric; None without a run."""
        ids: Sequence[ItemId]

    @dataclass
    class Previewed(Message):
        """A conversation was read for the pane beside the list."""

        view: ReviewView

    def make_panes(self) -> Panes:
        """Make the list and the conversation beside it."""
        return Panes(
            VirtualList[ItemRow](
                id="list",
                title="Conversations",
                draw=self._line,
                head=self._head,
                empty=lambda width: no_conversations(width, self.session.run is not None),
            ),
            Pane(id="detail", title="Conversation"),
            planner=plans.beside,
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self.run_row: RunRow | None = None
        self.spec: MetricSpec | None = None
        self.order: Order = "number"
        self.view: ReviewView | None = None
        self.pager: Pager[ItemId, ItemRow] | None = None
        self.items.focus()
        super().on_mount()

    def reload(self) -> None:
        """Read the ids again; rows follow as they are drawn."""
        self.load()

    @work(exclusive=True, group="items", exit_on_error=False)
    async def load(self) -> None:
        """Read the order of the list."""
        runs = self.session.store.runs
        run = self.session.run or await self.read(runs.last_id)
        if run is None:
            self.post_message(self.Loaded(None, None, ()))
            return
        row = await self.read(runs.row, run)
        spec = await self.read(spec_of, row.spec)
        ids = await self.read(runs.item_ids, run, self.order)
        self.post_message(self.Loaded(row, spec, ids))

    @on(Loaded)
    def show_ids(self, event: Loaded) -> None:
        """Draw the list, with the cursor on the same conversation."""
        self.run_row, self.spec = event.run, event.spec
        if event.run is None:
            self.items.show(NoRows(), 0, title="Conversations")
            self.entitle()
            self._show_details()
            return
        if self.session.run is None:
            self.session.choose_run(event.run.id)
        row = event.run
        self.pager = Pager(event.ids, self.session.store.runs.item_rows, lambda item: item.id)
        self.session.queue = event.ids
        at = self.pager.index(self.session.item) if self.session.item is not None else None
        self.items.show(self.pager, at or 0, title=f"Conversations {fmt.thousands(len(event.ids))}")
        words, look = run_status(row)
        self.entitle(
            [
                Piece(f"  #{row.id} ", "quiet"),
                shown_line(row.spec.metric, "quiet"),
                Piece(" · ", "quiet"),
                shown_line(row.spec.judge, "quiet", limit=60),
                Piece(f" · {words}", look or "quiet"),
            ],
            [Piece(f"{row.labelled}/{row.claims} labelled", "quiet")],
        )
        self.say(Piece(f"order: {ORDER_WORDS[self.order]}", "quiet"))
        self._follow_row()

    @on(VirtualList.Moved)
    def follow(self) -> None:
        """Show the chosen conversation."""
        self._follow_row()

    @on(VirtualList.Chosen)
    def open_chosen(self) -> None:
        """Review the chosen conversation."""
        self.action_open()

    @on(Previewed)
    def show_preview(self, event: Previewed) -> None:
        """Draw the conversation if it is still the chosen one."""
        self.view = event.view
        self._show_details()
        self.refresh_bindings()

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def preview(self, item: ItemId) -> None:
        """Read the chosen conversation; a cursor that runs on cancels this."""
        view = await self.read(self.session.store.runs.review_view, item, self.session.reviewer)
        self.post_message(self.Previewed(view))

    def action_open(self) -> None:
        """Review the chosen conversation."""
        row = self._row()
        if row is not None:
            self.session.item, self.session.claim = row.id, None
            self.post_message(Go("review"))

    def action_order(self) -> None:
        """Sort by the next column."""
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        self.load()

    @work(exclusive=True, group="next", exit_on_error=False)
    async def action_next_open(self) -> None:
        """Choose the next conversation with something without a verdict."""
        pager = self.pager
        if pager is None:
            return
        here = pager.ids[self.items.cursor]
        item = await self.read(open_item, self.session.store, pager.ids, here, 1)
        at = None if item is None else pager.index(item)
        if at is None:
            self.say(Piece("nothing without a verdict below", "warn"))
        else:
            self.items.cursor = at

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a conversation while there is none."""
        if action in ("open", "order", "next_open"):
            return self.is_mounted and self.pager is not None and len(self.pager) > 0
        return super().check_action(action, parameters)

    @property
    def shown_view(self) -> ReviewView | None:
        """The conversation beside the list."""
        row = self._row()
        if row is None or self.view is None or self.view.item.id != row.id:
            return None
        return self.view

    def _line(self, row: ItemRow, width: int, here: bool) -> Line:
        return BLANK if self.spec is None else item_line(row, self.spec, width, here)

    def _head(self, width: int) -> Line:
        return BLANK if self.spec is None else item_head(self.spec, width)

    def _row(self) -> ItemRow | None:
        if self.pager is None or not len(self.pager):
            return None
        return self.pager.row(min(self.items.cursor, len(self.pager) - 1))

    def _follow_row(self) -> None:
        row = self._row()
        if row is not None:
            self.session.item = row.id
            self.preview(row.id)
        self._show_details()
        self.refresh_bindings()

    def _show_details(self) -> None:
        row = self._row()
        view, spec = self.view, self.spec
        title = Piece("Conversation") if row is None else shown_line(row.key, limit=120)
        self.query_one("#detail", Pane).show(
            lambda width: item_details(row, view, spec, width), title=title.text, keep=False
        )
