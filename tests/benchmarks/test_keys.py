"""How long a key takes to be answered on the screen."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.benchmarks.measuring import (
    answer,
    app,
    empty_app,
    environment,
    ms,
    ratio,
    table,
)
from tests.engine.building import conversation, store_with
from tests.judges.fake_server import answering_server
from tests.tui.terminal import DOWN, ENTER, Terminal

KEYS = 30
CLAIMS = 4


def summary(name: str, values: list[float], base: list[float]) -> tuple[str, str, str, str]:
    """Give median and 95th percentile, and the ratio of the medians."""
    p95 = statistics.quantiles(values, n=20)[-1]
    middle = statistics.median(values)
    return name, ms(middle), ms(p95), ratio(middle, statistics.median(base))


def empty_keys(home: Path) -> list[float]:
    """Time keys of the empty app."""
    with Terminal(empty_app(), environment(home)) as terminal:
        terminal.wait("READY")
        return [answer(terminal, DOWN, f"PRESSED {n + 1}") for n in range(KEYS)]


@contextmanager
def listing(store: Path, home: Path) -> Iterator[Terminal]:
    """Open the app on the conversations of its only run."""
    with Terminal(app(store), environment(home)) as terminal:
        terminal.wait("offline")
        terminal.press(ENTER)
        terminal.wait("CONVERSATIONS  #1")
        terminal.wait("Question 0 of c00000?")
        yield terminal


def test_down_in_the_list_and_verdicts(stores: dict[int, Path], tmp_path: Path) -> None:
    base = empty_keys(tmp_path)
    rows = [summary("empty app, one line", base, base)]
    medians: dict[str, dict[int, float]] = {"row": {}, "verdict": {}}
    for size, path in stores.items():
        with listing(path, tmp_path) as terminal:
            count = min(KEYS, size - 1)
            moves = []
            for number in range(1, count + 1):
                moves.append(answer(terminal, DOWN, f"─ c{number:05} "))
                terminal.settle(0.03)
            medians["row"][size] = statistics.median(moves)
            rows.append(summary(f"down, row and details of {size:,}", moves, base))
            terminal.press("\x1b[H")
            terminal.wait("> Question 0 of c00000?")
            terminal.press(ENTER)
            terminal.wait("REVIEW")
            terminal.wait("> claim 1/4")
            shown, kept = [], []
            for number in range(KEYS):
                terminal.settle(0.05)
                following = (number + 1) % CLAIMS + 1
                begun, start = time.perf_counter(), len(terminal.painted)
                moved = answer(terminal, "y", f"> claim {following}/{CLAIMS}")
                terminal.wait(lambda at=start: "saved " in "".join(terminal.painted[at:]))  # type: ignore[misc]
                kept.append(time.perf_counter() - begun)
                if following > 1:  # else the next conversation was read before it was shown
                    shown.append(moved)
            medians["verdict"][size] = statistics.median(shown)
            rows.append(summary(f"verdict, next claim shown, of {size:,}", shown, base))
            rows.append(summary(f"verdict, on the disk and told, of {size:,}", kept, base))
    table("keys, 120x40", ("", "p50", "p95", "to empty"), rows)
    small, large = stores
    for name, values in medians.items():
        assert values[large] < 3 * values[small], f"{name}: the size of the store must not matter"


def test_verdicts_while_64_questions_are_in_the_air(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    base = empty_keys(tmp_path)
    store_with(path, [conversation(f"c{number:04}", 4) for number in range(600)]).close()
    with answering_server(latency_s=0.3) as server:
        settings = f'judge = "openai:w"\nbase_url = "{server.url}"\nconcurrency = 64\n'
        (tmp_path / "config.toml").write_text(settings)
        with Terminal(app(path), environment(tmp_path)) as terminal:
            terminal.wait("No runs yet")
            terminal.press("n")
            terminal.wait("one run per metric")
            terminal.press("\x13")  # ctrl+s starts
            terminal.wait("PROGRESS  #1")
            terminal.wait(lambda: server.answered > 300 or not terminal.read(0.05))
            terminal.wait(lambda: terminal.read(0.05) and server.answered > 300)
            terminal.press("gv")
            terminal.wait("> claim 1/")
            moves, answered = [], server.answered
            for number in range(KEYS):
                terminal.settle(0.01)
                seen = "> claim 2/" if number % 2 == 0 else "> claim 1/"
                moves.append(answer(terminal, "j" if number % 2 == 0 else "k", seen))
            # Not how many are in flight now: a run that rests for keys has none for a moment.
            terminal.wait(lambda: terminal.read(0.05) and server.answered > answered)
            most = server.most_in_flight
    with Store.open(path, create=False) as store:
        assert store.runs.list_runs()[0].state is not RunState.DONE, "the run was to be under way"
    table(
        f"keys in review while {most} questions are in flight",
        ("", "p50", "p95", "to empty"),
        [summary("empty app, one line", base, base), summary("next claim, all panes", moves, base)],
    )
    assert most >= 60
