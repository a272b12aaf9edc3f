"""The keys that say something about a claim: verdicts, codes, marks, notes, a look at the judge."""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType

from faithtui.domain.annotations import REASON_CODES, Action, LabelMark
from faithtui.domain.ids import ClaimId
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.store.annotations.reviews import NewLabel
from faithtui.store.records import ClaimView
from faithtui.tui.navigation import holds_keys
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.guideline import GuidelineDialog
from faithtui.tui.review.lines.verdict import VERDICT_IDS, list_verdict_choices
from faithtui.tui.review.notes import NotesScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

ASK_ABOVE = 5
"""Claims that get one verdict at once without a question."""


@dataclass(frozen=True, slots=True)
class LastVerdict:
    """The verdict that was given last, for codes and for repeating."""

    claim: ClaimId
    number: int
    verdict: str
    code: str | None = None
    unsure: bool = False


class VerdictScreen(NotesScreen):
    """A screen on which claims get verdicts. Subclasses read conversations and move in them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "y,n,i,x",
            "verdict_elsewhere",
            "verdict",
            show=False,
            tooltip="Outside the list of claims: say that verdicts are given there",
            id="review.verdict-elsewhere",
        ),
        Binding(
            "v",
            "reveal",
            "reveal",
            tooltip="Blind: show the judge's verdict on this claim, or hide it again; that it "
            "was revealed is recorded",
            id="review.reveal",
        ),
        Binding(
            "T",
            "truths",
            "truths",
            show=False,
            tooltip="Blind: show the truths the judge drew, but no verdict; recorded as revealed",
            id="review.truths",
        ),
        Binding(
            "h",
            "guideline",
            "guideline",
            show=False,
            tooltip="Read the guideline in force, or write a new version of it",
            id="review.guideline",
        ),
        Binding(
            "B",
            "blind",
            "blind on/off",
            show=False,
            tooltip="Hide the judge until a claim has your verdict, or stop hiding it",
            id="review.blind",
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.last_verdict: LastVerdict | None = None
        """The verdict given last, while one has not moved elsewhere since."""
        self.verdict_to_repeat: LastVerdict | None = None
        """The verdict given last."""
        self.range_start: ClaimId | None = None
        """Where the marked range begins."""

    def advance(self, claim: ClaimId, *, later: bool = False) -> None:
        """Go on after a verdict, or after putting a claim off."""
        raise NotImplementedError

    # Verdicts

    @on(ClaimList.VerdictGiven)
    def give_verdict(self, event: ClaimList.VerdictGiven) -> None:
        """Save a verdict, on the marked range if there is one, and go on."""
        claim = None if self.view is None else position.find_claim(self.view, event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was saved")
            self.update_view(self.review_position)
        elif self.range_start is not None:
            self._give_range(event.label)
        else:
            self._save_and_advance(claim, event.label, None)

    def _save_and_advance(self, claim: ClaimView, verdict: str, code: str | None) -> None:
        self.save_verdict(claim, verdict, code)
        self.last_verdict = self.verdict_to_repeat = LastVerdict(
            claim.id, claim.number, verdict, code
        )
        self.advance(claim.id)

    @on(NotesScreen.SaveFailed)
    def forget_unsaved_verdict(self, event: NotesScreen.SaveFailed) -> None:
        """Know nothing of what could not be saved: no verdict for codes, no look at the judge."""
        self.last_verdict = None
        self.session.revealed.discard(event.claim)
        if self.view is not None and position.find_claim(self.view, event.claim) is not None:
            self.session.revealed_truths.discard(self.view.item.id)

    def action_undo(self) -> None:
        """Take back the last step; a code does not belong to a verdict taken back."""
        self.last_verdict = None
        super().action_undo()

    @on(ClaimList.PressedTooEarly)
    def refuse_verdict(self) -> None:
        """Tell that a key came before its claim was on screen."""
        self.refuse("that key came before its row was drawn: nothing was saved")

    def action_verdict_elsewhere(self) -> None:
        """Tell why a verdict key did nothing."""
        looked = self.review_state
        if looked is None or looked.claim is None:
            self.refuse("there is nothing here to give a verdict on")
        elif self.focused is self.panes.claims:
            keys = " ".join(
                self.keys(f"review.verdict-{VERDICT_IDS[key]}")
                for key, _, _ in list_verdict_choices(looked.spec)
            )
            self.refuse(f"{looked.spec.title} has no verdict on this key: its keys are {keys}")
        else:
            units = looked.spec.units[1]
            key = self.keys("screen.pane")
            self.refuse(f"verdicts are given in the list of {units}: {key} goes there")

    @on(ClaimList.ActionRequested)
    def run_requested_action(self, event: ClaimList.ActionRequested) -> None:
        """Do what a key of the list asks for, on the claim that was painted."""
        claim = None if self.view is None else position.find_claim(self.view, event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was done")
            self.update_view(self.review_position)
            return
        match event.action:
            case "repeat":
                self._repeat_verdict(claim)
            case "accept":
                self._accept_judge_verdict(claim)
            case "later":
                self._skip_claim(claim)
            case "flag":
                self._toggle_flag(claim)
            case "range":
                self._mark_range(claim)
            case _ if self.last_verdict is None and not event.was_drawn:
                self.refuse_verdict()
            case "unsure":
                self._toggle_unsure(claim)
            case _:
                self._toggle_code(claim, event.action.removeprefix("code-"))

    def _repeat_verdict(self, claim: ClaimView) -> None:
        """Give the verdict and the code that were given last."""
        if self.verdict_to_repeat is None:
            self.refuse("nothing to repeat yet: give a verdict first")
            self.update_view(self.review_position)
        else:
            self._save_and_advance(
                claim, self.verdict_to_repeat.verdict, self.verdict_to_repeat.code
            )

    def _accept_judge_verdict(self, claim: ClaimView) -> None:
        """Take over the judge's verdict; it is no verdict of one's own."""
        label = claim.home_verdict.label
        if self.view is not None and claim.id in self.view.hidden:
            key = self.keys("review.reveal")
            self.refuse(f"the judge is hidden: {key} reveals it, and that is recorded")
            self.update_view(self.review_position)
        elif label is None:
            self.refuse("the judge gave no verdict here: nothing to accept")
            self.update_view(self.review_position)
        else:
            words = f"{self.name_of(claim)}: the judge's verdict accepted: not counted in agreement"
            self.pending_verdicts[claim.id] = label
            self.save_act(claim, Action.ACCEPTED, words, verdict=label)
            self.last_act_words, self.last_verdict = words, None
            self.advance(claim.id)

    def _skip_claim(self, claim: ClaimView) -> None:
        """Skip a claim."""
        if claim.mine is not None and claim.mine.verdict is not None:
            key = self.keys("review.undo")
            self.refuse(f"{self.name_of(claim)} has your verdict: {key} takes it back")
            self.update_view(self.review_position)
            return
        words = f"{self.name_of(claim)} skipped"
        self.save_act(claim, Action.SKIPPED, words)
        self.last_act_words, self.last_verdict = words, None
        self.advance(claim.id, later=True)

    def _toggle_flag(self, claim: ClaimView) -> None:
        """Set a flag, or take it away."""
        flagged = claim.mine is not None and claim.mine.flagged
        mark = LabelMark.UNFLAG if flagged else LabelMark.FLAG
        words = f"{self.name_of(claim)} {'no longer flagged' if flagged else 'flagged'}"
        self.save_act(claim, Action.MARKED, words, mark=mark)
        self.last_act_words = words

    # What belongs to a verdict

    def _find_verdict(self, claim: ClaimView) -> LastVerdict | None:
        """Find the verdict a code or a doubt is about: the last one, else the chosen claim's.

        Returns:
            None when there is none; that was said.
        """
        if self.last_verdict is not None:
            return self.last_verdict
        mine = claim.mine
        if mine is not None and mine.verdict is not None:
            return LastVerdict(claim.id, claim.number, mine.verdict, mine.code, mine.unsure)
        self.refuse("reason codes and low confidence belong to a label of yours: give one first")
        return None

    def _toggle_code(self, claim: ClaimView, name: str) -> None:
        """Say which stage failed; the same key again takes it back."""
        found = self._find_verdict(claim)
        if found is None:
            return
        title = next(code.title for code in REASON_CODES if code.name == name)
        code = None if found.code == name else name
        words = f"{self._name_verdict_claim(found)}: " + (f"code {title}" if code else "no code")
        self._save_act_on(found, Action.CODED, words, code=code)
        self._update_last_verdict(found, code, found.unsure)

    def _toggle_unsure(self, claim: ClaimView) -> None:
        """Say that one is not sure of a verdict, or is again."""
        found = self._find_verdict(claim)
        if found is None:
            return
        mark = LabelMark.SURE if found.unsure else LabelMark.UNSURE
        words = (
            f"{self._name_verdict_claim(found)}: "
            f"{'sure again' if found.unsure else 'low confidence'}"
        )
        self._save_act_on(found, Action.MARKED, words, mark=mark)
        self._update_last_verdict(found, found.code, not found.unsure)

    def _name_verdict_claim(self, found: LastVerdict) -> str:
        unit = "claim" if self.review_state is None else self.review_state.spec.units[0]
        return f"{unit} {found.number}"

    def _save_act_on(
        self,
        found: LastVerdict,
        action: Action,
        words: str,
        *,
        code: str | None = None,
        mark: LabelMark | None = None,
    ) -> None:
        """Save an act on a claim that may not be the one on screen."""
        self.last_act_words = words
        self.submit_act(
            found.claim,
            words,
            self.session.store.reviews.record,
            found.claim,
            self.session.reviewer,
            action,
            run=None if self.view is None else self.view.run.id,
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

    # Many at once

    def _mark_range(self, claim: ClaimView) -> None:
        """Begin a range at a claim, or drop it."""
        queue = self.session.claim_queue
        if self.range_start is not None:
            self.range_start = None
            self.show_message(Piece("no range any more", "quiet"))
        elif queue is not None and queue.sample is not None:
            self.refuse("in a sample each claim needs a verdict of its own")
            return
        else:
            self.range_start = claim.id
            self.show_message(
                Piece(f"range from {self.name_of(claim)}", "human strong"),
                Piece(f": move, then one verdict for all · {self.keys('review.range')} drops it"),
            )
        self.update_view(self.review_position)

    def _give_range(self, verdict: str) -> None:
        """Give one verdict on all claims of the marked range, as one step."""
        looked = self.review_state
        if looked is None:
            return
        chosen = position.list_range(looked.view, looked.position, self.range_start)
        if not chosen:
            self.range_start = None
            key = self.keys("review.range")
            self.refuse(f"the range is not in this list: {key} marks a new one")
            self.update_view(self.review_position)
            return
        words = (
            f"{fmt.count_in_words(len(chosen), *looked.spec.units)} = "
            f"{fmt.describe_label(verdict, looked.labels)}"
        )

        def save_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self._save_range(chosen, verdict, f"{words}, in bulk")

        if len(chosen) > ASK_ABOVE:
            self.navigation.open_window(
                ConfirmDialog(
                    f"{words}?",
                    "Labels given in bulk are not counted in agreement. "
                    "One undo takes all of them back.",
                ),
                save_if_confirmed,
            )
        else:
            save_if_confirmed("yes")

    def _save_range(self, chosen: tuple[ClaimView, ...], verdict: str, words: str) -> None:
        given = [
            NewLabel(claim.id, verdict, claim.home_verdict.label, self.has_seen_judge(claim))
            for claim in chosen
        ]
        self.pending_verdicts |= {claim.id: verdict for claim in chosen}
        self.range_start, self.last_verdict, self.last_act_words = None, None, words
        self.submit_act(
            chosen[0].id,
            words,
            self.session.store.reviews.record_many,
            given,
            self.session.reviewer,
            Action.BULK,
            run=None if self.view is None else self.view.run.id,
        )
        self.update_view(replace(self.review_position, claim=chosen[-1].id))
        self.advance(chosen[-1].id)

    # Looking at the judge

    def action_reveal(self) -> None:
        """Show the judge's verdict on the chosen claim, or hide it again."""
        claim, view = self.claim, self.view
        if claim is None or view is None:
            return
        if claim.id in view.hidden:
            self.session.revealed.add(claim.id)
            words = f"the judge's verdict on {self.name_of(claim)} revealed, which is recorded"
            self.save_act(claim, Action.REVEALED, words)
        elif claim.id in self.session.revealed:
            self.session.revealed.discard(claim.id)
            self.show_message(Piece("hidden again; that it was looked at stays on record", "quiet"))
            self.forget_read_ahead()
            self.reload()
        elif self.session.is_blind:
            self.refuse("nothing is hidden here: you have answered, or it is served with the judge")
        else:
            key = self.keys("review.blind")
            self.refuse(f"the judge is shown: {key} hides it on what has no verdict of yours")

    def action_truths(self) -> None:
        """Show the truths of the conversation while verdicts stay hidden."""
        view = self.view
        if view is None or not view.is_blind:
            self.refuse("no truths are hidden here")
            return
        if view.item.id in self.session.revealed_truths:
            self.session.revealed_truths.discard(view.item.id)
            self.show_message(Piece("truths hidden again; that they were revealed stays recorded"))
            self.reload()
            return
        self.session.revealed_truths.add(view.item.id)
        hidden = [claim for claim in view.claims if claim.id in view.hidden]
        words = "the judge's truths of this conversation revealed, which is recorded"
        self.submit_act(
            (self.claim or hidden[0]).id,
            words,
            self.session.store.reviews.record_many,
            [NewLabel(claim.id, None, None, saw_judge=True) for claim in hidden],
            self.session.reviewer,
            Action.REVEALED,
            run=view.run.id,
        )

    def action_blind(self) -> None:
        """Hide the judge from now on, or stop hiding it."""
        queue = self.session.claim_queue
        if queue is not None and queue.blind:
            key = self.keys("review.reveal")
            title = make_visible_line(queue.title, 40)
            self.refuse(f"{title} is a blind queue: {key} reveals one claim, and records it")
            return
        if queue is not None and queue.reveals_judge:
            self.refuse("these were chosen by the judge's verdict: nobody is blind to it here")
            return
        self.session.is_judge_hidden = not self.session.is_judge_hidden
        if self.session.is_judge_hidden:
            self.show_message(
                Piece("blind", "human strong"), Piece(": the judge is hidden until you answer")
            )
        else:
            self.show_message(Piece("the judge is shown again", "warn"))
        self.forget_read_ahead()
        self.reload()

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="guideline", exit_on_error=False)
    async def action_guideline(self) -> None:
        """Show the guideline."""
        versions = await self.read(self.session.store.guidelines.versions)
        self.navigation.open_window(GuidelineDialog(self.session, versions))

    def forget_read_ahead(self) -> None:
        """Drop conversations that were read ahead."""
        raise NotImplementedError

    def on_key(self, event: events.Key) -> None:
        """Let escape drop the range."""
        super().on_key(event)
        if event.key == "escape" and self.range_start is not None and not self.note.has_focus:
            event.stop()
            self.range_start = None
            self.update_view(self.review_position)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action in ("reveal", "blind"):
            return self.claim is not None
        if action == "truths":
            return self.view is not None and self.view.is_blind
        return super().check_action(action, parameters)
