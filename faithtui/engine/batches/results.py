"""Reading what came back of batches into the store.

Results are committed some at a time: what is lost by a crash is read again from where it lies, and
a result that is stored is not stored twice.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from faithtui.engine.batches.question_collector import reason_of
from faithtui.engine.calls.costs import TablePrices, counted_from
from faithtui.engine.calls.reply_cache import to_store
from faithtui.engine.runs.environment import Circumstances
from faithtui.engine.runs.events import BatchRead
from faithtui.engine.runs.run_execution import Course
from faithtui.errors import JudgeError, JudgeUnavailable, JudgeUnusable
from faithtui.judges.base import JudgeReply
from faithtui.judges.logging_judge import log_answer
from faithtui.judges.providers.batches import BatchResult
from faithtui.store.calls.batch_records import BatchRow, QuestionResult, WaitingQuestion

COMMITTED: Final = 100
"""Results in one transaction."""

UNANSWERED: Final = reason_of(
    JudgeUnavailable("the batch ended without a word of this question. It can be asked again")
)


@dataclass(slots=True)
class Read:
    """What was read of a batch."""

    answered: int = 0
    failed: int = 0
    stops: JudgeUnusable | None = None
    """Why going on is pointless, when a result says so."""


async def read_results(
    course: Course, around: Circumstances, row: BatchRow, results: AsyncGenerator[BatchResult]
) -> Read:
    """Keep the results of a batch.

    Args:
        course: The run that reads. The batch may be another run's: it pays.
        around: What things cost.
        row: The batch.
        results: As they come; those that are known already, or are nobody's, are passed over.

    Raises:
        JudgeError: The results broke off. What came before is kept.
        StoreError: The store cannot be written.
    """
    store = course.store
    spec = store.runs.row(row.run).spec
    pricing = TablePrices(around.prices, spec.judge, spec.base_url, batch=True)
    waiting = store.batches.waiting(row.uid)
    read = Read()
    some: list[QuestionResult] = []

    async def commit() -> None:
        totals = await course.recorder.write(store.batches.answer, row.uid, tuple(some))
        some.clear()
        if totals is not None and row.run == course.row.id:
            course.totals = totals
        course.emit(BatchRead(course.row.id, read.answered, read.failed, course.progress()))

    try:
        async with aclosing(results) as coming:
            async for name, result in coming:
                asked = waiting.pop(int(name), None) if name.isdecimal() else None
                if asked is None:
                    continue
                if around.log_prompts:
                    log_answer(spec.judge, asked.step, result)
                some.append(_result(course, row, asked, result, pricing))
                if isinstance(result, JudgeReply):
                    read.answered += 1
                else:
                    read.failed += 1
                if isinstance(result, JudgeUnusable):
                    read.stops = result
                if len(some) >= COMMITTED:
                    await commit()
    finally:
        if some:
            await commit()
    return read


def _result(
    course: Course,
    row: BatchRow,
    asked: WaitingQuestion,
    result: JudgeReply | JudgeError,
    pricing: TablePrices,
) -> QuestionResult:
    if isinstance(result, JudgeError):
        return QuestionResult(asked.number, None, reason_of(result))
    usage, is_estimated = counted_from(asked.tokens_likely, result)
    tally = course.control.tally
    tally.calls += 1
    tally.step(asked.step).calls += 1
    return QuestionResult(
        asked.number,
        to_store(
            result,
            usage,
            estimated=is_estimated,
            cost_nusd=pricing.cost_nusd(usage),
            prices=pricing.date,
            batch_uid=row.uid,
        ),
    )
