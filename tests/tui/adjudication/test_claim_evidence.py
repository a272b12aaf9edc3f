"""The claim that is adjudicated: read without names and judges, walked, opened in review."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.tui.adjudication.claim_evidence import read_selected_claim
from faithtui.tui.app import FaithApp
from faithtui.tui.messages import ShowScreen
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.session import Session
from tests.tui.adjudication.test_adjudication_screen import adjudicating, words_of
from tests.tui.driving import opened, press, screen_text, status
from tests.tui.fake_screens import FakeAdjudicateScreen


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 60)])
async def test_names_and_judges_are_nowhere_until_it_is_settled(
    differing: Path, app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        chosen = screen.evidence.selection
        assert chosen is not None
        judge = screen.compared.runs[0].id if screen.compared else None
        assert judge is not None
        # Nothing of the judge is in what the panes draw from.
        assert all(
            (verdict.label, verdict.reason, verdict.confidence) == (None, None, None)
            for claim in chosen.view.claims
            for verdict in claim.verdicts
        )
        assert all(not each.others and each.mine is None for each in chosen.view.claims)
        text = words_of(app, "decide") + words_of(app, "evidence")
        for word in ("bo ", "zoe", "P1 names a fee", "0.12"):
            assert word not in text
        assert "hidden until you decide" in text
        assert "? help" in screen_text(app)
        await press(pilot, "y", "k")
        assert "hidden until you decide" not in words_of(app, "decide")


@pytest.mark.thorough
async def test_enter_opens_a_settled_claim_in_review_and_no_other(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "enter")
        assert "settle the claim first" in status(app)
        await press(pilot, "y", "k", "enter")
        assert isinstance(app.screen, ReviewScreen)


# On a screen that is not drawn


async def test_only_the_claim_that_is_still_under_the_cursor_is_painted(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    early = read_selected_claim(session, screen.listed[0])
    screen.at = 1
    screen.evidence.show_claim_if_still_chosen(early)
    painted = [screen.evidence.selection]
    screen.evidence.show_or_read_claim(screen.claim_at_cursor())
    assert [*painted, screen.evidence.selection] == [None, None], "until it is read"
    screen.evidence.hold_keys_while_reading()
    assert set(screen.workers) == screen.input_queue.held
    await screen.settle()
    assert screen.evidence.selection is not None
    assert screen.evidence.selection.claim == screen.listed[1]
    screen.evidence.hold_keys_while_reading()
    assert not screen.input_queue.held, "there is nothing to wait for"


async def test_a_claim_that_is_open_again_is_read_without_the_judges(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    settled = read_selected_claim(session, screen.settle_claim())
    assert settled.view.hidden == frozenset()
    screen.listed[0] = replace(screen.listed[0], final=None)
    screen.evidence.show_claim_if_still_chosen(settled)
    painted = [screen.evidence.selection]
    await screen.settle()
    painted.append(screen.evidence.selection)
    assert painted[0] is None, "it would show the judges"
    assert painted[1] is not None
    assert screen.listed[0].claim in painted[1].view.hidden
    assert not session.exposed


async def test_a_settled_claim_shows_the_judges_and_that_is_recorded(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    screen.evidence.show_or_read_claim(screen.settle_claim())
    await screen.settle()
    assert [kind for _, kind, _ in session.exposed] == ["item in all runs"]


async def test_review_opens_only_what_is_settled(differing: Path, session: Session) -> None:
    screen = FakeAdjudicateScreen(session)
    assert screen.press("v")
    assert screen.message.endswith("settle the claim first")
    settled = screen.settle_claim()
    assert screen.press("v")
    assert (session.item, session.claim) == (settled.item, settled.claim)
    assert [each.screen for each in screen.posted if isinstance(each, ShowScreen)] == ["review"]
    screen.at = 99
    assert screen.press("v")
    assert screen.message == "there is nothing in this list"


async def test_passages_stop_at_both_ends(differing: Path, session: Session) -> None:
    screen = FakeAdjudicateScreen(session)
    assert not screen.press("right_square_bracket"), "no claim is painted"
    screen.evidence.show_or_read_claim(screen.claim_at_cursor())
    await screen.settle()
    chosen = screen.evidence.selection
    assert chosen is not None
    last = len(chosen.passages) - 1
    places = []
    for key in ["left_square_bracket", *["right_square_bracket"] * (last + 2)]:
        screen.press(key)
        assert screen.evidence.selection is not None
        places.append(screen.evidence.selection.passage)
    assert places == [0, *range(1, last + 1), last, last][: len(places)]
