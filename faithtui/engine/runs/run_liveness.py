"""Whether a run that the store calls running is: somebody must be working on it.

A process that was killed cannot write that down, so the store goes on saying `running`. Who reads
a run for people reads it through here.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from faithtui.domain.ids import RunId
from faithtui.engine.calls.leases import is_worker_gone
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store, utc_now


def read_runs_marking_interrupted(
    store: Store, clock: Callable[[], datetime] = utc_now
) -> tuple[RunRow, ...]:
    """List all runs as `Runs.rows` does, interrupted ones told from running ones."""
    return show_dead_runs_as_interrupted(store, store.runs.rows(), clock)


def read_run(store: Store, run: RunId, clock: Callable[[], datetime] = utc_now) -> RunRow:
    """Read one run as `Runs.row` does, an interrupted one told from a running one.

    Raises:
        StoreError: There is none with this number.
    """
    (row,) = show_dead_runs_as_interrupted(store, [store.runs.row(run)], clock)
    return row


def show_dead_runs_as_interrupted(
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
    ended = {run: store.runs.row(run).state for run in running if run not in worked_on}
    return tuple(
        row
        if row.id not in ended
        else replace(
            row,
            state=RunState.INTERRUPTED if ended[row.id] is RunState.RUNNING else ended[row.id],
        )
        for row in rows
    )
