"""What stands beside a score in the app: suspect, not checked yet, or nothing."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.domain.integrity.run_summary import TextCounts
from faithtui.store.records import ItemCheckResult, ItemState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from tests.tui.driving import calm, opened, press, screen_text

SENTENCE = "suspect: 12 of 12 claims are not in the answer"
MADE_UP = TextCounts(claims=6, phantom=6, truths=6, texts=18)


@pytest.fixture
def suspect(store_path: Path) -> Path:
    """A run whose claims nobody made."""
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        for row in store.runs.read_item_rows(store.runs.list_item_ids(run)):
            if row.state in (ItemState.DONE, ItemState.FAILED):
                counts = MADE_UP if row.state is ItemState.DONE else TextCounts()
                store.findings.replace_findings_of_conversations(
                    [ItemCheckResult(row.id, row.state, row.windows, (), counts)]
                )
    return store_path


@pytest.fixture
def unchecked(store_path: Path) -> Path:
    """A run that was judged before there were checks."""
    with sqlite3.connect(store_path) as connection:
        connection.execute("UPDATE run SET checks = 0")
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    return store_path


Made = Callable[[Path], FaithApp]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_suspect_run_is_marked_in_the_list_and_told_below(
    suspect: Path, make_app: Made, size: tuple[int, int]
) -> None:
    app = make_app(suspect)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        text = screen_text(app)
        assert "suspect " in text
        assert " !0." in text
        assert " ".join(text.split()).count("claims are not in the answer") == 1


@pytest.mark.thorough
async def test_conversations_and_reviews_of_it_are_marked(suspect: Path, make_app: Made) -> None:
    app = make_app(suspect)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        await calm(pilot)
        text = screen_text(app)
        assert " !0." in text or " !*0." in text
        assert "suspect: 6 of 6 claims are not in" in " ".join(text.split())
        await press(pilot, "enter")
        await calm(pilot)
        assert "score !" in screen_text(app)


async def test_the_run_screen_says_it_at_the_end(suspect: Path, make_app: Made) -> None:
    app = make_app(suspect)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "p")
        await calm(pilot)
        assert SENTENCE in " ".join(screen_text(app).split())


async def test_the_agreement_screen_warns_of_it_first(suspect: Path, make_app: Made) -> None:
    app = make_app(suspect)
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        await calm(pilot)
        assert "Suspect: 12 of 12 claims" in " ".join(screen_text(app).split())


async def test_what_is_not_checked_says_so(unchecked: Path, make_app: Made) -> None:
    app = make_app(unchecked)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        text = screen_text(app)
        assert " ?0." in text
        assert "not checked yet" in text
        await press(pilot, "enter")
        await calm(pilot)
        assert " ?0." in screen_text(app)


async def test_a_blind_reviewer_is_told_nothing_of_a_conversation(
    suspect: Path, make_app: Made
) -> None:
    app = make_app(suspect)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        app.session.is_judge_hidden = True
        await press(pilot, "enter")
        await calm(pilot)
        assert app.session.is_blind
        text = screen_text(app)
        assert "not in the answer" not in text
        assert "!0." not in text


async def test_a_sound_run_is_not_marked(store_path: Path, make_app: Made) -> None:
    app = make_app(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        text = screen_text(app)
        assert "not checked" not in text
        assert "suspect" not in text
