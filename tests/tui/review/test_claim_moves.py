"""`j` `k` `J` `K` `N` `P`: to another claim, another window, the next claim without a verdict."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.engine.review.missed_claims import mark_answer_complete
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    opened,
    press,
    reviewing,
    screen_text,
    stored,
    text_of,
)
from tests.tui.fake_screens import FakeReviewScreen


@pytest.mark.thorough
async def test_windows_limit_the_claims(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "J")
        assert screen.review_position.window == 0
        lines = text_of(app, "claims").splitlines()
        assert sum(line.rstrip().endswith("Y   Y   Y") for line in lines) == 2
        assert "Claims in w1 0/2 done" in screen_text(app), "what is listed is counted"
        assert "Return labels" not in text_of(app, "claims")
        await press(pilot, "J", "J", "J")
        assert screen.review_position.window == 2
        await press(pilot, "K", "K", "K", "K")
        assert screen.review_position.window is None


@pytest.mark.parametrize("width", [80, 82])
async def test_the_title_of_the_claims_is_never_cut(app: FaithApp, width: int) -> None:
    async with app.run_test(size=(width, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "J")
        title = str(screen.panes.claims.border_title)
        assert f" {title} " in screen_text(app), title


@pytest.mark.thorough
async def test_the_last_claim_of_a_window_leads_to_the_next_window(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "J", "y", "y")
        assert screen.review_position.window == 1
        assert screen.claim is not None
        assert screen.claim.number == 3


@pytest.mark.thorough
async def test_keys_move_through_the_claims(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)

        def number() -> int:
            assert screen.claim is not None
            return screen.claim.number

        for key, expected in (
            ("j", 2), ("down", 3), ("k", 2), ("up", 1), ("end", 5), ("home", 1),
            ("pagedown", 5), ("pageup", 1),
        ):  # fmt: skip
            await press(pilot, key)
            assert number() == expected, key
        await press(pilot, "j", "y", "home", "N")
        assert number() == 3
        await press(pilot, "P")
        assert number() == 1


@pytest.mark.thorough
async def test_next_unlabelled_crosses_conversations_both_ways(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "end", "N")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "P")
        assert screen.view.item.key == "conv-0147"
        assert screen.claim is not None
        assert screen.claim.number == 5


@pytest.mark.thorough
async def test_labels_of_others_are_neither_shown_as_ones_own_nor_counted(
    app: FaithApp, store_path: Path
) -> None:
    view = stored(store_path)
    with Store.open(store_path) as store:
        for number in (1, 2):
            for claim in stored(store_path, number).claims:
                store.label_log.record_verdict(
                    claim.id, "bo", "no", run=view.run.id, saw_judge=True
                )
        mark_answer_complete(store, view.run.id, view.item.id, 1, reviewer="bo", complete=True)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        assert "0/5" in screen_text(app)
        await press(pilot, "g", "v")
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        assert screen.claim is not None
        assert screen.claim.number == 1
        listed = [each for each in text_of(app, "claims").splitlines() if each[1:2].isdigit()]
        assert [each[3] for each in listed] == ["·"] * 5
        assert "Claims 0/5 done" in screen_text(app)
        assert "complete" not in str(screen.panes.transcript.border_title)
        await press(pilot, "y")
        assert "Claims 1/5 done" in screen_text(app)
        await press(pilot, "end", "N")
        assert screen.view is not None
        assert screen.view.item.id != view.item.id, "the next one is done by others alone"


@pytest.mark.thorough
async def test_a_window_is_chosen_in_its_pane(app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        screen = await reviewing(pilot)
        screen.query_one("#windows").focus()
        await press(pilot, "j", "j")
        assert screen.review_position.window == 1
        await press(pilot, "home")
        assert screen.review_position.window is None


# On a screen that is not drawn


async def test_keys_stop_at_the_ends_of_the_list(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("k")
    assert screen.chosen == 0
    for _ in range(9):
        assert screen.press("j")
    assert screen.chosen == 4


async def test_moving_leaves_the_verdict_given_last_and_windows_do_not(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    assert screen.verdicts.last_verdict is not None
    screen.press("J")
    assert screen.verdicts.last_verdict is not None
    screen.press("j")
    assert screen.verdicts.last_verdict is None


async def test_a_row_beyond_the_list_moves_nothing(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.moves.show_claim_of_row(4)
    assert screen.chosen == 4
    screen.moves.show_claim_of_row(5)
    assert screen.chosen == 4


async def test_the_first_row_of_windows_is_all_of_them(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.moves.limit_to_window_of_row(2)
    assert screen.review_position.window == 1
    screen.moves.limit_to_window_of_row(0)
    assert screen.review_position.window is None


async def test_after_the_last_claim_keys_wait_for_the_next_conversation(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    before = screen.session.item
    for _ in range(4):
        screen.give("no")
    assert screen.input_queue.held <= {*screen.workers}, "nothing is left yet"
    screen.give("no")
    assert screen.writer in screen.input_queue.held
    assert screen.panes.claims.blocked == 1
    await screen.settle()
    assert screen.writer not in screen.input_queue.held
    assert screen.session.item != before


async def test_without_auto_advance_one_stays(session: Session) -> None:
    session.preferences = replace(session.preferences, auto_advance=False)
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    assert screen.chosen == 0


async def test_without_a_conversation_no_key_does_anything(session: Session) -> None:
    screen = FakeReviewScreen(session)
    for key in "jkJKNP":
        screen.press(key)
    assert screen.review_state is None
    assert not screen.workers
