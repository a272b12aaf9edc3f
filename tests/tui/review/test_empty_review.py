"""The review screen without anything to review."""

from pathlib import Path

from faithtui.tui.app import FaithApp
from tests.tui.driving import opened, press, screen_text


async def test_why_there_is_nothing_to_review_is_said_in_full_at_80x24(tmp_path: Path) -> None:
    app = FaithApp(tmp_path / "new.db", reviewer="ann")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "v")
        words = " ".join(screen_text(app).replace("┃", " ").split())
        assert "There is no run yet: g r, then n starts one." in words
        assert "Verdict" not in words, "panes with nothing in them take no room"
