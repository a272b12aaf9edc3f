"""Keys that come faster than screens change, and screens that change in the midst of keys."""

import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

import faithtui.tui
from faithtui.config import load_settings_with_origins
from faithtui.domain.ids import RunId
from faithtui.store.annotations.guidelines import Guidelines
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.input_queue import CommandWindow, InputQueue, ModalWindow
from faithtui.tui.keymap import declared_bindings
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.review.guideline.guideline_dialog import GuidelineDialog
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs import background_runs
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.screen.go_to_dialog import GoToDialog
from faithtui.tui.screen.help_dialog import HelpDialog
from faithtui.tui.settings.settings_screen import SettingsScreen
from tests.tui.building import NOON
from tests.tui.driving import calm, has_settled, opened, press, reviewing, type_ahead, until
from tests.tui.terminal import CTRL_Q, Terminal, command

SIZE = (120, 40)
CHANGES_SCREENS = re.compile(r"\.(push_screen|pop_screen|switch_screen|switch_mode)\w*\(")


def windows(app: FaithApp) -> list[str]:
    return [type(each).__name__ for each in app.screen_stack[2:]]


def test_one_module_alone_changes_screens() -> None:
    root = Path(faithtui.tui.__file__).parent
    found = {
        str(file.relative_to(root)): CHANGES_SCREENS.findall(file.read_text("utf-8"))
        for file in root.rglob("*.py")
        if CHANGES_SCREENS.search(file.read_text("utf-8"))
    }
    assert found.pop("app.py") == ["push_screen"], "the first screen, before there are keys"
    assert list(found) == ["input_queue.py"]


def test_every_window_is_closed_by_the_input_queue() -> None:
    modal = [
        each for each in declared_bindings.list_screen_classes() if issubclass(each, ModalScreen)
    ]
    assert len(modal) > 10
    assert all(issubclass(each, ModalWindow | CommandWindow) for each in modal)


