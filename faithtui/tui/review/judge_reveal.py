"""`v` and `T`: what of the hidden judge a reviewer looks at, and what is recorded of it."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId, SampleId
from faithtui.domain.labels.label_events import Action, Event, NewEvent, Step
from faithtui.store.records import ClaimView
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.review import position
from faithtui.tui.review.labels.verdict_keys import refuse_early_keys
from faithtui.tui.screen.blind_mode import BlindMode
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen


class JudgeReveal(Controller["ReviewScreen"]):
    """Shows what is hidden of the judge, and hides it again."""

    screen: "ReviewScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "v",
            "toggle_judge_verdict",
            "reveal",
            tooltip="Blind: show the judge's verdict on this claim, or hide it again; that it "
            "was revealed is recorded",
            id="review.reveal",
        ),
        Binding(
            "T",
            "show_hidden_truths",
            "truths",
            show=False,
            tooltip="Blind: show the truths the judge drew, but no verdict; recorded as revealed",
            id="review.truths",
        ),
    ]

    def action_toggle_judge_verdict(self) -> None:
        """Show the judge's verdict on the chosen claim, or hide it again."""
        claim, view = self.screen.claim, self.screen.view
        if not self.is_claim_painted_or_refuse() or claim is None or view is None:
            return
        if claim.id in view.hidden:
            self.session.revealed.add(claim.id)
            name = self.screen.format_claim_name(claim)
            words = f"{name}: judge's verdict revealed, recorded"
            self.screen.writer.save_event(claim, Action.REVEALED, words)
        elif claim.id in self.session.revealed:
            self.session.revealed.discard(claim.id)
            self.show_message(Piece("hidden again; that it was looked at stays on record", "quiet"))
            self.reload_under_new_hiding_state()
        else:
            self.refuse(self._explain_nothing_to_reveal())

    def is_claim_painted_or_refuse(self) -> bool:
        """Say whether the chosen claim is on screen; else refuse what would show its judge.

        What is shown is on record for good: a key that was typed ahead was not about this claim.
        """
        if self.screen.panes.claims.is_painted:
            return True
        self.screen.verdicts.say_key_came_too_early()
        return False

    def _explain_nothing_to_reveal(self) -> str:
        """Say why there is nothing to reveal on the chosen claim."""
        if self.session.is_blind:
            return "nothing is hidden: answered, or served with the judge"
        return f"the judge is shown: {self.keys('review.blind')} hides it"

    def action_show_hidden_truths(self) -> None:
        """Show the truths of the conversation while verdicts stay hidden."""
        view = self.screen.view
        if not self.is_claim_painted_or_refuse():
            return
        if view is None or not view.is_blind:
            self.refuse("no truths are hidden here")
            return
        if view.item.id in self.session.revealed_truths:
            self.session.revealed_truths.discard(view.item.id)
            self.show_message(Piece("truths hidden again; that they were revealed stays recorded"))
            self.reload_under_new_hiding_state()
            return
        self.session.revealed_truths.add(view.item.id)
        hidden = [claim for claim in view.claims if claim.id in view.hidden]
        self.record_reveal(hidden, "judge's truths of this conversation revealed, recorded")

    def record_reveal(
        self, claims: Sequence[ClaimView], words: str, sample: SampleId | None = None
    ) -> None:
        """Record that the judge of claims of this conversation was in view.

        Args:
            claims: The claims, at least one.
            words: What the status line says when it is saved.
            sample: The sample whose queue showed it on purpose; None: the reviewer asked for it.
        """
        self.screen.writer.submit_event(
            [(self.screen.claim or claims[0]).id],
            words,
            self.session.store.label_log.append_label_events_as_one_step,
            self._make_reveal_events(claims, sample),
        )

    def record_reveal_by_queue(
        self, claims: Sequence[ClaimView], sample: SampleId | None
    ) -> Future[Step]:
        """Record that a queue showed the judge of claims; nobody waits for it.

        Args:
            claims: The claims, of the conversation that is shown.
            sample: The sample of the queue.

        Returns:
            What ends when it is written, or when it cannot be.
        """
        append = self.session.store.label_log.append_label_events_as_one_step
        return self.session.store.submit(
            append, self._make_reveal_events(claims, sample), urgent=True
        )

    def _make_reveal_events(
        self, claims: Sequence[ClaimView], sample: SampleId | None
    ) -> list[NewEvent]:
        run = None if self.screen.view is None else self.screen.view.run.id
        reviewer, action = self.session.reviewer, Action.REVEALED
        return [
            Event(None, each.id, reviewer, action, saw_judge=True, sample=sample, run=run)
            for each in claims
        ]

    def make_blind_mode(self) -> BlindMode:
        """Make the part that hides the judge from now on, with what is said of it here."""
        return BlindMode(
            self.screen,
            self.reload_under_new_hiding_state,
            self.was_judge_in_view,
            self.is_claim_painted_or_refuse,
        )

    def forget_paint_if_covered(self) -> None:
        """Let the claim be painted again before it takes keys, where another screen covers it.

        Windows let it be seen.
        """
        if self.screen not in self.screen.app.screen_stack:
            self.screen.panes.claims.forget_paint()

    def refuse_keys_typed_before_repaint(self) -> None:
        """Refuse keys about a claim that are typed before it is seen again.

        Where another conversation is wanted, reading it does so.
        """
        claims, view = self.screen.panes.claims, self.screen.view
        is_another_wanted = view is None or self.session.item not in (None, view.item.id)
        if not (claims.is_painted or claims.is_waiting or is_another_wanted):
            refuse_early_keys(self.screen)
            # From the next paint on the claim is on screen again, and its keys mean it.
            claims.note_next_paint()

    def was_judge_in_view(self) -> bool:
        """Whether the judge of the conversation that is shown was in view, with all its claims."""
        view = self.screen.view
        return view is not None and not view.is_blind

    def forget_unsaved_reveal(self, claim: ClaimId) -> None:
        """Hide what was revealed by a label event that could not be saved."""
        self.session.revealed.discard(claim)
        view = self.screen.view
        if view is not None and position.find_claim(view, claim) is not None:
            self.session.revealed_truths.discard(view.item.id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action == "show_hidden_truths":
            return self.screen.view is not None and self.screen.view.is_blind
        return self.screen.claim is not None

    def is_key_shown(self, action: str) -> bool:
        """Name the key only to whoever works blind; to others it says why it does nothing."""
        return action != "toggle_judge_verdict" or self.session.is_blind

    def reload_under_new_hiding_state(self) -> None:
        """Read anew what may be shown by now; keys typed ahead are meant for that."""
        self.screen.queue_navigator.forget_read_ahead()
        self.screen.panes.claims.block_keys_until_repaint()
        self.screen.reload()
        if self.screen.writer.in_flight:
            self._hold_keys_until_saved()

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("terms")
    async def _hold_keys_until_saved(self) -> None:
        """Let keys wait for the reading that follows the last save: `reload` leaves it to that."""
        await self.screen.writer.saves_done.wait()
