"""`faithtui run`."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from faithtui.cli.opening import open_store, run_id
from faithtui.cli.output import plural, put, say
from faithtui.cli.progress import ProgressLine, print_event
from faithtui.config import Settings, load_settings
from faithtui.domain.ids import RunId
from faithtui.engine import planner, runner
from faithtui.engine.requests import RunRequest
from faithtui.engine.splitting import read_split
from faithtui.errors import ConfigError, JudgeError, StoreError
from faithtui.judges.opening import judge_title
from faithtui.metrics.registry import METRICS, entry
from faithtui.store.records import ItemState, RunRow, RunState
from faithtui.store.store import Store

CLAIMS = ("extracted", "imported")
PATIENCE_S = 30.0
"""How long a run waits for another process's lock: nobody may be there to start it again."""


@dataclass(frozen=True, slots=True)
class Order:
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


def run(store: Path | None, order: Order, *, resume: str | None, as_json: bool) -> int:
    """Start runs, or go on with one; 0, 5 when a judge failed somewhere."""
    settings = load_settings()
    requests = () if resume is not None else _requests(order, settings)
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        if resume is not None:
            return execute(opened, run_id(opened, resume), as_json=as_json, retry_failed=True)
        # All are planned before the first begins, so that a slip in the last one costs nothing.
        planned = [planner.plan(opened, request) for request in requests]
        return max(_one_of(opened, each, len(planned), as_json=as_json) for each in planned)


def _one_of(store: Store, run: RunId, runs: int, *, as_json: bool) -> int:
    """Execute one of several runs, and say on stderr which it is."""
    if runs > 1 and not as_json:
        spec = store.runs.row(run).spec
        say(f"run {run}: {spec.metric} by {judge_title(spec.judge)} …")
    return execute(store, run, as_json=as_json)


def execute(store: Store, run: RunId, *, as_json: bool, retry_failed: bool = False) -> int:
    """Execute one run with its progress on stderr, and print what came of it."""
    line = ProgressLine()
    sink, tell = (print_event, say) if as_json else (line, line.tell)
    try:
        asyncio.run(runner.execute(store, run, sink, retry_failed=retry_failed, tell=tell))
    except KeyboardInterrupt:
        say(f"stopped; everything answered is stored: faithtui run --resume {run}")
        raise
    except StoreError:
        say(f"run {run} stopped; what is stored stays: faithtui run --resume {run}")
        raise
    row = store.runs.row(run)
    if not as_json:
        put(summary(row, store.runs.reasons(run, ItemState.SKIPPED)))
    if row.state is not RunState.DONE:
        say(f"run {run} stopped: {row.reason}; go on with faithtui run --resume {run}")
        return JudgeError.exit_code
    if row.failed:
        say(
            f"{plural(row.failed, 'conversation')} failed; see faithtui show {run}, "
            f"try them again with faithtui run --resume {run}"
        )
        return JudgeError.exit_code
    return 0


def summary(row: RunRow, skipped: Mapping[str, int]) -> str:
    """Say in a line what a run found.

    Args:
        row: The run.
        skipped: How many conversations were skipped for which reason.
    """
    parts = [f"run {row.id}: {row.spec.metric} by {judge_title(row.spec.judge)}"]
    parts.append(f"{row.done} of {row.conversations} conversations judged")
    parts += [f"{count} skipped: {reason}" for reason, count in skipped.items()]
    if row.failed:
        parts.append(f"{row.failed} failed")
    one, many = entry(row.spec.metric).spec.units
    parts.append(f"{row.claims} {one if row.claims == 1 else many}")
    parts.append("no score" if row.score is None else f"mean score {row.score:.2f}")
    return " · ".join(parts)


def _requests(order: Order, settings: Settings) -> tuple[RunRequest, ...]:
    if order.claims not in CLAIMS:
        raise ConfigError(f"--claims is `{order.claims}`; expected {' or '.join(CLAIMS)}")
    options = dict(_pair(text) for text in order.options)
    metrics = order.metrics or ("turn-faithfulness",)
    if "all" in metrics:
        metrics = tuple(each.spec.key for each in METRICS)
    judges: Sequence[str] = order.judges or (settings.judge,)
    base_url = order.base_url
    if base_url is None and not order.judges:
        base_url = settings.base_url
    return tuple(
        RunRequest(
            metric=metric,
            judge=judge,
            base_url=base_url,
            strategy=order.strategy,
            options=planner.options_for(metric, options, metrics),
            imported_claims=order.claims == "imported",
            as_peer=order.as_peer,
            prompts_dir=order.prompts,
            examples=order.examples,
            sources=order.sources,
            split=read_split(order.split),
            limit=order.limit,
            concurrency=settings.concurrency if order.concurrency is None else order.concurrency,
        )
        for metric, judge in product(metrics, judges)
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--option is `{text}`; expected name=value, such as window_size=5")
    return name.strip(), value.strip()
