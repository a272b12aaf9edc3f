"""One question to one judge: places, pace, budget, tries, and the reply kept.

All policy about requests stands here, once. A reply is committed before it is used, and nothing
that went wrong ever becomes a reply.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

from faithtui.engine.calls.answers_per_question import (
    check_answers_left,
    is_error_from_answer,
    was_asked_before,
)
from faithtui.engine.calls.budget import Budget, BudgetCaps, Expense, SpendingLimit
from faithtui.engine.calls.call_costs import (
    NoPrices,
    Pricing,
    estimate_tokens_in,
    estimate_worst_cost,
    fill_in_missing_token_counts,
)
from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.calls.rate_limiter import RequestLimiter
from faithtui.engine.calls.reply_cache import QuestionContext, ReplyCache, make_stored_reply
from faithtui.errors import (
    JudgeError,
    JudgeMustWait,
    JudgeRateLimited,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnreachable,
    JudgeUnsupported,
    JudgeUnusable,
)
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, OutputFormat
from faithtui.judges.reply_parser import parse_reply
from faithtui.store.records import StoredReply

T = TypeVar("T")

ATTEMPTS = 5
"""Tries of one request before a passing failure counts as lasting."""

ATTEMPTS_WHERE_NOTHING_LISTENS = 3
"""Tries of one request while no program has the judge's port and nothing was answered so far."""

REFUSALS = 12
"""Tries of one request that is found too many: the fault is not its own."""

FIRST_WAIT_S = 0.5
"""Wait before the second try when the provider names none; doubles each time."""

LONGEST_BACKOFF_S = 30.0
"""To where it doubles."""

LONGEST_WAIT_S = 120.0
"""A provider that wants us to wait longer stops the run: no person waits without being told."""

_LONGEST_WAIT_TOLD_S = 366 * 86_400.0
"""A longer one is a mistake of the server; as a number it would be read as one of ours."""

OUTAGE_FAILURES = 10
"""Failures in a row, over all questions, that are not the fault of one question."""

OUTAGE_S = 120.0
"""How long questions wait for such a judge to come back before the run stops."""

LATENCIES = 512
"""The latest calls, from which the usual time is computed."""

_PASSING_ERRORS: Final = (JudgeTimeout, JudgeUnavailable)


@dataclass(slots=True)
class StepCallCounts:
    """Calls of one step."""

    calls: int = 0
    stored: int = 0
    in_flight: int = 0
    retries: int = 0
    judge_ms: int = 0
    """What the judge took for all of `calls`, of which several may have been in flight at once."""


@dataclass(slots=True)
class CallCounts:
    """Counts of calls, kept by the engine's thread alone."""

    calls: int = 0
    calls_again: int = 0
    """Of these, what was asked before, whole or in part."""
    calls_stored: int = 0
    in_flight: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_nusd: int = 0
    """In units of 1e-9 US dollars, of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is not known."""
    estimated: int = 0
    """Calls whose tokens are ours and not the judge's."""
    latencies_ms: deque[int] = field(default_factory=lambda: deque(maxlen=LATENCIES))
    steps: dict[str, StepCallCounts] = field(default_factory=dict)
    """By step, in the order of their first question."""
    unparsed_batch_replies: set[tuple[str, int]] = field(default_factory=set)
    """Of `calls`, those in batches that no conversation was driven over yet: batch and number."""

    def get_or_add_counts_of_step(self, name: str) -> StepCallCounts:
        """Give the counts of a step."""
        return self.steps.setdefault(name, StepCallCounts())

    def add_call(self, step: str, kept: StoredReply) -> None:
        """Count a call of the judge, its tokens, its cost and its time."""
        self.calls += 1
        self.get_or_add_counts_of_step(step).calls += 1
        self.tokens_in += kept.tokens_in or 0
        self.tokens_out += kept.tokens_out or 0
        self.cost_nusd += kept.cost_nusd or 0
        self.unpriced += kept.cost_nusd is None
        self.latencies_ms.append(kept.latency_ms)


