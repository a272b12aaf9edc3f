"""`/` in a conversation: what is found stands out, and `N` and `P` walk through it."""

import pytest

from faithtui.tui.app import FaithApp
from faithtui.tui.review.labels.note_input import NoteLine
from faithtui.tui.samples.queue import ClaimQueue, QueuePosition
from faithtui.tui.session import Session
from faithtui.tui.widgets.filter_bar import FilterBar, FilterInput
from tests.tui.driving import (
    SIZE,
    acts,
    blinded,
    press,
    reviewing,
    screen_text,
    status,
    until,
)
from tests.tui.fake_screens import FakeReviewScreen


@pytest.mark.thorough
async def test_find_lets_claims_stand_out_and_n_walks_through_them(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "slash")
        for key in "sale":
            await pilot.press(key)
        await until(pilot, lambda: "2 claims found here" in status(app))
        assert screen.claim is not None
        assert screen.claim.number == 4, "typing saves no verdicts and goes to the first match"
        await press(pilot, "enter", "N")
        assert screen.claim.number == 5
        await press(pilot, "N")
        assert screen.claim.number == 4, "round and round"
        await press(pilot, "P")
        assert screen.claim.number == 5
        await press(pilot, "slash", "ctrl+u", "enter")
        assert "found here" not in status(app)
        await press(pilot, "home", "N")
        assert screen.claim.number == 2, "without a filter N goes to what is open"
    assert acts(app.session.store_path) == []


@pytest.mark.thorough
async def test_a_filter_that_is_given_up_leaves_no_count_behind(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash", *"sale")
        await until(pilot, lambda: "2 claims found here" in status(app))
        await press(pilot, "escape")
        assert "found here" not in status(app)


@pytest.mark.thorough
async def test_a_filter_that_cannot_be_read_says_so(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash")
        for key in ("v", "e", "r", "d", "i", "c", "t", "colon", "z"):
            await pilot.press(key)
        await until(pilot, lambda: "verdict:z" in status(app) or "z" in status(app))
        await press(pilot, "escape")
        assert app.is_running
    assert acts(app.session.store_path) == []


@pytest.mark.thorough
async def test_while_blind_nothing_is_found_by_the_judges_word(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        await press(pilot, "slash")
        for key in ("v", "e", "r", "d", "i", "c", "t", "colon", "n", "o"):
            await pilot.press(key)
        await press(pilot, "enter")
        words = "nothing is searched while you work blind: `verdict:no` would reveal"
        await until(pilot, lambda: words in status(app))
        assert screen.search.found_claims is None


@pytest.mark.thorough
async def test_terms_are_listed_and_completed_as_one_types(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash")
        field = app.screen.query_one(FilterInput)
        assert field.placeholder == "words, verdict:no, is:unlabelled, human:no, -not"
        assert "verdict:" in status(app)
        assert "score:" not in status(app), "claims have no score"
        await press(pilot, *"is:unl")
        await until(pilot, lambda: status(app).startswith("tab is:unlabelled"))
        await press(pilot, "tab")
        assert field.value == "is:unlabelled"
        await until(pilot, lambda: "claims found here" in status(app))
        await press(pilot, "enter")
        assert "is:unlabelled" in status(app)


@pytest.mark.thorough
async def test_what_is_typed_stands_above_status_and_keys(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        for key, line in (("slash", FilterBar), ("e", NoteLine)):
            await press(pilot, key)
            typed = app.screen.query_one(line)
            assert typed.region.height == 1
            assert typed.region.y < app.screen.query_one("#keys").region.y
            await press(pilot, "escape")


async def test_while_blind_no_term_is_offered_that_shows_the_judge(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await blinded(pilot)
        assert "M metrics" not in screen_text(app).split("\n", 1)[1], (
            "refused, so not in the footer"
        )
        await press(pilot, "slash")
        placeholder = app.screen.query_one(FilterInput).placeholder
        assert placeholder == "words, is:unlabelled, human:no, is:noted, -not"
        assert "verdict:" not in status(app)


# On a screen that is not drawn


def find(screen: FakeReviewScreen, text: str, *, is_final: bool = False) -> None:
    screen.search.highlight_and_go_to_matches(FilterBar.FilterChanged(text, is_final))


async def test_what_is_found_is_walked_round_and_round(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("slash")
    find(screen, "sale")
    assert screen.search.found_claims == screen.claims[3:]
    assert screen.chosen == 3
    assert screen.message.startswith("2 claims found here · sale")
    assert screen.press("N")
    assert screen.chosen == 4
    assert screen.press("N")
    assert screen.chosen == 3
    assert screen.press("P")
    assert screen.chosen == 4


async def test_what_stands_out_is_what_was_found_else_the_queue_else_all(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.search.highlighted_claims is None
    assert screen.view is not None
    entries = ((screen.view.item.id, screen.claims[2]),)
    screen.queue_navigator.switch_queue(
        QueuePosition(ClaimQueue("one", screen.view.run.id, entries)), screen.view.item.id
    )
    assert screen.claims[2] in (screen.search.highlighted_claims or ())
    assert screen.claims[3] not in (screen.search.highlighted_claims or ())
    find(screen, "sale")
    assert screen.search.highlighted_claims == frozenset(screen.claims[3:])


async def test_nothing_found_is_said_and_moves_nothing(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("j")
    find(screen, "zebra")
    assert screen.message.startswith("0 claims found here")
    assert screen.chosen == 1
    assert not screen.search.go_to_next_match_if_any(1)


async def test_giving_up_brings_back_the_filter_before(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    find(screen, "sale", is_final=True)
    screen.press("slash")
    find(screen, "members")
    screen.search.restore_previous_filter()
    assert screen.search.filter_text == "sale"
    assert screen.bar.text == "sale"


async def test_another_conversation_is_not_searched(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    find(screen, "sale", is_final=True)
    await screen.open(2)
    assert screen.search.filter_text == ""
    assert screen.bar.text == ""
    assert screen.search.found_claims is None
