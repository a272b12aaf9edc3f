"""What line-drawn widgets share: panes, bars, lists of many rows, labels."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from faithtui.tui.theme.lines import Line, Piece
from faithtui.tui.widgets.component_styles import ComponentStyles
from faithtui.tui.widgets.framed_line_renderer import FramedLineRenderer
from faithtui.tui.widgets.key_clicks import list_keys_at, list_keys_in_clicked_line, locate_mouse


class LineWidget(Widget):
    """A widget that draws `Line` values. Mix in before the Textual base class."""

    @cached_property
    def looks(self) -> ComponentStyles:
        """Its styles."""
        return ComponentStyles(self)

    @abstractmethod
    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line of the content, and what its pieces are drawn over."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw what changed, with the frame."""
        if not isinstance(self._styles_cache, FramedLineRenderer):
            self._styles_cache = FramedLineRenderer(self.make_segments)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw a line without the frame."""
        width = self.content_size.width
        return Strip(self.make_segments(y, width), width)

    def make_segments(self, y: int, width: int) -> list[Segment]:
        """Draw a line exactly `width` cells wide."""
        return self.looks.make_segments(*self.get_line_and_style_at(y), width)

    def on_click(self, event: events.Click) -> None:
        """Press the keys that are drawn under the mouse."""
        for key in list_keys_at(self, event.get_content_offset(self)):
            self.app.post_message(key)

    def focus_on_click(self) -> bool:
        """Leave the focus where it is when a key is clicked: the key is about what has it."""
        return not list_keys_at(self, locate_mouse(self))

    def list_clicked_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the keys that a click on a line presses; see `list_keys_in_clicked_line`."""
        return list_keys_in_clicked_line(pieces, x, active)

    def notify_style_update(self) -> None:
        """Forget styles when the theme or a state of the widget changed."""
        super().notify_style_update()
        self.looks.forget_styles()
        # Lines are kept as they were painted, with the filters of that time.
        self._styles_cache.clear()
        self.refresh()
