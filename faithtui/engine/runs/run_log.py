"""What a run leaves in the log: a line for each event that matters, and no text of anybody.

Windows and conversations that went well leave none: there may be a million of them.
"""

import logging
import time
from collections.abc import Callable

from faithtui import errors
from faithtui.domain.conversation import Conversation
from faithtui.engine.calls.send import CallCounts
from faithtui.engine.runs.events import (
    BatchRead,
    BatchSent,
    CallRetried,
    Draining,
    EventSink,
    ItemFinished,
    ParameterRefused,
    RunEnded,
    RunEvent,
    RunProgress,
    RunStarted,
    StoreTroubled,
    WayChanged,
    WindowFailed,
)
from faithtui.store.records import ItemState, RunRow, RunState

_log = logging.getLogger("faithtui.run")


def make_logging_sink(
    emit: EventSink,
    row: RunRow,
    tally: CallCounts,
    clock: Callable[[], float] = time.monotonic,
) -> EventSink:
    """Write events into the log, and hand them on; at the end, for whoever watches, the times.

    Args:
        emit: Gets every event afterwards.
        row: The run they are of.
        tally: Counts its calls.
        clock: Seconds that never jump.
    """
    began = clock()

    def on_event(event: RunEvent) -> None:
        line = choose_log_level_and_words(event, row)
        if line is not None:
            level, words = line
            _log.log(level, "run %d: %s", row.id, words)
        if isinstance(event, RunEnded):
            _log_times(row, tally, clock() - began)
        emit(event)

    return on_event


def log_unscored_conversation(
    row: RunRow, conversation: Conversation, state: ItemState, why: str
) -> None:
    """Report on screen why a conversation has no score; its name never gets into the file."""
    name = f"{conversation.source}/{conversation.key}"
    _log.debug("run %d: %s %s: %s", row.id, name, state.value, why)


def _log_times(row: RunRow, tally: CallCounts, seconds: float) -> None:
    for name, step in tally.steps.items():
        _log.debug(
            "run %d: step %s: %d calls, in which the judge took %.2f s, %d replies from the store",
            row.id,
            name,
            step.calls,
            step.judge_ms / 1000,
            step.stored,
        )
    _log.debug(
        "run %d: took %.2f s, with up to %d calls at once", row.id, seconds, row.spec.concurrency
    )


def choose_log_level_and_words(event: RunEvent, row: RunRow) -> tuple[int, str] | None:
    """Give a level and the words for an event; None where there is nothing to say."""
    match event:
        case RunStarted(progress=progress):
            spec = row.spec
            return logging.INFO, (
                f"started: {spec.metric} by {spec.judge_title} "
                f"at {spec.base_url or 'its own address'}, "
                f"{progress.finished_conversations} of {progress.conversations} "
                "conversations before, "
                f"{spec.concurrency} at once, {spec.profile.describe() or 'no parameters'}"
            )
        case CallRetried(step=step, error=error, wait_s=wait_s, status=status):
            after = "" if status is None else f" after HTTP {status}"
            return logging.WARNING, f"{step}: {error}, tried again in {wait_s:.1f} s{after}"
        case WayChanged(left=previous, taken=current):
            return logging.WARNING, f"asked by {current}, {previous} did not work"
        case ParameterRefused(name=name):
            return logging.WARNING, f"the model does not take {name}"
        case StoreTroubled(trouble=None):
            return logging.INFO, "the store can be written again"
        case StoreTroubled(trouble=trouble):
            return logging.WARNING, f"the store cannot be written: {trouble}"
        case WindowFailed(item=item, window=window, error=error):
            return logging.WARNING, f"item {item}, window {window}: {error}"
        case ItemFinished(item=item, state=ItemState.FAILED):
            return logging.WARNING, f"item {item} failed"
        case BatchSent(questions=questions):
            return logging.INFO, f"{questions} questions handed to the provider"
        case BatchRead(answered=answered, failed=failed):
            return logging.INFO, f"{answered} answers of a batch, {failed} questions without one"
        case Draining():
            return logging.INFO, "nothing more is asked; waiting for replies in flight"
        case RunEnded(state=state, reason=reason, progress=progress):
            level = logging.INFO if state is RunState.DONE else logging.WARNING
            why = f" ({redact_reason(reason)})" if reason else ""
            return level, f"{state.value}{why}: {_format_totals(progress)}"
        case _:
            return None


def redact_reason(reason: str) -> str:
    """Give the reason why a run ended, without what may be anybody's text.

    Only our own errors are reported in their words: those of a bug may quote what it stumbled over.
    """
    name, colon, _ = reason.partition(": ")
    if not colon or not name.isidentifier() or not name[:1].isupper():
        return reason
    known = getattr(errors, name, None)
    is_ours = isinstance(known, type) and issubclass(known, errors.FaithtuiError)
    return reason if is_ours else name


def _format_totals(progress: RunProgress) -> str:
    return (
        f"{progress.done} done, {progress.failed} failed, {progress.skipped} skipped of "
        f"{progress.conversations}; {progress.calls} calls, {progress.calls_stored} from the "
        f"store, {progress.retries} retries; {progress.tokens_in}+{progress.tokens_out} tokens, "
        f"{progress.cost_nusd / 1e9:.6f} USD, {progress.unpriced_calls} unpriced"
    )
