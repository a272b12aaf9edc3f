"""Verdicts on claims, with reason codes and marks: their keys, and what they save."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import (
    Action,
    LabelMark,
)
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.store.records import ClaimView
from faithtui.tui.review.labels import verdict_keys
from faithtui.tui.review.labels.repeated_verdict import RepeatedVerdict
from faithtui.tui.review.labels.verdict_keys import drop_and_report_keys_typed_ahead
from faithtui.tui.review.lines.verdict_lines import VERDICT_IDS, list_verdict_choices
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.key_list import KeyEntry, KeyListDialog, make_chosen_row_callback

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen


@dataclass(frozen=True, slots=True)
class LastVerdict:
    """The verdict that was given last, for codes."""

    claim: ClaimId
    number: int
    verdict: str
    code: str | None = None
    unsure: bool = False


class Verdicts(Controller["ReviewScreen"]):
    """Verdicts and what belongs to them, on the claims of the review screen.

    Attributes:
        CLAIM_LIST_BINDINGS: Its keys in the list of claims only.
    """

    BINDINGS: ClassVar[list[BindingType]] = verdict_keys.SCREEN_BINDINGS
    PANE_BINDINGS: ClassVar[list[BindingType]] = verdict_keys.PANE_BINDINGS
    CLAIM_LIST_BINDINGS: ClassVar[list[BindingType]] = verdict_keys.CLAIM_LIST_BINDINGS

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.last_verdict: LastVerdict | None = None
        """The label given last, while one has not moved elsewhere since."""
        self.repeated = RepeatedVerdict()
        self.was_given_in_bulk = False
        """Whether the label given last is that of a range, while one has not moved since."""
        self.pending_flags: dict[ClaimId, bool] = {}
        """Flags that the conversation was not read with yet: the key again means the other one."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys for labels that the metric does not have."""
        state = self.screen.review_state
        if action != "give_verdict" or state is None:
            return True
        return parameters[0] in {key for key, _, _ in list_verdict_choices(state.spec)}

    def action_give_verdict(self, key: str) -> None:
        """Give the label of a key, on the marked range if there is one, and go on."""
        state = self.screen.review_state
        claim = self._find_painted_claim(leads_on=True)
        if state is None or claim is None:
            return
        labels = {each: label for each, label, _ in list_verdict_choices(state.spec)}
        if self.screen.claim_range.start is not None:
            self.screen.claim_range.give_verdict_to_range(labels[key])
        else:
            self._save_and_advance(claim, labels[key], None)

    def _find_painted_claim(
        self, *, leads_on: bool = False, replaces_label: bool = True
    ) -> ClaimView | None:
        """Find the claim on screen, which a key is about.

        Args:
            leads_on: Whether the key labels or skips it and leads to another claim.
            replaces_label: Whether such a key replaces a label that counts.

        Returns:
            None when there is none, or another open app has just labelled it; that was said.
        """
        claims, other_app = self.screen.panes.claims, self.screen.queue_navigator.other_app
        drawn = claims.take_painted_claim() if leads_on else claims.painted_claim
        found = None if drawn is None else self.screen.find_claim(drawn)
        if leads_on and found is None:
            # A code that follows is not about the label before it.
            self.forget_last_verdict()
        if drawn is None:
            self.say_key_came_too_early()
            return None
        if found is None:
            self.refuse("that claim is not here any more: the key was not saved")
            self.screen.repaint()
        elif leads_on and other_app.refuse_first_verdict(found, replaces_label=replaces_label):
            return None
        return found

    def _save_and_advance(self, claim: ClaimView, verdict: str, code: str | None) -> None:
        self.screen.writer.save_verdict(claim, verdict, code)
        self.was_given_in_bulk = False
        self.last_verdict = LastVerdict(claim.id, claim.number, verdict, code)
        self.repeated.remember(verdict, code, claim.id)
        self.screen.moves.move_on_after_verdict(claim.id)

    def say_key_came_too_early(self) -> None:
        """Report that a key came before its claim was on screen, or that there is none."""
        if self.screen.claim is None and not self.screen.panes.claims.is_waiting:
            self.refuse("there is nothing here to give a verdict on")
        else:
            # Those behind it were typed as early, each for a claim further down.
            drop_and_report_keys_typed_ahead(self.screen, self.input_queue.last_key or "that key")

    def action_explain_ignored_verdict_key(self) -> None:
        """Say why a verdict key did nothing."""
        state = self.screen.review_state
        if state is None or state.claim is None:
            self.refuse("there is nothing here to give a verdict on")
        else:
            keys = " ".join(
                self.keys(f"review.verdict-{VERDICT_IDS[key]}")
                for key, _, _ in list_verdict_choices(state.spec)
            )
            self.refuse(f"{state.spec.title} has no verdict on this key: its keys are {keys}")
            self.forget_last_verdict()

    def action_repeat_verdict(self) -> None:
        """Give the label and the code that were given last; a marked range gets no code."""
        state = self.screen.review_state
        claim = self._find_painted_claim(leads_on=True)
        if state is None or claim is None:
            return
        last = self.repeated.given
        labels = [label for _, label, _ in list_verdict_choices(state.spec)]
        why = self.repeated.explain_refusal(labels)
        if last is None or why:
            self.refuse(why)
            self.forget_last_verdict()
            self.screen.repaint()
        elif self.screen.claim_range.start is not None:
            self.screen.claim_range.give_verdict_to_range(last.verdict)
        else:
            self._save_and_advance(claim, last.verdict, last.code)

    def action_accept_judge_verdict(self) -> None:
        """Take over the judge's verdict; it is no label of one's own."""
        claim = self._find_painted_claim(leads_on=True, replaces_label=False)
        if claim is None:
            return
        label = claim.first_window_verdict.label
        if self.screen.view is not None and claim.id in self.screen.view.hidden:
            key = self.keys("review.reveal")
            self.refuse(f"the judge is hidden: {key} reveals it, and that is recorded")
            self.forget_last_verdict()
            self.screen.repaint()
        elif label is None:
            self.refuse("the judge gave no verdict here: nothing to accept")
            self.forget_last_verdict()
            self.screen.repaint()
        elif claim.mine is not None and claim.mine.verdict is not None:
            # It would take a label that counts out of all figures, or one in bulk away unseen.
            self._refuse_for_own_verdict(claim)
        else:
            name = self.screen.format_claim_name(claim)
            words = f"{name}: judge's verdict accepted, not counted"
            self.screen.writer.save_event(claim, Action.ACCEPTED, words, verdict=label)
            self.screen.writer.set_last_event_text(words)
            self.forget_last_verdict()
            self.repeated.forget("you accepted the judge's last")
            self.screen.moves.move_on_after_verdict(claim.id)

    def action_skip_claim(self) -> None:
        """Skip a claim."""
        claim = self._find_painted_claim(leads_on=True, replaces_label=False)
        if claim is None:
            return
        if claim.mine is not None and claim.mine.verdict is not None:
            self._refuse_for_own_verdict(claim)
            return
        words = f"{self.screen.format_claim_name(claim)} skipped"
        self.screen.writer.save_event(claim, Action.SKIPPED, words)
        self.screen.writer.set_last_event_text(words)
        self.forget_last_verdict()
        self.screen.moves.move_on_after_verdict(claim.id, later=True)

    def _refuse_for_own_verdict(self, claim: ClaimView) -> None:
        name, key = self.screen.format_claim_name(claim), self.keys("review.undo")
        self.refuse(f"{name} has your verdict: {key} undoes it")
        self.screen.repaint()

    def action_begin_or_drop_range(self) -> None:
        """Begin a range of claims for one verdict, or drop it."""
        claim = self._find_painted_claim()
        if claim is not None:
            self.screen.claim_range.begin_or_drop_range(claim)

    def action_toggle_flag(self) -> None:
        """Set a flag, or take it away."""
        claim = self._find_painted_claim()
        if claim is None:
            return
        stored = claim.mine is not None and claim.mine.flagged
        flagged = self.pending_flags.get(claim.id, stored)
        self.pending_flags[claim.id] = not flagged
        mark = LabelMark.UNFLAG if flagged else LabelMark.FLAG
        change = "no longer flagged" if flagged else "flagged"
        words = f"{self.screen.format_claim_name(claim)} {change}"
        self.screen.writer.save_event(claim, Action.MARKED, words, mark=mark)
        self.screen.writer.set_last_event_text(words)

    # What belongs to a verdict

    def _find_verdict_to_annotate(self) -> LastVerdict | None:
        """Find the verdict a code or a doubt is about: the last one, else the chosen claim's.

        Their keys count before the next claim is on screen where they are about the last one.

        Returns:
            None when there is none; that was said.
        """
        if self.last_verdict is not None and self.screen.panes.claims.chosen_claim is not None:
            return self.last_verdict
        claim = self._find_painted_claim()
        if claim is None:
            return None
        mine = claim.mine
        if mine is not None and mine.verdict is not None:
            return LastVerdict(claim.id, claim.number, mine.verdict, mine.code, mine.unsure)
        # Both fit a status line of 80 cells: a box would lie over the verdict.
        if self.was_given_in_bulk:
            self.refuse("choose a claim: the last labels were given in bulk")
        else:
            self.refuse("this belongs to a label of yours: give one first")
        return None

    def action_choose_code(self) -> None:
        """Let a code be chosen from a list."""
        found = self._find_verdict_to_annotate()
        if found is None:
            return
        entries = [
            KeyEntry(self.keys(f"review.code-{code.name}"), code.title, code.meaning)
            for code in REASON_CODES
        ]
        names = [code.name for code in REASON_CODES]
        given = names.index(found.code) if found.code in names else 0
        self.input_queue.open_window(
            KeyListDialog("Reason code of the last verdict", entries, chosen=given),
            make_chosen_row_callback(lambda row: self.action_toggle_code(names[row])),
        )

    def action_toggle_code(self, name: str) -> None:
        """Say which stage failed; the same key again takes it back."""
        found = self._find_verdict_to_annotate()
        if found is None:
            return
        title = next(code.title for code in REASON_CODES if code.name == name)
        code = None if found.code == name else name
        self._save_event_on_last_verdict(found, f"code {title}" if code else "no code", code=code)
        self._update_last_verdict(found, code, found.unsure)

    def action_toggle_unsure(self) -> None:
        """Say that one is not sure of a verdict, or is again."""
        found = self._find_verdict_to_annotate()
        if found is None:
            return
        mark = LabelMark.SURE if found.unsure else LabelMark.UNSURE
        words = "sure again" if found.unsure else "low confidence"
        self._save_event_on_last_verdict(found, words, mark=mark)
        self._update_last_verdict(found, found.code, not found.unsure)

    def _save_event_on_last_verdict(
        self,
        found: LastVerdict,
        what: str,
        *,
        code: str | None = None,
        mark: LabelMark | None = None,
    ) -> None:
        """Save a reason code, or a mark, on a claim that may not be the one on screen."""
        words = f"{self.screen.unit_word} {found.number}: {what}"
        self.screen.writer.set_last_event_text(words)
        self.screen.writer.submit_event(
            [found.claim],
            words,
            self.session.store.label_log.append_label_event,
            found.claim,
            self.session.reviewer,
            Action.CODED if mark is None else Action.MARKED,
            run=None if self.screen.view is None else self.screen.view.run.id,
            judge_verdict=None,
            saw_judge=False,
            code=code,
            mark=mark,
        )

    def _update_last_verdict(self, found: LastVerdict, code: str | None, unsure: bool) -> None:
        changed = LastVerdict(found.claim, found.number, found.verdict, code, unsure)
        if self.last_verdict is not None:
            self.last_verdict = changed
        self.repeated.set_code(found.claim, code)

    def forget_last_verdict(self, *, in_bulk: bool = False) -> None:
        """Let codes be about the chosen claim again: one moved, or the last label is none.

        Args:
            in_bulk: Whether it is none because a range was given one.
        """
        self.last_verdict = None
        self.was_given_in_bulk = in_bulk

    def forget_unsaved_verdict(self) -> None:
        """Let neither codes nor repeats be about a verdict that may not be saved."""
        self.forget_last_verdict()
        self.repeated.forget("not all was saved")

    def discard_pending_flag(self, claim: ClaimId) -> None:
        """Take the flag of a claim as the store has it."""
        self.pending_flags.pop(claim, None)

    def clear_pending_flags(self) -> None:
        """Take every flag as the store has it."""
        self.pending_flags.clear()
