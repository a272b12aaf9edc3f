"""The final label of a claim on which annotators differ: given, flagged for a talk, saved."""

import asyncio
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    order_opinions_anonymously,
)
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import (
    Action,
    HumanVerdict,
    LabelEvent,
    LabelMark,
    describe_event_without_verdict,
)
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.tui.adjudication import adjudication_lines, final_label_keys
from faithtui.tui.adjudication.final_label_keys import (
    drop_final_labels_typed_ahead,
    make_check_of_keys_that_settle,
)
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.label_undo import UndoneStep
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
    from faithtui.tui.adjudication.claim_evidence import SelectedClaim


class FinalLabels(Controller["AdjudicationScreen"]):
    """Final labels, and what is not saved yet."""

    BINDINGS: ClassVar[list[BindingType]] = final_label_keys.BINDINGS

    def __init__(self, screen: "AdjudicationScreen") -> None:
        super().__init__(screen)
        self.in_flight = 0
        """Label events not saved yet."""
        self._claim_shown_s = self.session.seconds()
        """When the chosen claim came on screen."""
        self.last_act_words = ""
        """The last label event in words."""
        self._last_settled: ClaimId | None = None
        """Claim after which none was open, while the cursor has stayed on it."""

    def start_claim_clock(self) -> None:
        """Measure from now on how long the chosen claim has been on screen."""
        self._claim_shown_s = self.session.seconds()

    def get_painted_claim_or_refuse(self) -> "SelectedClaim | None":
        """Give the painted claim when it is seen and the cursor still on it; else that is said."""
        claim = self.screen.claim_at_cursor()
        if claim is None:
            self.refuse("there is nothing to settle in this list")
            return None
        if not self.screen.evidence.is_claim_visible:
            key = self.screen.evidence.name_key_that_shows_claim()
            self._refuse_with_keys_typed_ahead(f"not saved: the claim is hidden, {key} shows it")
            return None
        painted = self.screen.evidence.selection
        if painted is None or painted.claim.claim != claim.claim:
            self.refuse("that key came before its claim was drawn: it was not saved")
            return None
        return painted

    def _get_claim_to_settle_or_refuse(self) -> "SelectedClaim | None":
        """Give the painted claim, unless the label that left no other open was given on it.

        A key more was meant for a claim further on, and would replace that label.
        """
        chosen = self.get_painted_claim_or_refuse()
        if chosen is None or chosen.claim.claim != self._last_settled:
            return chosen
        still_open = [each for each in self.screen.listed_entries.values() if each.is_undecided]
        if not still_open:
            words = (
                "this list is settled: {adjudicate.undo} undoes it, move to a claim to change it"
            )
        elif all(each.flagged for each in still_open):
            words = "only flagged claims are left: move to one to settle it"
        else:
            words = "other claims are open: move to one to settle it"
        self._refuse_with_keys_typed_ahead(self.keys.fill_in_keys(f"not saved, {words}"))
        return None

    def _refuse_with_keys_typed_ahead(self, words: str) -> None:
        """Say why a key saved nothing; those behind it would not either, and are named."""
        if dropped := drop_final_labels_typed_ahead(self.screen):
            words += f"; nor were saved: {dropped}"
        self.refuse(words)

    def refuse_early_keys(self) -> None:
        """Refuse keys that settle a claim and come before what is on screen next."""
        if not self.screen.undo.is_under_way:
            self.input_queue.check_early_keys(make_check_of_keys_that_settle(self.screen))

    def allow_keys_on_last_settled_claim(self) -> None:
        """Let keys settle the claim again after which none was open: one has seen that."""
        self._last_settled = None

    def follow_cursor(self) -> None:
        """Do the same once the cursor is on another claim.

        Where the claim has left the list by its label, whatever stands under the cursor is as
        little meant as that.
        """
        claim, last = self.screen.claim_at_cursor(), self._last_settled
        if last is not None and claim is not None and claim.claim != last:
            has_left = last not in self.screen.listed_entries
            self._last_settled = claim.claim if has_left else None

    def action_take_over_annotators_verdict(self, side: int) -> None:
        """Take over what A or B says."""
        chosen = self._get_claim_to_settle_or_refuse()
        if chosen is None:
            return
        opinions = order_opinions_anonymously(chosen.claim)
        if side >= len(opinions):
            keys = " ".join(self.keys(f"adjudicate.final-{name}") for name in (1, 2, 3, "unfair"))
            self.refuse(
                f"nobody is {adjudication_lines.LETTERS[side]} here: {keys} give a final label"
            )
            return
        self._save_final_label_and_go_on(chosen, opinions[side].verdict or NOT_A_CLAIM)

    def action_give_final_label(self, number: int) -> None:
        """Give a final label by its key."""
        chosen = self._get_claim_to_settle_or_refuse()
        if chosen is None or self.screen.spec is None:
            return
        names = self.screen.spec.labels.names
        if number >= len(names):
            self.refuse(f"{self.screen.spec.title} has no verdict on this key")
            return
        self._save_final_label_and_go_on(chosen, NOT_A_CLAIM if number < 0 else names[number])

    def _save_final_label_and_go_on(self, chosen: "SelectedClaim", verdict: str) -> None:
        """Save the final label, also over an earlier one, and go to the next claim without one."""
        self.save_final_label_with_note(chosen, verdict)
        self._go_to_next_undecided_claim(chosen.claim.claim)

    def save_final_label_with_note(
        self, chosen: "SelectedClaim", verdict: str, note: str | None = None
    ) -> None:
        """Save the final label, and a note with it."""
        claim, spec = chosen.claim, self.screen.spec
        if spec is None:
            return
        kept = claim.final.note if claim.final is not None else None
        note = note if note is not None else self.session.final_notes.pop(claim.claim, kept)
        words = f"final label: {fmt.describe_label(verdict, spec.labels)}"
        before = None if claim.final is None else claim.final.verdict
        if before not in (None, verdict):
            words += f", replacing {fmt.describe_label(before, spec.labels)}"
        final = HumanVerdict(
            claim.claim, self.session.reviewer, verdict, Action.ADJUDICATED, note or None
        )
        self.screen.show_claim_being_saved(replace(claim, final=final))
        self._save_event(
            claim,
            Action.ADJUDICATED,
            words,
            verdict=verdict,
            note=note,
            judge=None
            if self.screen.compared is None
            else claim.judges.get(self.screen.compared.run.id),
            saw=chosen.seen or not claim.is_undecided,
            seconds=max(0.0, self.session.seconds() - self._claim_shown_s),
        )

    def action_toggle_discussion_flag(self) -> None:
        """Flag the claim for a talk, or take the flag away."""
        chosen = self._get_claim_to_settle_or_refuse()
        if chosen is None:
            return
        claim = chosen.claim
        self.screen.show_claim_being_saved(replace(claim, flagged=not claim.flagged))
        self._save_event(
            claim,
            Action.MARKED,
            "no longer flagged for a talk" if claim.flagged else "flagged for a talk",
            mark=LabelMark.UNFLAG if claim.flagged else LabelMark.FLAG,
            saw=chosen.seen or not claim.is_undecided,
        )
        if not claim.flagged:
            self._go_to_next_undecided_claim(claim.claim)

    def _go_to_next_undecided_claim(self, after: ClaimId) -> None:
        """Go to the next claim that needs a final label, the flagged ones last."""
        ids = list(self.screen.listed_entries)
        here = ids.index(after)
        order = [*ids[here + 1 :], *ids[:here]]
        fresh = [each for each in order if self.screen.listed_entries[each].is_undecided]
        found = next((each for each in fresh if not self.screen.listed_entries[each].flagged), None)
        if found is None:
            self._last_settled = after
        else:
            self.screen.claims.cursor = ids.index(found)
            self.screen.evidence.hold_keys_while_reading()

    def _save_event(
        self,
        claim: ClaimOpinions,
        action: Action,
        words: str,
        *,
        verdict: str | None = None,
        note: str | None = None,
        mark: LabelMark | None = None,
        judge: str | None = None,
        saw: bool = False,
        seconds: float | None = None,
    ) -> None:
        store = self.session.store
        self.last_act_words = words
        self.in_flight += 1
        self.show_message(Piece(f"saving {words} …", "quiet"))
        future: Future[LabelEvent] = store.submit(
            store.label_log.append_label_event,
            claim.claim,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.screen.compared is None else self.screen.compared.run.id,
            judge_verdict=judge,
            saw_judge=saw,
            seconds=seconds,
            mark=mark,
            urgent=True,
            durable=True,
        )
        self._wait_until_saved_and_report(future, words)

    @run_in_worker("save", exclusive=False)
    async def _wait_until_saved_and_report(self, future: Future[LabelEvent], words: str) -> None:
        """Wait for the disk and say so."""
        try:
            event = await asyncio.wrap_future(future)
        except Exception:
            self.screen.call_later(self._report_outcome_and_reload, "")
            raise  # The app says what happened.
        self.session.saved_events.add(event.id)
        if event.mark is not None:
            self.session.discussion_flags.add(event.id)
        self.screen.call_later(self._report_outcome_and_reload, words)

    def _report_outcome_and_reload(self, words: str) -> None:
        """Say that a label event is safe, and read again."""
        self.in_flight -= 1
        if words:
            moment = fmt.format_time(self.session.now())
            unread = self.screen.get_unread_refusal()
            self.show_message(*unread, Piece(f"saved {moment}", "good"), Piece(f" · {words}"))
        else:
            self.last_act_words = ""
            self.show_message(Piece("not saved", "bad strong"))
        self.screen.reload()

    def is_own_event(self, event: LabelEvent) -> bool:
        """Whether a label event was made in adjudication: labels of review are not undone here."""
        return event.action is Action.ADJUDICATED or event.id in self.session.discussion_flags

    def report_undone_step_and_go_to_claim(self, step: UndoneStep) -> None:
        """Go to the claim concerned, and say what was taken back."""
        if not step.acts:
            words = f"nothing to be {step.words} here: no final label or flag of yours"
            self.show_message(Piece(words, "warn"))
            return
        self.allow_keys_on_last_settled_claim()
        act = step.acts[0]
        labels = None if self.screen.spec is None else self.screen.spec.labels
        what = (
            describe_event_without_verdict(act.action, act.mark)
            if act.verdict is None or labels is None
            else fmt.describe_label(act.verdict, labels)
        )
        self.last_act_words = f"{step.words}: {what}"
        self._show_undone(self.last_act_words)
        self.screen.reload_and_select_claim(act.claim)

    def say_that_undone_claim_is_elsewhere(self) -> None:
        """Say that the list does not have the claim of the last undo, which may have left it."""
        self._show_undone(f"{self.last_act_words}, on a claim that is not in this list")

    def _show_undone(self, words: str) -> None:
        head, _, what = words.partition(" ")
        said = Piece(f"{head} ", "human strong"), Piece(what)
        self.show_message(*self.screen.get_unread_refusal(), *said)

    def is_key_shown(self, action: str) -> bool:
        """Leave the keys out of the footer while the claim is hidden: they save nothing."""
        return self.screen.evidence.is_claim_visible

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a claim while there is none."""
        if self.screen.evidence.selection is None:
            return False
        number = parameters[0] if action == "give_final_label" else -1
        labels = len(self.screen.spec.labels.names) if self.screen.spec is not None else 0
        return isinstance(number, int) and number < labels
