"""Lines of the run screen that say how far a run is, how fast it goes and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from faithtui.domain.durations import format_time_left, format_time_span
from faithtui.domain.ids import RunId
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.engine.runs.events import Draining, Gauges, RunProgress, RunSnapshot
from faithtui.store.records import RunRow, RunState
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.progress.pace import (
    NO_RATES,
    RunRates,
    count_received_replies,
    count_replies_in_flight,
)
from faithtui.tui.runs.run_lines import format_planned_runs_left
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    count_cells_of_pieces,
    escape_text,
    field_lines,
    make_line,
    wrap,
)

_NAME = 15
"""Cells of the names at the left."""
_LEAST_BAR = 8
_ROOMY = 72
"""Cells from which every line begins where the bars do."""


class RunStatus(Enum):
    """Where a run stands, for whoever looks at it in this process: its words and their look."""

    PLANNED = ("planned, not begun", "quiet")
    WAITING = ("planned, its turn comes", "quiet")
    RUNNING = ("running", "human")
    PAUSED = ("paused", "warn")
    TROUBLED = ("waiting for the store", "bad")
    DRAINING = ("finishing what is asked", "warn")
    ELSEWHERE = ("running in another process", "human")
    HANDED_OVER = ("its questions are with the provider", "human")
    DONE = ("done", "good")
    CANCELLED = ("cancelled", "warn")
    INTERRUPTED = ("interrupted", "warn")
    INCOMPLETE = ("incomplete", "bad")
    STOPPED = ("stopped", "bad")

    @property
    def words(self) -> str:
        """What it is called."""
        return self.value[0]

    @property
    def look(self) -> str:
        """How that is drawn."""
        return self.value[1]


_STATUS_OF_ENDED = {
    RunState.WAITING: RunStatus.HANDED_OVER,
    RunState.DONE: RunStatus.DONE,
    RunState.CANCELLED: RunStatus.CANCELLED,
    RunState.INTERRUPTED: RunStatus.INTERRUPTED,
    RunState.STOPPED: RunStatus.STOPPED,
}


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the screen has it."""

    row: RunRow
    """As it was read from the store last."""
    snapshot: RunSnapshot | None = None
    """As it is at this moment; None: it was not begun in this process."""
    rates: RunRates = NO_RATES
    keys: KeyNames = field(default_factory=lambda: KeyNames({}))
    """What keys are called."""
    waits_for: str = ""
    """Runs that go before it, in words; "" when it does not wait for any."""
    planned_runs: Sequence[RunId] = ()
    """Other runs that were planned and that nobody starts."""

    @property
    def incomplete_conversation_count(self) -> int:
        """Conversations that lack a verdict."""
        return self.row.incomplete if self.snapshot is None else self.snapshot.progress.incomplete

    @property
    def status(self) -> RunStatus:
        """Where it stands."""
        now = self.snapshot
        state = self.row.state if now is None else now.state
        if state is RunState.DONE and self.incomplete_conversation_count:
            return RunStatus.INCOMPLETE
        if state in _STATUS_OF_ENDED:
            return _STATUS_OF_ENDED[state]
        if now is None:
            if state is RunState.RUNNING:
                return RunStatus.ELSEWHERE
            return RunStatus.WAITING if self.waits_for else RunStatus.PLANNED
        if any(isinstance(event, Draining) for _, event in now.recent):
            return RunStatus.DRAINING
        if now.trouble is not None:
            return RunStatus.TROUBLED
        paused = now.gauges is not None and now.gauges.is_paused
        return RunStatus.PAUSED if paused else RunStatus.RUNNING


def merge_stored_and_live_totals(run: RunView) -> RunProgress:
    """Take the figures of a run from whoever knows them best; calls and retries are of all.

    That is the run under way once it has said anything, else the store. A run speaks when something
    is judged, the store counts every call: of sums that only grow, the larger one is the later one.
    """
    row, now = run.row, run.snapshot
    if now is None or not now.progress.conversations:
        return replace(RunProgress.from_row(row), calls=row.calls, retries=row.retries)
    live, here = now.progress, now.gauges
    # A call that was just answered is in no event yet: it must not pass for one without a cost.
    cost, unpriced = (0, 0) if here is None else (here.cost_nusd, here.unpriced_calls)
    return replace(
        live,
        calls=count_received_replies(now),
        tokens_in=max(live.tokens_in, row.tokens_in),
        tokens_out=max(live.tokens_out, row.tokens_out),
        tokens_cached=max(live.tokens_cached, row.tokens_cached),
        cost_nusd=max(live.cost_nusd, row.cost_nusd, cost),
        unpriced_calls=max(live.unpriced_calls, row.unpriced_calls, unpriced),
    )


