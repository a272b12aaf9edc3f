"""Which conversation comes next for a reviewer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.ids import ConversationId, ItemId, RunId

if TYPE_CHECKING:
    from faithtui.store.store import Store

_AT_ONCE = 128


def open_item(
    store: "Store", queue: Sequence[ItemId], after: ItemId | None, direction: int
) -> ItemId | None:
    """Find the nearest conversation that has a claim without a verdict.

    Args:
        store: Where to look.
        queue: Conversations in the order of the list.
        after: Where to begin, itself left out; None: at the beginning.
        direction: 1 onwards, -1 back.

    Returns:
        The conversation, None when there is none on that side.
    """
    at = queue.index(after) if after in queue else -1
    ahead = queue[at + 1 :] if direction > 0 else queue[: max(at, 0)][::-1]
    for start in range(0, len(ahead), _AT_ONCE):
        part = ahead[start : start + _AT_ONCE]
        rows = {row.id: row for row in store.runs.item_rows(part)}
        for item in part:
            row = rows.get(item)
            if row is not None and row.labelled < row.claims:
                return item
    return None


def item_of(store: "Store", run: RunId, conversation: ConversationId) -> ItemId | None:
    """Find a conversation in a run; None when the run does not hold it."""
    queue = store.runs.item_ids(run, "number")
    for start in range(0, len(queue), _AT_ONCE):
        for row in store.runs.item_rows(queue[start : start + _AT_ONCE]):
            if row.conversation == conversation:
                return row.id
    return None
