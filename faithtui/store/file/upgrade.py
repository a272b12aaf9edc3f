"""The tables of a file brought up to date: which version they are, and the missing revisions."""

import contextlib
import sqlite3
from pathlib import Path

from sqlalchemy import Connection

from faithtui.errors import ExportError, StoreError
from faithtui.store.file.backups import copy_before_upgrade
from faithtui.store.file.database_errors import read_schema_version
from faithtui.store.schema.identity import APPLICATION_ID, find_head_revision


def recognise_version(path: Path, raw: sqlite3.Connection) -> str | None:
    """Name the revision of a file, None when it is empty.

    Raises:
        StoreError: It is another program's, or a newer faithtui's.
    """
    (tables,) = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return None
    (owner,) = raw.execute("PRAGMA application_id").fetchone()
    if owner != APPLICATION_ID:
        raise StoreError(
            f"{path} is a database of another program; choose another file with --store"
        )
    version = read_schema_version(raw)
    if version is None:
        raise StoreError(
            f"{path} is damaged: it does not say of which version its tables are; "
            "go back to a copy with `faithtui backup --restore COPY`, or take over what can be "
            "read with `faithtui doctor --salvage NEW`"
        )
    if version > find_head_revision():
        raise StoreError(
            f"{path} was written by a newer faithtui (schema {version}, this one knows "
            f"{find_head_revision()}); update faithtui, or choose another file with --store"
        )
    return version


def copy_file_and_upgrade_tables(
    path: Path, writer: Connection, raw: sqlite3.Connection
) -> Path | None:
    """Run the missing revisions in one transaction.

    Args:
        path: The file.
        writer: The connection that may write.
        raw: The driver's connection of it.

    Returns:
        The copy of the file that was made before; None: the file was empty, or another process
        was faster.

    Raises:
        StoreError: No copy can be kept, or rows refer to what is not there; the file is as it was.
    """
    # Before the lock is taken: others wait for it, and on a busy machine this takes seconds.
    # A file that is up to date does without it.
    from faithtui.store.schema.migrations.upgrade import upgrade

    copy: Path | None = None
    # Revisions that rebuild a table need the rows of others to point at nothing meanwhile;
    # the pragma is ignored inside a transaction. Broken references are looked for at the end.
    raw.execute("PRAGMA foreign_keys = OFF")
    with contextlib.ExitStack() as if_it_fails:
        with writer.begin():
            version = recognise_version(path, raw)
            if version != find_head_revision():  # another process may have been faster
                if version is not None:
                    copy = _copy_file_before_upgrade(path, version)
                    if_it_fails.callback(copy.unlink)
                upgrade(writer)
                raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                if raw.execute("PRAGMA foreign_key_check").fetchone():
                    raise StoreError(
                        f"{path} has broken references and was not upgraded; "
                        "run `faithtui doctor` with the version that wrote it"
                    )
        if_it_fails.pop_all()
    raw.execute("PRAGMA foreign_keys = ON")
    return copy


def _copy_file_before_upgrade(path: Path, version: str) -> Path:
    """Copy the file before its tables are changed.

    Raises:
        StoreError: There is no room for it, or it cannot be written.
    """
    try:
        return copy_before_upgrade(path, version)
    except ExportError as error:
        raise StoreError(
            f"{path} is not upgraded, because no copy of it can be kept: {error}"
        ) from error
