"""`h` on a screen that is not drawn: which guideline is opened, and what it changes."""

from typing import cast

import pytest

from faithtui.tui.review.guideline.guideline_dialog import GuidelineDialog, GuidelineOpener
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


async def open_guideline(session: Session, metric: str | None) -> FakeScreen:
    """Press the key on a screen that reviews a run of this metric."""
    screen = FakeScreen(session)
    screen.add(GuidelineOpener(cast(FaithScreen, screen), lambda: metric))
    assert screen.press("h")
    assert len(screen.input_queue.held) == 1, "keys are meant for the window"
    await screen.settle()
    assert not screen.failures
    return screen


def read_dialog(screen: FakeScreen) -> str:
    """Give the text of the only window that was opened."""
    (window,) = screen.input_queue.windows
    assert isinstance(window, GuidelineDialog)
    return "\n".join(line.text for line in window._lines(78))


async def test_the_default_of_the_metric_is_shown_until_one_is_set(session: Session) -> None:
    screen = await open_guideline(session, "turn-faithfulness")
    assert "default" in read_dialog(screen)
    session.store.guidelines.add_version("Fees count.", "ann", "turn-faithfulness")
    text = read_dialog(await open_guideline(session, "turn-faithfulness"))
    assert "Fees count." in text
    assert "in force" in text
    of_another = read_dialog(await open_guideline(session, "ragas-faithfulness"))
    assert "Fees count." not in of_another


async def test_without_a_metric_there_is_no_default(session: Session) -> None:
    assert "There is no guideline yet" in read_dialog(await open_guideline(session, None))


@pytest.mark.parametrize(("answer", "reloads"), [("set", 1), (None, 0)])
async def test_the_screen_is_read_again_only_where_another_one_was_set(
    session: Session, answer: str | None, reloads: int
) -> None:
    screen = await open_guideline(session, None)
    screen.input_queue.answer(answer)
    assert screen.reloads == reloads
