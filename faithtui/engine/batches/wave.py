"""Driving all pending conversations of a run as far as the answers that are there allow.

A conversation that has all it needs is stored and finished as in any run. Another one is given up
where it waits: it costs nothing to begin again, since every answer is found in the store.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from faithtui.engine.batches.question_collector import QuestionCollector
from faithtui.engine.calls.ask import Asker
from faithtui.engine.runs.idle_tasks import StepCounter
from faithtui.engine.runs.recorder import StoreImages, StoreReplyCache
from faithtui.engine.runs.run_execution import RunExecution, judge_item
from faithtui.judges.base import Judge
from faithtui.store.records import PendingItem

AT_ONCE: Final = 32
"""Conversations that are driven together: they hold their documents in memory."""


async def drive_pending(
    course: RunExecution,
    judge: Judge,
    desk: QuestionCollector,
    between: Callable[[], Awaitable[None]],
) -> None:
    """Drive every pending conversation once.

    Args:
        course: The run.
        judge: Whose answers they are; it is not asked.
        desk: Answers questions and collects the others.
        between: Called after some conversations each time, to take what was collected.

    Raises:
        StoreError: The store cannot be written.
    """
    pending = course.store.runs.list_pending(course.row.id)
    for start in range(0, len(pending), AT_ONCE):
        async with course.control.conversations:  # held while the run is paused
            await _drive_some(course, judge, desk, pending[start : start + AT_ONCE])
        await between()


async def _drive_some(
    course: RunExecution, judge: Judge, desk: QuestionCollector, items: Sequence[PendingItem]
) -> None:
    asker = Asker(
        judge,
        StoreReplyCache(course.recorder, judge.ref, course.row.id, None),
        tally=course.control.tally,
        load_image=StoreImages(course.store, course.row.spec.judge, course.image_hosts),
        sender=desk,
    )
    steps = StepCounter()
    with steps.count_steps():
        tasks = [asyncio.create_task(judge_item(course, asker, item)) for item in items]
        try:
            # Outside the event loop a conversation waits for the store and for its checks alone.
            await steps.wait_until_idle(
                tasks, lambda: course.recorder.is_writing or course.checks.is_checking
            )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asker.aclose()
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
