"""Lines of the run screen about its stages: how often each kind of question was asked."""

from collections.abc import Mapping

from faithtui.engine.runs.events import StepCount
from faithtui.store.records import RunHistory, RunRow
from faithtui.tui.progress.history_lines import format_question_kind_table_lines
from faithtui.tui.progress.pace import count_received_replies
from faithtui.tui.progress.progress_lines import RunView, total_lines
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.layouts import get_stages_width
from faithtui.tui.theme.lines import Line, Piece, escape_line, fit_text, make_line, wrap

_COLUMNS = (("calls", 7), ("stored", 8), ("in flight", 10), ("retries", 8))
_SHORT = (("calls", 7), ("stored", 7), ("now", 5), ("again", 6))
_ROOMY = 46
"""Cells from which columns have their full names."""


def stage_lines(run: RunView, width: int, history: RunHistory | None = None) -> list[Line]:
    """Draw a table of the stages, one line each.

    A run that was not begun in this process has only the totals that the store knows.

    Args:
        run: The run.
        width: Cells of a line.
        history: What became of it; None: it is on, or that is not read yet.
    """
    gauges = None if run.snapshot is None else run.snapshot.gauges
    if gauges is None and history is not None and history.steps:
        return format_question_kind_table_lines(history.steps, width)
    if gauges is None:
        return _stored_calls_lines(run.row, width)
    if not gauges.steps:
        return [make_line(Piece(" nothing was asked yet", "quiet"))]
    columns = _COLUMNS if width >= _ROOMY else _SHORT
    room = max(4, width - sum(size for _, size in columns) - 2)
    heads = "".join(fit_text(name, size, right=True) for name, size in columns)
    lines = [make_line(Piece(f" {fit_text('stage', room)}{heads}", "quiet"))]
    lines += [_stage_line(each, columns, room) for each in gauges.steps]
    return lines


def count_needed_lines(
    run: RunView | None, history: RunHistory | None, width: int
) -> Mapping[str, int]:
    """Count the lines that totals and stages of a run that is over need, for `lay_out_progress`.

    Nothing changes in it any more, so no pane would move; while one is on, they have room to grow.

    Args:
        run: The run; None: it is not read yet.
        history: What became of it; None: it is on, or that is not read yet.
        width: Cells of the screen.
    """
    if run is None or history is None:
        return {}
    totals = total_lines(run, max(1, width - 2))
    stages = stage_lines(run, max(1, get_stages_width(width) - 2), history)
    return {"total_lines": len(totals), "stage_lines": max(2, len(stages))}


def stage_title(run: RunView) -> str:
    """Name the pane, with how often the judge and the store answered in this process."""
    if run.snapshot is None or not run.snapshot.progress.conversations:
        return "Stages"
    gauges = run.snapshot.gauges
    stored = sum(step.stored for step in gauges.steps) if gauges is not None else 0
    title = f"Stages · {fmt.format_count_with_noun(count_received_replies(run.snapshot), 'call')}"
    return f"{title}, {fmt.format_count(stored)} from the store" if stored else title


def _stage_line(step: StepCount, columns: tuple[tuple[str, int], ...], room: int) -> Line:
    counts = (step.calls, step.stored, step.in_flight, step.retries)
    looks = ("", "", "human", "warn")
    name = escape_line(step.step, limit=40).text
    return make_line(
        Piece(f" {fit_text(name, room)}"),
        *(
            Piece(
                fit_text(fmt.format_compact_count(count), size, right=True),
                look if count else "quiet",
            )
            for count, (_, size), look in zip(counts, columns, looks, strict=True)
        ),
    )


def _stored_calls_lines(row: RunRow, width: int) -> list[Line]:
    words = f"{fmt.format_count_with_noun(row.calls, 'call')} stored"
    if row.retries:
        words += f", {fmt.format_count_with_noun(row.retries, 'retry', 'retries')}"
    pieces = [Piece(words), Piece(". Stages are counted for runs started here.", "quiet")]
    return wrap(pieces, width - 1, first=[Piece(" ")])
