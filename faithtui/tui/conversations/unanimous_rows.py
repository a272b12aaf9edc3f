"""Rows of conversations whose counts reveal the judge's verdict on each claim: all are alike.

Whoever opens a conversation from such a row knows what the judge says there. Nobody remembers all
rows of a list, so that having had one on the screen alone is no exposure; other counts tell of no
single claim.
"""

from typing import TYPE_CHECKING

from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.store.records import ItemRow


def has_equal_verdicts(row: "ItemRow") -> bool:
    """Whether all verdicts of a conversation have one label."""
    return sum(count > 0 for count in row.labels.values()) == 1


def note_painted_list_row(session: Session, row: "ItemRow") -> None:
    """Take note of a row that is drawn with its counts, for when its conversation is opened."""
    if not session.is_blind and has_equal_verdicts(row):
        session.remember_verdicts_known_from_list(row.id)
