"""One call for equal questions in flight, and the reply of it read for each of them.

A question is looked up first; what is not stored is sent once, under a lease that keeps other
processes from sending it too.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from faithtui.domain.ids import ItemId
from faithtui.engine.calls.answers_per_question import REPAIRS, are_answers_left
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.engine.calls.leases import Leases
from faithtui.engine.calls.reply_cache import QuestionContext, ReplyCache, reply_from_stored
from faithtui.engine.calls.reply_values import value_from_reply
from faithtui.engine.calls.send import CallCounts, QuestionSender
from faithtui.errors import (
    JudgeAnswersUsedUp,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, StopReason
from faithtui.metrics.base import AnswerCount, Question

T = TypeVar("T")


class SharedCalls:
    """Calls in flight, each for all equal questions."""

    def __init__(
        self,
        replies: ReplyCache,
        sender: QuestionSender,
        leases: Leases,
        *,
        tally: CallCounts,
        breaker: CircuitBreaker | None,
        before_step: Callable[[], None],
        on_reply: Callable[[str, JudgeReply, bool], None],
        on_question: Callable[[str, JudgeRequest], None],
    ) -> None:
        """Prepare; nothing is asked yet. The arguments are those of `Asker`."""
        self._replies = replies
        self._sender = sender
        self._leases = leases
        self._tally = tally
        self._breaker = breaker
        self._before_step = before_step
        self._on_reply = on_reply
        self._on_question = on_question
        self._in_flight: dict[str, tuple[asyncio.Task[Any], AnswerCount]] = {}
        """By key of the question, with the count of whoever asked first."""

    async def drain(self) -> None:
        """Send nothing more, and wait for the answers in flight: they are paid for.

        Cancelling the wait leaves them to `aclose`.
        """
        landing = self._sender.stop_and_list_in_flight()
        for task, _ in self._in_flight.values():
            # It waits for a place, a lease or another try: nothing was paid for it yet.
            if task not in landing:
                task.cancel()
        if landing:
            await asyncio.wait(landing)

    async def aclose(self) -> None:
        """Cancel questions that nobody waits for any more."""
        tasks = [task for task, _ in self._in_flight.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(
        self,
        question: Question[T],
        request: JudgeRequest,
        key: str,
        item: ItemId | None,
        window: int | None,
        *,
        asked_after: int,
        or_cut: bool,
    ) -> T:
        """Let equal questions in flight share one call.

        The call belongs to nobody in particular: a conversation that is given up does not take it
        away from another one that waits for it.

        Args:
            question: The question.
            request: The form of it that is asked.
            key: Of that form: each limit and each repair has one of its own.
            item: The conversation of a run it is asked for.
            window: Position of the window that asks.
            asked_after: As in `ask`.
            or_cut: A stored reply that was cut will do: it is asked with a higher limit next.
        """
        self._on_question(key, request)
        while True:
            found, value = self._find_stored_answer(question, key, or_cut, asked_after)
            if found:
                return value
            in_flight = self._in_flight.get(key)
            if in_flight is None:
                asked = QuestionContext(
                    key, request.step, item, window, request.replicate, question.count
                )
                task = asyncio.create_task(self._call_under_lease(question, request, asked, or_cut))
                self._in_flight[key] = task, question.count
                # By a callback, since by then nobody may be waiting for the call any more.
                task.add_done_callback(lambda done: self._forget_finished_call(key, done))
                value = await asyncio.shield(task)
                return value
            task, theirs = in_flight
            # What the shared call adds from here on counts for this question as well.
            before = theirs.answers
            try:
                value = await asyncio.shield(task)
            except JudgeAnswersUsedUp:
                # That was the limit of whoever asked first; this question may have answers left.
                if theirs is question.count or not are_answers_left(question.count):
                    raise
            else:
                return value
            finally:
                if theirs is not question.count:
                    question.count.answers += theirs.answers - before
                    question.count.is_earlier = False

    def _find_stored_answer(
        self, question: Question[T], key: str, or_cut: bool, asked_after: int = 0
    ) -> tuple[bool, T]:
        """Look a question up.

        Returns:
            Whether there is a reply, and what it says.

        Raises:
            JudgeReplyInvalid: There is one that this question cannot use.
        """
        stored = self._replies.find(key, or_cut=or_cut)
        if stored is None:
            return False, None  # type: ignore[return-value]  # read only where True
        self._tally.calls_stored += 1
        self._tally.get_or_add_counts_of_step(question.step).stored += 1
        count = question.count
        count.is_earlier = 0 < stored.number <= asked_after
        count.answers += not count.is_earlier
        reply = reply_from_stored(stored)
        if reply.stop is StopReason.LENGTH:
            question.count.answers += self._sender.count_unreadable_answers(key)
        self._on_reply(question.step, reply, True)
        return True, value_from_reply(question, reply)

    def _forget_finished_call(self, key: str, task: asyncio.Task[Any]) -> None:
        del self._in_flight[key]
        if not task.cancelled():
            task.exception()  # marks it as seen, for when nobody waits any more

    async def _call_under_lease(
        self, question: Question[T], request: JudgeRequest, asked: QuestionContext, or_cut: bool
    ) -> T:
        """Ask, unless somebody else is asking the same: then wait for their answer."""

        def read_reply(reply: JudgeReply) -> T:
            # Reading a long reply takes the interpreter, for which somebody at the app may wait.
            self._before_step()
            self._on_reply(question.step, reply, False)
            return value_from_reply(question, reply)

        is_ours = await self._leases.acquire_or_wait_for_others_answer(
            asked.key, lambda: self._replies.find(asked.key, or_cut=or_cut) is not None
        )
        if not is_ours:
            _, value = self._find_stored_answer(question, asked.key, or_cut)
            return value
        is_kept = False
        try:
            value = await self._sender.answer_question(asked, request, read_reply)
            is_kept = True
            self._report_answer_to_breaker(question, value, asked.key)
            return value
        finally:
            if not is_kept:  # a usable reply ends the lease as it is kept
                await self._leases.release(asked.key)

    def _report_answer_to_breaker(self, question: Question[T], value: T, key: str) -> None:
        """Tell what stops a failing run of a reply that came.

        Raises:
            JudgeKeepsFailing: It is one too many that says nothing.
        """
        if self._breaker is None:
            return
        if question.says_something(value):
            self._breaker.clear_failures_of_answered_step(question.step)
            return
        question.count.empty += 1
        if question.count.empty == REPAIRS + 1:
            why = f"no answer to `{question.step}` had a verdict"
            self._breaker.record_failed_question_or_stop(question.step, key, "no verdict", why)
