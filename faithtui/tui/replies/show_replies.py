"""`W`: what a judge really answered, from every screen that has a conversation of a run."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.records import CallRow, ItemCost, ItemState
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.replies.claim_entry import ClaimInWindow
from faithtui.tui.screen.blind_mode import describe_keys_ending_blind_work
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.engine.review.stored_questions import StoredQuestions
    from faithtui.tui.session import Session


@dataclass(frozen=True, slots=True)
class ConversationReplies:
    """The calls whose replies judged a conversation of a run."""

    item: ItemId
    key: str
    """Name of the conversation."""
    calls: tuple[CallRow, ...]
    """In their order; after them those made for others whose stored replies answered here."""
    cost: ItemCost
    questions: "StoredQuestions"
    """What was asked in them."""
    claim: ClaimInWindow | None = None
    """Whose verdict they are read for; None: no claim's."""


class RawReplies(Controller[FaithScreen]):
    """The raw replies of the conversation that is chosen on a screen.

    Args:
        screen: The screen.
        find_item: Gives the conversation of a run whose replies are meant; None: there is none.
        find_claim: Gives the claim whose verdict is looked at in review; None: of other screens.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "W",
            "show_replies",
            "raw replies",
            tooltip="Read what the judge was asked and what it answered, call by call",
            id="replies.open",
        ),
    ]

    def __init__(
        self,
        screen: FaithScreen,
        find_item: Callable[[], ItemId | None],
        find_claim: Callable[[], ClaimInWindow | None] | None = None,
    ) -> None:
        super().__init__(screen)
        self.find_item = find_item
        self.find_claim = find_claim or (lambda: None)
        self.is_in_review = find_claim is not None

    def is_key_shown(self, action: str) -> bool:
        """Name the key beside a claim whose judge is shown: there it explains the verdict."""
        return not self.session.is_blind and self.find_claim() is not None

    def action_show_replies(self) -> None:
        """Read the calls."""
        item = self.find_item()
        if item is None:
            self.refuse("no conversation is chosen whose replies could be read")
        else:
            self.load_and_show_replies(item)

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("replies")
    async def load_and_show_replies(self, item: ItemId) -> None:
        """Read the calls of a conversation, if they may be seen."""
        terms, claim = self.session.hiding_state, self.find_claim()
        refusal = await self.read_in_thread(self._explain_replies_not_shown, item)
        replies = (
            None
            if refusal
            else await self.read_in_thread(read_conversation_replies, self.session, item, claim)
        )
        self.screen.call_later(self.show_replies_and_record_exposure, replies, refusal, terms)

    def show_replies_and_record_exposure(
        self, replies: ConversationReplies | None, refusal: str, terms: tuple[object, ...]
    ) -> None:
        """Show the calls, and record that the judge's verdicts were seen.

        Args:
            replies: The calls; None: they would reveal what is hidden.
            refusal: Why they are not shown.
            terms: `Session.hiding_state` when they were read.
        """
        if terms != self.session.hiding_state or not self.screen.is_current:
            return
        if replies is None:
            self.refuse(refusal)
            return
        from faithtui.tui.replies.replies_screen import RepliesScreen

        self.session.record_exposure([replies.item])
        self.input_queue.open_window(RepliesScreen(self.session, replies))

    def _explain_replies_not_shown(self, item: ItemId) -> str:
        """Say why there are no replies to read, or why they are hidden; "": they can be read."""
        run = self.session.run
        if run is not None and self.session.store.runs.read_run(run).spec.is_imported:
            return f"run {run} was imported: its judge was asked elsewhere, no reply is here"
        return self.explain_hidden_replies(item) if self.session.is_blind else ""

    def explain_hidden_replies(self, item: ItemId) -> str:
        """Say why a blind reviewer may not read the calls of a conversation yet; "": they may.

        Where one is not judged to its end, replies are there before their claims.
        """
        session = self.session
        view = session.store.runs.read_conversation_for_review(item, session.reviewer)
        queue = session.claim_queue
        revealed = session.revealed | (queue.shown if queue is not None else set())
        sample = queue.sample if queue is not None else None
        hidden = hide_judge_verdicts(view, revealed=revealed, sample=sample).hidden
        if hidden:
            return self._describe_hidden_claims(hidden)
        if view.item.state not in (ItemState.DONE, ItemState.SKIPPED):
            way_out = describe_keys_ending_blind_work(session, in_review=self.is_in_review)
            return f"replies may show claims that are still to come: {way_out}"
        return ""

    def _describe_hidden_claims(self, hidden: Collection[ClaimId]) -> str:
        """Say how many claims replies would reveal, in words that 80 columns have room for."""
        queue, key = self.session.claim_queue, self.keys("review.reveal")
        count = fmt.format_count_with_noun(len(hidden), "hidden claim")
        beside = 0 if queue is None else sum(claim not in queue.place for claim in hidden)
        if not self.is_in_review:
            return f"replies show {count}: answer them, or {key} in review"
        if beside:
            return f"replies show {count}, {beside} not in the queue: {key} reveals each"
        return f"replies show {count}: answer them, or {key} reveals each"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key without a store; without a conversation it says what is missing."""
        return self.session.is_open


def read_conversation_replies(
    session: "Session", item: ItemId, claim: ClaimInWindow | None = None
) -> ConversationReplies:
    """Read the calls of a conversation of a run, for the verdict on a claim where one is given."""
    from faithtui.engine.review.stored_questions import rebuild_questions

    store = session.store
    rows = store.runs.read_item_rows([item])
    key = rows[0].key if rows else f"conversation {item}"
    calls = store.calls.list_item_calls(item)
    questions = rebuild_questions(store, item, calls)
    costs = store.calls.sum_item_costs(item)
    return ConversationReplies(item, key, (*calls, *questions.reused), costs, questions, claim)
