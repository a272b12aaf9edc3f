"""The area of a screen in which panes stand as a layout says."""

from collections.abc import Callable
from functools import partial

from textual import events
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from faithtui.tui.theme.layouts import LayoutFunction, PaneLayout, clip_layout, lay_out_alone


class PanesLayout(Layout):
    """Places children by id."""

    name = "panes"

    def __init__(self, get_layout: Callable[[Size], PaneLayout]) -> None:
        self._get_layout = get_layout

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Place every child that the layout for this size knows."""
        layout = self._get_layout(size)
        return [
            WidgetPlacement(Region(*layout[child.id]), NULL_OFFSET, NULL_SPACING, child)
            for child in children
            if child.id is not None and child.id in layout
        ]


class Panes(Widget):
    """Holds panes, shows those that the layout for its size knows, and can enlarge one."""

    def __init__(
        self,
        *panes: Widget,
        layout_function: LayoutFunction,
        zoomed: Callable[[str], LayoutFunction] | None = None,
    ) -> None:
        """Hold panes.

        Args:
            panes: The panes, each with an id.
            layout_function: Places them.
            zoomed: Makes what places them while one is enlarged; None: that one has all the room.
        """
        super().__init__(*panes, id="panes")
        self._usual = layout_function
        self._make_zoomed_layout_function = zoomed or (lambda pane: partial(lay_out_alone, pane))
        self._zoomed: str | None = None
        self._computed: tuple[Size, PaneLayout] | None = None
        """The layout for a size; None: what it depends on has changed."""

    @property
    def layout(self) -> Layout:
        """Arrange by layout."""
        return PanesLayout(self._get_layout)

    @property
    def zoomed_id(self) -> str | None:
        """Id of the enlarged pane."""
        return self._zoomed

    def set_layout_function(
        self, layout_function: LayoutFunction, zoomed: Callable[[str], LayoutFunction] | None = None
    ) -> None:
        """Place panes by another layout from now on."""
        before = self._get_layout(self.size)
        self._usual = layout_function
        if zoomed is not None:
            self._make_zoomed_layout_function = zoomed
        self._computed = None
        if before != self._get_layout(self.size):
            self._place_panes()

    def is_shown_unzoomed(self, pane: str) -> bool:
        """Whether a pane is seen while none is enlarged."""
        return pane in (
            self._get_layout(self.size) if self._zoomed is None else self._usual(*self.size)
        )

    def recompute_layout(self) -> None:
        """Place panes anew, where what the layout depends on has changed."""
        self._computed = None
        self._place_panes()

    def _place_panes(self) -> None:
        if self.size:
            self._show_laid_out(self.size)
        # A widget that is laid out again forgets the places in what is around it, not its own.
        self.children[0].refresh(layout=True)

    def zoom_pane(self, pane: str | None) -> None:
        """Enlarge a pane, or give each its place again."""
        if pane != self._zoomed:
            self.screen.refresh_bindings()
        self._zoomed = pane
        self.recompute_layout()

    def on_resize(self, event: events.Resize) -> None:
        """Show what the new size has room for."""
        self._show_laid_out(event.size)

    def _get_layout(self, size: Size) -> PaneLayout:
        """Give the layout for a size: computed once, as a change asks for it several times."""
        if self._computed is None or self._computed[0] != size:
            place = (
                self._usual
                if self._zoomed is None
                else self._make_zoomed_layout_function(self._zoomed)
            )
            self._computed = size, clip_layout(place(*size), *size)
        return self._computed[1]

    def _show_laid_out(self, size: Size) -> None:
        layout = self._get_layout(size)
        for pane in self.children:
            pane.display = pane.id in layout
        focused = self.screen.focused
        if focused is not None and focused.parent is self and not focused.display:
            first = next((pane for pane in self.children if pane.display and pane.can_focus), None)
            self.screen.set_focus(first)
