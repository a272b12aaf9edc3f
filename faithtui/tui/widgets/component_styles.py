"""Looks of one widget as styles, worked out once.

Textual works them out again for every line, which costs more than drawing it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from faithtui.tui.theme.lines import Line

if TYPE_CHECKING:
    from textual.widget import Widget

LOOKS = (
    "good",
    "bad",
    "unsure",
    "human",
    "quiet",
    "strong",
    "warn",
    "key",
    "quote",
    "near",
    "quote-good",
    "quote-bad",
    "mark",
    "claim",
)
"""Names of looks; each is a component class `look--NAME`, coloured in app.tcss."""

COMPONENTS = {*(f"look--{name}" for name in LOOKS), "drawn--cursor", "drawn--cursor-quiet"}
"""Component classes of what is drawn. The app has them and not each widget: Textual works out the
rules of every component class of every widget whenever one is mounted, resized or focused."""


class ComponentStyles:
    """Styles of the looks that a widget draws with, kept until its theme or state changes.

    Args:
        widget: The widget.
    """

    def __init__(self, widget: "Widget") -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}
        """By look, and `""` for the widget's own."""
        self._combined_styles: dict[tuple[Style, str], Style] = {}
        """By what is below them and look."""

    def forget_styles(self) -> None:
        """Forget all styles, as the theme or a state of the widget changed."""
        self._styles.clear()
        self._combined_styles.clear()

    @property
    def base_style(self) -> Style:
        """The widget's own colours."""
        return self._get_or_make_style("", lambda: self._widget.rich_style)

    def get_component_style(self, name: str) -> Style:
        """Give the colours of a component class."""
        return self._get_or_make_style(f".{name}", lambda: self._read_component(name))

    def get_look_style(self, look: str) -> Style:
        """Combine the styles of all looks named, without a background of their own."""
        return self._get_or_make_style(look, lambda: self._combine_styles(look))

    def make_segments(self, line: Line, base: Style, width: int) -> list[Segment]:
        """Draw a line exactly `width` cells wide over a style."""
        segments = []
        room = width
        for text, look in line.pieces:
            if text:
                segments.append(
                    Segment(text, self._get_look_over_base(base, look) if look else base)
                )
                room -= cell_len(text)
        if room > 0:
            segments.append(Segment(" " * room, base))
        return segments if room >= 0 else Segment.adjust_line_length(segments, width, base)

    def _get_look_over_base(self, base: Style, look: str) -> Style:
        style = self._combined_styles.get((base, look))
        if style is None:
            style = self._combined_styles[base, look] = base + self.get_look_style(look)
        return style

    def _combine_styles(self, look: str) -> Style:
        style = Style.null()
        for name in look.split():
            style += self._read_component(f"look--{name}")
        return style

    def _read_component(self, name: str) -> Style:
        """Give what a component class sets, and nothing of what is behind it."""
        return self._widget.app.get_component_styles(name).partial_rich_style

    def _get_or_make_style(self, key: str, make: Callable[[], Style]) -> Style:
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = make()
        return style
