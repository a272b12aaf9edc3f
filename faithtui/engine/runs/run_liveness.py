"""Whether a run that the store calls running is: somebody must be working on it.

A process that was killed cannot write that down, so the store goes on saying `running`. Who reads
a run for users reads it through here.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from faithtui.clock import utc_now
from faithtui.domain.ids import RunId
from faithtui.engine.calls.leases import is_worker_gone
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store


def read_runs_marking_interrupted(
    store: Store, clock: Callable[[], datetime] = utc_now
) -> tuple[RunRow, ...]:
    """List all runs as `Runs.list_runs` does, interrupted ones told from running ones."""
    return copy_rows_with_dead_runs_interrupted(store, store.runs.list_runs(), clock)


def read_run_marking_interrupted(
    store: Store, run: RunId, clock: Callable[[], datetime] = utc_now
) -> RunRow:
    """Read one run as `Runs.read_run` does, an interrupted one told from a running one.

    Raises:
        StoreError: There is none with this number.
    """
    (row,) = copy_rows_with_dead_runs_interrupted(store, [store.runs.read_run(run)], clock)
    return row


def list_runs_worked_on(store: Store, clock: Callable[[], datetime] = utc_now) -> tuple[RunId, ...]:
    """List the runs that some process works on now, this one too."""
    now = clock()
    workers = store.workers.list_workers()
    return tuple(
        each.run for each in workers if each.run is not None and not is_worker_gone(each, now)
    )


def copy_rows_with_dead_runs_interrupted(
    store: Store, rows: Iterable[RunRow], clock: Callable[[], datetime]
) -> tuple[RunRow, ...]:
    """Give runs the state `interrupted` that nobody works on any more, though they should be on.

    Args:
        store: Where they are.
        rows: As the store has them.
        clock: Tells the time, for processes of other machines.
    """
    rows = tuple(rows)
    running = [row.id for row in rows if row.state is RunState.RUNNING]
    if not running:
        return rows
    now = clock()
    worked_on = {
        each.run for each in store.workers.list_workers(running) if not is_worker_gone(each, now)
    }
    # Whoever ended meanwhile has taken its entry away and said how: that is read again.
    ended = {run: store.runs.read_run(run).state for run in running if run not in worked_on}
    return tuple(
        row
        if row.id not in ended
        else replace(
            row,
            state=RunState.INTERRUPTED if ended[row.id] is RunState.RUNNING else ended[row.id],
        )
        for row in rows
    )
