"""How far the judge can be trusted, as far as claims are labelled."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.worker import Worker, WorkerState

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.domain.labels.label_sets import Polarity
from faithtui.tui.agreement.export import (
    describe_report_paths,
    write_run_report,
)
from faithtui.tui.agreement.matrix import MatrixPane
from faithtui.tui.agreement.panes import AgreementPanes
from faithtui.tui.agreement.unit_lists import UnitLists
from faithtui.tui.keymap.key_names import format_key
from faithtui.tui.messages import ShowScreen
from faithtui.tui.metric_words import get_metric_spec, name_units_at_level
from faithtui.tui.screen.key_list import KeyEntry, KeyListDialog, make_chosen_row_callback
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece, escape_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.seen_rows import RowsSeen
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.agreement.report.model import AgreementReport
    from faithtui.engine.review.reports.agreement_report import RunAgreement
    from faithtui.metrics.base import MetricSpec

PART = Binding.Group("parts")

PARTS = (
    ("1", "people", "annotators", "Each annotator against the judge, and against each other"),
    ("2", "slices", "slices", "Agreement by reason code, verdict, turn, annotator, conversation"),
    (
        "3",
        "scores",
        "scores",
        "The judge's scores and the human ones, and what another threshold would do",
    ),
    ("4", "calibration", "calibration", "Whether the judge's confidence is what it says"),
    (
        "5",
        "progress",
        "labels needed",
        "The watched figure over the labels, and how many are needed",
    ),
    (
        "6",
        "detection",
        "detection",
        "Detecting unfaithful claims: TP, FP, FN, precision, recall",
    ),
    (
        "7",
        "marked",
        "evidence",
        "Marked evidence against what the judge points at, and claims that it did not extract",
    ),
)
"""Key, pane, word and meaning of what a key enlarges; the same key again gives it back."""

UNSURE_WORDS = {
    IdkRule.PASS: "idk treated as pass",
    IdkRule.FAIL: "idk treated as fail",
    IdkRule.LIVE: "idk treated as in the score",
    IdkRule.EXCLUDE: "idk left out",
}
"""What the switch for `idk` says; nothing where it is a label of its own."""


class AgreementScreen(FaithScreen):
    """Judge against human labels: matrix, coefficients, detection, scores and warnings."""

    TITLE_WORDS: ClassVar[str] = "AGREEMENT"
    HELP_WORDS: ClassVar[str] = (
        "The judge's verdicts against human labels, on what is labelled: unique claims (or "
        "whatever "
        "the metric judges), or whole answers ({agreement.level} switches). A claim without a "
        "label is not counted in agreement. Every figure shows its n, and its interval where one "
        "can be made; an undefined one shows why. kappa, AC1 and alpha are agreement beyond "
        "chance: 1 is perfect, 0 is chance. Detection takes unfaithful as the positive class: TP "
        "both say unfaithful, FP only the judge, FN only the human label; precision is TP / (TP + "
        "FP), recall TP / (TP + FN)."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "m",
            "switch_report_level",
            "units/answers",
            tooltip="Switch between what the metric judges and whole answers",
            id="agreement.level",
        ),
        Binding(
            "X",
            "export",
            "export report",
            tooltip="Write the report as HTML, Markdown, JSON and CSV into a new directory",
            id="agreement.export",
        ),
        Binding("v", "review", "review", tooltip="Review this run", id="agreement.review"),
        Binding(
            "0",
            "choose_report_pane",
            "parts",
            group=PART,
            tooltip="Choose from a list what is enlarged",
            id="agreement.parts",
        ),
        *(
            Binding(
                key,
                f"zoom_report_pane('{pane}')",
                words,
                group=PART,
                tooltip=tooltip,
                id=f"agreement.{pane}",
            )
            for key, pane, words, tooltip in PARTS
        ),
        Binding(
            "i",
            "next_idk_rule",
            "how idk counts",
            tooltip="Treat idk as a label of its own, as pass, as fail, as the run's score "
            "treats it, or leave it out; nobody labels again",
            id="agreement.idk",
        ),
        Binding(
            "b",
            "toggle_blind_labels_only",
            "blind only",
            tooltip="Count only labels that were given blind, or all labels",
            id="agreement.blind-only",
        ),
    ]

    matrix = getters.query_one("#matrix", MatrixPane)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.units = UnitLists(self)

    def make_panes(self) -> Panes:
        """Make the panes, the matrix first."""
        return AgreementPanes(self.keys)

    def on_mount(self) -> None:
        """Begin in the summary, the first pane in reading order."""
        self.agreement: RunAgreement | None = None
        self.spec: MetricSpec | None = None
        self.level: ReportLevel | None = None
        self.settings = ReportSettings()
        self._reading: Worker[None] | None = None
        self.query_one("#warnings").focus()
        super().on_mount()

    def reload(self) -> None:
        """Compute agreement again; keys that come before the first figures are meant for them."""
        self._reading = worker = self.compute_and_show_agreement()
        if self.agreement is None or self.agreement.row.id != self.session.run:
            self._show_instead_of_figures("Computing agreement …")
            self.input_queue.hold_keys_for(worker, can_give_up=True)

    @on(Worker.StateChanged)
    def explain_cancelled_figures(self, event: Worker.StateChanged) -> None:
        """Say how to compute what escape has given up."""
        if event.worker is self._reading and event.state is WorkerState.CANCELLED:
            self._show_instead_of_figures("Not computed: {app.go} {go.agreement} computes it.")

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say why there are no figures; those of before may rest on what is damaged."""
        self.agreement = None
        self.refresh_bindings()
        self._show_pieces_instead_of_figures(why)

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def compute_and_show_agreement(self) -> None:
        """Compute agreement from what is stored now."""
        store = self.session.store
        run = self.session.run or await self.read_in_thread(store.runs.find_newest_run_id)
        if run is None:
            self.call_later(self.show_agreement, None, None)
            return
        from faithtui.engine.review.reports.agreement_report import (
            compute_run_agreement,
            update_claim_figures_for_new_labels,
        )

        self.session.switch_run(run)
        known = self.agreement
        if known is None or known.row.id != run:
            self.show_message(Piece(f"computing agreement of run #{run} …", "quiet"))
        if (
            known is not None
            and known.row.id == run
            and known.report_of_readings.settings == self.settings
        ):
            # What a label changes is seen at once; intervals take longer.
            points = await self.read_in_thread(update_claim_figures_for_new_labels, store, known)
            if points is not None:
                self.call_later(self.show_agreement, points, self.spec)
        agreement = await self.read_in_thread(compute_run_agreement, store, run, self.settings)
        spec = await self.read_in_thread(get_metric_spec, agreement.row.spec)
        self.call_later(self.show_agreement, agreement, spec)

    def show_agreement(self, found: "RunAgreement | None", spec: "MetricSpec | None") -> None:
        """Draw the figures."""
        before = self.agreement
        if found is None or before is None or before.row.id != found.row.id:
            self.level = None
            self.show_message()
        self.agreement, self.spec = found, spec
        if found is not None and self.level is None:
            self.level = choose_first_level(found.report)
        self._paint_content()
        self.refresh_bindings()

    def _show_instead_of_figures(self, words: str) -> None:
        self._show_pieces_instead_of_figures(self.keys.fill_in_keys_as_pieces(words, "strong"))

    def _show_pieces_instead_of_figures(self, pieces: Sequence[Piece]) -> None:
        self.matrix.clear_matrix()
        for pane in self.query_one(AgreementPanes).query(Pane):
            pane.show(lambda _width: [])
        warnings = self.query_one("#warnings", Pane)
        warnings.show(lambda width: wrap(pieces, width, first=[Piece(" ")]))

    def _paint_content(self) -> None:
        found, spec = self.agreement, self.spec
        if found is None or self.level is None or spec is None:
            self.set_title([Piece("  no run", "quiet")])
            self._show_instead_of_figures("There is no run yet: {go.runs}, {runs.new}.")
            return
        units = name_units_at_level(self.level, spec)
        level = found.report.get_level(self.level)
        with self.app.batch_update():
            self.query_one(AgreementPanes).paint_report(
                found.report, self.level, spec, blind=self.session.is_blind, width=self.size.width
            )
        if spec.judges == "claim":
            self.query_one("#warnings", Pane).hint = describe_other_level(
                found.report, self.level, self.keys("agreement.level")
            )
        self.set_title(
            [
                Piece(f"  #{found.row.id} ", "quiet"),
                Piece(spec.title),
                Piece(" · ", "quiet"),
                escape_line(found.row.spec.judge_title, limit=60),
                Piece(" vs human labels", "quiet"),
            ],
            [
                Piece(
                    f"{UNSURE_WORDS[self.settings.idk]}  "
                    if self.settings.idk in UNSURE_WORDS and has_idk(spec)
                    else "",
                    "warn",
                ),
                Piece("blind only  " if self.settings.blind_only else "", "warn"),
                Piece("intervals follow  " if found.points_only else "", "quiet"),
                Piece(
                    f"{fmt.format_count(level.agreement.n)} of "
                    f"{fmt.format_count(level.coverage.units)} "
                    f"{units[1]} · {fmt.format_count_with_noun(level.agreement.clusters, 'group')}"
                ),
            ],
        )

    def action_switch_report_level(self) -> None:
        """Switch between what the metric judges and whole answers."""
        if self.level is not None:
            self.level = (
                ReportLevel.ANSWERS if self.level is ReportLevel.CLAIMS else ReportLevel.CLAIMS
            )
            self._paint_content()

    def action_choose_report_pane(self) -> None:
        """Let a part be chosen from a list."""
        keys = {each.binding.id: each.binding for each in self.active_bindings.values()}
        entries = [
            KeyEntry(format_key(keys[f"agreement.{pane}"]), words, meaning)
            for _, pane, words, meaning in PARTS
            if f"agreement.{pane}" in keys
        ]
        parts = [pane for _, pane, _, _ in PARTS if f"agreement.{pane}" in keys]
        choose = make_chosen_row_callback(lambda row: self.action_zoom_report_pane(parts[row]))
        self.input_queue.open_window(KeyListDialog("Parts", entries), choose)

    def action_zoom_report_pane(self, pane: str) -> None:
        """Enlarge a pane, or give each its place again."""
        panes = self.query_one(Panes)
        panes.zoom_pane(None if panes.zoomed_id == pane else pane)
        if panes.zoomed_id == pane:
            self.query_one(f"#{pane}").focus()

    def action_next_idk_rule(self) -> None:
        """Treat `idk` in another way."""
        rules = list(IdkRule)
        rule = rules[(rules.index(self.settings.idk) + 1) % len(rules)]
        self.settings = replace(self.settings, idk=rule)
        self.show_message(
            Piece(UNSURE_WORDS.get(rule, "idk is a label of its own"), "human strong")
        )
        self.reload()

    def action_toggle_blind_labels_only(self) -> None:
        """Count only blind labels, or all."""
        self.settings = replace(self.settings, blind_only=not self.settings.blind_only)
        words = "only blind verdicts count" if self.settings.blind_only else "all verdicts count"
        self.show_message(Piece(words, "human strong"))
        self.reload()

    @on(MatrixPane.CellOpened)
    def open_list_of_cell_units(self, event: MatrixPane.CellOpened) -> None:
        """List what a cell counts."""
        self.units.open_list_of_cell_units(event.row, event.column)

    @on(RowsSeen, "#differences")
    def record_exposure_to_disagreements(self, event: RowsSeen) -> None:
        """Remember whose judge was in view."""
        self.units.record_exposure_to_disagreements(event.rows)

    @on(RowPane.Chosen, "#differences")
    def open_disagreement_in_review(self, event: RowPane.Chosen) -> None:
        """Open a disagreement in review."""
        self.units.open_disagreement_in_review(event.row)

    def action_review(self) -> None:
        """Review this run."""
        self.post_message(ShowScreen("review"))

    @work(exclusive=True, group="export", exit_on_error=False)
    async def action_export(self) -> None:
        """Write the report into a new directory."""
        if self.agreement is None or self.units.refuse_if_blind("the report"):
            return
        run = self.agreement.row.id
        self.show_message(Piece(f"writing the report of #{run} …", "quiet"))
        directory = await self.read_in_thread(write_run_report, self.session, run, self.settings)
        self.show_message(*describe_report_paths(directory))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run while there is none."""
        if action == "switch_report_level":
            # Whole answers are something else only where parts of them are judged.
            return self.is_mounted and self.spec is not None and self.spec.judges == "claim"
        if action == "next_idk_rule":
            return self.is_mounted and (self.spec is None or has_idk(self.spec))
        if action in ("export", "review"):
            return self.is_mounted and self.agreement is not None
        return super().check_action(action, parameters)


def has_idk(spec: "MetricSpec") -> bool:
    """Say whether a metric has a label for what the passages leave open."""
    return any(each.polarity is Polarity.UNSURE for each in spec.labels.labels)


def choose_first_level(report: "AgreementReport") -> ReportLevel:
    """Pick the level that is looked at first.

    That is the one the report speaks of, but for claims of a sample: who has just labelled them
    looks for what they gave, although ratings of answers came with the data.
    """
    claims = report.claims
    if claims.design.sample is not None and claims.agreement.n:
        return ReportLevel.CLAIMS
    return report.primary_level_report.level


def describe_other_level(report: "AgreementReport", shown: ReportLevel, key: str) -> str:
    """Say by which key labels of the level come that is not shown; "" where it has none."""
    other = next(each for each in report.level_reports if each.level is not shown)
    count = other.coverage.reviewed
    return f"{key} {fmt.format_count(count)} labelled {other.unit[count != 1]}" if count else ""
