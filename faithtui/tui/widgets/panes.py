"""The area of a screen in which panes stand as a plan says."""

from collections.abc import Callable
from functools import partial

from textual import events
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from faithtui.tui.theme.layouts import Plan, Planner, clip_plan, plan_alone


class PlanLayout(Layout):
    """Places children by id."""

    name = "plan"

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Place every child that the plan for this size knows."""
        plan = clip_plan(self._planner(size.width, size.height), size.width, size.height)
        return [
            WidgetPlacement(Region(*plan[child.id]), NULL_OFFSET, NULL_SPACING, child)
            for child in children
            if child.id is not None and child.id in plan
        ]


class Panes(Widget):
    """Holds panes, shows those that the plan for its size knows, and can enlarge one."""

    def __init__(
        self, *panes: Widget, planner: Planner, zoomed: Callable[[str], Planner] | None = None
    ) -> None:
        """Hold panes.

        Args:
            panes: The panes, each with an id.
            planner: Places them.
            zoomed: Makes what places them while one is enlarged; None: that one has all the room.
        """
        super().__init__(*panes, id="panes")
        self._usual = planner
        self._make_zoomed_planner = zoomed or (lambda pane: partial(plan_alone, pane))
        self._zoomed: str | None = None

    @property
    def layout(self) -> Layout:
        """Arrange by plan."""
        return PlanLayout(self._current_planner)

    @property
    def zoomed_id(self) -> str | None:
        """Id of the enlarged pane."""
        return self._zoomed

    def set_planner(self, planner: Planner, zoomed: Callable[[str], Planner] | None = None) -> None:
        """Place panes by another plan from now on."""
        before = self._current_planner
        self._usual = planner
        if zoomed is not None:
            self._make_zoomed_planner = zoomed
        width, height = self.size
        if before(width, height) != self._current_planner(width, height):
            self.place_panes_anew()

    def is_shown_unzoomed(self, pane: str) -> bool:
        """Whether a pane is seen while none is enlarged."""
        return pane in self._usual(*self.size)

    def place_panes_anew(self) -> None:
        """Place panes anew, where what the plan depends on has changed."""
        if self.size:
            self._show_planned(self.size)
        # A widget that is laid out again forgets the places in what is around it, not its own.
        self.children[0].refresh(layout=True)

    def zoom_pane(self, pane: str | None) -> None:
        """Enlarge a pane, or give each its place again."""
        self._zoomed = pane
        self.place_panes_anew()

    def on_resize(self, event: events.Resize) -> None:
        """Show what the new size has room for."""
        self._show_planned(event.size)

    @property
    def _current_planner(self) -> Planner:
        if self._zoomed is None:
            return self._usual
        return self._make_zoomed_planner(self._zoomed)

    def _show_planned(self, size: Size) -> None:
        plan: Plan = clip_plan(
            self._current_planner(size.width, size.height), size.width, size.height
        )
        for pane in self.children:
            pane.display = pane.id in plan
        focused = self.screen.focused
        if focused is not None and focused.parent is self and not focused.display:
            first = next((pane for pane in self.children if pane.display and pane.can_focus), None)
            self.screen.set_focus(first)
