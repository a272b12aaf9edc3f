"""The line that notes of review are typed on: it takes any paste."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from faithtui.domain.limits import NOTE
from faithtui.tui.widgets.plain_input import MOST_TYPED, NoteInput


class NoteLine(NoteInput):
    """A line for a note. A long paste, or one of several lines, is held beside what is typed."""

    @dataclass
    class Dropped(Message):
        """What was typed is not wanted."""

    held = ""
    """What was pasted and is more than a line can show; saved with the note."""

    def on_paste(self, event: events.Paste) -> None:
        """Hold what does not go into a line: Textual would take its first line, or nothing."""
        text = event.text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        if "\n" not in text and len(self.value) + len(text) <= MOST_TYPED:
            return
        event.stop()
        event.prevent_default()
        whole = self.join_held_and_typed_note(text)
        problem = NOTE.find_size_problem(len(whole))
        if problem is not None:
            self.notify(f"{problem}: nothing was pasted", severity="warning", markup=False)
            return
        self.value, self.held = "", whole
        lines = whole.count("\n") + 1
        self.placeholder = (
            f"{len(whole):,} characters in {lines:,} line{'' if lines == 1 else 's'} pasted: "
            "enter saves them with what you type after them, escape drops them"
        )

    def join_held_and_typed_note(self, text: str) -> str:
        """Give what is held, what is typed and some more text as one note."""
        return "\n".join(each for each in (self.held, self.value, text) if each)

    def drop_held_text(self) -> None:
        """Hold nothing any more."""
        self.held = ""
        self.placeholder = "enter saves it, escape drops it"

    def action_drop(self) -> None:
        """Report that what was typed is not wanted."""
        self.post_message(self.Dropped())
