"""Beginning with a drawn queue, from whichever screen: a spot-check, repeats, any other one."""

from collections.abc import Callable, Sequence

from faithtui.agreement.sampling.draw import SampleKind
from faithtui.agreement.sampling.stopping_rules import SPOT_CHECK_SIZE
from faithtui.domain.ids import RunId, SampleId
from faithtui.engine.review.samples.sample_queues import (
    REPEATS,
    SampleRequest,
    draw_and_save_run_sample,
    estimate_seconds_per_claim,
    find_unused_seed,
    make_repeat_labels_request,
    make_spot_check_request,
)
from faithtui.store.samples.sample_records import SampleRow
from faithtui.tui.input_queue import hold_keys_during_worker
from faithtui.tui.messages import ShowScreen
from faithtui.tui.samples.queue import ClaimQueue, find_next_open_claim, make_sample_queue
from faithtui.tui.samples.sample_lines import format_minutes
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme.lines import Piece


class QueueStart(Controller[FaithScreen]):
    """Goes to the first open claim of a queue, and draws those queues that need no form.

    Args:
        screen: The screen it is a part of.
        drawn: Called with a queue that was drawn.
    """

    def __init__(self, screen: FaithScreen, drawn: Callable[[SampleId], object]) -> None:
        super().__init__(screen)
        self._on_drawn = drawn

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def start_queue_at_first_open_claim(
        self, sample: SampleId, *, is_confirmed: bool = False
    ) -> None:
        """Go to the first claim of a queue without a label; where there is none, ask before.

        Args:
            sample: The queue.
            is_confirmed: It was asked.
        """
        store, reviewer = self.session.store, self.session.reviewer
        queue = await self.read_in_thread(make_sample_queue, store, sample, reviewer)
        start = await self.read_in_thread(find_next_open_claim, store, queue, reviewer)
        if start is None and not is_confirmed:
            self.screen.call_later(self._offer_to_show_labels, sample, queue)
            return
        self.session.start_queue(queue, start)
        self.screen.post_message(ShowScreen("review"))

    def _offer_to_show_labels(self, sample: SampleId, queue: ClaimQueue) -> None:
        """Ask before a queue is shown in which a verdict takes the place of another one."""
        if queue.repeats:
            words = "every claim of this queue was asked again: {queues.repeats} asks for others"
            self.screen.refuse(self.keys.fill_in_keys(words))
            return

        def show_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self.start_queue_at_first_open_claim(sample, is_confirmed=True)

        words = (
            "Every claim of this queue has your label. Your labels are shown, with the judge's "
            "verdicts unless you work blind, and a verdict that you give takes the place of your "
            "label."
        )
        question = ConfirmDialog("Look at your labels?", words)
        self.input_queue.open_window(question, show_if_confirmed)

    @hold_keys_during_worker(can_give_up=True)
    @run_in_worker("open")
    async def read_and_offer_spot_check(self, run: RunId) -> None:
        """Read the queues of a run, then offer a spot-check of it."""
        store, reviewer = self.session.store, self.session.reviewer
        rows = await self.read_in_thread(store.samples.list_samples, reviewer, run)
        self.screen.call_later(self.resume_or_offer_spot_check, run, rows)

    def resume_or_offer_spot_check(self, run: RunId, rows: Sequence[SampleRow]) -> None:
        """Ask before a spot-check begins, or go on with one."""
        minutes = format_minutes(SPOT_CHECK_SIZE * estimate_seconds_per_claim(rows))
        self._resume_or_offer_queue(
            run,
            rows,
            SampleKind.SPOT_CHECK,
            "Spot-check?",
            f"{SPOT_CHECK_SIZE} claims (or all there are) drawn at random from the whole run, "
            f"the judge hidden until you answer. About {minutes}. At the end: pass, unclear or "
            "fail, with exact limits. It does not replace a sample.",
            make_spot_check_request,
        )

    def resume_or_offer_repeats(self, run: RunId, rows: Sequence[SampleRow]) -> None:
        """Ask before own claims are asked again, or go on with that."""
        minutes = format_minutes(REPEATS * estimate_seconds_per_claim(rows))
        self._resume_or_offer_queue(
            run,
            rows,
            SampleKind.REPEAT,
            "Label your own claims once more?",
            f"Up to {REPEATS} claims that you labelled in this run, drawn at random, judge and "
            "your first verdict hidden. Your answers change no label; they measure your "
            f"self-agreement (test-retest). About {minutes}.",
            make_repeat_labels_request,
        )

    def _resume_or_offer_queue(
        self,
        run: RunId,
        rows: Sequence[SampleRow],
        kind: SampleKind,
        title: str,
        words: str,
        request: Callable[[int], SampleRequest],
    ) -> None:
        """Take up the newest queue of a kind that is not through, or ask for a new one."""
        mine = self.session.reviewer
        waiting = (r for r in rows if r.kind is kind and r.remaining and r.reviewer == mine)
        row = next(waiting, None)
        if row is not None:
            self.start_queue_at_first_open_claim(row.id)
            return
        seed = find_unused_seed(rows)

        def begin_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self.draw_and_open_queue(run, request(seed))

        self.input_queue.open_window(ConfirmDialog(title, words), begin_if_confirmed)

    @hold_keys_during_worker(can_give_up=False)
    @run_in_worker("draw")
    async def draw_and_open_queue(self, run: RunId, request: SampleRequest) -> None:
        """Draw a queue and begin with it."""
        self.show_message(Piece("drawing …", "quiet"))
        store, reviewer = self.session.store, self.session.reviewer
        row = await self.read_in_thread(draw_and_save_run_sample, store, run, reviewer, request)
        self._on_drawn(row.id)
        self.start_queue_at_first_open_claim(row.id)
