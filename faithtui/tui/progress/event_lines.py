"""Lines of the run screen about what happened: events in plain words, and what failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from faithtui.domain.ids import ItemId
from faithtui.domain.judging.error_sentences import (
    ERRORS,
    OUTPUT_FORMAT_WORDS,
    describe_error,
    format_attempt_failure,
)
from faithtui.engine.runs.events import (
    BatchRead,
    BatchSent,
    CallRetried,
    Draining,
    ItemFinished,
    ParameterRefused,
    RunEnded,
    RunEvent,
    RunStarted,
    StoreTroubled,
    WayChanged,
    WindowAssessed,
    WindowFailed,
)
from faithtui.store.records import ItemRow, RunState
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, Piece, escape_line, wrap

END_WORDS: Final[Mapping[RunState, tuple[str, str]]] = {
    RunState.PLANNED: ("run not begun", "quiet"),
    RunState.RUNNING: ("run resumed", "human"),
    RunState.INTERRUPTED: ("run interrupted; what is stored stays", "warn strong"),
    RunState.WAITING: ("the run waits for the provider", "human strong"),
    RunState.DONE: ("run done", "good strong"),
    RunState.CANCELLED: ("run cancelled; what is stored stays", "warn strong"),
    RunState.STOPPED: ("run stopped", "bad strong"),
}


@dataclass(frozen=True, slots=True)
class EventGroup:
    """One or several events that are shown as one."""

    first_s: float
    """Seconds from the beginning of the run to the first of them."""
    last_s: float
    events: tuple[RunEvent, ...]
    """Newest first; never empty."""

    @property
    def item_id(self) -> ItemId | None:
        """The conversation they are about; None: the run."""
        event = self.events[0]
        if isinstance(event, ItemFinished | WindowAssessed | WindowFailed):
            return event.item
        return None


def group_events(recent: Sequence[tuple[float, RunEvent]]) -> tuple[EventGroup, ...]:
    """Put events that say the same together: all of a conversation, retries of a kind.

    Windows of conversations judged at once come in turns: a line each would flood the list.

    Args:
        recent: Events with their seconds since the run began, newest last.

    Returns:
        Entries, newest first.
    """
    entries: list[EventGroup] = []
    of_item: dict[ItemId, int] = {}
    """Place of the newest entry of a conversation that windows of it join."""
    for after, event in reversed(recent):
        if isinstance(event, WindowAssessed) and event.item in of_item:
            at = of_item[event.item]
            entries[at] = EventGroup(after, entries[at].last_s, (*entries[at].events, event))
            continue
        before = entries[-1] if entries else None
        if before is not None and _can_group_events(before.events[0], event):
            entries[-1] = EventGroup(after, before.last_s, (*before.events, event))
            continue
        if isinstance(event, WindowAssessed | ItemFinished):
            of_item[event.item] = len(entries)
        entries.append(EventGroup(after, after, (event,)))
    return tuple(entries)


def _can_group_events(one: RunEvent, other: RunEvent) -> bool:
    match one, other:
        case CallRetried(), CallRetried():
            return (one.step, one.error, one.status, one.said) == (
                other.step,
                other.error,
                other.status,
                other.said,
            )
    return False


def event_lines(
    entries: Sequence[EventGroup],
    began: datetime | None,
    names: Mapping[ItemId, str],
    width: int,
) -> list[Line]:
    """Draw entries, a row each.

    Args:
        entries: Newest first.
        began: When the run began here; None: it did not.
        names: Names of conversations, as far as they were read.
        width: Cells of a line.
    """
    if began is None:
        words = "Events are kept for runs started here."
        return wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])
    lines: list[Line] = []
    for row, entry in enumerate(entries):
        moment = began + timedelta(seconds=entry.last_s)
        words, look = describe_event_group(entry, names)
        lines += wrap(
            [Piece(words, look)],
            width - 1,
            first=[Piece(f" {fmt.format_time(moment)}  ", "quiet")],
            row=row,
            most=3,
        )
    return lines


def describe_event_group(entry: EventGroup, names: Mapping[ItemId, str]) -> tuple[str, str]:
    """Put an entry into words, with its look. Names are made visible here."""
    event, count = entry.events[0], len(entry.events)
    if isinstance(event, WindowAssessed) and count > 1:
        positions = tuple(each.window for each in entry.events if isinstance(each, WindowAssessed))
        return (
            f"{_format_name(event.item, names)} {fmt.format_window_ranges(positions)}: judged",
            "quiet",
        )
    words, look = event_words_and_look(event, names)
    if isinstance(event, ItemFinished) and count > 1:
        return f"{words}, {fmt.format_count_with_noun(count - 1, 'window')}", look
    return (f"{words} · {count} times", look) if count > 1 else (words, look)


def event_words_and_look(event: RunEvent, names: Mapping[ItemId, str]) -> tuple[str, str]:
    """Put an event into words, with its look."""
    match event:
        case RunStarted():
            return "run begun", "strong"
        case WindowAssessed():
            return f"{_format_name(event.item, names)} w{event.window + 1}: judged", "quiet"
        case WindowFailed():
            name = f"{_format_name(event.item, names)} w{event.window + 1}"
            why = f": {escape_line(event.said, limit=200).text}" if event.said else ""
            return f"{name}: not judged, {error_words(event.error)}{why}", "bad"
        case ItemFinished(lacks_verdict=True):
            return f"{_format_name(event.item, names)}: a verdict is missing", "bad"
        case ItemFinished():
            look = {"done": "good", "failed": "bad", "skipped": "warn"}.get(event.state.value, "")
            return f"{_format_name(event.item, names)}: {event.state.value}", look
        case CallRetried():
            step = escape_line(event.step, limit=40).text
            wait = f"asked again after {event.wait_s:.1f} s"
            why = escape_line(
                format_attempt_failure(event.error, event.status, event.said), limit=200
            ).text
            return f"{step}: {why}; {wait}", "warn"
        case WayChanged():
            previous = OUTPUT_FORMAT_WORDS.get(event.left, event.left)
            current = OUTPUT_FORMAT_WORDS.get(event.taken, event.taken)
            return (
                f"{previous} did not work with this judge; asking by {current} from now on",
                "warn",
            )
        case ParameterRefused():
            name = escape_line(event.name, limit=40).text
            return f"the model does not take {name}; it is not sent any more", "warn"
        case StoreTroubled():
            if event.trouble is None:
                return "the store can be written again; what was held is stored", "good"
            why = escape_line(event.trouble, limit=300).text
            return f"the store cannot be written, answers are held in memory: {why}", "bad"
        case BatchSent():
            return (
                f"{fmt.format_count_with_noun(event.questions, 'question')} handed to the provider",
                "human",
            )
        case BatchRead():
            answers = f"{fmt.format_count_with_noun(event.answered, 'answer')} of a batch"
            lost = (
                f", {fmt.format_count_with_noun(event.failed, 'question')} without one"
                if event.failed
                else ""
            )
            return f"{answers}{lost}", "warn" if event.failed else ""
        case Draining():
            count = event.progress.in_flight
            answers = fmt.format_count_with_noun(count, "reply", "replies")
            return f"nothing more is asked; {answers} in flight will be kept", "warn"
        case RunEnded():
            words, look = END_WORDS[event.state]
            lacking = event.progress.incomplete
            if event.state is RunState.DONE and lacking:
                words, look = (
                    f"{words}; {fmt.format_count_with_noun(lacking, 'conversation')} ",
                    "warn strong",
                )
                words += "lacks a verdict" if lacking == 1 else "lack a verdict"
            reason = f": {escape_line(event.reason, limit=300).text}" if event.reason else ""
            return f"{words}{reason}", look
        case _:
            assert_never(event)


def error_words(error: str) -> str:
    """Put an error into words.

    Args:
        error: The name of its class, or a sentence that begins with it.
    """
    return escape_line(describe_error(error), limit=300).text


def failed_conversation_lines(
    rows: Sequence[ItemRow], count: int, width: int, *, blind: bool = False
) -> list[Line]:
    """Draw conversations that failed, a row each, with what went wrong.

    Args:
        rows: Those that were read.
        count: How many there are.
        width: Cells of a line.
        blind: Leave out what may quote the judge.
    """
    if not rows:
        return [Line((Piece(" nothing failed", "quiet"),))]
    lines: list[Line] = []
    for row, each in enumerate(rows):
        why = error_words(each.reason) if each.reason else "no reason known"
        if blind and each.reason:
            kind = each.reason.partition(":")[0]
            why = ERRORS.get(kind, "why is hidden while you work blind")
        name = escape_line(each.key, "strong", limit=40)
        lines += wrap(
            [name, Piece("  "), Piece(why, "bad")],
            width - 1,
            first=[Piece(" ")],
            rest=[Piece("   ")],
            row=row,
            most=3,
        )
    if count > len(rows):
        more = f"and {fmt.format_count(count - len(rows))} more"
        lines.append(Line((Piece(f" {more}", "quiet"),)))
    return lines


def _format_name(item: ItemId, names: Mapping[ItemId, str]) -> str:
    return escape_line(names.get(item, f"conversation {item}"), limit=40).text
