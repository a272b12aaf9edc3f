"""A store that can only be read is read, and says so when something is to be written."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.review import Action
from faithtui.errors import StoreError, StoreReadOnly
from faithtui.store.store import Store
from tests.store.building import talk
from tests.tui.building import shop

FIXTURES = Path(__file__).parents[2] / "fixtures" / "databases"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    shop(tmp_path / "s.db")
    return tmp_path / "s.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, read_only=True) as opened:
        yield opened


def test_everything_is_read(store: Store) -> None:
    assert store.is_read_only
    (run,) = store.runs.rows()
    for item in store.runs.item_ids(run.id):
        assert store.runs.review_view(item, "ann").item.id == item
    assert store.reviews.run_readings(run.id).claims
    assert store.bundles.collect().acts
    assert store.data_version() == store.data_version()
    assert store.check() == []


def test_nothing_is_written_and_that_is_said(path: Path) -> None:
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        claim = store.runs.review_view(store.runs.item_ids(RunId(1))[0], "ann").claims[0]
        with pytest.raises(StoreReadOnly, match=r"s\.db can only be read here; copy it"):
            store.conversations.import_batch([talk()])
        with pytest.raises(StoreReadOnly):
            store.reviews.record(
                claim.id,
                "ann",
                Action.BLIND,
                "no",
                run=RunId(1),
                judge_verdict="yes",
                saw_judge=False,
            )
        waiting = store.submit(store.reviews.undo, "ann", urgent=True)
        with pytest.raises(StoreReadOnly):
            waiting.result()
    assert path.read_bytes() == before


def test_what_another_process_writes_meanwhile_is_seen(path: Path, store: Store) -> None:
    before, version = store.conversations.count(), store.data_version()
    with Store.open(path) as writer:
        writer.conversations.import_batch([talk()])
        assert store.conversations.count() == before + 1
        assert store.data_version() != version


def test_tables_of_an_older_version_are_not_upgraded(tmp_path: Path) -> None:
    path = Path(shutil.copy(FIXTURES / "v9.sqlite", tmp_path / "old.db"))
    before = path.read_bytes()
    with pytest.raises(StoreReadOnly, match="older faithtui and cannot be upgraded"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == before


def test_a_closed_one_says_so(path: Path) -> None:
    store = Store.open(path, read_only=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.conversations.count()
