"""`c` and `t`: the store is checked, the judge is tried."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from faithtui.tui.session import Session
from faithtui.tui.settings.setting_checks import SettingChecks
from faithtui.tui.settings.setting_lines import SettingsFacts
from faithtui.tui.settings.settings_screen import SettingsScreen
from tests.tui.driving import calm, press, status, text_of, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.settings.test_settings_screen import SIZE, Make, at


@pytest.mark.thorough
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


@pytest.mark.thorough
async def test_the_judge_that_is_set_is_tried_and_what_came_of_it_is_said(make: Make) -> None:
    app = make()
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge")
        assert "ctrl+t asks it two small questions" in text_of(app, "values")
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: screen.facts.trial is not None)
        await calm(pilot)
        assert "judges the three claims of this test right" in text_of(app, "values")
        assert "the judge works" in status(app)


@pytest.mark.thorough
async def test_a_judge_that_cannot_be_asked_says_what_to_do(make: Make) -> None:
    app = make({"LANG": "C.UTF-8", "FAITHTUI_JUDGE": "openai:m"})
    async with app.run_test(size=SIZE) as pilot:
        screen = await at(pilot, app, "Judge")
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: screen.facts.trial is not None)
        await calm(pilot)
        assert "set the environment variable OPENAI_API_KEY" in text_of(app, "values")
        assert "the judge does not work" in status(app)


# On a screen that is not drawn


class FakeSettingsScreen(FakeScreen):
    """A settings screen with one section chosen."""

    def __init__(self, session: Session, section: str) -> None:
        super().__init__(session)
        self.selected_section = SimpleNamespace(title=section)
        self.facts = SettingsFacts(store=session.store_path, version="", keys=session.keys)
        self.checks = SettingChecks(cast(SettingsScreen, self))
        self.add(self.checks)

    def show_facts(self, facts: SettingsFacts) -> None:
        self.facts = facts


@pytest.mark.parametrize(("section", "keys"), [("Storage", "c"), ("Judge", ""), ("Review", "")])
async def test_a_key_belongs_to_its_section(session: Session, section: str, keys: str) -> None:
    screen = FakeSettingsScreen(session, section)
    assert "".join(key for key in "ct" if screen.press(key)) == keys, "no judge is set here"
    await screen.settle()


async def test_a_sound_store_is_called_sound_and_problems_are_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = FakeSettingsScreen(session, "Storage")
    assert screen.press("c")
    assert screen.message == "checking the store …"
    await screen.settle()
    assert screen.message == "the store is sound"
    assert not screen.facts.problems
    monkeypatch.setattr(session.store, "list_damage", lambda: ["a page is torn"])
    screen.press("c")
    await screen.settle()
    assert screen.message == "the store has problems"
    assert screen.facts.problems == ("a page is torn",)
