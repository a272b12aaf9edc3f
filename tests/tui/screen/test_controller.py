"""Controllers: their keys are keys of their screen, their workers are its workers."""

import ast
import asyncio
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.worker import Worker

from faithtui.errors import StoreError
from faithtui.tui import screen_catalog
from faithtui.tui.messages import WorkerFailed
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.zoomable_panes import Panes


class Counter(Controller["CounterScreen"]):
    """Counts."""

    screen: "CounterScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "count(2)", "count", tooltip="Count", id="counter.count"),
        Binding("y", "reset", "reset", tooltip="Reset", id="counter.reset"),
    ]

    number = 0

    def action_count(self, by: int) -> None:
        """Count."""
        self.number += by
        self.screen.refresh_bindings()

    def action_reset(self) -> None:
        """Begin anew."""
        self.number = 0

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Reset only what was counted."""
        return action != "reset" or self.number > 0

    @run_in_worker("count")
    async def count_later(self, going: asyncio.Event, by: int) -> None:
        """Count when something has happened."""
        await going.wait()
        self.number += by

    @run_in_worker("count", exclusive=False)
    async def fail(self) -> None:
        """Fail."""
        raise StoreError("no room")


class CounterScreen(FaithScreen):
    """A screen with a controller and nothing else."""

    BINDINGS: ClassVar[list[BindingType]] = [*Counter.BINDINGS]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.counter = Counter(self)
        self.add_controllers(self.counter)

    def make_panes(self) -> Panes:
        """Make one pane."""
        return Panes(Pane(id="one"), layout_function=lambda width, height: {})

    def reload(self) -> None:
        """Read nothing."""


class CounterApp(App[None]):
    """Shows the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[BaseException] = []

    def on_worker_failed(self, event: WorkerFailed) -> None:
        """Remember what failed."""
        self.failures.append(event.error)


async def shown(app: CounterApp) -> CounterScreen:
    screen = CounterScreen(Session("ann", Path("none.db")))
    await app.push_screen(screen)
    return screen


async def test_keys_of_a_controller_are_keys_of_its_screen() -> None:
    app = CounterApp()
    async with app.run_test() as pilot:
        screen = await shown(app)
        await pilot.press("x", "x")
        assert screen.counter.number == 4
        await pilot.press("y")
        assert screen.counter.number == 0


async def test_a_controller_says_what_can_be_done_and_nothing_can_before_the_screen_is_there() -> (
    None
):
    app = CounterApp()
    async with app.run_test():
        early = CounterScreen(Session("ann", Path("none.db")))
        assert not early.check_action("count", (2,))
        screen = await shown(app)
        assert screen.check_action("count", (2,))
        assert not screen.check_action("reset", ())
        screen.counter.number = 1
        assert screen.check_action("reset", ())


async def test_an_exclusive_worker_ends_the_one_before_even_before_it_began() -> None:
    app = CounterApp()
    async with app.run_test() as pilot:
        screen = await shown(app)
        going = asyncio.Event()
        first: Worker[None] = screen.counter.count_later(going, 1)
        second = screen.counter.count_later(going, 10)
        going.set()
        await second.wait()
        await pilot.pause()
        assert first.is_cancelled
        assert screen.counter.number == 10


async def test_what_fails_in_a_worker_is_told_by_the_app() -> None:
    app = CounterApp()
    async with app.run_test() as pilot:
        screen = await shown(app)
        worker = screen.counter.fail()
        while not worker.is_finished:
            await pilot.pause()
        await pilot.pause()
        assert [str(each) for each in app.failures] == ["no room"]


def test_no_screen_has_more_than_three_of_our_classes_in_a_line() -> None:
    for name in screen_catalog.SCREENS:
        kind = screen_catalog.load_screen_class(name)
        ours = [each for each in kind.__mro__ if each.__module__.startswith("faithtui.")]
        assert len(ours) <= 3, name


def test_every_action_of_a_screen_is_found_on_it() -> None:
    for name in screen_catalog.SCREENS:
        screen = screen_catalog.load_screen_class(name)(Session("ann", Path("none.db")))
        for bindings in type(screen)._merged_bindings.key_to_bindings.values():  # type: ignore[union-attr]  # of a screen it is there
            for each in bindings:
                action = each.action.partition("(")[0]
                if "." not in action:
                    assert callable(getattr(screen, f"action_{action}", None)), (name, action)


def test_the_type_checker_looks_at_every_screen_for_hooks_that_it_lacks() -> None:
    tree = ast.parse(Path(screen_catalog.__file__).read_text(encoding="utf-8"))
    checked = [
        ast.unparse(node.value).strip("[]").split(", ")
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "COMPLETE_SCREENS"
        if node.value is not None
    ]
    assert checked == [[each.screen.split(":")[1] for each in screen_catalog.SCREENS.values()]]


ROOT = Path(screen_catalog.__file__).parent
WIDGETS = {"hint", "theme"}
"""Fields of panes and of Textual's app, which whoever draws sets."""


def test_nobody_writes_a_field_of_a_controller_a_screen_or_the_session_from_outside() -> None:
    """A field has one owner, with a method for what others need."""
    session = Session("ann", Path("none.db"))
    screens = [screen_catalog.load_screen_class(name)(session) for name in screen_catalog.SCREENS]
    owners = {"screen", "session", "app"} | {
        name
        for screen in screens
        for name, value in vars(screen).items()
        if isinstance(value, Controller)
    }
    found = []
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
                targets = [node.target]
            for target in targets:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Attribute) and each.attr not in WIDGETS:
                        owner = ast.unparse(each.value).removeprefix("self.").split(".")[-1]
                        if owner in owners:
                            found.append(f"{path.name}:{each.lineno} {ast.unparse(each)}")
    assert found == [], "\n".join(found)
