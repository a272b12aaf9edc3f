"""Panes that tell which of their entries were on the screen.

What was only listed was not seen: whoever has had the judge's verdict on a conversation in view is
not blind there any more, and that must be said of no more conversations than it is true of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message
from textual.strip import Strip

from faithtui.tui.widgets.pane import Builder, Pane, RowPane


class WitnessPane(Pane):
    """A pane that tells, once each, which entries were drawn."""

    @dataclass
    class Drawn(Message):
        """Entries came into view that had not been there since other ones were shown."""

        pane: "WitnessPane"
        rows: Sequence[int]

        @property
        def control(self) -> "WitnessPane":
            """The pane."""
            return self.pane

    def __init__(self, *, id: str, title: str = "", hint: str = "") -> None:
        super().__init__(id=id, title=title, hint=hint)
        self._drawn: set[int] = set()
        self._untold: list[int] = []

    def show(
        self,
        build: Builder,
        *,
        title: str | None = None,
        keep: bool = True,
        made_of: tuple[object, ...] = (),
    ) -> None:
        """Draw something else, whose entries are others."""
        self._drawn.clear()
        self._untold.clear()
        super().show(build, title=title, keep=keep, made_of=made_of)
        # What looks as before is not drawn again, but may be something else.
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a line, and remember its entry."""
        index = self.scroll_offset.y + y
        row = self.lines[index].row if index < len(self.lines) else None
        if row is not None and row not in self._drawn:
            self._drawn.add(row)
            if not self._untold:
                self.call_later(self._tell)
            self._untold.append(row)
        return super().render_line(y)

    def _tell(self) -> None:
        if self._untold:
            self.post_message(self.Drawn(self, tuple(self._untold)))
            self._untold.clear()


class WitnessRowPane(WitnessPane, RowPane):
    """The same for entries of which one is chosen."""
