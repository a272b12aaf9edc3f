"""Driving the app in tests: wait for what it does, and read what it shows."""

from collections.abc import Callable

from textual.pilot import Pilot

from faithtui.tui.app import FaithApp
from faithtui.tui.screens.review import ReviewScreen
from faithtui.tui.widgets.bars import StatusLine, TitleBar
from faithtui.tui.widgets.pane import Pane


async def calm(pilot: Pilot[None]) -> None:
    """Wait until nothing is read, saved or drawn any more."""
    for _ in range(50):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        if all(worker.is_finished for worker in pilot.app.workers):
            return


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait until something holds; fails after some 10 s."""
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never came to hold")


async def opened(pilot: Pilot[None]) -> None:
    """Wait until the store is open and the first screen has read it."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await until(pilot, lambda: app.session.is_open)
    await calm(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after what the one before did is done."""
    for key in keys:
        await pilot.press(key)
        await calm(pilot)


async def reviewing(pilot: Pilot[None]) -> ReviewScreen:
    """Go to the first conversation of the run."""
    await opened(pilot)
    await press(pilot, "enter", "enter")
    assert isinstance(pilot.app.screen, ReviewScreen)
    return pilot.app.screen


def text_of(app: FaithApp, pane: str) -> str:
    """Read all lines of a pane of the screen shown."""
    return "\n".join(line.text for line in app.screen.query_one(f"#{pane}", Pane).lines)


def status(app: FaithApp) -> str:
    """Read the left of the status line."""
    return "".join(piece.text for piece in app.screen.query_one(StatusLine).left)


def title(app: FaithApp) -> str:
    """Read the title line."""
    bar = app.screen.query_one(TitleBar)
    return "".join(piece.text for piece in (*bar.left, *bar.right))


def screen_text(app: FaithApp) -> str:
    """Read everything that is painted, as a terminal would get it."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    assert len(lines) == height
    assert all(line.cell_length == width for line in lines)
    return "\n".join(line.text for line in lines)
