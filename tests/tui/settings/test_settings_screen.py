"""The settings screen: what is set, where it comes from, and changing it safely."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from faithtui.config import NAMES, PRESETS, load_settings_with_origins
from faithtui.tui.app import FaithApp
from faithtui.tui.settings.setting_lines import MEANINGS, SECTIONS
from faithtui.tui.settings.settings_screen import SettingsScreen
from faithtui.tui.theme import theme
from tests.tui.building import NOON
from tests.tui.driving import calm, opened, press, screen_text, status, text_of

SIZE = (120, 40)
TITLES = [section.title for section in SECTIONS]
Make = Callable[..., FaithApp]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nreviewer = "ann"\nconcurrency = 4\n', "utf-8")
    return path


@pytest.fixture
def make(store_path: Path, file: Path) -> Make:
    def made(environment: Mapping[str, str] | None = None) -> FaithApp:
        configured = load_settings_with_origins(file, environment or {"LANG": "C.UTF-8"})
        return FaithApp(store_path, reviewer="ann", now=lambda: NOON, configured=configured)

    return made


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


async def test_every_setting_stands_in_one_section_with_its_origin(make: Make) -> None:
    named = [name for section in SECTIONS for name in section.names]
    assert sorted(named) == sorted(MEANINGS) == sorted(NAMES)
    app = make({"FAITHTUI_JUDGE": "openai:x"})
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge")
        text = text_of(app, "values")
        assert "openai:x" in text
        assert "FAITHTUI_JUDGE goes before the file" in " ".join(text.split())
        head = next(line for line in text.splitlines() if line.startswith(" concurrency"))
        assert head.split()[1:] == ["4", "file"]


async def test_a_typed_value_is_written_and_the_comment_stays(make: Make, file: Path) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge", 2)
        await press(pilot, "enter", "backspace", *"16", "enter")
        assert content(file) == '# mine\nreviewer = "ann"\nconcurrency = 16\n'
        assert status(app).startswith("saved concurrency")
        assert app.session.defaults.concurrency == 16
        assert screen.focused is screen.values
        await press(pilot, "d")
        assert "concurrency" not in content(file)


async def test_a_wrong_value_is_refused_in_the_words_of_the_settings_file(
    make: Make, file: Path
) -> None:
    before = content(file)
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge", 2)
        await press(pilot, "enter", "backspace", *"999", "enter")
        assert "not saved" in status(app)
        assert "`concurrency` is not valid; expected a whole number from 1 to 256" in status(app)
        assert content(file) == before
        await press(pilot, "enter", *"nonsense", "escape")
        assert content(file) == before


async def test_a_theme_counts_at_once(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Theme")
        await press(pilot, "enter", *["j"] * list(theme.THEMES).index("light"), "enter")
        await calm(pilot)
        assert app.theme == theme.LIGHT.name


async def test_ascii_counts_at_once(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Theme", 1)
        assert not screen_text(app).isascii()
        await press(pilot, "enter", "enter")
        await calm(pilot)
        assert screen_text(app).isascii()


async def test_keys_count_at_once(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Keys")
        await press(pilot, "enter", *["j"] * PRESETS.index("vim"), "enter")
        await calm(pilot)
        focused = screen.focused
        await press(pilot, "l")
        assert screen.focused is not focused


async def test_a_preset_that_clashes_with_ones_own_keys_is_not_written(
    make: Make, file: Path
) -> None:
    before = content(file)
    own_keys(file, '"review.source" = "1"\n"review.code-claim" = "f9"\n')
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Keys")
        await press(pilot, "enter", *["j"] * PRESETS.index("digits"), "enter")
        await calm(pilot)
        assert "`review.source`" in status(app)
        assert "`review.verdict-yes`" in status(app)
        assert content(file) == before


async def test_how_one_reviews_counts_at_once(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Review", 1)
        assert app.session.preferences.blind
        await press(pilot, "enter", "j", "enter")
        await calm(pilot)
        assert not app.session.preferences.blind


async def test_storage_says_what_the_store_is_and_checks_it(make: Make, store_path: Path) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Storage")
        text = text_of(app, "values")
        assert store_path.name in text
        assert app.session.store.schema_version in text
        assert "WAL" in text
        await press(pilot, "c")
        await calm(pilot)
        assert "sound" in text_of(app, "values")


async def test_without_a_settings_file_nothing_can_be_changed(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge")
        await press(pilot, "enter", "e", "d")
        assert isinstance(app.screen, SettingsScreen)
        assert "not known here" in text_of(app, "values")


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


async def test_the_judge_that_is_set_is_tried_and_what_came_of_it_is_said(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge")
        assert "t asks it two small questions" in text_of(app, "values")
        await press(pilot, "t")
        for _ in range(500):
            await pilot.pause()
            if screen.facts.trial is not None:
                break
            await asyncio.sleep(0.01)
        await calm(pilot)
        assert "tells what a text says from what it denies" in text_of(app, "values")
        assert "the judge works" in status(app)


async def test_a_judge_that_cannot_be_asked_says_what_to_do(make: Make) -> None:
    app = make({"LANG": "C.UTF-8", "FAITHTUI_JUDGE": "openai:m"})
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge")
        await press(pilot, "t")
        for _ in range(500):
            await pilot.pause()
            if screen.facts.trial is not None:
                break
            await asyncio.sleep(0.01)
        await calm(pilot)
        assert "set the environment variable OPENAI_API_KEY" in text_of(app, "values")
        assert "the judge does not work" in status(app)


async def test_a_number_that_was_unset_is_typed(make: Make, file: Path) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge", 3)
        await press(pilot, "e", *"120", "enter")
        await calm(pilot)
        assert "requests_per_minute = 120" in content(file)
