"""Lines of the run list, and of what is known of a run."""

import json
from typing import TYPE_CHECKING

from faithtui.domain.integrity.run_summary import IntegritySummary, Soundness
from faithtui.domain.scores import format_left_out
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_view import count_units
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

_SCORE_PART = 2
"""Place of the score in the details of a run."""
_LONGEST_METRIC = 27
"""Cells beyond which the column of metrics does not grow: the judge's name takes the rest."""


def run_head(width: int) -> Line:
    """Name the columns of the run list."""
    return Line(
        (
            Piece(
                _run_columns(
                    width, "run", "metric", "judge", "conv", "status", "score", "w/ovr", "reviewed"
                ),
                "quiet",
            ),
        )
    )


def run_line(row: RunRow, width: int, here: bool) -> Line:
    """Draw a run in the list."""
    words, look = run_status(row)
    text = _run_columns(
        width,
        f"#{row.id}",
        escape_line(row.spec.metric, limit=60).text,
        escape_line(row.spec.judge_title, limit=60).text,
        str(row.conversations),
        words,
        _score_with_mark(row),
        fmt.format_number(row.corrected) if row.labelled else fmt.NONE,
        f"{row.labelled}/{row.claims}",
    )
    mark = ">" if here else " "
    text = mark + text[1:]
    at = text.find(words)
    if look and at >= 0:
        return make_line(Piece(text[:at]), Piece(words, look), Piece(text[at + len(words) :]))
    return make_line(text)


