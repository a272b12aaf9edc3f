"""Lines of the run list: a run in it, and what an empty list says."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.run_summary import IntegritySummary, Soundness
from faithtui.domain.judging.judge_names import OFFLINE_TITLE
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    fit_text,
    make_line,
    shorten_middle,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.engine.review.run_overview import RunTrust
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.session import Session

MOST_CLAIMS = 50_000
"""Claims beyond which agreement is not computed unasked: it takes seconds, and memory."""
_WIDE = 100
"""Cells of a line that has all figures."""
_STATUS_CELLS = 11
"""Cells of the status; a longer one takes blanks of the score's column too."""
_SCORE_CELLS = 7
_MOST_NAMED = 8
"""Planned runs that are named where they are counted."""
_LONGEST_METRIC = 27
"""Cells beyond which the column of metrics does not grow: the judge's name takes the rest."""


def run_header_line(width: int) -> Line:
    """Name the columns of the run list."""
    names = ("run", "metric", "judge", "conv", "status", "score", "corrected")
    named = _run_columns(width, *names, "kappa (human)", "reviewed", "reviewed")
    return Line((Piece(named, "quiet"),))


def run_line(
    row: RunRow,
    width: int,
    here: bool,
    trust: "RunTrust | None",
    *,
    blind: bool = False,
    at_start: bool = False,
    is_read: bool = True,
    has_failed: bool = False,
) -> Line:
    """Draw a run in the list.

    Args:
        row: The run.
        width: Cells of the line.
        here: It is the chosen one.
        trust: How far its judge can be trusted; None: not known.
        blind: Hide the score: in a small run it reveals what the judge says of a claim.
        at_start: The row was read before anybody could ask whether a running one is still worked
            on: that is not claimed.
        is_read: What costs to read of it was read; until then nothing is said not to be there.
        has_failed: It could not be read: the details say why.
    """
    words, look = get_run_status_and_look(row)
    if at_start and row.state is RunState.RUNNING:
        words, look = "checking …", "quiet"
    score = "hidden" if blind else _format_score_with_soundness(row)
    words = _fit_status(words, _STATUS_CELLS + _SCORE_CELLS - len(score) - 1)
    unread = "" if is_read or row.claims > MOST_CLAIMS else "…"
    text = _run_columns(
        width,
        f"#{row.id}",
        escape_line(row.spec.metric, limit=60).text,
        escape_line(row.spec.judge_title, limit=60).text,
        str(row.conversations)
        if row.conversations < 100_000
        else fmt.format_compact_count(row.conversations),
        words,
        score,
        unread or _format_corrected_pass_rate(trust),
        unread or ("not read" if has_failed else _format_kappa(trust, is_narrow=width < _WIDE)),
        f"{fmt.format_share(row.labelled, row.claims)} of {fmt.format_count(row.claims)}",
        fmt.format_share(row.labelled, row.claims),
    )
    mark = ">" if here else " "
    text = mark + text[1:]
    at = text.find(words)
    if look and at >= 0:
        return make_line(Piece(text[:at]), Piece(words, look), Piece(text[at + len(words) :]))
    return make_line(text)


def _format_kappa(trust: "RunTrust | None", *, is_narrow: bool) -> str:
    """Write kappa with its interval in few cells: `0.53 [.21, .74]`, `0.53 [.21, .74] ans.`.

    A narrow list leaves out the interval of answers rather than what was counted. Where there can
    be no interval the reason stands in place of the value, which means nothing without it.
    """
    if trust is None or trust.kappa.value is None:
        return fmt.NONE
    if not trust.kappa.has_interval and trust.kappa.reason is not None:
        return fmt.describe_missing_reason(trust.kappa.reason)
    low, high = trust.kappa.ci_low, trust.kappa.ci_high
    value = fmt.format_number(trust.kappa.value)
    unit = " ans." if trust.unit[0] == "answer" else ""
    if low is None or high is None or (unit and is_narrow):
        return value + unit
    # The ends of the scale are 1 and -1: so the longest fits its column.
    ends = [f"{each:.2f}".replace("0.", ".", 1).replace("1.00", "1") for each in (low, high)]
    return f"{value} [{', '.join(ends)}]{unit}"


