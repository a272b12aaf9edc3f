"""Colours are told apart and read, with every common kind of sight."""

from itertools import combinations

import pytest
from textual.color import Color, Lab, rgb_to_lab
from textual.theme import Theme

from faithtui.tui.theme.theme import THEMES

VERDICTS = ("verdict-good", "verdict-bad", "verdict-unsure")
TEXTS = (*VERDICTS, "human", "quiet", "rule-focus")

# Simulated sight at full severity, on linear RGB: Machado, Oliveira and Fernandes, "A
# physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15 (6), 2009,
# table 1.
SIGHT = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
JUST_SEEN = 2.3
"""ΔE*ab (CIE 1976) of a just noticeable difference: Mahy et al., Color Res. Appl. 19, 1994."""
APART = 10 * JUST_SEEN
"""What verdicts keep from each other."""


def linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def encoded(value: float) -> float:
    clamped = min(1.0, max(0.0, value))
    return clamped * 12.92 if clamped <= 0.0031308 else 1.055 * clamped ** (1 / 2.4) - 0.055


def seen(colour: Color, sight: str) -> Color:
    """Give a colour as somebody with that sight sees it."""
    light = [linear(part / 255) for part in colour.rgb]
    rows = [sum(a * b for a, b in zip(row, light, strict=True)) for row in SIGHT[sight]]
    red, green, blue = (round(encoded(row) * 255) for row in rows)
    return Color(red, green, blue)


def distance(one: Color, other: Color) -> float:
    """ΔE*ab of 1976: the Euclidean distance in CIE L*a*b*."""
    a, b = rgb_to_lab(one), rgb_to_lab(other)
    assert isinstance(a, Lab)
    return float(((a.L - b.L) ** 2 + (a.a - b.a) ** 2 + (a.b - b.b) ** 2) ** 0.5)


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    red, green, blue = (linear(part / 255) for part in colour.rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """Contrast ratio as WCAG 2.2 defines it, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def backgrounds(theme: Theme) -> dict[str, Color]:
    named = {
        "background": theme.background,
        "surface": theme.surface,
        "panel": theme.panel,
        "cursor": theme.variables["cursor"],
        "cursor-quiet": theme.variables["cursor-quiet"],
    }
    return {name: Color.parse(value or "") for name, value in named.items()}


@pytest.mark.parametrize("name", THEMES)
def test_every_text_keeps_its_contrast_on_every_background(name: str) -> None:
    theme = THEMES[name]
    texts = {each: Color.parse(theme.variables[each]) for each in TEXTS}
    texts["foreground"] = Color.parse(theme.foreground or "")
    least = 7.0 if name == "high-contrast" else 4.5
    for text, colour in texts.items():
        for filter_context, behind in backgrounds(theme).items():
            assert contrast(colour, behind) >= least, (text, filter_context)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("one", "other"), list(combinations(VERDICTS, 2)))
def test_verdicts_stay_apart_for_the_colour_blind(sight: str, one: str, other: str) -> None:
    colours = THEMES["colour-blind"].variables
    pair = (seen(Color.parse(colours[each]), sight) for each in (one, other))
    assert distance(*pair) >= APART


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("one", "other"), list(combinations(VERDICTS, 2)))
def test_verdicts_are_apart_in_every_theme(name: str, one: str, other: str) -> None:
    colours = THEMES[name].variables
    assert distance(Color.parse(colours[one]), Color.parse(colours[other])) >= APART


def test_the_simulation_makes_red_and_green_alike() -> None:
    red, green = Color(200, 60, 50), Color(110, 125, 40)
    plain = distance(red, green)
    assert distance(seen(red, "deuteranopia"), seen(green, "deuteranopia")) < plain / 2
    assert distance(Color(255, 255, 255), Color(0, 0, 0)) == pytest.approx(100, abs=0.1)
    assert contrast(Color(255, 255, 255), Color(0, 0, 0)) == pytest.approx(21)
