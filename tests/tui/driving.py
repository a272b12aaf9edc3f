"""Driving the app in tests: wait for what it does, read what it shows and what it stored."""

import contextlib
import threading
import unicodedata
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

from textual import events
from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.widgets import Input, TextArea
from textual.worker import WorkerCancelled

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import make_sample_queue
from faithtui.tui.widgets.bars import StatusLine, TitleBar
from faithtui.tui.widgets.scroll_pane import Pane

SIZE = (120, 40)


async def calm(pilot: Pilot[None]) -> None:
    """Wait until nothing is read, saved or drawn any more."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    for _ in range(50):
        await until(pilot, lambda: has_settled(app))
        with contextlib.suppress(WorkerCancelled):  # a later one took its place
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        if all(worker.is_finished for worker in pilot.app.workers):
            return


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait until something holds, a minute at most; a screen may still have to mount."""
    for _ in range(3000):
        with contextlib.suppress(NoMatches):  # a widget that is asked about is not mounted yet
            if condition():
                return
        await pilot.pause(0.02)
    raise AssertionError("it never came to hold")


async def hold_writer(pilot: Pilot[None]) -> threading.Event:
    """Keep the store's one writer busy until the event that this gives is set.

    What is urgent goes before what only waits for its turn, so that the writer must have begun.
    """
    app = pilot.app
    assert isinstance(app, FaithApp)
    began, release = threading.Event(), threading.Event()

    def wait() -> None:
        began.set()
        release.wait()

    app.session.store.submit(wait)
    await until(pilot, began.is_set)
    return release


async def opened(pilot: Pilot[None]) -> None:
    """Wait until the store is open and the first screen has read it."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await until(pilot, lambda: app.session.is_open)
    await calm(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after what the one before did is done; text goes into a field at once."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    rest = list(keys)
    while rest:
        is_field = isinstance(app.focused, Input | TextArea)
        text = list(takewhile(lambda key: len(key) == 1, rest)) if is_field else []
        if len(text) > 1:
            type_ahead(app, *text)
        else:
            text = rest[:1]
            await pilot.press(*text)
        await calm(pilot)
        del rest[: len(text)]


def has_settled(app: FaithApp) -> bool:
    """Whether every key that was posted was handled, or nobody handles any more."""
    is_through = app.input_queue.is_settled and app.message_queue_size == 0
    return is_through or not app.is_running or app._exception is not None


def type_ahead(app: FaithApp, *keys: str) -> None:
    """Post keys as a terminal's driver does with the bytes of one read: none waits for another."""
    for key in keys:
        app.post_message(_event_of(key))


def _event_of(key: str) -> events.Key:
    if len(key) == 1:
        return events.Key(key, key)
    try:
        return events.Key(key, unicodedata.lookup(key.replace("_", " ").upper()))
    except KeyError:
        return events.Key(key, None)


async def reviewing(pilot: Pilot[None]) -> ReviewScreen:
    """Go to the first conversation of the run, as `v` of the list of runs does."""
    await opened(pilot)
    await press(pilot, "v")
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


def stored(path: Path, number: int = 1, reviewer: str = "ann") -> ReviewView:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        return store.runs.read_conversation_for_review(
            store.runs.list_item_ids(run, "number")[number - 1], reviewer
        )


def focused(app: FaithApp) -> str | None:
    return app.focused.id if app.focused else None


def said(view: ReviewView) -> list[str | None]:
    return [claim.mine.verdict if claim.mine else None for claim in view.claims]


def acts(path: Path) -> list[tuple[str, str | None, str | None, str | None, bool]]:
    """Read the log of ann: action, verdict, code, mark, whether the judge was known."""
    with Store.open(path) as store, store._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, verdict, reason_code, mark, saw_judge FROM human_label "
            "WHERE reviewer = 'ann' ORDER BY clock, uid"
        ).all()
    return [(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]


async def blinded(pilot: Pilot[None], shown_share: float = 0.0) -> ReviewScreen:
    """Open a blind sample of everything, in the drawn order."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    await opened(pilot)
    store = app.session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, size=100, shown_share=shown_share)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="random"
    )
    app.session.start_queue(make_sample_queue(store, row.id, "ann"))
    app.show_screen("review")
    await calm(pilot)
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await until(pilot, lambda: screen.view is not None)
    await calm(pilot)
    return screen
