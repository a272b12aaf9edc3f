"""Connections that read a database file, and those that anything else opens to it."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Pool,
    QueuePool,
    Select,
    create_engine,
    event,
    func,
    select,
)

from faithtui.errors import StoreDamaged, StoreReadOnly
from faithtui.store.file.database_errors import (
    has_wal_or_journal,
    is_cannot_open_error,
    make_closed_error,
    make_sqlite_uri,
    translate_errors,
)
from faithtui.store.file.upgrade import recognise_version
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.schema.statements import compile_for_driver, get_driver_connection
from faithtui.store.schema.stored_json import (
    WAY_OUT,
    DamagedJson,
    describe_rows_of_damaged_json,
)

_IDS_PART_LENGTH = 8_000
"""Characters of joined ids that are made texts of their own at a time."""


class Readers:
    """Connections that see one snapshot each and cannot write.

    Args:
        path: The file.
        busy_timeout_s: How long to wait for a lock, in seconds.
        is_read_only: Nobody can write the file from here.
        is_closed: Says whether the store was closed.
    """

    def __init__(
        self,
        path: Path,
        busy_timeout_s: float,
        *,
        is_read_only: bool,
        is_closed: Callable[[], bool],
    ) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._is_read_only = is_read_only
        self._is_closed = is_closed
        self._unlogged_signature: tuple[int, int, int] | None = None
        """What the file was known by when it was opened without a log, because none can be shared
        from here; None: it is read with its log."""
        self._engine = make_engine(self._connect, "BEGIN", QueuePool)
        self._watcher: sqlite3.Connection | None = None
        self._watcher_lock = threading.Lock()

    @contextlib.contextmanager
    def open_snapshot_connection(self) -> Iterator[Connection]:
        """Lend a connection that sees one snapshot and cannot write.

        Raises:
            StoreError: The store is closed or cannot be read.
        """
        if self._is_closed():
            raise make_closed_error(self._path)
        self._reopen_if_changed()
        with translate_errors(self._path), self._engine.connect() as connection:
            try:
                yield connection
            except DamagedJson as error:
                raw = get_driver_connection(connection)
                sentence = describe_rows_of_damaged_json(raw, error)
                if sentence is None:
                    raise
                raise StoreDamaged(f"{sentence}; {WAY_OUT}") from error

    def read_first_row(
        self, statement: Select[Any], values: Mapping[str, object]
    ) -> list[Any] | None:
        """Read the first row there is now, in a single step of the driver.

        For what is looked up at every call of a judge, on the thread that asks all of them: a
        connection of the pool and a snapshot take five times as long.

        Args:
            statement: Made once; it is compiled when it is first used.
            values: Of its parameters.
        """
        compiled = compile_for_driver(statement)
        with self._watcher_lock, translate_errors(self._path):
            row = (
                self._get_short_read_connection()
                .execute(compiled.text, {**compiled.fixed, **values})
                .fetchone()
            )
        if row is None:
            return None
        return [
            value if read is None else read(value)
            for read, value in zip(compiled.readers, row, strict=True)
        ]

    def read_ids(self, statement: Select[Any]) -> tuple[int, ...]:
        """Read one column of integers; see `read_id_column`."""
        with self.open_snapshot_connection() as connection:
            return read_id_column(connection, statement)

    def read_change_number(self) -> int:
        """Give a number that changes with every commit, of this process or of another one."""
        self._reopen_if_changed()
        with self._watcher_lock, translate_errors(self._path):
            connection = self._get_short_read_connection()
            (number,) = connection.execute("PRAGMA data_version").fetchone()
        return int(number) if self._unlogged_signature is None else hash(self._unlogged_signature)

    def check_read_only_file(self) -> None:
        """Look at a file that is only read, and refuse what cannot be.

        Raises:
            StoreError: Its tables are older, or its log cannot be read from here.
        """
        try:
            version = self._read_schema_version()
        except sqlite3.OperationalError as error:
            # SQLite shares the log through a file beside it, which it cannot make here.
            if not is_cannot_open_error(error):
                raise
            if has_wal_or_journal(self._path):
                raise StoreReadOnly(
                    f"the last changes of {self._path} stand in a file beside it, which cannot be "
                    "read where nothing can be written; copy both to another directory"
                ) from error
            self._unlogged_signature = _file_signature(self._path)
            version = self._read_schema_version()
        if version != find_head_revision():
            raise StoreReadOnly(
                f"{self._path} has the schema of an older faithtui and cannot be upgraded, because "
                "it cannot be written; copy it to a directory of yours"
            )

    def close(self) -> None:
        """Close every connection nobody is reading from."""
        if self._watcher is not None:
            self._watcher.close()
        self._engine.dispose()

    def _get_short_read_connection(self) -> sqlite3.Connection:
        """Give the connection for short looks; whoever uses it holds the lock.

        `PRAGMA data_version` compares with what this very connection saw before, so nothing else
        may keep a transaction open on it.
        """
        if self._is_closed():
            raise make_closed_error(self._path)
        if self._watcher is None:
            self._watcher = self._connect()
        return self._watcher

    def _reopen_if_changed(self) -> None:
        """Open a file that is read without its log anew when its owner has written it.

        SQLite takes such a file for one that never changes, and would mix old pages with new ones.

        Raises:
            StoreError: The changes cannot be read from here.
        """
        if self._unlogged_signature is None:
            return
        with self._watcher_lock, translate_errors(self._path):
            # Once more under the lock: another thread may have opened it anew meanwhile.
            if self._unlogged_signature is None or self._unlogged_signature == _file_signature(
                self._path
            ):
                return
            self._unlogged_signature = None
            self._engine.dispose()
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
            try:
                self.check_read_only_file()
            except BaseException:
                self._unlogged_signature = (
                    0,
                    0,
                    0,
                )  # no file is known by it: looked at again next time
                raise

    def _read_schema_version(self) -> str | None:
        connection = self._connect()
        try:
            return recognise_version(self._path, connection)
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        mode = ""
        if self._is_read_only:
            mode = "?mode=ro" if self._unlogged_signature is None else "?immutable=1"
        return connect_to_file(self._path, self._busy_timeout_s, may_write=False, mode=mode)


def read_id_column(connection: Connection, statement: Select[Any]) -> tuple[int, ...]:
    """Read one column of integers, in the statement's order, in one step of the driver.

    For a hundred thousand ids this is several times faster than rows, and other threads run
    meanwhile.
    """
    ordered = statement.subquery()
    text: str = connection.scalar(select(func.group_concat(ordered.c[0]))) or ""
    return tuple(_iter_integers(text))


def _iter_integers(text: str) -> Iterator[int]:
    """Read integers between commas in parts, so that there are never as many texts as integers.

    A hundred thousand of them at once would be 6 MB that the process keeps.
    """
    start, end = 0, len(text)
    while start < end:
        stop = text.find(",", start + _IDS_PART_LENGTH)
        stop = end if stop < 0 else stop
        yield from map(int, text[start:stop].split(","))
        start = stop + 1


def make_engine(connect: Callable[[], sqlite3.Connection], begin: str, pool: type[Pool]) -> Engine:
    """Make an engine whose transactions begin with these words."""
    engine = create_engine(
        "sqlite://",
        creator=connect,
        poolclass=pool,
        hide_parameters=True,  # they are anybody's texts, and would stand in a traceback
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin), named=False)
    return engine


def connect_to_file(
    path: Path, busy_timeout_s: float, *, may_write: bool, mode: str = ""
) -> sqlite3.Connection:
    """Open a connection of the driver.

    Args:
        path: The file.
        busy_timeout_s: How long to wait for a lock, in seconds.
        may_write: Statements that write are allowed.
        mode: What follows the address, such as `?mode=ro`.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    connection = sqlite3.connect(
        make_sqlite_uri(path) + mode,
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,  # BEGIN is ours, so that it can be IMMEDIATE and cover DDL
        check_same_thread=False,  # the pool hands connections on, the writer's goes to its thread
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA query_only = {'OFF' if may_write else 'ON'}")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _file_signature(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
