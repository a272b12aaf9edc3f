"""What looks wrong in a run: kinds of findings, and the claims behind them as a queue."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.explanations import EXPLANATIONS
from faithtui.domain.integrity.findings import FindingKind
from faithtui.store.records import FindingRow, FindingSummary, RunRow
from faithtui.tui.integrity.finding_entries import FindingEntries
from faithtui.tui.integrity.finding_lines import (
    BLIND_WORDS,
    KindRow,
    blind_finding_lines,
    format_finding_kind_lines,
    format_kind_explanation_lines,
    list_kind_rows,
)
from faithtui.tui.runs.run_lines import run_title_pieces
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Piece, make_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.seen_rows import RowsSeen
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.engine.integrity.run_checks import BackgroundCheck

PREVIEWED_ENTRIES = 20
"""Entries shown beside a kind."""
CHECKED_AT_ONCE = 100
"""So few conversations are checked without being asked; more take time that others may need."""
CHECKS_POLL_S = 0.25


class IntegrityScreen(FaithScreen):
    """Kinds of findings with counts, and what each means."""

    TITLE_WORDS: ClassVar[str] = "INTEGRITY"
    HELP_WORDS: ClassVar[str] = (
        "What looks wrong in the judge's replies: verdicts that are missing, unreadable, that flip "
        "between windows or go against their own reason, claims the answer does not make, facts "
        "of a passage that no truth covers, and windows and turns that were left out. Each is "
        "found by counting or by comparing words, so it is a place to look at and not a verdict. "
        "{list.open} reviews exactly the claims of a kind. Such a queue, and suspicious first, are "
        "not a random sample: what is labelled there says nothing certain about the rest."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "l",
            "list_entries_of_kind",
            "entries",
            tooltip="List the entries of the chosen kind",
            id="integrity.entries",
        ),
        Binding(
            "s",
            "review_suspicious_claims",
            "suspicious first",
            tooltip="Review the most suspicious claims first: not a random sample",
            id="integrity.suspicious",
        ),
        Binding(
            "c",
            "start_or_stop_checks",
            "check/stop",
            tooltip="Check what is not checked yet, or stop that",
            id="integrity.check",
        ),
    ]

    kinds = getters.query_one("#list", RowPane)
    detail = getters.query_one("#detail", Pane)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.entries = FindingEntries(self)
        self.run_row: RunRow | None = None
        self.summary = FindingSummary(0, 0, {})
        self.checks: BackgroundCheck | None = None
        self.unveiled_for: ClaimQueue | str | None = None
        """The blind work during which somebody agreed to see findings."""
        self._explained_kind: KindRow | None = None
        self._preview_rows: Sequence[FindingRow] = ()
        """Entries that are drawn beside the chosen kind."""

    def make_panes(self) -> Panes:
        """Make the list of kinds and what the chosen one means."""
        return Panes(
            RowPane(id="list", title="What looks wrong"),
            Pane(id="detail", title="What it means", reports_seen_rows=True),
            layout_function=layouts.lay_out_list_and_text,
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self.kinds.focus()
        self.set_interval(CHECKS_POLL_S, self.show_check_progress)
        super().on_mount()

    def on_unmount(self) -> None:
        """Leave no thread behind."""
        if self.checks is not None:
            self.checks.cancel()

    @property
    def run_id(self) -> RunId | None:
        """The run whose findings are shown."""
        return None if self.run_row is None else self.run_row.id

    @property
    def hides_findings(self) -> bool:
        """Whether somebody works blind and has not agreed to see findings."""
        return self.session.is_blind and self.unveiled_for != (self.session.claim_queue or "blind")

    @property
    def selected_kind(self) -> KindRow | None:
        """The chosen row."""
        rows = () if self.hides_findings else list_kind_rows(self.summary)
        return rows[min(self.kinds.cursor, len(rows) - 1)] if rows else None

    # Reading

    def reload(self) -> None:
        """Read the counts again."""
        self.load_and_show_summary_then_start_checks()

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_summary_then_start_checks(self) -> None:
        """Read the counts of the run."""
        store = self.session.store
        run = self.session.run or await self.read_in_thread(store.runs.find_newest_run_id)
        if run is None:
            self.call_later(self.show_summary_and_start_checks, None, FindingSummary(0, 0, {}))
            return
        row = await self.read_in_thread(store.runs.read_run, run)
        self.call_later(
            self.show_summary_and_start_checks,
            row,
            await self.read_in_thread(store.findings.summarise_run, run),
        )

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say in place of the findings why there are none; those that are shown stay."""
        if self.run_row is None:
            self.kinds.show(lambda width: [BLANK, *wrap(why, width, first=[Piece(" ")])])

    def show_summary_and_start_checks(self, run: RunRow | None, summary: FindingSummary) -> None:
        """Draw the counts; check a few conversations without being asked."""
        before = self.run_id
        self.run_row, self.summary = run, summary
        fresh = self.run_id != before
        if fresh and self.checks is not None:
            self.checks.cancel()
            self.checks = None
        if self.checks is None and 0 < summary.waiting <= CHECKED_AT_ONCE:
            self._start_background_check()
        self._paint_content(fresh=fresh)

    @work(exclusive=True, group="entries", exit_on_error=False)
    async def load_and_show_kind_preview(
        self, run: RunId, choice: KindRow, kind: FindingKind
    ) -> None:
        """Read the first entries of a kind."""
        findings = self.session.store.findings
        ids = await self.read_in_thread(findings.list_ids_of_kind, run, kind)
        rows = await self.read_in_thread(findings.read_rows, ids[:PREVIEWED_ENTRIES])
        self.call_later(self.show_kind_preview, choice, rows)

    def show_kind_preview(self, choice: KindRow, rows: Sequence[FindingRow]) -> None:
        """Draw entries, unless another kind was chosen meanwhile."""
        if choice == self.selected_kind:
            self._paint_kind_explanation(choice, rows)

    # Checks

    def action_start_or_stop_checks(self) -> None:
        """Check what is unchecked, or stop that."""
        if self.checks is not None and not self.checks.snapshot().finished:
            self.checks.cancel()
            words = "stopping; what is checked is kept, {integrity.check} resumes"
            self.show_message(Piece(self.keys.fill_in_keys(words)))
        elif self.summary.waiting:
            self._start_background_check()
        else:
            self.show_message(Piece("everything that is judged is checked"))

    def _start_background_check(self) -> None:
        from faithtui.engine.integrity.run_checks import BackgroundCheck

        if self.run_id is not None:
            self.checks = BackgroundCheck(self.session.store, self.run_id)
            self.checks.start()

    def show_check_progress(self) -> None:
        """Show how the checks go on."""
        checks = self.checks
        if checks is None:
            return
        if checks.bug is not None:
            raise checks.bug
        if not self.is_current:
            return
        self._paint_kinds()
        if checks.snapshot().finished:
            self.checks = None if checks.snapshot().error is None else checks
            self.reload()

    # Choosing

    @on(RowPane.Moved, "#list")
    def explain_kind_under_cursor(self) -> None:
        """Explain the kind that was chosen."""
        self._explain_kind()
        self.refresh_bindings()

    @on(RowPane.Chosen, "#list")
    def review_or_list_selected_kind(self) -> None:
        """Review the claims of the chosen kind, or list what is not about claims."""
        if self.hides_findings:
            self._ask_to_show_findings_while_blind()
            return
        choice = self.selected_kind
        if choice is None or self.run_id is None:
            return
        if choice.kind is None or (choice.count is not None and choice.count.claims):
            self.entries.review_claims_with_findings(self.run_id, choice.kind)
        else:
            self.entries.load_and_offer_entries_of_kind(self.run_id, choice.kind)

    def action_list_entries_of_kind(self) -> None:
        """List the entries of the chosen kind."""
        choice = self.selected_kind
        if choice is not None and choice.kind is not None and self.run_id is not None:
            self.entries.load_and_offer_entries_of_kind(self.run_id, choice.kind)

    def action_review_suspicious_claims(self) -> None:
        """Review the most suspicious claims first."""
        if self.hides_findings:
            self._ask_to_show_findings_while_blind()
        elif self.run_id is not None:
            self.entries.review_claims_with_findings(self.run_id, None)

    def _ask_to_show_findings_while_blind(self) -> None:
        def unveil_if_confirmed(answer: str | None) -> None:
            if answer == "yes":
                self.unveiled_for = self.session.claim_queue or "blind"
                self._paint_content(fresh=True)

        self.input_queue.open_window(
            ConfirmDialog("See findings while blind?", BLIND_WORDS[0]), unveil_if_confirmed
        )

    # Drawing

    def _paint_content(self, *, fresh: bool) -> None:
        if not self.session.is_blind:
            self.unveiled_for = None
        self._paint_kinds()
        if fresh:
            self.kinds.move_to(0)
            self._explained_kind = None
        self._explain_kind()
        crumbs = [] if self.run_row is None else run_title_pieces(self.run_row)
        blind = [Piece("BLIND", "warn strong")] if self.hides_findings else []
        self.set_title(crumbs, blind or [Piece("places to look at, not verdicts", "quiet")])
        self.refresh_bindings()

    def _paint_kinds(self) -> None:
        if self.hides_findings:
            self.kinds.show(
                lambda width: blind_finding_lines(width, self.keys), title="Hidden while blind"
            )
            return
        if self.run_id is None:
            sentence = " There is no run yet: {go.runs}, then {runs.new} starts one."
            words = [BLANK, make_line(*self.keys.fill_in_keys_as_pieces(sentence, "strong"))]
            self.kinds.show(lambda _width: words, title="What looks wrong")
            return
        summary = self.summary
        checks = None if self.checks is None else self.checks.snapshot()
        total = sum(count.entries for count in summary.counts.values())
        self.kinds.show(
            lambda width: format_finding_kind_lines(summary, checks, width, self.keys),
            title=f"What looks wrong · {fmt.format_count_with_noun(total, 'finding')}",
        )

    def _explain_kind(self) -> None:
        choice = self.selected_kind
        if choice is not None and choice == self._explained_kind:
            return
        self._paint_kind_explanation(choice, ())
        self._explained_kind = choice
        if choice is not None and choice.kind is not None and self.run_id is not None:
            self.load_and_show_kind_preview(self.run_id, choice, choice.kind)

    @on(RowsSeen, "#detail")
    def record_seen_entries(self, event: RowsSeen) -> None:
        """Remember whose findings were in view."""
        self.entries.record_exposure(
            [self._preview_rows[row] for row in event.rows if row < len(self._preview_rows)]
        )

    def _paint_kind_explanation(self, choice: KindRow | None, rows: Sequence[FindingRow]) -> None:
        title = "What it means"
        self._preview_rows = rows
        if choice is not None:
            title = "suspicious first" if choice.kind is None else EXPLANATIONS[choice.kind].title
        self.detail.show(
            lambda width: format_kind_explanation_lines(choice, rows, width, self.keys),
            title=title,
            keep=False,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done now."""
        if (
            action in ("list_entries_of_kind", "review_suspicious_claims")
            and not self.summary.counts
        ):
            return False
        if action == "list_entries_of_kind":
            # The first row stands for the suspicious claims of all kinds: it has no list.
            return self.selected_kind is not None and self.selected_kind.kind is not None
        if action == "review_suspicious_claims":
            return not self.hides_findings
        return super().check_action(action, parameters)
