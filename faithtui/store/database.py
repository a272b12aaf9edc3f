"""The database file: its connections and the one writer thread.

Everything that is true of SQLite alone stands here and in `store/file`: pragmas, locking, the file
itself. The other modules of the package speak SQLAlchemy Core and could speak it to another
database.

Readers get a connection from a pool and see one snapshot for as long as they hold it. Writers are
functions run one after the other on the writer thread, each in a transaction that takes the lock
at once: a transaction that reads first and writes later fails when somebody else wrote between.
"""

import contextlib
import functools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import (
    Connection,
    NullPool,
    Select,
)

from faithtui.errors import ExportError, StoreError, StoreReadOnly
from faithtui.output_files import write_atomically
from faithtui.store.file.backups import find_store_of_interrupted_restore
from faithtui.store.file.database_errors import (
    can_write,
    has_wal_or_journal,
    refuse_unusable_store_path,
    retry_while_busy,
    translate_errors,
)
from faithtui.store.file.readers import Readers, connect_to_file, make_engine
from faithtui.store.file.upgrade import copy_file_and_upgrade_tables, recognise_version
from faithtui.store.file.writer import Writer
from faithtui.store.schema.checksums import describe_corrupted_rows
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.schema.statements import get_driver_connection
from faithtui.store.schema.stored_json import describe_damaged_json
from faithtui.store.schema.undecodable_texts import describe_undecodable_texts

T = TypeVar("T")


