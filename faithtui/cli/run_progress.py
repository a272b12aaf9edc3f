"""A run's events on stderr: one line that updates on a terminal, plain lines elsewhere."""

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TextIO, assert_never

from faithtui.cli.output import is_quiet, plural, print_json
from faithtui.domain.durations import format_time_left
from faithtui.domain.judging.error_sentences import OUTPUT_FORMAT_WORDS, format_attempt_failure
from faithtui.domain.text.visible_text import make_visible, make_visible_line
from faithtui.engine.calls.budget import NUSD, BudgetCaps
from faithtui.engine.runs.events import (
    BatchRead,
    BatchSent,
    CallRetried,
    Draining,
    ItemFinished,
    ParameterRefused,
    RunEnded,
    RunEvent,
    RunProgress,
    RunStarted,
    StoreTroubled,
    WayChanged,
    WindowAssessed,
    WindowFailed,
)

REDRAW_S = 0.1
PLAIN_S = 5.0
"""Seconds between lines when nobody watches."""

RETRIES_S = 1.0
"""Seconds between two lines about attempts that are made again: a bad hour has thousands."""

NO_CAPS = BudgetCaps()


BAR = 16
"""Cells of the bar."""


def format_clock(seconds: float) -> str:
    """Write seconds as `0:07` or `1:02:33`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class ProgressLine:
    """An event sink that prints for users."""

    def __init__(
        self,
        out: TextIO | None = None,
        caps: BudgetCaps = NO_CAPS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            out: Where to write; None: stderr.
            caps: What the run may spend.
            clock: Seconds that never jump.
        """
        self._out = out or sys.stderr
        self._caps = caps
        self._retries = 0
        self._retry_shown_at: float | None = None
        self._live = self._out.isatty()
        self._clock = clock
        self._started_at = clock()
        self._drawn_at: float | None = None
        self._finished_before: int | None = None
        self._is_line_open = False

    def __call__(self, event: RunEvent) -> None:
        """Take an event."""
        if self._finished_before is None:
            self._finished_before = event.progress.finished_conversations
        if is_quiet() and not isinstance(event, StoreTroubled):
            return
        match event:
            case RunStarted() | WindowAssessed() | ItemFinished():
                self._redraw(event.progress)
            case WindowFailed():
                self._redraw(event.progress)
            case CallRetried():
                self._show_retry(event)
            case WayChanged():
                previous = OUTPUT_FORMAT_WORDS.get(event.left, event.left)
                current = OUTPUT_FORMAT_WORDS.get(event.taken, event.taken)
                self._print_line(
                    f"{previous} did not work with this judge; asking by {current} from now on"
                )
            case ParameterRefused():
                self._print_line(f"the model does not take {event.name}; it is not sent any more")
            case StoreTroubled():
                self._print_line(event.trouble or "the store can be written again; going on")
            case BatchSent():
                self._print_line(f"{plural(event.questions, 'question')} handed to the provider")
            case BatchRead():
                self._redraw(event.progress)
            case Draining():
                count = plural(event.progress.in_flight, "question")
                self._print_line(f"waiting for {count} in flight; Ctrl-C again stops at once")
            case RunEnded():
                self._redraw(event.progress, last=True)
            case _:
                assert_never(event)

    def _show_retry(self, event: CallRetried) -> None:
        """Report attempts that are made again, a few a second at most."""
        self._retries += 1
        now = self._clock()
        if self._retry_shown_at is not None and now - self._retry_shown_at < RETRIES_S:
            return
        more = f" ({self._retries} so far)" if self._retries > 1 else ""
        self._retry_shown_at = now
        why = format_attempt_failure(event.error, event.status, event.said)
        self._print_line(f"{event.step}: {why}; asked again in {event.wait_s:.1f} s{more}")

    def _redraw(self, progress: RunProgress, *, last: bool = False) -> None:
        now = self._clock()
        between_s = REDRAW_S if self._live else PLAIN_S
        if not last and self._drawn_at is not None and now - self._drawn_at < between_s:
            return
        self._drawn_at = now
        text = self._format_progress(progress, now - self._started_at)
        if self._live:
            # A line that wraps cannot be drawn over.
            text = text[: max(1, shutil.get_terminal_size().columns - 1)]
            self._out.write(f"\r\x1b[K{text}" + ("\n" if last else ""))
            self._is_line_open = not last
        else:
            self._out.write(text + "\n")
        self._out.flush()

    def print_lines(self, text: str) -> None:
        """Write lines for a person, above the line that updates."""
        self._print_above_progress_line(make_visible(text))

    def _print_line(self, text: str) -> None:
        self._print_above_progress_line(make_visible_line(text))

    def _print_above_progress_line(self, text: str) -> None:
        start = "\r\x1b[K" if self._is_line_open else ""
        self._out.write(f"{start}{text}\n")
        self._is_line_open = False
        self._out.flush()

    def _format_progress(self, progress: RunProgress, elapsed: float) -> str:
        fresh = progress.finished_conversations - (self._finished_before or 0)
        left = progress.conversations - progress.finished_conversations
        parts = [f"{progress.finished_conversations:,}/{progress.conversations:,} conversations"]
        if fresh and left:
            parts.append(format_time_left(elapsed / fresh * left))
        else:
            parts.append(format_clock(elapsed))
        parts.append(plural(progress.windows, "window"))
        again = f" ({progress.calls_again:,} asked again)" if progress.calls_again else ""
        parts.append(f"{plural(progress.calls, 'call')}{again}")
        if progress.calls and elapsed >= 1:
            parts.append(f"{60 * progress.calls / elapsed:,.0f}/min")
        if progress.calls_stored:
            parts.append(f"{progress.calls_stored:,} from the store")
        parts += self._format_spending(progress)
        if progress.failed:
            parts.append(f"{progress.failed:,} failed")
        if progress.incomplete:
            parts.append(f"{progress.incomplete:,} incomplete")
        if progress.skipped:
            parts.append(f"{progress.skipped:,} skipped")
        text = " · ".join(parts)
        return f"{_format_progress_bar(progress)} {text}" if self._live else text

    def _format_spending(self, progress: RunProgress) -> list[str]:
        parts = []
        if progress.cost_nusd or self._caps.nusd is not None:
            limit = "" if self._caps.nusd is None else f" of ${self._caps.nusd / NUSD:.2f}"
            parts.append(f"${progress.cost_nusd / NUSD:.4f}{limit}")
        if progress.unpriced_calls:
            parts.append(f"price of {plural(progress.unpriced_calls, 'call')} unknown")
        if progress.tokens_in or progress.tokens_out:
            cached = f" ({progress.tokens_cached:,} cached)" if progress.tokens_cached else ""
            parts.append(f"{progress.tokens_in:,} tokens in{cached}, {progress.tokens_out:,} out")
        return parts


def _format_progress_bar(progress: RunProgress) -> str:
    share = (
        progress.finished_conversations / progress.conversations if progress.conversations else 0.0
    )
    full = int(share * BAR)
    return f"[{'#' * full}{'.' * (BAR - full)}]"


def print_event_json(event: RunEvent, more: Mapping[str, object] | None = None) -> None:
    """An event sink for programs: one JSON object a line on stdout.

    Args:
        event: The event.
        more: What else belongs to it; None: nothing.
    """
    print_json({"event": type(event).__name__, **asdict(event), **(more or {})})
