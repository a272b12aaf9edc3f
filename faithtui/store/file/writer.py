"""The one writer of a database file: a thread, its connection, and what waits for it."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from faithtui.errors import StoreError
from faithtui.store.file.database_errors import make_closed_error, translate_errors
from faithtui.store.file.write_queue import WriteJob, WriteQueue

T = TypeVar("T")

MANY_WRITES_LOG_PAGES = 4_000
"""Pages after which the log is folded in while many rows are written: 16 MB. A label that is saved
meanwhile waits for the disk to have them."""
MANY_WRITES_CACHE_KB = 64_000
"""Page cache meanwhile. What is looked up by hashes lies anywhere in the file."""
_LOG_PAGES = 1_000
_CACHE_KB = 2_000
"""What SQLite takes by itself."""


class Writer:
    """Runs functions one after the other on a thread of its own, each in a transaction.

    Args:
        path: The file, for messages.
        engine: Makes the connection; its transactions take the lock when they begin.
    """

    def __init__(self, path: Path, engine: Engine) -> None:
        self._path = path
        self._engine = engine
        self._connection: Connection | None = None
        self._queue = WriteQueue()
        self._job_is_durable = False
        self._is_synchronous = False
        self._thread = threading.Thread(target=self._run_jobs, name="faithtui-writer", daemon=True)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is taken in."""
        return self._queue.is_closed

    def connect(self) -> Connection:
        """Open the connection, which is used by its opener until `start`."""
        self._connection = self._engine.connect()
        return self._connection

    def start(self) -> None:
        """Run what is given from now on."""
        self._thread.start()

    @property
    def raw_connection(self) -> sqlite3.Connection:
        """The driver's connection, for what must not begin a transaction."""
        assert self._connection is not None
        raw = self._connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        return raw

    def run_in_write_transaction(
        self, work: Callable[[Connection], T], *, durable: bool, urgent: bool
    ) -> T:
        """Run work in a transaction and wait until it is committed.

        See `Database.run_in_write_transaction`.
        """
        # On the thread itself, waiting for a job of its own queue would never end.
        if threading.current_thread() is self._thread:
            return self._run_in_transaction(work, durable)
        return self.add_job(lambda: self._run_in_transaction(work, durable), urgent=urgent).result()

    def submit(
        self, fn: Callable[[], T], *, urgent: bool, durable: bool, shares: bool
    ) -> Future[T]:
        """Run a function without waiting; see `Store.submit`."""

        def run() -> T:
            self._job_is_durable = durable
            try:
                return fn()
            finally:
                self._job_is_durable = False

        return self.add_job(run, urgent=urgent, shares=shares)

    def delete_and_vacuum(self, work: Callable[[Connection], None]) -> str | None:
        """Run work that deletes, and get what it deleted out of the files.

        See `Database.delete_and_vacuum`.
        """

        def run() -> str | None:
            raw = self.raw_connection
            # A page that stays in use keeps no bytes of what was deleted from it.
            raw.execute("PRAGMA secure_delete = ON")
            try:
                # Two steps, as VACUUM refuses to run inside a transaction.
                self._run_in_transaction(work, durable=True)
                return self._vacuum(raw)
            finally:
                raw.execute("PRAGMA secure_delete = OFF")

        return self.add_job(run, urgent=False).result()

    def delay_non_urgent_work(self, seconds: float) -> None:
        """Let what is not urgent wait; see `Store.delay_non_urgent_writes`."""
        self._queue.delay_non_urgent_work(seconds)

    @property
    def is_urgent_work_at_hand(self) -> bool:
        """Whether an urgent job waits or runs."""
        return self._queue.is_urgent_work_at_hand

    def wait_for_urgent_work(self) -> None:
        """Wait while urgent jobs wait or run; at once on the thread that runs them."""
        if threading.current_thread() is not self._thread:
            self._queue.wait_for_urgent_work()

    @contextlib.contextmanager
    def tune_for_bulk_writes(self) -> Iterator[Callable[[], None]]:
        """Hold more pages and fold the log in less often; see `Database.tune_for_bulk_writes`."""
        self._set_log_and_cache(MANY_WRITES_LOG_PAGES, MANY_WRITES_CACHE_KB)
        try:
            yield lambda: self._set_log_and_cache(MANY_WRITES_LOG_PAGES, _CACHE_KB)
        finally:
            # The store may be closed by now, and a full disk is reported by whoever writes next.
            with contextlib.suppress(StoreError, sqlite3.OperationalError):
                self._set_log_and_cache(_LOG_PAGES, _CACHE_KB)

    def _set_log_and_cache(self, log_pages: int, cache_kb: int) -> None:
        def run() -> None:
            raw = self.raw_connection
            raw.execute(f"PRAGMA wal_autocheckpoint = {log_pages}").fetchone()
            raw.execute(f"PRAGMA cache_size = {-cache_kb}")
            if log_pages == _LOG_PAGES:
                # Else whoever saves the next label would fold in what was written.
                raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if cache_kb == _CACHE_KB:
                raw.execute("PRAGMA shrink_memory")

        if threading.current_thread() is self._thread:
            run()
        else:
            self.add_job(run, urgent=False).result()

    def finish_jobs_and_stop_unless_stopped(self) -> bool:
        """Run what is queued and take nothing more in; False if that was said before."""
        if not self._queue.close_unless_closed():
            return False
        if self._thread.ident is not None:
            self._thread.join()
        return True

    def close_connection(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()

    def add_job(self, fn: Callable[[], T], *, urgent: bool, shares: bool = False) -> Future[T]:
        """Line a function up for the thread.

        Raises:
            StoreError: The store is closed.
        """
        future = self._queue.add_job(fn, urgent=urgent, shares=shares)
        if future is None:
            raise make_closed_error(self._path)
        return future

    def _vacuum(self, raw: sqlite3.Connection) -> str | None:
        """Write the file anew and empty its log; see `Database.delete_and_vacuum`."""
        try:
            with translate_errors(self._path):
                raw.execute("VACUUM")
                (is_busy, *_) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except StoreError as error:
            return f"the rows are deleted, but the file could not be written anew: {error}"
        if is_busy:
            return (
                f"the rows are deleted, but another process is reading {self._path}, and the log "
                "beside it may hold bytes of them; close that process, then run `faithtui doctor`"
            )
        return None

    def _run_in_transaction(self, work: Callable[[Connection], T], durable: bool) -> T:
        """Run work on the writer's connection. Only ever called on the writer thread."""
        assert self._connection is not None
        # A write inside a write: it is undone, or committed, with the one around it.
        if self._connection.in_transaction():
            return work(self._connection)
        with translate_errors(self._path):
            # Before the transaction, inside of which SQLite does not change it.
            self._set_synchronous(durable or self._job_is_durable)
            with self._connection.begin():
                return work(self._connection)

    def _set_synchronous(self, wanted: bool) -> None:
        """Let the next commits wait until the disk has them, or not."""
        if wanted is not self._is_synchronous:
            level = "FULL" if wanted else "NORMAL"
            self.raw_connection.execute(f"PRAGMA synchronous = {level}")
            self._is_synchronous = wanted

    def _run_jobs(self) -> None:
        """Run jobs until there will be no more."""
        for jobs in self._queue.iter_started_batches():
            if len(jobs) > 1:
                self._run_jobs_together(jobs)
            else:
                jobs[0].run_and_resolve()
            del jobs  # what was written may be large, and the next job may take long to come

    def _run_jobs_together(self, jobs: Sequence[WriteJob]) -> None:
        """Run jobs in one transaction, and report to whoever waits after the disk has it.

        A commit takes longer than most of what is written, and a disk may be slow. When one of
        them fails, none was written, and each is run by itself. When something urgent comes, the
        transaction ends after the job at hand, and the others wait again.
        """
        assert self._connection is not None
        results: list[Any] = []
        is_at_work = False
        try:
            with translate_errors(self._path):
                # Some of them may have to be durable, and one wait for the disk serves them all.
                self._set_synchronous(True)
                with self._connection.begin():
                    is_at_work = True
                    for job in jobs:
                        results.append(job.run())
                        if self._queue.is_urgent_work_at_hand:
                            break
                    is_at_work = False
        except BaseException as error:  # as above
            for job in jobs:
                if is_at_work:
                    job.run_and_resolve()
                else:  # the lock or the disk, for which each would wait in turn
                    job.future.set_exception(error)
            return
        self._queue.give_back_unrun_jobs(jobs[len(results) :])
        for job, result in zip(jobs, results, strict=False):
            job.future.set_result(result)
