"""Lines of the windows of a conversation: what was asked in each, what it holds, its score."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.scores import format_parts_left_out_of_mean
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review.position import ReviewPosition, has_no_reviewer_verdict
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    escape_line,
    fit_text,
    make_line,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


TURNS_LOOKED_BACK = 6
"""Turns at the end of a window among which its last question is looked for."""
TEXT_FROM = 64
"""Cells from which what was asked stands beside the numbers of a window, else below them."""


def window_list_lines(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", width: int
) -> list[Line]:
    """List windows with what was asked last in them, what they hold and scores.

    The first entry is all of them.
    """
    units = spec.units[1] if len(spec.units[1]) <= 6 else "held"
    head = Piece(_window_columns("", "turns", units, "open", "score"), "quiet")
    asked = Piece("  the window's last question" if width >= TEXT_FROM else "", "quiet")
    lines = [make_line(*truncate_pieces([head, asked], width))]
    scores, corrected = view.item.scores, view.item.corrected
    lines += _window_rows(
        0,
        focus.window is None,
        "all",
        format_turn_numbers(tuple(turn.position for turn in view.turns)),
        view.claims,
        fmt.HIDDEN
        if view.is_blind
        else fmt.get_soundness_mark(view.item.integrity)
        + fmt.format_score_change(
            scores.windowed if scores else None, corrected.windowed if corrected else None
        ),
        "",
        width,
    )
    said = {turn.position: turn for turn in view.turns}
    listed = {claim.id: claim for claim in view.claims}
    for row, window in enumerate(view.windows, start=1):
        asked_last = [
            said[turn].content
            for turn in window.turns[-TURNS_LOOKED_BACK:]
            if turn in said and said[turn].role == "user"
        ]
        lines += _window_rows(
            row,
            focus.window == window.position,
            f"w{window.position + 1}",
            format_turn_numbers(window.turns) + (" !" if window.without_context else ""),
            [listed[claim] for claim in window.claims if claim in listed],
            fmt.HIDDEN
            if view.is_blind
            else fmt.format_score_change(window.score, window.corrected),
            asked_last[-1] if asked_last else "",
            width,
        )
    if scores is not None and not view.is_blind:
        left_out = format_parts_left_out_of_mean(
            scores.windowed.undefined, scores.windowed.skipped, len(view.windows)
        )
        if left_out:
            lines += wrap([Piece(f"{left_out}: in no mean", "warn")], width, first=[Piece(" ")])
    if any(window.without_context for window in view.windows):
        lines.append(make_line(Piece(" ! no context was retrieved", "quiet")))
    return lines


def format_turn_numbers(turns: tuple[int, ...]) -> str:
    """Name turns by their numbers on screen: `3`, `1-6`, `none`."""
    if not turns:
        return "none"
    first, last = turns[0] + 1, turns[-1] + 1
    return f"{first}" if first == last else f"{first}-{last}"


def _window_rows(
    row: int,
    here: bool,
    name: str,
    turns: str,
    held: Sequence[ClaimView],
    score: str,
    asked: str,
    width: int,
) -> list[Line]:
    left = sum(has_no_reviewer_verdict(claim) for claim in held)
    words = str(left) if left else "done" if held else ""
    numbers = _window_columns(name, turns, str(len(held)), words, score)
    first = make_line((">" if here else " ") + numbers[1:], row=row)
    if not asked:
        return [first]
    text = escape_line(asked, "quiet", limit=200)
    if width >= TEXT_FROM:
        pieces = truncate_pieces([*first.pieces, Piece("  "), text], width - 1)
        return [make_line(*pieces, row=row)]
    below = truncate_pieces([Piece("     "), text], width - 1)
    return [first, make_line(*below, row=row)]


def _window_columns(name: str, turns: str, claims: str, left: str, score: str) -> str:
    return (
        f" {fit_text(name, 4)}{fit_text(turns, 8)}{fit_text(claims, 6, right=True)}"
        f"{fit_text(left, 5, right=True)}{fit_text(score, 11, right=True)}"
    )
