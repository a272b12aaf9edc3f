"""Which entries of a pane were on the screen, reported once each.

What was only listed was not seen: whoever has had the judge's verdict on a conversation in view is
not blind there any more, and that must be said of no more conversations than it is true of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget


@dataclass
class RowsSeen(Message):
    """Entries came into view that had not been there since other ones were shown."""

    pane: Widget
    rows: Sequence[int]

    @property
    def control(self) -> Widget:
        """The pane."""
        return self.pane


class SeenRows:
    """Notes which entries a pane paints, and posts `RowsSeen` from it.

    Args:
        pane: The pane.
    """

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._seen: set[int] = set()
        self._unreported: list[int] = []

    def forget_rows(self) -> None:
        """Forget what was seen: the entries are others now."""
        self._seen.clear()
        self._unreported.clear()

    def note_painted_row(self, row: int | None) -> None:
        """Note that a line of an entry is painted; None: a line of no entry."""
        if row is None or row in self._seen:
            return
        self._seen.add(row)
        # One message for all entries of a paint: it is posted after the last of their lines.
        if not self._unreported:
            self._pane.call_later(self._report_rows)
        self._unreported.append(row)

    def _report_rows(self) -> None:
        if self._unreported:
            self._pane.post_message(RowsSeen(self._pane, tuple(self._unreported)))
            self._unreported.clear()
