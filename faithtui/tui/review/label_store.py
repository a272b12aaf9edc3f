"""Writing what people say, and taking it back: how the review screen talks to the store.

An act is painted at once and called saved when the disk has it. Acts go to the store's one writer
in the order of the keys; while any is on its way, the screen is ahead of the store.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.annotations import Action, LabelAct, Mark, Step
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review import position
from faithtui.tui.review.images import ImageScreen
from faithtui.tui.review.panes import Looked, ReviewPanes
from faithtui.tui.review.position import Focus
from faithtui.tui.screen.undo import TakingBackScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece


class ActingScreen(TakingBackScreen, ImageScreen):
    """A screen on which something is said about claims. Subclasses read and move."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "u",
            "undo",
            "undo",
            tooltip="Take back the last act, in whichever conversation",
            id="review.undo",
        ),
        Binding("ctrl+r", "redo", "redo", tooltip="Do again what was taken back", id="review.redo"),
    ]

    panes = getters.query_one(ReviewPanes)

    @dataclass
    class Saved(Message):
        """An act of this screen is in the store."""

        words: str

    @dataclass
    class Lost(Message):
        """An act could not be saved."""

        claim: ClaimId
        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.looked: Looked | None = None
        """What is painted, with verdicts that are on their way to the store."""
        self.pending: dict[ClaimId, str] = {}
        """Verdicts on their way."""
        self.in_flight = 0
        """Acts on their way."""
        self.settled = asyncio.Event()
        """Set while nothing is on its way."""
        self.settled.set()
        self._leaving = False
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

    @property
    def leaving(self) -> bool:
        """The last claim got its verdict: the next conversation comes once that is saved.

        Keys wait for it: a verdict that is typed ahead is about the first claim there.
        """
        return self._leaving

    @leaving.setter
    def leaving(self, leaving: bool) -> None:
        if leaving and not self._leaving:
            self.navigation.hold_keys(self)
        elif self._leaving and not leaving:
            self.navigation.release_keys(self)
        self._leaving = leaving

    def look(self, at: Focus, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw it."""
        raise NotImplementedError

    def read_again(self) -> None:
        """Read what is shown again, but never in the way of a jump to another conversation."""
        raise NotImplementedError

    def load_next(self, direction: int, *, after_verdict: bool = False) -> object:
        """Go to the next conversation that has a claim without a verdict.

        Args:
            direction: 1 forward, -1 backward.
            after_verdict: Nobody asked for it: the last claim got its verdict.
        """
        raise NotImplementedError

    def go_to_claim(self, event: TakingBackScreen.TakenBack, act: LabelAct, item: ItemId) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        raise NotImplementedError

    # Saving

    def knows(self, claim: ClaimView) -> bool:
        """Whether the reviewer knows the judge's verdict on a claim."""
        return claim.seen or self.view is None or claim.id not in self.view.hidden

    def name_of(self, claim: ClaimView) -> str:
        """Name a claim on the status line."""
        unit = "claim" if self.looked is None else self.looked.spec.units[0]
        return f"{unit} {claim.number}"

    def answer(self, claim: ClaimView, verdict: str, code: str | None = None) -> None:
        """Save a verdict of one's own."""
        view, queue = self.view, self.session.claims
        if view is None:
            return
        labels = self.looked.labels if self.looked else None
        words = f"{self.name_of(claim)} = {fmt.word(verdict, labels) if labels else verdict}"
        self.pending[claim.id] = verdict
        self.last = words
        self.submit(
            claim.id,
            words,
            self.session.store.reviews.answer,
            claim.id,
            self.session.reviewer,
            verdict,
            run=view.run.id,
            saw_judge=self.knows(claim),
            repeats=queue is not None and queue.repeats,
            seconds=self.taken_s(),
            code=code,
            sample=self.sample_of(claim),
        )

    def record(
        self,
        claim: ClaimView,
        action: Action,
        words: str,
        *,
        verdict: str | None = None,
        note: str | None = None,
        code: str | None = None,
        mark: Mark | None = None,
    ) -> None:
        """Save an act that is no verdict of one's own."""
        self.submit(
            claim.id,
            words,
            self.session.store.reviews.record,
            claim.id,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.view is None else self.view.run.id,
            judge_verdict=claim.judge.label,
            saw_judge=action is Action.REVEALED or self.knows(claim),
            seconds=self.taken_s() if verdict is not None else None,
            code=code,
            mark=mark,
            sample=self.sample_of(claim),
        )

    def sample_of(self, claim: ClaimView) -> Any:
        """Give the sample that a claim is served from; None for one outside it."""
        queue = self.session.claims
        return queue.sample if queue is not None and claim.id in queue.place else None

    def taken_s(self) -> float:
        """Tell for how many seconds the chosen claim has been on screen."""
        return max(0.0, self.session.seconds() - self.since)

    def submit(
        self, claim: ClaimId, words: str, write: Callable[..., object], *args: object, **kwargs: Any
    ) -> None:
        """Hand an act to the writer and wait for it elsewhere."""
        future = self.session.store.submit(write, *args, **kwargs, urgent=True, durable=True)
        self.in_flight += 1
        self.settled.clear()
        self.say(Piece(f"saving {words} …", "quiet"))
        self.wait_saved(future, claim, words)

    @work(group="save", exit_on_error=False)
    async def wait_saved(self, future: Future[object], claim: ClaimId, words: str) -> None:
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
        if self.view is not None and position.find(self.view, event.claim) is not None:
            self.look(replace(self.at, claim=event.claim))
        self._settle()

    def _settle(self) -> None:
        """Read again when nothing is on its way any more."""
        self.in_flight -= 1
        if self.in_flight:
            return
        self.settled.set()
        self.pending.clear()
        if self.leaving:
            self.leaving = False
            self.load_next(1, after_verdict=True)
        else:
            self.read_again()

    # Taking back

    @on(TakingBackScreen.TakenBack)
    def show_taken_back(self, event: TakingBackScreen.TakenBack) -> None:
        """Go to the claim concerned."""
        self.leaving = False
        if not event.acts:
            self.say(Piece(f"nothing to be {event.words}", "warn"))
        elif event.item is None:
            self.say(Piece(f"{event.words}: a verdict on what is not in this run", "warn"))
        else:
            self.go_to_claim(event, event.acts[0], event.item)

    def tell_taken_back(self, event: TakingBackScreen.TakenBack) -> None:
        """Say what was taken back, once its claim is shown."""
        looked, claim = self.looked, self.claim
        if not event.acts or looked is None or claim is None:
            return
        what = self._told(event.acts, looked, claim)
        self.last = f"{event.words} {what}"
        self.say(Piece(f"{event.words}: ", "human strong"), Piece(what))
        self.look(looked.at)

    def _told(self, acts: Step, looked: Looked, claim: ClaimView) -> str:
        act, what = acts[0], self.name_of(claim)
        if len(acts) > 1:
            return f"{fmt.plural(len(acts), 'verdict')} given at once, from {what} on"
        if act.verdict is not None:
            word = position.heard(looked.view, act.verdict) or act.verdict
            return f"{what} = {fmt.word(word, looked.labels)}"
        match act.action:
            case Action.NOTED:
                return f"note on {what}"
            case Action.CODED:
                return f"reason code on {what}"
            case Action.MARKED:
                return f"{act.mark or 'mark'} on {what}"
            case Action.SKIPPED:
                return f"{what} skipped"
            case _:
                return what
