"""Handing collected questions to the provider, within what it takes and what may be spent.

A batch is written down before it is sent. When the answer to that is lost, it is neither sent again
nor forgotten: the next one who comes looks for it.
"""

import asyncio
import uuid
from collections.abc import Coroutine
from typing import Any, Final

from faithtui.engine.batches.journal import TOO_MUCH, refusal
from faithtui.engine.batches.question_collector import Pile, Wanted
from faithtui.engine.calls.budget import Budget, Caps, Spent
from faithtui.engine.runs.environment import Circumstances
from faithtui.engine.runs.events import BatchSent
from faithtui.engine.runs.run_execution import Course
from faithtui.errors import JudgeError, JudgeRequestRejected, JudgeUnusable
from faithtui.judges.logging_judge import log_question
from faithtui.judges.providers.batches import BatchClient
from faithtui.judges.redaction import redacted

MOST_QUESTIONS: Final = 10_000
"""In one batch: what is lost with it can be asked again within a day."""

MOST_BYTES: Final = 100_000_000
"""Likewise; it is held in memory while it is sent."""


class Shipping:
    """Sends what one run wants asked."""

    def __init__(
        self, course: Course, client: BatchClient, around: Circumstances | None = None
    ) -> None:
        self._around = around or Circumstances()
        self.most_bytes = min(MOST_BYTES, client.most_bytes)
        self.troubles: list[str] = []
        """Why something was not sent, in sentences."""
        self._course = course
        self._client = client
        self._most = min(MOST_QUESTIONS, client.most_requests)
        self._over: Spent | None = None
        batches = course.store.batches
        too_much = [
            row.requests
            for row in batches.refused(course.row.id)
            if (row.reason or "").startswith(TOO_MUCH)
        ]
        self._is_tight = bool(too_much)
        """The provider refused batches for their size: half as much, and one after the other."""
        if too_much:
            self._most = max(1, min(too_much) // 2)

    async def ship(self, pile: Pile, *, everything: bool) -> None:
        """Send full batches, and the rest too when there is nothing to wait for.

        Args:
            pile: What was collected. It is closed when nothing more can be sent now.
            everything: Nothing more is coming.

        Raises:
            JudgeUnusable: Nothing can be asked of the provider now.
            JudgeRequestRejected: It has no Batch API, or does not take these questions.
            StoreError: The store cannot be written.
        """
        while pile.wanted and (everything or self._is_full(pile)):
            if self._is_tight and self._course.store.batches.out(self._course.row.id).batches:
                pile.close()
                return
            fitting = self._affordable(pile.take(self._most, self.most_bytes), pile)
            if fitting:
                await _to_its_end(self._send(fitting, pile))

    @property
    def is_over_budget(self) -> bool:
        """Whether something was held back because it might cost too much."""
        return self._over is not None

    async def refuse_more(self) -> None:
        """Say that the budget is too small for what is left, when it is for that alone.

        Raises:
            BudgetReached: The next question does not fit although nothing is out.
        """
        if self._over is not None:
            await self._budget().reserve(self._over)

    def _is_full(self, pile: Pile) -> bool:
        return len(pile.wanted) >= self._most or pile.size >= self.most_bytes

    def _budget(self) -> Budget:
        spec, totals = self._course.row.spec, self._course.totals
        return Budget(
            Caps(spec.budget_nusd, spec.budget_tokens),
            Spent(totals.cost_nusd, totals.tokens_in + totals.tokens_out),
        )

    def _affordable(self, shard: list[Wanted], pile: Pile) -> list[Wanted]:
        """Keep as many as the budget holds even if all cost the most; close the pile at the end."""
        budget = self._budget()
        out = self._course.store.batches.out(self._course.row.id)
        committed = budget.spent + Spent(out.nusd_worst, out.tokens_worst)
        for count, wanted in enumerate(shard):
            committed += wanted.worst
            if not budget.caps.hold(committed):
                self._over = wanted.worst
                pile.close(shard[count:])
                return shard[:count]
        return shard

    async def _send(self, shard: list[Wanted], pile: Pile) -> None:
        """Write a batch down, send it, and note its receipt."""
        course, uid = self._course, uuid.uuid4().hex
        batches, write = course.store.batches, course.recorder.write
        await course.recorder.ready()
        await write(batches.plan, course.row.id, uid, [each.question for each in shard])
        requests = [(str(number), each.request) for number, each in enumerate(shard)]
        if self._around.log_prompts:
            for _, request in requests:
                log_question(course.row.spec.judge, redacted(request, self._around.redact))
        try:
            provider_id = await self._client.submit(uid, requests)
        except JudgeRequestRejected as error:
            reason = refusal(str(error))
            await write(batches.give_up, uid, reason)
            if not reason.startswith(TOO_MUCH) or not batches.out(course.row.id).questions:
                raise
            pile.close()
            return
        except JudgeUnusable:
            raise
        except JudgeError as error:
            # Whether it came to be is found out next time.
            self.troubles.append(str(error))
            pile.close()
            return
        await write(batches.sent, uid, provider_id)
        course.emit(BatchSent(course.row.id, len(shard), course.progress()))


async def _to_its_end(sending: Coroutine[Any, Any, None]) -> None:
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
