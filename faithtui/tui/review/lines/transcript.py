"""Lines of a conversation: turns, the passages behind them, and what a metric does not read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from faithtui.domain.conversation import Image
from faithtui.store.records import ClaimView, ReviewView, TurnView
from faithtui.tui.review.lines.images import image_lines, image_numbers
from faithtui.tui.theme.lines import PANE_TEXT_LIMIT, Line, Piece, escape_line, escape_text, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


def transcript_lines(
    view: ReviewView,
    claim: ClaimView | None,
    spec: "MetricSpec",
    width: int,
    most: int = PANE_TEXT_LIMIT,
    *,
    whole: bool = False,
) -> tuple[list[Line], int]:
    """Show the conversation with the claim's words marked.

    Args:
        view: The conversation.
        claim: The claim; None marks nothing.
        spec: The run's metric.
        width: Cells of a line.
        most: Characters of a turn that are drawn.
        whole: Show the passages of user turns too, which stand nowhere else.

    Returns:
        The lines, and the index of the line where the claim's turn begins (0 without one).
    """
    lines: list[Line] = []
    at = 0
    judged = {turn for window in view.windows for turn in window.turns}
    numbers = image_numbers(view.turns)
    indent = [Piece(" " * 9)]
    for turn in view.turns:
        mine = claim is not None and turn.position == claim.turn
        if mine:
            at = len(lines)
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        if mine and claim is not None and claim.span is not None and claim.kind == "claim":
            span = claim.span
            pieces = [
                escape_text(turn.content[: span.start], most=most),
                Piece("«", "quote"),
                escape_text(turn.content[span.start : span.end], "quote", most),
                Piece("»", "quote"),
                escape_text(turn.content[span.end :], most=most),
            ]
        else:
            pieces = [escape_text(turn.content, "quiet" if turn.role == "user" else "", most)]
        lines += wrap(pieces, width - 1, first=first)
        lines += image_lines(turn.images, numbers, width - 1, indent)
        lines += _passage_number_lines(turn, claim if mine else None, numbers, spec, width)
        if whole and turn.role == "user":
            lines += _unused_passage_lines(turn, width, most)
        if judged and turn.position not in judged:
            lines += wrap([Piece("in no window: not judged", "warn")], width - 1, first=indent)
    return lines, at


def _passage_number_lines(
    turn: TurnView,
    claim: ClaimView | None,
    numbers: Mapping[Image, int],
    spec: "MetricSpec",
    width: int,
) -> list[Line]:
    """Name the passages of a turn by number, and say where the metric does not read them."""
    indent = [Piece(" " * 9)]
    documents = turn.documents or ()
    names = " ".join(f"P{document.number}" for document in documents)
    if turn.role == "user":
        if not documents:
            return []
        return wrap(
            [Piece(names, "quiet"), Piece(f" {explain_not_used(spec)}", "warn")],
            width - 1,
            first=indent,
        )
    if turn.documents is None:
        names = "context unknown"
    elif not documents:
        names = "retrieval returned nothing"
    pieces = [Piece(names, "quiet")]
    if claim is not None:
        where = f" in P{claim.document}" if claim.document is not None else ""
        pieces.append(Piece(f"  <- {spec.units[0]}{where}", "human"))
    lines = wrap(pieces, width - 1, first=indent)
    for document in documents:
        first = [*indent, Piece(f"P{document.number} ", "quiet")]
        lines += image_lines(document.images, numbers, width - 1, first)
    return lines


def explain_not_used(spec: "MetricSpec") -> str:
    """Say that a metric does not read a context."""
    return f"not used: this metric reads {spec.context_from}"


def _unused_passage_lines(turn: TurnView, width: int, most: int) -> list[Line]:
    """Show the passages of a turn that the metric does not read."""
    lines: list[Line] = []
    for document in turn.documents or ():
        source = [escape_line(f"{document.source}: ", "quiet", limit=62)] if document.source else []
        lines += wrap(
            [*source, escape_text(document.text, "quiet", most)],
            width - 1,
            first=[Piece(f"{'':9}P{document.number} ", "quiet")],
        )
    return lines
