"""Run every test, in many small processes that begin with the program already imported.

    python -m tests.parts

A process that runs tests imports 5,000 modules first, which takes as long as a hundred tests. Here
one process imports them and is forked for each part. Parts are small, so that all cores are busy to
the end and no process grows by the tests of hours. Files of one folder stay together, as they share
fixtures.
"""

import contextlib
import importlib
import os
import pkgutil
import sys
import tempfile
from itertools import groupby
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from tests.resources import read_held_mb

ROOT = Path(__file__).parents[1]
PROCESSES_PER_CORE = 2
"""Tests of screens wait more than they compute."""
PART_BYTES = 80_000
"""Source of the tests of one part."""
LOG = "log.txt"
MOST_MEMORY_MB = 400
OPTIONS = ("-q", "-p", "no:cacheprovider")
A_PROPERTY = "tests/domain/test_windows.py"
"""Tests with hypothesis, which reads the constants of the whole program when it collects them."""
NOT_IMPORTED = ("faithtui.__main__", "faithtui.store.schema.migrations.env")
"""The first runs the program, and the second is loaded by Alembic."""


class ProgramImport:
    """Plugin of pytest that imports the whole program, and makes what every part needs.

    pytest has its plugins then, whose assertions it rewrites when it imports them, and hypothesis
    reads constants next.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self) -> None:
        """Import every module, and make an empty store."""
        import faithtui
        from tests.store.building import read_empty_store

        for module in pkgutil.walk_packages(faithtui.__path__, "faithtui."):
            if module.name not in NOT_IMPORTED:
                importlib.import_module(module.name)
        read_empty_store()


def list_parts(root: Path) -> list[list[str]]:
    """Cut the files of tests into parts of about the same size, in the order of their paths."""
    ends: list[tuple[int, str]] = []
    read = 0
    for file in sorted((root / "tests").rglob("test_*.py")):
        if not file.is_relative_to(root / "tests" / "benchmarks"):
            ends.append((read // PART_BYTES, str(file.relative_to(root))))
            size = file.stat().st_size
            # Tests of populations load DuckDB and pyarrow, those of commands all there is: both
            # hold more than others do.
            weight = 3 if file.parent.name == "population" else 1.4 if "cli" in file.parts else 1
            read += int(size * weight)
    return [[path for _, path in part] for _, part in groupby(ends, key=lambda end: end[0])]


def run_part(part: list[str], folder: Path) -> None:
    """Run the tests of a part in this process, which was forked for it.

    Args:
        part: Files of tests.
        folder: Gets what pytest prints, and the temporary files.
    """
    with (folder / LOG).open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    code = pytest.main([*OPTIONS, f"--basetemp={folder / 'tests'}", *part])
    held_mb = read_held_mb()
    if held_mb is not None and held_mb > MOST_MEMORY_MB:
        # Something keeps what tests are done with: apps whose store nobody closed, once.
        print(f"this process holds {held_mb} MB after its tests, over {MOST_MEMORY_MB}", flush=True)
        sys.exit(1)
    # All tests of a part may be thorough.
    sys.exit(pytest.ExitCode.OK if code is pytest.ExitCode.NO_TESTS_COLLECTED else code)


def print_result(log: Path, *, passed: bool) -> None:
    """Print the last line of a part that passed, and all of one that failed."""
    lines = log.read_text(errors="replace").splitlines(keepends=True)
    sys.stdout.writelines(lines[-1:] if passed else lines)
    sys.stdout.flush()


def run_parts(parts: list[list[str]], processes: int, folder: Path) -> bool:
    """Run parts at the same time, the last first: tests of screens take longest.

    Args:
        parts: Files of tests of each.
        processes: How many at the same time.
        folder: For files of this run.

    Returns:
        Whether all passed.
    """
    waiting = list(parts)
    running: dict[object, tuple[ForkProcess, Path]] = {}
    passed = True
    while waiting or running:
        if waiting and len(running) < processes:
            own = folder / str(len(waiting))
            own.mkdir()
            (own / LOG).touch()  # a process that dies at once writes none
            process = ForkProcess(target=run_part, args=(waiting.pop(), own))
            process.start()
            running[process.sentinel] = (process, own)
            continue
        for ended in wait([process.sentinel for process, _ in running.values()]):
            process, own = running.pop(ended)
            process.join()
            print_result(own / LOG, passed=process.exitcode == 0)
            passed = passed and process.exitcode == 0
    return passed


def main() -> int:
    """Run every test.

    Returns:
        0 when all passed, else 1.
    """
    os.chdir(ROOT)
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        collected = pytest.main([*OPTIONS, "--collect-only", A_PROPERTY], plugins=[ProgramImport()])
    if collected:
        print(f"{A_PROPERTY} cannot be collected", file=sys.stderr)
        return 1
    # Paths with what Markdown escapes: a page that quotes one is the same on every machine.
    with tempfile.TemporaryDirectory(prefix="faithtui_tests_") as folder:
        processes = PROCESSES_PER_CORE * (os.cpu_count() or 1)
        return 0 if run_parts(list_parts(ROOT), processes, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
