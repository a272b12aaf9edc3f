"""Which run `last` means where a run is read for what its judge said."""

from typing import TYPE_CHECKING, Final

from faithtui.domain.ids import RunId
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.store.store import Store

LAST: Final = "last"
_MOST_NAMED: Final = 3


def find_last_run(store: "Store") -> RunId:
    """Find the newest run; one that is archived is put away, and must be named.

    Raises:
        ConfigError: There is none.
    """
    newest = store.runs.find_newest_run_id()
    if newest is None:
        raise ConfigError("there is no run yet: faithtui run")
    if store.runs.read_run(newest).archived_at is not None:
        raise ConfigError(_explain_that_all_runs_are_archived(newest))
    return newest


def _explain_that_all_runs_are_archived(example: RunId) -> str:
    return (
        f"`last` is none of the runs: all are archived; name one, or faithtui restore {example} "
        "lists it again"
    )


def find_last_run_with_verdicts(store: "Store") -> RunId:
    """Find the newest run in which a judge gave a verdict.

    One that stopped before its first verdict is passed over: figures and exports of it are empty.

    Raises:
        ConfigError: There is none.
    """
    found = store.runs.find_newest_run_id(with_verdicts=True)
    if found is not None:
        return found
    raise ConfigError(_explain_why_no_run_has_verdicts(store))


def _explain_why_no_run_has_verdicts(store: "Store") -> str:
    rows = store.runs.list_runs()
    if not rows:
        return "there is no run yet: faithtui run"
    shown = [row for row in rows if row.archived_at is None]
    judged = next((row.id for row in rows if row.claims > row.missing_verdicts), None)
    if not shown:
        return _explain_that_all_runs_are_archived(judged or rows[0].id)
    named = ", ".join(f"run {row.id} ({row.state.value})" for row in shown[:_MOST_NAMED])
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    have = "has" if len(shown) == 1 else "have"
    words = f"`last` is none of {named}{more}, which {have} no verdict"
    if judged is None:
        return f"{words}; `faithtui show {shown[0].id}` says why"
    return f"{words}; run {judged} has some and is archived: name it, or faithtui restore {judged}"


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
