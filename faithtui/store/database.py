"""The database file: its connections and the one writer thread.

Everything that is true of SQLite alone stands here and in `faults`: pragmas, locking, the file
itself. The other modules of the package speak SQLAlchemy Core and could speak it to another
database.

Readers get a connection from a pool and see one snapshot for as long as they hold it. Writers are
functions run one after the other on the writer thread, each in a transaction that takes the lock
at once: a transaction that reads first and writes later fails when somebody else wrote between.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    NullPool,
    Pool,
    QueuePool,
    Select,
    create_engine,
    event,
    func,
    select,
)

from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ExportError, StoreError, StoreReadOnly
from faithtui.output_files import write_atomically
from faithtui.store.file.backups import copy_before_upgrade
from faithtui.store.file.errors import (
    can_write,
    check_path,
    has_changes_beside,
    is_unopened,
    make_sqlite_uri,
    read_version,
    retry_while_busy,
    translate_errors,
)
from faithtui.store.file.write_queue import WriteJob, WriteQueue
from faithtui.store.schema.checksums import find_changed_rows
from faithtui.store.schema.identity import APPLICATION_ID, HEAD
from faithtui.store.schema.statements import compile_for_driver

T = TypeVar("T")


class Database:
    """An open database file."""

    def __init__(self, path: Path, busy_timeout_s: float, *, read_only: bool = False) -> None:
        self.path = path
        self.is_read_only = read_only
        """Nothing can be written: the file or its directory does not allow it, or it was asked."""
        self._unlogged_signature: tuple[int, int, int] | None = None
        """What the file was known by when it was opened without a log, because none can be shared
        from here; None: it is read with its log."""
        self.before_upgrade: Path | None = None
        """The copy that was made before the tables were changed, if they were."""
        self._busy_timeout_s = busy_timeout_s
        self._readers = self._make_engine("BEGIN", QueuePool, reader=True)
        self._writers = self._make_engine("BEGIN IMMEDIATE", NullPool, reader=False)
        self._writer: Connection | None = None
        self._watcher: sqlite3.Connection | None = None
        self._write_queue = WriteQueue()
        self._watcher_lock = threading.Lock()
        self._job_is_durable = False
        self._is_synchronous = False
        self._thread = threading.Thread(target=self._run_jobs, name="faithtui-writer", daemon=True)

    @classmethod
    def open(
        cls, path: Path, *, create: bool, busy_timeout_s: float, read_only: bool = False
    ) -> Self:
        """Open a file and bring its tables up to date; see `Store.open`."""
        path = path.resolve()
        check_path(path, create=create)
        if not path.exists():
            if has_changes_beside(path):
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
                    database._check_read_only_file()
                else:
                    database._prepare()
        except BaseException:
            database._close_connections()
            raise
        if not database.is_read_only:
            database._thread.start()
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
                    database._prepare()
                    database._get_raw_writer().execute("PRAGMA journal_mode = DELETE")
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

    @contextlib.contextmanager
    def open_reader(self) -> Iterator[Connection]:
        """Lend a connection that sees one snapshot and cannot write.

        Raises:
            StoreError: The store is closed or cannot be read.
        """
        if self._write_queue.is_closed:
            raise self._make_closed_error()
        self._reopen_if_changed()
        with translate_errors(self.path), self._readers.connect() as connection:
            yield connection

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
        with self._watcher_lock, translate_errors(self.path):
            row = (
                self._get_watcher().execute(compiled.text, {**compiled.fixed, **values}).fetchone()
            )
        if row is None:
            return None
        return [
            value if read is None else read(value)
            for read, value in zip(compiled.readers, row, strict=True)
        ]

    def read_ids(self, statement: Select[Any]) -> tuple[int, ...]:
        """Read one column of integers, in the statement's order, in one step of the driver.

        For a hundred thousand ids this is several times faster than rows, and other threads run
        meanwhile.
        """
        ordered = statement.subquery()
        with self.open_reader() as connection:
            text = connection.scalar(select(func.group_concat(ordered.c[0])))
        return tuple(map(int, text.split(","))) if text else ()

    def write(
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
        if threading.current_thread() is self._thread:
            return self._run_in_transaction(work, durable)
        return self._enqueue(lambda: self._run_in_transaction(work, durable), urgent).result()

    def delete_and_vacuum(self, work: Callable[[Connection], None]) -> str | None:
        """Run work that deletes in a transaction, and then get what it deleted out of the files.

        The file is written anew, since a page may hold old copies of rows beside those that are
        in use, and the log is folded in and emptied.

        Returns:
            Why bytes may be left in the files although the rows are gone, in a sentence; None:
            there are none.

        Raises:
            StoreError: As `write`; nothing was deleted.
        """

        def run() -> str | None:
            raw = self._get_raw_writer()
            raw.execute("PRAGMA secure_delete = ON")
            try:
                self._run_in_transaction(work, durable=True)
                return self._vacuum(raw)
            finally:
                raw.execute("PRAGMA secure_delete = OFF")

        return self._enqueue(run, urgent=False).result()

    def _vacuum(self, raw: sqlite3.Connection) -> str | None:
        """Write the file anew and empty its log; see `delete_and_vacuum`."""
        try:
            with translate_errors(self.path):
                raw.execute("VACUUM")
                (is_busy, *_) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except StoreError as error:
            return f"the rows are deleted, but the file could not be written anew: {error}"
        if is_busy:
            return (
                f"the rows are deleted, but another process is reading {self.path}, and the log "
                "beside it may hold bytes of them; close that process, then run `faithtui doctor`"
            )
        return None

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

        def run() -> T:
            self._job_is_durable = durable
            try:
                return fn(*args, **kwargs)
            finally:
                self._job_is_durable = False

        return self._enqueue(run, urgent, shares)

    def rest_writer(self, seconds: float) -> None:
        """Let what is not urgent wait; see `Store.rest_writer`."""
        self._write_queue.rest_for(seconds)

    def data_version(self) -> int:
        """Give a number that changes with every commit, of this process or of another one."""
        self._reopen_if_changed()
        with self._watcher_lock, translate_errors(self.path):
            connection = self._get_watcher()
            (number,) = connection.execute("PRAGMA data_version").fetchone()
        return int(number) if self._unlogged_signature is None else hash(self._unlogged_signature)

    def _get_watcher(self) -> sqlite3.Connection:
        """Give the connection for short looks; whoever uses it holds the lock.

        `PRAGMA data_version` compares with what this very connection saw before, so nothing else
        may keep a transaction open on it.
        """
        if self._write_queue.is_closed:
            raise self._make_closed_error()
        if self._watcher is None:
            self._watcher = self._connect(reader=True)
        return self._watcher

    def check(self) -> list[str]:
        """List what is wrong inside the file; see `Store.check`."""
        damage: list[str] = []
        try:
            with self.open_reader() as connection:
                damage += connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
                lost = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
                changed = list(find_changed_rows(connection))
        except StoreError as error:
            return [*_damage_words(damage), str(error)]
        orphans = sorted({(table, row, parent) for table, row, parent, _ in lost})
        return [
            *_damage_words(damage),
            *(
                f"row {row} of table {table} refers to a row of {parent} that is not there"
                for table, row, parent in orphans
            ),
            *changed,
        ]

    def _make_closed_error(self) -> StoreError:
        """Say that the store is closed.

        A thread that reads while the app leaves may have nobody left to hear it, and then it is
        printed as it is: so the path is made visible here.
        """
        return StoreError(f"{make_visible_line(str(self.path), 1_000)} is closed; open it again")

    def close(self) -> None:
        """Run what is queued, fold the write-ahead log into the file, and let go of it."""
        if not self._write_queue.close():
            return
        if self.is_read_only:
            self._close_connections()
            return
        self._thread.join()
        # A reader elsewhere may keep the log from being folded in, and a full disk too. Nothing
        # is lost then: whoever opens the file next reads the log.
        with contextlib.suppress(sqlite3.OperationalError):
            self._get_raw_writer().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._close_connections()

    def _make_engine(self, begin: str, pool: type[Pool], *, reader: bool) -> Engine:
        """Make an engine whose transactions begin with these words."""
        engine = create_engine(
            "sqlite://",
            creator=lambda: self._connect(reader=reader),
            poolclass=pool,
            hide_parameters=True,  # they are anybody's texts, and would stand in a traceback
        )
        event.listen(
            engine, "begin", lambda connection: connection.exec_driver_sql(begin), named=False
        )
        return engine

    def _connect(self, *, reader: bool) -> sqlite3.Connection:
        address = make_sqlite_uri(self.path)
        if self.is_read_only:
            address += "?mode=ro" if self._unlogged_signature is None else "?immutable=1"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,  # BEGIN is ours, so that it can be IMMEDIATE and cover DDL
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA query_only = {'ON' if reader else 'OFF'}")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_read_only_file(self) -> None:
        """Look at a file that is only read, and refuse what cannot be.

        Raises:
            StoreError: Its tables are older, or its log cannot be read from here.
        """
        try:
            version = self._read_version()
        except sqlite3.OperationalError as error:
            # SQLite shares the log through a file beside it, which it cannot make here.
            if not is_unopened(error):
                raise
            if has_changes_beside(self.path):
                raise StoreReadOnly(
                    f"the last changes of {self.path} stand in a file beside it, which cannot be "
                    "read where nothing can be written; copy both to another directory"
                ) from error
            self._unlogged_signature = _file_signature(self.path)
            version = self._read_version()
        if version != HEAD:
            raise StoreReadOnly(
                f"{self.path} has the tables of an older faithtui and cannot be upgraded, because "
                "it cannot be written; copy it to a directory of yours"
            )

    def _reopen_if_changed(self) -> None:
        """Open a file that is read without its log anew when its owner has written it.

        SQLite takes such a file for one that never changes, and would mix old pages with new ones.

        Raises:
            StoreError: The changes cannot be read from here.
        """
        if self._unlogged_signature is None:
            return
        with self._watcher_lock, translate_errors(self.path):
            if self._unlogged_signature is None or self._unlogged_signature == _file_signature(
                self.path
            ):
                return
            self._unlogged_signature = None
            self._readers.dispose()
            if self._watcher is not None:
                self._watcher.close()
                self._watcher = None
            try:
                self._check_read_only_file()
            except BaseException:
                self._unlogged_signature = (
                    0,
                    0,
                    0,
                )  # no file is known by it: looked at again next time
                raise

    def _read_version(self) -> str | None:
        connection = self._connect(reader=True)
        try:
            return self._recognise_version(connection)
        finally:
            connection.close()

    def _prepare(self) -> None:
        """Look at the file, refuse what is not ours, and upgrade what is older."""
        self._writer = self._writers.connect()
        raw = self._get_raw_writer()
        version = retry_while_busy(lambda: self._recognise_version(raw), self._busy_timeout_s)
        if raw.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            # Changing the mode does not wait for a lock as other statements do.
            retry_while_busy(lambda: raw.execute("PRAGMA journal_mode = WAL"), self._busy_timeout_s)
        if version != HEAD:
            self._upgrade(self._writer, raw)

    def _recognise_version(self, raw: sqlite3.Connection) -> str | None:
        """Tell the revision of the file, None when it is empty.

        Raises:
            StoreError: It is another program's, or a newer faithtui's.
        """
        (tables,) = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            return None
        (owner,) = raw.execute("PRAGMA application_id").fetchone()
        if owner != APPLICATION_ID:
            raise StoreError(
                f"{self.path} is a database of another program; choose another file with --store"
            )
        version = read_version(raw)
        if version is None:
            raise StoreError(
                f"{self.path} is damaged: it does not say of which version its tables are; "
                "go back to a copy with `faithtui backup --restore COPY`, or take over what can be "
                "read with `faithtui doctor --salvage NEW`"
            )
        if version > HEAD:
            raise StoreError(
                f"{self.path} was written by a newer faithtui (tables {version}, this one knows "
                f"{HEAD}); update faithtui, or choose another file with --store"
            )
        return version

    def _upgrade(self, writer: Connection, raw: sqlite3.Connection) -> None:
        """Run the missing revisions in one transaction."""
        # Before the lock is taken: others wait for it, and on a busy machine this takes seconds.
        # A file that is up to date does without it.
        from faithtui.store.schema.migrations.upgrade import upgrade

        # Revisions that rebuild a table need the rows of others to point at nothing meanwhile;
        # the pragma is ignored inside a transaction. Broken references are looked for at the end.
        raw.execute("PRAGMA foreign_keys = OFF")
        try:
            self._run_revisions(writer, raw, upgrade)
        except BaseException:
            if self.before_upgrade is not None:  # the file is as it was
                self.before_upgrade.unlink()
            raise
        raw.execute("PRAGMA foreign_keys = ON")

    def _run_revisions(
        self, writer: Connection, raw: sqlite3.Connection, upgrade: Callable[[Connection], None]
    ) -> None:
        with writer.begin():
            version = self._recognise_version(raw)
            if version != HEAD:  # another process may have been faster
                if version is not None:
                    self.before_upgrade = self._keep_copy(version)
                upgrade(writer)
                raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                if raw.execute("PRAGMA foreign_key_check").fetchone():
                    raise StoreError(
                        f"{self.path} has broken references and was not upgraded; "
                        "run `faithtui doctor` with the version that wrote it"
                    )

    def _keep_copy(self, version: str) -> Path:
        """Copy the file before its tables are changed.

        Raises:
            StoreError: There is no room for it, or it cannot be written.
        """
        try:
            return copy_before_upgrade(self.path, version)
        except ExportError as error:
            raise StoreError(
                f"{self.path} is not upgraded, because no copy of it can be kept: {error}"
            ) from error

    def _get_raw_writer(self) -> sqlite3.Connection:
        """Give the driver's connection, for what must not begin a transaction."""
        assert self._writer is not None
        raw = self._writer.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        return raw

    def _run_in_transaction(self, work: Callable[[Connection], T], durable: bool) -> T:
        """Run work on the writer's connection. Only ever called on the writer thread."""
        assert self._writer is not None
        if self._writer.in_transaction():
            return work(self._writer)
        with translate_errors(self.path):
            self._set_synchronous(durable or self._job_is_durable)
            with self._writer.begin():
                return work(self._writer)

    def _set_synchronous(self, wanted: bool) -> None:
        """Let the next commits wait until the disk has them, or not."""
        if wanted is not self._is_synchronous:
            level = "FULL" if wanted else "NORMAL"
            self._get_raw_writer().execute(f"PRAGMA synchronous = {level}")
            self._is_synchronous = wanted

    def _enqueue(self, fn: Callable[[], T], urgent: bool, shares: bool = False) -> Future[T]:
        """Line a function up for the writer thread."""
        if self.is_read_only:
            refused: Future[T] = Future()
            refused.set_exception(
                StoreReadOnly(
                    f"{self.path} can only be read here; copy it to a place where you may write"
                )
            )
            return refused
        future = self._write_queue.put(fn, urgent=urgent, shares=shares)
        if future is None:
            raise self._make_closed_error()
        return future

    def _run_jobs(self) -> None:
        """Run jobs until there will be no more."""
        for jobs in self._write_queue.take_batches():
            if len(jobs) > 1:
                self._run_jobs_together(jobs)
            else:
                jobs[0].finish()
            del jobs  # what was written may be large, and the next job may take long to come

    def _run_jobs_together(self, jobs: Sequence[WriteJob]) -> None:
        """Run jobs in one transaction, and tell whoever waits after the disk has it.

        A commit takes longer than most of what is written, and a disk may be slow. When one of
        them fails, none was written, and each is run by itself.
        """
        assert self._writer is not None
        results: list[Any] = []
        is_at_work = False
        try:
            with translate_errors(self.path):
                self._set_synchronous(True)
                with self._writer.begin():
                    is_at_work = True
                    results += [job.run() for job in jobs]
                    is_at_work = False
        except BaseException as error:  # as above
            for job in jobs:
                if is_at_work:
                    job.finish()
                else:  # the lock or the disk, for which each would wait in turn
                    job.future.set_exception(error)
            return
        for job, result in zip(jobs, results, strict=True):
            job.future.set_result(result)

    def _close_connections(self) -> None:
        """Close every connection nobody is reading from."""
        if self._writer is not None:
            self._writer.close()
        if self._watcher is not None:
            self._watcher.close()
        self._writers.dispose()
        self._readers.dispose()


def _file_signature(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _damage_words(found: Sequence[str]) -> list[str]:
    return [f"the file is damaged: {line}" for line in found if line != "ok"]


def _read_schema_version(connection: Connection) -> str | None:
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
