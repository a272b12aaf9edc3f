"""All runs of the store, and where one begins."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType

from faithtui.domain.filters import FilterContext, Scope, TermName
from faithtui.domain.ids import RunId
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.messages import FirstRunsRead, NewRunRequested, ResumeRequested, ShowScreen
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.runs.lowest_scores_pane import LowestScoresPane
from faithtui.tui.runs.next_step_actions import NextStepActions
from faithtui.tui.runs.run_actions import RunActions
from faithtui.tui.runs.run_details import run_detail_lines
from faithtui.tui.runs.run_figures import FigureReader
from faithtui.tui.runs.run_lines import (
    all_archived_lines,
    format_no_runs_lines,
    nothing_found_lines,
    run_header_line,
)
from faithtui.tui.screen.filter_matches import list_matching_runs
from faithtui.tui.screen.filtered_list import FilteredListScreen
from faithtui.tui.screen.main_screen import CONTENT_GROUP
from faithtui.tui.session import ListState, Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import Line, Piece, escape_line
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.virtual_list import VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


ORDERS: Mapping[str, tuple[str, Callable[[RunRow], tuple[object, ...]]]] = {
    "number": ("newest first", lambda row: (-row.id,)),
    "metric": ("by metric", lambda row: (row.spec.metric, -row.id)),
    "judge": ("by judge", lambda row: (row.spec.judge, -row.id)),
    "score": ("lowest score first", lambda row: (row.score is None, row.score or 0.0, -row.id)),
    "labels": ("most labels first", lambda row: (-row.labelled, -row.id)),
}
"""Orders of the list: in words, and what is compared."""


LOOK_EVERY_S = 5.0
"""How often runs of other processes are looked after."""


class RunRows:
    """Runs as a list reads them."""

    def __init__(self, rows: tuple[RunRow, ...]) -> None:
        self.all = rows

    def __len__(self) -> int:
        """Count the runs."""
        return len(self.all)

    def fetch_row(self, index: int) -> RunRow:
        """Give a run."""
        return self.all[index]


class RunsScreen(FilteredListScreen):
    """Runs, and what is known of one."""

    LIST: ClassVar[str] = "runs"
    TITLE_WORDS: ClassVar[str] = "RUNS"
    HELP_WORDS: ClassVar[str] = (
        "A run is one metric and one judge over a selection of conversations. {list.open} opens "
        "its conversations. score is the mean over its conversations, each the mean of its "
        "windows, by the judge. corrected is the share of all its claims that pass, estimated "
        "from a random sample of human labels, in percent with its interval: else there is none. "
        "kappa (human) is agreement of judge and human labels beyond chance, with its interval; "
        "ans.: of whole answers, not of claims. reviewed is the share of claims with a human "
        "label. What next lists what can be done with the chosen run, most urgent first: its key,"
        " enter or a click does it."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "n", "new_run", "new run", tooltip="Start runs: metrics, judge, sources", id="runs.new"
        ),
        Binding(
            "v", "screen('review')", "review", tooltip="Review the chosen run", id="runs.review"
        ),
        Binding(
            "a",
            "screen('agreement')",
            "agreement",
            tooltip="Agreement of judge and human labels in the chosen run",
            id="runs.agreement",
        ),
        Binding(
            "p",
            "screen('progress')",
            "progress",
            tooltip="How far the chosen run is, or what happened in it",
            id="runs.progress",
        ),
        Binding(
            "r",
            "resume",
            "resume",
            tooltip="Resume a run that was stopped, cancelled or interrupted; nothing is asked "
            "twice",
            id="runs.continue",
        ),
        Binding(
            "c",
            "offer_spot_check",
            "spot-check",
            show=False,
            tooltip="Look at 20 random claims of the chosen run, blind, for a quick decision",
            id="runs.spot-check",
        ),
        Binding(
            "f",
            "show_failing",
            "failing",
            show=False,
            tooltip="List the conversations of the chosen run in which the judge found something "
            "unfaithful, the lowest score first",
            id="runs.failing",
        ),
        *RunActions.BINDINGS,
    ]

    runs = getters.query_one("#list", VirtualList)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.actions = RunActions(self)
        self.figures = FigureReader(self)
        self.steps = NextStepActions(self)
        self.add_controllers(self.actions, self.steps)

    def make_panes(self) -> Panes:
        """Make the list and the details."""
        return Panes(
            VirtualList[RunRow](
                id="list",
                title="Runs",
                format_row=self.figures.format_run_line,
                head=run_header_line,
                empty=self._format_empty_list_lines,
                moved=self.switch_to_run_under_cursor,
                identity=lambda row: row.id,
                empty_choice=self.make_empty_choice(),
            ),
            RowPane(id="next", title="What next", opens_on_first_click=True),
            LowestScoresPane(self.session, id="lowest"),
            Pane(id="detail", title="Run"),
            layout_function=layouts.make_home_layout_function(
                # Until the runs are read there is room for one.
                lambda: 1 if self.rows is None else len(self.rows)
            ),
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self._all_runs: tuple[RunRow, ...] = ()
        self.rows: tuple[RunRow, ...] | None = None
        self.specs: Mapping[RunId, MetricSpec] = {}
        self.is_at_start = True
        """Nobody could ask yet whether a run that is on is still worked on."""
        super().on_mount()
        self.set_interval(LOOK_EVERY_S, self.reread_other_runs)
        self.runs.focus()

    @property
    def all_runs(self) -> tuple[RunRow, ...]:
        """Every run of the store, whatever the filter."""
        return self._all_runs

    @property
    def listed_ids(self) -> Sequence[int]:
        """Ids of the runs that the filter finds."""
        return [row.id for row in self.rows or ()]

    def reload(self) -> None:
        """Read the runs."""
        self.hold_keys_until_first_rows(self.load_and_show_runs())

    def reread_other_runs(self) -> None:
        """Read again where another process runs something: one that is killed writes nothing."""
        others = (row for row in self._all_runs if row.state is RunState.RUNNING)
        if (
            self.is_current
            and self.session.is_open
            and not all(self.is_under_way(r.id) for r in others)
        ):
            self.load_and_show_runs()

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_runs(self) -> None:
        """Read the runs."""
        rows = await self.read_in_thread(_read_runs, self.session)
        self.is_at_start = False
        self.call_later(self.show_rows, tuple(sorted(rows, key=lambda row: -row.id)))
        # The list does not wait for the metrics to be imported.
        specs = await self.read_in_thread(lambda: {r.id: get_metric_spec(r.spec) for r in rows})
        self.call_later(self.set_metric_specs, specs)

    @on(FirstRunsRead)
    def show_first_runs(self, event: FirstRunsRead) -> None:
        """Draw what there is while the store is being opened."""
        if self.rows is None:
            self.show_rows(event.rows)

    def show_rows(self, rows: tuple[RunRow, ...]) -> None:
        """Draw the runs, with the cursor on the same one."""
        self._all_runs = rows
        self.show_matching_rows()
        self.set_title(
            [Piece("  "), escape_line(fmt.format_path(self.session.store_path), "quiet")]
        )

    @property
    def filter_context(self) -> FilterContext:
        """Say which words a filter may hold."""
        known = _list_filter_values_of_runs(self._all_runs)
        return FilterContext(Scope.RUNS, blind=self.session.is_blind, known=known)

    @property
    def sort_orders(self) -> Mapping[str, str]:
        """Orders there are; while the judge is hidden those that reveal no score."""
        hidden = ("score",) if self.session.is_blind else ()
        return {name: words for name, (words, _) in ORDERS.items() if name not in hidden}

    def show_matching_rows(self) -> None:
        """Draw the runs that the filter finds, in the order."""
        sort = self.state.sort if self.state.sort in self.sort_orders else "number"
        _, key = ORDERS[sort]
        rows = tuple(sorted(list_matching_runs(self._all_runs, self.active_filter), key=key))
        is_other_length = self.rows is None or len(rows) != len(self.rows)
        self.rows = rows
        if is_other_length:
            self.query_one(Panes).recompute_layout()
        wanted = self.session.run
        # Where the chosen one is gone, the one in its place is chosen.
        at = next((i for i, row in enumerate(rows) if row.id == wanted), self.runs.cursor)
        away = sum(row.archived_at is not None for row in self._all_runs)
        count = f"{len(rows)} of {len(self._all_runs)}" if self.state.filter else f"{len(rows)}"
        if away and not self.active_filter.list_terms_with_names(TermName.ARCHIVED):
            count += f" · {away} archived"
        self.runs.show(RunRows(rows), at, title=f"Runs {count}")
        self.show_marks()
        self._reselect_if_run_unlisted()
        self._show_details()
        if self.state != ListState():
            self.show_filter_status()
        self.refresh_bindings()

    def set_metric_specs(self, specs: "Mapping[RunId, MetricSpec]") -> None:
        """Draw what is known of the chosen run in the words of its metric."""
        self.specs = specs
        self._show_details()
        self.figures.start_reading_outdated_figures()

    def show_figures(self, run: RunId) -> None:
        """Draw what was read of a run beside its row."""
        self.runs.refresh()
        if self.run_at_cursor is not None and self.run_at_cursor.id == run:
            self._show_details()

    def switch_to_run_under_cursor(self) -> None:
        """Show the chosen run."""
        if self.run_at_cursor is not None:
            self.session.switch_run(self.run_at_cursor.id)
        self._show_details()
        self.figures.start_reading_outdated_figures()
        self.refresh_bindings()

    @on(VirtualList.Chosen)
    def show_conversations_of_run(self) -> None:
        """Show the conversations of the chosen run."""
        self.post_message(ShowScreen("conversations"))

    @on(RowPane.Chosen, "#next")
    async def run_chosen_step(self, event: RowPane.Chosen) -> None:
        """Do what the chosen step does."""
        await self.steps.run_numbered_step(event.row)

    @property
    def run_at_cursor(self) -> RunRow | None:
        """The run under the cursor."""
        if not self.rows:
            return None
        return self.rows[min(self.runs.cursor, len(self.rows) - 1)]

    def action_screen(self, name: str) -> None:
        """Go to a screen of the chosen run."""
        self.post_message(ShowScreen(name))

    def action_new_run(self) -> None:
        """Ask for the form."""
        self.post_message(NewRunRequested())

    def action_resume(self) -> None:
        """Ask for the chosen run to be taken up."""
        if self.run_at_cursor is not None:
            self.post_message(ResumeRequested(self.run_at_cursor.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a run while there is none."""
        if action == "new_run":
            return self.session.is_open
        if action == "screen":
            return self.is_mounted and self.run_at_cursor is not None
        if action == "resume":
            row = self.run_at_cursor if self.is_mounted else None
            return row is not None and row.pending > 0 and not self.is_under_way(row.id)
        return super().check_action(action, parameters)

    def _format_empty_list_lines(self, width: int) -> list[Line]:
        if not self._all_runs:
            return format_no_runs_lines(width, self.keys, self.session)
        if not self.state.filter:
            return all_archived_lines(width, len(self._all_runs), self.keys)
        return nothing_found_lines(width, self.state.filter, self.keys, self.list_suggestions())

    def is_under_way(self, run: RunId) -> bool:
        """Whether a run is on in this process."""
        mine = self.session.find_background_run(run)
        return mine is not None and not mine.is_finished

    def _reselect_if_run_unlisted(self) -> None:
        """Choose the run under the cursor if the chosen one is not listed, but was not just begun.

        What is read late must not take away the run that is looked at on another screen.
        """
        chosen, row = self.session.run, self.run_at_cursor
        if row is None or not self.is_current or chosen in self.listed_ids:
            return
        if chosen is None or not self.is_under_way(chosen):
            self.session.switch_run(row.id)

    def _show_details(self) -> None:
        row = self.run_at_cursor
        spec = None if row is None else self.specs.get(row.id)
        found = None if row is None else self.figures.get_known_figures(row.id)
        detail = self.query_one("#detail", Pane)
        detail.show(
            lambda width: run_detail_lines(
                row,
                spec,
                width,
                self.keys,
                height=detail.scrollable_content_region.height,
                counts=None if found is None else found.counts,
                trust=None if found is None else found.trust,
                changed_options=None if found is None else found.changed_options,
                planned_runs=_list_other_planned_runs(self, row),
                started_at=None if found is None else found.started_at,
                blind=self.session.is_blind,
                failure=None if found is None else found.failure,
            ),
            title="Run" if row is None else f"Run #{row.id}",
            keep=False,
        )
        self.query_one(LowestScoresPane).show_lowest_conversations(row, spec, found)
        self.steps.show_steps_of_run(row, spec)


def _list_other_planned_runs(screen: RunsScreen, row: RunRow | None) -> tuple[RunId, ...]:
    """List the planned runs beside one that nobody starts."""
    planned = (
        each.id
        for each in reversed(screen.all_runs)
        if each.state is RunState.PLANNED and each.archived_at is None and each != row
    )
    running = (each.id for each in screen.all_runs if each.state is RunState.RUNNING)
    return screen.session.list_unqueued_runs(planned, running)


def _read_runs(session: Session) -> tuple[RunRow, ...]:
    """Read all runs. Imports what is slow: meant for a thread."""
    from faithtui.engine.runs.run_liveness import read_runs_marking_interrupted

    return read_runs_marking_interrupted(session.store)


def _list_filter_values_of_runs(rows: Sequence[RunRow]) -> Mapping[TermName, tuple[str, ...]]:
    """List what runs have of what a filter may name, newest run first."""
    specs = [each.spec for each in rows]
    known = {
        TermName.METRIC: [each.metric for each in specs],
        TermName.JUDGE: [each.judge for each in specs],
        TermName.SOURCE: [source for each in specs for source in each.sources],
    }
    return {name: tuple(dict.fromkeys(found)) for name, found in known.items()}
