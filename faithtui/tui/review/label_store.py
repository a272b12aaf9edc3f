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

from faithtui.domain.annotations import Action, LabelEvent, LabelMark, Step
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review import position
from faithtui.tui.review.images import ImageScreen
from faithtui.tui.review.panes import ReviewPanes, ReviewState
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.screen.undo import UndoScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece


class LabelWriterScreen(UndoScreen, ImageScreen):
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
    class SaveFailed(Message):
        """An act could not be saved."""

        claim: ClaimId
        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.review_state: ReviewState | None = None
        """What is painted, with verdicts that are on their way to the store."""
        self.pending_verdicts: dict[ClaimId, str] = {}
        """Verdicts on their way."""
        self.in_flight = 0
        """Acts on their way."""
        self.saves_done = asyncio.Event()
        """Set while nothing is on its way."""
        self.saves_done.set()
        self._leaving = False
        self.claim_shown_s = session.seconds()
        """When the chosen claim came on screen."""
        self.last_act_words = ""
        """The last act in words."""
        self.just_saved: tuple[Piece, ...] = ()
        """What was said of the run's last verdict, so that it is said beside what comes next."""

    @property
    def view(self) -> ReviewView | None:
        """The conversation, as it is painted."""
        return None if self.review_state is None else self.review_state.view

    @property
    def displayed_view(self) -> ReviewView | None:
        """The conversation, as it is painted."""
        return self.view

    @property
    def review_position(self) -> ReviewPosition:
        """What is looked at in it."""
        return ReviewPosition() if self.review_state is None else self.review_state.position

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return None if self.review_state is None else self.review_state.claim

    @property
    def is_leaving(self) -> bool:
        """The last claim got its verdict: the next conversation comes once that is saved.

        Keys wait for it: a verdict that is typed ahead is about the first claim there.
        """
        return self._leaving

    @is_leaving.setter
    def is_leaving(self, leaving: bool) -> None:
        if leaving and not self._leaving:
            self.navigation.hold_keys(self)
        elif self._leaving and not leaving:
            self.navigation.release_keys(self)
        self._leaving = leaving

    def update_view(self, at: ReviewPosition, *, fresh: bool = False) -> None:
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

    def go_to_claim(self, event: UndoScreen.TakenBack, act: LabelEvent, item: ItemId) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        raise NotImplementedError

    # Saving

    def has_seen_judge(self, claim: ClaimView) -> bool:
        """Whether the reviewer knows the judge's verdict on a claim."""
        return claim.seen or self.view is None or claim.id not in self.view.hidden

    def name_of(self, claim: ClaimView) -> str:
        """Name a claim on the status line."""
        unit = "claim" if self.review_state is None else self.review_state.spec.units[0]
        return f"{unit} {claim.number}"

    def save_verdict(self, claim: ClaimView, verdict: str, code: str | None = None) -> None:
        """Save a verdict of one's own."""
        view, queue = self.view, self.session.claim_queue
        if view is None:
            return
        labels = self.review_state.labels if self.review_state else None
        words = (
            f"{self.name_of(claim)} = {fmt.describe_label(verdict, labels) if labels else verdict}"
        )
        self.pending_verdicts[claim.id] = verdict
        self.last_act_words = words
        self.submit_act(
            claim.id,
            words,
            self.session.store.reviews.record_verdict,
            claim.id,
            self.session.reviewer,
            verdict,
            run=view.run.id,
            saw_judge=self.has_seen_judge(claim),
            repeats=queue is not None and queue.repeats,
            seconds=self.count_seconds_shown(),
            code=code,
            sample=self.sample_of(claim),
        )

    def save_act(
        self,
        claim: ClaimView,
        action: Action,
        words: str,
        *,
        verdict: str | None = None,
        note: str | None = None,
        code: str | None = None,
        mark: LabelMark | None = None,
    ) -> None:
        """Save an act that is no verdict of one's own."""
        self.submit_act(
            claim.id,
            words,
            self.session.store.reviews.record,
            claim.id,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.view is None else self.view.run.id,
            judge_verdict=claim.home_verdict.label,
            saw_judge=action is Action.REVEALED or self.has_seen_judge(claim),
            seconds=self.count_seconds_shown() if verdict is not None else None,
            code=code,
            mark=mark,
            sample=self.sample_of(claim),
        )

    def sample_of(self, claim: ClaimView) -> Any:
        """Give the sample that a claim is served from; None for one outside it."""
        queue = self.session.claim_queue
        return queue.sample if queue is not None and claim.id in queue.place else None

    def count_seconds_shown(self) -> float:
        """Tell for how many seconds the chosen claim has been on screen."""
        return max(0.0, self.session.seconds() - self.claim_shown_s)

    def submit_act(
        self, claim: ClaimId, words: str, write: Callable[..., object], *args: object, **kwargs: Any
    ) -> None:
        """Hand an act to the writer and wait for it elsewhere."""
        future = self.session.store.submit(write, *args, **kwargs, urgent=True, durable=True)
        self.in_flight += 1
        self.saves_done.clear()
        self.show_message(Piece(f"saving {words} …", "quiet"))
        self.wait_saved(future, claim, words)

    @work(group="save", exit_on_error=False)
    async def wait_saved(self, future: Future[object], claim: ClaimId, words: str) -> None:
        """Wait for the disk and say so."""
        try:
            await asyncio.wrap_future(future)
        except Exception:
            self.post_message(self.SaveFailed(claim, words))
            raise  # The app says what happened.
        self.post_message(self.Saved(words))

    @on(Saved)
    def show_saved(self, event: Saved) -> None:
        """Say that an act is safe, and show what it did to the scores."""
        moment = fmt.format_time(self.session.now())
        told = (Piece(f"saved {moment}", "good"), Piece(f" · {event.words}"))
        self.just_saved = (*told, Piece(" · ")) if self.is_leaving else ()
        self.show_message(*told)
        self._end_save()

    @on(SaveFailed)
    def show_save_failure(self, event: SaveFailed) -> None:
        """Go back to the claim and show it as the store has it."""
        self.is_leaving = False
        self.pending_verdicts.pop(event.claim, None)
        self.last_act_words = ""
        self.show_message(Piece("not saved", "bad strong"), Piece(f" · {event.words}"))
        if self.view is not None and position.find_claim(self.view, event.claim) is not None:
            self.update_view(replace(self.review_position, claim=event.claim))
        self._end_save()

    def _end_save(self) -> None:
        """Read again when nothing is on its way any more."""
        self.in_flight -= 1
        if self.in_flight:
            return
        self.saves_done.set()
        self.pending_verdicts.clear()
        if self.is_leaving:
            self.is_leaving = False
            self.load_next(1, after_verdict=True)
        else:
            self.read_again()

    # Taking back

    @on(UndoScreen.TakenBack)
    def show_taken_back(self, event: UndoScreen.TakenBack) -> None:
        """Go to the claim concerned."""
        self.is_leaving = False
        if not event.acts:
            self.show_message(Piece(f"nothing to be {event.words}", "warn"))
        elif event.item is None:
            self.show_message(Piece(f"{event.words}: a verdict on what is not in this run", "warn"))
        else:
            self.go_to_claim(event, event.acts[0], event.item)

    def tell_taken_back(self, event: UndoScreen.TakenBack) -> None:
        """Say what was taken back, once its claim is shown."""
        looked, claim = self.review_state, self.claim
        if not event.acts or looked is None or claim is None:
            return
        what = self._describe_step(event.acts, looked, claim)
        self.last_act_words = f"{event.words} {what}"
        self.show_message(Piece(f"{event.words}: ", "human strong"), Piece(what))
        self.update_view(looked.position)

    def _describe_step(self, acts: Step, looked: ReviewState, claim: ClaimView) -> str:
        act, what = acts[0], self.name_of(claim)
        if len(acts) > 1:
            return f"{fmt.count_in_words(len(acts), 'verdict')} given at once, from {what} on"
        if act.verdict is not None:
            word = position.translate_label(looked.view, act.verdict) or act.verdict
            return f"{what} = {fmt.describe_label(word, looked.labels)}"
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
