"""The conversation beside the list: read when the cursor rests on it."""

from typing import TYPE_CHECKING

from faithtui.domain.ids import ItemId
from faithtui.store.annotations.blind_view import blind_view
from faithtui.store.records import ReviewView, RunTotals
from faithtui.tui.conversations.conversation_lines import item_details
from faithtui.tui.review.lines.images import NumberedImage, images_of
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from faithtui.tui.conversations.conversations_screen import ConversationsScreen


class ConversationPreview(Controller["ConversationsScreen"]):
    """Reads and draws the conversation under the cursor."""

    def __init__(self, screen: "ConversationsScreen") -> None:
        super().__init__(screen)
        self.view: ReviewView | None = None
        """The conversation that was read last."""
        self.calls = RunTotals()
        """What the calls for it came to."""

    def clear(self) -> None:
        """Forget the conversation that was read."""
        self.view = None

    def _show_view(self, view: ReviewView, calls: RunTotals) -> None:
        self.view, self.calls = view, calls
        self.show()
        self.screen.refresh_bindings()

    @run_in_worker("preview")
    async def load(self, item: ItemId) -> None:
        """Read the chosen conversation; a cursor that runs on cancels this."""
        view = await self.read(self.session.store.runs.review_view, item, self.session.reviewer)
        cost = await self.read(self.session.store.calls.sum_item_costs, item)
        if self.session.is_blind:
            queue = self.session.claim_queue
            view = blind_view(view, sample=None if queue is None else queue.sample)
        self.screen.call_later(self._show_view, view, cost.total)

    def show(self) -> None:
        """Draw the chosen conversation, with its texts if they were read."""
        row = self.screen.selection
        view, spec = self.view, self.screen.spec
        known = view is not None and row is not None and view.item.id == row.id
        calls = self.calls if known else None
        title = Piece("Conversation") if row is None else escape_line(row.key, limit=120)
        self.screen.query_one("#detail", Pane).show(
            lambda width: item_details(
                row,
                view,
                spec,
                width,
                blind=self.session.is_blind,
                wanted=self.screen.shown_filter,
                calls=calls,
            ),
            title=title.text,
            keep=False,
        )

    def list_images(self) -> tuple[NumberedImage, ...]:
        """Give the images of the conversation beside the list."""
        row = self.screen.selection
        if row is None or self.view is None or self.view.item.id != row.id:
            return ()
        return images_of(self.view)
