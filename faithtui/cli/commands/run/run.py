"""`faithtui run`."""

import asyncio
import math
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from faithtui.cli.commands.run.preview import print_cost_notice, show_preview
from faithtui.cli.output import plural, print_hint, print_text, print_to_stderr
from faithtui.cli.run_environment import environment_from_settings
from faithtui.cli.run_outcome import (
    choose_gravest_code,
    exit_code,
    format_missing_verdicts,
    format_resume_hint,
    format_score_parts,
)
from faithtui.cli.run_progress import ProgressLine, print_event
from faithtui.cli.stores import PATIENCE_S, open_store, read_run_id
from faithtui.cli.streams import ReaderGone
from faithtui.config import Settings, load_settings
from faithtui.domain.ids import RunId
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.engine.calls.budget import NUSD, BudgetCaps
from faithtui.engine.calls.image_hosts import find_image_hosts
from faithtui.engine.integrity.judged_conversations import integrity_sentence
from faithtui.engine.review.conversation_json import integrity_to_json
from faithtui.engine.review.splits import parse_split
from faithtui.engine.runs import planner, runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.environment import RunEnvironment
from faithtui.engine.runs.events import RunEnded, RunEvent
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError, ExportError, StoreError
from faithtui.judges.deadlines import check_timeout
from faithtui.judges.providers.endpoints import is_offline_or_replay
from faithtui.logbook import PROMPTS_FILE, open_log
from faithtui.metrics.registry import METRICS, find_metric
from faithtui.paths import log_dir
from faithtui.store.records import ItemState, RunRow, RunState
from faithtui.store.store import Store

CLAIMS = ("extracted", "own", "imported")
"""Drawn by the first judge and judged by all; drawn by each judge; those of the data."""

LOOK_S = 60.0
"""Between two looks at batches that somebody waits for: they take minutes to hours."""


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
    timeout_s: float | None = None
    """Seconds one question may take; None: as set."""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_failures: str | None = None
    """As typed, such as `10` or `5%`."""
    batch: bool = False
    wait: bool = False
    """Stay until the provider has answered everything."""
    preview: bool = False
    log_prompts: bool = False
    image_hosts: tuple[str, ...] = ()
    """Whose images a judge may be sent by address, besides those of the settings."""


_BESIDE_PREVIEW = frozenset(
    ("--concurrency", "--timeout", "--budget-usd", "--budget-tokens", "--max-failures", "--wait")
)
"""Options that say how a run goes on, of which a preview of its rest makes nothing."""
_BESIDE_RESUME = _BESIDE_PREVIEW.union(
    ("--resume", "--preview", "--log-prompts", "--allow-image-host", "--store", "--json")
)
"""What may stand there. All other options say what a run is, and that was said at its start."""


def refuse_options_beside_resume(typed: Iterable[str], *, preview: bool) -> None:
    """Refuse options that a run that goes on would pass over.

    Args:
        typed: Names of all options that were typed, `--resume` among them.
        preview: Whether the rest of the run is only to be told.

    Raises:
        ConfigError: There are such options.
    """
    typed = list(typed)
    others = [each for each in typed if each not in _BESIDE_RESUME]
    if others:
        raise ConfigError(
            f"--resume continues a run as it was started, and {', '.join(others)} would change "
            "nothing of it: leave that out, or begin another run without --resume"
        )
    passed_over = [each for each in typed if preview and each in _BESIDE_PREVIEW]
    if passed_over:
        raise ConfigError(
            f"--preview shows what is left of a run and changes nothing: leave out "
            f"{', '.join(passed_over)}, or leave out --preview"
        )


