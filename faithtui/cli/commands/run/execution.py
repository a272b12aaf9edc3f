"""Planned runs executed with their progress on stderr, and what came of them."""

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from faithtui.cli.commands.run.preview import print_cost_notice
from faithtui.cli.output import is_quiet, plural, print_hint, print_text, print_to_stderr
from faithtui.cli.run_outcome import (
    DONE,
    choose_exit_code,
    choose_gravest_code,
    format_claim_counts,
    format_mean_score_phrases,
    format_missing_verdicts,
    format_nothing_judged,
    format_pass_of_unsure_claims,
    format_resume_hint,
)
from faithtui.cli.run_progress import ProgressLine, print_event_json
from faithtui.cli.streams import ReaderGone
from faithtui.domain.ids import RunId
from faithtui.engine.calls.budget import NUSD, BudgetCaps
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.engine.review.conversation_json import integrity_to_json
from faithtui.engine.runs import runner
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import RunEnded, RunEvent
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ExportError, StoreError
from faithtui.store.records import ItemState, LabelCount, RunRow, RunState
from faithtui.store.store import Store

LOOK_S = 60.0
"""Between two looks at batches that somebody waits for: they take minutes to hours."""


def execute_runs_in_turn_and_choose_exit_code(
    store: Store, runs: Sequence[RunId], environment: RunEnvironment, *, wait: bool, as_json: bool
) -> int:
    """Execute planned runs one after the other.

    Args:
        store: Open store.
        runs: The runs.
        environment: What they share.
        wait: Stay until the provider has answered everything.
        as_json: Print events for programs.

    Returns:
        The gravest exit code of them; see `run_outcome`.
    """
    if sys.stdout.isatty() and not as_json:
        print_cost_notice(store, runs, environment)
    if len(runs) == 1:
        return execute_run_with_progress_and_choose_exit_code(
            store, runs[0], as_json=as_json, environment=environment, wait=wait
        )
    codes = {
        each: _execute_one_of_several_runs(store, each, as_json=as_json, environment=environment)
        for each in runs
    }
    if wait:
        # Only now: what is out of all of them is answered at the same time.
        for each in runs:
            if store.runs.read_run(each).state is RunState.WAITING:
                codes[each] = execute_run_with_progress_and_choose_exit_code(
                    store, each, as_json=as_json, environment=environment, wait=True
                )
    return choose_gravest_code(codes.values())


def _execute_one_of_several_runs(
    store: Store, run: RunId, *, as_json: bool, environment: RunEnvironment
) -> int:
    """Execute one of several runs, and say on stderr which it is."""
    if not as_json and not is_quiet():
        spec = store.runs.read_run(run).spec
        print_to_stderr(f"run {run}: {spec.metric} by {spec.judge_title} …")
    return execute_run_with_progress_and_choose_exit_code(
        store, run, as_json=as_json, environment=environment
    )


def execute_run_with_progress_and_choose_exit_code(
    store: Store,
    run: RunId,
    *,
    as_json: bool,
    retry_unfinished: bool = False,
    environment: RunEnvironment | None = None,
    wait: bool = False,
    concurrency: int | None = None,
) -> int:
    """Execute one run with its progress on stderr, and print what came of it.

    Args:
        store: Open store.
        run: The run.
        as_json: Print events for programs.
        retry_unfinished: Take up failed conversations again.
        environment: What it shares with other runs of the process; None: nothing.
        wait: Look again every minute while the provider has its questions.
        concurrency: Questions in flight at once; None: as many as the run was planned with.
    """
    before = store.runs.read_run(run)
    spec, was_whole = before.spec, choose_exit_code(before) == DONE
    at_once = spec.concurrency if concurrency is None else concurrency
    line = ProgressLine(caps=BudgetCaps(spec.budget_nusd, spec.budget_tokens))
    sink, tell = (
        (partial(_print_run_event_json, store), print_to_stderr)
        if as_json
        else (line, line.print_lines)
    )
    stopped_by: list[signal.Signals] = []

    async def run_to_end() -> None:
        with cancel_task_on_signals(stopped_by):
            retry, printed_reason = retry_unfinished, ""
            while True:
                state = await runner.execute_run(
                    store,
                    run,
                    sink,
                    retry_unfinished=retry,
                    tell=tell,
                    control=RunControl(at_once),
                    environment=environment,
                )
                if not wait or state is not RunState.WAITING:
                    return
                why = store.runs.read_run(run).reason or ""
                if why != printed_reason:
                    printed_reason = why
                    tell(f"run {run} waits: {why}")
                await asyncio.sleep(LOOK_S)
                retry = False

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
    row = store.runs.read_run(run)
    _print_outcome(store, row, was_whole=was_whole, as_json=as_json)
    return choose_exit_code(row)