def make_run_state_and_time_pieces(run: RunView) -> list[Piece]:
    """Say where a run stands, for how long it has been on, and how long it takes."""
    standing, now = run.status, run.snapshot
    pieces = [Piece(standing.words, f"{standing.look} strong")]
    if now is not None:
        pieces.append(Piece(f" {fmt.format_duration(now.elapsed_s)}"))
    if now is not None and standing is RunStatus.RUNNING and now.eta_s is not None:
        pieces.append(Piece(f" · {format_time_left(now.eta_s)}"))
    return pieces


def total_lines(run: RunView, width: int) -> list[Line]:
    """Draw how far a run is, what it has cost, and how it goes or why it does not.

    Windows have no bar: how many there will be is known once every conversation was begun.
    """
    totals = merge_stored_and_live_totals(run)
    finished, planned = totals.finished_conversations, totals.conversations
    done = f"{fmt.format_count(finished)} / {fmt.format_count(planned)}"
    return [
        _bar_line("conversations", finished, planned, [Piece(done)], width),
        *_format_conversation_outcome_lines(totals, width),
        *_cost_lines(run, totals, width),
        *_token_lines(run, totals, width),
        *_format_planned_run_lines(run, width),
        *_status_lines(run, totals, width),
    ]


def _bar_line(name: str, done: int, total: int, pieces: Sequence[Piece], width: int) -> Line:
    size = max(_LEAST_BAR, width - _NAME - count_cells_of_pieces(pieces) - 2)
    return make_line(
        Piece(f" {name:<{_NAME - 1}}"),
        Piece(fmt.format_progress_bar(done, total, size), "human"),
        " ",
        *pieces,
    )


def _format_conversation_outcome_lines(totals: RunProgress, width: int) -> list[Line]:
    waiting = totals.conversations - totals.finished_conversations
    whole = totals.done - totals.incomplete
    words = [
        (f"{fmt.format_count(whole)} done", ""),
        (f"{fmt.format_count(totals.incomplete)} incomplete", "bad"),
        (f"{fmt.format_count(totals.failed)} failed", "bad"),
        (f"{fmt.format_count(totals.skipped)} skipped", "warn"),
        (f"{fmt.format_count(waiting)} to go", "quiet"),
    ]
    counts = (whole, totals.incomplete, totals.failed, totals.skipped, waiting)
    pieces = [Piece(*each) for each, count in zip(words, counts, strict=True) if count]
    pieces.append(Piece(fmt.format_count_with_noun(totals.windows, "window"), "quiet"))
    indent = " " * (_NAME if width >= _ROOMY else 1)
    return wrap(_join_with_dots(pieces), width - 1, first=[Piece(indent)], most=2)


def _cost_lines(run: RunView, totals: RunProgress, width: int) -> list[Line]:
    """Say what the calls cost; what is not known is said, and never taken for nothing."""
    cap, unpriced = run.row.spec.budget_nusd, totals.unpriced_calls
    unknown = Piece(f"no price known for {fmt.format_count_with_noun(unpriced, 'call')}", "warn")
    spent = fmt.format_money(totals.cost_nusd)
    if cap is not None:
        bar = _bar_line(
            "budget", totals.cost_nusd, cap, [Piece(f"{spent} / {fmt.format_money(cap)}")], width
        )
        return [
            bar,
            *(field_lines("", [unknown], width, _NAME - 1, look="", most=2) if unpriced else []),
        ]
    if unpriced:
        pieces = [unknown] if not totals.cost_nusd else [Piece(f"{spent} · "), unknown]
    elif totals.cost_nusd:
        pieces = [Piece(spent)]
    else:
        is_over = run.status in {*_STATUS_OF_ENDED.values(), RunStatus.INCOMPLETE}
        pieces = [Piece("nothing" if totals.calls or is_over else "nothing yet", "quiet")]
    return field_lines("cost", pieces, width, _NAME - 1, look="", most=2)


