"""The keys that say something about a claim: verdicts, codes, marks, notes, a look at the judge."""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events, on, work
from textual.binding import Binding, BindingType

from faithtui.domain.annotations import REASON_CODES, Action, Mark
from faithtui.domain.ids import ClaimId
from faithtui.domain.text.sanitizing import visible_line
from faithtui.store.annotations.reviews import Given
from faithtui.store.records import ClaimView
from faithtui.tui.navigation import holds_keys
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.drawing.verdict import VERDICT_IDS, choices
from faithtui.tui.review.guideline import GuidelineDialog
from faithtui.tui.review.notes import NotingScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece

ASK_ABOVE = 5
"""Claims that get one verdict at once without a question."""


@dataclass(frozen=True, slots=True)
class LastGiven:
    """The verdict that was given last, for codes and for repeating."""

    claim: ClaimId
    number: int
    verdict: str
    code: str | None = None
    unsure: bool = False


class JudgingScreen(NotingScreen):
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
        self.given: LastGiven | None = None
        """The verdict given last, while one has not moved elsewhere since."""
        self.repeatable: LastGiven | None = None
        """The verdict given last."""
        self.range_from: ClaimId | None = None
        """Where the marked range begins."""

    def advance(self, claim: ClaimId, *, later: bool = False) -> None:
        """Go on after a verdict, or after putting a claim off."""
        raise NotImplementedError

    # Verdicts

    @on(ClaimList.Judged)
    def give_verdict(self, event: ClaimList.Judged) -> None:
        """Save a verdict, on the marked range if there is one, and go on."""
        claim = None if self.view is None else position.find(self.view, event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was saved")
            self.look(self.at)
        elif self.range_from is not None:
            self._give_range(event.label)
        else:
            self._give(claim, event.label, None)

    def _give(self, claim: ClaimView, verdict: str, code: str | None) -> None:
        self.answer(claim, verdict, code)
        self.given = self.repeatable = LastGiven(claim.id, claim.number, verdict, code)
        self.advance(claim.id)

    @on(NotingScreen.Lost)
    def forget_lost(self, event: NotingScreen.Lost) -> None:
        """Know nothing of what could not be saved: no verdict for codes, no look at the judge."""
        self.given = None
        self.session.revealed.discard(event.claim)
        if self.view is not None and position.find(self.view, event.claim) is not None:
            self.session.truths_open.discard(self.view.item.id)

    def action_undo(self) -> None:
        """Take back the last step; a code does not belong to a verdict taken back."""
        self.given = None
        super().action_undo()

    @on(ClaimList.Refused)
    def refuse_verdict(self) -> None:
        """Tell that a key came before its claim was on screen."""
        self.refuse("that key came before its row was drawn: nothing was saved")

    def action_verdict_elsewhere(self) -> None:
        """Tell why a verdict key did nothing."""
        looked = self.looked
        if looked is None or looked.claim is None:
            self.refuse("there is nothing here to give a verdict on")
        elif self.focused is self.panes.claims:
            keys = " ".join(
                self.keys(f"review.verdict-{VERDICT_IDS[key]}")
                for key, _, _ in choices(looked.spec)
            )
            self.refuse(f"{looked.spec.title} has no verdict on this key: its keys are {keys}")
        else:
            units = looked.spec.units[1]
            key = self.keys("screen.pane")
            self.refuse(f"verdicts are given in the list of {units}: {key} goes there")

    @on(ClaimList.Wanted)
    def do_wanted(self, event: ClaimList.Wanted) -> None:
        """Do what a key of the list asks for, on the claim that was painted."""
        claim = None if self.view is None else position.find(self.view, event.claim)
        if claim is None:
            self.refuse("that claim is not here any more: nothing was done")
            self.look(self.at)
            return
        match event.what:
            case "repeat":
                self._repeat(claim)
            case "accept":
                self._accept(claim)
            case "later":
                self._later(claim)
            case "flag":
                self._flag(claim)
            case "range":
                self._mark_range(claim)
            case _ if self.given is None and not event.drawn:
                self.refuse_verdict()
            case "unsure":
                self._unsure(claim)
            case _:
                self._code(claim, int(event.what.removeprefix("code-")))

    def _repeat(self, claim: ClaimView) -> None:
        """Give the verdict and the code that were given last."""
        if self.repeatable is None:
            self.refuse("nothing to repeat yet: give a verdict first")
            self.look(self.at)
        else:
            self._give(claim, self.repeatable.verdict, self.repeatable.code)

    def _accept(self, claim: ClaimView) -> None:
        """Take over the judge's verdict; it is no verdict of one's own."""
        label = claim.judge.label
        if self.view is not None and claim.id in self.view.hidden:
            key = self.keys("review.reveal")
            self.refuse(f"the judge is hidden: {key} reveals it, and that is recorded")
            self.look(self.at)
        elif label is None:
            self.refuse("the judge gave no verdict here: nothing to accept")
            self.look(self.at)
        else:
            words = f"{self.name_of(claim)}: the judge's verdict accepted: not counted in agreement"
            self.pending[claim.id] = label
            self.record(claim, Action.ACCEPTED, words, verdict=label)
            self.last, self.given = words, None
            self.advance(claim.id)

    def _later(self, claim: ClaimView) -> None:
        """Skip a claim."""
        if claim.mine is not None and claim.mine.verdict is not None:
            key = self.keys("review.undo")
            self.refuse(f"{self.name_of(claim)} has your verdict: {key} takes it back")
            self.look(self.at)
            return
        words = f"{self.name_of(claim)} skipped"
        self.record(claim, Action.SKIPPED, words)
        self.last, self.given = words, None
        self.advance(claim.id, later=True)

    def _flag(self, claim: ClaimView) -> None:
        """Set a flag, or take it away."""
        flagged = claim.mine is not None and claim.mine.flagged
        mark = Mark.UNFLAG if flagged else Mark.FLAG
        words = f"{self.name_of(claim)} {'no longer flagged' if flagged else 'flagged'}"
        self.record(claim, Action.MARKED, words, mark=mark)
        self.last = words

    # What belongs to a verdict

    def _target(self, claim: ClaimView) -> LastGiven | None:
        """Find the verdict a code or a doubt is about: the last one, else the chosen claim's.

        Returns:
            None when there is none; that was said.
        """
        if self.given is not None:
            return self.given
        mine = claim.mine
        if mine is not None and mine.verdict is not None:
            return LastGiven(claim.id, claim.number, mine.verdict, mine.code, mine.unsure)
        self.refuse("reason codes and low confidence belong to a label of yours: give one first")
        return None

    def _code(self, claim: ClaimView, number: int) -> None:
        """Say which stage failed; the same key again takes it back."""
        found = self._target(claim)
        if found is None:
            return
        code = REASON_CODES[number - 1]
        name = None if found.code == code.name else code.name
        words = f"{self._unit(found)}: " + (f"code {code.title}" if name else "no code")
        self._record_on(found, Action.CODED, words, code=name)
        self._remember(found, name, found.unsure)

    def _unsure(self, claim: ClaimView) -> None:
        """Say that one is not sure of a verdict, or is again."""
        found = self._target(claim)
        if found is None:
            return
        mark = Mark.SURE if found.unsure else Mark.UNSURE
        words = f"{self._unit(found)}: {'sure again' if found.unsure else 'low confidence'}"
        self._record_on(found, Action.MARKED, words, mark=mark)
        self._remember(found, found.code, not found.unsure)

    def _unit(self, found: LastGiven) -> str:
        unit = "claim" if self.looked is None else self.looked.spec.units[0]
        return f"{unit} {found.number}"

    def _record_on(
        self,
        found: LastGiven,
        action: Action,
        words: str,
        *,
        code: str | None = None,
        mark: Mark | None = None,
    ) -> None:
        """Save an act on a claim that may not be the one on screen."""
        self.last = words
        self.submit(
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

    def _remember(self, found: LastGiven, code: str | None, unsure: bool) -> None:
        changed = LastGiven(found.claim, found.number, found.verdict, code, unsure)
        if self.given is not None:
            self.given = changed
        if self.repeatable is not None and self.repeatable.claim == found.claim:
            self.repeatable = changed

    # Many at once

    def _mark_range(self, claim: ClaimView) -> None:
        """Begin a range at a claim, or drop it."""
        queue = self.session.claims
        if self.range_from is not None:
            self.range_from = None
            self.say(Piece("no range any more", "quiet"))
        elif queue is not None and queue.sample is not None:
            self.refuse("in a sample each claim needs a verdict of its own")
            return
        else:
            self.range_from = claim.id
            self.say(
                Piece(f"range from {self.name_of(claim)}", "human strong"),
                Piece(f": move, then one verdict for all · {self.keys('review.range')} drops it"),
            )
        self.look(self.at)

    def _give_range(self, verdict: str) -> None:
        """Give one verdict on all claims of the marked range, as one step."""
        looked = self.looked
        if looked is None:
            return
        chosen = position.between(looked.view, looked.at, self.range_from)
        if not chosen:
            self.range_from = None
            key = self.keys("review.range")
            self.refuse(f"the range is not in this list: {key} marks a new one")
            self.look(self.at)
            return
        words = (
            f"{fmt.plural(len(chosen), *looked.spec.units)} = {fmt.word(verdict, looked.labels)}"
        )

        def give(answer: str | None) -> None:
            if answer == "yes":
                self._save_range(chosen, verdict, f"{words}, in bulk")

        if len(chosen) > ASK_ABOVE:
            self.navigation.open_window(
                ConfirmDialog(
                    f"{words}?",
                    "Labels given in bulk are not counted in agreement. "
                    "One undo takes all of them back.",
                ),
                give,
            )
        else:
            give("yes")

    def _save_range(self, chosen: tuple[ClaimView, ...], verdict: str, words: str) -> None:
        given = [Given(claim.id, verdict, claim.judge.label, self.knows(claim)) for claim in chosen]
        self.pending |= {claim.id: verdict for claim in chosen}
        self.range_from, self.given, self.last = None, None, words
        self.submit(
            chosen[0].id,
            words,
            self.session.store.reviews.record_many,
            given,
            self.session.reviewer,
            Action.BULK,
            run=None if self.view is None else self.view.run.id,
        )
        self.look(replace(self.at, claim=chosen[-1].id))
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
            self.record(claim, Action.REVEALED, words)
        elif claim.id in self.session.revealed:
            self.session.revealed.discard(claim.id)
            self.say(Piece("hidden again; that it was looked at stays on record", "quiet"))
            self.forget_prepared()
            self.reload()
        elif self.session.blind:
            self.refuse("nothing is hidden here: you have answered, or it is served with the judge")
        else:
            key = self.keys("review.blind")
            self.refuse(f"the judge is shown: {key} hides it on what has no verdict of yours")

    def action_truths(self) -> None:
        """Show the truths of the conversation while verdicts stay hidden."""
        view = self.view
        if view is None or not view.blind:
            self.refuse("no truths are hidden here")
            return
        if view.item.id in self.session.truths_open:
            self.session.truths_open.discard(view.item.id)
            self.say(Piece("truths hidden again; that they were revealed stays recorded"))
            self.reload()
            return
        self.session.truths_open.add(view.item.id)
        hidden = [claim for claim in view.claims if claim.id in view.hidden]
        words = "the judge's truths of this conversation revealed, which is recorded"
        self.submit(
            (self.claim or hidden[0]).id,
            words,
            self.session.store.reviews.record_many,
            [Given(claim.id, None, None, saw_judge=True) for claim in hidden],
            self.session.reviewer,
            Action.REVEALED,
            run=view.run.id,
        )

    def action_blind(self) -> None:
        """Hide the judge from now on, or stop hiding it."""
        queue = self.session.claims
        if queue is not None and queue.blind:
            key = self.keys("review.reveal")
            title = visible_line(queue.title, 40)
            self.refuse(f"{title} is a blind queue: {key} reveals one claim, and records it")
            return
        if queue is not None and queue.tells:
            self.refuse("these were chosen by the judge's verdict: nobody is blind to it here")
            return
        self.session.blinded = not self.session.blinded
        if self.session.blinded:
            self.say(
                Piece("blind", "human strong"), Piece(": the judge is hidden until you answer")
            )
        else:
            self.say(Piece("the judge is shown again", "warn"))
        self.forget_prepared()
        self.reload()

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="guideline", exit_on_error=False)
    async def action_guideline(self) -> None:
        """Show the guideline."""
        versions = await self.read(self.session.store.guidelines.versions)
        self.navigation.open_window(GuidelineDialog(self.session, versions))

    def forget_prepared(self) -> None:
        """Drop conversations that were read ahead."""
        raise NotImplementedError

    def on_key(self, event: events.Key) -> None:
        """Let escape drop the range."""
        super().on_key(event)
        if event.key == "escape" and self.range_from is not None and not self.note.has_focus:
            event.stop()
            self.range_from = None
            self.look(self.at)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action in ("reveal", "blind"):
            return self.claim is not None
        if action == "truths":
            return self.view is not None and self.view.blind
        return super().check_action(action, parameters)
