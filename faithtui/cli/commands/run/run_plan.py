"""From what was typed after `faithtui run` to planned runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from faithtui.cli.output import print_to_stderr
from faithtui.config import Settings
from faithtui.domain.ids import RunId
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.calls.image_hosts import find_image_hosts
from faithtui.engine.review.splits import parse_split
from faithtui.engine.runs import planner
from faithtui.engine.runs.environment import RunEnvironment
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.judges.providers.endpoints import is_offline_or_replay
from faithtui.metrics.registry import METRICS, find_metric
from faithtui.store.store import Store

CLAIMS = ("extracted", "own", "imported")
"""Drawn by the first judge and judged by all; drawn by each judge; those of the data."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What was typed after `faithtui run`; () and None mean: as set."""

    metrics: tuple[str, ...]
    judges: tuple[str, ...]
    base_url: str | None
    strategy: str
    options: tuple[str, ...]
    claims: str
    as_peer: bool
    prompts: Path | None
    sources: tuple[str, ...]
    examples: Path | None
    split: str | None
    limit: int | None
    concurrency: int | None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_failures: str | None = None
    """As typed, such as `10` or `5%`."""
    batch: bool = False


def make_requests(typed: RunOptions, settings: Settings) -> tuple[RunRequest, ...]:
    """Make a request for each metric and judge that was typed.

    Raises:
        ConfigError: An option cannot be used.
    """
    if typed.claims not in CLAIMS:
        raise ConfigError(
            f"--claims is `{typed.claims}`; expected {', '.join(CLAIMS[:-1])} or {CLAIMS[-1]}"
        )
    options = dict(_split_option(text) for text in typed.options)
    metrics = typed.metrics or ("turn-faithfulness",)
    if "all" in metrics:
        metrics = tuple(each.spec.key for each in METRICS)
    judges: Sequence[str] = typed.judges or (settings.judge,)
    base_url = typed.base_url
    if base_url is None and not typed.judges:
        base_url = settings.base_url
    return tuple(
        RunRequest(
            metric=metric,
            judge=judge,
            base_url=base_url,
            strategy=typed.strategy,
            options=planner.select_metric_options(metric, options, metrics),
            imported_claims=typed.claims == "imported",
            as_peer=typed.as_peer,
            prompts_dir=typed.prompts,
            examples=typed.examples,
            sources=typed.sources,
            split=parse_split(typed.split),
            limit=typed.limit,
            concurrency=settings.concurrency if typed.concurrency is None else typed.concurrency,
            budget_nusd=None if typed.budget_usd is None else _to_nusd(typed.budget_usd),
            budget_tokens=typed.budget_tokens,
            batch=typed.batch,
            max_failures=_read_failure_limit(typed.max_failures or settings.max_failures),
        )
        for metric, judge in product(metrics, judges)
    )


def plan_runs(
    store: Store, requests: Sequence[RunRequest], around: RunEnvironment, *, shared: bool
) -> list[RunId]:
    """Plan all runs before the first begins, so that a slip in the last one costs nothing.

    Args:
        store: Where the conversations are.
        requests: The runs.
        around: What they share.
        shared: Later judges get the claims of the first one.

    Raises:
        ConfigError: One of them cannot be run.
    """
    planned: list[RunId] = []
    first: dict[str, RunId] = {}
    for request in requests:
        spec = find_metric(request.metric).spec
        if shared and spec.judges == "claim" and not request.as_peer:
            request = replace(request, claims_run=first.get(spec.key))
        number = planner.plan_run(store, request, around=around)
        first.setdefault(spec.key, number)
        planned.append(number)
    for each in planned:
        _warn_held_back(store, each)
    return planned


def _warn_held_back(store: Store, run: RunId) -> None:
    """Say on stderr which conversations will fail because of where their images lie."""
    judge = store.runs.row(run).spec.judge
    if is_offline_or_replay(judge) or not store.conversations.has_image_addresses():
        return
    pending = [each.conversation for each in store.runs.list_pending(run)]
    held_back = find_image_hosts(store, pending, judge).format_warning()
    if held_back is not None:
        print_to_stderr(f"run {run}: {held_back}")


def change_limits(store: Store, run: RunId, typed: RunOptions, around: RunEnvironment) -> None:
    """Give a run that goes on other limits, where some were typed.

    Raises:
        ConfigError: One of them cannot be used.
    """
    if typed.concurrency is not None:
        planner.check_concurrency(typed.concurrency)
    if typed.max_failures is not None:
        store.runs.set_max_failures(run, str(_read_failure_limit(typed.max_failures)))
    if typed.budget_usd is None and typed.budget_tokens is None:
        return
    spec = store.runs.row(run).spec
    nusd = spec.budget_nusd if typed.budget_usd is None else _to_nusd(typed.budget_usd)
    tokens = spec.budget_tokens if typed.budget_tokens is None else typed.budget_tokens
    planner.check_budget(nusd, tokens, spec.judge, spec.base_url, around)
    store.runs.set_budget(run, nusd, tokens)


def _to_nusd(dollars: float) -> int:
    if not math.isfinite(dollars):
        raise ConfigError("--budget-usd is no amount of money; expected something like 2.50")
    return round(dollars * NUSD)


def _read_failure_limit(text: str) -> FailureLimit:
    """Read what was typed after `--max-failures`.

    Raises:
        ConfigError: It is no limit.
    """
    limit = FailureLimit.read(text)
    if limit is None:
        raise ConfigError(
            f"--max-failures is `{text}`; expected a number from 1, such as 10, or a share of the "
            "conversations, such as 5%"
        )
    return limit


def _split_option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--option is `{text}`; expected name=value, such as window_size=5")
    return name.strip(), value.strip()
