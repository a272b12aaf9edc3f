"""What every main screen has: title, panes, status, keys, and reading from the store."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from faithtui.domain.durations import format_time_left
from faithtui.errors import FaithtuiError
from faithtui.tui.allowed_actions import drop_writing_keys
from faithtui.tui.input_queue import (
    PASTE_IGNORED,
    InputQueue,
    get_input_queue,
    hold_keys_during_worker,
)
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.messages import WorkerFailed
from faithtui.tui.refusals import show_refusal_box, withdraw_refusals
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.layouts import LEAST
from faithtui.tui.theme.lines import Piece, escape_line, escape_text
from faithtui.tui.widgets.bars import KeyBar, StatusLine, TitleBar
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.virtual_list import VirtualList
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.tui.screen.controller import Controller

T = TypeVar("T")


CONTENT_GROUP = "content"
"""Group of the workers that read what a screen is there to show."""

SIDES = ("REVIEW", "METRICS")
"""Title words of the two screens of a conversation, between which `M` switches."""


def conversation_tab_pieces(here: str, key: str) -> tuple[Piece, ...]:
    """Draw the sides of a conversation as tabs: one is chosen, a key leads to the other."""
    return tuple(
        piece
        for side in SIDES
        for piece in (
            [Piece(f"[{side}]", "strong")]
            if side == here
            else [Piece(f" {key}", "key"), Piece(f" {side.lower()} ", "quiet")]
        )
    )


class FaithScreen(Screen[None]):
    """A main screen: a subclass has `make_panes` and `reload`, as the type checker holds.

    Attributes:
        TITLE_WORDS: First words of the title.
        HELP_WORDS: What the screen is for, for `?`.
        LEAST: Columns and rows without which it cannot be used.
    """

    LEAST: ClassVar[tuple[int, int]] = LEAST
    TITLE_WORDS: ClassVar[str] = ""
    HELP_WORDS: ClassVar[str] = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "pane", tooltip="Go to the next pane", id="screen.pane"),
        Binding(
            "shift+tab",
            "app.focus_previous",
            "pane before",
            show=False,
            tooltip="Go to the pane before",
            id="screen.pane-back",
        ),
        Binding(
            "z",
            "zoom",
            "zoom",
            tooltip="Zoom the focused pane, or leave the zoom",
            id="screen.zoom",
        ),
        Binding(
            "escape",
            "unzoom",
            "all panes",
            tooltip="Leave the zoom: all panes are seen again",
            id="screen.close",
        ),
        Binding(
            "A",
            "about_judge",
            "about the judge",
            show=False,
            tooltip="What is known of the run's judge: what it is, what it costs, how good it was "
            "measured to be, and where it fails",
            id="screen.judge",
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._action_owners: dict[str, Controller[Any]] = {}
        self._follows_runs = False
        self.refused_keys: list[str] = []
        """Keys that came too early, which nobody has read yet."""

    def add_controllers(self, *controllers: "Controller[Any]") -> None:
        """Let actions of controllers be actions of this screen."""
        for controller in controllers:
            for name in controller.add_actions_to(self):
                assert name not in self._action_owners, name
                self._action_owners[name] = controller

    @property
    def keys(self) -> KeyNames:
        """What keys are called in sentences."""
        return self.session.keys

    @property
    def input_queue(self) -> InputQueue:
        """What opens windows, between keys."""
        return get_input_queue(self)

    @abstractmethod
    def make_panes(self) -> Panes:
        """Make the panes, the one to begin in first."""

    def compose(self) -> ComposeResult:
        """Stack title, panes, what is typed, status and keys."""
        yield TitleBar(id="title")
        yield self.make_panes()
        yield from self.compose_input_lines()
        yield StatusLine(id="status")
        yield KeyBar(id="keys")

    def compose_input_lines(self) -> ComposeResult:
        """Give the lines in which something can be typed; each is hidden until it is needed."""
        return ()

    def on_mount(self) -> None:
        """Follow the runs under way."""
        # Textual calls this besides the `on_mount` of a subclass, which calls it too.
        if not self._follows_runs:
            self._follows_runs = True
            self.set_interval(0.25, self.show_run_progress)
            self.set_title()

    def on_screen_resume(self) -> None:
        """Read again what may have changed meanwhile."""
        self.show_run_progress()
        if self.session.is_open:
            self.reload()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Let the app say what failed: messages of workers stay with their screen.

        The app's words go after some seconds: a screen without its content says them itself.
        """
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if event.worker.group == CONTENT_GROUP and isinstance(error, FaithtuiError):
            self.report_failed_reading(error)
            self.explain_unread_content([escape_text(str(error), "warn")])
        else:
            self.post_message(WorkerFailed(error))

    def report_failed_reading(self, error: FaithtuiError) -> None:
        """Say what could not be read, also on the status line: it is seen with every pane.

        While the status line says so already, as when another process deletes step by step, no
        second box is opened.
        """
        words = (escape_line(f"not read: {error}", "warn", limit=400),)
        if self.query_one(StatusLine).left != words:
            self.post_message(WorkerFailed(error))
            self.show_message(*words)

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say in place of the content why it was not read; what was read before may stay."""
        for each in self.query(VirtualList):
            each.explain_unread_rows(why)

    @abstractmethod
    def reload(self) -> None:
        """Read from the store and draw. Called when the store opens or changes."""

    def clear_content(self) -> None:
        """Forget what is drawn: it must not be seen any more. What may be is read again."""
        for pane in self.query(Pane):
            pane.clear_lines()
        self.set_title()
        self.show_message()

    def reload_after_store_change(self) -> None:
        """Follow a change of the store, by this process or another one."""
        self.reload()

    _refusal: tuple[Piece, ...] = ()
    """What the status line said last of why a key did nothing."""

    def clear_refusal(self) -> None:
        """Take away why an earlier key did nothing, if the status line says so still."""
        if self._refusal and self.query_one(StatusLine).left == self._refusal:
            self.show_message()
        self._refusal = ()
        self.refused_keys.clear()

    def get_unread_refusal(self) -> tuple[Piece, ...]:
        """Give why a key did nothing, to stand before other words; () if a key was typed since."""
        return (*self._refusal, Piece(" · ")) if self._refusal else ()

    def set_title(self, crumbs: Iterable[Piece] = (), right: Iterable[Piece] = ()) -> None:
        """Say where this is."""
        bar = self.query_one(TitleBar)
        bar.left = (*self.title_pieces(), *crumbs)
        bar.right = tuple(right)

    def title_pieces(self) -> tuple[Piece, ...]:
        """Name the screen at the left of the title."""
        return (Piece(self.TITLE_WORDS, "strong"),)

    def show_message(self, *pieces: Piece) -> None:
        """Say what happened last, at the left of the status line."""
        self.query_one(StatusLine).left = pieces

    def refuse(self, words: str) -> None:
        """Say, audibly, why a key did nothing: what the status line cuts, in full beside it."""
        self.app.bell()
        piece = escape_line(words, "warn", limit=400)
        self.show_message(piece)
        self._refusal = (piece,)
        withdraw_refusals(self.app)
        if not self.query_one(StatusLine).has_room_for(piece):
            show_refusal_box(self.app, piece.text)

    def on_paste(self) -> None:
        """Say that a paste did nothing: no line took it, and it is no keys."""
        self.refuse(PASTE_IGNORED)

    def show_input_line(self, line: PlainInput, text: str) -> None:
        """Let somebody type on a line that takes the place of the status line meanwhile."""
        line.value = text
        self.query_one(StatusLine).display = False
        line.display = True
        line.focus()

    def close_input_line(self, line: PlainInput) -> None:
        """Drop what was typed, and show the status line again."""
        line.display = False
        self.query_one(StatusLine).display = True

    def save_typed_text_or_say_why_not(self) -> bool:
        """Save what is being typed on a line, before the screen or the app is left.

        Returns:
            False when it cannot be saved, and that was said; True when it is asked once more.
        """
        return True

    def show_run_progress(self) -> None:
        """Show how the newest run goes on, on every screen."""
        if not self.is_current:
            return
        status = self.query_one(StatusLine)
        snapshots = self.session.list_unfinished_run_snapshots()
        if not snapshots:
            status.right, status.who = self.make_idle_status(), self.make_reviewer_pieces()
            return
        status.who = ()
        newest = snapshots[-1]
        progress = newest.progress
        done, total = progress.finished_conversations, progress.conversations
        more = f" +{len(snapshots) - 1}" if len(snapshots) > 1 else ""
        paused = newest.gauges is not None and newest.gauges.is_paused
        left = "" if newest.eta_s is None else f" · {format_time_left(newest.eta_s)}"
        status.right = (
            Piece(f"run #{newest.run}{more} ", "human"),
            Piece(fmt.format_progress_bar(done, total, 10), "human"),
            Piece(f" {done}/{total}"),
            Piece(" · paused", "warn") if paused else Piece(left, "quiet"),
        )

    def make_idle_status(self) -> tuple[Piece, ...]:
        """Say how the session goes on, while no run is on."""
        return ()

    def make_reviewer_pieces(self) -> tuple[Piece, ...]:
        """Name whose labels are saved, at the right end of the status line while no run is on."""
        if self.session.is_read_only:
            return (Piece("read only: nothing is saved", "warn"),)
        return (escape_line(self.session.reviewer, "quiet", limit=40),)

    async def read_in_thread(self, fn: Callable[..., T], *args: object, **kwargs: object) -> T:
        """Read from the store without holding up keys."""
        return await asyncio.to_thread(fn, *args, **kwargs)

    def action_zoom(self) -> None:
        """Enlarge the focused pane, or give each its place again."""
        panes = self.query_one(Panes)
        focused = self.focused
        if panes.zoomed_id is not None:
            panes.zoom_pane(None)
        elif focused is not None and focused.parent is panes and focused.id is not None:
            panes.zoom_pane(focused.id)

    def action_unzoom(self) -> None:
        """Leave the zoom: all panes are seen again."""
        self.query_one(Panes).zoom_pane(None)

    @hold_keys_during_worker(can_give_up=True)
    @work(exclusive=True, group="judge", exit_on_error=False)
    async def action_about_judge(self) -> None:
        """Say what is known of the judge of the run."""
        from faithtui.tui.screen.judge_dialog import JudgeDialog, read_judge_description_and_prompts

        run = self.session.run
        if run is None:
            return
        facts, prompts = await self.read_in_thread(
            read_judge_description_and_prompts, self.session, run
        )
        if self.is_current and self.session.run == run:
            title = f"The judge of run #{run}"
            self.input_queue.open_window(JudgeDialog(title, facts, self.keys, prompts))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """What can be done now: in a store that can only be read, nothing that writes."""
        found = super().active_bindings
        return drop_writing_keys(found) if self.session.is_read_only else found

    def is_key_shown(self, action: str) -> bool:
        """Whether the lines of keys name the key of an action that can be done now."""
        if action == "unzoom":
            return _is_zoomed(self)
        owner = self._action_owners.get(action)
        return owner is None or owner.is_key_shown(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done now."""
        owner = self._action_owners.get(action)
        if owner is not None:
            return self.is_mounted and owner.check_action(action, parameters)
        if action == "about_judge":
            return self.session.is_open and self.session.run is not None
        if action == "unzoom":
            return _is_zoomed(self)
        return True


def _is_zoomed(screen: FaithScreen) -> bool:
    panes = screen.query_one_optional(Panes)
    return panes is not None and panes.zoomed_id is not None