@pytest.mark.thorough
async def test_keys_of_one_read_reach_what_the_keys_before_them_led_to(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        type_ahead(app, "ctrl+o", "g", "v", "g", "c", "g", "v", "question_mark", "escape", "M")
        await calm(pilot)
        assert app.current_screen_name == "metrics"
        assert windows(app) == []


@pytest.mark.thorough
async def test_letters_of_a_jump_are_not_typed_twice(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "ctrl+o")
        type_ahead(app, "a", "v")
        await calm(pilot)
        assert isinstance(app.screen, ReviewScreen), "v opens the review from the list of runs"


@pytest.mark.thorough
async def test_a_window_answers_once(app: FaithApp) -> None:
    answers: list[str | None] = []
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        main = app.screen
        question = ConfirmDialog("Sure?", "Really?")
        app.input_queue.open_window(question, answers.append)
        await calm(pilot)
        question.dismiss("yes")
        question.dismiss(None)
        question.dismiss("yes")
        type_ahead(app, "escape", "escape")
        await calm(pilot)
        assert answers == ["yes"]
        assert main in app.screen_stack


async def test_a_window_takes_those_above_it_along(app: FaithApp) -> None:
    answers: list[str | None] = []
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        below = ConfirmDialog("Sure?", "Really?")
        app.input_queue.open_window(below, answers.append)
        app.input_queue.open_window(GoToDialog(), answers.append)
        await calm(pilot)
        assert windows(app) == ["ConfirmDialog", "GoToDialog"]
        below.dismiss("yes")
        await calm(pilot)
        assert answers == ["yes"], "the other one was not answered"
        assert windows(app) == []


@pytest.mark.thorough
async def test_a_screen_that_comes_by_itself_replaces_the_screen_and_not_a_window(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.action_help()
        app.show_screen("conversations")
        app.action_help()
        await calm(pilot)
        assert isinstance(app.screen_stack[1], ConversationsScreen)
        assert windows(app) == ["HelpDialog"]
        type_ahead(app, "escape", "q", "question_mark")
        await calm(pilot)
        assert app.current_screen_name == "runs"
        assert isinstance(app.screen, HelpDialog)


async def test_keys_wait_for_the_window_that_is_being_prepared(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, go_on = Guidelines.list_versions, threading.Event()

    def slowly(self: Guidelines, metric: str | None = None) -> object:
        assert go_on.wait(20)
        return read(self, metric)

    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        claim = screen.review_position.claim
        monkeypatch.setattr(Guidelines, "list_versions", slowly)
        type_ahead(app, "h", "j", "y")
        await pilot.pause()
        assert not app.input_queue.is_settled
        go_on.set()
        await until(pilot, lambda: isinstance(app.screen, GuidelineDialog))
        await calm(pilot)
        assert screen.review_position.claim == claim, "j was for the window"
        assert not screen.writer.pending_verdicts


async def test_escape_gives_up_what_keys_wait_for(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, go_on = Guidelines.list_versions, threading.Event()

    def slowly(self: Guidelines, metric: str | None = None) -> object:
        assert go_on.wait(20)
        return read(self, metric)

    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        claim = screen.review_position.claim
        monkeypatch.setattr(Guidelines, "list_versions", slowly)
        type_ahead(app, "h", "j", "escape", "j")
        await until(pilot, lambda: has_settled(app))
        assert screen.review_position.claim != claim, "only the j after escape was for this screen"
        go_on.set()
        await calm(pilot)
        assert app.screen is screen


class QuietApp:
    """An app that is its own screen, and does what is scheduled when it is told to."""

    screen_stack = ("main",)
    _notifications = ()
    focused = None
    _layout_required = False

    def __init__(self) -> None:
        self.scheduled: list[Callable[[], Awaitable[None]]] = []
        self.screen = self

    def call_next(self, step: Callable[[], Awaitable[None]]) -> None:
        self.scheduled.append(step)

    def call_later(self, step: Callable[..., Awaitable[None]], *args: object) -> None:
        self.scheduled.append(partial(step, *args))

    def call_after_refresh(self, _later: object, step: Callable[[], Awaitable[None]]) -> None:
        self.scheduled.append(step)

    async def run_scheduled(self) -> None:
        while self.scheduled:
            await self.scheduled.pop(0)()


def make_queue(app: QuietApp, *keys: str) -> InputQueue:
    async def forward(event: events.Event) -> None:
        raise AssertionError(event)

    queue = InputQueue(cast("Any", app), forward, lambda: (), lambda: None)
    for key in keys:
        queue.add_input(events.Key(key, key))
    return queue


def test_keys_typed_ahead_are_dropped_up_to_another_one() -> None:
    queue = make_queue(QuietApp(), "1", "f", "1", "y", "2", "n", "j", "y")
    dropped = queue.drop_typed_ahead({"f", "y", "n"}, {"1", "2"}, {"y", "n"})
    assert dropped == ["f", "y", "2", "n"], "2 is about the y, 1 about what came before"
    assert queue.drop_typed_ahead({"y"}) == [], "1 was kept, and stands first"
    assert queue.drop_typed_ahead({"1", "j", "y"}) == ["1", "1", "j", "y"]


async def test_what_was_meant_for_a_screen_that_gave_way_is_dropped_but_for_quitting() -> None:
    app, dropped = QuietApp(), list[bool]()
    queue = make_queue(app, "v", "B")
    queue.hold_keys("read")
    queue.drop_input_until_painted(lambda: dropped.append(True))
    await app.run_scheduled()
    assert not dropped, "what comes is being read"
    queue.add_input(events.Key("n", "n"))
    queue.release_keys("read")
    await app.run_scheduled()
    assert dropped == [True]
    assert queue.is_settled
    queue.drop_input_until_painted(lambda: dropped.append(True))
    await app.run_scheduled()
    assert dropped == [True], "there was nothing to drop"
    queue.add_input(events.Paste("text"))
    with pytest.raises(AssertionError, match="text"):  # it is handed on
        await app.run_scheduled()


async def test_what_comes_before_the_paint_is_asked_whether_it_does_nothing() -> None:
    app, asked, taken = QuietApp(), list[str](), list[str]()

    async def take(event: events.Event) -> None:
        assert isinstance(event, events.Key)
        taken.append(event.key)

    def is_refused(key: str) -> bool:
        asked.append(key)
        return key == "x"

    queue = InputQueue(cast(App[None], app), take, tuple, lambda: None)
    queue.hold_keys("reading")
    queue.check_early_keys(is_refused)
    for key in "x]xu":
        queue.add_input(events.Key(key, key))
    await app.run_scheduled()
    assert taken == []
    queue.release_keys("reading")
    await app.run_scheduled()
    assert asked == ["x", "]", "x", "u"]
    assert taken == ["]", "u"]
    queue.early_inputs.has_undone = True
    queue.add_input(events.Key("x", "x"))
    await app.run_scheduled()
    assert taken == ["]", "u", "x"], "all was painted"
    assert not queue.early_inputs.has_undone, "it came in time"


@pytest.mark.parametrize("is_saving", [True, False])
async def test_escape_gives_up_nothing_while_something_is_saved(is_saving: bool) -> None:
    given_up: list[str] = []
    app = QuietApp()
    queue = make_queue(app, "j", "escape")
    queue.hold_keys("read", lambda: given_up.append("read"))
    if is_saving:
        queue.hold_keys("save")
    (step,) = app.scheduled
    await step()
    assert given_up == ([] if is_saving else ["read"])


async def test_quitting_waits_for_nothing(app: FaithApp, monkeypatch: pytest.MonkeyPatch) -> None:
    read, go_on = Guidelines.list_versions, threading.Event()

    def slowly(self: Guidelines, metric: str | None = None) -> object:
        assert go_on.wait(20)
        return read(self, metric)

    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        monkeypatch.setattr(Guidelines, "list_versions", slowly)
        type_ahead(app, "h", "j", "ctrl+q")
        await until(pilot, lambda: app._exit)
        go_on.set()


async def test_a_run_that_begins_shows_itself_before_the_next_key(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, go_on = background_runs._begin_background_run, threading.Event()

    def slowly(*args: object) -> object:
        assert go_on.wait(20)
        return begin(*args)  # type: ignore[arg-type]  # as they came

    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        monkeypatch.setattr(background_runs, "_begin_background_run", slowly)
        app.background_runs.begin_or_resume_run(RunId(1))
        type_ahead(app, "question_mark", "escape", "escape")
        await pilot.pause()
        assert app.current_screen_name == "runs"
        go_on.set()
        await until(pilot, lambda: has_settled(app))
        await calm(pilot)
        assert isinstance(app.screen, ProgressScreen)


@pytest.mark.thorough
async def test_two_enters_in_one_read_save_one_setting(store_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("concurrency = 4\n", "utf-8")
    configured = load_settings_with_origins(file, {"LANG": "C.UTF-8"})
    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, configured=configured)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "g", "s", "enter")
        screen = app.screen
        assert isinstance(screen, SettingsScreen)
        names = screen.selected_section.names
        await press(pilot, *["j"] * names.index("concurrency"))
        type_ahead(app, "e", "backspace", "7", "enter", "enter")
        await calm(pilot)
        assert screen.entry.has_focus, "the second enter began to change it again"
    assert file.read_text("utf-8") == "concurrency = 7\n"


@pytest.mark.parametrize(
    "jumps", ["gc", pytest.param("gagigpgugdgsgc", marks=pytest.mark.thorough)]
)
def test_bytes_of_one_read_never_end_a_terminal_session(
    judged: Path, environment: Mapping[str, str], jumps: str
) -> None:
    with Terminal(command(judged), environment) as terminal:
        terminal.wait("offline")
        terminal.press("\x0f", "gv", "gc")
        terminal.wait("CONVERSATIONS")
        terminal.press("gv", "\x0f", "gv", "gr", "?\x1bq", ":q\x1b", jumps, "gv")
        terminal.wait("[REVIEW]")
        terminal.press(CTRL_Q)
        assert terminal.wait_end() == 0, terminal.plain[-3000:]


class ListOfOne(Widget, can_focus=True):
    """Says that its row was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "")]

    class Chosen(Message):
        """The row was chosen."""

    def action_choose(self) -> None:
        """Choose it."""
        self.post_message(self.Chosen())


class KeyWindow(ModalWindow[None]):
    """Takes the keys that are meant for it."""

    typed = ""

    def on_key(self, event: events.Key) -> None:
        """Note the key."""
        self.typed += event.key


class ListScreen(Screen[None]):
    """Wants a window when its row is chosen."""

    class WindowWanted(Message):
        """A window is wanted."""

    def compose(self) -> ComposeResult:
        """Make the list."""
        yield ListOfOne()

    def on_list_of_one_chosen(self) -> None:
        """Hand it on."""
        self.post_message(self.WindowWanted())


class ChainApp(App[None]):
    """Opens a window when it hears so from a screen, which heard it from a widget."""

    def __init__(self) -> None:
        super().__init__()
        self.input_queue = InputQueue(self, super().on_event, lambda: (), lambda: None)
        self.window = KeyWindow()

    async def on_event(self, event: events.Event) -> None:
        """Let input wait for its turn."""
        if self.input_queue.is_user_input(event):
            self.input_queue.add_input(event)
        else:
            await super().on_event(event)

    def on_list_screen_window_wanted(self) -> None:
        """Open it."""
        self.input_queue.open_window(self.window)


async def test_a_key_waits_for_what_a_screen_makes_of_what_a_widget_makes_of_the_key_before() -> (
    None
):
    app = ChainApp()
    async with app.run_test() as pilot:
        await app.push_screen(ListScreen())
        # A screen that is not painted yet makes keys wait for other reasons.
        await pilot.pause()
        await pilot.pause()
        for key in ("enter", "a", "b"):
            app.post_message(events.Key(key, key))
        await pilot.pause()
        while not app.input_queue.is_settled:
            await pilot.pause()
        assert app.window.typed == "ab"
