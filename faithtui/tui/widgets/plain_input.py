"""A line to type in that draws nothing but visible characters, whatever is pasted into it."""

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.widgets import Input

from faithtui.domain.text.visible_text import make_visible_line

MOST_TYPED = 2_000
"""Characters of a line that is typed: each key draws all of it anew."""


def can_be_typed(text: str) -> bool:
    """Whether a text comes out of such a line as it went in: it is short, and all of it is visible.

    Line ends are not, and would come out as the characters that stand for them.
    """
    return len(text) <= MOST_TYPED and make_visible_line(text) == text


class PlainInput(Input):
    """An `Input` whose value passes the same function as every other text."""

    def on_mount(self) -> None:
        """Take no more than can be drawn at every key."""
        self.max_length = MOST_TYPED

    def on_paste(self, event: events.Paste) -> None:
        """Say that a paste is too long: Textual would drop it without a word."""
        line = event.text.partition("\n")[0]
        room = MOST_TYPED - len(self.value) + len(self.selected_text)
        if len(line) > room:
            event.stop()
            event.prevent_default()
            self.notify(
                f"{len(line):,} characters are too many for this line, which takes {MOST_TYPED:,}: "
                "nothing was pasted",
                severity="warning",
                markup=False,
            )

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

    def action_drop(self) -> None:
        """Let the screen close the line: it knows what was there before."""
        raise SkipAction
