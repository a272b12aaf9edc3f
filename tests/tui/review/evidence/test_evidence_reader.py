"""`[` `]` `t` `p` `w`: passages, sources and the claim in its windows."""

from types import SimpleNamespace

import pytest

from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import PickDialog, TextDialog
from faithtui.tui.session import Session
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.driving import (
    SIZE,
    press,
    reviewing,
    screen_text,
    status,
    text_of,
    title,
)
from tests.tui.fake_screens import FakeReviewScreen


@pytest.mark.thorough
async def test_passages_are_walked_and_read_in_full(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        assert text_of(app, "evidence").startswith(">P1")
        await press(pilot, "right_square_bracket")
        assert "\n>P2" in text_of(app, "evidence")
        await press(pilot, "t")
        assert isinstance(app.screen, TextDialog)
        assert "Keep the receipt until the" in text_of(app, "text")
        await press(pilot, "t", "left_square_bracket")
        assert text_of(app, "evidence").startswith(">P1")


async def test_t_shows_the_conversation_from_its_panes(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.query_one("#transcript").focus()
        await press(pilot, "t")
        assert "And for sale items?" in text_of(app, "text")
        await press(pilot, "q")
        assert app.screen is screen


@pytest.mark.thorough
async def test_the_same_claim_in_other_windows_can_be_visited(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "p")
        assert "w1" in text_of(app, "text")
        assert "counts for agreement" in text_of(app, "text")
        await press(pilot, "down", "down", "enter")
        assert app.screen is screen
        assert screen.review_position.window == 2
        assert screen.claim is not None
        assert screen.claim.number == 1


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_windows_and_truths_are_one_key_away_and_the_screen_says_so(
    app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await reviewing(pilot)
        assert "L windows" in screen_text(app)
        assert "W raw replies" in screen_text(app)
        await press(pilot, "L")
        assert screen.query_one(Panes).zoomed_id == "windows"
        assert "And for sale items?" in text_of(app, "windows"), "what was asked, not numbers alone"
        await press(pilot, "down")
        assert screen.review_position.window == 1
        await press(pilot, "L")
        assert screen.query_one(Panes).zoomed_id == "truths"
        assert "Truths for claim 1 in w2" in screen_text(app)
        await press(pilot, "L")
        assert screen.query_one(Panes).zoomed_id is None
        assert app.focused is screen.query_one("#claims")
        assert "L windows" + ("" if size[0] > 100 else ", truths") in screen_text(app)


@pytest.mark.thorough
async def test_the_list_of_windows_begins_at_the_claims_own_while_all_are_chosen(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"jjjj", "L")
        assert screen.claim is not None
        own = screen.claim.first_window_verdict.window
        assert own > 0
        assert screen.panes.windows.cursor == own + 1
        assert screen.review_position.window is None
        screen.repaint()
        assert screen.panes.windows.cursor == own + 1
        await press(pilot, "home")
        assert screen.panes.windows.cursor == 0, "all of them can be chosen"
        await press(pilot, *["down"] * (own + 1))
        assert screen.review_position.window == own


async def test_blind_there_are_no_truths_to_go_to(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "B", "L")
        assert screen.panes.zoomed_id == "windows"
        assert "0.82" not in screen_text(app)
        await press(pilot, "L")
        assert screen.panes.zoomed_id is None


@pytest.mark.thorough
async def test_enter_on_a_claim_shows_its_windows(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        await press(pilot, "escape")
        assert isinstance(app.screen, ReviewScreen)


async def test_w_switches_the_weighting_of_the_score(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "w")
        assert "per interaction 0.67" in title(app)
        await press(pilot, "w")
        assert "score 0.82" in title(app)
        await press(pilot, "B", "w")
        assert "scores are hidden while you work blind" in status(app)
        assert isinstance(app.screen, ReviewScreen)
        assert not app.screen.evidence.per_interaction


async def test_truths_and_passages_name_what_the_judge_used(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "j", "j")
        evidence, truths = text_of(app, "evidence"), text_of(app, "truths")
        assert "«For other returns a fee of $5.95 is taken from" in evidence.replace("\n  ", " ")
        assert "T4 contradicts" in evidence.replace("\n     ", " ")
        assert truths.index("contradict") < truths.index("T4") < truths.index("support")


# On a screen that is not drawn


async def test_passages_stop_at_both_ends(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.review_state is not None
    last = len(screen.review_state.passages) - 1
    assert last > 0
    screen.press("left_square_bracket")
    assert screen.review_position.passage == 0
    for _ in range(last + 3):
        screen.press("right_square_bracket")
    assert screen.review_position.passage == last


async def test_the_chosen_passage_is_read_in_full_and_from_its_text_the_conversation(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("t")
    screen.focused = SimpleNamespace(id="transcript")
    assert screen.press("t")
    passage, conversation = screen.input_queue.windows
    assert passage._title.startswith("P")
    assert conversation._title == "Conversation"


async def test_another_window_of_the_claim_is_gone_to(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("p")
    screen.input_queue.answer("1")
    assert (screen.review_position.window, screen.chosen) == (1, 0)
    screen.press("p")
    screen.input_queue.answer(None)
    assert screen.review_position.window == 1


async def test_the_claim_is_copied_with_controls_made_visible(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("C")
    assert screen.app.copied == ["The return window is 30 days from delivery."]
    assert screen.message == "claim 1 copied, control characters made visible"


async def test_w_turns_the_score_and_back(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("w")
    assert screen.evidence.per_interaction
    screen.press("w")
    assert not screen.evidence.per_interaction


async def test_without_a_conversation_there_are_no_keys(session: Session) -> None:
    screen = FakeReviewScreen(session)
    assert not any(screen.press(key) for key in "tpwC")
    assert screen.evidence.list_images() == ()
