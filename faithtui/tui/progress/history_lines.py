"""Lines of the run screen about a run that is over: what happened in it, and what is next."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from faithtui.domain.judging.error_sentences import ERRORS
from faithtui.domain.labels.label_sets import format_label_before_count
from faithtui.store.records import RunHistory, RunRow, RunState, StepTotals
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.progress.event_lines import END_WORDS, error_words
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    wrap,
)

_COLUMNS = (("calls", 7), ("tokens", 8), ("each", 8), ("unusable", 9))
_TIME = 18
"""Cells of the times before what happened."""


def history_lines(row: RunRow, history: RunHistory, width: int, *, blind: bool) -> list[Line]:
    """Show what happened in a run that is not on, from what the store knows.

    Args:
        row: The run.
        history: What became of it.
        width: Cells of a line.
        blind: Leave out what may quote the judge, and what reveals verdicts of a small run.
    """
    lines: list[Line] = []
    for moment, words, look in _list_dated_run_events(row, history.started_at):
        lines += _format_dated_lines(moment, [Piece(words, look)], width)
    paragraphs: list[list[Piece]] = [_make_scored_count_pieces(row, blind=blind)]
    if row.state is RunState.INTERRUPTED:
        # Who was killed wrote down no time.
        words, look = END_WORDS[row.state]
        paragraphs.insert(0, [Piece(words, look)])
    if history.labels and not blind:
        given = (
            f"{format_label_before_count(name)} {fmt.format_count(each.claims)}"
            for name, each in history.labels.items()
        )
        paragraphs.append([Piece("verdicts: "), escape_line(" · ".join(given), limit=200)])
    paragraphs += _iter_reason_count_pieces("failed", history.failed, "bad", blind=blind)
    paragraphs += _iter_reason_count_pieces("skipped", history.skipped, "warn", blind=blind)
    paragraphs += _iter_reason_count_pieces(
        "without a score", history.undefined, "warn", blind=blind
    )
    if row.missing_verdicts:
        words = f"{fmt.format_count_with_noun(row.missing_verdicts, 'claim')} without a verdict"
        paragraphs.append([Piece(words, "bad")])
    if row.retries:
        again = fmt.format_count_with_noun(row.retries, "attempt")
        paragraphs.append([Piece(f"{again} failed and was made again", "warn")])
    for pieces in paragraphs:
        lines += wrap(pieces, width - 1, first=[Piece(" ")], rest=[Piece("   ")], most=3)
    words = "Events, one by one, are kept for runs started here."
    return [*lines, *wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])]


def _format_dated_lines(moment: datetime, pieces: list[Piece], width: int) -> list[Line]:
    at = fit_text(f" {fmt.format_datetime(moment)}", _TIME)
    return wrap(pieces, width - 1, first=[Piece(at, "quiet")])


def _list_dated_run_events(
    row: RunRow, started_at: datetime | None
) -> Iterator[tuple[datetime, str, str]]:
    spec = row.spec
    judge = escape_line(spec.judge_title, limit=80).text
    conversations = fmt.format_count_with_noun(row.conversations, "conversation")
    if started_at is None:
        yield row.created_at, f"planned: {conversations} with {judge}", "strong"
    else:
        yield started_at, f"started: {conversations} with {judge}", "strong"
    if row.finished_at is None:
        return
    words, look = END_WORDS[row.state]
    if started_at is None:
        yield row.finished_at, words, look
        return
    seconds = max(0.0, (row.finished_at - started_at).total_seconds())
    pace = ""
    if seconds >= 1 and row.state is RunState.DONE:
        pace = f", {row.conversations * 60 / seconds:.0f} conversations a minute"
    yield row.finished_at, f"{words} after {fmt.format_duration(seconds)}{pace}", look


def _make_scored_count_pieces(row: RunRow, *, blind: bool) -> list[Piece]:
    return [
        Piece(f"{fmt.format_count_with_noun(row.scored, 'conversation')} scored", "good"),
        Piece(f", mean {fmt.format_number(row.score)}" if row.scored and not blind else ""),
        Piece(f" · {fmt.format_count_with_noun(row.windows, 'window')}", "quiet"),
        Piece(f" · {fmt.format_count_with_noun(row.claims, 'claim')}", "quiet"),
    ]


def _iter_reason_count_pieces(
    what: str, reasons: Mapping[str, int], look: str, *, blind: bool
) -> Iterator[list[Piece]]:
    for reason, count in reasons.items():
        why = error_words(reason)
        if blind:
            why = ERRORS.get(reason.partition(":")[0], "why is hidden while you work blind")
        yield [Piece(f"{fmt.format_count(count)} {what}: ", look), escape_text(why, most=300)]


def format_question_kind_table_lines(steps: tuple[StepTotals, ...], width: int) -> list[Line]:
    """Draw a table of the kinds of questions that were asked, one line each."""
    room = max(4, width - sum(size for _, size in _COLUMNS) - 2)
    heads = "".join(fit_text(name, size, right=True) for name, size in _COLUMNS)
    lines = [make_line(Piece(f" {fit_text('stage', room)}{heads}", "quiet"))]
    for step in steps:
        cells = (
            fmt.format_compact_count(step.calls),
            fmt.format_compact_count(step.tokens_in + step.tokens_out),
            fmt.format_latency(round(step.latency_ms)),
            fmt.format_compact_count(step.unusable),
        )
        figures = "".join(
            fit_text(cell, size, right=True)
            for cell, (_, size) in zip(cells, _COLUMNS, strict=True)
        )
        name = fit_text(escape_line(step.step, limit=40).text, room)
        lines.append(make_line(Piece(f" {name}"), Piece(figures)))
    return lines


def advice_lines(row: RunRow, width: int, keys: KeyNames) -> list[Line]:
    """Say what can be done with a run in which nothing failed."""
    ways = []
    if row.pending:
        ways.append(f"{{progress.continue}} resumes: {row.pending} conversations are left")
    if row.done:
        ways += [
            "{progress.review} reviews what is judged",
            "{go.conversations} lists the conversations",
            "{go.agreement} shows agreement with human labels",
            "{go.queues} draws a sample to label",
        ]
    ways.append("{go.runs} is the list of runs, with the next steps")
    lines: list[Line] = []
    for way in ways:
        lines += wrap(keys.fill_in_keys_as_pieces(way), width - 1, first=[Piece(" ")])
    return lines
