"""The settings screen: what is set, where it comes from, and changing it safely."""

from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.config import NAMES
from faithtui.tui.app import FaithApp
from faithtui.tui.settings.setting_lines import MEANINGS, SECTIONS
from faithtui.tui.settings.setting_lines import TITLES as SETTING_TITLES
from faithtui.tui.settings.settings_screen import SettingsScreen
from tests.tui.driving import opened, press, screen_text, text_of

SIZE = (120, 40)
TITLES = [section.title for section in SECTIONS]
Make = Callable[..., FaithApp]


def content(file: Path) -> str:
    return file.read_text("utf-8")


def own_keys(file: Path, text: str) -> None:
    file.with_name("keymap.toml").write_text(text, "utf-8")


async def at(pilot: object, app: FaithApp, section: str, row: int = 0) -> SettingsScreen:
    await opened(pilot)  # type: ignore[arg-type]  # a Pilot
    await press(pilot, "g", "s")  # type: ignore[arg-type]
    screen = app.screen
    assert isinstance(screen, SettingsScreen)
    await press(pilot, *["j"] * TITLES.index(section), "enter", *["j"] * row)  # type: ignore[arg-type]
    return screen


@pytest.mark.thorough
async def test_every_setting_stands_in_one_section_with_its_origin(make: Make) -> None:
    named = [name for section in SECTIONS for name in section.names]
    assert sorted(named) == sorted(MEANINGS) == sorted(NAMES) == sorted(SETTING_TITLES)
    app = make({"FAITHTUI_JUDGE": "openai:x"})
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge")
        text = text_of(app, "values")
        assert "openai:x" in text
        assert "FAITHTUI_JUDGE goes before the file" in " ".join(text.split())
        head = next(line for line in text.splitlines() if line.startswith(" questions at once"))
        assert head.split()[3:] == ["4", "file"]


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (200, 60)])
async def test_every_section_stands_at_every_size(make: Make, size: tuple[int, int]) -> None:
    app = make()
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "s")
        for section in SECTIONS:
            assert screen_text(app).count(section.title) >= 2
            assert "? help" in screen_text(app)
            await press(pilot, "j")
