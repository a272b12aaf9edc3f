"""Giving verdicts and notes, and taking them back: what the review screen writes.

A verdict is painted at once and called saved when the disk has it. Acts go to the store's one
writer in the order of the keys; while any is on its way, the screen is ahead of the store.
"""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.plain import visible_line
from faithtui.domain.review import Action, LabelAct
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui import format as fmt
from faithtui.tui import place
from faithtui.tui.drawing.verdict import choices
from faithtui.tui.lines import Piece
from faithtui.tui.place import Focus
from faithtui.tui.screens.images import ImageScreen
from faithtui.tui.session import Session
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.claim_list import ClaimList
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.review_panes import Looked, ReviewPanes


class JudgingScreen(ImageScreen):
    """A screen on which claims get verdicts. Subclasses read conversations and move in them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u",
            "undo",
            "undo",
            tooltip="Take back the last act, in whichever conversation",
            id="review.undo",
        ),
        Binding("ctrl+r", "redo", "redo", tooltip="Do again what was taken back", id="review.redo"),
        Binding(
            "y,n,i,x",
            "verdict_elsewhere",
            "verdict",
            show=False,
            tooltip="Outside the list of claims: say that verdicts are given there",
            id="review.verdict-elsewhere",
        ),
        Binding("e", "note", "note", tooltip="Write a note on the claim", id="review.note"),
    ]

    panes = getters.query_one(ReviewPanes)
    note = getters.query_one("#note", PlainInput)

    @dataclass
    class Saved(Message):
        """An act of this screen is in the store."""

        words: str

    @dataclass
    class Lost(Message):
        """An act could not be saved."""

        claim: ClaimId
        words: str

    @dataclass
    class TakenBack(Message):
        """An undo or a redo is in the store."""

        act: LabelAct | None
        """None: there was nothing left."""
        item: ItemId | None
        """Conversation of the run that holds the claim; None: not in this run."""
        words: str
        """`undone` or `redone`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.looked: Looked | None = None
        """What is painted, with verdicts that are on their way to the store."""
        self.pending: dict[ClaimId, str] = {}
        """Verdicts on their way."""
        self.in_flight = 0
        """Acts on their way."""
        self.leaving = False
        """The last claim got its verdict: the next conversation comes once that is saved."""
        self.since = session.seconds()
        """When the chosen claim came on screen."""
        self.last = ""
        """The last act in words."""
        self.just_saved: tuple[Piece, ...] = ()
        """What was said of the run's last verdict, so that it is said beside what comes next."""

    @property
    def view(self) -> ReviewView | None:
        """The conversation, as it is painted."""
        return None if self.looked is None else self.looked.view

    @property
    def shown_view(self) -> ReviewView | None:
        """The conversation, as it is painted."""
        return self.view

    @property
    def at(self) -> Focus:
        """What is looked at in it."""
        return Focus() if self.looked is None else self.looked.at

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return None if self.looked is None else self.looked.claim

    def look(self, at: Focus, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw it."""
        raise NotImplementedError

    def load_next(self, direction: int) -> object:
        """Go to the next conversation that has a claim without a verdict."""
        raise NotImplementedError

    def go_to_claim(self, event: TakenBack, act: LabelAct, item: ItemId) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Add the line for notes, which takes the place of the status line while it is used."""
        yield from super().compose()
        yield PlainInput(
            id="note", placeholder="note: enter saves it, escape drops it", compact=True
        )

    # Verdicts

    @on(ClaimList.Judged)
    def give_verdict(self, event: ClaimList.Judged) -> None:
        """Save a verdict and go on."""
        looked = self.looked
        claim = None if looked is None else place.find(looked.view, event.claim)
        if looked is None or claim is None:
            self.app.bell()
            return
        words = f"{looked.spec.units[0]} {claim.number} = {fmt.word(event.label, looked.labels)}"
        self._submit(claim, place.acted(event.label, claim), event.label, None, words)
        self.pending[claim.id] = event.label
        self.last = words
        ahead = place.overlaid(looked.view, self.session.reviewer, self.pending)
        at = place.advanced(ahead, looked.at)
        self.leaving = at is None
        self.look(at or looked.at)

    @on(ClaimList.Refused)
    def refuse_verdict(self) -> None:
        """Tell that a key came before its claim was on screen."""
        self.app.bell()
        self.say(Piece("that key came before its row was drawn: nothing was saved", "warn"))

    def action_verdict_elsewhere(self) -> None:
        """Tell why a verdict key did nothing."""
        self.app.bell()
        looked = self.looked
        if looked is None or looked.claim is None:
            self.say(Piece("there is nothing here to give a verdict on", "warn"))
        elif self.focused is self.panes.claims:
            keys = " ".join(key for key, _, _ in choices(looked.spec))
            words = f"{looked.spec.title} has no verdict on this key: its keys are {keys}"
            self.say(Piece(words, "warn"))
        else:
            units = looked.spec.units[1]
            self.say(Piece(f"verdicts are given in the list of {units}: tab goes there", "warn"))

    def _submit(
        self, claim: ClaimView, action: Action, verdict: str | None, note: str | None, words: str
    ) -> None:
        """Hand an act to the writer and wait for it elsewhere."""
        store = self.session.store
        future = store.submit(
            store.reviews.record,
            claim.id,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.view is None else self.view.run.id,
            judge_verdict=claim.judge.label,
            saw_judge=True,
            seconds=max(0.0, self.session.seconds() - self.since),
            urgent=True,
            durable=True,
        )
        self.in_flight += 1
        self.say(Piece(f"saving {words} …", "quiet"))
        self.wait_saved(future, claim.id, words)

    @work(group="save", exit_on_error=False)
    async def wait_saved(self, future: Future[LabelAct], claim: ClaimId, words: str) -> None:
        """Wait for the disk and say so."""
        try:
            await asyncio.wrap_future(future)
        except Exception:
            self.post_message(self.Lost(claim, words))
            raise  # The app says what happened.
        self.post_message(self.Saved(words))

    @on(Saved)
    def show_saved(self, event: Saved) -> None:
        """Say that an act is safe, and show what it did to the scores."""
        moment = fmt.clock(self.session.now())
        told = (Piece(f"saved {moment}", "good"), Piece(f" · {event.words}"))
        self.just_saved = (*told, Piece(" · ")) if self.leaving else ()
        self.say(*told)
        self._settle()

    @on(Lost)
    def show_lost(self, event: Lost) -> None:
        """Go back to the claim and show it as the store has it."""
        self.leaving = False
        self.pending.pop(event.claim, None)
        self.last = ""
        self.say(Piece("not saved", "bad strong"), Piece(f" · {event.words}"))
        self.look(replace(self.at, claim=event.claim))
        self._settle()

    def _settle(self) -> None:
        """Read again when nothing is on its way any more."""
        self.in_flight -= 1
        if self.in_flight:
            return
        self.pending.clear()
        if self.leaving:
            self.leaving = False
            self.load_next(1)
        else:
            self.reload()

    # Taking back

    def action_undo(self) -> None:
        """Take back the last act of this reviewer."""
        store = self.session.store
        self.wait_taken_back(
            store.submit(store.reviews.undo, self.session.reviewer, urgent=True, durable=True),
            "undone",
        )

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        store = self.session.store
        self.wait_taken_back(
            store.submit(store.reviews.redo, self.session.reviewer, urgent=True, durable=True),
            "redone",
        )

    @work(group="save", exit_on_error=False)
    async def wait_taken_back(self, future: Future[LabelAct | None], words: str) -> None:
        """Wait for the disk and find where the claim is."""
        act = await asyncio.wrap_future(future)
        store, item = self.session.store, None
        if act is not None and self.session.run is not None:
            item = await self.read(store.reviews.location, self.session.run, act.claim)
        self.post_message(self.TakenBack(act, item, words))

    @on(TakenBack)
    def show_taken_back(self, event: TakenBack) -> None:
        """Go to the claim concerned."""
        self.leaving = False
        if event.act is None:
            self.say(Piece(f"nothing to be {event.words}", "warn"))
        elif event.item is None:
            self.say(Piece(f"{event.words}: a verdict on what is not in this run", "warn"))
        else:
            self.go_to_claim(event, event.act, event.item)

    def tell_taken_back(self, event: TakenBack) -> None:
        """Say what was taken back, once its claim is shown."""
        act, looked, claim = event.act, self.looked, self.claim
        if act is None or looked is None or claim is None:
            return
        what = f"{looked.spec.units[0]} {claim.number}"
        if act.verdict is not None:
            word = place.heard(looked.view, act.verdict) or act.verdict
            what += f" = {fmt.word(word, looked.labels)}"
        elif act.action is Action.NOTED:
            what = f"note on {what}"
        self.last = f"{event.words} {what}"
        self.say(Piece(f"{event.words}: ", "human strong"), Piece(what))
        self.look(looked.at)

    # Notes

    def action_note(self) -> None:
        """Open the line for a note, with the one that is there."""
        claim = self.claim
        if claim is None:
            return
        self.note.value = claim.mine.note if claim.mine and claim.mine.note else ""
        self.query_one(StatusLine).display = False
        self.note.display = True
        self.note.focus()

    @on(Input.Submitted, "#note")
    def save_note(self, event: Input.Submitted) -> None:
        """Save the note; an empty one removes it."""
        claim, looked = self.claim, self.looked
        self._close_note()
        before = (claim.mine.note or "") if claim is not None and claim.mine else ""
        if looked is not None and claim is not None and event.value != visible_line(before):
            words = f"note on {looked.spec.units[0]} {claim.number}"
            self._submit(claim, Action.NOTED, None, event.value, words)

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line for notes."""
        if event.key == "escape" and self.note.has_focus:
            event.stop()
            self._close_note()

    def _close_note(self) -> None:
        self.note.display = False
        self.query_one(StatusLine).display = True
        self.panes.claims.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a store or a conversation."""
        if action in ("undo", "redo"):
            return self.session.is_open
        if action == "note":
            return self.claim is not None
        return super().check_action(action, parameters)
