"""A run's events on stderr: one line that updates on a terminal, plain lines elsewhere."""

import shutil
import sys
import time
from dataclasses import asdict
from typing import TextIO, assert_never

from faithtui.cli.output import plural, put_json
from faithtui.domain.plain import visible, visible_line
from faithtui.engine.events import (
    CallRetried,
    ItemFinished,
    Progress,
    RunEnded,
    RunEvent,
    RunStarted,
    WindowAssessed,
    WindowFailed,
)

REDRAW_S = 0.1
PLAIN_S = 5.0
"""Seconds between lines when nobody watches."""


def duration(seconds: float) -> str:
    """Write seconds as `0:07` or `1:02:33`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class ProgressLine:
    """An event sink for people."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._began = time.monotonic()
        self._drawn = 0.0
        self._before: int | None = None
        self._open = False

    def __call__(self, event: RunEvent) -> None:
        """Take an event."""
        if self._before is None:
            self._before = event.progress.finished
        match event:
            case RunStarted() | WindowAssessed() | ItemFinished():
                self._update(event.progress)
            case WindowFailed():
                self._update(event.progress)
            case CallRetried():
                wait = f"{event.step}: {event.error}, asked again in {event.wait_s:.1f} s"
                self._line(wait)
            case RunEnded():
                self._update(event.progress, last=True)
            case _:
                assert_never(event)

    def _update(self, progress: Progress, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._drawn < (REDRAW_S if self._live else PLAIN_S):
            return
        self._drawn = now
        text = self._text(progress, now - self._began)
        if self._live:
            # A line that wraps cannot be drawn over.
            text = text[: max(1, shutil.get_terminal_size().columns - 1)]
            self._out.write(f"\r\x1b[K{text}" + ("\n" if last else ""))
            self._open = not last
        else:
            self._out.write(text + "\n")
        self._out.flush()

    def tell(self, text: str) -> None:
        """Write lines for a person, above the line that updates."""
        self._lines(visible(text))

    def _line(self, text: str) -> None:
        self._lines(visible_line(text))

    def _lines(self, text: str) -> None:
        start = "\r\x1b[K" if self._open else ""
        self._out.write(f"{start}{text}\n")
        self._open = False
        self._out.flush()

    def _text(self, progress: Progress, elapsed: float) -> str:
        parts = [
            f"{progress.finished}/{progress.conversations} conversations",
            plural(progress.windows, "window"),
            plural(progress.calls, "call"),
        ]
        if progress.calls_stored:
            parts.append(f"{progress.calls_stored} from the store")
        if progress.tokens_in or progress.tokens_out:
            parts.append(f"{progress.tokens_in:,} tokens in, {progress.tokens_out:,} out")
        if progress.failed:
            parts.append(f"{progress.failed} failed")
        if progress.skipped:
            parts.append(f"{progress.skipped} skipped")
        fresh = progress.finished - (self._before or 0)
        left = progress.conversations - progress.finished
        if fresh and left:
            parts.append(f"{duration(elapsed / fresh * left)} to go")
        else:
            parts.append(duration(elapsed))
        return " · ".join(parts)


def print_event(event: RunEvent) -> None:
    """An event sink for programs: one JSON object a line on stdout."""
    put_json({"event": type(event).__name__, **asdict(event)})
