"""`W`: what a judge really answered, from every screen that has a conversation of a run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ItemId
from faithtui.store.annotations.blind_view import blind_view
from faithtui.store.records import CallRow, ItemCost, ItemState
from faithtui.tui.navigation import holds_keys
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.tui.session import Session


@dataclass(frozen=True, slots=True)
class ConversationReplies:
    """The calls that were made for a conversation of a run."""

    item: ItemId
    key: str
    """Name of the conversation."""
    calls: tuple[CallRow, ...]
    """In their order."""
    cost: ItemCost


class ShowRepliesScreen(FaithScreen):
    """A screen with a conversation whose raw replies can be read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "W",
            "replies",
            "raw replies",
            show=False,
            tooltip="Read what the judge answered, word for word, call by call",
            id="replies.open",
        ),
    ]

    @dataclass
    class RepliesRead(Message):
        """The calls of a conversation were read."""

        replies: ConversationReplies | None
        """None: they would tell what is hidden."""
        hidden: int
        """Claims whose judge is hidden."""
        terms: tuple[object, ...]
        """`Session.hiding` when they were read."""

    @property
    def reply_item(self) -> ItemId | None:
        """The conversation whose replies are meant; None: there is none."""
        raise NotImplementedError

    def action_replies(self) -> None:
        """Read the calls."""
        item = self.reply_item
        if item is None:
            self.refuse("no conversation is chosen whose replies could be read")
        else:
            self.read_replies(item)

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="replies", exit_on_error=False)
    async def read_replies(self, item: ItemId) -> None:
        """Read the calls of a conversation, if they may be seen."""
        terms = self.session.hiding_terms
        hidden = (
            await self.read(count_hidden_verdicts, self.session, item)
            if self.session.is_blind
            else 0
        )
        replies = None if hidden else await self.read(replies_of, self.session, item)
        self.post_message(self.RepliesRead(replies, hidden, terms))

    @on(RepliesRead)
    def show_replies(self, event: RepliesRead) -> None:
        """Show the calls, and record that the judge's words were seen."""
        if event.terms != self.session.hiding_terms or not self.is_current:
            return
        if event.replies is None:
            words = (
                f"the replies would show the judge's verdict on what is hidden "
                f"({fmt.count_in_words(event.hidden, 'verdict')} still to give): answer, or "
                "{review.reveal} reveals a claim, and that is recorded"
            )
            self.refuse(self.keys.fill_in_keys(words))
            return
        from faithtui.tui.replies.replies_screen import RepliesScreen

        self.session.record_exposure([event.replies.item])
        self.navigation.open_window(RepliesScreen(self.session, event.replies))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action == "replies":
            return self.is_mounted and self.session.is_open and self.reply_item is not None
        return super().check_action(action, parameters)


def count_hidden_verdicts(session: "Session", item: ItemId) -> int:
    """Count the verdicts that a blind reviewer still has to give in a conversation.

    Where one is not judged to its end, replies are there before their claims: at least one is
    still to come then.
    """
    view = session.store.runs.review_view(item, session.reviewer)
    queue = session.claim_queue
    open_to = session.revealed | (queue.shown if queue is not None else set())
    sample = queue.sample if queue is not None else None
    hidden = len(blind_view(view, open_to=open_to, sample=sample).hidden)
    return max(hidden, int(view.item.state is not ItemState.DONE))


def replies_of(session: "Session", item: ItemId) -> ConversationReplies:
    """Read the calls of a conversation of a run."""
    store = session.store
    rows = store.runs.item_rows([item])
    key = rows[0].key if rows else f"conversation {item}"
    return ConversationReplies(
        item, key, store.calls.list_item_calls(item), store.calls.sum_item_costs(item)
    )
