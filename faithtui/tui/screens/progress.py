"""How a run goes on, while one may review what is finished."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ItemId, RunId
from faithtui.engine.events import ItemFinished, RunSnapshot, WindowAssessed, WindowFailed
from faithtui.store.records import RunRow, RunState
from faithtui.tui import plans
from faithtui.tui.drawing import progress as draw
from faithtui.tui.lines import BLANK, Line, Piece, shown_line
from faithtui.tui.messages import Go, ResumeWanted
from faithtui.tui.screens.base import FaithScreen
from faithtui.tui.screens.dialogs import ConfirmDialog
from faithtui.tui.widgets.pane import Pane
from faithtui.tui.widgets.panes import Panes

if TYPE_CHECKING:
    from faithtui.engine.background import BackgroundRun

LOOK_EVERY_S = 0.1
READ_EVERY_S = 1.0
"""How often a run of another process is read from the store."""


class ProgressScreen(FaithScreen):
    """Bars, counts and events of the chosen run."""

    TITLE_WORDS: ClassVar[str] = "PROGRESS"
    HELP_WORDS: ClassVar[str] = (
        "A run goes on whatever screen is shown, and every reply is stored the moment it arrives: "
        "the terminal may be killed, and the run taken up later without asking anything twice. "
        "Cancelling keeps what is stored. The number of windows grows while conversations are cut."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "r",
            "review",
            "review what is finished",
            tooltip="Review finished conversations; the run goes on",
            id="progress.review",
        ),
        Binding(
            "c", "resume", "continue", tooltip="Take up this run again", id="progress.continue"
        ),
        Binding(
            "ctrl+x",
            "cancel",
            "cancel run",
            tooltip="Stop the run; results stay",
            id="progress.cancel",
        ),
    ]

    @dataclass
    class Loaded(Message):
        """The run was read."""

        row: RunRow | None

    @dataclass
    class Named(Message):
        """Conversations that events speak of were read."""

        names: dict[ItemId, str]

    def make_panes(self) -> Panes:
        """Make the panes."""
        return Panes(
            Pane(id="totals", title="Progress"),
            Pane(id="counts", title="Counts"),
            Pane(id="events", title="Events"),
            planner=plans.progress,
        )

    def on_mount(self) -> None:
        """Look at the run ten times a second."""
        self.row: RunRow | None = None
        self.names: dict[ItemId, str] = {}
        self.began: datetime | None = None
        self.drawn: RunSnapshot | None = None
        self.set_interval(LOOK_EVERY_S, self.look)
        self.set_interval(READ_EVERY_S, self.read_again)
        self.query_one("#events", Pane).focus()
        super().on_mount()

    def reload(self) -> None:
        """Read the run."""
        self.load()

    @work(exclusive=True, group="row", exit_on_error=False)
    async def load(self) -> None:
        """Read the run from the store."""
        runs = self.session.store.runs
        run = self.session.run or await self.read(runs.last_id)
        row = None if run is None else await self.read(runs.row, run)
        self.post_message(self.Loaded(row))

    @on(Loaded)
    def show_loaded(self, event: Loaded) -> None:
        """Draw the run."""
        if event.row is not None and self.session.run not in (None, event.row.id):
            # Another run was chosen while this one was read.
            self.load()
            return
        if event.row is not None and (self.row is None or self.row.id != event.row.id):
            self.names.clear()
            self.began = None
        self.row = event.row
        if event.row is not None:
            self.session.choose_run(event.row.id)
        self.drawn = None
        self.look()
        self.refresh_bindings()

    def read_again(self) -> None:
        """Follow a run of another process."""
        if self.is_current and self.session.is_open and self.row is not None:
            mine = self.session.running(self.row.id)
            if mine is None and self.row.state is RunState.RUNNING:
                self.load()

    def look(self) -> None:
        """Draw the run as it is at this moment."""
        if not self.is_current:
            return
        row = self.row
        if row is None:
            if self.session.is_open:
                words = [BLANK, Line((Piece("  No run yet: g r, then n starts one.", "strong"),))]
                self.query_one("#totals", Pane).show(lambda _width: words)
            return
        run = self.session.running(row.id)
        snapshot = None if run is None else run.snapshot()
        if snapshot is not None and snapshot == self.drawn:
            return
        ended = (
            self.drawn is not None
            and snapshot is not None
            and self.drawn.state is RunState.RUNNING
            and snapshot.state is not RunState.RUNNING
        )
        again = (
            self.drawn is not None
            and snapshot is not None
            and snapshot.elapsed_s < self.drawn.elapsed_s
        )
        self.drawn = snapshot
        if snapshot is not None and (self.began is None or again):
            self.began = self.session.now() - timedelta(seconds=snapshot.elapsed_s)
        self._ask_names(snapshot)
        self._draw(row, snapshot)
        if ended:
            self.load()

    def _draw(self, row: RunRow, snapshot: RunSnapshot | None) -> None:
        self.query_one("#totals", Pane).show(
            lambda width: draw.total_lines(snapshot, row, width), title=f"Run #{row.id}"
        )
        self.query_one("#counts", Pane).show(lambda width: draw.count_lines(snapshot, row, width))
        began, names = self.began, self.names
        self.query_one("#events", Pane).show(
            lambda width: draw.event_lines(snapshot, began, names, width)
        )
        self.entitle(
            [
                Piece(f"  #{row.id} ", "quiet"),
                shown_line(row.spec.metric, "quiet"),
                Piece(" · ", "quiet"),
                shown_line(row.spec.judge, limit=60),
            ],
            draw.state_pieces(snapshot, row),
        )

    def _ask_names(self, snapshot: RunSnapshot | None) -> None:
        """Read the names of conversations that events speak of for the first time."""
        if snapshot is None:
            return
        unknown = {
            event.item
            for _, event in snapshot.recent
            if isinstance(event, (ItemFinished, WindowAssessed, WindowFailed))
            and event.item not in self.names
        }
        if unknown:
            self.read_names(tuple(unknown))

    @work(exclusive=True, group="names", exit_on_error=False)
    async def read_names(self, items: tuple[ItemId, ...]) -> None:
        """Read names of conversations."""
        rows = await self.read(self.session.store.runs.item_rows, items)
        self.post_message(self.Named({row.id: row.key for row in rows}))

    @on(Named)
    def take_names(self, event: Named) -> None:
        """Draw events with names."""
        self.names.update(event.names)
        self.drawn = None

    def action_review(self) -> None:
        """Review what is finished."""
        self.session.item = self.session.claim = None
        self.post_message(Go("review"))

    def action_resume(self) -> None:
        """Ask for the run to be taken up."""
        if self.row is not None:
            self.post_message(ResumeWanted(self.row.id))

    def action_cancel(self) -> None:
        """Ask, then stop the run."""
        run = self._mine()
        if run is None:
            return

        def answered(answer: str | None) -> None:
            if answer == "yes":
                run.cancel()
                self.say(Piece("cancelling: the answers on their way are still stored", "warn"))

        self.app.push_screen(
            ConfirmDialog(
                f"Cancel run #{run.run_id}?",
                "What is judged stays. The run can be continued later and asks nothing twice.",
            ),
            answered,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done with this run now."""
        if action == "cancel":
            return self.is_mounted and self._mine() is not None
        if action == "resume":
            row = self.row if self.is_mounted else None
            if row is None:
                return False
            mine = self.session.running(row.id)
            unfinished = row.state is not RunState.DONE and row.pending > 0
            return unfinished and (mine is None or mine.finished)
        if action == "review":
            return self.is_mounted and self.row is not None
        return super().check_action(action, parameters)

    def _mine(self) -> "BackgroundRun | None":
        run: RunId | None = self.row.id if self.row is not None else None
        mine = self.session.running(run)
        return None if mine is None or mine.finished else mine
