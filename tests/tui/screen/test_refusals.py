"""Why a key did nothing: on the status line, and where that cuts it, in full beside it."""

import pytest
from textual.widgets._toast import Toast

from faithtui.tui.app import FaithApp
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.theme.lines import Piece
from tests.tui.driving import calm, opened, press, screen_text, status

SENTENCE = "this run is under way, and what fails in it can be asked again once it has ended"


@pytest.mark.parametrize("width", [80, 120])
async def test_a_refusal_is_read_to_its_end(app: FaithApp, width: int) -> None:
    async with app.run_test(size=(width, 24), notifications=True) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, FaithScreen)
        screen.refuse("no")
        await calm(pilot)
        assert not screen.query(Toast)
        screen.refuse(SENTENCE)
        await calm(pilot)
        assert len(screen.query(Toast)) == (width == 80)
        told = [str(each.render()) for each in screen.query(Toast)] or [screen_text(app)]
        assert SENTENCE in told[0]
        # What is said next is read beside it.
        screen.refuse("the next sentence is read to its end, too: nothing lies over it now")
        await calm(pilot)
        assert "nothing lies over it now" in screen_text(app)


async def test_the_next_key_takes_the_box_away(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, FaithScreen)
        screen.refuse(SENTENCE)
        await calm(pilot)
        assert screen.query(Toast)
        await press(pilot, "z")
        assert not screen.query(Toast), "it would lie over what the key shows"
        assert "this run is under way" not in status(app), "nor over how the session goes on"
        screen.show_message(Piece("saved"))
        await press(pilot, "z")
        assert "saved" in status(app), "what happened stays"