def _format_corrected_pass_rate(trust: "RunTrust | None") -> str:
    """Write the corrected share that passes: `81% [74, 85]`."""
    if trust is None or trust.corrected.value is None:
        return fmt.NONE
    low, high = trust.corrected.ci_low, trust.corrected.ci_high
    if not trust.corrected.has_interval and trust.corrected.reason is not None:
        return fmt.describe_missing_reason(trust.corrected.reason)
    value = f"{trust.corrected.value:.0%}"
    if low is None or high is None or low == high:
        return value
    return f"{value} [{100 * low:.0f}, {100 * high:.0f}]"


def _run_columns(
    width: int,
    run: str,
    metric: str,
    judge: str,
    conversations: str,
    status: str,
    score: str,
    corrected: str,
    kappa: str,
    reviewed: str,
    reviewed_share: str,
) -> str:
    # A number that is cut reads as another number, so a narrow list leaves whole columns out: the
    # pane below has them. Each has a blank before its longest figure.
    longer = max(0, len(status) - _STATUS_CELLS)
    figures = fit_text(score, _SCORE_CELLS - longer, right=True)
    if width >= _WIDE:
        figures += fit_text(corrected, 15, right=True)
    if width >= 72:
        figures += fit_text(kappa, 24 if width >= _WIDE else 19, right=True)
    if width >= _WIDE:
        figures += fit_text(reviewed if len(reviewed) < 15 else reviewed_share, 15, right=True)
    else:
        figures += fit_text(reviewed_share, 9, right=True)
    status = fit_text(status, _STATUS_CELLS + longer)
    fixed = 1 + 5 + 1 + 1 + len(status) + len(figures) + 1
    counted_too = fit_text(conversations, 6, right=True) if width - fixed - 6 >= 31 else ""
    room = max(10, width - fixed - len(counted_too))
    first = min(_LONGEST_METRIC, room * 11 // 20)
    return (
        f" {fit_text(run, 5)} {fit_text(metric, first)}"
        f" {fit_text(_shorten_judge(judge, room - first - 1), room - first - 1)}"
        f"{counted_too} {status}{figures} "
    )


def _fit_status(words: str, room: int) -> str:
    """Leave the number out where it has no room: one that is cut reads as another number."""
    if len(words) <= room:
        return words
    return " ".join(each for each in words.split() if not each[0].isdigit())


def _shorten_judge(title: str, width: int) -> str:
    """Name the embedded judge more shortly, then leave out the middle: ends tell names apart."""
    shorter = (OFFLINE_TITLE, OFFLINE_TITLE.partition(" (")[0], "offline")
    names = [title.replace(OFFLINE_TITLE, each) for each in shorter]
    fitting = (each for each in names if count_cells_of_pieces([Piece(each)]) <= width)
    return next(fitting, shorten_middle(names[-1], width))


def _format_score_with_soundness(row: RunRow) -> str:
    score = fmt.format_number(row.score)
    return score if row.score is None else fmt.get_soundness_mark(row.integrity) + score


def integrity_lines(found: IntegritySummary, metric: "MetricSpec", width: int) -> list[Line]:
    """Say what stands against a score; no line when nothing does."""
    sentence = metric.format_integrity_sentence(found)
    if not sentence:
        return []
    look, mark = fmt.get_soundness_look(found), fmt.get_soundness_mark(found)
    pieces = [Piece(f"{mark} " if mark else "", look), Piece(sentence, look)]
    return wrap(pieces, width - 1, first=[Piece(" ")])


def get_run_status_and_look(row: RunRow) -> tuple[str, str]:
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
                return f"{fmt.format_compact_count(row.failed)} failed", "bad"
            if row.incomplete:
                return "incomplete", "bad"
            if row.integrity.soundness is Soundness.UNCHECKED:
                return "unchecked", "warn"
            if row.skipped:
                return f"{fmt.format_compact_count(row.skipped)} skipped", "warn"
            return "done", ""


def run_title_pieces(row: RunRow) -> list[Piece]:
    """Name a run in a title: its number, its metric and its judge."""
    return [
        Piece(f"  #{row.id} ", "quiet"),
        escape_line(row.spec.metric, "quiet", limit=60),
        Piece(" · ", "quiet"),
        escape_line(row.spec.judge_title, "quiet", limit=60),
    ]


def format_no_runs_lines(width: int, keys: KeyNames, session: "Session") -> list[Line]:
    """Say what to do in an empty store: few lines, so that the smallest screen has them all.

    Args:
        width: Cells of a line.
        keys: What keys are called.
        session: Tells whether a run can be started, and whether commands find this store alone.
    """
    if session.is_read_only:
        return [
            make_line(Piece("  No runs here, and the store can only be read.", "strong")),
            *wrap(
                keys.fill_in_keys_as_pieces(
                    "Copy it to a place where you may write · {app.help} explains"
                ),
                width,
                first=[Piece("  ")],
            ),
        ]
    pad = [Piece("  ")]
    commands = (
        ("faithtui import FILE.jsonl", "brings conversations in"),
        ("faithtui demo", "shows ones already judged"),
    )
    named_store = session.find_named_store()
    option = (
        []
        if named_store is None
        else wrap(
            [
                Piece("each with ", "quiet"),
                Piece("--store ", "human"),
                escape_line(shlex.quote(str(named_store)), "human"),
            ],
            width,
            first=pad,
        )
    )
    return [
        make_line(Piece("  No runs yet. On the command line", "strong")),
        *(
            make_line(
                Piece(f"  {command:<27}", "human"), Piece(fit_text(words, width - 29), "quiet")
            )
            for command, words in commands
        ),
        *option,
        make_line(Piece("  then here", "strong")),
        *wrap(
            keys.fill_in_keys_as_pieces(
                "{runs.new} starts a run · {app.help} explains · {app.commands-colon} commands · "
                "{app.go} screens"
            ),
            width,
            first=pad,
        ),
    ]


def all_archived_lines(width: int, count: int, keys: KeyNames) -> list[Line]:
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
                *keys.fill_in_keys_as_pieces("{list.filter} and "),
                Piece("archived:yes", "human"),
                Piece(f" lists {'it' if count == 1 else f'all {count}'}."),
            ],
            width,
            first=pad,
        ),
    ]


