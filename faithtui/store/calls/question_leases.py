"""Processes that are asking, and which question each holds a lease on.

Written at every call, so the statements are made once and the transactions are short.
"""

from collections.abc import Callable, Collection
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from faithtui.domain.ids import RunId
from faithtui.store.database import Database
from faithtui.store.records import WorkerRow
from faithtui.store.schema.judge_tables import lease, worker

WORKER_COLUMNS = (
    worker.c.uid,
    worker.c.host,
    worker.c.pid,
    worker.c.beats,
    worker.c.started_at,
    worker.c.run_id,
    worker.c.process,
    worker.c.beat_at,
)
_HOLDER = (
    select(*WORKER_COLUMNS)
    .select_from(lease.outerjoin(worker, worker.c.uid == lease.c.worker))
    .where(lease.c.key == bindparam("question"))
)
_LEASE = upsert(lease).on_conflict_do_nothing(index_elements=["key"])
_TAKE_OVER = (
    update(lease).where(lease.c.key == bindparam("question")).values(worker=bindparam("holder"))
)
RELEASE_LEASE = delete(lease).where(
    lease.c.key == bindparam("question"), lease.c.worker == bindparam("holder")
)
_BEAT = (
    update(worker)
    .where(worker.c.uid == bindparam("me"))
    .values(beats=worker.c.beats + 1, beat_at=bindparam("now"))
)


class Workers:
    """Processes at work on a store, and their leases."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def add_worker(self, me: WorkerRow) -> None:
        """Enter a process that is about to ask, or to work on a run."""
        row = asdict(me)
        row["run_id"] = row.pop("run")
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(insert(worker), row)
        )

    def record_heartbeat(self, uid: str) -> None:
        """Say that a process is alive."""
        now = {"me": uid, "now": self._clock()}
        self._database.run_in_write_transaction(lambda connection: connection.execute(_BEAT, now))

    def list_workers(self, runs: Collection[RunId] | None = None) -> tuple[WorkerRow, ...]:
        """List the processes that say they work on one of some runs, dead ones too.

        Args:
            runs: The runs; None: any run.
        """
        own = worker.c.run_id
        is_wanted = own.is_not(None) if runs is None else own.in_(runs)
        statement = select(*WORKER_COLUMNS).where(is_wanted)
        with self._database.open_reader() as connection:
            return tuple(WorkerRow(*row) for row in connection.execute(statement))

    def remove_worker_and_leases(self, uid: str) -> None:
        """Take a process and all its leases away."""

        def delete_rows(connection: Connection) -> None:
            connection.execute(delete(lease).where(lease.c.worker == uid))
            connection.execute(delete(worker).where(worker.c.uid == uid))

        self._database.run_in_write_transaction(delete_rows)

    def try_to_take_lease(self, key: str, uid: str, is_dead: Callable[[WorkerRow], bool]) -> bool:
        """Take the lease on a question, so that nobody else asks it meanwhile.

        Args:
            key: Names the question.
            uid: Who wants it.
            is_dead: Says whether whoever has it is gone; asked on the writer thread.

        Returns:
            False: somebody who lives has it.
        """

        def try_to_take(connection: Connection) -> bool:
            # Nearly always nobody has it.
            if connection.execute(_LEASE, {"key": key, "worker": uid}).rowcount:
                return True
            holder = connection.execute(_HOLDER, {"question": key}).one()
            if holder.uid is not None and not is_dead(WorkerRow(*holder)):
                return False
            connection.execute(_TAKE_OVER, {"question": key, "holder": uid})
            return True

        return self._database.run_in_write_transaction(try_to_take)

    def release_lease(self, key: str, uid: str) -> None:
        """Give a lease back; does nothing when it is not held."""
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(RELEASE_LEASE, {"question": key, "holder": uid})
        )
