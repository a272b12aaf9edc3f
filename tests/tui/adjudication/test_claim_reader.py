"""The claim that is adjudicated: read without names and judges, walked, opened in review."""

from pathlib import Path

import pytest

from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from tests.tui.adjudication.test_adjudication_screen import adjudicating, words_of
from tests.tui.driving import opened, press, screen_text, status


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 60)])
async def test_names_and_judges_are_nowhere_until_it_is_settled(
    differing: Path, app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        chosen = screen.reader.selection
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


async def test_enter_opens_a_settled_claim_in_review_and_no_other(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "enter")
        assert "settle the claim first" in status(app)
        await press(pilot, "y", "k", "enter")
        assert isinstance(app.screen, ReviewScreen)
