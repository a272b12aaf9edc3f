"""Several processes open one new store: each waits for the lock as long as its setting says."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from faithtui.store.file.database_errors import retry_while_busy
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.store import Store

ROUNDS = 10
OPEN_EACH = """
import sys
from pathlib import Path
from faithtui.store.store import Store
print("ready", flush=True)
for line in sys.stdin:
    with Store.open(Path(line.rstrip()), busy_timeout_s=600.0) as store:
        print(store.schema_version, flush=True)
"""
IMPORT_UNDER_WATCH = """
import sqlite3, sys
from pathlib import Path
from faithtui.store.store import Store

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "alembic":
            with sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None) as other:
                other.execute("BEGIN IMMEDIATE")
                other.execute("ROLLBACK")
            print("nobody holds the lock", flush=True)

sys.meta_path.insert(0, Watch())
Store.open(Path(sys.argv[1]), busy_timeout_s=0.0).close()
"""


@contextmanager
def opener() -> Iterator[subprocess.Popen[str]]:
    """Start a process that opens every store it is told of and says which revision it found."""
    command = [sys.executable, "-c", OPEN_EACH]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_processes_that_open_one_new_store_at_once_all_get_it(tmp_path: Path) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(opener()) for _ in range(4)]
        assert [heard(each) for each in processes] == ["ready"] * 4
        for number in range(ROUNDS):
            for each in processes:
                assert each.stdin is not None
                print(tmp_path / f"{number}.db", file=each.stdin, flush=True)
            assert [heard(each) for each in processes] == [find_head_revision()] * 4
    for number in range(ROUNDS):
        with Store.open(tmp_path / f"{number}.db", create=False) as store:
            assert store.list_damage() == []


@pytest.mark.thorough
def test_what_takes_long_to_import_is_there_before_others_have_to_wait(tmp_path: Path) -> None:
    command = [sys.executable, "-c", IMPORT_UNDER_WATCH, str(tmp_path / "s.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "nobody holds the lock\n"), done.stderr


class Clock:
    """Seconds that pass only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Hold a file open for reading: nobody can change its journal mode meanwhile."""
    reader = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM sqlite_master")
    yield reader
    reader.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    # Its own patience is none, so that every wait is ours.
    writer = sqlite3.connect(tmp_path / "s.db", timeout=0, isolation_level=None)
    yield writer
    writer.close()


def test_a_change_of_the_journal_mode_waits_until_the_lock_is_gone(
    reader: sqlite3.Connection, writer: sqlite3.Connection
) -> None:
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now > 59:
            reader.execute("COMMIT")

    retry_while_busy(
        lambda: writer.execute("PRAGMA journal_mode = WAL"), 60.0, clock=clock, sleep=sleep
    )
    assert 59 < clock.now < 60
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_lock_that_stays_is_waited_for_as_long_as_the_setting_says(
    reader: sqlite3.Connection, writer: sqlite3.Connection
) -> None:
    clock = Clock()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        retry_while_busy(
            lambda: writer.execute("PRAGMA journal_mode = WAL"),
            60.0,
            clock=clock,
            sleep=clock.sleep,
        )
    assert 60 <= clock.now < 61
