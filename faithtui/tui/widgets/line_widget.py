"""What all line-drawn widgets share: looks become styles, lines become strips."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.widget import Widget

from faithtui.tui.theme.lines import Line, Piece
from faithtui.tui.widgets.key_clicks import find_pressed_keys, name_active_keys
from faithtui.tui.widgets.line_cache import LineCache

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


class LineWidget(Widget):
    """A widget that draws `Line` values. Mix in before the Textual base class."""

    _styles: dict[str, Style] | None = None
    """Styles by look, and `""` for the widget's own; None after the theme or a state changed.
    Textual works them out again for every line, which costs more than drawing it."""
    _combined_styles: dict[tuple[Style, str], Style] | None = None
    """Styles by what is below them and look; None as well then."""

    @abstractmethod
    def line_at(self, y: int) -> tuple[Line, Style]:
        """Give a line of the content, and what its pieces are drawn over."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw what changed, with the frame."""
        if not isinstance(self._styles_cache, LineCache):
            self._styles_cache = LineCache(self.make_segments)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw a line without the frame."""
        width = self.content_size.width
        return Strip(self.make_segments(y, width), width)

    def make_segments(self, y: int, width: int) -> list[Segment]:
        """Draw a line exactly `width` cells wide."""
        line, base = self.line_at(y)
        segments = []
        room = width
        for text, look in line.pieces:
            if text:
                segments.append(Segment(text, self._style_over(base, look) if look else base))
                room -= cell_len(text)
        if room > 0:
            segments.append(Segment(" " * room, base))
        return segments if room >= 0 else Segment.adjust_line_length(segments, width, base)

    def on_click(self, event: events.Click) -> None:
        """Press the keys that are drawn under the mouse."""
        for key in self._list_keys_at(event.get_content_offset(self)):
            self.app.post_message(key)

    def focus_on_click(self) -> bool:
        """Leave the focus where it is when a key is clicked: the key is about what has it."""
        return not self._list_keys_at(self._mouse_offset())

    def find_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the keys that a click on a line presses; see `find_pressed_keys`."""
        return find_pressed_keys(pieces, x, active)

    def _list_keys_at(self, at: Offset | None) -> tuple[events.Key, ...]:
        if at is None or not 0 <= at.y < self.content_size.height:
            return ()
        line, _ = self.line_at(at.y)
        if not any("key" in look for _, look in line.pieces):
            return ()
        return self.find_keys(line.pieces, at.x, name_active_keys(self.screen))

    def _mouse_offset(self) -> Offset | None:
        """Give the cell of the content under the mouse; None: it is not over the content."""
        inside = self.content_region
        at = self.app.mouse_position
        return at - inside.offset if inside.contains_point(at) else None

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

    def _style_over(self, base: Style, look: str) -> Style:
        if self._combined_styles is None:
            self._combined_styles = {}
        style = self._combined_styles.get((base, look))
        if style is None:
            style = self._combined_styles[base, look] = base + self.style_of(look)
        return style

    def notify_style_update(self) -> None:
        """Forget styles when the theme or a state of the widget changed."""
        super().notify_style_update()
        self._styles = self._combined_styles = None
        # Lines are kept as they were painted, with the filters of that time.
        self._styles_cache.clear()
        self.refresh()

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