class QuestionSender(Protocol):
    """What brings one question to a judge and its reply back. See `Sender`."""

    def stop_and_list_in_flight(self) -> frozenset[asyncio.Task[Any]]:
        """Send nothing more, and name the tasks whose replies are in flight."""

    async def answer_question(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Put a question until it is answered or will not be."""

    def count_unreadable_answers(self, key: str) -> int:
        """Count answers to a question, of earlier turns at the run, that were no replies."""


class Sender:
    """Sends questions to one judge. Belongs to one event loop."""

    def __init__(
        self,
        judge: Judge,
        replies: ReplyCache,
        slots: ConcurrencyLimit,
        *,
        tally: CallCounts,
        format_fallback: OutputFormatFallback | None = None,
        limiter: RequestLimiter | None = None,
        budget: SpendingLimit | None = None,
        pricing: Pricing | None = None,
        on_retry: Callable[[str, JudgeError, float], None],
        sleep: Callable[[float], Awaitable[None]],
        pause_s: float,
        was_answered: bool = False,
        before_step: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            judge: Who answers.
            replies: Where replies are kept.
            slots: Places for requests in flight.
            tally: Where calls are counted.
            format_fallback: How JSON is asked for; None: from the top.
            limiter: Limits of the judge's account; None: nobody limits it.
            budget: What may be spent; None: anything.
            pricing: What calls cost; None: nobody knows.
            on_retry: Called for every attempt that is made again, and the seconds until then.
            sleep: Waits for seconds.
            pause_s: Seconds before each request.
            was_answered: The judge answered before, so that a silence is worth a wait.
            before_step: Called before each request; it may hold it up.
        """
        self.slots = slots
        self.tally = tally
        self._judge = judge
        self._replies = replies
        self._format_fallback = format_fallback or OutputFormatFallback(
            judge.ref, judge.output_formats
        )
        self._limiter = limiter
        self._budget = budget or Budget(BudgetCaps())
        self._pricing = pricing or NoPrices()
        self._on_retry = on_retry
        self._sleep = sleep
        self._pause_s = pause_s
        self._before_step = before_step
        self._failures_in_a_row = 0
        self._was_answered = was_answered
        self._is_closing = False
        self._stop_error: JudgeUnusable | None = None
        """Why nothing more is sent."""
        self._tasks_in_flight: set[asyncio.Task[Any]] = set()

    def stop_and_list_in_flight(self) -> frozenset[asyncio.Task[Any]]:
        """Send nothing more.

        Returns:
            The tasks whose requests are on the wire: they end by themselves, and their replies
            are paid for.
        """
        self._is_closing = True
        return frozenset(self._tasks_in_flight)

    async def answer_question(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Put a question until it is answered or will not be.

        Args:
            asked: The question, as the store knows it.
            request: The question, as the judge gets it.
            understand: Turns a reply into a value; raises JudgeReplyInvalid.

        Raises:
            JudgeReplyInvalid: It was answered, and the answer cannot be used. It is kept.
            JudgeAnswersUsedUp: It was answered as often as it may be.
            JudgeUnusable: No other question can succeed now.
            JudgeError: It was not answered, after every try.
        """
        try:
            return await self._send_with_retries(asked, request, understand)
        except JudgeUnusable as error:
            # At once: those who wait for a place do not hear of it before they have one.
            self._stop_error = error
            raise

    async def _send_with_retries(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        missed = refused = 0
        waited_s = 0.0
        while True:
            check_answers_left(asked.step, asked.count)
            try:
                return await self._send_once_store_and_parse_reply(asked, request, understand)
            # Counts as no try: each format is stepped down from once, so this ends by itself.
            except _RetryInOtherFormat:
                continue
            except JudgeRateLimited as error:
                refused += 1
                if error.retry_after_s is not None and error.retry_after_s > LONGEST_WAIT_S:
                    raise _make_must_wait_error(error, error.retry_after_s) from error
                # Whoever drains a run waits for answers, and not for the pauses between tries.
                if refused >= REFUSALS or self._is_closing:
                    raise
                wait_s = (
                    _compute_backoff(refused)
                    if error.retry_after_s is None
                    else error.retry_after_s
                )
                failure: JudgeError = error
            except _PASSING_ERRORS as error:
                missed += 1
                if is_error_from_answer(error):
                    asked.count.answers += 1
                    asked.count.problem, asked.count.raw = str(error), ""
                if self._is_closing:
                    raise
                if missed >= self._choose_attempts(error):
                    self._raise_unless_worth_waiting_for_judge(error, waited_s)
                wait_s = _compute_backoff(missed)
                failure = error
            waited_s += wait_s
            self.tally.retries += 1
            self.tally.get_or_add_counts_of_step(asked.step).retries += 1
            self._on_retry(asked.step, failure, wait_s)
            await self._sleep(wait_s)

    def count_unreadable_answers(self, key: str) -> int:
        """Count none: `answer_question` counts them, and a process before this one is over."""
        return 0

    def _choose_attempts(self, error: JudgeError) -> int:
        """Choose how often a request is tried; a judge that answered may be starting anew."""
        nothing_listens = isinstance(error, JudgeUnavailable) and error.nothing_listens
        never_listened = nothing_listens and not self._was_answered
        return ATTEMPTS_WHERE_NOTHING_LISTENS if never_listened else ATTEMPTS

    def _raise_unless_worth_waiting_for_judge(self, error: JudgeError, waited_s: float) -> None:
        """Decide whether a question that failed as often as it may waits for the judge's return.

        Raises:
            JudgeUnreachable: The judge never answered, or is gone for too long.
            JudgeError: Others are answered, so the fault is this question's.
        """
        if not self._was_answered and error.status is None:
            raise JudgeUnreachable(
                f"{error}. Nothing was answered so far: check the address, the network and that "
                "the server runs, then ask again"
            ) from error
        if self._failures_in_a_row < OUTAGE_FAILURES:
            raise error
        if waited_s >= OUTAGE_S:
            raise JudgeUnreachable(
                f"{error}. No question was answered for {waited_s:.0f} s; ask again when the "
                "judge is back"
            ) from error

    async def _send_once_store_and_parse_reply(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Put one request on the wire and commit the reply before it is used.

        A place is held until the reply is committed, so that a kill costs at most as many replies
        as there are places.
        """
        async with self.slots, self._acquire_format(request) as output_format:
            # No reply is bought that the store could not keep.
            await self._replies.wait_until_writable()
            worst = estimate_worst_cost(self._pricing, request)
            # What is set aside is given back whole where nothing comes back.
            spent = Expense()
            await self._budget.reserve(worst)
            try:
                reply = await self._send_within_rate_limit(
                    asked.step, replace(request, output_format=output_format)
                )
                # Before it is understood: an answer that cannot be used was bought as well.
                asked.count.answers += 1
                asked.count.is_earlier = False
                usage, is_estimated = fill_in_missing_token_counts(request, reply)
                cost = self._pricing.compute_cost_nusd(usage)
                spent = Expense(cost or 0, (usage.tokens_in or 0) + (usage.tokens_out or 0))
                kept = make_stored_reply(
                    reply,
                    usage,
                    estimated=is_estimated,
                    cost_nusd=cost,
                    prices=self._pricing.price_source,
                )
                self.tally.calls_again += was_asked_before(asked.step, asked.count)
                self.tally.add_call(asked.step, kept)
                self.tally.get_or_add_counts_of_step(asked.step).judge_ms += reply.latency_ms
                self.tally.tokens_cached += reply.usage.tokens_cached or 0
                self.tally.estimated += is_estimated
                try:
                    value = understand(reply)
                except JudgeReplyInvalid as error:
                    asked.count.problem, asked.count.raw = str(error), error.raw
                    await self._replies.save_reply(asked, kept, usable=False)
                    # A plain-text question is not asked for JSON, so no other form would help.
                    if (
                        output_format is not None
                        and _is_json_format_failure(error)
                        and self._format_fallback.record_failure_worth_retrying(output_format)
                    ):
                        raise _RetryInOtherFormat from error
                    raise
                await self._replies.save_reply(asked, kept, usable=True)
                self._format_fallback.record_success(output_format)
                return value
            finally:
                self._budget.replace_reserve_by_cost(worst, spent)
                # Only now that the reply is stored: `drain` waits for the tasks that are in flight.
                self._remove_task_in_flight()

    def _acquire_format(
        self, request: JudgeRequest
    ) -> AbstractAsyncContextManager[OutputFormat | None]:
        return nullcontext() if request.schema is None else self._format_fallback.acquire_format()

    async def _send_within_rate_limit(self, step: str, request: JudgeRequest) -> JudgeReply:
        """Send a request when the pace allows it, and learn from how it ended."""
        if self._pause_s:
            await self._sleep(self._pause_s)
        limiter = self._limiter
        started = (
            0.0 if limiter is None else await limiter.start_request(estimate_tokens_in(request))
        )
        self._add_in_flight(step)
        outcome: Callable[[], None] | None = None if limiter is None else limiter.record_failure
        try:
            # Looked at here, as the run may have ended while this waited for its turn.
            self._raise_if_stopping()
            self._before_step()
            reply = await self._judge.send(request)
            self._failures_in_a_row = 0
            self._was_answered = True
            if limiter is not None:
                outcome = lambda: limiter.record_success(reply.limits)  # noqa: E731 (chosen by outcome)
        except JudgeUnsupported as error:
            if request.output_format is None:
                raise
            self._format_fallback.record_refusal(request.output_format, error)
            raise _RetryInOtherFormat from error
        except JudgeRateLimited:
            self._was_answered = True
            if limiter is not None:
                outcome = lambda: limiter.record_refusal(started)  # noqa: E731 (chosen by outcome)
            raise
        except _PASSING_ERRORS:
            self._failures_in_a_row += 1
            raise
        finally:
            self.tally.in_flight -= 1
            self.tally.get_or_add_counts_of_step(step).in_flight -= 1
            # Exactly one outcome follows each start, else the limiter's place is never given back.
            if outcome is not None:
                outcome()
        return reply

    def _raise_if_stopping(self) -> None:
        """Let nothing out any more once the run is ending.

        Raises:
            JudgeUnusable: No question can succeed.
            CancelledError: Nobody waits for the answer.
        """
        if self._stop_error is not None:
            raise self._stop_error
        if self._is_closing:
            raise asyncio.CancelledError

    def _add_in_flight(self, step: str) -> None:
        self.tally.in_flight += 1
        self.tally.get_or_add_counts_of_step(step).in_flight += 1
        task = asyncio.current_task()
        if task is not None:
            self._tasks_in_flight.add(task)

    def _remove_task_in_flight(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks_in_flight.discard(task)


class _RetryInOtherFormat(Exception):
    """The judge takes no request of this form, or ignores it, and there is another one."""


def _compute_backoff(tries: int) -> float:
    return min(FIRST_WAIT_S * 2.0 ** (tries - 1), LONGEST_BACKOFF_S)


def _make_must_wait_error(error: JudgeRateLimited, wait_s: float) -> JudgeMustWait:
    if wait_s > _LONGEST_WAIT_TOLD_S:
        advice = "for more than a year; choose another judge, or ask its provider"
    else:
        advice = f"for {_format_wait(wait_s)}; ask again then"
    return JudgeMustWait(
        f"{error}. It asks to be left alone {advice}", retry_after_s=wait_s, status=error.status
    )


def _format_wait(wait_s: float) -> str:
    """Write a long wait in the unit that makes it a small number."""
    minutes = max(1, round(wait_s / 60))
    if minutes <= 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} hours" if hours <= 72 else f"{round(hours / 24)} days"


def _is_json_format_failure(error: JudgeReplyInvalid) -> bool:
    """Whether a reply speaks against the way it was asked for: it is no JSON, or an empty object.

    A judge that does not really call tools calls them with nothing.
    """
    if isinstance(error, JudgeRefused):
        return False
    if isinstance(error, JudgeReplyTruncated):
        return not error.raw.lstrip().startswith(("{", "```"))
    try:
        return parse_reply(error.raw) == {}
    except JudgeReplyInvalid:
        return True
