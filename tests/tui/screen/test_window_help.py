"""`?` explains small windows too, and goes back to them."""

import pytest

from faithtui.tui.app import FaithApp
from faithtui.tui.screen.help_dialog import HelpDialog
from tests.tui.driving import press, reviewing, screen_text, text_of


@pytest.mark.thorough
async def test_small_windows_explain_their_keys(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        review = await reviewing(pilot)
        for key, words in (
            ("g", "Go to: All runs of this store"),
            ("t", "Close this window"),
            ("p", "Open the chosen entry"),
            ("h", "Write a new version in $VISUAL or $EDITOR"),
            ("plus", "Type a claim in words of your own"),
            ("E", "Passage before"),
            ("W", "Go to the next pane: calls"),
        ):
            await press(pilot, key)
            window = app.screen
            assert window is not review
            assert "? help" in screen_text(app), f"named in the window of {key}"
            await press(pilot, "question_mark")
            assert isinstance(app.screen, HelpDialog)
            assert words in " ".join(text_of(app, "text").split())
            await press(pilot, "question_mark")
            assert app.screen is window
            await press(pilot, "escape")
            assert app.screen is review
