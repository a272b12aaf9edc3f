"""Rows of the list of what is judged: a claim a row, and a column for each window that judged it.

Sliding windows become visible as a staircase: a claim has a letter in each window that holds it.
While the judge is hidden, or where there is no room, one column has the verdict of one window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_sets import LabelSet
from faithtui.store.records import ClaimView, ReviewView, WindowRow
from faithtui.tui.review.lines.claim_lines import (
    NO_EXTRAS,
    ClaimListExtras,
    index_passages_by_number,
    no_claims_lines,
    passage_name_pieces,
)
from faithtui.tui.review.position import (
    ReviewPosition,
    get_judge_verdict,
    has_no_reviewer_verdict,
    list_claims_of_window,
    translate_label,
)
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lazy_lines import LazyLines
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    fit_text,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

MATRIX_FROM = 44
"""Cells from which windows have columns."""
CELL = 4
"""Cells of a column: `w12`, `1.0` and a blank."""
NARROW_CELL = 3
"""The same where more windows then have a column; scores have one decimal there: `.5`."""
LEAST_TEXT = 24
"""Cells that columns leave to what a claim says."""
MOST_LINES = 4
"""Lines of one claim; all of it stands beside the list."""
ENOUGH_TEXT = 40
"""Cells below which one line of a claim does not tell what it says: it may take two, though fewer
claims are seen then."""
HEADED_FROM = 6
"""Lines of a pane from which it names its columns; the windows' turns and scores from ten."""


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where what stands in a row, the same for all rows of a list."""

    width: int
    digits: int
    """Cells of a claim's number."""
    windows: tuple[int, ...]
    """Positions of the windows that have a column; () for a single column of verdicts."""
    window_count: int
    cell: int
    """Cells of such a column."""
    lines: int
    """Lines that a claim may take."""
    heading: int
    """Lines above the rows: 0, 1, or 3 with the windows' turns and scores."""
    longer: frozenset[ClaimId] = frozenset()
    """Claims that may take one line more, as there is room for it."""

    def get_most_lines(self, claim: ClaimView) -> int:
        """Give how many lines a claim may take."""
        return self.lines + (claim.id in self.longer)

    @property
    def text_start(self) -> int:
        """Cells before what a claim says: number, verdict where there is one column, label."""
        return self.digits + (6 if self.windows else 8)

    @property
    def text_width(self) -> int:
        """Cells for what a claim says, beside the columns."""
        return max(1, self.width - self.text_start - self.columns_width)

    @property
    def columns_width(self) -> int:
        """Cells of the columns, which the first line of a claim alone has, and a blank."""
        return self.cell * len(self.windows) + 1


@dataclass(frozen=True, slots=True)
class ClaimRows:
    """The lines of a list."""

    lines: LazyLines
    heading: int = 0
    """So many of the first lines stay at the top."""


