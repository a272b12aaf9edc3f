"""Copies of a store: made while others write to it, kept only when they are sound, put back."""

import contextlib
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from faithtui.errors import ExportError, StoreBusy, StoreError, StoreReadOnly
from faithtui.output_files import PART_OF_FILE, find_free_name, move_into_place, write_atomically
from faithtui.store.file.database_errors import (
    has_wal_or_journal,
    is_cannot_open_error,
    make_sqlite_uri,
    read_schema_version,
    translate_errors,
)
from faithtui.store.schema.checksums import describe_corrupted_rows_by_driver
from faithtui.store.schema.identity import APPLICATION_ID, find_head_revision

SIDE_FILE_SUFFIXES = ("-wal", "-shm", "-journal")
"""Ends of the files that belong to a store while it is open."""

_PART_OF_RESTORE: Final = f"{PART_OF_FILE}restore-"
"""Begin of the name of a copy that is being restored: nothing else that is half written has it."""


def copy_store_to_file(store: Path, file: Path) -> int:
    """Copy a store as it is at one moment, while others read and write it.

    Args:
        store: The store; any revision of it.
        file: Where to; must not be there yet.

    Returns:
        Bytes of the copy, which was opened and found sound.

    Raises:
        ExportError: The file is there already, or cannot be written.
        StoreError: There is no store, it cannot be read, or it is damaged; nothing was written.
    """
    refuse_existing_file(file)
    with write_atomically(file, force=False) as new:
        copy_database(store, new)
        problems = find_damage(new)
        if problems:
            raise StoreError(
                f"{store} is damaged and no copy was kept ({problems[0]}); "
                "`faithtui doctor --salvage NEW` takes over what can be read"
            )
        return new.stat().st_size


def restore_store(file: Path, store: Path) -> Path | None:
    """Put a copy in the place of a store. The store as it was is kept beside it.

    Args:
        file: The copy; it stays.
        store: The store.

    Returns:
        Where the store is now that was there before; None when there was none.

    Raises:
        ExportError: The copy cannot be written.
        StoreError: The copy is no store, or is damaged, or of a newer faithtui, or somebody has the
            store open; nothing was changed.
    """
    try:
        problems = find_damage(file)
    except StoreError as error:
        problems = [str(error).partition("; ")[0]]
    if problems:
        raise StoreError(
            f"{file} cannot be restored: {problems[0]}; take another copy, or take over what can "
            f"be read of this one: faithtui doctor --salvage NEW, with --store {file}"
        )
    if store.exists() and file.samefile(store):
        raise StoreError(f"{file} is the store itself; name a copy of it")
    store = store.resolve()
    try:
        number, name = tempfile.mkstemp(dir=store.parent, prefix=_PART_OF_RESTORE)
    except OSError as error:
        raise StoreReadOnly(
            f"{store} cannot be restored: {error.strerror or error}; copy {file} to a place where "
            "you may write"
        ) from error
    os.close(number)
    new = Path(name)
    try:
        copy_database(file, new)
        return _replace_store_and_keep_old_one(new, store)
    except OSError as error:
        raise ExportError(f"{store} cannot be restored: {error.strerror or error}") from error
    finally:
        new.unlink(missing_ok=True)


def refuse_existing_file(file: Path) -> None:
    """Refuse to write where anything is already.

    Raises:
        ExportError: Something is.
    """
    if os.path.lexists(file):
        raise ExportError(f"{file} is there already; name another file")


def list_database_files(store: Path) -> list[Path]:
    """Name the file of a store and those that SQLite keeps beside it; some may not be there."""
    return [store.with_name(store.name + end) for end in ("", *SIDE_FILE_SUFFIXES)]


def find_copies(store: Path) -> list[Path]:
    """Find the copies beside a store that upgrades and restores left; they hold its texts too."""
    name = rf"{re.escape(store.stem)}\.(schema-\d+|before-restore)(-\d+)?{re.escape(store.suffix)}"
    return sorted(each for each in store.parent.iterdir() if re.fullmatch(name, each.name))


def find_store_of_interrupted_restore(store: Path) -> Path | None:
    """Find where a store is that was moved aside for a copy which never came; None: nowhere."""
    if store.exists() or not store.parent.is_dir():
        return None
    name = f"{store.stem}.before-restore"
    aside = [each for each in find_copies(store) if each.name.startswith(name)]
    if not aside or not any(store.parent.glob(f"{_PART_OF_RESTORE}*")):
        return None
    return max(aside, key=lambda each: each.stat().st_ctime_ns)


def find_partial_files(store: Path) -> list[Path]:
    """Find files beside a store that are being written, or that a kill left half written."""
    return sorted(store.parent.glob(f"{PART_OF_FILE}*"))


