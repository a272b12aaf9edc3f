"""Lines of the run screen about its stages: how often each kind of question was asked."""

from faithtui.engine.runs.events import StepCount
from faithtui.store.records import RunRow
from faithtui.tui.progress.drawing import RunShown
from faithtui.tui.progress.pace import calls_now
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, Piece, fit, line, shown_line, wrap

_COLUMNS = (("calls", 7), ("stored", 8), ("in flight", 10), ("retries", 8))
_SHORT = (("calls", 7), ("stored", 7), ("now", 5), ("again", 6))
_ROOMY = 46
"""Cells from which columns have their full names."""


def stage_lines(run: RunShown, width: int) -> list[Line]:
    """Draw a table of the stages, one line each.

    A run that was not begun in this process has only the totals that the store knows.
    """
    gauges = None if run.snapshot is None else run.snapshot.gauges
    if gauges is None:
        return _stored(run.row, width)
    if not gauges.steps:
        return [line(Piece(" nothing was asked yet", "quiet"))]
    columns = _COLUMNS if width >= _ROOMY else _SHORT
    room = max(4, width - sum(size for _, size in columns) - 2)
    heads = "".join(fit(name, size, right=True) for name, size in columns)
    lines = [line(Piece(f" {fit('stage', room)}{heads}", "quiet"))]
    lines += [_row(each, columns, room) for each in gauges.steps]
    return lines


def stage_title(run: RunShown) -> str:
    """Name the pane, with how often the judge and the store answered in this process."""
    if run.snapshot is None or not run.snapshot.progress.conversations:
        return "Stages"
    gauges = run.snapshot.gauges
    stored = sum(step.stored for step in gauges.steps) if gauges is not None else 0
    title = f"Stages · {fmt.plural(calls_now(run.snapshot), 'call')}"
    return f"{title}, {fmt.thousands(stored)} from the store" if stored else title


def _row(step: StepCount, columns: tuple[tuple[str, int], ...], room: int) -> Line:
    counts = (step.calls, step.stored, step.in_flight, step.retries)
    looks = ("", "", "human", "warn")
    name = shown_line(step.step, limit=40).text
    return line(
        Piece(f" {fit(name, room)}"),
        *(
            Piece(fit(fmt.compact(count), size, right=True), look if count else "quiet")
            for count, (_, size), look in zip(counts, columns, looks, strict=True)
        ),
    )


def _stored(row: RunRow, width: int) -> list[Line]:
    words = f"{fmt.plural(row.calls, 'call')} stored"
    if row.retries:
        words += f", {fmt.plural(row.retries, 'retry', 'retries')}"
    told = [Piece(words), Piece(". Stages are counted while a run is on in this process.", "quiet")]
    return wrap(told, width - 1, first=[Piece(" ")])