class Database:
    """An open database file."""

    def __init__(self, path: Path, busy_timeout_s: float, *, read_only: bool = False) -> None:
        self.path = path
        self.is_read_only = read_only
        """Nothing can be written: the file or its directory does not allow it, or it was asked."""
        self.before_upgrade: Path | None = None
        """The copy that was made before the tables were changed, if they were."""
        self._busy_timeout_s = busy_timeout_s
        self._writer = Writer(path, make_engine(self._connect_writer, "BEGIN IMMEDIATE", NullPool))
        self._readers = Readers(
            path,
            busy_timeout_s,
            is_read_only=read_only,
            is_closed=lambda: self._writer.is_closed,
        )

    @classmethod
    def open(
        cls, path: Path, *, create: bool, busy_timeout_s: float, read_only: bool = False
    ) -> Self:
        """Open a file and bring its tables up to date; see `Store.open`."""
        path = path.resolve()
        moved = find_store_of_interrupted_restore(path)
        if moved is not None:
            raise StoreError(
                f"there is no store at {path}, as the restore of a copy was interrupted; the store "
                f"as it was is {moved}: give it its name back, or restore the copy again"
            )
        refuse_unusable_store_path(path, create=create)
        if not path.exists():
            if has_wal_or_journal(path):
                raise StoreError(
                    f"there is no store at {path}, but a log of one beside it, which would be "
                    "taken for the new one's; move the files whose names begin with "
                    f"{path.name}- away"
                )
            cls._create(path, busy_timeout_s)
        database = cls(path, busy_timeout_s, read_only=read_only or not can_write(path))
        try:
            with translate_errors(path):
                if database.is_read_only:
                    database._readers.check_read_only_file()
                else:
                    database._check_and_upgrade_file()
        except BaseException:
            database._close_connections()
            raise
        # Last: until then the writer's connection belongs to the thread that opens the store.
        if not database.is_read_only:
            database._writer.start()
        return database

    @classmethod
    def _create(cls, path: Path, busy_timeout_s: float) -> None:
        """Make a new store, which gets its name when it is whole: an empty file is never one.

        Raises:
            StoreError: It cannot be written.
        """
        try:
            with write_atomically(path, force=False) as new, translate_errors(path):
                database = cls(new, busy_timeout_s)
                try:
                    database._check_and_upgrade_file()
                    # Folds the log in and removes it: the file alone gets the new name.
                    database._writer.raw_connection.execute("PRAGMA journal_mode = DELETE")
                finally:
                    database._close_connections()
        except ExportError as error:
            if not path.exists():  # else another process was faster, and its store is as good
                raise StoreError(f"{path} cannot be made: {error}") from error

    @property
    def schema_version(self) -> str:
        """Revision of the tables."""
        with self.open_reader() as connection:
            return _read_schema_version(connection) or ""

    def open_reader(self) -> AbstractContextManager[Connection]:
        """Lend a connection that sees one snapshot and cannot write.

        See `Readers.open_snapshot_connection`.

        Raises:
            StoreError: The store is closed or cannot be read.
        """
        return self._readers.open_snapshot_connection()

    def read_first_row(
        self, statement: Select[Any], values: Mapping[str, object]
    ) -> list[Any] | None:
        """Read the first row there is now; see `Readers.read_first_row`."""
        return self._readers.read_first_row(statement, values)

    def read_ids(self, statement: Select[Any]) -> tuple[int, ...]:
        """Read one column of integers; see `Readers.read_ids`."""
        return self._readers.read_ids(statement)

    def read_change_number(self) -> int:
        """Give a number that changes with every commit, of this process or of another one."""
        return self._readers.read_change_number()

    def run_in_write_transaction(
        self, work: Callable[[Connection], T], *, durable: bool = False, urgent: bool = False
    ) -> T:
        """Run work in a transaction on the writer thread, and wait until it is committed.

        Called on the writer thread it runs at once, and inside another write it joins that
        transaction.

        Args:
            work: Gets the connection; whatever it raises undoes everything it wrote.
            durable: Return only when the disk has it, so that it outlives a power cut.
            urgent: Go before what is queued and not urgent.

        Raises:
            StoreError: Closed, locked by another process, read-only, disk full. Nothing of it was
                written.
        """
        self._check_writable()
        return self._writer.run_in_write_transaction(work, durable=durable, urgent=urgent)

    def delete_and_vacuum(self, work: Callable[[Connection], None]) -> str | None:
        """Run work that deletes in a transaction, and then get what it deleted out of the files.

        The file is written anew, since a page may hold old copies of rows beside those that are
        in use, and the log is folded in and emptied.

        Returns:
            Why bytes may be left in the files although the rows are gone, in a sentence; None:
            there are none.

        Raises:
            StoreError: As `run_in_write_transaction`; nothing was deleted.
        """
        self._check_writable()
        return self._writer.delete_and_vacuum(work)

    def submit(
        self,
        fn: Callable[..., T],
        *args: object,
        urgent: bool,
        durable: bool,
        shares: bool = False,
        **kwargs: object,
    ) -> Future[T]:
        """Run a function on the writer thread without waiting; see `Store.submit`."""
        try:
            self._check_writable()
        except StoreReadOnly as error:
            refused: Future[T] = Future()
            refused.set_exception(error)
            return refused
        return self._writer.submit(
            functools.partial(fn, *args, **kwargs), urgent=urgent, durable=durable, shares=shares
        )

    def _check_writable(self) -> None:
        """Refuse to write what can only be read.

        Raises:
            StoreReadOnly: The file or its directory does not allow it, or it was asked.
        """
        if self.is_read_only:
            raise StoreReadOnly(
                f"{self.path} can only be read here; copy it to a place where you may write"
            )

    @property
    def is_urgent_work_at_hand(self) -> bool:
        """Whether something urgent waits for the writer thread or runs there."""
        return self._writer.is_urgent_work_at_hand

    def wait_for_urgent_work(self) -> None:
        """Wait while something urgent waits or runs; see `Store.wait_for_urgent_writes`."""
        self._writer.wait_for_urgent_work()

    def tune_for_bulk_writes(self) -> AbstractContextManager[Callable[[], None]]:
        """Write much in less time; see `Store.tune_for_bulk_writes`.

        Raises:
            StoreError: Closed, or read-only.
        """
        self._check_writable()
        return self._writer.tune_for_bulk_writes()

    def delay_non_urgent_writes(self, seconds: float) -> None:
        """Let what is not urgent wait; see `Store.delay_non_urgent_writes`."""
        self._writer.delay_non_urgent_work(seconds)

    def list_damage(self) -> list[str]:
        """List what is wrong inside the file; see `Store.list_damage`."""
        damage: list[str] = []
        try:
            with self.open_reader() as connection:
                damage += connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                lost = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                changed = list(describe_corrupted_rows(connection))
                changed += describe_damaged_json(get_driver_connection(connection))
                changed += describe_undecodable_texts(get_driver_connection(connection))
        except StoreError as error:
            return [*_format_damage_lines(damage), str(error)]
        orphans = sorted({(table, row, parent) for table, row, parent, _ in lost})
        return [
            *_format_damage_lines(damage),
            *(
                f"row {row} of table {table} refers to a row of {parent} that is not there"
                for table, row, parent in orphans
            ),
            *changed,
        ]

    def close(self) -> None:
        """Run what is queued, fold the write-ahead log into the file, and let go of it."""
        if not self._writer.finish_jobs_and_stop_unless_stopped():
            return
        if self.is_read_only:
            self._close_connections()
            return
        # A reader elsewhere may keep the log from being folded in, and a full disk too. Nothing
        # is lost then: whoever opens the file next reads the log. A file that was damaged
        # meanwhile is reported by whoever reads it, and not here in place of what went wrong.
        with contextlib.suppress(sqlite3.DatabaseError):
            self._writer.raw_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._close_connections()

    def _connect_writer(self) -> sqlite3.Connection:
        mode = "?mode=ro" if self.is_read_only else ""
        return connect_to_file(self.path, self._busy_timeout_s, may_write=True, mode=mode)

    def _check_and_upgrade_file(self) -> None:
        """Look at the file, refuse what is not ours, and upgrade what is older."""
        writer = self._writer.connect()
        raw = self._writer.raw_connection
        version = retry_while_busy(lambda: recognise_version(self.path, raw), self._busy_timeout_s)
        if raw.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            # Changing the mode does not wait for a lock as other statements do.
            retry_while_busy(lambda: raw.execute("PRAGMA journal_mode = WAL"), self._busy_timeout_s)
        if version != find_head_revision():
            self.before_upgrade = copy_file_and_upgrade_tables(self.path, writer, raw)

    def _close_connections(self) -> None:
        """Close every connection nobody is reading from."""
        self._writer.close_connection()
        self._readers.close()


def _format_damage_lines(found: Sequence[str]) -> list[str]:
    return [f"the file is damaged: {line}" for line in found if line != "ok"]


def _read_schema_version(connection: Connection) -> str | None:
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
