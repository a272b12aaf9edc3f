"""How a run goes on, while one may review what is finished."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import getters, on, work
from textual.binding import Binding, BindingType

from faithtui.domain.filters import FilterContext, Scope, parse_filter
from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.runs.events import (
    RunSnapshot,
)
from faithtui.store.records import ItemRow, ItemState, RunHistory, RunRow, RunState
from faithtui.tui.messages import ShowScreen
from faithtui.tui.progress import event_lines
from faithtui.tui.progress.event_list import EventList
from faithtui.tui.progress.history_lines import advice_lines, history_lines
from faithtui.tui.progress.pace import NO_RATES, PaceMeter, RunRates
from faithtui.tui.progress.progress_lines import (
    RunView,
    make_run_state_and_time_pieces,
    total_lines,
)
from faithtui.tui.progress.run_controls import RunControls
from faithtui.tui.progress.stage_lines import count_needed_lines, stage_lines, stage_title
from faithtui.tui.replies.show_replies import RawReplies
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.layouts import PaneLayout
from faithtui.tui.theme.lines import BLANK, Piece, escape_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.engine.runs.background import BackgroundRun

LOOK_EVERY_S = 0.1
READ_EVERY_S = 1.0
"""How often a run of another process is read from the store."""
MAX_FAILED_LISTED = 200
"""Failed conversations that are listed; more are counted."""


class OpenRuns(NamedTuple):
    """Runs of the store that are not over."""

    planned: Sequence[RunId]
    """Not started yet."""
    worked_on: Sequence[RunId]
    """By some process, now."""


class ProgressScreen(FaithScreen):
    """Totals, stages and events of the chosen run, and what failed in it."""

    TITLE_WORDS: ClassVar[str] = "PROGRESS"
    HELP_WORDS: ClassVar[str] = (
        "A run continues whatever screen is shown, and every reply is stored when it arrives: "
        "the terminal may be killed, and the run taken up later without asking anything twice. "
        "The number of windows grows while conversations are cut. The pace is that of the last "
        "minute; the time left takes the rest to go like what was judged since the run was taken "
        "up. The limits of a provider count for all runs of this app together. Cost is counted "
        "from the price table; a call whose price is not known is never counted as nothing."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *RunControls.BINDINGS,
        *RawReplies.BINDINGS,
        Binding(
            "v",
            "review",
            "review",
            tooltip="Review finished conversations; the run continues",
            id="progress.review",
        ),
        Binding(
            "f",
            "toggle_failed_list",
            "failed",
            tooltip="List the conversations that failed, or the events again",
            id="progress.failed",
        ),
    ]

    totals = getters.query_one("#totals", Pane)
    stages = getters.query_one("#stages", Pane)
    events = getters.query_one("#events", RowPane)
    failed = getters.query_one("#failed", RowPane)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.run_keys = RunControls(self)
        self.event_list = EventList(self)
        self.replies = RawReplies(self, self.get_item_id_at_cursor)
        self.add_controllers(self.run_keys, self.replies)
        self.row: RunRow | None = None
        """The run; None: there is none, or it was not read yet."""
        self.failed_rows: Sequence[ItemRow] = ()
        self.open_runs = OpenRuns((), ())
        self.history: RunHistory | None = None
        """What became of it; None: it is on, or that was not read yet."""
        self._painted_snapshot: RunSnapshot | None = None
        self._shown: RunView | None = None
        """What is drawn of the run; None: nothing yet."""
        self.state: RunState | None = None
        """Of the run in this process, when it was drawn last."""
        self.elsewhere = False
        """The run is on in another process."""
        self.attempt: BackgroundRun | None = None
        self.pace = PaceMeter()
        self.below = "events"
        """What stands where only one of events and failures has room."""

    def make_panes(self) -> Panes:
        """Make the panes."""
        return Panes(
            Pane(id="totals", title="Progress"),
            Pane(id="stages", title="Stages"),
            RowPane(id="events", title="Events"),
            RowPane(id="failed", title="Failed"),
            layout_function=self._lay_out_panes,
        )

    def _lay_out_panes(self, width: int, height: int) -> PaneLayout:
        lines = count_needed_lines(self._shown, self.history, width)
        return layouts.lay_out_progress(width, height, below=self.below, **lines)

    def on_mount(self) -> None:
        """Look at the run ten times a second."""
        self.set_interval(LOOK_EVERY_S, self.update_view)
        self.set_interval(READ_EVERY_S, self.reload_if_judged_elsewhere)
        self.events.focus()
        super().on_mount()

    # Reading

    def reload(self) -> None:
        """Read the run."""
        self.load_and_show_run()

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_run(self) -> None:
        """Read the run from the store."""
        runs = self.session.store.runs
        run = self.session.run or await self.read_in_thread(runs.find_newest_run_id)
        if run is None:
            self.call_later(self.show_run, None)
            return
        # Asked before the row is read: a run that ends meanwhile is none of another process.
        mine = self.session.find_background_run(run)
        is_over = mine is None or mine.is_finished
        row, self.open_runs = await self.read_in_thread(_read_run_and_others, self.session, run)
        # An interrupted one may be taken up elsewhere at any moment.
        elsewhere = is_over and row.state in (RunState.RUNNING, RunState.INTERRUPTED)
        failed = await self._read_failed_items(row)
        self.call_later(self.show_run, row, failed, elsewhere=elsewhere)
        if is_over and row.state is not RunState.RUNNING and (row != self.row or not self.history):
            history = await self.read_in_thread(_read_history, self.session, row)
            self.call_later(self.show_history, row, history)

    async def _read_failed_items(self, row: RunRow) -> Sequence[ItemRow]:
        """Read what failed, unless it was read before."""
        if not row.failed:
            return ()
        before = self.row
        if before is not None and (before.id, before.failed) == (row.id, row.failed):
            return self.failed_rows
        return await self.read_in_thread(_read_failed_items, self.session, row.id)

    def show_run(
        self, row: RunRow | None, failed: Sequence[ItemRow] = (), *, elsewhere: bool = False
    ) -> None:
        """Draw the run.

        Args:
            row: The run; None: there is none.
            failed: Conversations of it that failed.
            elsewhere: It is on, and not in this process.
        """
        if row is not None and self.session.run not in (None, row.id):
            # Another run was chosen while this one was read.
            self.load_and_show_run()
            return
        if row is not None and (self.row is None or self.row.id != row.id):
            self.event_list.reset_for_other_run()
            self.history = self.attempt = self.state = None
        self.row, self.failed_rows, self.elsewhere = row, failed, elsewhere
        if row is not None:
            self.session.switch_run(row.id)
        else:
            sentence = "No run yet: {go.runs}, then {runs.new} starts one."
            self.explain_unread_content(self.keys.fill_in_keys_as_pieces(sentence, "strong"))
        self.repaint()
        self.refresh_bindings()

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say why there is no run; one that is shown stays."""
        if self.row is None:
            self.totals.show(lambda width: [BLANK, *wrap(why, width, first=[Piece("  ")])])

    def show_history(self, row: RunRow, history: RunHistory) -> None:
        """Draw what became of a run that is over."""
        if self.row is not None and self.row.id == row.id:
            self.history = history
            self.repaint()
            self.refresh_bindings()
            self.query_one(Panes).recompute_layout()

    def reload_if_judged_elsewhere(self) -> None:
        """Follow a run of another process."""
        if self.is_current and self.session.is_open and self.elsewhere:
            self.load_and_show_run()

    # Drawing

    def repaint(self) -> None:
        """Draw the run even if nothing happened in it."""
        self._painted_snapshot = None
        self.update_view()

    def update_view(self) -> None:
        """Draw the run as it is at this moment."""
        self.run_keys.close_outdated_question()
        row = self.row
        if row is None or not self.is_current:
            return
        run = self.session.find_background_run(row.id)
        if self.elsewhere and (run is None or run.is_finished):
            run = None  # An attempt of this process is over; what it said is not true any more.
        snapshot = None if run is None else run.snapshot()
        if snapshot is not None and snapshot == self._painted_snapshot:
            return
        self._painted_snapshot = snapshot
        if snapshot is not None:
            if run is not self.attempt:
                self._reset_for_new_attempt(run, snapshot)
            self.event_list.add_events(snapshot.recent)
        rates = NO_RATES if snapshot is None else self.pace.measure_pace(snapshot)
        self._paint_content(_make_run_view(self.session, row, snapshot, rates, self.open_runs))
        before, self.state = self.state, None if snapshot is None else snapshot.state
        if before is RunState.RUNNING and self.state is not RunState.RUNNING:
            self.run_keys.show_cancelled_end()
            self.load_and_show_run()

    def _reset_for_new_attempt(self, run: "BackgroundRun | None", snapshot: RunSnapshot) -> None:
        """Begin with another attempt of the run: what was said of the one before is over."""
        if self.attempt is not None:
            self.show_message()
        self.attempt, self.pace, self.history = run, PaceMeter(), None
        self.query_one(Panes).recompute_layout()
        self.run_keys.forget_cancel_request()
        self.event_list.set_attempt_start(snapshot.elapsed_s)
        self.event_list.read_conversation_names_ahead(snapshot.run)

    def _paint_content(self, run: RunView) -> None:
        row, self._shown = run.row, run
        self.totals.show(lambda width: total_lines(run, width), title=f"Run #{row.id}")
        is_over = not self.elsewhere or row.state is RunState.INTERRUPTED
        history = self.history if is_over and run.snapshot is None else None
        self.events.opens_entries, self.failed.opens_entries = history is None, row.failed > 0
        self.stages.show(lambda width: stage_lines(run, width, history), title=stage_title(run))
        if history is None:
            self.event_list.paint_events()
        else:
            self._paint_history(row, history)
        failed = fmt.format_count(row.failed)
        if history is not None and not row.failed:
            self.failed.show(lambda width: advice_lines(row, width, self.keys), title="What next")
        else:
            self._paint_failed(row)
        # Where one of both has the only room, its frame says that the other one is there.
        alone = not (self.events.display and self.failed.display)
        key = self.keys("progress.failed")
        self.events.hint = f"{key} failed {failed}" if alone and row.failed else ""
        replies = self.keys.fill_in_keys("{replies.open} raw replies") if row.failed else ""
        self.failed.hint = " · ".join(filter(None, [replies, f"{key} events" if alone else ""]))
        self.set_title(
            [
                Piece(f"  #{row.id} ", "quiet"),
                escape_line(row.spec.metric, "quiet"),
                Piece(" · ", "quiet"),
                escape_line(row.spec.judge_title, limit=60),
            ],
            make_run_state_and_time_pieces(run),
        )

    def _paint_history(self, row: RunRow, history: RunHistory) -> None:
        blind = self.session.is_blind
        self.events.show(
            lambda width: history_lines(row, history, width, blind=blind), title="What happened"
        )

    def _paint_failed(self, row: RunRow) -> None:
        rows, blind = self.failed_rows, self.session.is_blind
        self.failed.show(
            lambda width: event_lines.failed_conversation_lines(
                rows, row.failed, width, blind=blind
            ),
            title=f"Failed {fmt.format_count(row.failed)}",
            made_of=(rows, row.failed, blind),
        )

    # Acting

    @on(RowPane.Chosen, "#events")
    @on(RowPane.Chosen, "#failed")
    def review_conversation_of_entry(self) -> None:
        """Open the conversation that an entry is about."""
        item = self.get_item_id_at_cursor()
        if item is None:
            self.refuse("this is about the run; entries that name a conversation open it")
            return
        self.session.open_conversation(item)
        self.post_message(ShowScreen("review"))

    def get_item_id_at_cursor(self) -> ItemId | None:
        """Give the conversation of the chosen entry; None: it names none."""
        if self.focused is self.failed:
            at = self.failed.cursor
            return self.failed_rows[at].id if at < len(self.failed_rows) else None
        if not self.events.opens_entries:
            return None  # What happened in a run that is over stands there, and no entries do.
        at = self.events.cursor
        return self.event_list.entries[at].item_id if at < len(self.event_list.entries) else None

    def action_toggle_failed_list(self) -> None:
        """Go to what failed; from there, back to the events."""
        back = self.focused is self.failed
        self.below = "events" if back else "failed"
        panes = self.query_one(Panes)
        panes.zoom_pane(panes.zoomed_id)
        (self.events if back else self.failed).focus()
        self.repaint()

    def action_review(self) -> None:
        """Review what is finished."""
        self.session.choose_conversation(None)
        self.post_message(ShowScreen("review"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with this run now."""
        if action == "review":
            return self.is_mounted and self.row is not None
        if action == "toggle_failed_list":
            failed = self.row is not None and self.row.failed > 0
            return self.is_mounted and (failed or self.focused is self.failed)
        return super().check_action(action, parameters)


def _read_run_and_others(session: Session, run: RunId) -> tuple[RunRow, OpenRuns]:
    """Read a run, and which ones are open. Imports what is slow: meant for a thread."""
    from faithtui.engine.runs.run_liveness import list_runs_worked_on, read_run_marking_interrupted

    row = read_run_marking_interrupted(session.store, run)
    # Who begins the next planned run is seen at work on it, or the run is planned no more.
    planned = session.store.runs.list_planned_run_ids()
    return row, OpenRuns(planned, list_runs_worked_on(session.store))


def _read_failed_items(session: Session, run: RunId) -> Sequence[ItemRow]:
    """Read the first conversations that failed: meant for a thread."""
    wanted = parse_filter("state:failed", FilterContext(Scope.CONVERSATIONS)).filter
    items = session.store.search.list_matching_items(run, wanted, "number")
    return session.store.runs.read_item_rows(items[:MAX_FAILED_LISTED])


def _read_history(session: Session, row: RunRow) -> RunHistory:
    """Read what became of a run. Reads all its calls: meant for a thread."""
    run_contents = session.store.run_contents
    return RunHistory(
        session.store.calls.sum_run_calls_by_question_kind(row.id),
        run_contents.count_conversations_by_state_reason(row.id, ItemState.FAILED),
        run_contents.count_conversations_by_state_reason(row.id, ItemState.SKIPPED),
        run_contents.count_unscored_conversations_by_reason(row.id),
        run_contents.count_judge_labels(row.id),
        run_contents.find_start_time(row.id),
    )


def _make_run_view(
    session: Session,
    row: RunRow,
    snapshot: RunSnapshot | None,
    rates: RunRates,
    others: OpenRuns,
) -> RunView:
    """Say all that is drawn of a run."""
    planned = (each for each in others.planned if each != row.id)
    left = session.list_unqueued_runs(planned, others.worked_on)
    return RunView(row, snapshot, rates, session.keys, _name_runs_ahead(session, row.id), left)


def _name_runs_ahead(session: Session, run: RunId) -> str:
    """Name the runs that go before one; "" when it does not wait for any."""
    waiting = session.waiting_runs
    if run not in waiting:
        return ""
    on = [snapshot.run for snapshot in session.list_unfinished_run_snapshots()]
    ahead = [*on, *waiting[: waiting.index(run)]]
    return "run " + " ".join(f"#{each}" for each in ahead) if ahead else "the run before"
