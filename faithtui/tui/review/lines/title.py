"""Where a reviewer is, in the title of the review screen."""

from faithtui.tui.review.lines.verdict import conversation_score
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.samples.queue import QueueCursor
from faithtui.tui.theme.lines import Piece, escape_line, width_of

LEAST_NAME = 8
"""Cells of a conversation's name below which it is left out of the title."""
SHOWN_ON_PURPOSE = "SHOWN ON PURPOSE, counts in no figure"
SHOWN_IN_SHORT = "SHOWN, counts in no figure"
"""Of a claim of a blind queue that is served with the judge's verdict."""
ROOM_FOR_PURPOSE = 90
"""Cells of the title from which the longer of both is written."""


def title_pieces(
    looked: ReviewState, cursor: QueueCursor | None, room: int, *, blind: bool
) -> tuple[list[Piece], list[Piece]]:
    """Name run, queue, conversation and claim, and say what of the judge is shown.

    Args:
        looked: What is looked at.
        cursor: The queue that is worked through.
        room: Cells of the title that are free.
        blind: Whether the judge is hidden.

    Returns:
        The left and the right of the title.
    """
    view, claim = looked.view, looked.claim
    where = f" > {looked.spec.units[0]} {claim.number}/{len(view.claims)}" if claim else ""
    is_shown = cursor is not None and claim is not None and blind and claim.id in cursor.queue.shown
    right = [
        Piece(SHOWN_ON_PURPOSE if room >= ROOM_FOR_PURPOSE else SHOWN_IN_SHORT, "warn strong")
        if is_shown
        else Piece("BLIND" if blind else "JUDGE SHOWN", "human strong" if blind else "warn strong")
    ]
    if not view.is_blind:
        right += [
            Piece("  per interaction " if looked.per_interaction else "  score ", "quiet"),
            Piece(conversation_score(view, looked.per_interaction), "strong"),
        ]
    run = f"  #{view.run.id} > "
    if cursor is not None:
        queue, done = cursor.queue, len(cursor.answered_claims)
        kind = ", not a random sample" if queue.is_convenience else ""
        run += f"{escape_line(queue.title, limit=30).text}{kind} {done}/{len(queue.entries)} > "
    room -= width_of(right) + len(run) + len(where) + 3
    if room >= LEAST_NAME:
        name = escape_line(view.item.key, limit=room)
    else:
        # Where one is counts for more than the conversation's name, and than the run's number.
        run, name = run.removesuffix(" > "), Piece("")
        if room < -len(" > "):
            run = run.partition(" > ")[2]
            run, where = (f"  {run}", where) if run else ("", where.replace(" > ", "  ", 1))
    return [Piece(run, "quiet"), name, Piece(where, "quiet")], right
