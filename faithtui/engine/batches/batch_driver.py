"""Driving all pending conversations of a run as far as the answers that are there allow.

A conversation that has all it needs is stored and finished as in any run. Another one is given up
where an answer is outstanding: it costs nothing to begin again, since every answer is found in the
store.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from faithtui.engine.batches.question_collector import QuestionCollector
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import AnswerOutstanding
from faithtui.engine.runs.run_execution import RunExecution, judge_and_save_conversation
from faithtui.engine.runs.run_writer import StoreImages, StoreReplyCache
from faithtui.judges.base import Judge
from faithtui.store.records import PendingItem

AT_ONCE: Final = 32
"""Conversations that are driven together: their writes share transactions, and they hold their
documents in memory."""


async def drive_pending_conversations(
    execution: RunExecution,
    judge: Judge,
    collector: QuestionCollector,
    between: Callable[[], Awaitable[None]],
) -> None:
    """Drive every pending conversation once.

    Args:
        execution: The run.
        judge: Whose answers they are; it is not asked.
        collector: Answers questions and collects the others.
        between: Called after some conversations each time, to take what was collected.

    Raises:
        StoreError: The store cannot be written.
    """
    pending = execution.store.runs.list_pending_items(execution.row.id)
    for start in range(0, len(pending), AT_ONCE):
        async with execution.control.conversations:  # held while the run is paused
            await _drive_conversations(
                execution, judge, collector, pending[start : start + AT_ONCE]
            )
        await between()


async def _drive_conversations(
    execution: RunExecution,
    judge: Judge,
    collector: QuestionCollector,
    items: Sequence[PendingItem],
) -> None:
    asker = Asker(
        judge,
        StoreReplyCache(execution.writer, judge.ref, execution.row.id, None),
        tally=execution.control.tally,
        load_image=StoreImages(execution.store, execution.row.spec.judge, execution.image_hosts),
        sender=collector,
        before_step=execution.control.ui_yielder.wait_until_pause_ends,
        answer_limit=execution.row.spec.profile.max_tokens,
        fingerprint=execution.row.spec.judge_fingerprint,
    )

    async def drive_item(item: PendingItem) -> None:
        with contextlib.suppress(AnswerOutstanding):
            await judge_and_save_conversation(execution, asker, item)

    try:
        # An error of one conversation keeps no other from what it can still store.
        ended = await asyncio.gather(*map(drive_item, items), return_exceptions=True)
    finally:
        await asker.aclose()
    for error in ended:
        if error is not None:
            raise error
