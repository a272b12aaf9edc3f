"""Lines of the progress screen: totals, what was counted, and events in words."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import assert_never

from faithtui.domain.ids import ItemId
from faithtui.engine.events import (
    CallRetried,
    ItemFinished,
    RunEnded,
    RunEvent,
    RunSnapshot,
    RunStarted,
    WindowAssessed,
    WindowFailed,
)
from faithtui.store.records import RunRow, RunState
from faithtui.tui import format as fmt
from faithtui.tui.lines import BLANK, Line, Piece, line, shown, shown_line, wrap

STATES = {
    RunState.PLANNED: ("planned, not begun", "quiet"),
    RunState.RUNNING: ("running", "human"),
    RunState.DONE: ("done", "good"),
    RunState.CANCELLED: ("cancelled; what is stored stays", "warn"),
    RunState.STOPPED: ("stopped", "bad"),
}


def state_pieces(snapshot: RunSnapshot | None, row: RunRow) -> list[Piece]:
    """Say where a run stands."""
    state = snapshot.state if snapshot else row.state
    words, look = STATES[state]
    if snapshot is None:
        if state is RunState.RUNNING:
            words = "running in another process"
        return [Piece(words, f"{look} strong")]
    pieces = [Piece(words, f"{look} strong"), Piece(f" {fmt.duration(snapshot.elapsed_s)}")]
    if state is RunState.RUNNING:
        pieces.append(Piece(f" · ETA {fmt.duration(snapshot.eta_s)}"))
    return pieces


def total_lines(snapshot: RunSnapshot | None, row: RunRow, width: int) -> list[Line]:
    """Draw how far a run is, and why it stopped.

    Windows have no bar: how many there will be is known once every conversation was begun.
    """
    if snapshot is not None and snapshot.progress.conversations:
        p = snapshot.progress
        conversations, finished = p.conversations, p.finished
        windows = p.windows
    else:
        conversations = row.conversations
        finished = row.done + row.failed + row.skipped
        windows = row.windows
    size = max(8, width - 16 - 20)
    lines = [
        _bar("conversations", finished, conversations, size),
        line(Piece(f" {'windows':<14}"), Piece(f" {fmt.thousands(windows)} judged", "quiet")),
    ]
    reason = snapshot.reason if snapshot else row.reason
    if reason:
        lines += wrap([shown(reason, "warn")], width - 1, first=[Piece(" ! ", "warn")], most=4)
    elif snapshot is not None and snapshot.state is RunState.RUNNING:
        p = snapshot.progress
        pace = (p.calls + p.calls_stored) / snapshot.elapsed_s if snapshot.elapsed_s > 0 else 0.0
        words = f" now {pace:.1f} questions/s · {p.in_flight} in the air"
        if p.retries:
            words += f" · {fmt.plural(p.retries, 'retry', 'retries')}"
        lines.append(line(Piece(words, "quiet")))
    return lines


def _bar(name: str, done: int, total: int, size: int) -> Line:
    return line(
        Piece(f" {name:<14}"),
        Piece(fmt.bar(done, total, size), "human"),
        Piece(f" {fmt.thousands(done)} / {fmt.thousands(total)}"),
    )


def count_lines(snapshot: RunSnapshot | None, row: RunRow, width: int) -> list[Line]:
    """Draw counts: outcomes, questions, tokens."""
    if snapshot is None:
        parts = [
            ("done", row.done, ""),
            ("failed", row.failed, "bad"),
            ("skipped", row.skipped, "warn"),
            ("pending", row.pending, ""),
            ("judge calls", row.calls, ""),
            ("tokens in", row.tokens_in, ""),
            ("tokens out", row.tokens_out, ""),
        ]
    else:
        p = snapshot.progress
        parts = [
            ("done", p.done, ""),
            ("failed", p.failed, "bad"),
            ("skipped", p.skipped, "warn"),
            ("asked", p.calls, ""),
            ("from the store", p.calls_stored, ""),
            ("retries", p.retries, "warn"),
            ("tokens in", p.tokens_in, ""),
            ("tokens out", p.tokens_out, ""),
        ]
    lines: list[Line] = []
    columns = 1 if width < 60 else 2
    for start in range(0, len(parts), columns):
        pieces: list[Piece] = []
        for name, count, look in parts[start : start + columns]:
            pieces += [
                Piece(f" {name:<15}", "quiet"),
                Piece(f"{fmt.compact(count):>8}", look if count else "quiet"),
                Piece("   "),
            ]
        lines.append(Line(tuple(pieces)))
    lines.append(BLANK)
    lines += wrap(
        [
            shown_line(row.spec.metric),
            Piece(" · ", "quiet"),
            shown_line(row.spec.judge),
            Piece(f" · {fmt.plural(row.spec.concurrency, 'question')} at once", "quiet"),
        ],
        width - 1,
        first=[Piece(" ")],
    )
    return lines


def event_lines(
    snapshot: RunSnapshot | None,
    began: datetime | None,
    names: Mapping[ItemId, str],
    width: int,
) -> list[Line]:
    """List the latest events, newest first, in words."""
    if snapshot is None or began is None:
        words = "Events are shown for runs of this process."
        return wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])
    lines: list[Line] = []
    for after, event in reversed(snapshot.recent):
        moment = began + timedelta(seconds=after)
        words, look = event_words(event, names)
        lines += wrap(
            [Piece(words, look)],
            width - 1,
            first=[Piece(f" {fmt.clock(moment)}  ", "quiet")],
            most=3,
        )
    return lines


def event_words(event: RunEvent, names: Mapping[ItemId, str]) -> tuple[str, str]:
    """Put an event into words, with its look. Names are made visible here."""

    def name(item: ItemId) -> str:
        return shown_line(names.get(item, f"conversation {item}"), limit=40).text

    match event:
        case RunStarted():
            return "run started", "strong"
        case WindowAssessed():
            return f"{name(event.item)} w{event.window + 1}: judged", "quiet"
        case WindowFailed():
            why = shown_line(event.error, limit=60).text
            return f"{name(event.item)} w{event.window + 1}: failed ({why})", "bad"
        case ItemFinished():
            look = {"done": "good", "failed": "bad", "skipped": "warn"}.get(event.state.value, "")
            return f"{name(event.item)}: {event.state.value}", look
        case CallRetried():
            why = shown_line(event.error, limit=60).text
            return f"{event.step}: {why}; asked again after {event.wait_s:.1f} s", "warn"
        case RunEnded():
            words = STATES[event.state][0]
            reason = f": {shown_line(event.reason, limit=300).text}" if event.reason else ""
            return f"run {words}{reason}", STATES[event.state][1]
        case _:
            assert_never(event)
