"""Judge the conversations of a run: bounded, cancellable, resumable.

The same code runs in the app's background thread and on the command line. What is stored stays
stored: each reply when it arrives, each window whole or not at all.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from faithtui.domain.assessment import Assessment
from faithtui.domain.examples import Example
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoreState
from faithtui.engine.asking import Asker, Tally
from faithtui.engine.events import (
    CallRetried,
    EventSink,
    ItemFinished,
    Progress,
    RunEnded,
    RunEvent,
    RunStarted,
    WindowAssessed,
    WindowFailed,
)
from faithtui.engine.examples import kept
from faithtui.engine.recording import StoreImages, StoreReplies, committed
from faithtui.engine.steps import steps_of
from faithtui.errors import ConfigError, JudgeError, MetricError, StoreError
from faithtui.judges.base import Judge
from faithtui.judges.opening import judge_fingerprint, open_judge
from faithtui.metrics.base import STOPS_THE_RUN, Metric
from faithtui.metrics.concurrency import together
from faithtui.metrics.registry import build
from faithtui.store.records import ItemState, PendingItem, RunRow, RunState
from faithtui.store.store import Store


@dataclass(slots=True)
class _Course:
    """One run under way."""

    store: Store
    row: RunRow
    metric: Metric[Any]
    asker: Asker
    emit: EventSink
    tell: Callable[[str], None]
    counts: Progress
    waiting: Iterator[PendingItem] = field(default_factory=lambda: iter(()))

    def progress(self, **changes: int) -> Progress:
        """Add to the totals and give them, with those of the calls."""
        tally = self.asker.tally
        old = self.counts
        self.counts = Progress(
            conversations=old.conversations,
            done=old.done + changes.get("done", 0),
            failed=old.failed + changes.get("failed", 0),
            skipped=old.skipped + changes.get("skipped", 0),
            windows=old.windows + changes.get("windows", 0),
            calls=tally.calls,
            calls_stored=tally.calls_stored,
            in_flight=tally.in_flight,
            retries=tally.retries,
            tokens_in=self.row.tokens_in + tally.tokens_in,
            tokens_out=self.row.tokens_out + tally.tokens_out,
        )
        return self.counts


async def execute(
    store: Store,
    run: RunId,
    emit: EventSink,
    *,
    judge: AbstractAsyncContextManager[Judge] | None = None,
    retry_failed: bool = False,
    tell: Callable[[str], None] = lambda steps: None,
) -> RunState:
    """Judge everything in a run that is not judged yet.

    Args:
        store: Open store.
        run: A run that `planner.plan` wrote down, started or not.
        emit: Gets every event, on this thread.
        judge: Opened and closed here; None opens the one the run names.
        retry_failed: Take up failed conversations again.
        tell: Gets the steps of each conversation, as text, under `verbose_mode`.

    Returns:
        DONE, or STOPPED when going on became pointless (the event says why).

    Raises:
        ConfigError: The run's judge, prompts or options are not what they were.
        StoreError: The store cannot be written; what was written stays.
        CancelledError: Let through after the run is marked as cancelled.
    """
    row = store.runs.row(run)
    metric = _same_metric(row, kept(store, row.spec.examples))
    if judge is None:
        _check_judge(row)
        judge = open_judge(row.spec.judge, base_url=row.spec.base_url)
    if retry_failed:
        store.runs.reopen_failed(run)
        row = store.runs.row(run)
    latest = Progress()

    def heard(event: RunEvent) -> None:
        nonlocal latest
        latest = event.progress
        emit(event)

    try:
        async with judge as opened:
            state, reason, course = await _through(store, row, metric, opened, heard, tell)
    except asyncio.CancelledError:
        store.runs.set_state(run, RunState.CANCELLED)
        emit(RunEnded(run, RunState.CANCELLED, None, _last_totals(store.runs.row(run), latest)))
        raise
    except BaseException as error:
        # Whatever ends a run, the store says so where it still can; the error itself goes on to
        # whoever started it.
        reason = f"{type(error).__name__}: {error}"
        with contextlib.suppress(StoreError):
            store.runs.set_state(run, RunState.STOPPED, reason)
        with contextlib.suppress(StoreError):
            row = store.runs.row(run)
        emit(RunEnded(run, RunState.STOPPED, reason, _last_totals(row, latest)))
        raise
    await _written(store, store.runs.set_state, run, state, reason)
    emit(RunEnded(run, state, reason, course.progress()))
    return state


async def _through(
    store: Store,
    row: RunRow,
    metric: Metric[Any],
    judge: Judge,
    emit: EventSink,
    tell: Callable[[str], None],
) -> tuple[RunState, str | None, _Course]:
    pending = store.runs.pending(row.id)
    course: _Course

    def retried(step: str, error: JudgeError, wait_s: float) -> None:
        emit(CallRetried(row.id, step, type(error).__name__, wait_s, course.progress()))

    asker = Asker(
        judge,
        StoreReplies(store, judge.ref, row.id),
        concurrency=row.spec.concurrency,
        tally=Tally(),
        on_retry=retried,
        pace=metric.pace,
        load_image=StoreImages(store),
    )
    course = _Course(store, row, metric, asker, emit, tell, _totals(row), iter(pending))
    await _written(store, store.runs.set_state, row.id, RunState.RUNNING)
    emit(RunStarted(row.id, course.progress()))
    try:
        await together(_worker(course) for _ in range(min(row.spec.concurrency, len(pending))))
    except STOPS_THE_RUN as error:
        return RunState.STOPPED, str(error), course
    finally:
        await asker.aclose()
    return RunState.DONE, None, course


async def _worker(course: _Course) -> None:
    """Take conversations until there is none: a million of them are never a million tasks."""
    for item in course.waiting:
        await _judge(course, item)


async def _judge(course: _Course, item: PendingItem) -> None:
    """Judge one conversation and store it, window by window."""
    store, metric = course.store, course.metric
    conversation = store.conversations.get(item.conversation)
    skipped = metric.why_skipped(conversation)
    claims = None
    if skipped is None and course.row.spec.claims == "imported":
        claims = store.conversations.imported_claims(item.conversation)
        if not claims:
            skipped = "no imported claims"
    if skipped is not None:
        await _finished(course, item.id, ItemState.SKIPPED, skipped)
        return
    windows = metric.windows(conversation)
    ask = course.asker.on_behalf_of(item.id)
    try:
        findings = await metric.gather(conversation, ask, claims)
        assessments = [metric.assess(findings, window) for window in windows]
        failures = await _store_windows(course, item, assessments)
        conclusion = await metric.conclude(assessments, ask)
        if metric.verbose_mode:
            title = f"{conversation.source}/{conversation.key}"
            course.tell(steps_of(title, metric.spec, assessments, conclusion))
    except STOPS_THE_RUN:
        raise
    except (JudgeError, MetricError) as error:
        await _finished(course, item.id, ItemState.FAILED, f"{type(error).__name__}: {error}")
        return
    state = ItemState.FAILED if failures else ItemState.DONE
    reason = failures[0] if failures else None
    await _finished(course, item.id, state, reason, conclusion.reason)


async def _store_windows(
    course: _Course, item: PendingItem, assessments: Sequence[Assessment]
) -> list[str]:
    """Store each window whole, and say why windows failed."""
    failures = []
    for assessment in assessments:
        position = assessment.window.position
        failed = assessment.score.state is ScoreState.FAILED
        if failed:
            failures.append(assessment.score.reason or "failed")
        if position in item.stored_windows:
            continue
        await _written(course.store, course.store.runs.save_window, item.id, assessment)
        progress = course.progress(windows=1)
        if failed:
            kind = (assessment.score.reason or "").split(":", 1)[0]
            course.emit(WindowFailed(course.row.id, item.id, position, kind, progress))
        else:
            course.emit(WindowAssessed(course.row.id, item.id, position, progress))
    return failures


async def _finished(
    course: _Course,
    item: ItemId,
    state: ItemState,
    reason: str | None,
    conclusion: str | None = None,
) -> None:
    await _written(course.store, course.store.runs.finish_item, item, state, reason, conclusion)
    course.emit(ItemFinished(course.row.id, item, state, course.progress(**{state.value: 1})))


async def _written(store: Store, write: Any, *args: Any) -> None:
    """Write on the store's own thread; a write that has begun is finished even when cancelled."""
    await committed(store.submit(write, *args))