def copy_before_upgrade(store: Path, version: str) -> Path:
    """Copy a store before its tables are changed.

    Returns:
        The copy, beside the store.

    Raises:
        ExportError: It cannot be written.
        StoreError: The store cannot be read.
    """
    file = find_free_name(store.with_name(f"{store.stem}.schema-{version}{store.suffix}"))
    with write_atomically(file, force=False) as new:
        copy_database(store, new)
    return file


def copy_database(source: Path, target: Path) -> None:
    """Copy a database, what is still in its log included, into one file without a log.

    Raises:
        StoreError: It cannot be read or written.
    """
    with translate_errors(source), _open_database_read_only(source) as old:
        new = sqlite3.connect(target, isolation_level=None)
        try:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
        finally:
            new.close()


def find_damage(file: Path) -> list[str]:
    """List what is wrong with a store's file, one sentence each; [] when it is sound.

    Raises:
        StoreError: There is no such file, or it cannot be read.
    """
    if not file.is_file():
        raise StoreError(f"there is no file {file}")
    with translate_errors(file), _open_database_read_only(file) as connection:
        try:
            (owner,) = connection.execute("PRAGMA application_id").fetchone()
            if owner != APPLICATION_ID:
                return ["it is no store of faithtui"]
            version = read_schema_version(connection)
            if version is None:
                return ["it does not say of which version its tables are"]
            newest = find_head_revision()
            if version > newest:
                return [f"a newer faithtui wrote it (schema {version}, this one knows {newest})"]
            found = [line for (line,) in connection.execute("PRAGMA integrity_check")]
            damage = [line for line in found if line != "ok"]
            if connection.execute("PRAGMA foreign_key_check").fetchone():
                damage.append("rows refer to rows that are not there")
            if version >= "0011":
                damage += describe_corrupted_rows_by_driver(connection)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            return [str(error)]
        return damage


@contextlib.contextmanager
def _open_database_read_only(file: Path) -> Iterator[sqlite3.Connection]:
    file = file.resolve()
    address = make_sqlite_uri(file)
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=5)
    try:
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if not is_cannot_open_error(error) or has_wal_or_journal(file):
                raise
            # The files beside it cannot be made here, and nothing stands in them.
            connection.close()
            connection = sqlite3.connect(f"{address}?immutable=1", uri=True)
        yield connection
    finally:
        connection.close()


def _replace_store_and_keep_old_one(new: Path, store: Path) -> Path | None:
    """Replace a store that nobody has open, and keep it under another name.

    Returns:
        Where it is now; None where there was none, or only a log or a journal of one.

    Raises:
        OSError: It cannot be replaced, and is where it was.
        StoreError: Somebody has it open.
    """
    aside = find_free_name(store.with_name(f"{store.stem}.before-restore{store.suffix}"))
    if not store.exists():
        _rename_store_files(store, aside)  # what is left of one, if anything
        move_into_place(new, store, force=False)
        return None
    with _lock_out_other_processes(store):
        if any(each.exists() for each in list_database_files(store)[1:]):
            _rename_and_replace_store(new, store, aside)
            return aside
        try:
            aside.hardlink_to(store)
        except OSError:  # a file system without links
            _rename_and_replace_store(new, store, aside)
            return aside
        try:
            # Two names, and then one step: a kill never leaves no store.
            move_into_place(new, store, force=True)
        except BaseException:
            # The copy may have the name of the store already: then this is the only other one.
            if store.exists() and aside.samefile(store):
                aside.unlink()
            raise
    return aside


def _rename_and_replace_store(new: Path, store: Path, aside: Path) -> None:
    try:
        _rename_store_files(store, aside)
        move_into_place(new, store, force=False)
    except BaseException as error:
        if not store.exists():
            _rename_store_files(aside, store)
        elif isinstance(error, OSError) and aside.exists():  # another process made one meanwhile
            raise ExportError(
                f"{store} cannot be restored: {error.strerror or error}; the store as it was "
                f"before: {aside}"
            ) from error
        raise


@contextlib.contextmanager
def _lock_out_other_processes(store: Path) -> Iterator[None]:
    """Hold a store alone, and end its log.

    Raises:
        StoreError: Somebody has it open.
    """
    if not store.stat().st_size and not has_wal_or_journal(store):
        yield  # SQLite would begin a database in it
        return
    connection = sqlite3.connect(store, timeout=0, isolation_level=None)
    try:
        with contextlib.suppress(sqlite3.DatabaseError):
            connection.execute("PRAGMA schema_version").fetchone()
        try:
            # Only whoever has the file alone can end its log, and nobody opens it in a transaction.
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreBusy(
                    f"{store} is open in another process; close it there, and try again"
                ) from error
        except sqlite3.DatabaseError:
            pass  # it is damaged, which is why a copy is put in its place
        else:
            if mode != ("delete",):
                raise StoreBusy(f"{store} is in use; close it where it is open, and try again")
        yield
    finally:
        connection.close()


def _rename_store_files(store: Path, to: Path) -> None:
    for part, name in zip(list_database_files(store), list_database_files(to), strict=True):
        if part.exists():
            part.rename(name)
