"""The line on stderr that follows a run."""

import io

import pytest

from faithtui.cli.progress import ProgressLine
from faithtui.domain.ids import RunId
from faithtui.engine.events import Progress, RunStarted

MANY = Progress(2000, 1999, windows=31_000, calls=62_000, calls_stored=900, tokens_in=12_345_678)


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_live_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    ProgressLine(out)(RunStarted(RunId(1), MANY))
    assert out.getvalue() == "\r\x1b[K1999/2000 conversations · 31000 windows"
    assert len(out.getvalue()) - len("\r\x1b[K") == 39


def test_lines_in_a_file_are_whole_and_count_in_words() -> None:
    out = io.StringIO()
    ProgressLine(out)(RunStarted(RunId(1), Progress(1, 0, windows=1, calls=1)))
    assert out.getvalue() == "0/1 conversations · 1 window · 1 call · 0:00\n"