def _same_metric(row: RunRow, examples: Sequence[Example]) -> Metric[Any]:
    """Build the run's metric and see that it still asks the same."""
    spec = row.spec
    metric = build(
        spec.metric,
        spec.options,
        prompts_dir=None if spec.prompts_dir is None else Path(spec.prompts_dir),
        examples=examples,
    )
    if metric.prompt_digest != spec.prompt_digest or metric.spec.version != spec.metric_version:
        raise ConfigError(
            f"run {row.id} was begun with other prompts or another version of {spec.metric}; "
            "start a new run"
        )
    return metric


def _check_judge(row: RunRow) -> None:
    if judge_fingerprint(row.spec.judge, row.spec.base_url) != row.spec.judge_fingerprint:
        raise ConfigError(
            f"run {row.id} was begun with another version of {row.spec.judge}; start a new run"
        )


def _last_totals(row: RunRow, latest: Progress) -> Progress:
    """Read a run's totals from the store, and add what only this process knows of its calls."""
    return replace(
        _totals(row),
        calls=latest.calls,
        calls_stored=latest.calls_stored,
        retries=latest.retries,
    )


def _totals(row: RunRow) -> Progress:
    """Read a run's totals from the store."""
    return Progress(
        conversations=row.conversations,
        done=row.done,
        failed=row.failed,
        skipped=row.skipped,
        windows=row.windows,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
    )