def format_planned_runs_left(runs: Sequence[RunId]) -> str:
    """Say that runs were planned and are started by nobody; "" where there are none."""
    if not runs:
        return ""
    wait = "planned run waits" if len(runs) == 1 else "planned runs wait"
    named = " ".join(f"#{each}" for each in runs[:_MOST_NAMED])
    more = " …" if len(runs) > _MOST_NAMED else ""
    return f"{fmt.format_count(len(runs))} {wait}: {named}{more}"


def nothing_found_lines(
    width: int, wanted: str, keys: KeyNames, suggestions: Sequence[str] = ()
) -> list[Line]:
    """Say that a filter finds nothing, what may have been meant, and the way out."""
    pad = [Piece("  ")]
    meant: list[Line] = []
    if suggestions:
        words = [Piece("Perhaps you mean  "), Piece(suggestions[0], "human strong")]
        words += keys.fill_in_keys_as_pieces("   {list.open} takes it")
        others = " or ".join(suggestions[1:3])
        meant = wrap([*words, Piece(f", or type {others}" if others else "")], width, first=pad)
        meant.append(BLANK)
    return [
        BLANK,
        make_line(Piece("  Nothing found.", "strong")),
        BLANK,
        *wrap([Piece("filter: ", "quiet"), escape_line(wanted, limit=300)], width, first=pad),
        BLANK,
        *meant,
        *wrap(
            keys.fill_in_keys_as_pieces("{screen.close} takes it away, {list.filter} edits it."),
            width,
            first=pad,
        ),
    ]
