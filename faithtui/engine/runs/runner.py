"""Judge the conversations of a run: bounded, cancellable, resumable.

The same code runs in the app's background thread and on the command line. What is stored stays
stored: each reply when it arrives, each window whole or not at all.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.judging.error_sentences import MOST_SAID
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.batches import batch_run
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.await_all import await_all
from faithtui.engine.calls.budget import Budget, BudgetCaps, Expense
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.engine.calls.image_hosts import check_image_hosts_of_unfinished_run
from faithtui.engine.calls.leases import Leases, NoLeases
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.runs.control import MOST_CONCURRENT, RunControl
from faithtui.engine.runs.events import (
    CallRetried,
    Draining,
    EventSink,
    RunStarted,
    WayChanged,
)
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import (
    RunEnding,
    RunExecution,
    emit_future_parameter_refusals,
    execute_run_and_record_end,
    judge_and_save_conversation,
    load_refused_parameters_and_keep_new_ones,
    open_run_judge,
    rebuild_and_check_metric,
)
from faithtui.engine.runs.run_writer import StoreImages, StoreReplyCache
from faithtui.errors import JudgeError, StoreError
from faithtui.judges.base import Judge, OutputFormat
from faithtui.metrics.base import STOPS_THE_RUN
from faithtui.store.records import PendingItem, RunState, RunTotals
from faithtui.store.store import Store

_PAGE = 500
"""Conversations that are read at once of those still to be judged."""


async def execute_run(
    store: Store,
    run: RunId,
    emit: EventSink,
    *,
    judge: AbstractAsyncContextManager[Judge] | None = None,
    retry_unfinished: bool = False,
    tell: Callable[[str], None] = lambda steps: None,
    control: RunControl | None = None,
    environment: RunEnvironment | None = None,
) -> RunState:
    """Judge everything in a run that is not judged yet.

    When it is cancelled, the answers in flight are waited for and kept; cancelled again, they
    are given up.

    Args:
        store: Open store.
        run: A run that `run_planner.save_planned_run` wrote down, started or not.
        emit: Gets every event, on this thread.
        judge: Opened and closed here; None opens the one the run names.
        retry_unfinished: Take up failed conversations again.
        tell: Gets the steps of each conversation, as text, under `verbose_mode`.
        control: Handles for somebody else; None: nobody has any.
        environment: What it shares with other runs of the process; None: nothing.

    Returns:
        DONE, or STOPPED when going on became pointless (the event says why). A run by batches also
        comes to WAITING, when the provider has its questions.

    Raises:
        ConfigError: The run's judge, prompts or options are not what they were, or addresses of
            images would be sent to hosts that nobody allowed.
        StoreError: The store cannot be written; what was written stays.
        CancelledError: Let through after the run is marked as cancelled.
    """
    environment = environment or RunEnvironment()
    # Before anything is asked: these replies are paid for and answer questions of runs.
    UnstoredReplies(store.path).recover_into_store(store)
    row = store.runs.read_run(run)
    metric = rebuild_and_check_metric(store, row)
    check_image_hosts_of_unfinished_run(
        store, row, environment.image_hosts, with_unfinished=retry_unfinished
    )
    control = control or RunControl(row.spec.concurrency)
    refused = load_refused_parameters_and_keep_new_ones(store, row)
    if judge is None:
        if row.spec.batch:
            return await batch_run.advance_run_without_waiting(
                store,
                run,
                emit,
                retry_unfinished=retry_unfinished,
                tell=tell,
                control=control,
                environment=environment,
            )
        judge = open_run_judge(row, environment, control.ui_yielder.wait_until_pause_ends, refused)
    if retry_unfinished:
        store.runs.reopen_failed_or_incomplete_items(run)
        # Its counts are others now that conversations are pending again.
        row = store.runs.read_run(run)
    opening = judge

    async def open_and_judge(execution: RunExecution) -> RunEnding:
        emit_future_parameter_refusals(execution, refused)
        async with opening as opened:
            return await _judge_pending_items(execution, opened, environment)

    return await execute_run_and_record_end(
        store, row, metric, control, emit, tell, open_and_judge, image_hosts=environment.image_hosts
    )


async def _judge_pending_items(
    execution: RunExecution, judge: Judge, environment: RunEnvironment
) -> RunEnding:
    store, row = execution.store, execution.row
    execution.pending_items = _iterate_pending(store, row.id)
    # Who asks what matters where an answer costs something, and so does room for the answer.
    leases: Leases = execution.leases if judge.account else NoLeases()
    room = (
        execution.writer.unstored.reserve_disk_space()
        if judge.account
        else contextlib.nullcontext()
    )
    with room:
        asker = _make_asker(execution, judge, environment, leases)
        await execution.writer.write(store.runs.set_state, row.id, RunState.RUNNING)
        execution.emit(RunStarted(row.id, execution.update_progress()))
        left = row.conversations - row.done - row.failed - row.skipped
        workers = min(MOST_CONCURRENT, left)
        try:
            await await_all(_judge_until_none_left(execution, asker) for _ in range(workers))
        except STOPS_THE_RUN as error:
            await _drain_answers(execution, asker)
            return RunState.STOPPED, str(error)
        except StoreError as error:
            await _drain_answers(execution, asker)
            raise execution.writer.unstored.make_error_with_reply_folder(error) from error
        except BaseException:  # cancelled, or nobody hears the events: answers are paid for still
            await _drain_answers(execution, asker)
            raise
        finally:
            # After the answers in flight: what is left are questions that nobody waits for.
            await asker.aclose()
            retries = execution.control.tally.retries
            if retries:
                with contextlib.suppress(StoreError):
                    store.calls.add_to_run_retry_count(row.id, retries)
    return RunState.DONE, None


def _iterate_pending(store: Store, run: RunId) -> Iterator[PendingItem]:
    """Give what is still to be judged, read little by little: there may be a million of them."""
    last: ItemId | None = None
    while page := store.runs.list_pending_items(run, after=last, limit=_PAGE):
        yield from page
        last = page[-1].id


async def _drain_answers(execution: RunExecution, asker: Asker) -> None:
    """Wait for the answers in flight, which are paid for."""
    if execution.control.tally.in_flight:
        execution.emit(Draining(execution.row.id, execution.update_progress()))
    await asker.drain()


def _make_asker(
    execution: RunExecution, judge: Judge, environment: RunEnvironment, leases: Leases
) -> Asker:
    store, row, control = execution.store, execution.row, execution.control
    budget = control.budget = Budget(
        BudgetCaps(row.spec.budget_nusd, row.spec.budget_tokens),
        Expense(row.cost_nusd, row.tokens_in + row.tokens_out),
    )

    def emit_retry(step: str, error: JudgeError, wait_s: float) -> None:
        message = make_visible_line(error.provider_message, MOST_SAID)
        kind = type(error).__name__
        execution.emit(
            CallRetried(
                row.id, step, kind, wait_s, execution.update_progress(), error.status, message
            )
        )

    def emit_format_change(previous: OutputFormat, current: OutputFormat) -> None:
        execution.emit(
            WayChanged(row.id, previous.value, current.value, execution.update_progress())
        )

    def update_totals_and_budget(totals: RunTotals) -> None:
        execution.totals = totals
        budget.set_total_spent(Expense(totals.cost_nusd, totals.tokens_in + totals.tokens_out))

    def remember_format(output_format: OutputFormat) -> None:
        # Nobody waits for it: it only saves the next run some questions.
        store.submit(store.calls.remember_output_format, judge.fingerprint, output_format.value)

    recorder = environment.recorder
    if recorder is not None:
        recorder.record_judge_of_next_replies(judge.ref, judge.fingerprint, judge.context_window)
    known = store.calls.recall_output_format(judge.fingerprint) if judge.output_formats else None
    control.limiter = environment.rate_limiters.get_limiter(judge.account)
    return Asker(
        judge,
        StoreReplyCache(
            execution.writer, judge.ref, row.id, leases.holder, update_totals_and_budget
        ),
        slots=control.requests,
        tally=control.tally,
        format_fallback=OutputFormatFallback(
            judge.ref,
            judge.output_formats,
            known=None if known is None else OutputFormat(known),
            on_known=remember_format,
            on_step=emit_format_change,
        ),
        limiter=control.limiter,
        budget=budget,
        pricing=TablePrices(environment.prices, row.spec.judge, row.spec.base_url),
        leases=leases,
        on_retry=emit_retry,
        pause=environment.sleep,
        pace=execution.metric.pace,
        load_image=StoreImages(store, row.spec.judge, environment.image_hosts),
        breaker=execution.breaker,
        before_step=control.ui_yielder.wait_until_pause_ends,
        on_answer=None if recorder is None else recorder.record_reply,
        answer_limit=row.spec.profile.max_tokens,
        fingerprint=row.spec.judge_fingerprint,
    )


async def _judge_until_none_left(execution: RunExecution, asker: Asker) -> None:
    """Take conversations until there is none: a million of them are never a million tasks."""
    while True:
        async with execution.control.conversations:
            item = next(execution.pending_items, None)
            if item is None:
                return
            await judge_and_save_conversation(execution, asker, item)