def _token_lines(run: RunView, totals: RunProgress, width: int) -> list[Line]:
    cap = run.row.spec.budget_tokens
    used = totals.tokens_in + totals.tokens_out
    if cap is not None:
        pieces = [Piece(f"{fmt.format_compact_count(used)} / {fmt.format_compact_count(cap)}")]
        return [_bar_line("token budget", used, cap, pieces, width)]
    pieces = [Piece(f"{fmt.format_compact_count(totals.tokens_in)} in")]
    if totals.tokens_cached and totals.tokens_in:
        share = 100 * totals.tokens_cached / totals.tokens_in
        pieces.append(Piece(f" ({share:.0f} % cached)", "quiet"))
    pieces.append(Piece(f" · {fmt.format_compact_count(totals.tokens_out)} out"))
    return field_lines("tokens", pieces, width, _NAME - 1, look="", most=2)


def _status_lines(run: RunView, totals: RunProgress, width: int) -> list[Line]:
    """Say how the run goes, or why it does not and what can be done."""
    now = run.snapshot
    coming = 0 if now is None else count_replies_in_flight(now)
    answers = fmt.format_count_with_noun(coming, "reply in flight", "replies in flight")

    def wrap_words(words: str, look: str = "") -> list[Line]:
        return wrap(
            run.keys.fill_in_keys_as_pieces(words, look), width - 1, first=[Piece(" ")], most=4
        )

    match run.status:
        case RunStatus.RUNNING if now is not None:
            return _speed_lines(run, now, totals, width)
        case RunStatus.PAUSED:
            held = f"; {answers} will be kept" if coming else ""
            return wrap_words(
                f"Paused: nothing new is asked{held}. {{progress.continue}} resumes.", "warn"
            )
        case RunStatus.TROUBLED if now is not None and now.trouble is not None:
            return wrap(
                [
                    escape_text(now.trouble, "bad"),
                    Piece(". What was answered is held in memory; it resumes by itself.", "warn"),
                ],
                width - 1,
                first=[Piece(" ! ", "bad")],
                most=4,
            )
        case RunStatus.DRAINING:
            return wrap_words(
                f"Nothing more is asked; {answers} (paid for) will be kept. "
                "{progress.cancel} again gives them up and stops at once.",
                "warn",
            )
        case RunStatus.ELSEWHERE:
            return wrap_words(
                "Another process judges this run. These figures are from the store; pace and "
                "events are known there alone. {progress.continue} takes part here: nothing is "
                "asked twice.",
                "quiet",
            )
        case RunStatus.WAITING:
            return wrap_words(
                f"It begins when {run.waits_for} is through. {{progress.continue}} begins now."
            )
        case RunStatus.PLANNED:
            return wrap_words("Nothing was asked yet. {progress.continue} begins.")
    return _format_end_reason_lines(run, totals, width)


