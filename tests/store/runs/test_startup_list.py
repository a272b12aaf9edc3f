"""The list of runs before the store is open: the same as the store's own, or nothing."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from faithtui.store.records import RunState
from faithtui.store.runs.startup_list import MOST, read_startup_runs
from faithtui.store.store import Store
from tests.store.building import SPEC

NOON = datetime(2026, 11, 20, 12, 4, 19, 250_000, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs #1?.db"


def test_it_sees_what_the_store_sees(path: Path) -> None:
    with Store.open(path, clock=lambda: NOON) as store:
        runs = [store.runs.create(SPEC, store.conversations.list_ids()) for _ in range(3)]
        store.runs.set_state(runs[0], RunState.STOPPED, "a wrong key")
        store.runs.set_state(runs[1], RunState.DONE)
        store.runs.archive(runs[1:2])
        assert read_startup_runs(path) == store.runs.list_runs(), "also while somebody has it open"
        rows = store.runs.list_runs()
    assert read_startup_runs(path) == rows


def test_it_reads_no_more_than_the_newest(path: Path) -> None:
    with Store.open(path) as store:
        runs = [store.runs.create(SPEC, ()) for _ in range(MOST + 2)]
    found = read_startup_runs(path)
    assert found is not None
    assert [row.id for row in found] == runs[:1:-1]


def test_it_says_nothing_about_a_file_that_is_no_store(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("no database" * 100)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as raw:
        raw.execute("CREATE TABLE run (id INTEGER)")
    for file in (text, other, tmp_path / "missing.db", tmp_path):
        assert read_startup_runs(file) is None
    assert not (tmp_path / "missing.db").exists()


def test_it_leaves_an_older_store_to_the_upgrade(path: Path) -> None:
    with Store.open(path) as store:
        store.runs.create(SPEC, ())
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '0001'")
    assert read_startup_runs(path) is None
