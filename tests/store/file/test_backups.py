"""A way back: copies made beside writers, copies put back, copies before upgrades."""

import errno
import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from faithtui.errors import ExportError, StoreBusy, StoreError
from faithtui.output_files import move_into_place
from faithtui.store.file import backups
from faithtui.store.file.backups import copy_store_to_file, find_damage, restore_store
from faithtui.store.file.salvage import salvage_to_new_store
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.store import Store
from tests.store.building import make_conversation

FIXTURES = Path(__file__).parents[3] / "fixtures" / "databases"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        store.conversations.import_batch([make_conversation("a"), make_conversation("b")])
    return path


def conversations(path: Path) -> int:
    with Store.open(path, create=False) as store:
        return store.conversations.count()


def test_a_copy_is_made_while_others_write(path: Path, tmp_path: Path) -> None:
    ended = threading.Event()
    with Store.open(path) as store:

        def write() -> None:
            number = 0
            while not ended.is_set():
                store.conversations.import_batch([make_conversation(f"more-{number}")])
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            sizes = [copy_store_to_file(path, tmp_path / f"{number}.db") for number in range(5)]
        finally:
            ended.set()
            writer.join()
        after = store.conversations.count()
    for number, size in enumerate(sizes):
        copy = tmp_path / f"{number}.db"
        assert find_damage(copy) == []
        assert copy.stat().st_size == size
        assert copy.stat().st_mode & 0o777 == 0o600
        assert 2 <= conversations(copy) <= after


def test_a_copy_has_what_only_the_log_has(path: Path, tmp_path: Path) -> None:
    with Store.open(path) as store:
        store.conversations.import_batch([make_conversation("c")])
        assert (tmp_path / "s.db-wal").stat().st_size
        copy_store_to_file(path, tmp_path / "copy.db")
    assert conversations(tmp_path / "copy.db") == 3


