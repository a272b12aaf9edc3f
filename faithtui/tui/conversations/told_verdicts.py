"""Rows of conversations whose counts tell the judge's verdict on each claim: all are alike.

Whoever has had such a row on the screen knows what the judge says there, as if the review had been
open. Other counts tell of no single claim.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.domain.ids import ItemId
    from faithtui.store.records import ItemRow


def tells_every_verdict(row: "ItemRow") -> bool:
    """Whether all verdicts of a conversation have one label."""
    return sum(count > 0 for count in row.labels.values()) == 1


class ToldVerdicts:
    """Records that the judge was in view where rows that were drawn told each verdict.

    Args:
        session: Who looks, and whether the judge is hidden.
        call_later: Calls something once what is being drawn is drawn.
    """

    def __init__(
        self, session: Session, call_later: Callable[[Callable[[], None]], object]
    ) -> None:
        self._session = session
        self._call_later = call_later
        self._known: set[tuple[str, ItemId]] = set()
        self._unrecorded: list[ItemId] = []

    def note_drawn_row(self, row: "ItemRow") -> None:
        """Take note of a row that is drawn; once for each reviewer."""
        key = self._session.reviewer, row.id
        if self._session.is_blind or key in self._known or not tells_every_verdict(row):
            return
        self._known.add(key)
        if not self._unrecorded:
            self._call_later(self._record)
        self._unrecorded.append(row.id)

    def _record(self) -> None:
        items, self._unrecorded = self._unrecorded, []
        self._session.record_exposure(items)
