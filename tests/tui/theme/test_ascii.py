"""Everything can be drawn with ASCII, as wide as it was."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from faithtui.tui.app import FaithApp
from faithtui.tui.theme.ascii import to_ascii, wants_ascii
from tests.tui.building import NOON
from tests.tui.driving import opened, press, screen_text


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Mn", "Me", "Cf")), max_size=30))
def test_ascii_is_as_wide_as_the_text_it_stands_for(text: str) -> None:
    plain = to_ascii(text)
    assert plain.isascii()
    assert len(plain) == cell_len(text)


def test_what_screens_draw_keeps_its_shape() -> None:
    assert to_ascii("┏━ Runs ─┐│ 0.90→0.80 · …▒█░") == "+- Runs -+| 0.90>0.80 . ~%#."
    assert to_ascii("café 日本") == "cafe ????"


@pytest.mark.parametrize(
    ("chosen", "environment", "wanted"),
    [
        (True, {"LANG": "en_GB.UTF-8"}, True),
        (False, {"LANG": "en_GB.ISO-8859-1"}, False),
        (None, {"LANG": "en_GB.UTF-8"}, False),
        (None, {"LANG": "en_GB.utf8"}, False),
        (None, {"LANG": "en_GB.ISO-8859-1"}, True),
        (None, {"LC_ALL": "de_DE.ISO-8859-15@euro", "LANG": "de_DE.UTF-8"}, True),
        (None, {"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, False),
        (None, {"LANG": "en_GB"}, False),
    ],
)
def test_the_setting_goes_before_the_encoding(
    chosen: bool | None, environment: dict[str, str], wanted: bool
) -> None:
    assert wants_ascii(chosen, environment) is wanted


@pytest.mark.thorough
async def test_no_screen_draws_anything_but_ascii(store_path: Path) -> None:
    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, ascii=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        for keys in ("", "enter enter", "g a", "g p", "g m", "g s", "?", "escape ctrl+p"):
            await press(pilot, *keys.split())
            text = screen_text(app)
            assert text.isascii(), (keys, [each for each in text if not each.isascii()])
            assert "+-" in text


async def test_lines_that_are_kept_are_drawn_anew_when_the_characters_change(
    store_path: Path,
) -> None:
    """26 lines of the list of runs were Unicode before, and 16 stayed so."""
    app = FaithApp(store_path, reviewer="ann", now=lambda: NOON, ascii=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        assert not screen_text(app).isascii()
        app.appearance.set_theme_and_ascii(None, ascii=True)
        await pilot.pause()
        assert screen_text(app).isascii()
        app.appearance.set_theme_and_ascii(None, ascii=False)
        await pilot.pause()
        assert not screen_text(app).isascii()
