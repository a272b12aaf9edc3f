"""Runs for notebooks and scripts: what is asked for, execution with a wait, a run by its number."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from faithtui.domain.field_types import require_type
from faithtui.domain.ids import RunId
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.library.project_rows import Progress, Row
from faithtui.engine.review.conversation_json import run_settings_and_state_to_json
from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.judge_profiles import choose_profile
from faithtui.engine.runs.last_run import LAST, find_last_run, find_last_run_with_verdicts
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment, make_run_environment
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.config import Settings
    from faithtui.store.store import Store

_LOOK_S: Final = 0.2
"""Between two looks at a run that is waited for: progress is reported so often."""


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """What `Project.run` is given."""

    metric: str
    judge: str | None
    options: Mapping[str, object] | None
    sources: Sequence[str]
    limit: int | None
    base_url: str | None
    profile: JudgeProfile | None
    as_peer: bool
    budget_usd: float | None
    concurrency: int | None


def make_run_request(settings: "Settings", asked: RequestedRun) -> RunRequest:
    """Check what a run is asked for, and take the rest from the settings.

    Raises:
        ConfigError: A value has the wrong type, or the budget is no number from 0.
    """
    budget_usd = asked.budget_usd
    require_type(asked.metric, str, "metric", "the key of a metric, such as turn-faithfulness")
    require_type(asked.judge, str | None, "judge", "a text such as openai:MODEL, or None")
    require_type(asked.options, Mapping | None, "options", "a mapping such as {'window_size': 5}")
    require_type(asked.sources, list | tuple, "sources", "a list of names of data sets")
    require_type(budget_usd, int | float | None, "budget_usd", "a number, or None")
    if budget_usd is not None and not (budget_usd >= 0 and math.isfinite(budget_usd)):
        raise ConfigError(f"budget_usd is {budget_usd}; expected a number from 0, or None")
    require_type(asked.profile, JudgeProfile | None, "profile", "a JudgeProfile, or None")
    request = RunRequest.from_settings(settings)
    ref = asked.judge or request.judge
    is_own_judge = asked.judge is None and asked.base_url is None
    return replace(
        request,
        metric=asked.metric,
        judge=ref,
        profile=asked.profile or choose_profile(ref, settings.judges, os.environ),
        base_url=request.base_url if is_own_judge else asked.base_url,
        options={name: _format_option(each) for name, each in (asked.options or {}).items()},
        sources=tuple(asked.sources),
        limit=asked.limit,
        as_peer=asked.as_peer,
        budget_nusd=None if budget_usd is None else round(budget_usd * NUSD),
        concurrency=request.concurrency if asked.concurrency is None else asked.concurrency,
    )


def make_environment(settings: "Settings") -> RunEnvironment:
    """Make what a run needs beside the store, as set."""
    return make_run_environment(
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        prices=settings.prices,
        redact=settings.redact,
        image_hosts=settings.image_hosts,
        timeout_s=settings.timeout_s,
    )


def find_id_of_run_with_verdicts(store: "Store", run: int | str) -> RunId:
    """Find a run by its number, or the last one that has verdicts.

    Raises:
        ConfigError: It is neither, or no run has verdicts.
        StoreError: There is no run with this number.
    """
    if run == LAST and store.runs.find_newest_run_id() is not None:
        return find_last_run_with_verdicts(store)
    return find_run_id(store, run)


def find_run_id(store: "Store", run: int | str) -> RunId:
    """Find a run by its number, or the last one.

    Raises:
        ConfigError: It is neither, or there is no run yet.
        StoreError: There is no run with this number.
    """
    if run == LAST:
        if store.runs.find_newest_run_id() is None:
            raise ConfigError("there is no run yet; run() makes one")
        return find_last_run(store)
    if isinstance(run, bool) or not isinstance(run, int):
        raise ConfigError(f"run is {run!r}; expected a number, or 'last'")
    return store.runs.read_run(RunId(run)).id


def execute_and_wait(
    store: "Store", run: RunId, environment: RunEnvironment, on_progress: Progress | None
) -> Row:
    """Execute a run on a thread of its own: a notebook has a loop running on this one.

    Raises:
        KeyboardInterrupt: Somebody interrupted it; the replies in flight are kept.
    """
    begun = BackgroundRun.resume(store, run, retry_unfinished=True, environment=environment)
    try:
        while not begun.join(_LOOK_S):
            _report_progress(begun, on_progress)
    except BaseException:
        begun.cancel()
        begun.join(float(environment.timeout_s))
        raise
    _report_progress(begun, on_progress)
    if begun.bug is not None:
        raise begun.bug
    return run_settings_and_state_to_json(read_run_marking_interrupted(store, run))


def _format_option(value: object) -> str:
    """Write a value of an option as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _report_progress(run: BackgroundRun, on_progress: Progress | None) -> None:
    if on_progress is not None:
        progress = run.snapshot().progress
        if progress.conversations:
            on_progress(progress.finished_conversations, progress.conversations)
