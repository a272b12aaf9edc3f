"""Stores to test with."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from faithtui.store.store import Store


class Clock:
    """A clock that moves one second each time it is read."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new store to copy, since making one anew takes Alembic a tenth of a second."""
    made = tmp_path_factory.mktemp("empty") / "store.db"
    Store.open(made).close()
    return made


@pytest.fixture
def store(path: Path, empty_store: Path) -> Iterator[Store]:
    shutil.copy(empty_store, path)
    with Store.open(path, clock=Clock()) as opened:
        yield opened
