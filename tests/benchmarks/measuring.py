"""Timing in turns: what is compared is measured under the same conditions."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.tui.terminal import Terminal

EMPTY_APP = """
from textual.app import App
from textual.widgets import Static

class Empty(App):
    count = 0
    def compose(self):
        yield Static("READY", id="text")
    def on_key(self, event):
        self.count += 1
        self.query_one("#text", Static).update(f"PRESSED {self.count}")

Empty().run()
"""
"""The least that a Textual app does: one word, and another one for each key."""


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best_of(rounds: int, **timed: Callable[[], float]) -> dict[str, float]:
    """Measure all in turns and give the best of each.

    Args:
        rounds: How often each is measured, at least 1.
        timed: Each gives its own time, in seconds.
    """
    found: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, measure in timed.items():
            found[name].append(measure())
    return {name: min(values) for name, values in found.items()}


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print figures."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    print(f"\n{title}")
    for row in [head, *rows]:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def ms(value: float) -> str:
    """Write seconds as milliseconds."""
    return f"{value * 1000:.2f} ms" if value < 0.01 else f"{value * 1000:.0f} ms"


def ratio(value: float, base: float) -> str:
    """Write how many times the base a value is."""
    return f"{value / base:.2f}x"


def environment(home: Path) -> dict[str, str]:
    """Give an environment without anybody's settings and keys."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FAITHTUI", "PYTHONDONTWRITE")) and not name.endswith("_API_KEY")
    }
    return {
        **kept,
        # What is installed is compiled, so what is measured must be too.
        "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "faithtui-bytecode"),
        "FAITHTUI_HOME": str(home),
        "FAITHTUI_REVIEWER": "ann",
        "LC_ALL": "C.UTF-8",
        "NO_PROXY": "*",
    }


def app(store: Path) -> list[str]:
    """Give the command that opens the app."""
    return [sys.executable, "-m", "faithtui", "--store", str(store)]


def empty_app() -> list[str]:
    """Give the command that opens the empty app."""
    return [sys.executable, "-c", EMPTY_APP]


def paint(command: Sequence[str], env: Mapping[str, str], seen: str) -> float:
    """Start a program and time it until a text is on the screen."""
    with Terminal(command, env) as terminal:
        terminal.wait(seen)
        return time.perf_counter() - terminal.began


def answer(terminal: Terminal, key: str, seen: str) -> float:
    """Press a key and time it until a text is painted, wherever on the screen."""
    start = len(terminal.painted)
    began = time.perf_counter()
    terminal.press(key)
    terminal.wait(lambda: seen in "".join(terminal.painted[start:]))
    return time.perf_counter() - began


def percentile(values: Sequence[float], percent: int) -> float:
    """Give the value that so many percent are not above; of at least one value."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def cpu_ms(pid: int) -> float:
    """Say how much CPU the living threads of a process have used, in ms; Linux alone tells."""
    tasks = Path(f"/proc/{pid}/task")
    return sum(int((each / "schedstat").read_text().split()[0]) for each in tasks.iterdir()) / 1e6


def resident_mb(pid: int) -> float:
    """Say how much memory a process has in use, in MB; Linux alone tells."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1000


ROOT = Path(__file__).parents[2]
SERVE = """
import sys
from tests.judges.fake_server import answering_server

with answering_server(float(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def serving(latency_s: float) -> Iterator[str]:
    """Run the server in a process of its own, so that it takes no time from the engine."""
    command = [sys.executable, "-c", SERVE, str(latency_s)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
