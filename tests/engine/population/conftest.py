"""Results folders and stores to draw into."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.store.store import Store
from tests.engine.population.results import make_population, write_results


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> str:
    """120 conversations of three claims each, and four that failed, in two shards."""
    made = make_population(120, failed=4)
    folder = tmp_path_factory.mktemp("results") / "all"
    return str(write_results(folder, {"a": made[:70], "b": made[70:]}))


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("empty") / "store.db"
    Store.open(made).close()
    return made


@pytest.fixture
def store(tmp_path: Path, empty_store: Path) -> Iterator[Store]:
    path = tmp_path / "review.db"
    shutil.copy(empty_store, path)
    with Store.open(path) as opened:
        yield opened
