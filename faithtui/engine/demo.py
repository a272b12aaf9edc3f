"""A project to look at: real conversations that annotators rated, judged by the embedded judge.

The conversations are MTRAG's (IBM, Apache-2.0). Annotators rated whether answers are grounded in
the passages, so a claim that the passages do not address is no pass here: the run penalizes it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import faithtui
from faithtui.domain.ids import RunId
from faithtui.engine.dataset_import import ImportProgress, import_files
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.judges.registry import make_judge_fingerprint
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store

REQUEST = RunRequest(
    metric="turn-faithfulness", judge="offline", options={"penalize_ambiguous_claims": "true"}
)
"""The demo's run."""

WHY = (
    "Annotators rated whether each answer is grounded in its passages, so the run counts claims "
    "that the passages do not address as failing (penalize_ambiguous_claims)."
)
UNSEEN = "The embedded judge was not trained on any of these conversations."


def find_demo_files() -> tuple[Path, ...]:
    """Find the demo's conversations: packed into the package, or beside it in a checkout.

    Raises:
        ConfigError: The installation lacks them.
    """
    package = Path(faithtui.__file__).parent
    for folder in (package / "demo_data", package.parent / "fixtures" / "demo"):
        files = tuple(sorted(folder.glob("*.jsonl")))
        if files:
            return files
    raise ConfigError("the demo's conversations are not installed; install faithtui again")


def ensure_demo_in_store(store: Store, report: Callable[[ImportProgress], None]) -> RunId:
    """Make sure that the demo's conversations and its run are in the store.

    Returns:
        The run; it may still have to be executed. An earlier one is used again when it was made
        with the same judge, metric and prompts, of these conversations alone.

    Raises:
        ConfigError: The store is that of another project.
    """
    files = find_demo_files()
    own = {each.stem for each in files}
    others = [each.source for each in store.conversations.list_sources() if each.source not in own]
    if others and store.conversations.count(list(own)) == 0:
        raise ConfigError(
            f"the store has conversations of its own (`{others[0]}`"
            f"{f' and {len(others) - 1} more data sets' if len(others) > 1 else ''}), among which "
            "those of the demo would count: leave out --store, as the demo has a store of its own, "
            "or name a new file"
        )
    import_files(store, files, report=report)
    metric = run_planner.build_request_metric(REQUEST)
    fingerprint = make_judge_fingerprint(REQUEST.judge, None)
    for row in store.runs.list_runs():
        same = (
            row.spec.judge_fingerprint == fingerprint
            and row.spec.metric_version == metric.spec.version
            and row.spec.prompt_digest == metric.prompt_digest
            and row.spec.rule == metric.rule
            and set(store.run_contents.list_sources(row.id)) <= own
        )
        if same:
            return row.id
    return run_planner.save_planned_run(
        store, replace(REQUEST, sources=tuple(sorted(own))) if others else REQUEST
    )


def is_demo_complete(row: RunRow) -> bool:
    """Whether the demo's run needs nothing more."""
    return row.state is RunState.DONE
