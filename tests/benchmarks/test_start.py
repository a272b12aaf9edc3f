"""How long faithtui takes until it answers."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.measuring import (
    app,
    best_of,
    empty_app,
    environment,
    ms,
    paint,
    ratio,
    seconds,
    table,
)

HELP_AT_MOST = 3.0
"""Times a start of Python that imports Typer and does nothing else: what is ours to keep small."""


def test_help_against_an_import_of_typer(tmp_path: Path) -> None:
    env = environment(tmp_path)

    def runs(*words: str) -> Callable[[], float]:
        def run() -> object:
            return subprocess.run(
                [sys.executable, *words], env=env, stdout=subprocess.DEVNULL, check=True
            )

        return lambda: seconds(run)

    script = str(Path(sys.executable).with_name("faithtui"))
    found = best_of(
        15,
        python=runs("-c", "pass"),
        typer=runs("-c", "import typer.main"),
        module=runs("-m", "faithtui", "--help"),
        command=runs(script, "--help"),
    )
    base = found["typer"]
    rows = [
        (name, ms(value), ratio(value, found["python"]), ratio(value, base))
        for name, value in found.items()
    ]
    table("faithtui --help", ("", "best", "to python", "to typer"), rows)
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", script, "--help"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    ).stderr
    names = {line.rpartition("|")[2].strip().split(".")[0] for line in listed.splitlines()}
    print("  imports:", ", ".join(sorted(names - sys.stdlib_module_names - {"imported package"})))
    assert found["command"] < HELP_AT_MOST * base


def test_first_paint_against_an_empty_app(stores: dict[int, Path], tmp_path: Path) -> None:
    env = environment(tmp_path)

    def painted(command: Sequence[str], seen: str) -> Callable[[], float]:
        return lambda: paint(command, env, seen)

    small, large = stores
    found = best_of(
        5,
        empty=painted(empty_app(), "READY"),
        small=painted(app(stores[small]), "RUNS"),
        small_rows=painted(app(stores[small]), "offline"),
        large=painted(app(stores[large]), "RUNS"),
        large_rows=painted(app(stores[large]), "offline"),
    )
    words = {
        "empty": "empty Textual app",
        "small": f"frame, {small:,} conversations",
        "small_rows": f"rows, {small:,} conversations",
        "large": f"frame, {large:,} conversations",
        "large_rows": f"rows, {large:,} conversations",
    }
    rows = [(words[name], ms(value), ratio(value, found["empty"])) for name, value in found.items()]
    table("first paint", ("", "best", "to empty"), rows)
    assert found["large"] < 2 * found["small"], "the frame must not wait for the store"
    assert found["large_rows"] < 2 * found["small_rows"], "the size of the store must not matter"
