"""Lines of the table that puts all metrics of a conversation side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.store.records import (
    ComparisonAnswer,
    ComparisonCell,
    ComparisonRun,
    ComparisonView,
    ItemState,
)
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import format_unit_count
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    escape_text,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

NARROWEST = 13
"""Cells a column needs for `0.67→0.33` and the longest word of most titles."""
WIDEST = 26
HEAD_LINES = 3
"""Lines that the name of a metric may take."""
SPACED_FROM = 100
"""Cells from which answers are set apart by a blank line."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """What is looked at: a conversation as all metrics see it, and one cell of the table."""

    view: ComparisonView
    specs: "tuple[MetricSpec, ...]"
    """The metric of each run."""
    row: int
    column: int

    @property
    def answer(self) -> ComparisonAnswer | None:
        """The chosen answer; None: there is none."""
        return self.view.answers[self.row] if self.row < len(self.view.answers) else None

    @property
    def run(self) -> ComparisonRun | None:
        """The run of the chosen column; None: there is none."""
        return self.view.runs[self.column] if self.column < len(self.view.runs) else None


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where columns stand."""

    first: int
    """Run of the first column."""
    count: int
    """Runs there is room for."""
    size: int
    """Cells of each of their columns."""
    answer: int
    """Cells of the column of answers."""


