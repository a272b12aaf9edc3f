"""Framing of prepared lines: what Textual does for every line, done once for all of a paint.

Textual looks up border, outline, padding, hatch, tint and colours of a widget for each line, and
makes several strips of it. A key in review draws fifty lines anew, and that was most of its time.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.segment import Segment
from textual._border import get_box
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.css.styles import StylesBase
from textual.geometry import Region, Size, Spacing
from textual.strip import Strip
from textual.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget

SegmentMaker = Callable[[int, int], list[Segment]]
"""Makes a line of the content: its number, and its width in cells, which it has exactly."""


class _Frame(NamedTuple):
    """What stands beside every line of the content."""

    top: int
    """Lines above the content."""
    left: Sequence[Segment]
    right: Sequence[Segment]


_ASKER = StylesCache()
"""Asks for the styles of frames in place of each widget's own cache."""


class FramedLineRenderer(StylesCache):
    """Draws the lines of a widget with their frame; what it drew last is kept until it changes.

    Lines above and below the content, and widgets with more than a border around it, are left to
    Textual.

    Args:
        make: Makes the lines.
    """

    def __init__(self, make: SegmentMaker) -> None:
        super().__init__()
        self._make = make
        self._frame: _Frame | None = None
        self._is_frame_known = False
        self._whole: tuple[Region, list[Strip]] | None = None
        """What was given last; None after something changed."""

    def get_inner_outer(  # type: ignore[override]  # there it is a cached function
        self, base_background: Color, background: Color
    ) -> tuple[Style, Style]:
        """Give the styles inside and outside of the border.

        Textual keeps the answers for each asker, and with this one its widget, screen and app.
        """
        return _ASKER.get_inner_outer(base_background, background)

    def clear(self) -> None:
        """Forget all lines."""
        super().clear()
        self._whole = None

    def render_widget(self, widget: "Widget", crop: Region) -> list[Strip]:
        """Draw the lines that changed, and look at the styles once for all of them.

        Textual asks every widget at every paint, wherever on the screen it is.
        """
        if self._whole is not None and not self._dirty_lines and self._whole[0] == crop:
            return self._whole[1]
        self._is_frame_known = False
        strips = super().render_widget(widget, crop)
        self._whole = crop, strips
        return strips

    def render_line(
        self,
        styles: StylesBase,
        y: int,
        size: Size,
        content_size: Size,
        padding: Spacing,
        base_background: Color,
        background: Color,
        *others: Any,
    ) -> Strip:
        """Draw a line of the content, or let Textual draw one around it."""
        if not self._is_frame_known:
            self._is_frame_known = True
            opacity = others[3]
            self._frame = _make_frame(styles, padding, base_background, background, opacity)
        frame = self._frame
        if frame is None or not 0 <= y - frame.top < content_size.height:
            return super().render_line(
                styles, y, size, content_size, padding, base_background, background, *others
            )
        line = self._make(y - frame.top, content_size.width)
        return Strip([*frame.left, *line, *frame.right], size.width)


def _make_frame(
    styles: StylesBase, padding: Spacing, base_background: Color, background: Color, opacity: float
) -> _Frame | None:
    """Make what stands beside a line; None: there is more around it than a border."""
    effects = any(map(styles.has_rule, ("hatch", "tint", "text_opacity"))) or opacity != 1.0
    if effects or any(padding) or any(edge for edge, _ in styles.outline):
        return None
    (top, _), (right, right_color), _, (left, left_color) = styles.border
    inner = Style(background=base_background + background)
    outer = Style(background=base_background)

    def make_side(edge: str, color: Color, place: int) -> Sequence[Segment]:
        if not edge:
            return ()
        style = Style(foreground=base_background + color)
        return (get_box(edge, inner, outer, style)[1][place],)

    return _Frame(1 if top else 0, make_side(left, left_color, 0), make_side(right, right_color, 2))
