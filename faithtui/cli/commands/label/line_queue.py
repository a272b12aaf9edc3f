"""The queue of line mode: which claim is asked about, and how far the annotator is."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from faithtui.cli.commands.label.line_context import LineContext
from faithtui.cli.commands.label.line_marks import format_evidence_and_missed_lines
from faithtui.cli.commands.label.line_text import (
    format_claim_lines,
    format_judge_verdict_lines,
    format_short_key_lines,
)
from faithtui.cli.commands.label.served_claim import ServedClaim, read_served_claim
from faithtui.domain.ids import ClaimId, ItemId, LabelId
from faithtui.domain.labels.label_events import Action, LabelEvent
from faithtui.tui.samples.queue import QueuePosition, load_queue_position


@dataclass
class LineQueue:
    """Serves the claims of a queue one after the other."""

    context: LineContext
    seconds: Callable[[], float] = time.monotonic
    position: QueuePosition = field(init=False)
    served: ServedClaim | None = None
    """The claim that is asked about; None: none is open."""
    _served_at: float = 0.0
    _is_served_open: bool = False
    """The claim that is asked about had no answer when it was printed."""
    _newest_event: LabelId | None = None
    """The newest event, of anybody, that `position` takes in."""

    def __post_init__(self) -> None:
        """Take the queue up where the annotator left it."""
        self.reload_reviewer_position_in_queue()

    @property
    def open_count(self) -> int:
        """Claims of the queue that are still to be labelled."""
        return len(self.context.queue.entries) - len(self.position.answered_claims)

    def count_seconds_since_shown(self) -> float:
        """Give the seconds since the claim was first shown."""
        return max(0.0, self.seconds() - self._served_at)

    def reload_reviewer_position_in_queue(self) -> None:
        """Read how far the annotator is."""
        here = self.position.current_place if self.served is not None else -1
        # First: an event after it is seen at the next look.
        self._newest_event = self.context.store.label_log.read_newest_event_id()
        self.position = load_queue_position(
            self.context.store, self.context.queue, self.context.reviewer
        )
        if self.context.queue.sample is None:
            mine = self.context.store.samples.read_frame_for_blind_repeats(
                self.context.queue.run, self.context.reviewer
            )
            place = self.context.queue.place
            self.position.answered_claims = {each.claim for each in mine} & place.keys()
        self.position.current_place = here

    def reload_position_if_changed(self) -> None:
        """Read how far the annotator is if anything was said elsewhere, as in an app."""
        if self.context.store.label_log.read_newest_event_id() != self._newest_event:
            self.reload_reviewer_position_in_queue()

    def mark_answered_or_skipped(self, act: LabelEvent) -> None:
        """Note an answer that was given here."""
        if act.verdict is None:
            self.position.mark_skipped(act.claim)
        else:
            self.position.mark_answered(act.claim)
        if self._newest_event is not None and act.id == self._newest_event + 1:
            self._newest_event = act.id  # Nothing was said elsewhere: there is nothing to read.

    def is_served_claim_labelled_elsewhere(self) -> bool:
        """Look whether the claim that is asked about got its label while it was."""
        self.reload_position_if_changed()
        return (
            self.served is not None
            and self._is_served_open
            and self.served.claim.id in self.position.answered_claims
        )

    def find_given_label(self, served: ServedClaim) -> str | None:
        """Read the label that a claim has by now; None where it was asked a second time."""
        context, item = self.context, served.view.item.id
        now = read_served_claim(
            context.store, context.queue, context.reviewer, item, served.claim.id, ()
        )
        return None if now.claim.mine is None else now.claim.mine.verdict

    def serve_next_claim_or_say_queue_is_done(self) -> None:
        """Serve the next claim that is open by now, or say that the queue is through."""
        self.reload_position_if_changed()
        following = self.position.list_next_open_claims(1)
        if following:
            self.load_and_print_claim_recording_exposure(*following[0])
            return
        self.served = None
        self.context.output.print_event(
            "through",
            "",
            "nothing more is open in this queue",
            "keys: u undo; 1 to 7 and c are about your last verdict; enter or q ends",
        )

    def load_and_print_claim_recording_exposure(
        self, item: ItemId, claim: ClaimId, *, quietly: bool = False
    ) -> None:
        """Ask about a claim."""
        before = self.served
        again = before is not None and before.claim.id == claim
        revealed = set(self.context.queue.shown)
        if again and before is not None and before.shown:
            revealed.add(claim)
        self.served = read_served_claim(
            self.context.store, self.context.queue, self.context.reviewer, item, claim, revealed
        )
        if not self.context.queue.blind:
            self.context.store.exposures.record(item, self.context.reviewer)
        self.position.move_to(claim)
        if not again:
            self._served_at = self.seconds()
        if not quietly:
            self._is_served_open = claim not in self.position.answered_claims
            self.print_claim(self.served)

    def reload_claim(self, served: ServedClaim) -> None:
        """Read a claim again after something was said of it, without printing it."""
        self.load_and_print_claim_recording_exposure(
            served.view.item.id, served.claim.id, quietly=True
        )

    def print_claim(self, served: ServedClaim) -> None:
        """Print a claim with what it is judged by, and the judge where it may be seen."""
        claim = served.claim
        judge: dict[str, object] = {}
        if served.shown:
            judge = {
                "judge": {
                    "label": claim.first_window_verdict.label,
                    "reason": claim.first_window_verdict.reason,
                }
            }
        self.context.output.print_event(
            "claim",
            "",
            *format_claim_lines(served),
            *format_evidence_and_missed_lines(served),
            *format_short_key_lines(served.spec),
            number=served.number,
            of=served.of,
            claim=claim.id,
            conversation=served.view.item.key,
            turn=claim.turn,
            text=claim.text,
            passages=[
                {"passage": each.document.number, "text": each.document.text}
                for each in served.passages
            ],
            blind=not served.shown,
            **judge,
        )

    def print_judge_verdict_and_record_reveal(self, served: ServedClaim) -> None:
        """Print the judge's verdict, which is recorded where it was hidden."""
        claim = served.claim
        if not served.shown:
            self.context.save_event(claim.id, Action.REVEALED, saw_judge=True)
            self.served = served = read_served_claim(
                self.context.store,
                self.context.queue,
                self.context.reviewer,
                served.view.item.id,
                claim.id,
                {claim.id},
            )
        judge = served.claim.first_window_verdict
        self.context.output.print_event(
            "judge",
            *format_judge_verdict_lines(served),
            claim=claim.id,
            label=judge.label,
            reason=judge.reason,
        )