def start_or_resume_runs(
    store: Path | None, order: RunOptions, *, resume: str | None, as_json: bool
) -> int:
    """Start runs, or go on with one.

    Returns:
        The exit code; see `run_outcome`.
    """
    settings = load_settings()
    around = replace(
        environment_from_settings(settings, order.image_hosts), log_prompts=order.log_prompts
    )
    if order.timeout_s is not None:
        around = replace(around, timeout_s=check_timeout(order.timeout_s, "--timeout"))
    open_log(log_dir(), prompts=order.log_prompts)
    if order.log_prompts:
        print_to_stderr(f"questions and answers are written to {log_dir() / PROMPTS_FILE}")
    requests = () if resume is not None else _make_requests(order, settings)
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        if order.preview:
            runs = () if resume is None else (read_run_id(opened, resume),)
            shared = order.claims == "extracted"
            show_preview(opened, requests, runs, around, shared=shared, as_json=as_json)
            return 0
        if resume is not None:
            number = read_run_id(opened, resume)
            if order.concurrency is not None:
                planner.check_concurrency(order.concurrency)
            if order.max_failures is not None:
                opened.runs.set_max_failures(number, str(_read_failure_limit(order.max_failures)))
            _set_budget(opened, number, order, around)
            return execute_with_progress(
                opened,
                number,
                as_json=as_json,
                retry_unfinished=True,
                around=around,
                wait=order.wait,
                concurrency=order.concurrency,
            )
        # All are planned before the first begins, so that a slip in the last one costs nothing.
        planned = _plan_runs(opened, requests, around, shared=order.claims == "extracted")
        for each in planned:
            _warn_held_back(opened, each)
        if sys.stdout.isatty() and not as_json:
            print_cost_notice(opened, planned, around)
        codes = {
            each: _execute_one_of(opened, each, len(planned), as_json=as_json, around=around)
            for each in planned
        }
        if order.wait:
            # Only now: what is out of all of them is answered at the same time.
            for each in planned:
                if opened.runs.row(each).state is RunState.WAITING:
                    codes[each] = execute_with_progress(
                        opened, each, as_json=as_json, around=around, wait=True
                    )
        return choose_gravest_code(codes.values())


def _plan_runs(
    store: Store, requests: Sequence[RunRequest], around: RunEnvironment, *, shared: bool
) -> list[RunId]:
    """Plan all runs; where claims are shared, later judges get those of the first one."""
    planned: list[RunId] = []
    first: dict[str, RunId] = {}
    for request in requests:
        spec = find_metric(request.metric).spec
        if shared and spec.judges == "claim" and not request.as_peer:
            request = replace(request, claims_run=first.get(spec.key))
        number = planner.plan_run(store, request, around=around)
        first.setdefault(spec.key, number)
        planned.append(number)
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


def _set_budget(store: Store, run: RunId, order: RunOptions, around: RunEnvironment) -> None:
    """Give a run that goes on another budget, where one was typed."""
    if order.budget_usd is None and order.budget_tokens is None:
        return
    spec = store.runs.row(run).spec
    nusd = spec.budget_nusd if order.budget_usd is None else _to_nusd(order.budget_usd)
    tokens = spec.budget_tokens if order.budget_tokens is None else order.budget_tokens
    planner.check_budget(nusd, tokens, spec.judge, spec.base_url, around)
    store.runs.set_budget(run, nusd, tokens)


def _execute_one_of(
    store: Store, run: RunId, runs: int, *, as_json: bool, around: RunEnvironment
) -> int:
    """Execute one of several runs, and say on stderr which it is."""
    if runs > 1 and not as_json:
        spec = store.runs.row(run).spec
        print_to_stderr(f"run {run}: {spec.metric} by {spec.judge_title} …")
    return execute_with_progress(store, run, as_json=as_json, around=around)


def execute_with_progress(
    store: Store,
    run: RunId,
    *,
    as_json: bool,
    retry_unfinished: bool = False,
    around: RunEnvironment | None = None,
    wait: bool = False,
    concurrency: int | None = None,
) -> int:
    """Execute one run with its progress on stderr, and print what came of it.

    Args:
        store: Open store.
        run: The run.
        as_json: Print events for programs.
        retry_unfinished: Take up failed conversations again.
        around: What it shares with other runs of the process; None: nothing.
        wait: Look again every minute while the provider has its questions.
        concurrency: Questions in the air at once; None: as many as the run was planned with.
    """
    spec = store.runs.row(run).spec
    at_once = spec.concurrency if concurrency is None else concurrency
    line = ProgressLine(caps=BudgetCaps(spec.budget_nusd, spec.budget_tokens))
    sink, tell = (
        (partial(_print_event, store), print_to_stderr) if as_json else (line, line.print_lines)
    )
    stopped_by: list[signal.Signals] = []

    async def run_to_end() -> None:
        with cancel_on_signals(stopped_by):
            control = RunControl(at_once)
            state = await runner.execute_run(
                store,
                run,
                sink,
                retry_unfinished=retry_unfinished,
                tell=tell,
                control=control,
                around=around,
            )
            while wait and state is RunState.WAITING:
                await asyncio.sleep(LOOK_S)
                control = RunControl(at_once)
                state = await runner.execute_run(
                    store, run, sink, tell=tell, control=control, around=around
                )

    try:
        asyncio.run(run_to_end())
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_to_stderr(f"stopped; all replies are stored: faithtui run --resume {run}")
        by = stopped_by[0] if stopped_by else signal.SIGINT
        if by is signal.SIGINT:
            raise KeyboardInterrupt from None
        raise SystemExit(128 + by) from None
    except (StoreError, ExportError, ReaderGone):  # the last two where nothing takes the events
        print_to_stderr(f"run {run} stopped; what is stored stays: faithtui run --resume {run}")
        raise
    row = store.runs.row(run)
    if not as_json:
        skipped = store.runs.count_reasons(run, ItemState.SKIPPED)
        print_text(format_run_summary(row, skipped, store.runs.count_undefined_reasons(run)))
    if sentence := format_resume_hint(row):
        print_to_stderr(sentence)
    elif not as_json and row.windows:
        print_hint(
            "next: `faithtui` shows the verdicts and stores your labels; `faithtui report` "
            "compares them"
        )
    return exit_code(row)


