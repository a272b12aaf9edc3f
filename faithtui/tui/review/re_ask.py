"""`R`: the judge asked once more about the chosen claim, outside the stored replies."""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.records import ClaimView, FreshVerdict, ReviewView, RunRow
from faithtui.tui.background_loop import run_in_own_loop
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.engine.runs.run_environment import RunEnvironment
    from faithtui.store.store import Store
    from faithtui.tui.review.review_screen import ReviewScreen

_TOKENS = 1_000
"""Tokens of a question that only shows whether a judge costs anything."""


@dataclass(frozen=True, slots=True)
class CallCost:
    """What one more call costs."""

    is_free: bool
    nusd: int | None
    """As calls cost on average, in units of 1e-9 US dollars; None: not known."""
    basis: str
    """Where that is known from, in words."""

    @property
    def sentence(self) -> str:
        """Say it."""
        if self.nusd is None:
            return "What that costs is not known."
        return f"That costs about {fmt.format_money(self.nusd)}, by {self.basis}."


class ReAsk(Controller["ReviewScreen"]):
    """Asks the judge of the run once more about the chosen claim."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "R",
            "ask_again",
            "ask again",
            show=False,
            tooltip="Ask the judge once more about the chosen claim; what it says stands beside "
            "the run and changes nothing in it",
            id="review.fresh",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.claim_being_asked: ClaimId | None = None
        """The claim that the judge is being asked about."""

    def action_ask_again(self) -> None:
        """Look what it costs, then ask."""
        claim, view = self.screen.claim, self.screen.view
        if claim is None or view is None:
            return
        if claim.id in view.hidden:
            key = self.keys("review.reveal")
            self.refuse(f"the judge is hidden: answer first, or {key} reveals it")
        elif self.claim_being_asked is not None:
            self.refuse("the judge is being asked already: one at a time")
        else:
            self.estimate_and_confirm_call_cost(claim, view)

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("price")
    async def estimate_and_confirm_call_cost(self, claim: ClaimView, view: ReviewView) -> None:
        """Find out what a call costs."""
        cost = await self.read_in_thread(estimate_call_cost, self.session, view.run, view.item.id)
        self.screen.call_later(self.confirm_cost_and_ask_again, claim.id, cost)

    def confirm_cost_and_ask_again(self, about: ClaimId, cost: CallCost) -> None:
        """Ask whether it may cost something; what is free is asked at once."""
        claim, view = self.screen.claim, self.screen.view
        if claim is None or view is None or claim.id != about:
            return
        item, name = view.item.id, self.screen.format_claim_name(claim)
        if cost.is_free:
            self.ask_judge_again_and_show_verdict(item, claim.id, name)
            return

        def ask_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self.ask_judge_again_and_show_verdict(item, about, name)

        self.input_queue.open_window(
            ConfirmDialog(
                f"Ask the judge again about {name}?",
                f"{cost.sentence} Its answer stands beside the run and changes nothing in it.",
            ),
            ask_if_confirmed,
        )

    @run_in_worker("ask_again")
    async def ask_judge_again_and_show_verdict(
        self, item: ItemId, claim: ClaimId, name: str
    ) -> None:
        """Ask the judge."""
        self.claim_being_asked = claim
        self.show_message(Piece(f"asking the judge again about {name} …", "quiet"))
        session = self.session
        try:
            environment = await self.read_in_thread(session.get_run_environment)
            store, reviewer = session.store, session.reviewer
            fresh = await run_in_own_loop(
                lambda: _ask_judge(store, item, claim, reviewer, environment)
            )
        except BaseException:
            self.show_message(Piece(f"the judge was not heard again about {name}", "warn"))
            raise
        finally:
            self.claim_being_asked = None
        self.screen.call_later(self.show_fresh_verdict_and_reload, fresh)

    def show_fresh_verdict_and_reload(self, fresh: FreshVerdict) -> None:
        """Say what the judge says now, and read the conversation again."""
        state = self.screen.review_state
        self.screen.queue_navigator.forget_read_ahead()
        if state is None or state.view.item.id != fresh.item:
            return
        if fresh.claim in state.view.hidden:
            self.show_message(
                Piece("asked again; the answer is hidden like the first one", "quiet")
            )
        else:
            word = fmt.describe_label(fresh.label, state.label_set)
            look = fmt.get_label_look(fresh.label, state.label_set)
            self.show_message(Piece("asked again: "), Piece(word, f"strong {look}"))
        self.screen.loader.reread_now_or_after_jump()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key without a claim."""
        return self.screen.claim is not None


def estimate_call_cost(session: Session, run: RunRow, item: ItemId) -> CallCost:
    """Say what one more call of a run's judge costs. Imports what is slow: meant for a thread."""
    from faithtui.engine.calls.call_costs import TablePrices

    table = session.get_run_environment().prices
    prices = TablePrices(table, run.spec.judge, run.spec.base_url)
    if prices.compute_max_cost_nusd(_TOKENS, _TOKENS) == 0:
        return CallCost(True, 0, "the price table")
    own = session.store.calls.sum_item_costs(item).total
    for calls, nusd, basis in (
        (own.calls - own.unpriced_calls, own.cost_nusd, "what this conversation's calls cost"),
        (run.calls - run.unpriced_calls, run.cost_nusd, "what this run's calls cost"),
    ):
        if calls > 0 and nusd:
            return CallCost(False, nusd // calls, basis)
    return CallCost(False, None, "")


def _ask_judge(
    store: "Store", item: ItemId, claim: ClaimId, reviewer: str, environment: "RunEnvironment"
) -> Coroutine[object, object, FreshVerdict]:
    from faithtui.engine.review.re_ask import re_ask_claim_and_store_verdict

    return re_ask_claim_and_store_verdict(
        store, item, claim, asked_by=reviewer, environment=environment
    )
