"""The conversation beside the list: read when the cursor rests on it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.ids import ItemId
from faithtui.store.records import ItemRow, RunTotals, TurnView
from faithtui.tui.conversations.conversation_lines import format_conversation_detail_lines
from faithtui.tui.review.lines.image_lines import NumberedImage, number_images
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.scroll_pane import Pane

if TYPE_CHECKING:
    from faithtui.tui.conversations.conversations_screen import ConversationsScreen


class ConversationPreview(Controller["ConversationsScreen"]):
    """Reads and draws the conversation under the cursor.

    It is drawn once, when its texts are there: what was drawn for the time until then would be
    replaced a few milliseconds later. The judge's verdicts on it are not read at all.
    """

    def __init__(self, screen: "ConversationsScreen") -> None:
        super().__init__(screen)
        self.item: ItemId | None = None
        """The conversation that was read last."""
        self.turns: Sequence[TurnView] = ()
        """What was said in it."""
        self.calls = RunTotals()
        """What the calls for it came to."""

    def follow_cursor(self) -> None:
        """Choose the conversation under the cursor, and show it."""
        row = self.screen.conversation_at_cursor
        if row is None:
            self.paint_chosen_conversation()
            return
        if self.session.item != row.id:
            self.session.choose_conversation(row.id)
        self.load_and_show_conversation(row)

    def repaint_rows_later(self, in_s: float) -> None:
        """Draw rows again that could not be read while the store was locked."""
        self.screen.set_timer(in_s, self._repaint_rows_and_follow_cursor)

    def _repaint_rows_and_follow_cursor(self) -> None:
        self.screen.items.refresh()
        if self.screen.is_current:  # else all is read again when one comes back
            self.follow_cursor()

    @run_in_worker("preview")
    async def load_and_show_conversation(self, row: ItemRow) -> None:
        """Read the chosen conversation; a cursor that runs on cancels this."""
        turns, calls = await self.read_in_thread(self._read_conversation, row)
        self.screen.call_later(self._show_conversation, row.id, turns, calls)

    def _read_conversation(self, row: ItemRow) -> tuple[Sequence[TurnView], RunTotals]:
        store = self.session.store
        return store.runs.read_turns(row.conversation), store.calls.sum_item_costs(row.id).total

    def _show_conversation(self, item: ItemId, turns: Sequence[TurnView], calls: RunTotals) -> None:
        self.item, self.turns, self.calls = item, turns, calls
        self.paint_chosen_conversation()
        self.screen.refresh_bindings()

    def paint_chosen_conversation(self) -> None:
        """Draw the chosen conversation, with its texts if they were read."""
        row, spec, wanted = (
            self.screen.conversation_at_cursor,
            self.screen.spec,
            self.screen.shown_filter,
        )
        known = row is not None and row.id == self.item
        turns, calls = (self.turns, self.calls) if known else (None, None)
        blind = self.session.is_blind
        title = Piece("Conversation") if row is None else escape_line(row.key, limit=120)
        self.screen.query_one("#detail", Pane).show(
            lambda width: format_conversation_detail_lines(
                row, turns, spec, width, blind=blind, wanted=wanted, calls=calls
            ),
            title=title.text,
            keep=False,
        )

    def forget_conversation(self) -> None:
        """Forget what was read."""
        self.item, self.turns, self.calls = None, (), RunTotals()

    def list_images(self) -> tuple[NumberedImage, ...]:
        """Give the images of the conversation beside the list."""
        row = self.screen.conversation_at_cursor
        return () if row is None or row.id != self.item else number_images(self.turns)
