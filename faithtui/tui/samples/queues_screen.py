"""The queues drawn from a run: draw one, work through it, draw more of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType

from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.domain.ids import SampleId
from faithtui.engine.review.samples.queue_intervals import read_confidence_sequences
from faithtui.engine.review.samples.sample_queues import (
    QueueProgress,
    estimate_seconds_per_claim,
    find_unused_seed,
    read_queue_progress,
)
from faithtui.store.records import RunRow
from faithtui.store.samples.sample_records import SampleRow, StratumRow
from faithtui.tui.runs.run_lines import run_title_pieces
from faithtui.tui.samples.queue_start import QueueStart
from faithtui.tui.samples.sample_form import DrawSampleScreen, ExtendSampleScreen
from faithtui.tui.samples.sample_lines import (
    no_queues_lines,
    queue_detail_lines,
    queue_header_line,
    queue_line,
)
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import Line, Piece, escape_line
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.virtual_list import VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ConfidenceSequences


class SampleRows:
    """Queues as a list reads them."""

    def __init__(self, rows: Sequence[SampleRow]) -> None:
        self.all = rows

    def __len__(self) -> int:
        """Count the queues."""
        return len(self.all)

    def fetch_row(self, index: int) -> SampleRow:
        """Give a queue."""
        return self.all[index]


@dataclass(frozen=True, slots=True)
class QueueDescription:
    """What is known of a queue, and only read for the chosen one."""

    sample: SampleId
    strata: tuple[StratumRow, ...]
    progress: QueueProgress
    sequences: "ConfidenceSequences | None"


class QueuesScreen(FaithScreen):
    """Drawn queues of the chosen run, and what is known of one."""

    TITLE_WORDS: ClassVar[str] = "QUEUES"
    HELP_WORDS: ClassVar[str] = (
        "A queue is a sample of what the run judged, drawn at random and served in the drawn "
        "order, so that your labels stand for the rest: stopping early does no harm. "
        "{list.open} works through it from the first claim without your verdict. Blind: the judge "
        "is hidden until you have answered. A spot-check is 20 claims and a decision; repeats are "
        "claims you labelled once more, to measure your self-agreement (test-retest). "
        "Suspicious ones first, filters and searches are not random samples: quick to find faults "
        "with, and nothing is estimated from them."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "open_draw_form", "draw", tooltip="Draw a new sample", id="queues.draw"),
        Binding(
            "plus",
            "ask_how_many_more",
            "draw more",
            key_display="+",
            tooltip="Draw more of the chosen sample; what was answered keeps its place",
            id="queues.extend",
        ),
        Binding(
            "c",
            "offer_spot_check",
            "spot-check",
            tooltip="Look at 20 random claims, blind, for a quick decision",
            id="queues.spot-check",
        ),
        Binding(
            "R",
            "offer_repeats",
            "self-agreement",
            tooltip="Label some of your own claims once more, blind",
            id="queues.repeats",
        ),
    ]

    queues = getters.query_one("#list", VirtualList)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.start = QueueStart(self, self.select_drawn)

    def make_panes(self) -> Panes:
        """Make the list and the details."""
        return Panes(
            VirtualList[SampleRow](
                id="list",
                title="Queues",
                format_row=queue_line,
                head=queue_header_line,
                empty=self.format_empty_list_lines,
                moved=self.show_queue_under_cursor,
            ),
            Pane(id="detail", title="Queue"),
            layout_function=layouts.lay_out_queues,
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self.rows: tuple[SampleRow, ...] = ()
        self.sample_to_select: SampleId | None = None
        """The queue to choose once it is read: the one just drawn."""
        self.description: QueueDescription | None = None
        self.queues.focus()
        super().on_mount()

    @property
    def queue_at_cursor(self) -> SampleRow | None:
        """The queue under the cursor."""
        return self.rows[min(self.queues.cursor, len(self.rows) - 1)] if self.rows else None

    # Reading

    def reload(self) -> None:
        """Read the queues."""
        self.load_and_show_queues()

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_queues(self) -> None:
        """Read the queues of the chosen run, else of the newest."""
        store = self.session.store
        run = self.session.run or await self.read_in_thread(store.runs.find_newest_run_id)
        if run is not None and self.session.run is None:
            self.session.switch_run(run)
        rows: tuple[SampleRow, ...] = ()
        row: RunRow | None = None
        if run is not None:
            row = await self.read_in_thread(store.runs.read_run, run)
            rows = await self.read_in_thread(store.samples.list_samples, self.session.reviewer, run)
        self.call_later(self.show_rows, row, rows)

    def format_empty_list_lines(self, width: int) -> list[Line]:
        """Say what to do while there is no queue."""
        return no_queues_lines(width, self.session.run is not None, self.keys)

    def show_rows(self, run: RunRow | None, rows: tuple[SampleRow, ...]) -> None:
        """Draw the queues, with the cursor on the same one."""
        before = self.queue_at_cursor.id if self.queue_at_cursor is not None else None
        wanted, self.sample_to_select = self.sample_to_select or before, None
        self.rows = rows
        at = next((i for i, row in enumerate(rows) if row.id == wanted), 0)
        self.queues.show(SampleRows(rows), at, title=f"Queues {len(rows)}")
        none = [Piece("  no run yet", "quiet")]
        self.set_title(none if run is None else run_title_pieces(run))
        self.show_details_and_read_progress()
        self.refresh_bindings()

    def show_queue_under_cursor(self) -> None:
        """Show the chosen queue."""
        self.show_details_and_read_progress()
        self.refresh_bindings()

    def show_details_and_read_progress(self) -> None:
        """Draw what is known of the chosen queue, and read what is not."""
        row, known = self.queue_at_cursor, self.description
        strata: tuple[StratumRow, ...] = ()
        progress: QueueProgress | None = None
        sequences = None
        if row is not None and known is not None and known.sample == row.id:
            strata, progress, sequences = known.strata, known.progress, known.sequences
        self.query_one("#detail", Pane).show(
            lambda width: queue_detail_lines(
                row, strata, progress, width, sequences, works_blind=self.session.is_blind
            )
        )
        # The status line is left to what keys say: the pane says how far the queue is.
        if row is not None and (progress is None or progress.row != row):
            self.load_and_show_queue_progress(row.id)

    @work(exclusive=True, group="described", exit_on_error=False)
    async def load_and_show_queue_progress(self, sample: SampleId) -> None:
        """Read how far the chosen queue is."""
        store, reviewer = self.session.store, self.session.reviewer
        strata = await self.read_in_thread(store.samples.read_stratum_progress, sample, reviewer)
        progress = await self.read_in_thread(read_queue_progress, store, sample, reviewer)
        sequences = await self.read_in_thread(
            partial(
                read_confidence_sequences,
                store,
                sample,
                reviewer,
                works_blind=self.session.is_blind,
            )
        )
        self.call_later(
            self.show_queue_progress_details, QueueDescription(sample, strata, progress, sequences)
        )

    def show_queue_progress_details(self, read: QueueDescription) -> None:
        """Draw what was read of the chosen queue."""
        self.description = read
        if self.queue_at_cursor is None or self.queue_at_cursor.id != read.sample:
            return
        self.rows = tuple(read.progress.row if row.id == read.sample else row for row in self.rows)
        self.queues.show(SampleRows(self.rows), self.queues.cursor)
        self.show_details_and_read_progress()

    # Working

    @on(VirtualList.Chosen)
    def work_through_chosen_queue(self) -> None:
        """Work through the chosen queue."""
        if self.queue_at_cursor is not None:
            self.start.start_queue_at_first_open_claim(self.queue_at_cursor.id)

    # Drawing

    def select_drawn(self, sample: SampleId) -> None:
        """Choose a queue that was just drawn, as soon as it is read."""
        self.sample_to_select = sample

    def action_open_draw_form(self) -> None:
        """Ask what to draw."""
        run = self.session.run
        if run is None:
            return

        def select_sample(sample: SampleId | None) -> None:
            if sample is not None:
                self.sample_to_select = sample
                self.reload()

        self.input_queue.open_window(
            DrawSampleScreen(
                self.session,
                run,
                seed=find_unused_seed(self.rows),
                pace_s=estimate_seconds_per_claim(self.rows),
            ),
            select_sample,
        )

    def action_ask_how_many_more(self) -> None:
        """Ask how many more to draw."""
        row = self.queue_at_cursor
        if row is None:
            return

        def extend_by(more: int | None) -> None:
            if more is not None:
                self.extend_sample(row.id, more)

        self.input_queue.open_window(ExtendSampleScreen(row), extend_by)

    @work(exclusive=True, group="draw", exit_on_error=False)
    async def extend_sample(self, sample: SampleId, more: int) -> None:
        """Draw more of a sample."""
        store, reviewer = self.session.store, self.session.reviewer
        self.show_message(Piece("drawing …", "quiet"))
        row = await self.read_in_thread(store.samples.draw_more_claims, sample, reviewer, more)
        self.show_message(Piece("drawn", "good"))
        self.app.notify(
            f"{fmt.format_count_with_noun(row.size, 'claim')} now", title="Drawn", markup=False
        )
        self.reload()

    def action_offer_spot_check(self) -> None:
        """Ask before a spot-check begins, or go on with one."""
        if self.session.run is not None:
            self.start.resume_or_offer_spot_check(self.session.run, self.rows)

    def action_offer_repeats(self) -> None:
        """Ask before own claims are asked again, or go on with that."""
        if self.session.run is not None:
            self.start.resume_or_offer_repeats(self.session.run, self.rows)

    def make_reviewer_pieces(self) -> tuple[Piece, ...]:
        """Say who reviews: progress is that reviewer's."""
        if self.session.is_read_only:
            return super().make_reviewer_pieces()
        return (Piece("done = labelled by ", "quiet"), escape_line(self.session.reviewer, limit=40))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run or a queue."""
        of_population = self.is_mounted and any(row.population is not None for row in self.rows)
        if action in ("open_draw_form", "offer_spot_check") and of_population:
            # Only what `faithtui sample` drew is here: what is drawn of it stands for nothing.
            return False
        if action in ("open_draw_form", "offer_spot_check", "offer_repeats"):
            return self.session.is_open and self.session.run is not None
        if action == "ask_how_many_more":
            row = self.queue_at_cursor if self.is_mounted else None
            return row is not None and can_extend(row)
        return super().check_action(action, parameters)


def can_extend(row: SampleRow) -> bool:
    """Whether there is anything left to draw for a sample, and it is in the store."""
    if row.population is not None:
        return False
    whole = (
        row.strata[0].population
        if row.design is SamplingDesign.CONVERSATIONS and row.strata
        else row.frame
    )
    return row.kind is SampleKind.SAMPLE and sum(each.drawn for each in row.strata) < whole
