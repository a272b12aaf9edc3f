"""What all plots are drawn with: an SVG of one size, scales, axes and labels.

Colours come from classes that the page's style sheet knows; without it everything is drawn in the
colour of the text. Equal input gives equal bytes.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.markup import Child, Markup, element, joined
from faithtui.domain.text.sanitizing import visible_line

WIDTH = 640
"""Of every plot, in the units of its own coordinates."""
LABEL = 200
"""Room for names on the left."""
_LONGEST = 24
"""Cells of a name; wide characters take two."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values lie on a line."""

    low: float
    high: float
    start: float
    """Where `low` lies."""
    end: float

    def at(self, value: float) -> float:
        """Say where a value lies; one beyond an end lies on it."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def plot(id: str, title: str, alt: str, height: float, *parts: Child) -> Plot:
    """Put a picture together, with what it says for whoever does not see it."""
    return Plot(
        id,
        title,
        alt,
        element(
            "svg",
            element("title", title, id=f"{id}-title"),
            element("desc", alt, id=f"{id}-desc"),
            *parts,
            class_="plot",
            role="img",
            aria_labelledby=f"{id}-title {id}-desc",
            viewBox=f"0 0 {WIDTH} {height:g}",
            width=WIDTH,
            height=height,
        ),
    )


def words(
    x: float, y: float, text: str, anchor: str = "start", kind: str = "label", **more: str
) -> Markup:
    """Write a text; `anchor` is `start`, `middle` or `end`."""
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=kind, **more)


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> Markup:
    """Draw a line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", class_=kind)


def path(points: Iterable[tuple[float, float]], kind: str, *, closed: bool = False) -> Markup:
    """Draw a line through points, or the area inside it."""
    written = [f"{round(x, 2) + 0.0:g} {round(y, 2) + 0.0:g}" for x, y in points]
    found = f"M{' L'.join(written)}{' Z' if closed else ''}"
    if closed:
        return element("path", d=found, fill="currentColor", fill_opacity=0.15, class_=kind)
    return element("path", d=found, fill="none", stroke="currentColor", class_=kind)


def dot(x: float, y: float, radius: float, kind: str = "dot") -> Markup:
    """Draw a dot."""
    return element("circle", cx=x, cy=y, r=radius, fill="currentColor", class_=kind)


def box(
    x: float, y: float, width: float, height: float, kind: str, opacity: float | None = None
) -> Markup:
    """Draw a rectangle."""
    return element(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        fill="currentColor",
        fill_opacity=opacity,
        class_=kind,
    )


def interval(scale: Scale, y: float, low: float | None, high: float | None) -> Markup:
    """Draw a bar with ends from `low` to `high`; nothing where one is missing."""
    if low is None or high is None:
        return joined()
    left, right = scale.at(low), scale.at(high)
    return joined(
        line(left, y, right, y, "bar"),
        line(left, y - 4, left, y + 4, "bar"),
        line(right, y - 4, right, y + 4, "bar"),
    )


def across(scale: Scale, ticks: Sequence[float], top: float, bottom: float, name: str) -> Markup:
    """Draw an axis along the bottom with lines up from its ticks."""
    return joined(
        *(line(scale.at(tick), top, scale.at(tick), bottom, "grid") for tick in ticks),
        line(scale.start, bottom, scale.end, bottom),
        *(words(scale.at(tick), bottom + 16, f"{tick:g}", "middle", "tick") for tick in ticks),
        words((scale.start + scale.end) / 2, bottom + 36, name, "middle", "name"),
    )


def upright(scale: Scale, ticks: Sequence[float], left: float, right: float, name: str) -> Markup:
    """Draw an axis along the left with lines across from its ticks."""
    middle = (scale.start + scale.end) / 2
    turned = f"rotate(-90 {left - 44:g} {middle:g})"
    return joined(
        *(line(left, scale.at(tick), right, scale.at(tick), "grid") for tick in ticks),
        line(left, scale.start, left, scale.end),
        *(words(left - 8, scale.at(tick) + 4, f"{tick:g}", "end", "tick") for tick in ticks),
        words(left - 44, middle, name, "middle", "name", transform=turned),
    )


def fitting(text: str, cells: int = _LONGEST) -> str:
    """Cut a name to the room there is; wide characters take two cells."""
    shown = visible_line(text, 4 * cells)
    taken = 0
    for place, character in enumerate(shown):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > cells:
            return f"{shown[: max(0, place - 1)]}…"
    return shown
