"""How the session goes on, at the right of the status line of the review screen."""

from datetime import UTC
from typing import TYPE_CHECKING

from faithtui.domain.ids import RunId, SampleId
from faithtui.tui.review.position import has_no_reviewer_verdict
from faithtui.tui.screen.controller import Controller, run_in_worker

if TYPE_CHECKING:
    from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel
    from faithtui.agreement.report.model import ConfidenceSequences
    from faithtui.engine.review.samples.queue_intervals import QueueFrame
    from faithtui.tui.review.lines.session_lines import SessionFacts
    from faithtui.tui.review.review_screen import ReviewScreen
    from faithtui.tui.samples.queue import ClaimQueue


class SessionLine(Controller["ReviewScreen"]):
    """Reads how far the annotator has come, after each conversation that is read."""

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self._facts: SessionFacts | None = None
        self._repeats: tuple[RunId, tuple[RepeatedLabel, ...]] | None = None
        self._frame: tuple[tuple[SampleId, int], QueueFrame | None] | None = None

    @property
    def progress_words(self) -> str:
        """How the session goes on, "" before that is known."""
        from faithtui.tui.review.lines.session_lines import describe_session_progress

        view = self.screen.view
        if self._facts is None or view is None:
            return ""
        cursor = self.screen.queue_navigator.cursor
        if cursor is None:
            left, where = sum(map(has_no_reviewer_verdict, view.claims)), "here"
        else:
            left, where = len(cursor.queue.entries) - len(cursor.answered_claims), "in the queue"
        timer = self.session.preferences.timer
        return describe_session_progress(self._facts, left, where, has_timer=timer)

    @run_in_worker("how-far")
    async def load_and_show_progress(self) -> None:
        """Read how far the annotator has come."""
        queue, run = self.session.claim_queue, self.session.run
        if run is not None:
            self.screen.call_later(
                self._keep_and_show_facts, await self.read_in_thread(self._read_facts, queue, run)
            )

    def forget_progress(self) -> None:
        """Say nothing of what was read before."""
        self._facts = self._repeats = self._frame = None

    def _read_facts(self, queue: "ClaimQueue | None", run: RunId) -> "SessionFacts":
        from faithtui.engine.review.samples.sample_queues import read_queue_progress
        from faithtui.tui.review.lines.session_lines import SessionFacts

        store, reviewer = self.session.store, self.session.reviewer
        midnight = (
            self.session.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        )
        # Another thread may forget them meanwhile.
        known = self._repeats
        if known is None or known[0] != run or (queue and queue.repeats):
            repeats = store.claim_details.read_second_verdicts(run)
            known = run, tuple(each for each in repeats if each.reviewer == reviewer)
            self._repeats = known
        sample = None if queue is None else queue.sample
        counts = store.label_log.read_session_counts(reviewer, midnight.astimezone(UTC))
        if sample is None:
            return SessionFacts(counts, repeats=known[1])
        progress = read_queue_progress(store, sample, reviewer)
        sequences = self._read_confidence_sequences(sample, progress.row.size)
        return SessionFacts(counts, progress, known[1], sequences)

    def _read_confidence_sequences(
        self, sample: SampleId, size: int
    ) -> "ConfidenceSequences | None":
        """Bound what the labels of a queue say; what it was drawn from is read once a size."""
        from faithtui.engine.review.samples.queue_intervals import (
            compute_confidence_sequences,
            read_queue_frame,
        )

        store, reviewer = self.session.store, self.session.reviewer
        known = self._frame
        if known is None or known[0] != (sample, size):
            known = self._frame = (sample, size), read_queue_frame(store, sample, reviewer)
        if known[1] is None:
            return None
        return compute_confidence_sequences(
            store, known[1], reviewer, works_blind=self.session.is_blind
        )

    def _keep_and_show_facts(self, facts: "SessionFacts") -> None:
        self._facts = facts
        self.screen.show_run_progress()
        self._reload_queue_answered_elsewhere(facts)

    def _reload_queue_answered_elsewhere(self, facts: "SessionFacts") -> None:
        """Read a queue again in which another open app of the same annotator labels, too."""
        cursor, progress = self.screen.queue_navigator.cursor, facts.progress
        if cursor is None or progress is None or cursor.queue.sample != progress.row.id:
            return
        if self.screen.writer.in_flight:
            return  # What is answered here counts before it is saved; the last save reads again.
        # The claims and not how many: one may be undone there and another one labelled.
        answered = cursor.answered_claims ^ progress.row.answered_claims
        if answered or cursor.skipped_claims ^ progress.row.skipped_claims:
            cursor.is_outdated = True
            self.screen.reload()
