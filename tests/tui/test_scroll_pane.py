"""A pane of lines: what it shows after its size changed."""

from collections.abc import Sequence

from textual import events
from textual.app import App, ComposeResult

from faithtui.tui.theme.lines import Line, Piece, make_line
from faithtui.tui.widgets.component_styles import COMPONENTS
from faithtui.tui.widgets.scroll_pane import Pane, RowPane


class PaneApp(App[None]):
    """Shows lines that begin further down where the pane is high."""

    COMPONENT_CLASSES = COMPONENTS
    CSS = "Pane { overflow-y: scroll; scrollbar-size: 0 0; }"

    def compose(self) -> ComposeResult:
        yield Pane(id="lines")

    def build_lines(self, width: int) -> Sequence[Line]:
        pane = self.query_one("#lines", Pane)
        before = 20 if pane.scrollable_content_region.height > 20 else 0
        pane.set_pinned_and_scroll_lines(0, before)
        return [make_line(Piece(f"{number}")) for number in range(before + 100)]


async def test_a_pane_begins_at_its_top_again_where_another_size_has_another_top() -> None:
    app = PaneApp()
    async with app.run_test(size=(60, 40)) as pilot:
        pane = app.query_one("#lines", Pane)
        pane.show(app.build_lines, keep=False)
        await pilot.pause()
        assert pane.scroll_offset.y == 20
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert pane.scroll_offset.y == 0
        await pilot.resize_terminal(60, 40)
        await pilot.pause()
        assert pane.scroll_offset.y == 20


class RowPaneApp(App[None]):
    """Shows a list with a head and a sum."""

    COMPONENT_CLASSES = COMPONENTS
    CSS = "Pane { border: solid red; overflow-y: scroll; scrollbar-size: 0 0; }"

    def compose(self) -> ComposeResult:
        yield RowPane(id="rows")


async def test_a_list_counts_its_entries_and_not_the_lines_of_heads_and_sums() -> None:
    app = RowPaneApp()
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one("#rows", RowPane)
        entries = [make_line(Piece(f"{number}"), row=number) for number in range(20)]
        pane.show(lambda _: [make_line(Piece("head")), *entries, make_line(Piece("sum"))])
        await pilot.pause()
        assert str(pane.border_subtitle) == "1-9 of 20"
        pane.action_end()
        await pilot.pause()
        assert str(pane.border_subtitle) == "12-20 of 20", "the sum is seen"
        pane.scroll_relative(y=-1, animate=False)
        await pilot.pause()
        assert str(pane.border_subtitle) == "11-20 of 20 · more below"


async def test_a_second_click_opens_what_the_first_one_scrolled_from_under_the_mouse() -> None:
    app = RowPaneApp()
    chosen: list[int] = []
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one("#rows", RowPane)
        entries = [make_line(Piece(f"{number}"), row=number) for number in range(12)]
        lines = [*entries, *[make_line(Piece("sum"))] * 4]
        pane.show(lambda _: lines)
        pane.action_choose = lambda: chosen.append(pane.cursor)  # type: ignore[method-assign]
        pane.move_to(10)
        pane.scroll_to(y=2, animate=False)
        await pilot.pause()
        assert await pilot.click(pane, offset=(3, 10), times=2)
        await pilot.pause()
        assert pane.scroll_offset.y == 6, "the first click showed the sums below the last entry"
        assert chosen == [11]
        assert await pilot.click(pane, offset=(3, 10), times=2)
        assert chosen == [11], "a sum is no entry"
        assert await pilot.click(pane, offset=(3, 1), times=2)
        assert chosen == [11, 6]
        assert await pilot.click(pane, offset=(3, 1))
        later = events.Click(pane, 3, 2, 0, 0, 1, False, False, False, 3, 2, None, 2)
        later.time += 10
        pane.on_click(later)
        assert (pane.cursor, chosen) == (7, [11, 6]), "its first click was on another pane"


async def test_a_page_below_lines_that_stay_leaves_out_none() -> None:
    app = RowPaneApp()
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one("#rows", RowPane)

        def build_lines(_width: int) -> list[Line]:
            pane.set_pinned_and_scroll_lines(3, 0, lambda index: make_line(Piece(f"…{index}")))
            return [make_line(Piece(f"{number}")) for number in range(40)]

        pane.show(build_lines)
        await pilot.pause()
        last = pane.get_line_index_at(pane.scrollable_content_region.height - 1)
        Pane.action_page_down(pane)
        await pilot.pause()
        assert pane.get_line_index_at(3) == last, "the line that the page before ended with"
        assert pane.get_line_and_style_at(3)[0].text == f"…{last}"
        assert pane.get_line_and_style_at(0)[0].text == "0"