def _print_event(store: Store, event: RunEvent) -> None:
    """Print an event for programs; the last one says what came of the run."""
    if not isinstance(event, RunEnded):
        print_event(event)
        return
    row = store.runs.row(event.run)
    found = integrity_to_json(row.spec.metric, row.integrity)
    print_event(event, {"score": row.score, "integrity": found})


@contextmanager
def cancel_on_signals(heard: list[signal.Signals]) -> Iterator[None]:
    """Let signals end the task that is running: the first one gently, a second one at once.

    Args:
        heard: Gets each signal that came.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def cancel_task(number: signal.Signals) -> None:
        heard.append(number)
        task.cancel()

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [signal.Signals[name] for name in names if hasattr(signal, name)]
    for each in signals:
        # Not everywhere can a loop hear signals; there the second Ctrl-C is as the first.
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(each, cancel_task, each)
    try:
        yield
    finally:
        for each in signals:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(each)


def format_run_summary(
    row: RunRow, skipped: Mapping[str, int], undefined: Mapping[str, int]
) -> str:
    """Say in a line what a run found.

    Args:
        row: The run.
        skipped: How many conversations were skipped for which reason.
        undefined: How many were judged and have no score, and why.
    """
    parts = [f"run {row.id}: {row.spec.metric} by {row.spec.judge_title}"]
    if row.incomplete:
        scored = f"{row.scored} of {plural(row.conversations, 'conversation')} scored"
        parts.append(f"{scored}, {format_missing_verdicts(row)}: see `faithtui show {row.id}`")
    else:
        parts.append(f"{row.done} of {row.conversations} conversations judged")
    parts += [f"{count} skipped: {reason}" for reason, count in skipped.items()]
    if row.failed:
        parts.append(f"{row.failed} failed")
    one, many = find_metric(row.spec.metric).spec.units
    parts.append(f"{row.claims} {one if row.claims == 1 else many}")
    if row.missing_verdicts and not row.incomplete:
        parts.append(
            f"{row.missing_verdicts} of them without a verdict: see `faithtui show {row.id}`"
        )
    parts += format_score_parts(row)
    parts += [f"{count} undefined: {reason}" for reason, count in undefined.items()]
    if found := integrity_sentence(row.spec.metric, row.integrity):
        parts.append(found)
    if row.cost_nusd:
        parts.append(f"${row.cost_nusd / NUSD:.4f}")
    if row.unpriced_calls:
        parts.append(f"the price of {plural(row.unpriced_calls, 'call')} is not known")
    return " · ".join(parts)


def _make_requests(order: RunOptions, settings: Settings) -> tuple[RunRequest, ...]:
    if order.claims not in CLAIMS:
        raise ConfigError(
            f"--claims is `{order.claims}`; expected {', '.join(CLAIMS[:-1])} or {CLAIMS[-1]}"
        )
    options = dict(_split_option(text) for text in order.options)
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
            options=planner.select_metric_options(metric, options, metrics),
            imported_claims=order.claims == "imported",
            as_peer=order.as_peer,
            prompts_dir=order.prompts,
            examples=order.examples,
            sources=order.sources,
            split=parse_split(order.split),
            limit=order.limit,
            concurrency=settings.concurrency if order.concurrency is None else order.concurrency,
            budget_nusd=None if order.budget_usd is None else _to_nusd(order.budget_usd),
            budget_tokens=order.budget_tokens,
            batch=order.batch,
            max_failures=_read_failure_limit(order.max_failures or settings.max_failures),
        )
        for metric, judge in product(metrics, judges)
    )


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
