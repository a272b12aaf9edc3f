"""A screen that is not drawn: controllers run on it with their real keys, session and store.

It stands for `FaithScreen` as far as controllers know it. What they would show is kept as text,
what they would open is kept as windows, and their workers run in the loop of the test:

    screen = FakeScreen(session)
    screen.add(RunControl(cast(ProgressScreen, screen)))
    assert not screen.press("p")      # refused: there is no run
    await screen.settle()             # all workers are through, and what they asked for is done
"""

import asyncio
from ast import literal_eval
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, TypeVar

from textual.binding import Binding
from textual.message import Message

from faithtui.tui.input_queue import InputQueue
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.screen.controller import Controller
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece

T = TypeVar("T")


class FakeWorker:
    """A worker that runs as a task of the test."""

    def __init__(self, group: str, task: asyncio.Task[Any]) -> None:
        self.group = group
        self.task = task

    @property
    def is_finished(self) -> bool:
        return self.task.done()

    def cancel(self) -> None:
        self.task.cancel()


class FakeNavigation(InputQueue):
    """Keeps windows that were opened, and what keys wait for."""

    def __init__(self) -> None:
        self.windows: list[Any] = []
        self._answered: list[Callable[[Any], None] | None] = []
        self.held: set[object] = set()
        self.dropped: set[str] = set()

    def open_window(self, window: Any, answered: Callable[[Any], None] | None = None) -> None:
        self.windows.append(window)
        self._answered.append(answered)

    def answer(self, answer: object) -> None:
        """Close the window opened last with an answer."""
        self.windows.pop()
        answered = self._answered.pop()
        assert answered is not None
        answered(answer)

    def hold_keys(self, cause: object, give_up: object = None) -> None:
        self.held.add(cause)

    def release_keys(self, cause: object) -> None:
        self.held.discard(cause)

    def hold_keys_for(self, worker: Any, *, can_give_up: bool) -> None:
        self.held.add(worker)

    def drop_typed_ahead(self, keys: Any, kept: Any = ()) -> list[str]:
        self.dropped |= set(keys)
        return sorted(keys)


class FakeApp:
    """The part of an app that controllers call."""

    available_themes: tuple[str, ...] = ()
    current_screen_name = "review"

    def __init__(self, input_queue: InputQueue) -> None:
        self.input_queue = input_queue
        self.bells = 0
        self.copied: list[str] = []
        self.notes: list[str] = []

    def bell(self) -> None:
        self.bells += 1

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)

    def notify(self, words: str, **_how: object) -> None:
        self.notes.append(words)


class FakeScreen:
    """A screen for the controllers that are added to it."""

    is_current = True
    is_mounted = True
    focused: Any = None

    def __init__(self, session: Session) -> None:
        self.session = session
        self.input_queue = FakeNavigation()
        self.app = FakeApp(self.input_queue)
        self.posted: list[Message] = []
        self.workers: list[FakeWorker] = []
        self.failures: list[Exception] = []
        self.message = ""
        """What was said last."""
        self.messages: list[str] = []
        self.reloads = 0
        self.status_line = SimpleNamespace(left=(), display=True)
        self._later: list[Callable[[], object]] = []
        self._controllers: list[Controller[Any]] = []

    @property
    def keys(self) -> KeyNames:
        return self.session.keys

    def add(self, *controllers: Controller[Any]) -> None:
        """Let keys reach controllers."""
        self._controllers += controllers

    def press(self, key: str) -> bool:
        """Press a key; False where no controller has it, or it can do nothing now."""
        for controller in self._controllers:
            for each in (*controller.PANE_BINDINGS, *controller.BINDINGS):
                assert isinstance(each, Binding)
                if key in each.key.split(","):
                    name, _, words = each.action.partition("(")
                    parameters = literal_eval(f"({words.rstrip(')')},)") if words else ()
                    if not controller.check_action(name, parameters):
                        return False
                    result = getattr(controller, f"action_{name}")(*parameters)
                    assert not isinstance(result, Coroutine)
                    return True
        return False

    async def settle(self) -> None:
        """Wait until every worker is through and all it asked for is done."""
        while self._later or any(not each.is_finished for each in self.workers):
            self.run_later()
            tasks = [each.task for each in self.workers if not each.is_finished]
            if tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self.input_queue.held -= set(self.workers)
        for worker in self.workers:
            if not worker.task.cancelled() and (error := worker.task.exception()) is not None:
                assert isinstance(error, Exception)
                self.failures.append(error)
        self.workers.clear()

    def run_later(self) -> None:
        """Do what was asked for so far."""
        later, self._later = self._later, []
        for each in later:
            each()

    # What controllers call

    def show_message(self, *pieces: Piece) -> None:
        self.message = "".join(piece.text for piece in pieces)
        self.messages.append(self.message)
        self.status_line.left = pieces

    def refuse(self, words: str) -> None:
        self.app.bell()
        self.show_message(Piece(words))

    async def read_in_thread(self, fn: Callable[..., T], *args: object, **kwargs: object) -> T:
        return await asyncio.to_thread(fn, *args, **kwargs)

    def run_worker(
        self,
        work: Callable[[], Coroutine[Any, Any, Any]],
        *,
        name: str,
        group: str,
        exclusive: bool,
        exit_on_error: bool,
    ) -> FakeWorker:
        assert not exit_on_error, f"{name}: the app says what failed"
        if exclusive:
            for each in self.workers:
                if each.group == group:
                    each.cancel()
        worker = FakeWorker(group, asyncio.ensure_future(work()))
        self.workers.append(worker)
        return worker

    def call_later(self, fn: Callable[..., object], *args: object, **kwargs: object) -> None:
        self._later.append(lambda: fn(*args, **kwargs))

    def post_message(self, message: Message) -> None:
        self.posted.append(message)

    def refresh_bindings(self) -> None:
        pass

    def reload(self) -> None:
        self.reloads += 1

    def query_one(self, _kind: object) -> Any:
        return self.status_line

    def show_input_line(self, line: Any, text: str) -> None:
        line.value, line.display = text, True

    def close_input_line(self, line: Any) -> None:
        line.display = False
