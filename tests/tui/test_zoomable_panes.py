"""The area of panes: where they stand, and how often that is computed."""

from collections.abc import Callable

from textual.app import App, ComposeResult
from textual.geometry import Size

from faithtui.tui.theme.layouts import Box, PaneLayout
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.zoomable_panes import Panes


class PanesApp(App[None]):
    """Two panes beside each other, the first as wide as `share` of a hundred says."""

    def __init__(self) -> None:
        super().__init__()
        self.share = 50
        self.computed: list[Size] = []

    def make_layout_function(self) -> Callable[[int, int], PaneLayout]:
        def lay_out(width: int, height: int) -> PaneLayout:
            self.computed.append(Size(width, height))
            first = width * self.share // 100
            return {"a": Box(0, 0, first, height), "b": Box(first, 0, width - first, height)}

        return lay_out

    def compose(self) -> ComposeResult:
        """Make them."""
        yield Panes(Pane(id="a"), Pane(id="b"), layout_function=self.make_layout_function())


async def test_a_layout_is_computed_once_for_each_change() -> None:
    app = PanesApp()
    async with app.run_test(size=(80, 24)) as pilot:
        panes = app.query_one(Panes)
        app.computed.clear()
        app.share = 25
        panes.set_layout_function(app.make_layout_function())
        await pilot.pause()
        assert app.query_one("#a").size.width == 20
        assert panes.is_shown_unzoomed("b")
        assert app.computed == [Size(80, 24)]
        app.computed.clear()
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert app.query_one("#a").size.width == 25
        assert app.computed == [Size(100, 30)]


async def test_what_a_layout_depends_on_counts_when_panes_are_placed_anew() -> None:
    app = PanesApp()
    async with app.run_test(size=(80, 24)) as pilot:
        panes = app.query_one(Panes)
        app.share = 0
        panes.recompute_layout()
        await pilot.pause()
        assert [pane.display for pane in panes.children] == [False, True]
        panes.zoom_pane("a")
        await pilot.pause()
        assert [pane.display for pane in panes.children] == [True, False]
        assert panes.is_shown_unzoomed("b")
        panes.zoom_pane(None)
        await pilot.pause()
        assert [pane.display for pane in panes.children] == [False, True]
