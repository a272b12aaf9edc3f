"""A program in a pseudo terminal, and the screen that its bytes paint.

Nothing here waits a fixed time: a test waits until something is on the screen, and the wait fails
with a picture of the screen when it never comes. What was on the screen is looked at frame by
frame, however the frames are cut into reads, so that no test depends on how fast the machine is.

The screen model is our own because the programs tested paint megabytes: `pyte` takes eight times
as long for them.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.cells import cell_len

DOWN, HOME, ENTER, TAB = "\x1b[B", "\x1b[H", "\r", "\t"
CTRL_Q, CTRL_S = "\x11", "\x13"
PATIENCE_S = 300.0
"""How long a text may take to appear before the test fails: far longer than on the busiest machine.
A test that passes never waits for it."""
_LOOK_S = 0.05
"""How often what is no text on the screen is looked at while nothing is painted."""

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM and APC, to their end
    r"|\x1b[ -/]*[0-Z\\`-~]",  # two or three bytes
    re.DOTALL,
)
_CONTROL = re.compile("([\x00-\x1f\x7f-\x9f])")
_FRAMES_KNOWN = b"\x1b[?2026$p"
_MOVE = re.compile(r"\x1b\[(\d*)(?:;(\d*))?[Hf]")


class Screen:
    """Cells as a terminal would show them; knows what a Textual program writes."""

    def __init__(self, columns: int, rows: int, on_frame: Callable[[], None]) -> None:
        """Begin empty.

        Args:
            columns: Width.
            rows: Height.
            on_frame: Called whenever a whole frame has been painted.
        """
        self._on_frame = on_frame
        self.frames = 0
        """How many were painted."""
        self.bells = 0
        """How often it rang."""
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        """Begin again at another size; the program paints everything anew."""
        self.columns, self.rows = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._x = self._y = 0

    @property
    def text(self) -> str:
        """All lines, without the blanks at their ends."""
        return "\n".join("".join(row).rstrip() for row in self._cells)

    def write(self, painted: str) -> None:
        """Take text and whole control sequences."""
        at = 0
        for found in _SEQUENCE.finditer(painted):
            self._put(painted[at : found.start()])
            self._obey(found[0])
            at = found.end()
        self._put(painted[at:])

    def _obey(self, sequence: str) -> None:
        move = _MOVE.fullmatch(sequence)
        if move is not None:
            self._y, self._x = int(move[1] or 1) - 1, int(move[2] or 1) - 1
        elif sequence in ("\x1b[2J", "\x1b[?1049h"):
            self.resize(self.columns, self.rows)
        elif sequence == "\x1b[?2026l":
            self.frames += 1
            self._on_frame()

    def _put(self, text: str) -> None:
        for part in _CONTROL.split(text):
            if part == "\r":
                self._x = 0
            elif part == "\n":
                self._y += 1
            elif part == "\a":
                self.bells += 1
            elif cell_len(part) == len(part):
                self._paint(list(part))
            else:
                for character in part:
                    self._paint([character, ""][: cell_len(character)])

    def _paint(self, cells: list[str]) -> None:
        if self._y < self.rows and self._x + len(cells) <= self.columns:
            self._cells[self._y][self._x : self._x + len(cells)] = cells
        self._x += len(cells)


class Terminal:
    """A program under way in a terminal of our own. A context manager that kills it at the end."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self.screen = Screen(columns, rows, self._look)
        self.bytes = bytearray()
        """Everything it wrote."""
        self.painted: list[str] = []
        """The same as text without control sequences, read by read. For measuring alone: how often
        a text is painted, and in how many pieces, is a matter of speed."""
        self._followed: dict[re.Pattern[str], list[re.Match[str]]] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._ended = self._hung_up = False
        self._ours, theirs = pty.openpty()
        try:
            self._set_size(columns, rows)
            self.began = time.perf_counter()
            self.process = subprocess.Popen(
                command,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
                start_new_session=True,
            )
        finally:
            os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self._hung_up:
            os.close(self._ours)

    @property
    def plain(self) -> str:
        """Everything it wrote, as text without control sequences."""
        return "".join(self.painted)

    def press(self, *keys: str) -> None:
        """Type keys, as the bytes a terminal sends for them."""
        data = "".join(keys).encode()
        while data:
            data = data[os.write(self._ours, data) :]

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal and tell the program."""
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)
        os.kill(self.process.pid, signal.SIGWINCH)

    def follow(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """List what a pattern found on the screen since it is followed, frame by frame.

        A text that stays counts once, however often it is painted. The list grows while the
        terminal is read.
        """
        return self._followed.setdefault(pattern, [])

    def wait(self, seen: str | Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Read until a text is on the screen, or until something is true.

        Raises:
            AssertionError: It never came, or the program ended first.
        """
        is_there = seen if callable(seen) else lambda: seen in self.screen.text
        deadline = time.perf_counter() + patience_s
        while not is_there():
            left = deadline - time.perf_counter()
            self.read(min(left, _LOOK_S))
            if is_there():
                return
            if left <= 0 or self._ended:
                why = f"waited {patience_s} s"
                if self._ended:
                    why = f"the program ended with {self.process.wait()}, saying last\n"
                    why += self.plain[-3000:]
                raise AssertionError(f"{seen!r} never came: {why}; the screen is\n{self.picture}")

    def settle(self, quiet_s: float = 0.05) -> None:
        """Read until nothing has been written for a while."""
        while self.read(quiet_s):
            pass

    def wait_end(self, patience_s: float = PATIENCE_S) -> int:
        """Read until the program has ended, and give its exit code."""
        deadline = time.perf_counter() + patience_s
        while not self._ended and time.perf_counter() < deadline:
            self.read(deadline - time.perf_counter())
        assert self._ended, f"it did not end; the screen is\n{self.picture}"
        return self.process.wait(timeout=patience_s)

    def kill(self) -> None:
        """End the program as `kill -9` does, and read what it had written before."""
        self.process.kill()
        while self.read(PATIENCE_S):
            pass
        self.process.wait()

    def hang_up(self, patience_s: float = PATIENCE_S) -> int:
        """Close the terminal as a window is closed, and give the exit code of the program.

        Raises:
            subprocess.TimeoutExpired: It goes on without a terminal.
        """
        self._ended = self._hung_up = True
        os.close(self._ours)
        return self.process.wait(timeout=patience_s)

    def read(self, seconds: float) -> bool:
        """Read once; False when nothing came in time or nothing will come any more."""
        ready, _, _ = select.select([self._ours], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # how Linux says that nobody has the other end open any more
            data = b""
        if not data:
            self._ended = True
            return False
        self._take(data)
        return True

    @property
    def picture(self) -> str:
        """The screen, framed."""
        rows = self.screen.text.split("\n")
        return "\n".join(("┌" + "─" * self.screen.columns, *(f"│{row}" for row in rows), "└"))

    def _take(self, data: bytes) -> None:
        self.bytes += data
        # Does the terminal know frames? Then each paint is one. The question may come in two reads.
        if _FRAMES_KNOWN in self.bytes[-len(data) - len(_FRAMES_KNOWN) + 1 :]:
            self.press("\x1b[?2026;2$y")
        text = self._rest + self._decoder.decode(data)
        # A sequence may be cut between two reads: keep an unfinished one for the next.
        start = text.rfind("\x1b")
        whole = len(text)
        if start >= 0 and _SEQUENCE.match(text, start) is None and len(text) - start < 100:
            whole = start
        self._rest = text[whole:]
        self.screen.write(text[:whole])
        self.painted.append(_SEQUENCE.sub("", text[:whole]))
        if not self.screen.frames:  # What comes before the program asked, or asks for none.
            self._look()

    def _look(self) -> None:
        """Look for all that is followed."""
        if not self._followed:
            return
        text = self.screen.text
        for pattern, found in self._followed.items():
            match = pattern.search(text)
            if match is not None and (not found or found[-1][0] != match[0]):
                found.append(match)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def command(store: Path) -> list[str]:
    """Start the program with the clock and the patience of a test, see `run_program`."""
    return [sys.executable, "-m", "tests.tui.terminal", "--store", str(store)]


def run_program() -> None:
    """Run the program with a clock that moves a second each time it is read, and with patience.

    So no two acts are called saved in the same words. And it has all the time it wants for leaving:
    a person does not wait for a slow disk when quitting, so the app gives up after a moment, and
    what it does in the time it has can only be tested where that moment does not pass.
    """
    from faithtui.cli.entry import main
    from faithtui.tui import app, posix_terminal, shutdown

    moments = map(lambda s: datetime(2026, 1, 2, 3, tzinfo=UTC) + timedelta(seconds=s), count())
    app.FaithApp = partial(app.FaithApp, now=moments.__next__)  # type: ignore[assignment,misc]  # it makes one
    shutdown.CLOSE_TIMEOUT_S = posix_terminal.HANGUP_TIMEOUT_S = PATIENCE_S
    main()


if __name__ == "__main__":
    run_program()
