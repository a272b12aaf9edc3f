"""`W`: raw replies, from every screen that shows a conversation, if they may be seen."""

import contextlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from textual.pilot import Pilot

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.engine.runs import runner
from faithtui.store.records import (
    ItemState,
)
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.replies.replies_screen import RepliesScreen
from faithtui.tui.replies.show_replies import RawReplies
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine
from tests.engine.building import planned
from tests.tui.driving import calm, opened, press, reviewing, screen_text, status, text_of, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.replies.test_replies_screen import GOOD, asked


@pytest.mark.thorough
@pytest.mark.usefixtures("replied")
async def test_replies_are_read_from_the_lists_too(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        assert "$0.0312 + no price known for 1 call · 2 calls" in text_of(app, "detail")
        await press(pilot, "W")
        assert isinstance(app.screen, RepliesScreen)
        assert "all 2 calls" in " ".join(text_of(app, "calls").split())
        await press(pilot, "escape", "g", "p", "f", "W")
        assert isinstance(app.screen, RepliesScreen)
        assert "No call was made for this conversation" in text_of(app, "calls")
        await press(pilot, "C", "q", "f")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_from_a_claim_it_begins_at_the_call_that_decided_it(
    judged: Path, make_app: Callable[[Path], FaithApp], size: tuple[int, int]
) -> None:
    app = make_app(judged)
    async with app.run_test(size=size) as pilot:
        await reviewing(pilot)
        await press(pilot, "end", "W")
        assert isinstance(app.screen, RepliesScreen)
        call = app.screen.selected_call
        assert call is not None
        assert call.step == "verdicts"
        found = re.search(r"claim 12 was decided in call (\d+), as (c\d+)", status(app))
        assert found, status(app)
        assert int(found[1]) == app.screen.calls.cursor + 1
        reply = next(each for each in text_of(app, "reply").split("\n") if each.startswith("▌"))
        assert f'"{found[2]}": {{' in reply
        assert reply.strip() in screen_text(app)
        await press(pilot, "tab")
        assert f"▌[{found[2]}] Parcel a-11 weighs 12 kilograms." in screen_text(app)


@pytest.mark.thorough
async def test_a_reply_from_the_store_is_read_with_its_origin(
    judged: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    with Store.open(judged) as store:
        run = planned(store, options={"penalize_ambiguous_claims": True})
        await runner.execute_run(store, run, lambda event: None)
    app = make_app(judged)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        assert screen.session.run == run
        await press(pilot, "end", "W")
        assert isinstance(app.screen, RepliesScreen)
        call = app.screen.selected_call
        assert call is not None
        assert (call.step, call.run, call.is_reused) == ("verdicts", RunId(1), True)
        found = re.search(r"decided in call (\d+), as (c\d+) \((t\d+ = T\d+)", status(app))
        assert found, status(app)
        assert f'▌  "{found[2]}": {{' in text_of(app, "reply")
        assert "from the store: #1 a" in text_of(app, "reply")
        assert "#1 a" in text_of(app, "calls")
        assert "from the store" in screen_text(app).split("\n")[1], "the title counts them"


async def blind(pilot: Pilot[None]) -> ReviewScreen:
    screen = await reviewing(pilot)
    await press(pilot, "B")
    assert screen.session.is_blind
    return screen


@pytest.mark.usefixtures("replied")
async def test_replies_are_refused_as_long_as_a_claim_is_hidden(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await blind(pilot)
        await press(pilot, "W")
        assert app.screen is screen
        assert status(app) == "replies show 5 hidden claims: answer them, or v reveals each"
        assert "zanzibar" not in screen_text(app)
        await press(pilot, "g", "c", "W")
        assert status(app) == "replies show 5 hidden claims: answer them, or v in review"
        await press(pilot, "g", "v", "home", *["y"] * 4, "v")
        await calm(pilot)
        await press(pilot, "W")
        assert isinstance(app.screen, RepliesScreen), "four are answered and one is revealed"


def test_what_is_hidden_is_said_in_80_columns_and_apart_from_the_queue(session: Session) -> None:
    hidden = [ClaimId(number) for number in range(57)]
    session.claim_queue = ClaimQueue("", RunId(1), tuple((ItemId(1), each) for each in hidden[:2]))
    replies = RawReplies(cast("FaithScreen", FakeScreen(session)), lambda: None, lambda: None)
    words = replies._describe_hidden_claims(hidden)
    assert words == "replies show 57 hidden claims, 55 not in the queue: v reveals each"
    line = StatusLine()
    line.left, line.who = (Piece(words),), (Piece("ann"),)
    line.right = (Piece("blind sample 2/20 · 9 s a claim"),)
    assert words in line.lay_out_line(80).text


@pytest.mark.thorough
@pytest.mark.parametrize("state", [ItemState.PENDING, ItemState.FAILED])
async def test_replies_of_what_is_not_judged_to_its_end_are_refused_while_blind(
    app: FaithApp, store_path: Path, state: ItemState
) -> None:
    with Store.open(store_path) as store:
        third = store.runs.list_item_ids(RunId(1))[2]
        asked(store, third, GOOD)
        if state is ItemState.PENDING:
            store.runs.reopen_failed_or_incomplete_items(RunId(1))
    async with app.run_test(size=(120, 40)) as pilot:
        await blind(pilot)
        await press(pilot, "g", "c", "home", "j", "j", "W")
        await until(pilot, lambda: "claims that are still to come" in status(app))
        assert "g v, then B ends blind work" in status(app)
        assert not isinstance(app.screen, RepliesScreen)


@pytest.mark.usefixtures("replied")
async def test_reading_replies_is_recorded_as_having_seen_the_judge(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "p")
        app.session.item = None
        await press(pilot, "f")
        assert not app.session.exposed
        await press(pilot, "W")
        await calm(pilot)
        assert len(app.session.exposed) == 1


async def test_an_imported_run_has_no_replies_and_says_so(app: FaithApp, store_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(store_path)) as database, database:
        database.execute("UPDATE run SET judge_fingerprint = 'imported/x'")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "W")
        assert app.screen is screen
        assert status(app) == "run 1 was imported: its judge was asked elsewhere, no reply is here"
