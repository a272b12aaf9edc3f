"""A part of a screen: some of its keys, what they do, and the state that belongs to that.

A screen is its panes and a few controllers. Each controller has the bindings of its keys in
`BINDINGS`, which the screen lists among its own, and their actions; `FaithScreen.add_controllers`
lets Textual find them. Keys that are none while somebody types on a line are in `PANE_BINDINGS`,
which the holder of the panes lists.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar

from textual.binding import BindingType
from textual.worker import Worker

from faithtui.tui.input_queue import InputQueue
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode

    from faithtui.tui.screen.main_screen import FaithScreen

P = ParamSpec("P")
T = TypeVar("T")
ScreenT = TypeVar("ScreenT", bound="FaithScreen")
ControllerT = TypeVar("ControllerT", bound="Controller[Any]")


class Controller(Generic[ScreenT]):
    """Some keys of a screen with what they do.

    Args:
        screen: The screen it is a part of.

    Attributes:
        BINDINGS: Its keys, where they are the same on every screen that has it.
        PANE_BINDINGS: Its keys in the panes of the screen only.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    PANE_BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, screen: ScreenT) -> None:
        self.screen = screen

    @property
    def app(self) -> "App[Any]":
        """The app."""
        return self.screen.app

    @property
    def session(self) -> Session:
        """What all screens share."""
        return self.screen.session

    @property
    def keys(self) -> KeyNames:
        """What keys are called in sentences."""
        return self.screen.keys

    @property
    def input_queue(self) -> InputQueue:
        """What opens windows, between keys."""
        return self.screen.input_queue

    def add_actions_to(self, node: "DOMNode") -> Sequence[str]:
        """Let its actions be actions of a node that has its bindings.

        Textual looks for `action_NAME` on the node whose binding was pressed.

        Returns:
            Their names.
        """
        methods = [name for name in dir(type(self)) if name.startswith("action_")]
        for name in methods:
            setattr(node, name, getattr(self, name))
        return [name.removeprefix("action_") for name in methods]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether one of its actions can be done now; None: its key is shown dimmed."""
        return True

    def is_key_shown(self, action: str) -> bool:
        """Whether the lines of keys name an action that can be done; its key works anyway."""
        return True

    def show_message(self, *pieces: Piece) -> None:
        """Say what happened last, at the left of the status line."""
        self.screen.show_message(*pieces)

    def refuse(self, words: str) -> None:
        """Say, audibly, why a key did nothing."""
        self.screen.refuse(words)

    async def read_in_thread(self, fn: Callable[..., T], *args: object, **kwargs: object) -> T:
        """Read from the store without holding up keys."""
        return await self.screen.read_in_thread(fn, *args, **kwargs)


def run_in_worker(
    group: str, *, exclusive: bool = True
) -> Callable[
    [Callable[Concatenate[ControllerT, P], Coroutine[Any, Any, T]]],
    Callable[Concatenate[ControllerT, P], Worker[T]],
]:
    """Run a controller's coroutine as a worker of its screen, as `textual.work` does for widgets.

    What fails in it, the app says.

    Args:
        group: Name of the group of workers on the screen.
        exclusive: Cancel those of the group that are still on.
    """

    def decorate(
        method: Callable[Concatenate[ControllerT, P], Coroutine[Any, Any, T]],
    ) -> Callable[Concatenate[ControllerT, P], Worker[T]]:
        @wraps(method)
        def start(self: ControllerT, /, *args: P.args, **kwargs: P.kwargs) -> Worker[T]:
            worker: Worker[T] = self.screen.run_worker(
                # Not a coroutine: one that is cancelled before it begins would never be awaited.
                partial(method, self, *args, **kwargs),
                name=method.__name__,
                group=group,
                exclusive=exclusive,
                exit_on_error=False,
            )
            return worker

        return start

    return decorate
