"""Moving between the main screens, and the way back."""

import pytest

from faithtui.tui.app import FaithApp
from tests.tui.driving import opened, press, reviewing, status

SIZE = (120, 40)


@pytest.mark.thorough
async def test_a_message_does_not_outlast_a_way_to_another_screen(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "C")
        assert "copied" in status(app)
        await press(pilot, "A")
        await press(pilot, "escape")
        assert "copied" in status(app), "a window is no way to another screen"
        await press(pilot, "g", "a", "q")
        assert app.current_screen_name == "review"
        assert "copied" not in status(app)


async def test_q_goes_back_the_way_one_came_and_no_further(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter")
        passed = [app.screen_switcher.current]
        for _ in range(2):
            await press(pilot, "q")
            passed.append(app.screen_switcher.current)
        assert passed == ["review", "conversations", "runs"]
        assert not app.screen_switcher.is_action_available("go_back")


@pytest.mark.parametrize("name", ["metrics", "adjudicate"])
async def test_screens_of_single_claims_stay_closed_while_blind(app: FaithApp, name: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.set_judge_hidden(True)
        app.show_screen(name)
        assert app.current_screen_name == "runs"
        assert f"{name} would show judge's verdicts" in status(app)


@pytest.mark.thorough
async def test_a_closed_screen_is_passed_over_on_the_way_back(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "g", "u")
        app.session.set_judge_hidden(True)
        await press(pilot, "q")
        assert app.current_screen_name == "runs"
