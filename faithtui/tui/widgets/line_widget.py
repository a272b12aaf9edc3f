"""What all line-drawn widgets share: looks become styles, lines become strips."""

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from faithtui.tui.theme.lines import Line

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
    "quote-good",
    "quote-bad",
    "mark",
    "claim",
)
"""Names of looks; each is a component class `look--NAME`, coloured in app.tcss."""

COMPONENTS = {*(f"look--{name}" for name in LOOKS), "drawn--cursor", "drawn--cursor-quiet"}
"""Component classes of what is drawn. The app has them and not each widget: Textual works out the
rules of every component class of every widget whenever one is mounted, resized or focused."""


class LineWidget(Widget):
    """A widget that draws `Line` values. Mix in before the Textual base class."""

    _styles: dict[str, Style] | None = None
    """Styles by look, and `""` for the widget's own; None after the theme or a state changed.
    Textual works them out again for every line, which costs more than drawing it."""

    @property
    def base_style(self) -> Style:
        """The widget's own colours."""
        return self._cache_style("", lambda: self.rich_style)

    def component_style(self, name: str) -> Style:
        """The colours of a component class."""
        return self._cache_style(f".{name}", lambda: self._get_component_style(name))

    def style_of(self, look: str) -> Style:
        """Combine the styles of all looks named, without a background of their own."""
        return self._cache_style(look, lambda: self._combine_styles(look))

    def strip_of(self, line: Line, width: int, base: Style) -> Strip:
        """Draw a line exactly `width` cells wide, over the base style."""
        segments = [
            Segment(piece.text, base + self.style_of(piece.look) if piece.look else base)
            for piece in line.pieces
            if piece.text
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def notify_style_update(self) -> None:
        """Forget styles when the theme or a state of the widget changed."""
        super().notify_style_update()
        self._styles = None

    def _combine_styles(self, look: str) -> Style:
        style = Style.null()
        for name in look.split():
            style += self._get_component_style(f"look--{name}")
        return style

    def _get_component_style(self, name: str) -> Style:
        """Give what a component class sets, and nothing of what is behind it."""
        return self.app.get_component_styles(name).partial_rich_style

    def _cache_style(self, key: str, make: Callable[[], Style]) -> Style:
        if self._styles is None:
            self._styles = {}
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = make()
        return style
