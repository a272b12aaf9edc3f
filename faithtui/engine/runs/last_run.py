"""Which run `last` means where a run is read for what its judge said."""

from typing import TYPE_CHECKING, Final

from faithtui.domain.ids import RunId
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.store.store import Store

LAST: Final = "last"
_MOST_NAMED: Final = 3


def find_last_run_with_verdicts(store: "Store") -> RunId:
    """Find the newest run in which a judge gave a verdict.

    One that stopped before its first verdict is passed over: figures and exports of it are empty.

    Raises:
        ConfigError: There is none.
    """
    found = store.runs.find_newest_run_id(with_verdicts=True)
    if found is not None:
        return found
    rows = [row for row in store.runs.list_runs() if row.archived_at is None]
    if not rows:
        raise ConfigError("there is no run yet: faithtui run")
    named = ", ".join(f"run {row.id} ({row.state.value})" for row in rows[:_MOST_NAMED])
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    raise ConfigError(f"`last` is none of {named}{more}, which have no verdict yet; name a run")


def find_last_run_to_gate(store: "Store") -> RunId:
    """Find the newest run, to hold it against thresholds.

    An older run must not pass in the place of one that stopped before its first verdict.

    Raises:
        ConfigError: There is none, or it has no verdict.
    """
    found = find_last_run_with_verdicts(store)
    newest = store.runs.find_newest_run_id()
    if newest is not None and newest != found:
        state = store.runs.read_run(newest).state.value
        raise ConfigError(
            f"`last` is run {newest} ({state}), which has no verdict; the newest run that has any "
            f"is run {found}: name the run that is meant"
        )
    return found