def _run_columns(
    width: int,
    run: str,
    metric: str,
    judge: str,
    conversations: str,
    status: str,
    score: str,
    with_overrides: str,
    reviewed: str,
) -> str:
    # A number that is cut reads as another number, so a narrow list leaves whole columns out: the
    # pane below has them.
    overrides_too = fit_text(with_overrides, 6, right=True) if width >= 66 else ""
    fixed = 1 + 5 + 1 + 1 + 11 + 6 + len(overrides_too) + 1 + 11 + 2
    counted_too = fit_text(conversations, 6, right=True) if width - fixed - 6 >= 22 else ""
    room = max(10, width - fixed - len(counted_too))
    first = min(_LONGEST_METRIC, room * 11 // 20)
    return (
        f" {fit_text(run, 5)} {fit_text(metric, first)}{fit_text(' ' + judge, room - first)}"
        f"{counted_too} {fit_text(status, 11)}{fit_text(score, 6, right=True)}"
        f"{overrides_too} {fit_text(reviewed, 11, right=True)} "
    )


def _score_with_mark(row: RunRow) -> str:
    score = fmt.format_number(row.score)
    return score if row.score is None else fmt.soundness_mark(row.integrity) + score


def integrity_lines(found: IntegritySummary, metric: "MetricSpec", width: int) -> list[Line]:
    """Say what stands against a score; no line when nothing does."""
    sentence = metric.integrity_sentence(found)
    if not sentence:
        return []
    look, mark = fmt.soundness_look(found), fmt.soundness_mark(found)
    said = [Piece(f"{mark} " if mark else "", look), Piece(sentence, look)]
    return wrap(said, width - 1, first=[Piece(" ")])


def run_status(row: RunRow) -> tuple[str, str]:
    """Say where a run stands, in one or two words, and in which look."""
    match row.state:
        case RunState.RUNNING:
            share = (row.conversations - row.pending) * 100 // max(1, row.conversations)
            return f"running {share}%", "human"
        case RunState.INTERRUPTED:
            return "interrupted", "warn"
        case RunState.WAITING:
            return "waiting", "human"
        case RunState.PLANNED:
            return "planned", "quiet"
        case RunState.CANCELLED:
            return "cancelled", "warn"
        case RunState.STOPPED:
            return "stopped", "bad"
        case RunState.DONE:
            if row.integrity.soundness is Soundness.SUSPECT:
                return "suspect", "bad"
            if row.failed:
                return f"{row.failed} failed", "bad"
            if row.incomplete:
                return "incomplete", "bad"
            if row.integrity.soundness is Soundness.UNCHECKED:
                return "unchecked", "warn"
            return "done", ""


def run_crumbs(row: RunRow) -> list[Piece]:
    """Name a run in a title: its number, its metric and its judge."""
    return [
        Piece(f"  #{row.id} ", "quiet"),
        escape_line(row.spec.metric, "quiet", limit=60),
        Piece(" · ", "quiet"),
        escape_line(row.spec.judge_title, "quiet", limit=60),
    ]


def no_runs(width: int, keys: KeyNames) -> list[Line]:
    """Say what to do in an empty store: few lines, so that the smallest screen has them all."""
    pad = [Piece("  ")]
    commands = (
        ("faithtui import FILE.jsonl", "brings conversations in"),
        ("faithtui demo", "shows ones already judged"),
    )
    return [
        make_line(Piece("  No runs yet. On the command line", "strong")),
        *(
            make_line(
                Piece(f"  {command:<27}", "human"), Piece(fit_text(words, width - 29), "quiet")
            )
            for command, words in commands
        ),
        make_line(Piece("  then here", "strong")),
        *wrap(
            keys.make_pieces(
                "{runs.new} starts a run · {app.help} explains · {app.commands-colon} commands · "
                "{app.go} screens"
            ),
            width,
            first=pad,
        ),
    ]


def run_details(
    row: RunRow | None, metric: "MetricSpec | None", width: int, keys: KeyNames
) -> list[Line]:
    """Say what is known of a run.

    Args:
        row: The run; None: none is chosen.
        metric: Its metric; None while that is being read.
        width: Cells of a line.
        keys: What keys are called.
    """
    if row is not None and metric is None:
        return []
    if row is None or metric is None:
        return [make_line(Piece(" no run chosen", "quiet"))]
    pad = [Piece(" ")]
    spec = row.spec
    units = metric.units[1]
    parts: list[list[Piece]] = [
        [
            Piece(metric.title, "strong"),
            Piece(" · judge ", "quiet"),
            escape_line(spec.judge_title, limit=200),
            Piece(" · ", "quiet"),
            *keys.make_pieces("{screen.judge} about it", "quiet"),
        ],
        [
            Piece(
                f"{fmt.count_in_words(row.conversations, 'conversation')}: "
                f"{row.done - row.incomplete} done"
            ),
            Piece(f", {row.incomplete} incomplete" if row.incomplete else "", "bad"),
            Piece(f", {row.pending} pending" if row.pending else ""),
            Piece(f", {row.failed} failed" if row.failed else "", "bad"),
            Piece(f", {row.skipped} skipped" if row.skipped else "", "warn"),
            Piece(
                f" · {fmt.count_in_words(row.windows, 'window')} · "
                f"{count_units(row.claims, metric)}"
            ),
        ],
        [
            Piece("judge's score "),
            Piece(fmt.format_number(row.score), "strong"),
            Piece(
                f" (mean of {fmt.count_in_words(row.scored, 'conversation')}, windowed)", "quiet"
            ),
            Piece("  with overrides "),
            Piece(fmt.format_number(row.corrected) if row.labelled else fmt.NONE, "strong"),
            Piece(f", {row.labelled} of {count_units(row.claims, metric)} reviewed", "quiet"),
        ],
        [
            Piece("labels "),
            Piece(fmt.draw_bar(row.labelled, row.claims, min(30, max(8, width - 40))), "human"),
            Piece(f" {row.labelled} of {count_units(row.claims, metric)}"),
        ],
    ]
    if row.archived_at is not None:
        parts.append([Piece(f"archived {fmt.format_datetime(row.archived_at)}", "warn")])
    if row.state is RunState.INTERRUPTED:
        way = (
            "! the process that judged it is gone: {runs.continue} goes on, nothing is asked twice"
        )
        parts.append(keys.make_pieces(way, "warn"))
    if row.reason:
        parts.append([Piece("! ", "warn"), escape_text(row.reason, "warn")])
    if row.missing_verdicts:
        words = f"! {count_units(row.missing_verdicts, metric)} without a verdict: never a pass"
        way = " · {runs.retry} asks again" if row.incomplete else ""
        parts.append([Piece(words, "warn"), *keys.make_pieces(way, "warn")])
    if row.failed_windows:
        parts.append([Piece(f"! {fmt.count_in_words(row.failed_windows, 'window')} failed", "bad")])
    if row.undefined:
        words = f"! {fmt.count_in_words(row.undefined, 'conversation')} undefined: in no mean"
        parts.append([Piece(words, "warn")])
    left_out = format_left_out(row.undefined_windows, row.skipped_windows, row.windows)
    if left_out:
        parts.append([Piece(f"! {left_out}: in no mean", "warn")])
    bar = []
    if spec.rule.effective_threshold is not None:
        bar = [
            Piece(f" · a conversation passes from {spec.rule.effective_threshold:.2f} on", "quiet")
        ]
    options = " ".join(
        f"{name}={json.dumps(value)}"
        for name, value in spec.options.items()
        if name not in ("strategy", "as_peer")
    )
    parts += [
        [
            Piece(f"{spec.peer} · strategy ", "quiet"),
            escape_line(spec.strategy, "quiet"),
            Piece(f" · {units} {spec.claims_from} · prompts {spec.prompt_digest[:8]}", "quiet"),
            Piece(" · as peer" if spec.rule.as_peer else "", "quiet"),
        ],
        [Piece("passing: ", "quiet"), escape_line(", ".join(spec.rule.passing)), *bar],
        [Piece("options ", "quiet"), escape_line(options, "quiet", limit=600)],
        [
            Piece("sources ", "quiet"),
            escape_line(", ".join(spec.sources) or "all", "quiet", limit=400),
        ],
        [
            Piece(
                f"{fmt.count_in_words(row.calls, 'judge call')} · "
                f"{fmt.format_compact_count(row.tokens_in)} tokens in · "
                f"{fmt.format_compact_count(row.tokens_out)} out · started "
                f"{fmt.format_datetime(row.created_at)}",
                "quiet",
            )
        ],
    ]
    lines: list[Line] = []
    for number, pieces in enumerate(parts):
        lines += wrap(pieces, width - 1, first=pad)
        if number == _SCORE_PART:
            lines += integrity_lines(row.integrity, metric, width)
    return lines


def all_archived(width: int, count: int, keys: KeyNames) -> list[Line]:
    """Say where the runs are when none is listed because all were put away.

    Args:
        width: Cells of a line.
        count: How many there are.
        keys: What keys are called.
    """
    pad = [Piece("  ")]
    return [
        BLANK,
        make_line(Piece("  Every run is archived.", "strong")),
        BLANK,
        *wrap(
            [
                *keys.make_pieces("{list.filter} and "),
                Piece("archived:yes", "human"),
                Piece(f" lists {'it' if count == 1 else f'all {count}'}."),
            ],
            width,
            first=pad,
        ),
    ]


def nothing_found(width: int, wanted: str, keys: KeyNames) -> list[Line]:
    """Say that a filter finds nothing, and the way out."""
    pad = [Piece("  ")]
    return [
        BLANK,
        make_line(Piece("  Nothing found.", "strong")),
        BLANK,
        *wrap([Piece("filter: ", "quiet"), escape_line(wanted, limit=300)], width, first=pad),
        BLANK,
        *wrap(
            keys.make_pieces("{screen.close} takes it away, {list.filter} edits it."),
            width,
            first=pad,
        ),
    ]