def _format_end_reason_lines(run: RunView, totals: RunProgress, width: int) -> list[Line]:
    """Say why a run is over, and how to go on."""
    reason = run.row.reason if run.snapshot is None else run.snapshot.reason
    if run.status is RunStatus.INTERRUPTED:
        reason = "The process that judged this run is gone: it was killed, or its machine is silent"
    found = format_integrity_sentence(run.row.spec.metric, run.row.integrity)
    look = fmt.get_soundness_look(run.row.integrity)
    lines = wrap([Piece(found, look)], width - 1, first=[Piece(" ")]) if found else []
    handed_over = run.status is RunStatus.HANDED_OVER
    if reason and handed_over:
        lines += wrap([escape_text(reason)], width - 1, first=[Piece(" ")], most=4)
    elif reason:
        lines += wrap(
            [escape_text(reason, "warn")], width - 1, first=[Piece(" ! ", "warn")], most=4
        )
    stays = run.status in (RunStatus.CANCELLED, RunStatus.INTERRUPTED)
    ways = ["What is stored stays"] if stays else []
    if totals.finished_conversations < totals.conversations:
        if run.row.spec.budget_nusd is not None or run.row.spec.budget_tokens is not None:
            ways.append("{progress.budget} changes the budget")
        ways.append(f"{{progress.continue}} {'fetches answers' if handed_over else 'resumes'}")
    unfinished = totals.failed + totals.incomplete
    if unfinished:
        words = ["failed"] * (totals.failed > 0) + ["lacks a verdict"] * (totals.incomplete > 0)
        what = f"what {' or '.join(words)}"
        ways.append(f"{{progress.retry}} asks again {what} ({fmt.format_count(unfinished)})")
    if ways:
        lines += wrap(
            run.keys.fill_in_keys_as_pieces(" · ".join(ways)), width - 1, first=[Piece(" ")], most=2
        )
    if run.snapshot is not None:
        calls = fmt.format_count_with_noun(count_received_replies(run.snapshot), "call")
        words = [f"{calls} in {fmt.format_duration(run.snapshot.elapsed_s)}"]
        words += _format_latencies(run.snapshot.gauges)
        lines.append(make_line(Piece(f" {' · '.join(words)}", "quiet")))
    return lines


def _format_planned_run_lines(run: RunView, width: int) -> list[Line]:
    """Name the runs that stay planned, as after the kill of a process that was to begin them."""
    left = format_planned_runs_left(run.planned_runs)
    if not left:
        return []
    words = f"{left}. {{go.runs}}, then {{runs.continue}} on one starts it"
    return wrap(
        run.keys.fill_in_keys_as_pieces(words, "warn"),
        width - 1,
        first=[Piece(" ! ", "warn")],
        most=2,
    )


def _speed_lines(run: RunView, now: RunSnapshot, totals: RunProgress, width: int) -> list[Line]:
    """Draw pace, times and places while a run is on."""
    rates, gauges = run.rates, now.gauges
    pace = [f"{_format_rate(rates.calls)} calls/min", f"{_format_rate(rates.windows)} windows/min"]
    pace += _format_latencies(gauges)
    if now.progress.retries:
        pace.append(fmt.format_count_with_noun(now.progress.retries, "retry", "retries"))
    lines = wrap([Piece(" · ".join(pace))], width - 1, first=[Piece(" ")], most=2)
    if gauges is not None:
        lines += wrap(_concurrency_pieces(gauges, now), width - 1, first=[Piece(" ")], most=2)
    fresh = totals.conversations - totals.finished_conversations
    words = "the time left is known when the first conversation is through"
    if now.eta_s is not None and fresh:
        words = f"{format_time_left(now.eta_s)}, if the rest goes like what was judged in "
        words += format_time_span(now.elapsed_s)
    return [*lines, *wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")], most=2)]


def _concurrency_pieces(gauges: Gauges, now: RunSnapshot) -> list[Piece]:
    pieces = [
        Piece(fmt.format_count_with_noun(gauges.workers, "worker"), "strong"),
        Piece(f" · {fmt.format_count(count_replies_in_flight(now))} in flight"),
    ]
    if gauges.allowed is not None:
        look = "warn" if gauges.allowed < gauges.workers else "quiet"
        pieces.append(Piece(f" · the provider is given {gauges.allowed} at once", look))
    if gauges.pace is not None:
        pieces.append(Piece(f", {gauges.pace * 60:.0f} a minute", "warn"))
    return pieces


def _format_latencies(gauges: Gauges | None) -> list[str]:
    """Say how long half of the answers and 95 % of them took at most; [] before there are any."""
    if gauges is None or gauges.p50_ms is None:
        return []
    return [f"p50 {fmt.format_latency(gauges.p50_ms)}", f"p95 {fmt.format_latency(gauges.p95_ms)}"]


def _format_rate(value: float | None) -> str:
    if value is None:
        return fmt.NONE
    return f"{value:.1f}" if 0 < value < 10 else fmt.format_compact_count(round(value))


def _join_with_dots(pieces: Sequence[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        joined += [Piece(" · ", "quiet")] if joined else []
        joined.append(piece)
    return joined
