"""What all plots are drawn with: an SVG of one size, scales, axes and labels.

Colours come from classes that the page's style sheet knows; without it everything is drawn in the
colour of the text. Equal input gives equal bytes.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.markup import Child, Markup, concatenate_markup, make_element
from faithtui.domain.text.visible_text import make_visible_line

PLOT_WIDTH = 640
"""Of every plot, in the units of its own coordinates."""
LABEL_WIDTH = 200
"""Room for names on the left."""
_LONGEST = 24
"""Cells of a name; wide characters take two."""


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Where values lie on a line."""

    low: float
    high: float
    start: float
    """Where `low` lies."""
    end: float

    def to_position(self, value: float) -> float:
        """Say where a value lies; one beyond an end lies on it."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)


def make_plot(id: str, title: str, alt: str, height: float, *parts: Child) -> Plot:
    """Put a picture together, with what it says for whoever does not see it."""
    return Plot(
        id,
        title,
        alt,
        make_element(
            "svg",
            make_element("title", title, id=f"{id}-title"),
            make_element("desc", alt, id=f"{id}-desc"),
            *parts,
            class_="plot",
            role="img",
            aria_labelledby=f"{id}-title {id}-desc",
            viewBox=f"0 0 {PLOT_WIDTH} {height:g}",
            width=PLOT_WIDTH,
            height=height,
        ),
    )


def draw_text(
    x: float, y: float, text: str, anchor: str = "start", kind: str = "label", **more: str
) -> Markup:
    """Write a text; `anchor` is `start`, `middle` or `end`."""
    return make_element("text", text, x=x, y=y, text_anchor=anchor, class_=kind, **more)


def draw_line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> Markup:
    """Draw a line."""
    return make_element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", class_=kind)


def draw_path(points: Iterable[tuple[float, float]], kind: str, *, closed: bool = False) -> Markup:
    """Draw a line through points, or the area inside it."""
    written = [f"{round(x, 2) + 0.0:g} {round(y, 2) + 0.0:g}" for x, y in points]
    found = f"M{' L'.join(written)}{' Z' if closed else ''}"
    if closed:
        return make_element("path", d=found, fill="currentColor", fill_opacity=0.15, class_=kind)
    return make_element("path", d=found, fill="none", stroke="currentColor", class_=kind)


def draw_dot(x: float, y: float, radius: float, kind: str = "dot") -> Markup:
    """Draw a dot."""
    return make_element("circle", cx=x, cy=y, r=radius, fill="currentColor", class_=kind)


def draw_rectangle(
    x: float, y: float, width: float, height: float, kind: str, opacity: float | None = None
) -> Markup:
    """Draw a rectangle."""
    return make_element(
        "rect",
        x=x,
        y=y,
        width=width,
        height=height,
        fill="currentColor",
        fill_opacity=opacity,
        class_=kind,
    )


def draw_interval(scale: AxisScale, y: float, low: float | None, high: float | None) -> Markup:
    """Draw a bar with ends from `low` to `high`; nothing where one is missing."""
    if low is None or high is None:
        return concatenate_markup()
    left, right = scale.to_position(low), scale.to_position(high)
    return concatenate_markup(
        draw_line(left, y, right, y, "bar"),
        draw_line(left, y - 4, left, y + 4, "bar"),
        draw_line(right, y - 4, right, y + 4, "bar"),
    )


def draw_x_axis(
    scale: AxisScale, ticks: Sequence[float], top: float, bottom: float, name: str
) -> Markup:
    """Draw an axis along the bottom with lines up from its ticks."""
    return concatenate_markup(
        *(
            draw_line(scale.to_position(tick), top, scale.to_position(tick), bottom, "grid")
            for tick in ticks
        ),
        draw_line(scale.start, bottom, scale.end, bottom),
        *(
            draw_text(scale.to_position(tick), bottom + 16, f"{tick:g}", "middle", "tick")
            for tick in ticks
        ),
        draw_text((scale.start + scale.end) / 2, bottom + 36, name, "middle", "name"),
    )


def draw_y_axis(
    scale: AxisScale, ticks: Sequence[float], left: float, right: float, name: str
) -> Markup:
    """Draw an axis along the left with lines across from its ticks."""
    middle = (scale.start + scale.end) / 2
    turned = f"rotate(-90 {left - 44:g} {middle:g})"
    return concatenate_markup(
        *(
            draw_line(left, scale.to_position(tick), right, scale.to_position(tick), "grid")
            for tick in ticks
        ),
        draw_line(left, scale.start, left, scale.end),
        *(
            draw_text(left - 8, scale.to_position(tick) + 4, f"{tick:g}", "end", "tick")
            for tick in ticks
        ),
        draw_text(left - 44, middle, name, "middle", "name", transform=turned),
    )


def shorten_label(text: str, cells: int = _LONGEST) -> str:
    """Cut a name to the room there is; wide characters take two cells."""
    shown = make_visible_line(text, 4 * cells)
    place = _count_characters_that_fit(shown, cells)
    return shown if place == len(shown) else f"{shown[: max(0, place - 1)]}…"


def wrap_text(text: str, cells: int) -> list[str]:
    """Break a text into lines for the room there is; words that are longer are cut.

    Returns:
        Lines of at most so many cells, of which wide characters take two; [] of white space.
    """
    lines: list[str] = []
    for word in make_visible_line(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _count_characters_that_fit(longer, cells) == len(longer):
            lines[-1] = longer
            continue
        rest = word
        while rest:
            place = _count_characters_that_fit(rest, cells)
            lines.append(rest[:place])
            rest = rest[place:]
    return lines


def _count_characters_that_fit(text: str, cells: int) -> int:
    taken = 0
    for place, character in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > cells:
            return place
    return len(text)
