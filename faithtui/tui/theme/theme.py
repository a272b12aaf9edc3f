"""Colours with a meaning. A letter always says the same, so nothing is lost without them.

The colours of verdicts differ in lightness as well as in hue, for users who do not tell red from
green, and every text keeps a contrast of at least 4.5 on every background it stands on, 7 in the
theme of high contrast. `tests/tui/theme/test_theme.py` computes both.
"""

from collections.abc import Mapping
from typing import Final

from textual.theme import Theme

_DARK: Final = {
    "verdict-good": "#7ad98f",
    "verdict-bad": "#ff8f80",
    "verdict-unsure": "#f2cf66",
    "human": "#8ec7ff",
    "quiet": "#a3acb6",
    "rule": "#56606b",
    "rule-focus": "#8ec7ff",
    "cursor": "#2b3f55",
    "cursor-quiet": "#262d35",
}
_LIGHT: Final = {
    "verdict-good": "#17672c",
    "verdict-bad": "#a3201a",
    "verdict-unsure": "#6b4b00",
    "human": "#0b4f9e",
    "quiet": "#4d5660",
    "rule": "#9aa3ad",
    "rule-focus": "#0b4f9e",
    "cursor": "#cfe3fa",
    "cursor-quiet": "#e6eaee",
}
_HIGH_CONTRAST: Final = {
    "verdict-good": "#5cff8d",
    "verdict-bad": "#ffa8a0",
    "verdict-unsure": "#ffe14d",
    "human": "#9ad5ff",
    "quiet": "#d5d5d5",
    "rule": "#b0b0b0",
    "rule-focus": "#ffffff",
    "cursor": "#00285a",
    "cursor-quiet": "#2a2a2a",
}
# Blue, orange and pale yellow stay apart for every common kind of colour blindness.
_COLOUR_BLIND: Final = {
    "verdict-good": "#56b4e9",
    "verdict-bad": "#ff8a3d",
    "verdict-unsure": "#f7efa0",
    "human": "#d9b8ff",
    "quiet": "#a9b2bc",
    "rule": "#56606b",
    "rule-focus": "#d9b8ff",
    "cursor": "#243140",
    "cursor-quiet": "#232930",
}


def _make_theme(
    name: str,
    colours: Mapping[str, str],
    *,
    dark: bool,
    foreground: str,
    background: str,
    surface: str,
    panel: str,
) -> Theme:
    """Make a theme whose own colours are those with a meaning."""
    return Theme(
        name=f"faithtui-{name}",
        primary=colours["human"],
        secondary=colours["rule-focus"],
        accent=colours["verdict-unsure"],
        warning=colours["verdict-unsure"],
        error=colours["verdict-bad"],
        success=colours["verdict-good"],
        foreground=foreground,
        background=background,
        surface=surface,
        panel=panel,
        dark=dark,
        variables=dict(colours),
    )


DARK: Final = _make_theme(
    "dark",
    _DARK,
    dark=True,
    foreground="#e4e7eb",
    background="#14181d",
    surface="#1b2026",
    panel="#242b33",
)
LIGHT: Final = _make_theme(
    "light",
    _LIGHT,
    dark=False,
    foreground="#1b2026",
    background="#fbfbfa",
    surface="#f1f2f3",
    panel="#e6e8ea",
)
HIGH_CONTRAST: Final = _make_theme(
    "high-contrast",
    _HIGH_CONTRAST,
    dark=True,
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
)
COLOUR_BLIND: Final = _make_theme(
    "colour-blind",
    _COLOUR_BLIND,
    dark=True,
    foreground="#e4e7eb",
    background="#14181d",
    surface="#1b2026",
    panel="#242b33",
)

THEMES: Final = {
    "dark": DARK,
    "light": LIGHT,
    "high-contrast": HIGH_CONTRAST,
    "colour-blind": COLOUR_BLIND,
}
"""Themes by the word the settings use."""
OWN_NAMES: Final = frozenset(theme.name for theme in THEMES.values())
"""Names under which Textual knows them."""


def get_default_variables(dark: bool) -> dict[str, str]:
    """Give our variables for a theme that does not have them."""
    return dict(_DARK if dark else _LIGHT)