def _print_outcome(store: Store, row: RunRow, *, was_whole: bool, as_json: bool) -> None:
    """Print what came of a run: its summary on stdout, what to know and to do on stderr."""
    skipped = store.run_contents.count_conversations_by_state_reason(row.id, ItemState.SKIPPED)
    if not as_json:
        undefined = store.run_contents.count_unscored_conversations_by_reason(row.id)
        labels = store.run_contents.count_judge_labels(row.id)
        print_text(format_run_summary(row, skipped, undefined, labels))
        sentence = format_pass_of_unsure_claims(row, labels)
        if sentence and not is_quiet():
            print_to_stderr(f"run {row.id}: {sentence}")
    if was_whole and not is_quiet():
        print_to_stderr(f"run {row.id} was done before: nothing was left to ask")
    if sentence := format_nothing_judged(row, skipped):
        print_to_stderr(sentence)
        return
    failures = store.run_contents.count_conversations_by_state_reason(row.id, ItemState.FAILED)
    if sentence := format_resume_hint(row, failures):
        print_to_stderr(sentence)
    elif not as_json and row.windows:
        print_hint(
            "next: `faithtui` shows the verdicts and stores your labels; `faithtui report` "
            "compares them"
        )


def _print_run_event_json(store: Store, event: RunEvent) -> None:
    """Print an event for programs; the last one says what came of the run."""
    if not isinstance(event, RunEnded):
        print_event_json(event)
        return
    row = store.runs.read_run(event.run)
    found = integrity_to_json(row.spec.metric, row.integrity)
    print_event_json(event, {"score": row.score, "integrity": found})


@contextmanager
def cancel_task_on_signals(received: list[signal.Signals]) -> Iterator[None]:
    """Let signals end the task that is running: the first one gently, a second one at once.

    Args:
        received: Gets each signal that came.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def cancel_task(number: signal.Signals) -> None:
        received.append(number)
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
            # Where none was added there is none to remove, and the loop may be closed by now.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(each)


def format_run_summary(
    row: RunRow,
    skipped: Mapping[str, int],
    undefined: Mapping[str, int],
    labels: Mapping[str, LabelCount],
) -> str:
    """Say in a line what a run found.

    Args:
        row: The run.
        skipped: How many conversations were skipped for which reason.
        undefined: How many were judged and have no score, and why.
        labels: Claims by the judge's label.
    """
    parts = [f"run {row.id}: {row.spec.metric} by {row.spec.judge_title}"]
    if row.incomplete:
        scored = f"{row.scored:,} of {plural(row.conversations, 'conversation')} scored"
        parts.append(f"{scored}, {format_missing_verdicts(row)}: see `faithtui show {row.id}`")
    else:
        parts.append(f"{row.done:,} of {row.conversations:,} conversations judged")
    parts += [f"{count} skipped: {reason}" for reason, count in skipped.items()]
    if row.failed:
        parts.append(f"{row.failed:,} failed")
    parts.append(format_claim_counts(row, labels))
    if row.missing_verdicts and not row.incomplete:
        parts.append(
            f"{row.missing_verdicts:,} of them without a verdict: see `faithtui show {row.id}`"
        )
    parts += format_mean_score_phrases(row)
    parts += [f"{count} undefined: {reason}" for reason, count in undefined.items()]
    if found := format_integrity_sentence(row.spec.metric, row.integrity):
        parts.append(found)
    if row.cost_nusd:
        parts.append(f"${row.cost_nusd / NUSD:.4f}")
    if row.unpriced_calls:
        parts.append(f"the price of {plural(row.unpriced_calls, 'call')} is not known")
    return " · ".join(parts)
