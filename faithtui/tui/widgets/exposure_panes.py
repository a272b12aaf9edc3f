"""Panes that report which of their entries were on the screen.

What was only listed was not seen: whoever has had the judge's verdict on a conversation in view is
not blind there any more, and that must be said of no more conversations than it is true of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.message import Message

from faithtui.tui.theme.lines import Line
from faithtui.tui.widgets.scroll_pane import Builder, Pane, RowPane


class ExposurePane(Pane):
    """A pane that reports, once each, which entries were drawn."""

    @dataclass
    class RowsSeen(Message):
        """Entries came into view that had not been there since other ones were shown."""

        pane: "ExposurePane"
        rows: Sequence[int]

        @property
        def control(self) -> "ExposurePane":
            """The pane."""
            return self.pane

    def __init__(self, *, id: str, title: str = "", hint: str = "") -> None:
        super().__init__(id=id, title=title, hint=hint)
        self._seen_rows: set[int] = set()
        self._unreported_rows: list[int] = []

    def show(
        self,
        build: Builder,
        *,
        title: str | None = None,
        keep: bool = True,
        made_of: tuple[object, ...] = (),
    ) -> None:
        """Draw something else, whose entries are others."""
        self._seen_rows.clear()
        self._unreported_rows.clear()
        super().show(build, title=title, keep=keep, made_of=made_of)
        # What looks as before is not drawn again, but may be something else.
        self.refresh()

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line that is drawn, and remember its entry."""
        index = self.get_line_index_at(y)
        row = self.lines[index].row if index < len(self.lines) else None
        if row is not None and row not in self._seen_rows:
            self._seen_rows.add(row)
            if not self._unreported_rows:
                self.call_later(self._report_seen_rows)
            self._unreported_rows.append(row)
        return super().get_line_and_style_at(y)

    def _report_seen_rows(self) -> None:
        if self._unreported_rows:
            self.post_message(self.RowsSeen(self, tuple(self._unreported_rows)))
            self._unreported_rows.clear()


class ExposureRowPane(ExposurePane, RowPane):
    """The same for entries of which one is chosen."""
