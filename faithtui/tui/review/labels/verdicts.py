"""What the keys of the list of claims say: verdicts, codes, marks, and what belongs to them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType

from faithtui.domain.annotations import REASON_CODES, Action, LabelMark
from faithtui.domain.ids import ClaimId
from faithtui.store.records import ClaimView
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.labels.verdict_keys import list_typed_keys
from faithtui.tui.review.lines.verdict import VERDICT_IDS, list_verdict_choices
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.key_list import KeyEntry, KeyListDialog, make_chosen_row_callback

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen


_VERDICT_ACTIONS: Final = ("give_verdict", "explain_ignored_verdict_key", "request_act_on_claim(")
_ABOUT_LAST_VERDICT: Final = (
    "request_act_on_claim('unsure",
    "request_act_on_claim('code",
)


@dataclass(frozen=True, slots=True)
class LastVerdict:
    """The verdict that was given last, for codes and for repeating."""

    claim: ClaimId
    number: int
    verdict: str
    code: str | None = None
    unsure: bool = False


class Verdicts(Controller["ReviewScreen"]):
    """Verdicts and what belongs to them, on the claims of the review screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "y,n,i,x",
            "explain_ignored_verdict_key",
            "verdict",
            show=False,
            tooltip="Where the metric has no such verdict: say which keys it has",
            id="review.verdict-elsewhere",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.last_verdict: LastVerdict | None = None
        """The verdict given last, while one has not moved elsewhere since."""
        self.verdict_to_repeat: LastVerdict | None = None
        """The verdict given last."""
        self.was_given_in_bulk = False
        """Whether the verdict given last is that of a range, while one has not moved since."""
        self.pending_flags: dict[ClaimId, bool] = {}
        """Flags that the conversation was not read with yet: the key again means the other one."""

    def save_verdict_and_advance(self, event: ClaimList.VerdictGiven) -> None:
        """Save a verdict, on the marked range if there is one, and go on."""
        claim = self.screen.find_claim(event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was saved")
            self.screen.redraw()
        elif self.screen.claim_range.start is not None:
            self.screen.claim_range.give_verdict_to_range(event.label)
        else:
            self._save_and_advance(claim, event.label, None)

    def _save_and_advance(self, claim: ClaimView, verdict: str, code: str | None) -> None:
        self.screen.writer.save_verdict(claim, verdict, code)
        self.was_given_in_bulk = False
        self.last_verdict = self.verdict_to_repeat = LastVerdict(
            claim.id, claim.number, verdict, code
        )
        self.screen.moves.go_on_after_verdict(claim.id)

    def say_key_came_too_early(self) -> None:
        """Tell that a key came before its claim was on screen, or that there is none."""
        if self.screen.claim is None and not self.screen.panes.claims.is_waiting:
            self.refuse("there is nothing here to give a verdict on")
        else:
            self.refuse("that key came before its row was drawn: nothing was saved")
            # Those behind it were typed as early, each for a claim further down.
            self.refuse_typed_ahead()

    def refuse_typed_ahead(self) -> None:
        """Drop keys that were typed before the conversation came on screen, and say so.

        Reason codes and doubts stay: they may be about the verdict given last.
        """
        keys: dict[bool, set[str]] = {True: set(), False: set()}
        for key, each in self.screen.active_bindings.items():
            if each.binding.action.startswith(_VERDICT_ACTIONS):
                keys[each.binding.action.startswith(_ABOUT_LAST_VERDICT)].add(key)
        if dropped := self.input_queue.drop_typed_ahead(keys[False], keys[True]):
            typed = list_typed_keys(dropped)
            words = "verdicts typed before their claims were drawn: nothing was saved"
            self.refuse(f"{words} ({typed})")

    def action_explain_ignored_verdict_key(self) -> None:
        """Tell why a verdict key did nothing."""
        state = self.screen.review_state
        if state is None or state.claim is None:
            self.refuse("there is nothing here to give a verdict on")
        else:
            keys = " ".join(
                self.keys(f"review.verdict-{VERDICT_IDS[key]}")
                for key, _, _ in list_verdict_choices(state.spec)
            )
            self.refuse(f"{state.spec.title} has no verdict on this key: its keys are {keys}")

    def run_requested_action(self, event: ClaimList.ActionRequested) -> None:
        """Do what a key of the list asks for, on the claim that was painted."""
        claim = self.screen.find_claim(event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was done")
            self.screen.redraw()
            return
        match event.action:
            case "repeat":
                self._repeat_verdict(claim)
            case "accept":
                self._accept_judge_verdict_uncounted(claim)
            case "later":
                self._skip_claim(claim)
            case "flag":
                self._toggle_flag(claim)
            case "range":
                self.screen.claim_range.begin_or_drop_range(claim)
            case _ if self.last_verdict is None and not event.was_drawn:
                self.say_key_came_too_early()
            case "unsure":
                self._toggle_unsure(claim)
            case "code":
                self._open_reason_code_list(claim)
            case _:
                self._toggle_code(claim, event.action.removeprefix("code-"))

    def _repeat_verdict(self, claim: ClaimView) -> None:
        """Give the verdict and the code that were given last."""
        if self.verdict_to_repeat is None:
            self.refuse("nothing to repeat yet: give a verdict first")
            self.screen.redraw()
        else:
            self._save_and_advance(
                claim, self.verdict_to_repeat.verdict, self.verdict_to_repeat.code
            )

    def _accept_judge_verdict_uncounted(self, claim: ClaimView) -> None:
        """Take over the judge's verdict; it is no verdict of one's own."""
        label = claim.first_window_verdict.label
        if self.screen.view is not None and claim.id in self.screen.view.hidden:
            key = self.keys("review.reveal")
            self.refuse(f"the judge is hidden: {key} reveals it, and that is recorded")
            self.screen.redraw()
        elif label is None:
            self.refuse("the judge gave no verdict here: nothing to accept")
            self.screen.redraw()
        else:
            name = self.screen.format_claim_name(claim)
            words = f"{name}: judge's verdict accepted, not counted"
            self.screen.writer.save_event(claim, Action.ACCEPTED, words, verdict=label)
            self.screen.writer.set_last_event_text(words)
            self.forget_last_verdict()
            self.screen.moves.go_on_after_verdict(claim.id)

    def _skip_claim(self, claim: ClaimView) -> None:
        """Skip a claim."""
        if claim.mine is not None and claim.mine.verdict is not None:
            key = self.keys("review.undo")
            self.refuse(f"{self.screen.format_claim_name(claim)} has your verdict: {key} undoes it")
            self.screen.redraw()
            return
        words = f"{self.screen.format_claim_name(claim)} skipped"
        self.screen.writer.save_event(claim, Action.SKIPPED, words)
        self.screen.writer.set_last_event_text(words)
        self.forget_last_verdict()
        self.screen.moves.go_on_after_verdict(claim.id, later=True)

    def _toggle_flag(self, claim: ClaimView) -> None:
        """Set a flag, or take it away."""
        stored = claim.mine is not None and claim.mine.flagged
        flagged = self.pending_flags.get(claim.id, stored)
        self.pending_flags[claim.id] = not flagged
        mark = LabelMark.UNFLAG if flagged else LabelMark.FLAG
        change = "no longer flagged" if flagged else "flagged"
        words = f"{self.screen.format_claim_name(claim)} {change}"
        self.screen.writer.save_event(claim, Action.MARKED, words, mark=mark)
        self.screen.writer.set_last_event_text(words)

    # What belongs to a verdict

    def _find_verdict_to_annotate(self, claim: ClaimView) -> LastVerdict | None:
        """Find the verdict a code or a doubt is about: the last one, else the chosen claim's.

        Returns:
            None when there is none; that was said.
        """
        if self.last_verdict is not None:
            return self.last_verdict
        mine = claim.mine
        if mine is not None and mine.verdict is not None:
            return LastVerdict(claim.id, claim.number, mine.verdict, mine.code, mine.unsure)
        what = "reason codes and low confidence belong to"
        if self.was_given_in_bulk:
            self.refuse(f"{what} one label, and the last ones were given in bulk: choose a claim")
        else:
            self.refuse(f"{what} a label of yours: give one first")
        return None

    def _open_reason_code_list(self, claim: ClaimView) -> None:
        """Let a code be chosen from a list."""
        found = self._find_verdict_to_annotate(claim)
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
            make_chosen_row_callback(lambda row: self._toggle_code(claim, names[row])),
        )

    def _toggle_code(self, claim: ClaimView, name: str) -> None:
        """Say which stage failed; the same key again takes it back."""
        found = self._find_verdict_to_annotate(claim)
        if found is None:
            return
        title = next(code.title for code in REASON_CODES if code.name == name)
        code = None if found.code == name else name
        words = f"{self._format_claim_number(found)}: " + (f"code {title}" if code else "no code")
        self._save_event_on_last_verdict(found, Action.CODED, words, code=code)
        self._update_last_verdict(found, code, found.unsure)

    def _toggle_unsure(self, claim: ClaimView) -> None:
        """Say that one is not sure of a verdict, or is again."""
        found = self._find_verdict_to_annotate(claim)
        if found is None:
            return
        mark = LabelMark.SURE if found.unsure else LabelMark.UNSURE
        words = (
            f"{self._format_claim_number(found)}: "
            f"{'sure again' if found.unsure else 'low confidence'}"
        )
        self._save_event_on_last_verdict(found, Action.MARKED, words, mark=mark)
        self._update_last_verdict(found, found.code, not found.unsure)

    def _format_claim_number(self, found: LastVerdict) -> str:
        return f"{self.screen.unit_word} {found.number}"

    def _save_event_on_last_verdict(
        self,
        found: LastVerdict,
        action: Action,
        words: str,
        *,
        code: str | None = None,
        mark: LabelMark | None = None,
    ) -> None:
        """Save an act on a claim that may not be the one on screen."""
        self.screen.writer.set_last_event_text(words)
        self.screen.writer.submit_event(
            [found.claim],
            words,
            self.session.store.reviews.append_label_event,
            found.claim,
            self.session.reviewer,
            action,
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
        if self.verdict_to_repeat is not None and self.verdict_to_repeat.claim == found.claim:
            self.verdict_to_repeat = changed

    def forget_last_verdict(self, *, in_bulk: bool = False) -> None:
        """Let codes be about the chosen claim again: one moved, or the last verdict is none.

        Args:
            in_bulk: Whether it is none because a range was given one.
        """
        self.last_verdict = None
        self.was_given_in_bulk = in_bulk

    def forget_pending_flag(self, claim: ClaimId) -> None:
        """Take the flag of a claim as the store has it."""
        self.pending_flags.pop(claim, None)

    def clear_pending_flags(self) -> None:
        """Take every flag as the store has it."""
        self.pending_flags.clear()
