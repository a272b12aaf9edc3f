"""What can go wrong with a database file, said in sentences with a way out.

Only faults that a person can do something about are translated; a broken constraint or a query
that does not compile is a bug and keeps its traceback.
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy.exc import DBAPIError

from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import StoreBusy, StoreDamaged, StoreError, StoreFull

T = TypeVar("T")

_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        "the disk is full and this was not written to {path}; free some space and try again"
    ),
    sqlite3.SQLITE_BUSY: (
        "{path} is locked by another process; wait for it or close it, and try again"
    ),
    sqlite3.SQLITE_READONLY: (
        "{path} cannot be written; change its permissions or choose another file with --store"
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened; check the permissions of the file and of its directory"
    ),
    sqlite3.SQLITE_NOTADB: (
        "{path} is no database, or its first page is damaged; choose another file with --store, "
        "or go back to a copy with `faithtui backup --restore COPY`"
    ),
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged; go back to a copy with `faithtui backup --restore COPY`, or take over "
        "what can be read with `faithtui doctor --salvage NEW`"
    ),
    sqlite3.SQLITE_IOERR: (
        "{path} could not be read or written ({detail}); {limit}check the disk it is on, and "
        "whether a quota is used up"
    ),
}

_NOT_UTF_8 = re.compile(r"Could not decode to UTF-8 column '(\w+)'")
"""What the driver says of a text, without a code."""

_CHANGED_TEXT = (
    "a text in a column {column} of {path} is not what was written: something changed it later, "
    "and it is no UTF-8 any more; go back to a copy with `faithtui backup --restore COPY`, or take "
    "over what can be read with `faithtui doctor --salvage NEW`"
)

_KINDS = {sqlite3.SQLITE_FULL: StoreFull, sqlite3.SQLITE_BUSY: StoreBusy}
"""Faults that pass by themselves or with some help, so that whoever writes may wait."""

_PRIMARY_CODE = 0xFF
"""Extended result codes keep the plain one in their lowest byte."""

_RETRY_S = 0.02


def _get_primary_code(error: sqlite3.Error) -> int:
    # Errors that the driver makes up itself, such as a wrong number of parameters, have no code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY_CODE


@contextlib.contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn the driver's errors about the file into `StoreError`."""
    try:
        yield
    except (sqlite3.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not isinstance(cause, sqlite3.Error):
            raise
        sentence = _SENTENCES.get(_get_primary_code(cause))
        if sentence is None and (named := _NOT_UTF_8.match(str(cause))):
            raise StoreDamaged(_CHANGED_TEXT.format(path=path, column=named[1])) from error
        if sentence is None:
            raise
        kind = _KINDS.get(_get_primary_code(cause), StoreError)
        raise kind(
            sentence.format(path=path, detail=cause, limit=_describe_size_limit())
        ) from error


def _describe_size_limit() -> str:
    """Name the limit on the size of files, if there is one; "" if not.

    SQLite calls a file that may not grow an error of the disk.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return ""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        return ""
    return (
        f"files may grow to {limit:,} bytes here, so raise that limit (`ulimit -f unlimited`) and "
        "try again; or "
    )


def retry_while_busy(
    attempt: Callable[[], T],
    timeout_s: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Try again while another process holds the lock, where SQLite itself would not wait.

    Args:
        attempt: What needs the lock.
        timeout_s: For how many seconds it is tried again.
        clock: Seconds that never jump.
        sleep: Waits for seconds between two attempts.

    Raises:
        sqlite3.OperationalError: Still locked after the timeout, or anything else that is wrong.
    """
    deadline = clock() + timeout_s
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if _get_primary_code(error) != sqlite3.SQLITE_BUSY or clock() >= deadline:
                raise
        sleep(_RETRY_S)


def refuse_unusable_store_path(path: Path, *, create: bool) -> None:
    """Refuse a path that cannot hold a store, before anything touches it.

    Raises:
        StoreError: It is a directory, its directory is missing, there is no file and `create` is
            False or the directory cannot be written, or the file is empty or cannot be read.
    """
    directory = path.parent
    if path.is_dir():
        raise StoreError(f"{path} is a directory; name a file in it with --store")
    if not directory.is_dir():
        raise StoreError(
            f"there is no directory {directory}; make it, or choose another file with --store"
        )
    if not path.exists() and not create:
        raise StoreError(
            f"there is no store at {path}; import something into it first, or choose another "
            "file with --store"
        )
    if path.exists() and not path.stat().st_size and not get_wal_size(path):
        raise StoreError(
            f"{path} is empty, so it was cut or never held anything; put a copy in its place with "
            "`faithtui backup --restore COPY`, or delete it"
        )
    if not path.exists() and not os.access(directory, os.W_OK | os.X_OK):
        raise StoreError(
            f"the directory {directory} cannot be written; change its permissions or choose "
            "another file with --store"
        )
    if path.exists() and not os.access(path, os.R_OK):
        raise StoreError(
            f"{path} cannot be read; change its permissions or choose another file with --store"
        )


def can_write(path: Path) -> bool:
    """Whether a store that is there can be written, and the log that SQLite keeps beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def get_wal_size(path: Path) -> int:
    """Count the bytes of what is not folded into a store's file yet."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def has_wal_or_journal(path: Path) -> bool:
    """Whether a log or a journal beside a store's file may say something else than the file."""
    return bool(get_wal_size(path)) or path.with_name(path.name + "-journal").exists()


def is_cannot_open_error(error: sqlite3.Error) -> bool:
    """Whether SQLite could not open a file, such as the one beside a store that it shares."""
    return _get_primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def make_sqlite_uri(path: Path) -> str:
    """Write a path as an address for SQLite, also one of a share of Windows (`//server/share`)."""
    written = path.as_posix()
    return f"file://{'' if written.startswith('/') else '/'}{quote(written, safe='/:')}"


def read_schema_version(connection: sqlite3.Connection) -> str | None:
    """Read the revision of the tables; None where there is none, or what is there is none."""
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.DatabaseError:
        return None
    version = "" if row is None else str(row[0])
    return version if re.fullmatch("[0-9]{4}", version) else None


def make_closed_error(path: Path) -> StoreError:
    """Say that the store is closed.

    A thread that reads while the app leaves may have nobody left to hear it, and then it is
    printed as it is: so the path is made visible here.
    """
    return StoreError(f"{make_visible_line(str(path), 1_000)} is closed; open it again")
