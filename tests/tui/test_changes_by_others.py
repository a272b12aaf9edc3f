"""What is read again when somebody writes: what may have changed, and nothing else."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import work

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.runs.runs import Runs
from faithtui.store.search.filter_search import Search
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.building import SPEC
from tests.tui.driving import calm, opened, press, reviewing

SIZE = (120, 40)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often all ids of a list, whole conversations and their turns are read."""
    counts: Counter[str] = Counter()

    def counted(kind: type, name: str) -> None:
        read: Callable[..., Any] = getattr(kind, name)

        def counting(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return read(*args, **kwargs)

        monkeypatch.setattr(kind, name, counting)

    counted(Search, "list_matching_items")
    counted(Runs, "read_conversation_for_review")
    counted(Runs, "read_turns")
    return counts


def another_run_writes(store: Path) -> None:
    """Write as a run does that nobody looks at."""
    with Store.open(store) as other:
        other.runs.create(SPEC, other.conversations.list_ids())


def somebody_says(store: Path, conversation: int = 0) -> None:
    """Give a verdict on the first claim of a conversation as another person."""
    with Store.open(store) as other:
        item = other.runs.list_item_ids(RunId(1))[conversation]
        claim = other.runs.read_conversation_for_review(item, "bo").claims[0]
        other.label_log.append_label_event(
            claim.id,
            "bo",
            Action.OVERRIDDEN,
            "no",
            run=RunId(1),
            judge_verdict="yes",
            saw_judge=True,
        )


async def followed(app: FaithApp, pilot: Any, reads: Counter[str]) -> Counter[str]:
    """Look for changes once, and give what was read because of that."""
    reads.clear()
    app.store_watcher.reload_screens_if_store_changed()
    await calm(pilot)
    return Counter(reads)


async def listing(pilot: Any) -> ConversationsScreen:
    await opened(pilot)
    await press(pilot, "enter")
    screen = pilot.app.screen
    assert isinstance(screen, ConversationsScreen)
    return screen


async def test_a_list_is_left_alone_while_another_run_writes(
    app: FaithApp, store_path: Path, reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listing(pilot)
        another_run_writes(store_path)
        assert await followed(app, pilot, reads) == Counter()


async def test_rows_follow_a_change_of_their_run_without_the_ids_being_read(
    app: FaithApp, store_path: Path, reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        before = screen.items.row_at_cursor
        somebody_says(store_path)
        assert await followed(app, pilot, reads) == Counter(read_turns=1)
        after = screen.items.row_at_cursor
        assert before is not None
        assert after is not None
        assert after.overridden == before.overridden + 1


async def test_a_list_loses_the_conversations_that_somebody_deletes(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        there = len(screen.listed_ids)
        with Store.open(store_path) as other:
            gone = other.conversations.list_ids()[-1]
            other.deletions.delete_conversations(DeletionKind.DATASET, [gone], "bo")
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        assert len(screen.listed_ids) == there - 1
        assert screen.facts.conversations == there - 1, "how many answers are labelled, read anew"


@pytest.mark.thorough
async def test_a_list_whose_order_may_be_another_is_read_again(
    app: FaithApp, store_path: Path, reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        while screen.list_order != "overridden":
            await press(pilot, "s")
        screen.reread_after_s = 0.0
        somebody_says(store_path, 1)
        reads.clear()
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        assert reads["list_matching_items"] == 1
        assert screen.pager is not None
        first = screen.pager.fetch_row(0)
        assert first is not None
        assert first.overridden > 0


@pytest.mark.thorough
async def test_a_conversation_is_left_alone_while_another_run_writes(
    app: FaithApp, store_path: Path, reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        another_run_writes(store_path)
        assert await followed(app, pilot, reads) == Counter()


@pytest.mark.thorough
async def test_a_conversation_follows_what_somebody_else_says_of_it(
    app: FaithApp, store_path: Path, reads: Counter[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        somebody_says(store_path)
        assert (await followed(app, pilot, reads))["read_conversation_for_review"] == 1
        assert screen.view is not None
        assert screen.view.item.overridden == 1
        assert await followed(app, pilot, reads) == Counter()


@pytest.mark.thorough
async def test_a_screen_that_still_reads_is_not_asked_to_read_again(
    app: FaithApp, store_path: Path
) -> None:
    begun: list[int] = []

    class Slow(FaithScreen):
        def make_panes(self) -> Panes:
            return Panes(Pane(id="one"), layout_function=lambda width, height: {})

        def reload(self) -> None:
            pass

        def reload_after_store_change(self) -> None:
            begun.append(len(begun))
            self.read_slowly()

        @work(group="slow")
        async def read_slowly(self) -> None:
            await self.read_in_thread(store_reads.wait)

    store_reads = threading.Event()
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await app.push_screen(Slow(app.session))
        await calm(pilot)
        begun.clear()
        another_run_writes(store_path)
        app.store_watcher.reload_screens_if_store_changed()
        await pilot.pause()
        another_run_writes(store_path)
        app.store_watcher.reload_screens_if_store_changed()
        await pilot.pause()
        assert begun == [0]
        store_reads.set()
        await calm(pilot)
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        assert begun == [0, 1], "what was put off is made up for"
