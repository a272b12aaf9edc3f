"""Where annotators differ: both sides without their names, the evidence, and the final label."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    ComparisonFilter,
    RaterComparison,
)
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.annotations.raters import ClaimRow, RaterRecords
from faithtui.tui.adjudication import adjudication_lines
from faithtui.tui.adjudication.claim_evidence import ClaimEvidence
from faithtui.tui.adjudication.comparison_reader import LoadedComparison, read_comparison
from faithtui.tui.adjudication.final_label_undo import FinalLabelUndo
from faithtui.tui.adjudication.final_labels import FinalLabels
from faithtui.tui.adjudication.final_notes import FinalNotes
from faithtui.tui.runs.run_lines import run_title_pieces
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen
from faithtui.tui.screen.pager import Pager
from faithtui.tui.session import Session
from faithtui.tui.theme import layouts
from faithtui.tui.theme.layouts import PaneLayout
from faithtui.tui.theme.lines import BLANK, Line, Piece
from faithtui.tui.widgets.plain_input import NoteInput, PlainInput
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.virtual_list import VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

FILTERS = tuple(ComparisonFilter)


class AdjudicationScreen(FaithScreen):
    """Raters, the claims they differ on, the evidence of one, and the final label on it."""

    TITLE_WORDS: ClassVar[str] = "COMPARE / ADJUDICATE"
    HELP_WORDS: ClassVar[str] = (
        "Adjudication: claims on which annotators differ get a final label here. A and B "
        "stand for annotators; "
        "who is who changes from claim to claim, and the judges stay hidden until there is a "
        "final label. The table compares each judge with the final human labels, each pair of "
        "annotators, and each annotator with the others and with their own earlier labels "
        "(test-retest). `recall N` is the share of what the reference labels unfaithful that the "
        "rater labels so too. n counts the claims a figure rests on: what both sides gave a "
        "verdict on. "
        f"Below {adjudication_lines.LEAST_CLAIMS} of them no figure is shown."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *FinalLabels.BINDINGS,
        *FinalNotes.BINDINGS,
        Binding(
            "s",
            "toggle_discussion_flag",
            "discuss",
            tooltip="Flag the claim for a talk and go on; again takes the flag away",
            id="adjudicate.discuss",
        ),
        Binding(
            "u",
            "undo",
            "undo",
            tooltip="Undo your last final label, or flag for a talk",
            id="adjudicate.undo",
        ),
        Binding("ctrl+r", "redo", "redo", tooltip="Redo what was undone", id="adjudicate.redo"),
        Binding(
            "f",
            "next_filter",
            "list other",
            tooltip="List where annotators differ, where the judge differs from the human "
            "label, or where judges differ",
            id="adjudicate.filter",
        ),
        Binding(
            "d",
            "zoom_raters",
            "raters",
            tooltip="Zoom the table of judges and annotators on the same claims, or close it",
            id="adjudicate.raters",
        ),
        *ClaimEvidence.BINDINGS,
    ]

    claims = getters.query_one("#claims", VirtualList)
    note = getters.query_one("#note", NoteInput)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.compared: RaterRecords | None = None
        self.listed_entries: dict[ClaimId, ClaimOpinions] = {}
        self.labels = FinalLabels(self)
        self.notes = FinalNotes(self)
        self.evidence = ClaimEvidence(self)
        self.undo = FinalLabelUndo(self)
        self.add_controllers(self.labels, self.notes, self.evidence, self.undo)

    def compose_input_lines(self) -> ComposeResult:
        """Give the line for notes, which takes the place of the status line while it is used."""
        yield NoteInput(id="note", placeholder="enter saves it, escape drops it", compact=True)

    def make_panes(self) -> Panes:
        """Make the panes, the list first."""
        return Panes(
            VirtualList[ClaimRow](
                id="claims",
                title="Claims",
                format_row=self._format_row_line_recording_exposure,
                head=self._format_column_headings_line,
                empty=lambda width: adjudication_lines.no_compared_claims_lines(
                    self.compared, self.filter, self.spec, width
                ),
                moved=self.show_claim_under_cursor,
            ),
            Pane(id="evidence", title="Evidence"),
            Pane(id="decide", title="Adjudicate · names hidden"),
            Pane(id="raters", title="Raters on the same claims"),
            layout_function=self._lay_out_panes,
        )

    def _lay_out_panes(self, width: int, height: int) -> PaneLayout:
        is_empty = self.compared is not None and not self.listed_entries
        return layouts.lay_out_adjudication(width, height, is_empty=is_empty)

    def on_mount(self) -> None:
        """Begin in the list, without the line for notes."""
        self.note.display = False
        self.spec: MetricSpec | None = None
        self.raters: RaterComparison | None = None
        self.filter = ComparisonFilter.HUMANS
        self.pager: Pager[ClaimId, ClaimRow] | None = None
        self._drawn_with_judge: list[ItemId] = []
        """Conversations of rows that were drawn with the judges' verdicts."""
        self._claim_to_select: ClaimId | None = None
        """Claim to go to when the list is drawn next."""
        self.claims.focus()
        super().on_mount()

    # Reading

    def reload_and_select_claim(self, claim: ClaimId) -> None:
        """Read everything again, and go to a claim if it is listed; keys wait for it."""
        self._claim_to_select = claim
        self.reload()

    def reload(self) -> None:
        """Read everything again, but not over what is not saved yet."""
        if self.labels.in_flight:
            return
        reading = self.load_and_show_comparison()
        # Also where this reading takes the place of the one that keys waited for, and before the
        # first list is read: what is typed meanwhile is about its claims.
        if self._claim_to_select is not None or self.compared is None:
            self.input_queue.hold_keys_for(reading, can_give_up=True)

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_comparison(self) -> None:
        """Read and compute what is compared."""
        store = self.session.store
        wanted = self._claim_to_select
        run = self.session.run or await self.read_in_thread(store.runs.find_newest_run_id)
        if run is None:
            self.call_later(self.show_comparison, LoadedComparison(), None)
            return
        self.session.switch_run(run)
        loaded = await self.read_in_thread(read_comparison, store, run, self.filter)
        self.call_later(self.show_comparison, loaded, wanted)

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say why nothing is compared; what was goes too: it may rest on what is damaged."""
        self.compared, self.raters, self.pager, self.listed_entries = None, None, None, {}
        self.evidence.clear_panes()
        self.claims.show_sentence_instead_of_rows(why)
        self._paint_rater_figures()
        self.set_title()
        self.refresh_bindings()

    def show_comparison(self, loaded: LoadedComparison, wanted: ClaimId | None) -> None:
        """Draw the list with the cursor on a claim, and the table.

        Args:
            loaded: What was read.
            wanted: The claim to go to, as it was known when reading began: what was read before an
                undo does not show it as it is after. None: stay on the same claim.
        """
        if self.labels.in_flight:
            return  # It was read before the last label event; the save reads again.
        before, is_first = self.claim_at_cursor(), self.compared is None
        known = None if before is None else before.claim
        self.compared, self.spec, self.raters = loaded.compared, loaded.spec, loaded.raters
        self.listed_entries = {each.claim: each for each in loaded.listed}
        here = wanted or known
        if wanted == self._claim_to_select:
            self._claim_to_select = None
        ids = tuple(self.listed_entries)
        read_rows = self.session.store.raters.read_claim_rows
        self.pager = Pager(
            ids, read_rows, lambda row: row.id, self.report_failed_reading, self._repaint_rows_after
        )
        at = None if here is None else self.pager.find_index(here)
        if at is None:
            still_open = (number for number, each in enumerate(loaded.listed) if each.is_undecided)
            at = next(still_open, 0)
        self.claims.show(self.pager, at, title=f"{self._units_title()} · {self.filter} {len(ids)}")
        self.query_one(Panes).recompute_layout()
        self._paint_rater_figures()
        self._update_title()
        if wanted is not None and wanted not in self.listed_entries:
            self.undo.refuse_keys_behind_step()
            self.labels.say_that_undone_claim_is_elsewhere()
        self.show_claim_under_cursor()
        if is_first or wanted is not None:
            self.evidence.hold_keys_while_reading()

    @on(VirtualList.Chosen)
    def review_chosen_claim(self) -> None:
        """Open the chosen claim in review."""
        self.evidence.action_review()

    def show_claim_under_cursor(self) -> None:
        """Show the chosen claim, which is read first where it is another one."""
        self.labels.follow_cursor()
        self.evidence.show_or_read_claim(self.claim_at_cursor())

    # Drawing

    def _repaint_rows_after(self, in_s: float) -> None:
        """Draw rows again that could not be read while the store was locked."""
        self.set_timer(in_s, self.claims.refresh)

    def _units_title(self) -> str:
        return "Claims" if self.spec is None else self.spec.units[1].capitalize()

    def claim_at_cursor(self) -> ClaimOpinions | None:
        """Give the claim under the cursor as it is known now."""
        if self.pager is None or not len(self.pager):
            return None
        return self.listed_entries[self.pager.ids[min(self.claims.cursor, len(self.pager) - 1)]]

    def show_claim_being_saved(self, claim: ClaimOpinions) -> None:
        """Paint what is not saved yet."""
        self.listed_entries[claim.claim] = claim
        self.claims.refresh()
        self.evidence.update_and_paint_claim(claim)

    def _count_opinion_columns_needed(self) -> int:
        most = max((len(each.opinions) for each in self.listed_entries.values()), default=2)
        return max(2, min(len(adjudication_lines.LETTERS), most))

    def _format_row_line_recording_exposure(self, row: ClaimRow, width: int, here: bool) -> Line:
        claim = self.listed_entries.get(row.id)
        if claim is None or self.compared is None or self.spec is None:
            return BLANK
        if not claim.is_undecided and claim.judges and width >= adjudication_lines.JUDGES_FROM:
            if not self._drawn_with_judge:
                self.call_later(self._record_judge_exposure)
            self._drawn_with_judge.append(claim.item)
        columns = self._count_opinion_columns_needed()
        return adjudication_lines.claim_line(
            row, claim, self.compared, columns, self.spec.labels, width, here
        )

    def _record_judge_exposure(self) -> None:
        """Remember whose judge was in view."""
        self.session.record_exposure(self._drawn_with_judge, in_all_runs=True)
        self._drawn_with_judge.clear()

    def _format_column_headings_line(self, width: int) -> Line:
        if self.compared is None or self.spec is None:
            return BLANK
        return adjudication_lines.format_claim_list_heading(
            self.compared, self._count_opinion_columns_needed(), self.spec, width
        )

    def _paint_rater_figures(self) -> None:
        compared, found, spec = self.compared, self.raters, self.spec
        if compared is None or found is None or spec is None:
            self.query_one("#raters", Pane).show(lambda _width: ())
            return
        self.query_one("#raters", Pane).show(
            lambda width: adjudication_lines.format_rater_agreement_lines(
                compared, found, spec, width
            ),
            title=f"Raters on the same {spec.units[1]}",
        )

    def _update_title(self) -> None:
        if self.compared is None:
            self.set_title([Piece("  no run", "quiet")])
            return
        differ = [each for each in self.compared.claims if each.has_disagreement]
        left = sum(each.is_undecided for each in differ)
        self.set_title(
            run_title_pieces(self.compared.run),
            [
                Piece(f"{left} to adjudicate", "warn strong" if left else "good"),
                Piece(f" · final {len(differ) - left}/{len(differ)}", "quiet"),
            ],
        )

    # Keys

    def action_next_filter(self) -> None:
        """List something else."""
        self.filter = FILTERS[(FILTERS.index(self.filter) + 1) % len(FILTERS)]
        self.evidence.forget_claim()
        self.labels.allow_keys_on_last_settled_claim()
        self.show_message(Piece(f"listing: {self.filter}", "quiet"))
        self.reload()

    def action_zoom_raters(self) -> None:
        """Enlarge the table of raters, or give each pane its place again."""
        panes = self.query_one(Panes)
        panes.zoom_pane(None if panes.zoomed_id == "raters" else "raters")
        (self.query_one("#raters") if panes.zoomed_id else self.claims).focus()

    @on(Input.Submitted, "#note")
    def save_typed_note(self, event: Input.Submitted) -> None:
        """Keep what was typed."""
        self.notes.submit_note(event.value)

    @on(PlainInput.FocusMoved, "#note")
    def save_typed_text_or_say_why_not(self) -> bool:
        """Keep the note that is being typed: its line, the screen or the app is left."""
        self.notes.save_typed_text()
        return True

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line for notes."""
        if event.key == "escape" and self.note.has_focus:
            event.stop()
            self.notes.drop_note_and_close_line()
