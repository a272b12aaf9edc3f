"""Where a reviewer is, in the title of the review screen."""

from collections.abc import Iterator

from faithtui.tui.review.lines.verdict_lines import format_conversation_score
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.samples.queue import QueuePosition
from faithtui.tui.theme.lines import Piece, count_cells_of_pieces, escape_line, fit_text

LEAST_NAME = 8
"""Cells of a conversation's name below which it is left out of the title."""
SHOWN_ON_PURPOSE = "SHOWN ON PURPOSE, counts in no figure"
SHOWN_IN_SHORT = "SHOWN, counts in no figure"
"""Of a claim of a blind queue that is served with the judge's verdict."""
ROOM_FOR_PURPOSE = 90
"""Cells of the title from which the longer of both is written."""

_WIDEST_QUEUE = 30
"""Characters of a queue's name that are shown at most."""


def title_pieces(
    state: ReviewState, cursor: QueuePosition | None, room: int, *, blind: bool
) -> tuple[list[Piece], list[Piece]]:
    """Name run, queue, conversation and claim, and say what of the judge is shown.

    Args:
        state: What is looked at.
        cursor: The queue that is worked through.
        room: Cells of the title that are free.
        blind: Whether the judge is hidden.

    Returns:
        The left and the right of the title.
    """
    view, claim = state.view, state.claim
    where = f" > {state.spec.units[0]} {claim.number}/{len(view.claims)}" if claim else ""
    is_shown = cursor is not None and claim is not None and blind and claim.id in cursor.queue.shown
    right = [
        Piece(SHOWN_ON_PURPOSE if room >= ROOM_FOR_PURPOSE else SHOWN_IN_SHORT, "warn strong")
        if is_shown
        else Piece("BLIND" if blind else "JUDGE SHOWN", "human strong" if blind else "warn strong")
    ]
    if not view.is_blind:
        right += [
            Piece("  per interaction " if state.per_interaction else "  score ", "quiet"),
            Piece(format_conversation_score(view, state.per_interaction), "strong"),
        ]
    room -= count_cells_of_pieces(right) + 3
    heads = list(_list_titles(view.run.id, cursor))
    beside_name = f"  {heads[0]} > "
    left = room - count_cells_of_pieces([Piece(beside_name + where)])
    if left >= LEAST_NAME:
        name = escape_line(view.item.key, limit=left)
        return [Piece(beside_name, "quiet"), name, Piece(where, "quiet")], right
    # Where one is counts for more than the conversation's name, and than the run's number.
    left = room - len(where)
    fitting = [each for each in heads if count_cells_of_pieces([Piece(each)]) + 2 <= left]
    head = fitting[0] if fitting else _shorten_queue_name(cursor, left - 2)
    return [Piece(f"  {head}{where}" if head else where.replace(" > ", "  ", 1), "quiet")], right


def _list_titles(run: int, cursor: QueuePosition | None) -> Iterator[str]:
    """List ways to name run and queue, the longest first."""
    if cursor is None:
        yield f"#{run}"
        return
    queue = cursor.queue
    title, count = escape_line(queue.title, limit=_WIDEST_QUEUE).text, _format_done_of_total(cursor)
    if queue.is_convenience:
        yield f"#{run} > {title}, not a random sample {count}"
        yield f"{title}, not a random sample {count}"
    yield f"#{run} > {title} {count}"
    yield f"{title} {count}"


def _shorten_queue_name(cursor: QueuePosition | None, room: int) -> str:
    """Shorten the name of a queue, so that it is seen how much of it is done."""
    if cursor is None:
        return ""
    count = _format_done_of_total(cursor)
    left = room - len(count) - 1
    title = escape_line(cursor.queue.title, limit=_WIDEST_QUEUE).text
    return f"{fit_text(title, left)} {count}" if left >= 2 else count


def _format_done_of_total(cursor: QueuePosition) -> str:
    return f"{len(cursor.answered_claims)}/{len(cursor.queue.entries)}"