def _lay_out_columns(compared: MetricComparison, width: int) -> _Layout:
    runs = len(compared.view.runs)
    count = max(1, min(runs, width // NARROWEST - 1))
    # Answers get what is left when columns are as wide as they need to be, and never less.
    size = max(1, min(WIDEST, (width - max(NARROWEST, width * 22 // 100)) // count))
    size = max(size, min(NARROWEST, width // (count + 1)))
    first = max(0, min(compared.column - count + 1, runs - count))
    return _Layout(first, count, size, width - size * count)


def format_comparison_table_lines(compared: MetricComparison, width: int) -> tuple[list[Line], int]:
    """Draw one row per answer and one column per run, as many as there is room for.

    Returns:
        The lines, and how many of them are headings.
    """
    layout = _lay_out_columns(compared, width)
    head = _head_lines(compared, layout)
    lines = list(head)
    for row, answer in enumerate(compared.view.answers):
        if row and width >= SPACED_FROM:
            lines.append(BLANK)
        lines += _format_answer_lines(compared, layout, row, answer)
    return lines, len(head)


def _head_lines(compared: MetricComparison, layout: _Layout) -> list[Line]:
    shown_runs = range(layout.first, layout.first + layout.count)
    names = {
        at: wrap([Piece(compared.specs[at].title)], layout.size - 1, most=HEAD_LINES)
        for at in shown_runs
        if at < len(compared.view.runs)
    }
    high = max((len(each) for each in names.values()), default=0)
    columns = []
    for at, name in names.items():
        chosen = at == compared.column
        run = compared.view.runs[at].run
        look = "key" if chosen else "strong"
        cells = [[Piece(each.text, look)] for each in name]
        cells += [[]] * (high - len(name))
        judge = escape_line(run.spec.judge_title, "quiet", limit=60)
        cells.append([Piece(f"#{run.id} ", look), judge])
        columns.append(cells)
    left: list[list[Piece]] = [[Piece(" answer", "quiet")], *([[]] * high)]
    before = layout.first
    after = len(compared.view.runs) - layout.first - layout.count
    if before:
        left[-1] = [Piece(f" ‹ {before} more", "warn")]
    if after > 0:
        left[-1] = [*left[-1], Piece(f" {after} more ›", "warn")]
    return [
        _join_columns(left[at], [cells[at] for cells in columns], layout, None)
        for at in range(high + 1)
    ]


def _format_answer_lines(
    compared: MetricComparison, layout: _Layout, row: int, answer: ComparisonAnswer
) -> list[Line]:
    here = row == compared.row
    first = [Piece(">" if here else " "), Piece(f"{answer.turn + 1} ", "quiet")]
    text = escape_line(answer.content, limit=400)
    if answer.human is None:
        wrapped = wrap([text], layout.answer - 1, first=first, most=2)
        left = [list(each.pieces) for each in wrapped]
    else:
        left = [[*first, text]]
        look = fmt.get_label_look(answer.human, FAITHFULNESS)
        word = escape_line(answer.human, f"{look} strong", limit=12)
        left.append([Piece("  human ", "quiet"), word])
    columns: list[list[list[Piece]]] = []
    for at in range(layout.first, min(layout.first + layout.count, len(compared.view.runs))):
        chosen = here and at == compared.column
        columns.append(_format_verdict_cell_lines(compared, at, answer.cells[at], chosen))
    high = max([len(left), *(len(cells) for cells in columns)])
    return [
        _join_columns(
            left[at] if at < len(left) else [],
            [cells[at] if at < len(cells) else [] for cells in columns],
            layout,
            row,
        )
        for at in range(high)
    ]


def _format_verdict_cell_lines(
    compared: MetricComparison, at: int, cell: ComparisonCell | None, chosen: bool
) -> list[list[Piece]]:
    mark = Piece(">" if chosen else " ", "key")
    spec = compared.specs[at]
    if cell is None:
        return [[mark, _explain_missing_verdict_of_run(compared.view.runs[at])]]
    if _has_nothing_judged(cell) and cell.corrected == cell.score:
        # A score of nothing would pass for one of something.
        words = (
            f"no {spec.units[1]}" if cell.score.value is not None else fmt.format_score(cell.score)
        )
        return [[mark, Piece(words, "quiet")]]
    look = "key" if chosen else "strong"
    sound = fmt.get_soundness_mark(compared.view.runs[at].item.integrity)
    score = [mark, Piece(sound + fmt.format_score(cell.score), look)]
    if cell.corrected != cell.score:
        score.append(Piece(f"→{fmt.format_score(cell.corrected)}", "human strong"))
    return [score, [Piece(" "), *verdict_pieces(cell, spec)]]


def _has_nothing_judged(cell: ComparisonCell) -> bool:
    """Say whether there was nothing to give a verdict on."""
    return not cell.judged_count


def _explain_missing_verdict_of_run(run: ComparisonRun) -> Piece:
    """Say why a run has no word on an answer."""
    state = run.item.state
    if state in (ItemState.FAILED, ItemState.SKIPPED):
        return Piece(state.value, "bad" if state is ItemState.FAILED else "quiet")
    return Piece("not judged", "quiet")


def verdict_pieces(cell: ComparisonCell, spec: "MetricSpec") -> list[Piece]:
    """Write the one verdict of a whole answer, else how often each label was given."""
    labels = spec.labels
    given = [(name, cell.labels.get(name, 0)) for name in labels.names]
    given = [(name, count) for name, count in given if count]
    if _has_nothing_judged(cell):
        return [Piece(f"no {spec.units[1]}", "quiet")]
    if spec.judges == "answer" and len(given) == 1 and not cell.missing:
        name = given[0][0]
        words = f"{fmt.get_label_letter(name, labels)} {labels.get_label(name).meaning}"
        return [Piece(words, fmt.get_label_look(name, labels))]
    pieces: list[Piece] = []
    for name, count in given:
        words = f"{fmt.get_label_letter(name, labels)}:{count} "
        pieces.append(Piece(words, fmt.get_label_look(name, labels)))
    if cell.missing:
        pieces.append(Piece(f"!:{cell.missing}", "warn"))
    return pieces


def _join_columns(
    left: Sequence[Piece], cells: Sequence[Sequence[Piece]], layout: _Layout, row: int | None
) -> Line:
    """Set the pieces of one line of each column beside each other."""
    pieces = _pad_pieces(left, layout.answer)
    for each in cells:
        pieces += _pad_pieces(each, layout.size)
    return Line(tuple(pieces), row)


def _pad_pieces(pieces: Sequence[Piece], size: int) -> list[Piece]:
    """Make pieces exactly `size` cells wide, the last one blank."""
    kept = truncate_pieces(pieces, max(0, size - 1))
    return [*kept, Piece(" " * max(0, size - count_cells_of_pieces(kept)))]


def format_verdicts_and_answer_lines(compared: MetricComparison, width: int) -> list[Line]:
    """Show in words what the chosen run says, then the answer in full, then the other runs."""
    answer = compared.answer
    if answer is None:
        return []
    pad = [Piece(" ")]
    lines: list[Line] = []
    if compared.column < len(answer.cells):
        lines += _run_verdict_lines(compared, compared.column, answer.cells[compared.column], width)
    lines += [BLANK, *wrap([escape_text(answer.content)], width - 1, first=pad)]
    if answer.human is not None:
        lines += wrap(
            [
                Piece("human labels of the whole answer: ", "quiet"),
                escape_line(
                    answer.human, f"{fmt.get_label_look(answer.human, FAITHFULNESS)} strong"
                ),
            ],
            width - 1,
            first=pad,
        )
    lines.append(BLANK)
    for at, cell in enumerate(answer.cells):
        if at != compared.column:
            lines += _run_verdict_lines(compared, at, cell, width)
    return lines


def _run_verdict_lines(
    compared: MetricComparison, at: int, cell: ComparisonCell | None, width: int
) -> list[Line]:
    """Show what one run says of the chosen answer."""
    run, spec = compared.view.runs[at].run, compared.specs[at]
    chosen = at == compared.column
    name = [
        Piece(f"#{run.id} ", "quiet"),
        Piece(spec.title, "key" if chosen else "strong"),
        Piece(" · ", "quiet"),
        escape_line(run.spec.judge_title, "quiet", limit=80),
    ]
    first = [Piece(">" if chosen else " ", "key")]
    lines = wrap(name, width - 1, first=first)
    if cell is None:
        pieces = [_explain_missing_verdict_of_run(compared.view.runs[at])]
        if compared.view.runs[at].item.reason:
            why = compared.view.runs[at].item.reason or ""
            pieces += [Piece(" · ", "quiet"), escape_line(why, "quiet", limit=200)]
        return [*lines, *wrap(pieces, width - 1, first=[Piece("   ")])]
    found = compared.view.runs[at].item.integrity
    if fmt.get_soundness_mark(found):
        integrity_pieces = [
            Piece(spec.format_integrity_sentence(found), fmt.get_soundness_look(found))
        ]
        lines += wrap(integrity_pieces, width - 1, first=[Piece("   ")])
    pieces = [Piece(fmt.format_score(cell.score), "strong")]
    if cell.corrected != cell.score:
        pieces += [
            Piece(f" → {fmt.format_score(cell.corrected)} with overrides", "human strong"),
            Piece(
                f", {cell.reviewed} of {format_unit_count(cell.judged_count, spec)} reviewed",
                "quiet",
            ),
        ]
    for label in spec.labels.labels:
        count = cell.labels.get(label.name, 0)
        if count:
            look = fmt.get_label_look(label.name, spec.labels)
            pieces += [Piece(" · ", "quiet"), Piece(f"{count} {label.meaning}", look)]
    if cell.missing:
        pieces += [Piece(" · ", "quiet"), Piece(f"{cell.missing} without a verdict", "warn")]
    if _has_nothing_judged(cell) and cell.score.value is not None:
        pieces += [Piece(f" · no {spec.units[1]}", "quiet")]
    if cell.score.reason:
        pieces += [Piece(" · ", "quiet"), escape_line(cell.score.reason, "quiet", limit=200)]
    return [*lines, *wrap(pieces, width - 1, first=[Piece("   ")])]


def nothing_to_compare_lines(width: int, keys: KeyNames) -> list[Line]:
    """Say what to do where no run judged the conversation."""
    words = keys.fill_in_keys_as_pieces(
        "No run has judged this conversation yet: {go.runs}, then {runs.new} starts runs of "
        "several metrics."
    )
    return [BLANK, *wrap(words, width - 1, first=[Piece(" ")])]