def test_a_copy_replaces_nothing(path: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("mine")
    for taken in (note, path, tmp_path / "s.db-wal"):
        with pytest.raises(ExportError):
            copy_store_to_file(path, taken)
    assert (note.read_text(), conversations(path)) == ("mine", 2)


def test_no_copy_of_a_damaged_store_is_kept(path: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM conversation")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"is damaged and no copy was kept .*--salvage"):
        copy_store_to_file(path, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_copy_is_put_back_and_the_store_as_it_was_is_kept(path: Path, tmp_path: Path) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    with Store.open(path) as store:
        store.conversations.import_batch([make_conversation("c")])
    aside = restore_store(tmp_path / "copy.db", path)
    assert aside == tmp_path / "s.before-restore.db"
    assert [conversations(each) for each in (path, aside, tmp_path / "copy.db")] == [2, 3, 2]
    again = restore_store(tmp_path / "copy.db", path)
    assert again == tmp_path / "s.before-restore-2.db"
    assert restore_store(tmp_path / "copy.db", tmp_path / "new.db") is None
    assert conversations(tmp_path / "new.db") == 2


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\0 and nothing", b"no database at all"])
def test_a_copy_takes_the_place_of_a_store_however_damaged(
    path: Path, tmp_path: Path, damage: bytes
) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    path.write_bytes(damage)
    aside = restore_store(tmp_path / "copy.db", path)
    assert aside is not None
    assert aside.read_bytes() == damage
    assert conversations(path) == 2


def test_a_store_that_is_open_elsewhere_is_not_replaced(path: Path, tmp_path: Path) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    with Store.open(path) as store:
        assert store.conversations.count() == 2
        with pytest.raises(StoreBusy, match="open in another process"):
            restore_store(tmp_path / "copy.db", path)
        store.conversations.import_batch([make_conversation("c")])
    assert conversations(path) == 3


@pytest.mark.parametrize("kind", ["text", "empty", "foreign", "newer", "damaged", "itself", "none"])
def test_what_is_no_sound_copy_is_not_put_back(path: Path, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / "copy.db"
    match kind:
        case "text":
            copy.write_text("a note " * 1_000)
        case "empty":
            copy.touch()
        case "foreign":
            connection = sqlite3.connect(copy)
            connection.execute("CREATE TABLE t (x)")
            connection.close()
        case "itself":
            copy = path
        case "none":
            pass
        case _:
            copy_store_to_file(path, copy)
            connection = sqlite3.connect(copy)
            change = {
                "newer": "UPDATE alembic_version SET version_num = '9999'",
                "damaged": "DELETE FROM conversation",
            }[kind]
            connection.execute(change)
            connection.commit()
            connection.close()
    with pytest.raises(StoreError):
        restore_store(copy, path)
    assert conversations(path) == 2


def test_a_restore_that_fails_leaves_the_store_in_place(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")

    def fail(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "copy_database", fail)
    with pytest.raises(ExportError, match="No space left"):
        restore_store(tmp_path / "copy.db", path)
    assert conversations(path) == 2


def test_the_file_is_copied_before_its_tables_are_changed(tmp_path: Path) -> None:
    path = Path(shutil.copy(FIXTURES / "v7.sqlite", tmp_path / "old.db"))
    for number in ("", "-2"):
        shutil.copy(FIXTURES / "v7.sqlite", path)
        with Store.open(path) as store:
            kept = store.before_upgrade
            assert store.schema_version == find_head_revision()
        assert kept == tmp_path / f"old.schema-0007{number}.db"
        assert kept.stat().st_mode & 0o777 == 0o600
        connection = sqlite3.connect(kept)
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        connection.close()
        assert version == "0007"
    with Store.open(path) as store:
        assert store.before_upgrade is None


def test_a_file_of_which_no_copy_can_be_kept_is_not_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(FIXTURES / "v7.sqlite", tmp_path / "old.db"))
    before = path.read_bytes()

    def fail(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "copy_database", fail)
    with pytest.raises(StoreError, match="is not upgraded, because no copy of it can be kept"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.glob("old.schema*")] == []


def test_a_store_that_was_cut_to_nothing_is_not_started_afresh(path: Path) -> None:
    path.write_bytes(b"")
    for create in (True, False):
        with pytest.raises(StoreError, match=r"is empty.*backup --restore"):
            Store.open(path, create=create)
    assert path.read_bytes() == b""


def test_a_new_store_is_its_owners_alone_and_leaves_nothing_else(tmp_path: Path) -> None:
    directory = tmp_path / "new"
    directory.mkdir()
    before = os.umask(0)
    try:
        with Store.open(directory / "s.db") as store:
            store.conversations.import_batch([make_conversation("a")])
            modes = {each.name: each.stat().st_mode & 0o777 for each in directory.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}
    assert [each.name for each in directory.iterdir()] == ["s.db"]


def hot_log(path: Path) -> None:
    """Leave a store as a killed writer does, with changes in its log alone."""
    with Store.open(path) as store:
        store.conversations.import_batch([make_conversation("in-the-log")])
        log = path.with_name(path.name + "-wal").read_bytes()
        content = path.read_bytes()
    path.write_bytes(content)
    path.with_name(path.name + "-wal").write_bytes(log)


def test_the_log_of_a_store_that_is_gone_is_not_taken_for_another_ones(
    path: Path, tmp_path: Path
) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    hot_log(path)
    path.unlink()
    with pytest.raises(StoreError, match=r"a log of one beside it.*s\.db- away"):
        Store.open(path)
    assert restore_store(tmp_path / "copy.db", path) is None
    assert conversations(path) == 2
    assert (tmp_path / "s.before-restore.db-wal").stat().st_size


def test_what_only_the_log_has_is_found_through_a_link(path: Path, tmp_path: Path) -> None:
    hot_log(path)
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    copy_store_to_file(link, tmp_path / "copy.db")
    assert conversations(tmp_path / "copy.db") == 3
    restore_store(tmp_path / "copy.db", link)
    assert link.is_symlink()
    assert conversations(path) == 3


@pytest.mark.thorough
def test_a_store_that_another_process_makes_meanwhile_is_not_replaced(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    put = move_into_place

    def late(new: Path, target: Path, *, force: bool) -> None:
        with Store.open(target) as other:
            other.conversations.import_batch([make_conversation(key) for key in "vwxyz"])
        put(new, target, force=force)

    monkeypatch.setattr(backups, "move_into_place", late)
    # A store keeps its name until the copy has it, so that nobody finds none.
    with pytest.raises(StoreBusy, match="is locked by another process"):
        restore_store(tmp_path / "copy.db", path)
    assert sorted(each.name for each in tmp_path.glob("*.db")) == ["copy.db", "s.db"]
    # Where a file has one name only, it has none for a moment.
    monkeypatch.setattr(Path, "hardlink_to", refuse_link)
    with pytest.raises(ExportError, match=r"as it was before: .*s\.before-restore\.db"):
        restore_store(tmp_path / "copy.db", path)
    assert conversations(path) == 5
    assert conversations(tmp_path / "s.before-restore.db") == 2


def refuse_link(*_: object) -> None:
    raise OSError(errno.EPERM, "no links here")


def test_a_store_that_a_killed_restore_moved_away_is_not_begun_anew(
    path: Path, tmp_path: Path
) -> None:
    """On a file system without links: neither a new one nor advice to import."""
    path.rename(tmp_path / "s.before-restore.db")
    (tmp_path / ".faithtui-restore-half").touch()
    path.with_name("s.db-shm").touch()  # else the fixture of new stores makes one
    for create in (True, False):
        with pytest.raises(StoreError, match="the restore of a copy was interrupted") as told:
            Store.open(path, create=create)
        assert f"as it was is {tmp_path / 's.before-restore.db'}: give it its name" in str(
            told.value
        )
    copy_store_to_file(tmp_path / "s.before-restore.db", tmp_path / "copy.db")
    restore_store(tmp_path / "copy.db", path)
    assert conversations(path) == 2


def test_a_deleted_store_beside_an_old_copy_and_half_an_export_is_begun_anew(
    path: Path, tmp_path: Path
) -> None:
    path.rename(tmp_path / "s.before-restore.db")  # of a restore long ago
    (tmp_path / ".faithtui-half").touch()
    assert backups.find_store_of_interrupted_restore(path) is None
    with Store.open(path) as store:
        assert store.conversations.count() == 0


def test_a_restore_names_its_copy_so_that_an_interrupted_one_is_found(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_store_to_file(path, tmp_path / "copy.db")
    found: list[Path | None] = []

    def look(new: Path, target: Path, *, force: bool) -> None:
        found.append(backups.find_store_of_interrupted_restore(target))
        move_into_place(new, target, force=force)

    monkeypatch.setattr(backups, "move_into_place", look)
    monkeypatch.setattr(Path, "hardlink_to", refuse_link)
    restore_store(tmp_path / "copy.db", path)
    assert found == [tmp_path / "s.before-restore.db"]


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("is_moved", [True, False])
def test_an_interrupted_restore_keeps_the_store_as_it_was(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_moved: bool, has_links: bool
) -> None:
    """Before the copy has the name of the store, and after it, while the folder is flushed."""
    with Store.open(tmp_path / "copy.db") as store:
        store.conversations.import_batch([make_conversation(key) for key in "cde"])

    def interrupt(new: Path, target: Path, *, force: bool) -> None:
        if is_moved:
            move_into_place(new, target, force=force)
        raise KeyboardInterrupt

    monkeypatch.setattr(backups, "move_into_place", interrupt)
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", refuse_link)
    with pytest.raises(KeyboardInterrupt):
        restore_store(tmp_path / "copy.db", path)
    aside = tmp_path / "s.before-restore.db"
    assert conversations(path) == (3 if is_moved else 2)
    assert aside.exists() == is_moved
    if is_moved:
        assert conversations(aside) == 2
    assert not list(tmp_path.glob(".faithtui-*"))


def test_a_journal_that_was_left_is_not_passed_over(path: Path, tmp_path: Path) -> None:
    plain, journal = tmp_path / "plain.db", tmp_path / "plain.db-journal"
    copy_store_to_file(path, plain)
    journal.write_bytes(b"something")
    with pytest.raises(StoreError):
        copy_store_to_file(plain, tmp_path / "copy.db")
    restore_store(path, plain)
    assert not journal.exists()
    assert conversations(plain) == 2


@pytest.mark.parametrize(
    "content",
    [
        "DELETE FROM alembic_version",
        "DROP TABLE alembic_version",
        "UPDATE alembic_version SET version_num = '001q'",
    ],
)
def test_tables_of_no_known_version_are_damage_with_a_way_out(
    path: Path, tmp_path: Path, content: str
) -> None:
    connection = sqlite3.connect(path)
    connection.execute(content)
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"does not say of which version.*--salvage NEW"):
        Store.open(path)
    with pytest.raises(StoreError, match="does not say of which version"):
        copy_store_to_file(path, tmp_path / "copy.db")
    found = salvage_to_new_store(path, tmp_path / "new.db")
    assert found.left_out == {}
    assert conversations(tmp_path / "new.db") == 2
