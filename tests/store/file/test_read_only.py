"""A store that can only be read is read, and says so when something is to be written."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError, StoreReadOnly
from faithtui.store.store import Store
from tests.store.building import make_conversation
from tests.tui.building import shop

FIXTURES = Path(__file__).parents[3] / "fixtures" / "databases"


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
    (run,) = store.runs.list_runs()
    for item in store.runs.list_item_ids(run.id):
        assert store.runs.read_conversation_for_review(item, "ann").item.id == item
    assert store.labelled_units.read_report_units(run.id).claims
    assert store.bundles.make_label_bundle().acts
    assert store.read_change_number() == store.read_change_number()
    assert store.list_damage() == []


def test_nothing_is_written_and_that_is_said(path: Path) -> None:
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        claim = store.runs.read_conversation_for_review(
            store.runs.list_item_ids(RunId(1))[0], "ann"
        ).claims[0]
        with pytest.raises(StoreReadOnly, match=r"s\.db can only be read here; copy it"):
            store.conversations.import_batch([make_conversation()])
        with pytest.raises(StoreReadOnly):
            store.label_log.append_label_event(
                claim.id,
                "ann",
                Action.BLIND,
                "no",
                run=RunId(1),
                judge_verdict="yes",
                saw_judge=False,
            )
        waiting = store.submit(store.label_log.undo, "ann", urgent=True)
        with pytest.raises(StoreReadOnly):
            waiting.result()
    assert path.read_bytes() == before


def test_what_another_process_writes_meanwhile_is_seen(path: Path, store: Store) -> None:
    before, version = store.conversations.count(), store.read_change_number()
    with Store.open(path) as writer:
        writer.conversations.import_batch([make_conversation()])
        assert store.conversations.count() == before + 1
        assert store.read_change_number() != version


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


@contextlib.contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Do something as somebody who may read a folder and nothing else."""
    is_root = os.geteuid() == 0
    for path in (*folder.iterdir(), folder):
        path.chmod(path.stat().st_mode | 0o444 | (0o111 if path is folder else 0))
        if not is_root:
            path.chmod(path.stat().st_mode & ~0o222)
    if is_root:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if is_root:
            os.setresuid(0, 0, 0)
        for path in (folder, *folder.iterdir()):
            path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_viewer_without_rights_sees_what_the_owner_writes_later() -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "s.db"
        shop(path)
        with without_rights(path.parent):
            viewer = Store.open(path)
            before, version = viewer.conversations.count(), viewer.read_change_number()
            assert viewer.is_read_only
            assert viewer._database._readers._unlogged_signature is not None
        with Store.open(path) as owner:
            owner.conversations.import_batch([make_conversation()])
        with without_rights(path.parent):
            assert viewer.conversations.count() == before + 1
            assert viewer.read_change_number() != version
            assert viewer.list_damage() == []
            version = viewer.read_change_number()
            assert viewer.read_change_number() == version
        viewer.close()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_viewer_without_rights_says_what_it_cannot_read() -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "s.db"
        shop(path)
        with without_rights(path.parent):
            viewer = Store.open(path)
        os.utime(path)
        log = path.with_name("s.db-wal")
        log.write_bytes(b"x" * 4096)
        with without_rights(path.parent):
            for _ in range(2):
                with pytest.raises(StoreReadOnly, match="stand in a file beside it"):
                    viewer.conversations.count()
        log.unlink()
        with without_rights(path.parent):
            assert viewer.conversations.count() > 0
        viewer.close()
