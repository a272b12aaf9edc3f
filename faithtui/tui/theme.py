"""Colours with a meaning. A letter always says the same, so nothing is lost without them.

The colours of verdicts differ in lightness as well as in hue, for people who do not tell red from
green, and keep a contrast of at least 4.5 on their background.
"""

from typing import Final

from textual.theme import Theme

_DARK_VERDICTS = {
    "verdict-good": "#7ad98f",
    "verdict-bad": "#ff8f80",
    "verdict-unsure": "#f2cf66",
    "human": "#8ec7ff",
    "quiet": "#9aa3ad",
    "rule": "#56606b",
    "rule-focus": "#8ec7ff",
    "cursor": "#2b3f55",
    "cursor-quiet": "#262d35",
}
_LIGHT_VERDICTS = {
    "verdict-good": "#17672c",
    "verdict-bad": "#a3201a",
    "verdict-unsure": "#775300",
    "human": "#0b4f9e",
    "quiet": "#56606b",
    "rule": "#9aa3ad",
    "rule-focus": "#0b4f9e",
    "cursor": "#cfe3fa",
    "cursor-quiet": "#e6eaee",
}

DARK: Final = Theme(
    name="faithtui-dark",
    primary="#8ec7ff",
    secondary="#5f87af",
    accent="#f2cf66",
    warning="#f2cf66",
    error="#ff8f80",
    success="#7ad98f",
    foreground="#e4e7eb",
    background="#14181d",
    surface="#1b2026",
    panel="#242b33",
    dark=True,
    variables=_DARK_VERDICTS,
)
LIGHT: Final = Theme(
    name="faithtui-light",
    primary="#0b4f9e",
    secondary="#3a6ea5",
    accent="#775300",
    warning="#775300",
    error="#a3201a",
    success="#17672c",
    foreground="#1b2026",
    background="#fbfbfa",
    surface="#f1f2f3",
    panel="#e6e8ea",
    dark=False,
    variables=_LIGHT_VERDICTS,
)

THEMES: Final = {"dark": DARK, "light": LIGHT}
"""Themes by the word the settings use."""


def meaning(dark: bool) -> dict[str, str]:
    """Give our variables for a theme that does not have them."""
    return dict(_DARK_VERDICTS if dark else _LIGHT_VERDICTS)
