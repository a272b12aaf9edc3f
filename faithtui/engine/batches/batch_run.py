"""Runs whose questions are handed to the provider in batches: half the price, within a day.

Such a run is not executed but advanced: what came back is read, every conversation is driven as far
as that allows, what is missing is handed over, and the process may end. Everything that matters is
in the store, so that it can be killed anywhere and goes on where it was.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial

from faithtui.domain.ids import RunId
from faithtui.engine.batches.batch_driver import drive_pending_conversations
from faithtui.engine.batches.journal import BatchTracker
from faithtui.engine.batches.question_collector import QuestionCollector
from faithtui.engine.batches.submission import BatchSubmitter
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.engine.calls.image_hosts import check_image_hosts_of_unfinished_run
from faithtui.engine.calls.leases import StoreLeases
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import EventSink, RunStarted
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import (
    RunEnding,
    RunExecution,
    emit_future_parameter_refusals,
    execute_run_and_record_end,
    load_refused_parameters_and_keep_new_ones,
    open_run_judge,
    rebuild_and_check_metric,
)
from faithtui.errors import JudgeRequestRejected, JudgeUnsupported, JudgeUnusable
from faithtui.judges.base import Judge
from faithtui.judges.providers.batches import BatchClient, open_batch_client
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.store.calls.batch_records import BY_FILE, OutstandingBatches
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store

LEASE = "batches"
"""One at a time works on the batches of a store, so that none is read or made twice."""

_SETTLED = (RunState.DONE, RunState.STOPPED, RunState.CANCELLED)


async def advance_run_without_waiting(
    store: Store,
    run: RunId,
    emit: EventSink,
    *,
    clients: AbstractAsyncContextManager[BatchClient] | None = None,
    retry_unfinished: bool = False,
    tell: Callable[[str], None] = lambda steps: None,
    control: RunControl | None = None,
    environment: RunEnvironment | None = None,
) -> RunState:
    """Take a run as far as it goes without waiting for the provider.

    A batch that is being sent is sent to its end when this is cancelled; cancelled again, it is
    looked for next time.

    Args:
        store: Open store.
        run: A run by batches.
        emit: Gets every event, on this thread.
        clients: The provider's Batch API, opened and closed here; None opens the judge's.
        retry_unfinished: Take up failed conversations again, once nothing is out any more.
        tell: Gets the steps of each conversation, as text, under `verbose_mode`.
        control: Handles for somebody else; None: nobody has any.
        environment: What it shares with other runs of the process; None: nothing.

    Returns:
        DONE; WAITING when the provider has questions, to be called again later; or STOPPED when
        going on became pointless (the event says why).

    Raises:
        ConfigError: The run's judge, prompts or options are not what they were, or its key is
            missing.
        StoreError: The store cannot be written; what was written stays.
        CancelledError: Let through after the run is marked as waiting or cancelled.
    """
    environment = environment or RunEnvironment()
    async with hold_batch_lease(store):
        row = store.runs.read_run(run)
        metric = rebuild_and_check_metric(store, row)
        check_image_hosts_of_unfinished_run(
            store, row, environment.image_hosts, with_unfinished=retry_unfinished
        )
        refused = load_refused_parameters_and_keep_new_ones(store, row)
        judge = open_run_judge(row, environment, refused=refused)
        if retry_unfinished:
            row = _reopen_unfinished_conversations(store, row)

        async def advance_batches(execution: RunExecution) -> RunEnding:
            emit_future_parameter_refusals(execution, refused)
            try:
                opening = clients or _open_batch_client(row, environment, refused)
            except JudgeUnsupported as error:
                return RunState.STOPPED, f"{error}. {format_batch_export_hint(run)}"
            async with opening as client, judge as opened:
                return await _BatchRunner(
                    execution, client, opened, environment
                ).run_until_waiting_or_ended(row)

        control = control or RunControl(row.spec.concurrency)
        return await execute_run_and_record_end(
            store,
            row,
            metric,
            control,
            emit,
            tell,
            advance_batches,
            image_hosts=environment.image_hosts,
        )


async def cancel_batches_of_run(
    store: Store,
    run: RunId,
    *,
    environment: RunEnvironment | None = None,
) -> OutstandingBatches:
    """Have the provider stop what is out of a run, and give up what it does not know.

    What was answered until then is kept, billed, and read when the run is resumed.

    Returns:
        What was out.

    Raises:
        JudgeUnsupported: The judge has no Batch API, and something is out all the same.
        JudgeError: The provider cannot be asked now.
        StoreError: The store cannot be written.
    """
    environment = environment or RunEnvironment()
    async with hold_batch_lease(store):
        row, batches = store.runs.read_run(run), store.batches
        out = batches.sum_outstanding_of_run(run)
        rows = batches.list_open_batches(run)
        for each in rows:
            if each.provider_id == BY_FILE:
                batches.close_failed_batch(each.uid, "cancelled")
        handed = [each for each in rows if each.provider_id != BY_FILE]
        if handed:
            async with _open_batch_client(row, environment) as client:
                for each in handed:
                    name = each.provider_id or await client.find_submitted_batch(
                        each.uid,
                        total=each.requests,
                        since=each.created_at,
                        known=batches.list_provider_batch_ids(),
                    )
                    try:
                        if name is None:
                            batches.close_failed_batch(each.uid, "cancelled")
                        else:
                            await client.cancel(name)
                    except JudgeRequestRejected as error:
                        if error.status != 404:
                            raise
                        batches.close_failed_batch(each.uid, str(error))
        store.runs.set_state(run, RunState.CANCELLED)
    return out


def _open_batch_client(
    row: RunRow, environment: RunEnvironment, refused: RefusedParameters | None = None
) -> AbstractAsyncContextManager[BatchClient]:
    """Open the Batch API of a run's judge.

    Raises:
        ConfigError: Its key is missing, or its address cannot be used.
        JudgeUnsupported: It has none.
    """
    return open_batch_client(
        row.spec.judge,
        base_url=row.spec.base_url,
        profile=row.spec.profile,
        refused=refused,
        timeout_s=environment.choose_timeout(row.spec.profile),
        redact=environment.redact,
    )


def format_batch_export_hint(run: RunId) -> str:
    """Say how a server without batches gets many questions at once."""
    return (
        f"`faithtui batch export {run} FILE` writes the questions in OpenAI's form, for servers"
        " that read it from a file"
    )


@contextlib.asynccontextmanager
async def hold_batch_lease(store: Store) -> AsyncIterator[None]:
    """Be the only one, over all processes, who works on the batches of a store."""
    leases = StoreLeases(store)
    async with leases.hold_worker_registration():
        await leases.acquire_or_wait_for_others_answer(LEASE, lambda: False)
        yield


def _reopen_unfinished_conversations(store: Store, row: RunRow) -> RunRow:
    """Make conversations pending again that failed or lack a verdict, unless it is under way."""
    if row.state not in _SETTLED or store.batches.sum_outstanding_of_run(row.id).questions:
        return row
    store.runs.reopen_failed_or_incomplete_items(
        row.id, store.runs.list_failed_or_incomplete_items(row.id)
    )
    return store.runs.read_run(row.id)


@dataclass(slots=True)
class _BatchRunner:
    """One run taken as far as it goes."""

    execution: RunExecution
    client: BatchClient
    judge: Judge
    environment: RunEnvironment
    tracker: BatchTracker = field(init=False)
    submitter: BatchSubmitter = field(init=False)

    def __post_init__(self) -> None:
        self.tracker = BatchTracker(self.execution, self.client, self.environment)

    async def run_until_waiting_or_ended(self, before: RunRow) -> RunEnding:
        """Do it.

        Args:
            before: The run as it stood.
        """
        execution, store = self.execution, self.execution.store
        await execution.writer.write(store.runs.set_state, execution.row.id, RunState.RUNNING)
        execution.emit(RunStarted(execution.row.id, execution.update_progress()))
        try:
            return await self._poll_drive_and_submit_batches(before)
        except (JudgeUnusable, JudgeRequestRejected) as error:
            return RunState.STOPPED, str(error)

    async def _poll_drive_and_submit_batches(self, before: RunRow) -> RunEnding:
        """Read, drive, hand over.

        Raises:
            JudgeUnusable: Going on is pointless.
            JudgeRequestRejected: Likewise.
        """
        execution, batches = self.execution, self.execution.store.batches
        run, spec = execution.row.id, execution.row.spec
        if spec.claims_run is not None and execution.store.runs.read_run(spec.claims_run).pending:
            return RunState.WAITING, f"it judges the claims of run {spec.claims_run}: finish that"
        has_changed = await self.tracker.poll_batches_and_read_results(
            batches.list_open_batches(run)
        )
        self._raise_stop_error_if_any()
        self.submitter = BatchSubmitter(execution, self.client, self.environment)
        out = batches.sum_outstanding_of_run(run)
        if out.questions and not has_changed and self._can_skip_driving(before):
            return RunState.WAITING, describe_outstanding_batches_of_run(out, run)
        while True:
            collector = self._make_collector()
            await drive_pending_conversations(
                execution,
                self.judge,
                collector,
                partial(self.submitter.submit_batches, collector.buffer, everything=False),
            )
            await self.submitter.submit_batches(collector.buffer, everything=True)
            if not collector.other_batches:
                break
            if not await self.tracker.poll_batches_and_read_results(
                batches.find_batches(collector.other_batches)
            ):
                break
            self._raise_stop_error_if_any()
        return await self._make_ending_or_raise_budget_error(collector)

    def _can_skip_driving(self, before: RunRow) -> bool:
        """Whether driving everything again would find nothing new, when no batch has ended.

        A run that was cut short waits without a reason, and one with a budget may have room now.
        """
        spec = before.spec
        is_complete = before.state is RunState.WAITING and before.reason is not None
        has_budget = spec.budget_nusd is not None or spec.budget_tokens is not None
        return is_complete and not has_budget and not self.tracker.troubles

    def _make_collector(self) -> QuestionCollector:
        spec = self.execution.row.spec
        return QuestionCollector(
            self.execution.writer,
            self.execution.row.id,
            self.execution.control.tally,
            size_of=self.client.count_question_bytes,
            most_bytes=self.submitter.most_bytes,
            pricing=TablePrices(self.environment.prices, spec.judge, spec.base_url, batch=True),
        )

    def _raise_stop_error_if_any(self) -> None:
        if self.tracker.stop_error is not None:
            raise self.tracker.stop_error

    async def _make_ending_or_raise_budget_error(self, collector: QuestionCollector) -> RunEnding:
        """Say where the run stands.

        Raises:
            BudgetReached: What is left does not fit into the budget.
        """
        ending = find_ending_of_driven_run(
            self.execution, collector, self._list_sentences_on_troubles()
        )
        if ending is None:
            await self.submitter.raise_if_over_budget()
            raise AssertionError("a conversation waits for something that nobody was asked")
        return ending

    def _list_sentences_on_troubles(self) -> list[str]:
        """Say what else there is to say of a run that waits."""
        over = ["the budget holds no more of them at once"] if self.submitter.is_over_budget else []
        return [*over, *self.tracker.troubles, *self.submitter.troubles]


def find_ending_of_driven_run(
    execution: RunExecution, collector: QuestionCollector, more: Sequence[str] = ()
) -> RunEnding | None:
    """Say where a run stands that was driven as far as it goes.

    Args:
        execution: The run.
        collector: Where its questions were put.
        more: Sentences to add where it waits.

    Returns:
        None when it waits, and nothing of it is out.
    """
    run = execution.row.id
    out = execution.store.batches.sum_outstanding_of_run(run)
    parts = [describe_outstanding_batches_of_run(out, run)] if out.questions else []
    if collector.other_batches:
        parts.append("batches of other runs will answer some of its questions")
    if parts:
        return RunState.WAITING, "; ".join([*parts, *more])
    return None if execution.store.runs.read_run(run).pending else (RunState.DONE, None)


def describe_outstanding_batches_of_run(out: OutstandingBatches, run: RunId) -> str:
    """Say in a clause what is out of a run."""
    questions = "1 question" if out.questions == 1 else f"{out.questions:,} questions"
    where = "1 batch" if out.batches == 1 else f"{out.batches:,} batches"
    if out.by_file == out.questions:
        held, them = (
            ("is in a file", "reply") if out.questions == 1 else ("are in files", "replies")
        )
        return f"{questions} {held}; import the {them} with faithtui batch import {run} FILE"
    return f"{questions} in {where} {'is' if out.questions == 1 else 'are'} with the provider"
