"""Lines of the windows of a conversation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.scores import format_left_out
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review.position import ReviewPosition, is_open, list_claims
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, Piece, fit_text, make_line, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


def window_list_lines(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", width: int
) -> list[Line]:
    """List windows with their turns, what they hold and scores; the first entry is all of them."""
    units = spec.units[1] if len(spec.units[1]) <= 6 else "held"
    head = _window_columns("", "turns", units, "open", "score", width)
    lines = [make_line(Piece(head, "quiet"))]
    scores, corrected = view.item.scores, view.item.corrected
    lines.append(
        _window_row(
            0,
            focus.window is None,
            "all",
            turns_of(tuple(turn.position for turn in view.turns)),
            view.claims,
            fmt.HIDDEN
            if view.is_blind
            else fmt.soundness_mark(view.item.integrity)
            + fmt.format_score_change(
                scores.windowed if scores else None, corrected.windowed if corrected else None
            ),
            width,
        )
    )
    for row, window in enumerate(view.windows, start=1):
        lines.append(
            _window_row(
                row,
                focus.window == window.position,
                f"w{window.position + 1}",
                turns_of(window.turns) + (" !" if window.without_context else ""),
                list_claims(view, window.position),
                fmt.HIDDEN
                if view.is_blind
                else fmt.format_score_change(window.score, window.corrected),
                width,
            )
        )
    if scores is not None and not view.is_blind:
        left_out = format_left_out(
            scores.windowed.undefined, scores.windowed.skipped, len(view.windows)
        )
        if left_out:
            lines += wrap([Piece(f"{left_out}: in no mean", "warn")], width, first=[Piece(" ")])
    if any(window.without_context for window in view.windows):
        lines.append(make_line(Piece(" ! no context was retrieved", "quiet")))
    return lines


def turns_of(turns: tuple[int, ...]) -> str:
    """Name turns by their numbers on screen: `3`, `1-6`, `none`."""
    if not turns:
        return "none"
    first, last = turns[0] + 1, turns[-1] + 1
    return f"{first}" if first == last else f"{first}-{last}"


def _window_row(
    row: int,
    here: bool,
    name: str,
    turns: str,
    held: Sequence[ClaimView],
    score: str,
    width: int,
) -> Line:
    left = sum(is_open(claim) for claim in held)
    text = _window_columns(
        name, turns, str(len(held)), str(left) if left else "done" if held else "", score, width
    )
    return make_line((">" if here else " ") + text[1:], row=row)


def _window_columns(name: str, turns: str, claims: str, left: str, score: str, width: int) -> str:
    room = width - 1 - 4 - 6 - 5
    last = max(10, min(14, room - 8))
    return (
        f" {fit_text(name, 4)}{fit_text(turns, room - last)}{fit_text(claims, 6, right=True)}"
        f"{fit_text(left, 5, right=True)}{fit_text(score, last, right=True)}"
    )
