"""Handing collected questions to the provider, within what it takes and what may be spent.

A batch is written down before it is sent. When the answer to that is lost, it is neither sent again
nor forgotten: the next one who comes looks for it.
"""

import asyncio
import uuid
from collections.abc import Coroutine
from typing import Any, Final

from faithtui.engine.batches.journal import TOO_MUCH, format_batch_refusal_reason
from faithtui.engine.batches.question_collector import CollectedQuestion, QuestionBuffer
from faithtui.engine.calls.budget import Budget, BudgetCaps, Expense
from faithtui.engine.runs.events import BatchSent
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import RunExecution
from faithtui.errors import JudgeError, JudgeRequestRejected, JudgeUnusable
from faithtui.judges.logging_judge import log_question
from faithtui.judges.providers.batches import BatchClient
from faithtui.judges.redaction import redact_request

MOST_QUESTIONS: Final = 10_000
"""In one batch: what is lost with it can be asked again within a day."""

MOST_BYTES: Final = 100_000_000
"""Likewise; it is held in memory while it is sent."""


class BatchSubmitter:
    """Sends what one run wants asked."""

    def __init__(
        self,
        execution: RunExecution,
        client: BatchClient,
        environment: RunEnvironment | None = None,
    ) -> None:
        self._environment = environment or RunEnvironment()
        self.most_bytes = min(MOST_BYTES, client.most_bytes)
        self.troubles: list[str] = []
        """Why something was not sent, in sentences."""
        self._execution = execution
        self._client = client
        self._most_questions = min(MOST_QUESTIONS, client.most_requests)
        self._cost_over_budget: Expense | None = None
        batches = execution.store.batches
        too_much = [
            row.requests
            for row in batches.list_failed_batches(execution.row.id)
            if (row.reason or "").startswith(TOO_MUCH)
        ]
        self._is_tight = bool(too_much)
        """The provider refused batches for their size: half as much, and one after the other."""
        if too_much:
            self._most_questions = max(1, min(too_much) // 2)

    async def submit_batches(self, buffer: QuestionBuffer, *, everything: bool) -> None:
        """Send full batches, and the rest too when there is nothing to wait for.

        Args:
            buffer: What was collected. It is closed when nothing more can be sent now.
            everything: Nothing more is coming.

        Raises:
            JudgeUnusable: Nothing can be asked of the provider now.
            JudgeRequestRejected: It has no Batch API, or does not take these questions.
            StoreError: The store cannot be written.
        """
        while buffer.questions and (everything or self._is_batch_full(buffer)):
            if (
                self._is_tight
                and self._execution.store.batches.sum_outstanding_of_run(
                    self._execution.row.id
                ).batches
            ):
                buffer.discard_and_close()
                return
            fitting = self._keep_affordable_and_discard_rest(
                buffer.remove_questions_of_one_batch(self._most_questions, self.most_bytes), buffer
            )
            if fitting:
                await _finish_despite_cancel(self._submit_batch(fitting, buffer))

    @property
    def is_over_budget(self) -> bool:
        """Whether something was held back because it might cost too much."""
        return self._cost_over_budget is not None

    async def raise_if_over_budget(self) -> None:
        """Say that the budget is too small for what is left, when it is for that alone.

        Raises:
            BudgetReached: The next question does not fit although nothing is out.
        """
        if self._cost_over_budget is not None:
            await self._make_budget_with_run_spending().reserve(self._cost_over_budget)

    def _is_batch_full(self, buffer: QuestionBuffer) -> bool:
        return len(buffer.questions) >= self._most_questions or buffer.size >= self.most_bytes

    def _make_budget_with_run_spending(self) -> Budget:
        spec, totals = self._execution.row.spec, self._execution.totals
        return Budget(
            BudgetCaps(spec.budget_nusd, spec.budget_tokens),
            Expense(totals.cost_nusd, totals.tokens_in + totals.tokens_out),
        )

    def _keep_affordable_and_discard_rest(
        self, shard: list[CollectedQuestion], buffer: QuestionBuffer
    ) -> list[CollectedQuestion]:
        """Keep as many as the budget holds even if all cost the most; close the pile at the end."""
        budget = self._make_budget_with_run_spending()
        out = self._execution.store.batches.sum_outstanding_of_run(self._execution.row.id)
        committed = budget.spent + Expense(out.nusd_worst, out.tokens_worst)
        for count, wanted in enumerate(shard):
            committed += wanted.worst_cost
            if not budget.caps.has_room_for(committed):
                self._cost_over_budget = wanted.worst_cost
                buffer.discard_and_close(shard[count:])
                return shard[:count]
        return shard

    async def _submit_batch(self, shard: list[CollectedQuestion], buffer: QuestionBuffer) -> None:
        """Write a batch down, send it, and note its receipt."""
        execution, uid = self._execution, uuid.uuid4().hex
        batches, write = execution.store.batches, execution.writer.write
        await execution.writer.wait_until_writable()
        await write(
            batches.record_batch_with_questions,
            execution.row.id,
            uid,
            [each.question for each in shard],
        )
        requests = [(str(number), each.request) for number, each in enumerate(shard)]
        if self._environment.log_prompts:
            for _, request in requests:
                log_question(
                    execution.row.spec.judge, redact_request(request, self._environment.redact)
                )
        try:
            provider_id = await self._client.submit(uid, requests)
        except JudgeRequestRejected as error:
            reason = format_batch_refusal_reason(str(error))
            await write(batches.close_failed_batch, uid, reason)
            if (
                not reason.startswith(TOO_MUCH)
                or not batches.sum_outstanding_of_run(execution.row.id).questions
            ):
                raise
            buffer.discard_and_close()
            return
        except JudgeUnusable:
            raise
        except JudgeError as error:
            # Whether it came to be is found out next time.
            self.troubles.append(str(error))
            buffer.discard_and_close()
            return
        await write(batches.mark_batch_sent, uid, provider_id)
        execution.emit(BatchSent(execution.row.id, len(shard), execution.update_progress()))


async def _finish_despite_cancel(sending: Coroutine[Any, Any, None]) -> None:
    """Wait until a batch is sent, also when whoever waits is cancelled; cancelled again, give up.

    Half a submission is the one thing that has to be looked for afterwards.
    """
    task = asyncio.ensure_future(sending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        raise
