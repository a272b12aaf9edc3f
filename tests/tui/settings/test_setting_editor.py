"""`e` and `d`: a setting is changed in the file, or taken out of it."""

from pathlib import Path
from typing import cast

import pytest

from faithtui.config import PRESETS, load_settings_with_origins
from faithtui.tui.app import FaithApp
from faithtui.tui.messages import SettingsChanged
from faithtui.tui.session import Session
from faithtui.tui.settings.setting_editor import SettingEditor
from faithtui.tui.settings.settings_screen import SettingsScreen
from faithtui.tui.theme import theme
from tests.tui.driving import calm, press, screen_text, status, text_of, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.settings.test_settings_screen import SIZE, Make, at, content, own_keys


@pytest.mark.thorough
async def test_a_typed_value_is_checked_and_written_and_the_comment_stays(
    make: Make, file: Path
) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge", 2)
        await press(pilot, "enter", "backspace", *"16", "enter")
        assert content(file) == '# mine\nreviewer = "ann"\nconcurrency = 16\n'
        assert status(app).startswith("saved questions at once")
        assert app.session.defaults.concurrency == 16
        assert screen.focused is screen.values
        await press(pilot, "d")
        assert "concurrency" not in content(file)
        assert status(app) == "questions at once: the default counts again, 8"
        await press(pilot, "j")
        assert status(app) == "", "what was said of another value is over"
        await press(pilot, "e", *"120", "enter")
        assert "requests_per_minute = 120" in content(file), "a number that was unset"
        before = content(file)
        await press(pilot, "k", "enter", "backspace", *"999", "enter")
        assert "not saved" in status(app)
        assert "`concurrency` is not valid; expected a whole number from 1 to 256" in status(app)
        await press(pilot, "escape", "e", "9")
        assert "enter save value  esc drop value" in screen_text(app)
        assert status(app).endswith(": type the new value"), "it says which setting that is"
        await press(pilot, "escape")
        assert "save value" not in screen_text(app)
        assert screen.focused is screen.values
        assert content(file) == before


async def test_a_refused_value_stays_on_the_line_to_be_mended(make: Make, file: Path) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge", 2)
        before = content(file)
        await press(pilot, "enter", "backspace", *"999", "enter")
        await until(pilot, lambda: status(app).startswith("not saved"))
        assert screen.entry.has_focus
        assert screen.entry.value == "999"
        assert content(file) == before
        await press(pilot, "backspace", "enter")
        await until(pilot, lambda: status(app).startswith("saved questions at once"))
        assert app.session.defaults.concurrency == 99
        assert screen.values.has_focus


async def test_what_is_chosen_counts_at_once(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Review", 1)
        blind = [app.session.preferences.blind]
        await press(pilot, "enter", "j", "enter")
        await calm(pilot)
        assert [*blind, app.session.preferences.blind] == [True, False]
        await press(pilot, "enter")
        painted = screen_text(app)
        assert "blind queues: enter chooses, esc leaves it" in painted
        assert "(x) off: the judge is shown" in painted
        await press(pilot, "escape")
        screen.sections.focus()
        await press(pilot, "home")
        await at(pilot, app, "Theme")
        await press(pilot, "enter", *["j"] * list(theme.THEMES).index("light"), "enter")
        await calm(pilot)
        assert app.theme == theme.LIGHT.name
        await press(pilot, "j")
        assert not screen_text(app).isascii()
        await press(pilot, "enter", "home", "enter")
        await calm(pilot)
        assert screen_text(app).isascii()
        screen.sections.focus()
        await press(pilot, "home")
        await at(pilot, app, "Keys")
        await press(pilot, "enter", *["j"] * PRESETS.index("vim"), "enter")
        await calm(pilot)
        focused = screen.focused
        await press(pilot, "l")
        assert screen.focused is not focused


@pytest.mark.thorough
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


@pytest.mark.thorough
async def test_without_a_settings_file_nothing_can_be_changed(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await at(pilot, app, "Judge")
        await press(pilot, "enter", "e", "d")
        assert isinstance(app.screen, SettingsScreen)
        assert "not known here" in text_of(app, "values")


# On a screen that is not drawn


class FakeSettingsScreen(FakeScreen):
    """A settings screen with one setting chosen."""

    def __init__(self, session: Session, file: Path, name: str | None) -> None:
        super().__init__(session)
        session.configured = load_settings_with_origins(file, {"LANG": "C.UTF-8"})
        self.selected_setting = name
        self.drawn = 0
        self.editor = SettingEditor(cast(SettingsScreen, self))
        self.add(self.editor)

    def paint_values(self) -> None:
        self.drawn += 1


async def test_a_changed_value_is_in_force_at_once_and_told_to_the_app(
    session: Session, file: Path
) -> None:
    screen = FakeSettingsScreen(session, file, "auto_advance")
    advances = [session.preferences.auto_advance]
    screen.editor.check_save_and_apply_setting("auto_advance", "false")
    await screen.settle()
    assert "auto_advance = false" in content(file)
    assert [*advances, session.preferences.auto_advance] == [True, False]
    assert screen.drawn == 1
    (told,) = screen.posted
    assert isinstance(told, SettingsChanged)
    assert told.configured is session.configured


async def test_a_rejected_value_changes_neither_file_nor_session(
    session: Session, file: Path
) -> None:
    screen = FakeSettingsScreen(session, file, "concurrency")
    before = content(file), session.configured
    screen.editor.check_save_and_apply_setting("concurrency", "many")
    await screen.settle()
    assert screen.message.startswith("not saved: ")
    assert screen.app.bells == 1
    assert (content(file), session.configured) == before
    assert not screen.posted


async def test_a_judge_that_is_none_is_not_saved(session: Session, file: Path) -> None:
    screen = FakeSettingsScreen(session, file, "judge")
    before = content(file)
    screen.editor.check_save_and_apply_setting("judge", "foo")
    await screen.settle()
    assert screen.message.startswith("not saved: unknown judge 'foo'; expected one of: offline, ")
    assert content(file) == before
    screen.editor.check_save_and_apply_setting("judge", "vllm:m")
    await screen.settle()
    assert 'judge = "vllm:m"' in content(file), "whether it answers is for the test of the judge"


async def test_only_what_stands_in_the_file_goes_back_to_the_default(
    session: Session, file: Path
) -> None:
    assert not FakeSettingsScreen(session, file, "judge").press("d")
    screen = FakeSettingsScreen(session, file, "concurrency")
    assert screen.press("d")
    await screen.settle()
    assert "concurrency" not in content(file)
    assert not screen.press("d")


async def test_without_a_chosen_setting_no_key_does_anything(session: Session, file: Path) -> None:
    screen = FakeSettingsScreen(session, file, None)
    assert not screen.press("e")
    assert not screen.press("d")
