"""ctrl+o and the palette: everything can be reached, by letters or by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.command import CommandPalette

from faithtui.tui import screen_catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.key_names import format_key
from faithtui.tui.screen.jump_letters import (
    JUMP_LETTERS,
    JumpLabel,
    JumpScreen,
    list_jump_targets,
    make_jump_codes,
)
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.driving import calm, opened, press, reviewing

SIZE = (120, 40)


@given(st.integers(0, 26 * 26))
def test_no_code_is_the_beginning_of_another(count: int) -> None:
    given_codes = make_jump_codes(count)
    assert len(given_codes) == len(set(given_codes)) == count
    singles = {code for code in given_codes if len(code) == 1}
    assert not any(code[0] in singles for code in given_codes if len(code) == 2)
    assert set("".join(given_codes)) <= set(JUMP_LETTERS)
    if count <= len(JUMP_LETTERS):
        assert len(singles) == count


@pytest.mark.thorough
async def test_every_pane_and_every_row_that_is_seen_gets_letters(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        panes = [each for each in screen.query_one(Panes).children if each.display]
        places = list_jump_targets(screen)
        await press(pilot, "ctrl+o")
        assert isinstance(app.screen, JumpScreen)
        assert len(app.screen.query(JumpLabel)) == len(places)
        assert len(places) >= len(panes) + len(screen.panes.claims.lines) // 2


@pytest.mark.thorough
async def test_typing_letters_goes_to_every_target(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        panes = [each for each in screen.query_one(Panes).children if each.display]
        for number, pane in enumerate(panes):
            await press(pilot, "ctrl+o", *make_jump_codes(len(list_jump_targets(screen)))[number])
            assert app.screen is screen
            assert screen.focused is pane
        rows = len(panes)
        at_last = [
            number
            for number, place in enumerate(list_jump_targets(screen))
            if number >= rows and place.at.x == screen.panes.claims.region.x
        ]
        in_claims = [
            number
            for number in at_last
            if list_jump_targets(screen)[number].at.y >= screen.panes.claims.content_region.y
        ]
        await press(
            pilot, "ctrl+o", *make_jump_codes(len(list_jump_targets(screen)))[in_claims[-1]]
        )
        assert screen.focused is screen.panes.claims
        assert screen.panes.claims.cursor > 0


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["escape", "f5", "1", "ctrl+o"])
async def test_any_other_key_closes_and_does_nothing_else(app: FaithApp, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        before = screen.focused
        await press(pilot, "ctrl+o", key)
        assert app.screen is screen
        assert screen.focused is before


@pytest.mark.thorough
async def test_a_row_of_a_list_is_reached(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        screen = app.screen
        places = list_jump_targets(screen)
        assert len(places) > 3
        await press(pilot, "ctrl+o", *make_jump_codes(len(places))[3])
        assert screen.query_one("#list").cursor == 1  # type: ignore[attr-defined]  # a list


@pytest.mark.parametrize("name", [*screen_catalog.SCREENS])
async def test_the_palette_has_every_action_in_words_with_its_key(app: FaithApp, name: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.show_screen(name)
        await calm(pilot)
        titles = [each.title for each in app.get_system_commands(app.screen)]
        assert len(titles) == len(set(titles))
        for each in app.screen.active_bindings.values():
            if each.binding.id and each.enabled:
                words, key = each.binding.description.casefold(), format_key(each.binding)
                named = [title for title in titles if title.casefold().startswith(f"{words}  (")]
                assert any(title.endswith(")") and key in title for title in named), words
        for other, entry in screen_catalog.SCREENS.items():
            assert f"go to {other}  (g {entry.letter})" in titles


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_both_keys_open_the_same_palette(app: FaithApp, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, key)
        assert isinstance(app.screen, CommandPalette)
        await press(pilot, *"settings", "enter")
        await calm(pilot)
        assert type(app.screen).__name__ == "SettingsScreen"
