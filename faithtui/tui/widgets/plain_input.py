"""A line to type in that draws nothing but visible characters, whatever is pasted into it."""

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from faithtui.domain.text.visible_text import make_visible_line

MOST_TYPED = 2_000
"""Characters of a line that is typed: each key draws all of it anew."""
_MOST_SUBJECT = 30
"""Characters of what a note is on."""


def can_be_typed(text: str) -> bool:
    """Whether a text comes out of such a line as it went in: it is short, and all of it is visible.

    Line ends are not, and would come out as the characters that stand for them.
    """
    return len(text) <= MOST_TYPED and make_visible_line(text) == text


class PlainInput(Input):
    """An `Input` whose value passes the same function as every other text."""

    @dataclass
    class FocusMoved(Message):
        """The keys go to another widget now. Not sent when the terminal loses the focus."""

        line: "PlainInput"

        @property
        def control(self) -> "PlainInput":
            """The line."""
            return self.line

    def on_mount(self) -> None:
        """Take no more than can be drawn at every key."""
        self.max_length = MOST_TYPED

    def on_paste(self, event: events.Paste) -> None:
        """Paste all lines as one, up to what fits, and say what does not: Textual takes the first.

        Textual drops a paste that is too long without a word.
        """
        event.stop()
        event.prevent_default()
        lines = event.text.splitlines()
        if len(lines) > 1:
            lines = [line.strip() for line in lines if line.strip()]
        text = make_visible_line(" ".join(lines))
        room = MOST_TYPED - len(self.value) + len(self.selected_text)
        if len(text) > room:
            self.notify(
                f"This line takes {MOST_TYPED:,} characters: {max(room, 0):,} of the "
                f"{len(text):,} pasted ones fit, and the rest was cut",
                severity="warning",
                markup=False,
            )
        if text and room > 0:
            self.replace(text[:room], *self.selection)

    def on_blur(self) -> None:
        """Report that the keys go elsewhere."""
        if self.app.app_focus:
            self.post_message(self.FocusMoved(self))

    def validate_value(self, value: str) -> str:
        """Make what was typed, pasted or loaded visible."""
        return make_visible_line(value)


class NoteInput(PlainInput):
    """A line for a note: the footer names its keys while it is used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "save note", tooltip="Save the note", id="note.save"),
        Binding(
            "escape",
            "drop",
            "drop note",
            tooltip="Leave the note as it was",
            id="note.drop",
        ),
    ]

    _subject = ""

    def name_subject(self, words: str) -> None:
        """Name what the note is on, such as `claim 4`, before what is typed."""
        self._subject = f" note on {make_visible_line(words)[:_MOST_SUBJECT]}: "
        self.styles.padding = (0, 1, 0, cell_len(self._subject))
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the name into the room that is left free for it: Textual draws an input alone."""
        found = super().render_lines(crop)
        if found and crop.y == 0:
            subject = Strip([Segment(self._subject, self.rich_style + Style(bold=True))])
            subject = subject.crop(crop.x, crop.right)
            found[0] = Strip.join([subject, found[0].crop(subject.cell_length)])
        return found

    def action_drop(self) -> None:
        """Let the screen close the line: it knows what was there before."""
        raise SkipAction
