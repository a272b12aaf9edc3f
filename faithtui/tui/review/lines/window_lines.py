"""Lines of the windows of a conversation: what was asked in each, what it holds, its score."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faithtui.domain.labels.label_sets import LabelSet
from faithtui.domain.scores import format_parts_left_out_of_mean
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review.position import ReviewPosition, has_no_reviewer_verdict
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    count_cells_of_pieces,
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
SCORE_ROOM = 11
"""Cells of the column of scores: `0.58→0.61` and blanks before it."""
TEXT_FROM = 64
"""Cells from which what was asked stands beside the numbers of a window, else below them."""


def window_list_lines(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", width: int
) -> list[Line]:
    """List windows with what was asked last in them, what they hold and scores.

    The first entry is all of them; a claim counts once there, with its home verdict.
    """
    units = spec.units[1] if len(spec.units[1]) <= 6 else "held"
    has_text = width >= TEXT_FROM
    counts = _count_verdicts(view) if has_text and not view.is_blind else None
    room = 0 if counts is None else _measure_width_of_counts(counts, spec.labels)
    letters = "·".join(each.letter for each in spec.labels.labels)
    head = _window_columns("", "turns", units, "open") + fit_text(
        f"  {letters}" if room else "", room
    )
    asked = "  the window's last question" if has_text else ""
    head += fit_text("score", SCORE_ROOM, right=True) + asked
    lines = [make_line(*truncate_pieces([Piece(head, "quiet")], width))]
    scores, corrected = view.item.scores, view.item.corrected
    lines += _window_rows(
        0,
        focus.window is None,
        "all",
        format_turn_numbers(tuple(turn.position for turn in view.turns)),
        view.claims,
        _format_counts(counts, None, spec.labels, room),
        fmt.HIDDEN
        if view.is_blind
        else fmt.get_soundness_mark(view.item.integrity)
        + fmt.format_score_change(
            scores.windowed if scores else None, corrected.windowed if corrected else None
        ),
        "",
        width,
    )
    turn_by_position = {turn.position: turn for turn in view.turns}
    listed = {claim.id: claim for claim in view.claims}
    for row, window in enumerate(view.windows, start=1):
        asked_last = [
            turn_by_position[turn].content
            for turn in window.turns[-TURNS_LOOKED_BACK:]
            if turn in turn_by_position and turn_by_position[turn].role == "user"
        ]
        lines += _window_rows(
            row,
            focus.window == window.position,
            f"w{window.position + 1}",
            format_turn_numbers(window.turns) + (" !" if window.without_context else ""),
            [listed[claim] for claim in window.claims if claim in listed],
            _format_counts(counts, window.position, spec.labels, room),
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
    counts: Sequence[Piece],
    score: str,
    asked: str,
    width: int,
) -> list[Line]:
    left = sum(has_no_reviewer_verdict(claim) for claim in held)
    words = str(left) if left else "done" if held else ""
    numbers = _window_columns(name, turns, str(len(held)), words)
    first = make_line(
        (">" if here else " ") + numbers[1:],
        *counts,
        fit_text(score, SCORE_ROOM, right=True),
        row=row,
    )
    if not asked:
        return [first]
    text = escape_line(asked, "quiet", limit=200)
    if width >= TEXT_FROM:
        pieces = truncate_pieces([*first.pieces, Piece("  "), text], width - 1)
        return [make_line(*pieces, row=row)]
    below = truncate_pieces([Piece("     "), text], width - 1)
    return [first, make_line(*below, row=row)]


def _window_columns(name: str, turns: str, claims: str, left: str) -> str:
    return (
        f" {fit_text(name, 4)}{fit_text(turns, 8)}{fit_text(claims, 6, right=True)}"
        f"{fit_text(left, 5, right=True)}"
    )


VerdictCounts = Mapping[int | None, Mapping[str | None, int]]
"""How often the judge gave each label, by window; None: of all claims, by their home verdicts."""


def _count_verdicts(view: ReviewView) -> VerdictCounts:
    counts: dict[int | None, Counter[str | None]] = {None: Counter()}
    for claim in view.claims:
        counts[None][claim.first_window_verdict.label] += 1
        for verdict in claim.verdicts:
            counts.setdefault(verdict.window, Counter())[verdict.label] += 1
    return counts


def _measure_width_of_counts(counts: VerdictCounts, labels: LabelSet) -> int:
    """Give the cells that the counts of verdicts need, with the blanks before them."""
    digits = [sum(len(str(each.get(name, 0))) for name in labels.names) for each in counts.values()]
    dots = len(labels.names) - 1
    return 2 + max(*digits, len(labels.names)) + dots


def _format_counts(
    counts: VerdictCounts | None, window: int | None, labels: LabelSet, room: int
) -> list[Piece]:
    """Draw how often the judge gave each label in a window; [] where that is not to be seen."""
    if counts is None:
        return []
    given = counts.get(window, {})
    pieces = [Piece("  ")]
    for name in labels.names:
        count = given.get(name, 0)
        pieces += [
            Piece("·" if len(pieces) > 1 else "", "quiet"),
            Piece(str(count), fmt.get_label_look(name, labels) if count else "quiet"),
        ]
    return [*pieces, Piece(" " * (room - count_cells_of_pieces(pieces)))]