def choose_row_layout(
    view: ReviewView, focus: ReviewPosition, width: int, height: int, spec: "MetricSpec"
) -> RowLayout:
    """Choose what a row shows: as much of each claim as lets all of them be seen.

    Of more windows than there is room for, those around the chosen one, or the one in which the
    chosen claim was judged first, have a column.
    """
    digits = len(str(len(view.claims)))
    heading = 0 if height < HEADED_FROM else 1
    windows: tuple[int, ...] = ()
    cell = CELL
    if width >= MATRIX_FROM and view.windows and not view.is_blind:
        room = width - digits - 6 - LEAST_TEXT
        if len(view.windows) < 10 and room < CELL * len(view.windows):
            cell = NARROW_CELL
        most = max(1, room // cell)
        at = focus.window
        if at is None:
            chosen = next((claim for claim in view.claims if claim.id == focus.claim), None)
            at = chosen.first_window_verdict.window if chosen is not None else 0
        start = max(0, min(at // most * most, len(view.windows) - most))
        windows = tuple(range(start, min(len(view.windows), start + most)))
        heading = 3 if height >= 10 else heading
    layout = RowLayout(width, digits, windows, len(view.windows), cell, 1, heading)
    if spec.units[0] == "answer":
        return layout
    claims = list_claims_of_window(view, focus.window)
    layout = replace(layout, lines=_find_max_lines_per_claim(claims, layout, height))
    return replace(layout, longer=_list_claims_for_spare_lines(claims, layout, height))


def _find_max_lines_per_claim(claims: Sequence[ClaimView], layout: RowLayout, height: int) -> int:
    """Count the lines that a claim may take so that all claims are seen; short ones take less."""
    room = height - layout.heading
    least = 2 if layout.windows and layout.text_width < ENOUGH_TEXT and room >= 8 else 1
    most = max(least, min(MOST_LINES, room // max(1, len(claims))))
    while most < MOST_LINES and len(claims) <= room:
        wrapped = (_wrap_words(each.text, "", layout, most + 1) for each in claims)
        if sum(map(len, wrapped)) > room:
            break
        most += 1
    return most


def _list_claims_for_spare_lines(
    claims: Sequence[ClaimView], layout: RowLayout, height: int
) -> frozenset[ClaimId]:
    """List the claims, from the first on, that take the lines which would stay empty."""
    documents = [claim.document for claim in claims if claim.document is not None]
    heads = sum(before != each for before, each in pairwise([None, *documents]))
    room = height - layout.heading - heads
    if layout.lines >= MOST_LINES or len(claims) > room:
        return frozenset()
    spare = room - sum(_count_claim_lines(claim, layout) for claim in claims)
    longer: list[ClaimId] = []
    for claim in claims:
        if len(longer) >= spare:
            break
        if len(_wrap_words(claim.text, "", layout, layout.lines + 1)) > layout.lines:
            longer.append(claim.id)
    return frozenset(longer)


def claim_list_lines(
    view: ReviewView,
    focus: ReviewPosition,
    spec: "MetricSpec",
    layout: RowLayout,
    extras: ClaimListExtras = NO_EXTRAS,
) -> ClaimRows:
    """List what is judged: number, the annotator's letter, words, the judge's letters.

    Statements stand below the passage they belong to. None is marked as the chosen one:
    `highlight_row_at_cursor` does that, for much less than making all lines again. Lines of claims
    are made when they are drawn: a long conversation has a thousand.
    """
    claims = list_claims_of_window(view, focus.window)
    if not claims:
        none = no_claims_lines(view, focus, spec, layout.width, extras.keys)
        return ClaimRows(LazyLines(none))
    passages = index_passages_by_number(view)
    lines = LazyLines(heading_lines(view, focus, spec, layout))
    document: int | None = None
    for row, claim in enumerate(claims):
        if claim.document is not None and claim.document != document:
            name = passage_name_pieces(claim.document, passages.get(claim.document))
            lines.add_line(Line(tuple(truncate_pieces([Piece(" "), *name], layout.width))))
        document = claim.document
        lines.add_entry(
            row,
            _count_claim_lines(claim, layout),
            partial(_claim_lines, view, claim, row, focus, spec.labels, layout, extras),
        )
    return ClaimRows(lines, layout.heading)


def heading_lines(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", layout: RowLayout
) -> list[Line]:
    """Name the columns, with the last turn and the score of each window below its name."""
    if not layout.heading:
        return []
    verdict = "" if layout.windows else "J "
    head = f" {'#':>{layout.digits}} {verdict}you {spec.units[0]}"
    shown = [view.windows[window] for window in layout.windows]
    before = "‹" if layout.windows and layout.windows[0] > 0 else " "
    after = "›" if layout.windows and layout.windows[-1] < layout.window_count - 1 else " "
    names = [
        Piece(
            f"{f'w{row.position + 1}':>{layout.cell}}",
            "human strong" if row.position == focus.window else "quiet",
        )
        for row in shown
    ]
    lines = [_join_columns(head, [Piece(before, "quiet"), *names, Piece(after, "quiet")], layout)]
    if layout.heading > 1:
        turns = [
            Piece(f"{row.turns[-1] + 1 if row.turns else '':>{layout.cell}}", "quiet")
            for row in shown
        ]
        scores = [_window_score_piece(row, layout.cell) for row in shown]
        lines.append(_join_columns("to turn", [*turns, Piece(" ")], layout, right=True))
        lines.append(_join_columns("score", [*scores, Piece(" ")], layout, right=True))
    return lines


def highlight_row_at_cursor(lines: LazyLines, row: int) -> LazyLines:
    """Mark the chosen entry of a `claim_list_lines`."""
    if row not in lines.rows:
        return lines
    at = lines.rows.index(row)
    line = lines[at]
    return lines.replace_line(at, replace(line, pieces=(Piece(">", "human"), *line.pieces[1:])))


def judge_letter_piece(
    view: ReviewView, claim: ClaimView, window: int | None, labels: LabelSet
) -> Piece:
    """Give the judge's verdict: a letter, ! for nothing, a shade where it is hidden."""
    if claim.id in view.hidden:
        return Piece(fmt.HIDDEN_CELL, "quiet")
    label = get_judge_verdict(claim, window).label
    return Piece(fmt.get_label_letter(label, labels), f"strong {fmt.get_label_look(label, labels)}")


def reviewer_letter_piece(view: ReviewView, claim: ClaimView, labels: LabelSet) -> Piece:
    """Give what the reviewer said: a letter, a dot where only others said something, or a blank.

    A small letter is a verdict that is not counted in agreement: given in bulk, or the judge's
    accepted.
    """
    label = translate_label(view, claim.mine.verdict) if claim.mine else None
    if label is None:
        return Piece(" ") if claim.human is None else Piece("·", "quiet")
    letter = fmt.get_label_letter(label, labels)
    if claim.mine is not None and claim.mine.verdict is not None and not claim.mine.is_counted:
        return Piece(letter.lower(), "human")
    return Piece(letter, "human strong")


def make_reviewer_mark_piece(claim: ClaimView) -> Piece:
    """Give the mark of what a reviewer wrote down beside a verdict, the weightiest one."""
    mine = claim.mine
    if mine is None:
        return Piece(" ")
    if mine.flagged:
        return Piece("f", "warn strong")
    if mine.is_skipped:
        return Piece("s", "warn")
    if mine.unsure:
        return Piece("~", "warn")
    return Piece("*" if mine.note else " ", "human")


def _count_claim_lines(claim: ClaimView, layout: RowLayout) -> int:
    """Count the lines that a claim takes, as far as possible without wrapping its words."""
    text, most = claim.text, layout.get_most_lines(claim)
    if most == 1:
        return 1
    if most == 2 and _takes_a_cell_per_character(text):
        return 1 if len(text) <= layout.text_width else 2
    return len(_wrap_words(text, "", layout, most))


def _takes_a_cell_per_character(text: str) -> bool:
    """Whether a text is drawn as it is, and its last character is not a blank that is dropped."""
    return text.isascii() and text.isprintable() and "  " not in text and text == text.strip()


def _claim_lines(
    view: ReviewView,
    claim: ClaimView,
    row: int,
    focus: ReviewPosition,
    labels: LabelSet,
    layout: RowLayout,
    extras: ClaimListExtras,
) -> list[Line]:
    aside = extras.highlighted is not None and claim.id not in extras.highlighted
    look = "" if has_no_reviewer_verdict(claim) and not aside else "quiet"
    first = [
        Piece("=" if claim.id in extras.range_claims else " ", "human"),
        Piece(f"{claim.number:>{layout.digits}} ", look),
    ]
    if not layout.windows:
        first += [judge_letter_piece(view, claim, focus.window, labels), Piece(" ")]
    first += [
        reviewer_letter_piece(view, claim, labels),
        make_reviewer_mark_piece(claim),
        Piece("  "),
    ]
    words = _wrap_words(claim.text, look, layout, layout.get_most_lines(claim))
    cells = _judge_letter_cells_by_window(claim, labels, layout)
    lines = []
    for number, pieces in enumerate(words):
        start = first if number == 0 else [Piece(" " * layout.text_start)]
        gap = layout.text_width - count_cells_of_pieces(pieces)
        columns = [Piece(" " * gap), *cells, Piece(" ")] if number == 0 and cells else []
        lines.append(Line((*start, *pieces, *columns), row))
    return lines


def _judge_letter_cells_by_window(
    claim: ClaimView, labels: LabelSet, layout: RowLayout
) -> list[Piece]:
    """Give the judge's letter in each window that has a column, blank where it lacks the claim."""
    if not layout.windows:
        return []
    label_by_window = {each.window: each.label for each in claim.verdicts}
    return [
        Piece(
            f"{fmt.get_label_letter(label_by_window[window], labels):>{layout.cell}}",
            f"strong {fmt.get_label_look(label_by_window[window], labels)}",
        )
        if window in label_by_window
        else Piece(" " * layout.cell)
        for window in layout.windows
    ]


def _window_score_piece(row: WindowRow, cell: int) -> Piece:
    """Write a window's score in a cell, with overrides where there are any: `.50`, `1.0`.

    A narrow cell has one decimal, and a blank: `.50.43` would be read as one number. What is
    below 1 does not become 1.
    """
    value = row.corrected.value
    if value is None:
        return Piece(f"{'–':>{cell}}", "quiet")
    if cell > NARROW_CELL:
        text = f"{value:.2f}".removeprefix("0") if value < 0.995 else "1.0"
    else:
        text = f"{min(value, 0.9):.1f}".removeprefix("0") if value < 0.995 else "1"
    changed = row.corrected.value != row.score.value
    return Piece(f"{text:>{cell}}", "human strong" if changed else "strong")


def _join_columns(
    head: str, columns: Sequence[Piece], layout: RowLayout, *, right: bool = False
) -> Line:
    room = layout.width - count_cells_of_pieces(columns)
    text = fit_text(head, room - 1, right=True) + " " if right else fit_text(head, room)
    return Line((Piece(text, "quiet"), *columns))


def _wrap_words(
    text: str, look: str, layout: RowLayout, most: int
) -> tuple[tuple[Piece, ...], ...]:
    """Wrap the words of a claim: its first line ends before the columns, others go below them."""
    return _wrap_words_beside_columns(text, look, layout.text_width, layout.columns_width - 1, most)


@lru_cache(maxsize=4096)
def _wrap_words_beside_columns(
    text: str, look: str, width: int, more: int, most: int
) -> tuple[tuple[Piece, ...], ...]:
    """Wrap words; kept, because a verdict changes one claim of hundreds.

    Args:
        text: The words.
        look: How they look.
        width: Cells of the first line.
        more: Cells that the others have more.
        most: Lines.
    """
    line_text = escape_line(text).text
    if most == 1:
        return ((Piece(fit_text(line_text, width), look),),)
    # Two lines are enough to see where the first one ends.
    first = wrap([Piece(line_text, look)], width, most=2)[0].pieces
    left = line_text[sum(len(each.text) for each in first) :].lstrip()
    if not left:
        return (first,)
    rest = wrap([Piece(left, look)], width + more, most=most - 1)
    return (first, *(each.pieces for each in rest))
