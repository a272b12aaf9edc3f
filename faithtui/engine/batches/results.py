"""Reading what came back of batches into the store.

Results are committed some at a time: what is lost by a crash is read again from where it lies, and
a result that is stored is not stored twice.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from faithtui.engine.batches.question_collector import format_error_reason
from faithtui.engine.calls.call_costs import TablePrices, fill_in_token_counts_from_estimate
from faithtui.engine.calls.reply_cache import make_stored_reply
from faithtui.engine.runs.events import BatchRead
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import RunExecution
from faithtui.errors import JudgeError, JudgeUnavailable, JudgeUnusable
from faithtui.judges.base import JudgeReply
from faithtui.judges.logging_judge import log_answer
from faithtui.judges.providers.batches import BatchResult
from faithtui.store.calls.batch_records import BatchRow, QuestionResult, WaitingQuestion

RESULTS_PER_COMMIT: Final = 100
"""Results in one transaction."""

UNANSWERED: Final = format_error_reason(
    JudgeUnavailable("the batch ended without a word of this question. It can be asked again")
)


@dataclass(slots=True)
class ResultCounts:
    """What was read of a batch."""

    answered: int = 0
    failed: int = 0
    stop_error: JudgeUnusable | None = None
    """Why going on is pointless, when a result says so."""


async def store_results(
    execution: RunExecution,
    environment: RunEnvironment,
    row: BatchRow,
    results: AsyncGenerator[BatchResult],
) -> ResultCounts:
    """Keep the results of a batch.

    Args:
        execution: The run that reads. The batch may be another run's: it pays.
        environment: What things cost.
        row: The batch.
        results: As they come; those that are known already, or are nobody's, are passed over.

    Raises:
        JudgeError: The results broke off. What came before is kept.
        StoreError: The store cannot be written.
    """
    store = execution.store
    spec = store.runs.read_run(row.run).spec
    pricing = TablePrices(environment.prices, spec.judge, spec.base_url, batch=True)
    waiting = store.batches.list_waiting_questions(row.uid)
    read = ResultCounts()
    some: list[QuestionResult] = []

    async def commit_results() -> None:
        totals = await execution.writer.write(store.batches.store_results, row.uid, tuple(some))
        some.clear()
        if totals is not None and row.run == execution.row.id:
            execution.totals = totals
        execution.emit(
            BatchRead(execution.row.id, read.answered, read.failed, execution.update_progress())
        )

    try:
        async with aclosing(results) as coming:
            async for name, result in coming:
                asked = waiting.pop(int(name), None) if name.isdecimal() else None
                if asked is None:
                    continue
                if environment.log_prompts:
                    log_answer(spec.judge, asked.step, result)
                some.append(
                    _make_question_result_and_count_call(execution, row, asked, result, pricing)
                )
                if isinstance(result, JudgeReply):
                    read.answered += 1
                else:
                    read.failed += 1
                if isinstance(result, JudgeUnusable):
                    read.stop_error = result
                if len(some) >= RESULTS_PER_COMMIT:
                    await commit_results()
    finally:
        if some:
            await commit_results()
    return read


def _make_question_result_and_count_call(
    execution: RunExecution,
    row: BatchRow,
    asked: WaitingQuestion,
    result: JudgeReply | JudgeError,
    pricing: TablePrices,
) -> QuestionResult:
    if isinstance(result, JudgeError):
        return QuestionResult(asked.number, None, format_error_reason(result))
    usage, is_estimated = fill_in_token_counts_from_estimate(asked.tokens_likely, result)
    tally = execution.control.tally
    tally.calls += 1
    tally.get_or_add_counts_of_step(asked.step).calls += 1
    tally.unparsed_batch_replies.add((row.uid, asked.number))
    return QuestionResult(
        asked.number,
        make_stored_reply(
            result,
            usage,
            estimated=is_estimated,
            cost_nusd=pricing.compute_cost_nusd(usage),
            prices=pricing.price_source,
            batch_uid=row.uid,
        ),
    )
