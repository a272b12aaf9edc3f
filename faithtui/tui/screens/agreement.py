"""How far the judge can be trusted, as far as people have looked."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.readings import AnswerReading
from faithtui.domain.report_values import Level, LevelReport
from faithtui.judges.opening import judge_title
from faithtui.tui import format as fmt
from faithtui.tui import plans
from faithtui.tui.described import spec_of, units_at
from faithtui.tui.drawing import agreement as draw
from faithtui.tui.lines import BLANK, Line, Piece, shown_line
from faithtui.tui.messages import Go
from faithtui.tui.queue import item_of
from faithtui.tui.screens.base import FaithScreen
from faithtui.tui.screens.dialogs import PickDialog
from faithtui.tui.widgets.pane import Builder, Pane, RowPane
from faithtui.tui.widgets.panes import Panes

if TYPE_CHECKING:
    from faithtui.engine.reporting import RunAgreement
    from faithtui.metrics.base import MetricSpec

CELL = Binding.Group("cell", compact=True)


class MatrixPane(Pane):
    """The confusion matrix, one cell chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "open",
            "list units",
            tooltip="List what the cell counts",
            id="agreement.open-cell",
        ),
        Binding(
            "left",
            "cell(0,-1)",
            "left",
            group=CELL,
            key_display="←",
            tooltip="Cell to the left",
            id="agreement.cell-left",
        ),
        Binding(
            "right",
            "cell(0,1)",
            "right",
            group=CELL,
            key_display="→",
            tooltip="Cell to the right",
            id="agreement.cell-right",
        ),
        Binding(
            "up,k",
            "cell(-1,0)",
            "up",
            group=CELL,
            key_display="↑",
            tooltip="Cell above",
            id="agreement.cell-up",
        ),
        Binding(
            "down,j",
            "cell(1,0)",
            "down",
            group=CELL,
            key_display="↓",
            tooltip="Cell below",
            id="agreement.cell-down",
        ),
    ]

    @dataclass
    class Opened(Message):
        """What a cell counts is wanted."""

        row: int
        column: int

    def __init__(self) -> None:
        super().__init__(id="matrix", title="Confusion · counts")
        self.cell = (0, 0)
        self._level: LevelReport | None = None
        self._spec: MetricSpec | None = None

    def show_level(self, level: LevelReport, spec: "MetricSpec") -> None:
        """Draw the matrix of a level."""
        last = len(level.table.categories) - 1
        self.cell = (min(self.cell[0], last), min(self.cell[1], last))
        self._level, self._spec = level, spec
        self.show(
            lambda width: draw.matrix_lines(level, self.cell, self.has_focus, spec.labels, width),
            title=f"Confusion · {units_at(level.level, spec)[1]}",
        )

    def on_focus(self) -> None:
        """Draw the chosen cell strongly."""
        self._again()

    def on_blur(self) -> None:
        """Draw the chosen cell quietly."""
        self._again()

    def action_cell(self, down: int, right: int) -> None:
        """Choose a cell beside."""
        if self._level is not None:
            last = len(self._level.table.categories) - 1
            self.cell = (
                max(0, min(last, self.cell[0] + down)),
                max(0, min(last, self.cell[1] + right)),
            )
            self._again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys of cells while there are none."""
        return self._level is not None if action in ("cell", "open") else True

    def action_open(self) -> None:
        """Ask for what the cell counts."""
        if self._level is not None:
            self.post_message(self.Opened(*self.cell))

    def _again(self) -> None:
        if self._level is not None and self._spec is not None:
            self.show_level(self._level, self._spec)


class AgreementScreen(FaithScreen):
    """Judge against people: matrix, coefficients, detection, scores, and what to beware of."""

    TITLE_WORDS: ClassVar[str] = "AGREEMENT"
    HELP_WORDS: ClassVar[str] = (
        "The judge against people, on what people gave a verdict on: unique claims (or whatever "
        "the metric judges), or whole answers (m switches). Unreviewed is not agreed and enters "
        "no figure. Every figure shows its n, and its interval where one can be made; an "
        "undefined one shows why. kappa, AC1 and alpha are agreement beyond chance: 1 is perfect, "
        "0 is chance. Detection asks how well the judge finds what is bad: precision is how much "
        "of what it flags is bad, recall how much of what is bad it flags."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "m",
            "level",
            "units/answers",
            tooltip="Switch between what the metric judges and whole answers",
            id="agreement.level",
        ),
        Binding(
            "e",
            "export",
            "export report",
            tooltip="Write the report as Markdown, JSON and CSV into a new directory",
            id="agreement.export",
        ),
        Binding("v", "review", "review", tooltip="Review this run", id="agreement.review"),
    ]

    matrix = getters.query_one("#matrix", MatrixPane)

    @dataclass
    class Loaded(Message):
        """Agreement was computed."""

        agreement: "RunAgreement | None"
        answers: tuple[AnswerReading, ...]
        spec: "MetricSpec | None"

    @dataclass
    class Exported(Message):
        """A report was written."""

        paths: tuple[Path, ...]

    def make_panes(self) -> Panes:
        """Make the panes, the matrix first."""
        return Panes(
            MatrixPane(),
            Pane(id="coefficients", title="Agreement"),
            Pane(id="scores", title="Scores of answers"),
            Pane(id="classes", title="Per verdict"),
            Pane(id="detection", title="Finding what is bad"),
            Pane(id="coverage", title="Coverage"),
            RowPane(id="differences", title="Where they differ"),
            Pane(id="warnings", title="What it says, and what to beware of"),
            planner=plans.agreement,
        )

    def on_mount(self) -> None:
        """Begin in the matrix."""
        self.agreement: RunAgreement | None = None
        self.answers: tuple[AnswerReading, ...] = ()
        self.spec: MetricSpec | None = None
        self.level: Level | None = None
        self.matrix.focus()
        super().on_mount()

    def reload(self) -> None:
        """Compute agreement again."""
        self.load()

    @work(exclusive=True, group="agreement", exit_on_error=False)
    async def load(self) -> None:
        """Compute agreement from what is stored now."""
        store = self.session.store
        run = self.session.run or await self.read(store.runs.last_id)
        if run is None:
            self.post_message(self.Loaded(None, (), None))
            return
        from faithtui.engine.reporting import run_agreement

        self.session.choose_run(run)
        agreement = await self.read(run_agreement, store, run)
        answers = await self.read(store.reviews.answer_readings, run)
        spec = await self.read(spec_of, agreement.row.spec)
        self.post_message(self.Loaded(agreement, answers, spec))

    @on(Loaded)
    def show_loaded(self, event: Loaded) -> None:
        """Draw the figures."""
        known = self.agreement is not None and event.agreement is not None
        if not known or self.agreement.row.id != event.agreement.row.id:  # type: ignore[union-attr]  # both are there
            self.level = None
        self.agreement, self.answers, self.spec = event.agreement, event.answers, event.spec
        if event.agreement is not None and self.level is None:
            self.level = event.agreement.report.primary.level
        self._draw()
        self.refresh_bindings()

    def _draw(self) -> None:
        found, spec = self.agreement, self.spec
        if found is None or self.level is None or spec is None:
            self.entitle([Piece("  no run", "quiet")])
            words = [
                BLANK,
                Line((Piece(" There is no run yet: g r, n.", "strong"),)),
            ]
            self.matrix.show(lambda _width: words)
            return
        report, labels, kind = found.report, spec.labels, self.level
        units = units_at(kind, spec)
        level = draw.level_of(report, kind)
        self.matrix.show_level(level, spec)
        interval = f" · {report.level:.0%} interval"
        narrow = self.size.width < plans.NARROW_BELOW
        # A narrow screen has fewer panes: what has none of its own follows in another one.
        builders: dict[str, tuple[Builder, str]] = {
            "coefficients": (
                lambda w: [
                    *draw.coefficient_lines(report, level, w),
                    *(draw.section("scores of answers", draw.score_lines(report, w), narrow)),
                ],
                f"Agreement{interval}",
            ),
            "scores": (lambda w: draw.score_lines(report, w), "Scores of answers"),
            "classes": (
                lambda w: [
                    *draw.class_lines(level, labels, w),
                    *draw.section("coverage", draw.coverage_lines(report, level, spec, w), narrow),
                ],
                "Per verdict",
            ),
            "detection": (lambda w: draw.detection_lines(level, w), "Finding what is bad"),
            "coverage": (
                lambda w: draw.coverage_lines(report, level, spec, w),
                f"Coverage · {units[1]}",
            ),
            "differences": (
                lambda w: draw.difference_lines(level.disagreements, labels, w),
                f"Where they differ {len(level.disagreements)}",
            ),
            "warnings": (
                lambda w: (
                    draw.warning_lines(report, kind, w)
                    if report.primary.coverage.compared
                    else draw.nothing_labelled(report, spec, w)
                ),
                "What it says, and what to beware of",
            ),
        }
        for name, (build, title) in builders.items():
            self.query_one(f"#{name}", Pane).show(build, title=title)
        if self.session.blind:
            self.query_one("#differences", RowPane).show(
                draw.blind_lines, title="Where they differ"
            )
        self.query_one("#differences", RowPane).hint = "J judge → people · enter opens"
        self.entitle(
            [
                Piece(f"  #{found.row.id} ", "quiet"),
                Piece(spec.title),
                Piece(" · ", "quiet"),
                shown_line(judge_title(found.row.spec.judge), limit=60),
                Piece(" vs people", "quiet"),
            ],
            [
                Piece(
                    f"{level.coverage.compared} of {fmt.thousands(level.coverage.total)} "
                    f"{units[1]} · {fmt.plural(level.coverage.compared_groups, 'group')}"
                )
            ],
        )

    def action_level(self) -> None:
        """Switch between what the metric judges and whole answers."""
        if self.level is not None:
            self.level = Level.ANSWERS if self.level is Level.CLAIMS else Level.CLAIMS
            self._draw()

    @on(MatrixPane.Opened)
    def open_cell(self, event: MatrixPane.Opened) -> None:
        """List what a cell counts; the chosen one opens in review."""
        if self._refused("the list"):
            return
        if self.agreement is None or self.level is None or self.spec is None:
            return
        report = self.agreement.report
        names = draw.level_of(report, self.level).table.categories
        judge, human = names[event.row], names[event.column]
        units = draw.units_of(
            self.agreement.claims, self.answers, self.level, judge, human, report.passing, self.spec
        )
        words = units_at(self.level, self.spec)
        if not units:
            self.say(Piece(f"no {words[0]} in this cell", "warn"))
            return

        def chosen(row: str | None) -> None:
            if row is not None:
                self.open_unit(units[int(row)])

        self.app.push_screen(
            PickDialog(
                f"judge {judge}, people {human}: {fmt.plural(len(units), *words)}",
                lambda width: draw.unit_lines(units, width),
            ),
            chosen,
        )

    @on(RowPane.Chosen, "#differences")
    def open_difference(self, event: RowPane.Chosen) -> None:
        """Open a disagreement in review."""
        if self._refused("the list"):
            return
        if self.agreement is not None and self.level is not None:
            each = draw.level_of(self.agreement.report, self.level).disagreements[event.row]
            self.open_unit(draw.Unit(each.claim, each.conversation, each.key, each.turn, each.text))

    @work(exclusive=True, group="open", exit_on_error=False)
    async def open_unit(self, unit: draw.Unit) -> None:
        """Find the conversation of a unit in the run and review it."""
        session = self.session
        if session.run is None:
            return
        item = await self.read(item_of, session.store, session.run, unit.conversation)
        if item is not None:
            session.item, session.claim = item, unit.claim
            self.post_message(Go("review"))

    def _refused(self, what: str) -> bool:
        """Refuse, audibly, what tells of single claims, while they are hidden."""
        if self.session.blind:
            self.app.bell()
            self.say(Piece(f"{what} would show the judge's words while you work blind", "warn"))
        return self.session.blind

    def action_review(self) -> None:
        """Review this run."""
        self.post_message(Go("review"))

    @work(exclusive=True, group="export", exit_on_error=False)
    async def action_export(self) -> None:
        """Write the report into a new directory."""
        if self.agreement is None or self._refused("the report"):
            return
        from faithtui.engine.reporting import write_report

        run, session = self.agreement.row.id, self.session
        directory = (
            session.report_directory / f"faithtui-report-{run}-{session.now():%Y%m%d-%H%M%S}"
        )
        paths = await self.read(write_report, session.store, run, ("md", "json", "csv"), directory)
        self.post_message(self.Exported(tuple(paths)))

    @on(Exported)
    def show_exported(self, event: Exported) -> None:
        """Say where the report is."""
        folder = shown_line(str(event.paths[0].parent)).text if event.paths else "nothing"
        names = ", ".join(path.name for path in event.paths)
        self.say(Piece("report written", "good"), Piece(f" · {folder}", "quiet"))
        self.notify(f"{names}\nin {folder}", title="Report written", markup=False, timeout=10)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run while there is none."""
        if action == "level":
            # Whole answers are something else only where parts of them are judged.
            return self.is_mounted and self.spec is not None and self.spec.judges == "claim"
        if action in ("export", "review"):
            return self.is_mounted and self.agreement is not None
        return super().check_action(action, parameters)
