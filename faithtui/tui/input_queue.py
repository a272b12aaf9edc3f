"""Keys and changes of screens, one at a time: the only module that changes the stack of screens.

Textual gives keys to the focused widget as they come, and opens and closes screens in the midst of
them: a key typed ahead reaches a window that has closed, or a screen that is not made yet. Here a
key waits until all that the key before it brought about is done, a change of screens included.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import isawaitable
from typing import Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding, Binding, BindingType
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.worker import Worker, WorkerError

from faithtui.tui.allowed_actions import drop_writing_keys
from faithtui.tui.refusals import clear_status_refusal, show_refusal_box, withdraw_refusals

P = ParamSpec("P")
NodeT = TypeVar("NodeT", bound="_Node")

ScreenChange = Callable[[], Awaitable[object] | object]
"""What is done between two keys."""

KeyCheck = Callable[[str], bool]
"""Says of a key whether it does nothing, and to the user why."""

MESSAGE_ROUNDS = 3
"""How often messages are followed up to the app before a key is done with: the key itself, what the
widget makes of it (a row was chosen), and what the screen makes of that (another screen is wanted).

It is the length of the longest chain of messages, and no wait for quiet: each round goes up behind
all messages of the one before. That a chain has ended cannot be asked: a message does not say which
one caused it, a node counts those that wait for it but not the one it handles, and timers go on
posting. A handler that hands a message on once more needs one round more. What comes later than
that says so itself, by `run_between_keys` and `hold_keys`.
"""


PASTE_IGNORED = "a paste did nothing: it goes into a line that is open, such as a note"
"""A paste is text, and never keys."""


class _Node(Protocol):
    @property
    def app(self) -> App[Any]: ...


class EarlyInputs:
    """What came before all was on the screen, and what is asked of it."""

    def __init__(self) -> None:
        self.next_check: KeyCheck | None = None
        """Is asked of what comes before all is painted; None: nothing is, or all is painted."""
        self.has_undone = False
        """Whether an undo or a redo was handed on since the last input that came in time."""
        self._check: KeyCheck | None = None
        self._inputs: Sequence[events.Event] = ()

    def note_inputs(self, inputs: Iterable[events.Event]) -> None:
        """Note what has come by now: all is painted."""
        if self.next_check is not None:
            self._check, self.next_check = self.next_check, None
            self._inputs = tuple(inputs)

    def take_check(self, event: events.Event) -> KeyCheck | None:
        """Find what is asked of the input that is handed on next; None: it came in time."""
        is_early = any(each is event for each in self._inputs)
        self.has_undone &= is_early
        return self._check if is_early else None


class InputQueue:
    """Hands on keys one by one, and changes screens between them.

    Everything here runs in the message pump of the app, one step after the other. While a step
    awaits that a screen is mounted or removed, no key can come between.

    Args:
        app: The app.
        hand_on: Gives input to whatever has the focus.
        quit_keys: Gives the keys that quit.
        given_up: Called when escape has given up what keys waited for.
    """

    last_key = ""
    """The key that was handed on last; "" where something else was, such as a click."""

    def __init__(
        self,
        app: App[Any],
        hand_on: Callable[[events.Event], Awaitable[None]],
        quit_keys: Callable[[], Collection[str]],
        given_up: Callable[[], object],
    ) -> None:
        self._app = app
        self._forward_event = hand_on
        self._quit_keys = quit_keys
        self._on_give_up = given_up
        self._inputs: deque[events.Event] = deque()
        self._changes: deque[tuple[ScreenChange, asyncio.Future[None]]] = deque()
        self._key_holds: dict[object, Callable[[], object] | None] = {}
        """What keys wait for, each with a way to give it up; None: it cannot be."""
        self._tasks: set[asyncio.Task[None]] = set()
        """Those that wait for workers; the event loop alone would not keep them."""
        self._is_busy = False
        self._is_followed = True
        """Whether every message is handled that what was done last has brought about."""
        self._is_laid_out = True
        """Whether every widget of the screen has its place, or was given the time to get it."""
        self._is_painted = True
        """Whether what keys were held for is on the screen: a key typed ahead is about that."""
        self._on_dropped: Callable[[], object] | None = None
        """Called if input is forgotten until all is painted; None: none is to be."""
        self.early_inputs = EarlyInputs()

    @property
    def is_settled(self) -> bool:
        """Whether every key was handled, with all that it brought about."""
        return not (self._is_busy or self._has_input_to_give or self._changes or self._key_holds)

    @staticmethod
    def is_user_input(event: events.Event) -> bool:
        """Whether an event is input of a person, as it came from the terminal, that acts."""
        kinds = (events.Key, events.Paste, events.MouseDown, events.MouseUp)
        return isinstance(event, kinds) and not event.is_forwarded

    def add_input(self, event: events.Event) -> None:
        """Hand on an event when its turn comes."""
        if isinstance(event, events.Key | events.MouseDown):
            clear_status_refusal(self._app)
        self._inputs.append(event)
        self._schedule_turn()

    def run_between_keys(self, change: ScreenChange) -> AwaitComplete:
        """Do something between two keys, after all changes that were asked for before.

        Returns:
            An awaitable for whoever must know that it is done; never to be awaited in a handler.
        """
        done = asyncio.get_running_loop().create_future()
        self._changes.append((change, done))
        self._schedule_turn()
        return AwaitComplete(done)

    def switch_to_main_screen(self, name: str) -> None:
        """Show an installed screen as the only one; windows are closed without an answer."""

        async def switch_to_screen() -> None:
            while self._app.screen.is_modal:
                await self._app.pop_screen()
            await self._app.switch_screen(name)

        self.run_between_keys(switch_to_screen)

    def open_window(
        self,
        window: Screen[ScreenResultType],
        answered: Callable[[ScreenResultType | None], None] | None = None,
    ) -> None:
        """Open a window above everything; `answered` gets its answer when it is closed by it."""

        async def push_window() -> None:
            await self._app.push_screen(window, answered)

        self.run_between_keys(push_window)

    def close_window(self, window: Screen[Any], answer: ScreenChange) -> AwaitComplete:
        """Close a window by its answer, and what lies above it without one.

        A window that is not open any more has nothing to answer: the first answer counts.
        """

        async def pop_and_answer() -> None:
            if window not in self._app.screen_stack:
                return
            while self._app.screen is not window:
                await self._app.pop_screen()
            await _run_change(answer)

        return self.run_between_keys(pop_and_answer)

    def hold_keys(self, cause: object, give_up: Callable[[], object] | None = None) -> None:
        """Let keys wait until `release_keys` is called for the same cause.

        Args:
            cause: What they wait for.
            give_up: What escape does meanwhile; None: escape waits too. Quitting never waits.
        """
        self._key_holds[cause] = give_up

    def release_keys(self, cause: object) -> None:
        """Let keys go on."""
        if cause in self._key_holds:
            del self._key_holds[cause]
            self._is_followed = self._is_painted = False
            self._schedule_turn()

    def drop_input_until_painted(self, on_dropped: Callable[[], object]) -> None:
        """Forget what comes until all that is under way is on the screen. Quitting goes on.

        For a screen that takes the place of another one by itself: keys were meant for that one.

        Args:
            on_dropped: Called once if anything was forgotten.
        """
        self._on_dropped, self._is_painted = on_dropped, False
        self._schedule_turn()

    def check_early_keys(self, check: KeyCheck) -> None:
        """Ask of each key that comes before all under way is on the screen whether it does nothing.

        It is asked when the turn of the key comes, on the screen that the keys before it made. A
        later call takes the place of this one.

        Args:
            check: Is asked; of a key that does nothing, it says so to the user.
        """
        self.early_inputs.next_check, self._is_painted = check, False
        self._schedule_turn()

    def drop_typed_ahead(
        self, keys: Collection[str], kept: Collection[str] = (), verdicts: Collection[str] = ()
    ) -> Sequence[str]:
        """Forget these keys where they were typed ahead, up to the first other one.

        Args:
            keys: What is forgotten.
            kept: Keys that are not, up to the first of `verdicts` that is.
            verdicts: Those of `keys` that `kept` behind them are about, and forgotten with.

        Returns:
            Those that were forgotten, in the order typed.
        """
        first: list[events.Event] = []
        dropped: list[str] = []
        has_dropped_verdict = False
        while self._inputs:
            event = self._inputs.popleft()
            key = event.key if isinstance(event, events.Key) else None
            if key is not None and (key in keys or (has_dropped_verdict and key in kept)):
                dropped.append(key)
                has_dropped_verdict |= key in verdicts
                continue
            first.append(event)
            if key not in kept:
                break
        self._inputs.extendleft(reversed(first))
        return dropped

    def hold_keys_for(self, worker: Worker[Any], *, can_give_up: bool) -> None:
        """Let keys wait until a worker is through."""

        async def release_when_done() -> None:
            with suppress(WorkerError):  # whoever started it says what failed
                await worker.wait()
            self.release_keys(worker)

        self.hold_keys(worker, worker.cancel if can_give_up else None)
        task = asyncio.create_task(release_when_done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Turns

    def _schedule_turn(self) -> None:
        if not self._is_busy:
            self._is_busy = True
            self._app.call_next(self._run_next_change_or_input)

    async def _run_next_change_or_input(self) -> None:
        """Do the next thing, then follow it; a change goes before a key, being caused by one."""
        if not self._app.screen_stack:
            self._inputs.clear()  # the app is leaving
            self._is_laid_out = self._is_painted = True
        if self._changes:
            change, done = self._changes.popleft()
            await _run_change(change)
            if not done.done():
                done.set_result(None)
            self._is_followed = False
            self._wait_for_pending_messages()
        elif not self._is_followed:
            self._wait_for_pending_messages()
        elif self._has_input_to_give and not (self._is_laid_out and self._is_painted):
            self._is_laid_out = self._is_painted = True
            self._app.screen.call_after_refresh(
                self._app.call_later, self._run_next_change_or_input
            )
        elif (event := self._pop_next_input()) is not None:
            self._is_followed = False
            self.last_key = event.key if isinstance(event, events.Key) else ""
            if isinstance(event, events.Key):
                # What a box says of an earlier key would lie over what this one shows.
                withdraw_refusals(self._app)
            await self._forward_event(event)
            self._wait_for_pending_messages()
        else:
            self._is_busy = False

    @property
    def _has_input_to_give(self) -> bool:
        return bool(self._inputs or self._on_dropped or self.early_inputs.next_check)

    def _pop_next_input(self) -> events.Event | None:
        if not self._key_holds:
            self._drop_input_of_screen_before()
            self.early_inputs.note_inputs(self._inputs)
            while self._inputs:
                event = self._inputs.popleft()
                check = self.early_inputs.take_check(event)
                if check is None or not isinstance(event, events.Key) or not check(event.key):
                    return event
            return None
        quits = self._quit_keys()
        while any(isinstance(each, events.Key) and each.key in quits for each in self._inputs):
            event = self._inputs.popleft()
            if isinstance(event, events.Key) and event.key in quits:
                return event
        self._cancel_awaited_work()
        return None

    def _drop_input_of_screen_before(self) -> None:
        """Forget what was meant for a screen that is gone, but no key that quits."""
        if (on_dropped := self._on_dropped) is None:
            return
        self._on_dropped = None
        quits = self._quit_keys()
        kept = [e for e in self._inputs if isinstance(e, events.Key) and e.key in quits]
        if len(kept) < len(self._inputs):
            self._inputs = deque(kept)
            on_dropped()

    def _cancel_awaited_work(self) -> None:
        """Let escape end what is waited for; what was typed before it was meant for that."""
        keys = [each.key if isinstance(each, events.Key) else "" for each in self._inputs]
        ways = [way for way in self._key_holds.values() if way is not None]
        if "escape" not in keys or len(ways) < len(self._key_holds):
            return
        for _ in range(keys.index("escape") + 1):
            self._inputs.popleft()
        for way in ways:
            way()
        self._on_give_up()

    def _wait_for_pending_messages(self) -> None:
        """Go up from the focus behind every message that is queued, then take the next turn."""
        self._wait_for_each_ancestor(self._focused_node, MESSAGE_ROUNDS)

    @property
    def _focused_node(self) -> DOMNode:
        return (self._app.focused or self._app.screen) if self._app.screen_stack else self._app

    def _wait_for_each_ancestor(self, node: DOMNode | None, hops: int) -> None:
        while node is not None and node is not self._app:
            above = node.parent
            # Behind what lies in the queue of the node; one that closes has nothing to do any more.
            if node.call_later(self._wait_for_each_ancestor, above, hops):
                return
            node = above
        self._app.call_later(self._finish_message_round, hops)

    async def _finish_message_round(self, hops: int) -> None:
        if hops > 1:
            self._wait_for_each_ancestor(self._focused_node, hops - 1)
            return
        self._is_followed = True
        # Lists of Textual's know nothing of their rows before, and fail on keys (`_move_page`).
        self._is_laid_out = not self._app.screen._layout_required
        await self._run_next_change_or_input()


async def _run_change(change: ScreenChange) -> None:
    result = change()
    if isawaitable(result):
        await result


def get_input_queue(node: _Node) -> InputQueue:
    """Give the queue of the app that something belongs to."""
    input_queue = getattr(node.app, "input_queue", None)
    assert isinstance(input_queue, InputQueue)
    return input_queue


def hold_keys_during_worker(
    *, can_give_up: bool
) -> Callable[
    [Callable[Concatenate[NodeT, P], Worker[Any]]], Callable[Concatenate[NodeT, P], Worker[Any]]
]:
    """Let keys wait for a worker, because it ends by showing something that they are meant for.

    Args:
        can_give_up: Whether escape ends it: not where it writes.
    """

    def decorate_worker(
        begin: Callable[Concatenate[NodeT, P], Worker[Any]],
    ) -> Callable[Concatenate[NodeT, P], Worker[Any]]:
        @wraps(begin)
        def begin_and_hold(node: NodeT, /, *args: P.args, **kwargs: P.kwargs) -> Worker[Any]:
            worker = begin(node, *args, **kwargs)
            get_input_queue(node).hold_keys_for(worker, can_give_up=can_give_up)
            return worker

        return begin_and_hold

    return decorate_worker


class ModalWindow(ModalScreen[ScreenResultType]):
    """A screen above others, which is closed by its answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "question_mark",
            "app.help",
            "help",
            key_display="?",
            tooltip="Explain this window and its keys",
            id="window.help",
        ),
    ]

    @property
    def input_queue(self) -> InputQueue:
        """What opens and closes windows."""
        return get_input_queue(self)

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """What can be done now: in a store that can only be read, nothing that writes."""
        session = getattr(self.app, "session", None)
        found = super().active_bindings
        return drop_writing_keys(found) if session and session.is_read_only else found

    def on_paste(self) -> None:
        """Say that a paste did nothing: no line took it."""
        self.app.bell()
        show_refusal_box(self.app, PASTE_IGNORED)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with an answer, once."""
        answer = super().dismiss
        return self.input_queue.close_window(self, lambda: answer(result))


class CommandWindow(CommandPalette):
    """Textual's palette of commands, closed like our own windows."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close; the chosen command runs afterwards."""
        answer = super().dismiss
        return get_input_queue(self).close_window(self, lambda: answer(result))
