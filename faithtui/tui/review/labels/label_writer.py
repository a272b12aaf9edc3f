"""Writing label events: how the review screen talks to the store.

A label event is painted at once and called saved when the disk has it. Label events go to the
store's one writer in the order of the keys; while any is not saved, the screen is ahead of the
store.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faithtui.domain.ids import ClaimId, SampleId
from faithtui.domain.labels.label_events import Action, Event, LabelMark
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.store.records import ClaimView
from faithtui.tui.review import position
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

ELSEWHERE = " in the conversation before"
"""Stands after what was done last once another conversation is shown."""

MOST_NAMED = 3
"""How many label events that could not be saved are named; the others are counted."""


class LabelWriter(Controller["ReviewScreen"]):
    """What is not saved yet, and what follows when it is there."""

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.pending_verdicts: dict[ClaimId, str] = {}
        """Labels not saved yet."""
        self._claims_before: dict[ClaimId, ClaimView] = {}
        """Their claims as they were before, for those that cannot be saved."""
        self._labels_shown: dict[ClaimId, set[str | None]] = {}
        """Labels that the reviewer gave or saw here on claims that got a verdict here."""
        self._refused: tuple[Piece, ...] = ()
        """Why a key was refused while a label event was being saved."""
        self._unsaved: list[str] = []
        """Label events in words that could not be saved while another is being saved."""
        self.in_flight = 0
        """Label events not saved yet."""
        self.saves_done = asyncio.Event()
        """Set while everything is saved."""
        self.saves_done.set()
        self._is_leaving = False
        """The last claim got its verdict: the next conversation comes once that is saved."""
        self._claim_shown_s = self.session.seconds()
        """When the chosen claim came on screen."""
        self.last_act_words = ""
        """The last label event in words."""
        self._just_saved: tuple[Piece, ...] = ()
        """What was said of the run's last label, so that it is said beside what comes next."""
        self.last_message: tuple[Piece, ...] = ()
        """What was said of a save in this conversation, last."""

    def open_next_conversation_when_saved(self) -> None:
        """Go to the next conversation once everything is saved.

        Keys wait for it; verdicts that are typed ahead are refused when it is shown.
        """
        self._is_leaving = True
        self.input_queue.hold_keys(self)

    def cancel_opening_next_conversation(self) -> None:
        """Stay in this conversation after all."""
        self._is_leaving = False
        self.input_queue.release_keys(self)

    def start_claim_clock(self) -> None:
        """Measure from now on how long the chosen claim has been on screen."""
        self._claim_shown_s = self.session.seconds()

    def set_last_event_text(self, words: str) -> None:
        """Name the label event that was the last one, for the pane of the verdict."""
        self.last_act_words = words

    def take_last_saved_message(self) -> tuple[Piece, ...]:
        """Give what was said of the run's last label, once."""
        message, self._just_saved = self._just_saved, ()
        return message

    def clear_messages_and_cancel_leaving(self) -> None:
        """Forget what was said of what is drawn no more."""
        self.last_act_words, self._just_saved = "", ()
        self.cancel_opening_next_conversation()

    def has_seen_judge(self, claim: ClaimView) -> bool:
        """Whether the reviewer knows the judge's verdict on a claim."""
        view, session = self.screen.view, self.session
        # What is revealed is on record as that before it is on screen.
        shown = session.has_judge_in_view(claim.id) or claim.id in session.revealed
        return claim.seen or shown or view is None or claim.id not in view.hidden

    def save_verdict(self, claim: ClaimView, verdict: str, code: str | None = None) -> None:
        """Save a label of one's own."""
        view, queue = self.screen.view, self.session.claim_queue
        if view is None:
            return
        labels = self.screen.review_state.label_set if self.screen.review_state else None
        label = fmt.describe_label(verdict, labels) if labels else verdict
        words = f"{self.screen.format_claim_name(claim)} = {label}"
        self._remember_pending_verdict((claim,), verdict)
        self.set_last_event_text(words)
        self.submit_event(
            [claim.id],
            words,
            self.session.store.label_log.record_verdict,
            claim.id,
            self.session.reviewer,
            verdict,
            run=view.run.id,
            saw_judge=self.has_seen_judge(claim),
            repeats=queue is not None and queue.repeats,
            seconds=self.get_seconds_claim_shown(),
            code=code,
            sample=self.find_sample_of_claim(claim),
        )

    def save_bulk_verdict(self, claims: Sequence[ClaimView], verdict: str, words: str) -> None:
        """Save one verdict on several claims, as one step."""
        self._remember_pending_verdict(claims, verdict)
        self.set_last_event_text(words)
        run = None if self.screen.view is None else self.screen.view.run.id
        self.submit_event(
            [claim.id for claim in claims],
            words,
            self.session.store.label_log.append_label_events_as_one_step,
            [
                Event(
                    None,
                    claim.id,
                    self.session.reviewer,
                    Action.BULK,
                    verdict,
                    saw_judge=self.has_seen_judge(claim),
                    run=run,
                    judge_verdict=claim.first_window_verdict.label,
                )
                for claim in claims
            ],
        )

    def save_event(
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
        """Save a label event that is no label of one's own."""
        if verdict is not None:
            self._remember_pending_verdict((claim,), verdict)
        self.submit_event(
            [claim.id],
            words,
            self.session.store.label_log.append_label_event,
            claim.id,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.screen.view is None else self.screen.view.run.id,
            judge_verdict=claim.first_window_verdict.label,
            saw_judge=action is Action.REVEALED or self.has_seen_judge(claim),
            seconds=self.get_seconds_claim_shown() if verdict is not None else None,
            code=code,
            mark=mark,
            sample=self.find_sample_of_claim(claim),
        )

    def _remember_pending_verdict(self, claims: Sequence[ClaimView], verdict: str) -> None:
        self.session.remember_labels(claim.id for claim in claims)
        self.screen.queue_navigator.other_app.confirm_labels(claim.id for claim in claims)
        for claim in claims:
            shown = self._labels_shown.setdefault(claim.id, set())
            shown |= {verdict, None if claim.mine is None else claim.mine.verdict}
            self.pending_verdicts[claim.id] = verdict
            self._claims_before.setdefault(claim.id, claim)

    def find_sample_of_claim(self, claim: ClaimView) -> SampleId | None:
        """Give the sample that a claim is served from; None for one outside it."""
        queue = self.session.claim_queue
        return queue.sample if queue is not None and claim.id in queue.place else None

    def get_seconds_claim_shown(self) -> float:
        """Say for how many seconds the chosen claim has been on screen."""
        return max(0.0, self.session.seconds() - self._claim_shown_s)

    def submit_event(
        self,
        claims: Sequence[ClaimId],
        words: str,
        write: Callable[..., object],
        *args: object,
        **kwargs: Any,
    ) -> None:
        """Hand a label event on claims to the writer and wait for it elsewhere."""
        if not self.in_flight:
            self._unsaved.clear()
        future = self.session.store.submit(write, *args, **kwargs, urgent=True, durable=True)
        self._refused = self.screen.get_unread_refusal()
        self.in_flight += 1
        self.saves_done.clear()
        self._show_and_keep_message(Piece(f"saving {words} …", "quiet"))
        self._wait_until_saved_and_report(future, claims, words, self._name_conversation())

    @run_in_worker("save", exclusive=False)  # a second save must not end the wait for the first
    async def _wait_until_saved_and_report(
        self, future: Future[object], claims: Sequence[ClaimId], words: str, conversation: str
    ) -> None:
        """Wait for the disk and say so."""
        try:
            saved = await asyncio.wrap_future(future)
        except Exception:
            self.screen.call_later(self._roll_back_failed_save, claims, words)
            raise  # The app says what happened.
        step = saved if isinstance(saved, tuple) and not isinstance(saved, Event) else (saved,)
        acts = [each for each in step if isinstance(each, Event)]
        self.session.saved_events.update(each.id for each in acts)
        self.screen.call_later(self._show_saved_and_reload, words, conversation)
        # What is read takes a while, and must not put itself before what is said meanwhile.
        other_app = self.screen.queue_navigator.other_app
        if warning := await other_app.describe_label_met(acts, self._labels_shown):
            pieces = (*warning, Piece(f"saved · {words}"))
            self.screen.call_later(self._show_and_keep_message, *pieces)

    def _show_saved_and_reload(self, words: str, conversation: str) -> None:
        """Say that a label event is safe, and show what it did to the scores."""
        moment = fmt.format_time(self.session.now())
        pieces: tuple[Piece, ...] = (Piece(f"saved {moment}", "good"), Piece(f" · {words}"))
        if conversation != self._name_conversation():
            pieces = (*pieces, Piece(f" in {conversation}"))
        self._just_saved = (*pieces, Piece(" · ")) if self._is_leaving else ()
        shown = self.screen.query_one(StatusLine).left
        if shown != self.last_message and shown and shown[0].look == "warn":
            self._refused = (*shown, Piece(" · "))  # else it was gone before anybody read it
        self._show_and_keep_message(*self._unsaved_pieces(), *self._refused, *pieces)
        self._reload_when_all_saved()

    def _roll_back_failed_save(self, claims: Sequence[ClaimId], words: str) -> None:
        """Show claims as they were before, and go back to the first one that was not saved."""
        for claim in claims:
            self.screen.queue_navigator.reopen_unsaved_claim(claim)
            self.screen.reveal.forget_unsaved_reveal(claim)
            self.pending_verdicts.pop(claim, None)
            self.screen.verdicts.discard_pending_flag(claim)
        self.screen.verdicts.forget_unsaved_verdict()
        self.cancel_opening_next_conversation()
        self.screen.marking.drop_unsaved_marks()
        self.last_act_words = ""
        self._unsaved.append(words)
        self._show_and_keep_message(*self._unsaved_pieces()[:-1])
        state = self.screen.review_state
        if state is not None:
            before = [self._claims_before.get(each) for each in claims]
            view = position.copy_human_labels(state.view, [each for each in before if each])
            at = self.screen.review_position
            if len(self._unsaved) == 1 and position.find_claim(view, claims[0]) is not None:
                at = replace(at, claim=claims[0])
            self.screen.show_conversation(replace(state, view=view), at, fresh=False)
        self._reload_when_all_saved()

    def _unsaved_pieces(self) -> tuple[Piece, ...]:
        """Name what could not be saved, before what else is said; () where there is nothing."""
        count = len(self._unsaved)
        if not count:
            return ()
        head = "not saved" if count == 1 else f"{count} not saved"
        named = ", ".join(self._unsaved[:MOST_NAMED])
        more = f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""
        return (Piece(head, "bad strong"), Piece(f" · {named}{more}"), Piece(" · "))

    def _name_conversation(self) -> str:
        """Name the conversation that is shown, for the status line."""
        view = self.screen.view
        return "" if view is None else make_visible_line(view.item.key, 40)

    def _show_and_keep_message(self, *pieces: Piece) -> None:
        self.last_message = pieces
        self.show_message(*pieces)

    def clear_message_of_other_conversation(self) -> None:
        """Clear what was said in another conversation, but for the save that led away from it."""
        kept = self.last_message
        names_conversation = bool(kept) and kept[-1].text.startswith(" in ")
        if self.screen.query_one(StatusLine).left != kept or names_conversation:
            self.show_message()
        elif kept and kept[-1].text.startswith(" · "):
            # Another claim has the same number here.
            self.show_message(*kept, Piece(f" in {self._name_conversation()}"))
        self.last_message = ()
        words = self.last_act_words
        self.last_act_words = "" if not words or words.endswith(ELSEWHERE) else words + ELSEWHERE

    def _reload_when_all_saved(self) -> None:
        """Read again when everything is saved."""
        self.in_flight -= 1
        if self.in_flight:
            return
        self.saves_done.set()
        self.pending_verdicts.clear()
        self._claims_before.clear()
        if self._is_leaving:
            self.cancel_opening_next_conversation()
            self.screen.loader.load_next_conversation_with_open_claim(1, after_verdict=True)
        else:
            self.screen.loader.reread_now_or_after_jump()
