"""The line that notes are typed on: what it draws besides what is typed."""

from textual.app import App, ComposeResult
from textual.geometry import Region

from faithtui.tui.widgets.plain_input import NoteInput


class LineApp(App[None]):
    """Nothing but the line."""

    CSS = "NoteInput { height: 1; padding: 0 1; }"

    def compose(self) -> ComposeResult:
        yield NoteInput(compact=True)


async def test_what_the_note_is_on_stands_before_what_is_typed() -> None:
    app = LineApp()
    async with app.run_test(size=(80, 24)):
        line = app.query_one(NoteInput)
        line.name_subject("claim 3")
        line.value = "see " * 30
        (whole,) = line.render_lines(Region(0, 0, 80, 1))
        assert whole.text.startswith(" note on claim 3: see see ")
        assert whole.cell_length == 80
        (part,) = line.render_lines(Region(9, 0, 20, 1))
        assert part.text == whole.text[9:29]
