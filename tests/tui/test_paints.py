"""What a key draws and reads: what changed, and each line of it once."""

import asyncio
import gc
import threading
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from faithtui.store.calls.calls import Calls
from faithtui.store.runs.runs import Runs
from faithtui.tui.app import FaithApp
from faithtui.tui.resume_position import Bookmark, BookmarkFile
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.widgets.line_widget import LineWidget
from faithtui.tui.widgets.scroll_pane import Pane
from tests.tui.driving import calm, opened, press, reviewing, until

SIZE = (120, 40)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str | None, int]]:
    """Count how often each line of each widget is drawn."""
    counts: Counter[tuple[str | None, int]] = Counter()
    for kind in (LineWidget, Pane):
        draw = kind.make_segments

        def draw_and_count(widget: Any, y: int, width: int, _draw: Any = draw) -> list[Segment]:
            counts[widget.id, y] += 1
            segments: list[Segment] = _draw(widget, y, width)
            return segments

        monkeypatch.setattr(kind, "make_segments", draw_and_count)
    return counts


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is read of a conversation, and in which threads."""
    counts: Counter[str] = Counter()
    for kind, name in (
        (Runs, "read_conversation_for_review"),
        (Runs, "read_turns"),
        (Calls, "sum_item_costs"),
    ):
        read = getattr(kind, name)

        def read_and_count(*args: Any, _read: Any = read, _name: str = name) -> Any:
            assert threading.current_thread() is not threading.main_thread()
            counts[_name] += 1
            return _read(*args)

        monkeypatch.setattr(kind, name, read_and_count)
    return counts


def drawn(lines: Counter[tuple[str | None, int]]) -> set[str | None]:
    """Name the widgets of which something was drawn."""
    return {name for name, _ in lines}


async def test_a_step_in_the_list_draws_two_rows_and_the_conversation_once(
    app: FaithApp, lines: Counter[tuple[str | None, int]], reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        lines.clear()
        reads.clear()
        await press(pilot, "down")
        assert drawn(lines) == {"list", "detail"}
        assert [y for name, y in sorted(lines, key=str) if name == "list"] == [1, 2]
        assert max(lines.values()) == 1
        assert reads == Counter(read_turns=1, sum_item_costs=1)


async def test_the_next_claim_draws_the_panes_that_are_about_it_in_one_paint(
    app: FaithApp,
    lines: Counter[tuple[str | None, int]],
    reads: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        paints = []
        update = Compositor.render_update

        def update_and_count(*args: Any, **kwargs: Any) -> Any:
            paints.append(drawn(lines))
            return update(*args, **kwargs)

        monkeypatch.setattr(Compositor, "render_update", update_and_count)
        looked_at = set()
        render = StylesCache.render_widget

        def render_and_tell(cache: StylesCache, widget: Widget, crop: Region) -> list[Strip]:
            looked_at.add(widget.id)
            return render(cache, widget, crop)

        monkeypatch.setattr(StylesCache, "render_widget", render_and_tell)
        lines.clear()
        reads.clear()
        await press(pilot, "j")
        about = {"title", "claims", "card", "evidence", "verdict"}
        assert about - {"evidence"} <= drawn(lines) <= about | {"truths"}
        assert max(lines.values()) == 1
        assert len(paints) == 1
        assert not {"windows", "status", "keys"} & looked_at
        assert reads == Counter()


async def test_the_place_is_kept_beside_the_keys(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk may take its time: it was 17 ms of the app's own loop, once a second."""
    file = BookmarkFile(tmp_path / "places", store_path, "ann")
    threads: list[threading.Thread] = []
    write = BookmarkFile.write_bookmark_if_changed

    def write_and_tell(
        kept: BookmarkFile, bookmark: Bookmark, queue: ClaimQueue | None = None
    ) -> None:
        threads.append(threading.current_thread())
        write(kept, bookmark, queue)

    monkeypatch.setattr(BookmarkFile, "write_bookmark_if_changed", write_and_tell)
    app = FaithApp(store_path, reviewer="ann", bookmarks=file)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        await until(pilot, lambda: file.written is not None)
        await calm(pilot)
        # On a slow machine the first place was kept before everything was shown.
        await app.bookmark_keeper.save_current_place()
        count = len(threads)
        await app.bookmark_keeper.save_current_place()
        assert len(threads) == count, "the same place is not written again"
    assert threading.main_thread() not in threads


def test_an_app_that_was_left_is_let_go(store_path: Path) -> None:
    """Textual keeps whoever asks for the styles of a frame: it kept every widget, and the app."""

    async def look_around() -> weakref.ref[FaithApp]:
        app = FaithApp(store_path, reviewer="ann")
        async with app.run_test(size=SIZE) as pilot:
            await opened(pilot)
            await press(pilot, "enter")
            await calm(pilot)
        return weakref.ref(app)

    left = asyncio.run(look_around())
    gc.unfreeze()  # see tests/conftest.py
    gc.collect()
    assert left() is None


@pytest.mark.thorough
async def test_no_line_is_painted_in_a_pane_that_it_was_not_made_for(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[tuple[str | None, bool]] = []
    draw = Pane.make_segments

    def draw_and_compare(pane: Pane, y: int, width: int) -> list[Segment]:
        painted.append((pane.id, pane._built_for == pane.scrollable_content_region.size))
        return draw(pane, y, width)

    monkeypatch.setattr(Pane, "make_segments", draw_and_compare)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        painted.clear()
        for change in ("zoom", "back", (84, 30), (200, 60)):
            if isinstance(change, str):
                await press(pilot, "z")
            else:
                await pilot.resize_terminal(*change)
                await calm(pilot)
            assert painted
            assert [pane for pane, fits in painted if not fits] == [], change
            painted.clear()
