"""Who answers a metric's questions: stored replies first, then the judge, and every reply kept.

What concerns a question and not one request stands here: an answer that was cut is asked for again
with a higher limit, and one that cannot be used with the reason; `shared_calls` lets equal
questions share one call.
Each of these forms has a key of its own, so that a run by batches, which begins again after every
answer, finds them in the store as any other run does. `answer_limit` ends all of it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ItemId
from faithtui.engine.calls.answers_per_question import REPAIRS
from faithtui.engine.calls.budget import SpendingLimit
from faithtui.engine.calls.call_costs import Pricing
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit
from faithtui.engine.calls.leases import Leases, NoLeases
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.calls.rate_limiter import RequestLimiter
from faithtui.engine.calls.reply_cache import (
    QuestionKeys,
    ReplyCache,
    reply_from_stored,
)
from faithtui.engine.calls.reply_values import value_from_reply
from faithtui.engine.calls.send import CallCounts, QuestionSender, Sender
from faithtui.engine.calls.shared_calls import SharedCalls
from faithtui.errors import (
    ImagesNotSupported,
    JudgeAnswersUsedUp,
    JudgeError,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
)
from faithtui.judges.base import (
    ImageData,
    Judge,
    JudgeReply,
    JudgeRequest,
)
from faithtui.metrics.base import (
    STOPS_THE_RUN,
    JudgeTraits,
    Question,
    QuestionPace,
)

T = TypeVar("T")

DOUBLINGS = 2
"""How often the token limit is raised for a reply that ran into it."""


def _raise_no_image_source(image: Image) -> ImageData:
    """Stand in for a source of images where there is none.

    Raises:
        ImagesNotSupported: Always.
    """
    raise ImagesNotSupported(f"there is nowhere to read the image {image.sha256[:12]} from")


class Asker:
    """Puts questions to one judge on behalf of any number of conversations."""

    def __init__(
        self,
        judge: Judge,
        replies: ReplyCache,
        *,
        concurrency: int = 1,
        slots: ConcurrencyLimit | None = None,
        tally: CallCounts | None = None,
        format_fallback: OutputFormatFallback | None = None,
        limiter: RequestLimiter | None = None,
        budget: SpendingLimit | None = None,
        pricing: Pricing | None = None,
        leases: Leases | None = None,
        on_retry: Callable[[str, JudgeError, float], None] = lambda step, error, wait_s: None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        pace: QuestionPace | None = None,
        load_image: Callable[[Image], ImageData] = _raise_no_image_source,
        on_reply: Callable[[str, JudgeReply, bool], None] = lambda step, reply, stored: None,
        sender: QuestionSender | None = None,
        was_answered: bool = False,
        breaker: CircuitBreaker | None = None,
        before_step: Callable[[], None] = lambda: None,
        on_question: Callable[[str, JudgeRequest], None] = lambda key, request: None,
        on_answer: Callable[[JudgeRequest, str], None] | None = None,
        answer_limit: int | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            judge: Who answers.
            replies: Where replies are kept.
            concurrency: Questions in flight at once.
            slots: Places for them, when somebody else changes how many; `concurrency` is not used.
            tally: Where calls are counted; None for one of its own.
            format_fallback: How JSON is asked for; None: from the top.
            limiter: Limits of the judge's account; None: nobody limits it.
            budget: What may be spent; None: anything.
            pricing: What calls cost; None: nobody knows.
            leases: Who asks a question when several processes do; None: there is only this one.
            on_retry: Called for every attempt that is made again, and the seconds until then.
            pause: Waits for seconds.
            pace: What the metric's options allow; None: no limit of theirs.
            load_image: Gives the bytes or the address of an image.
            on_reply: Called for every reply that is used, and whether it was stored before.
            sender: Brings questions to the judge; None: one request at once for each, under the
                limits above.
            was_answered: The judge answered before, so that a silence is worth a wait.
            breaker: Stops a run that keeps failing; None: nothing does.
            before_step: Called before a question is looked up, before it is sent and before its
                reply is read; it may hold each up.
            on_question: Called for every form of a question that is looked up, with its key.
            on_answer: Called for every question as it was first asked, with the reply that was used
                in the end, wherever it came from.
            answer_limit: Tokens an answer may have, as somebody set it, so that it is never
                raised; None: as many as the question needs.
            fingerprint: What stored replies are found by; None: the judge's own. That of a run of
                an earlier version is written differently, and means the same judge.
        """
        pace = pace or QuestionPace()
        slots = slots or ConcurrencyLimit(concurrency)
        if pace.one_call:
            slots.resize(1)
        self._judge = judge
        self._keys = QuestionKeys(fingerprint or judge.fingerprint)
        self._replies = replies
        self._answers = (
            contextlib.nullcontext() if pace.answers is None else asyncio.Semaphore(pace.answers)
        )
        self._load_image = load_image
        self._on_question = on_question
        self._on_answer = on_answer
        self._answer_limit = answer_limit
        # A limit that somebody set is not raised behind their back.
        self._doublings = DOUBLINGS if answer_limit is None else 0
        self._breaker = breaker
        self._before_step = before_step
        self.tally = tally or CallCounts()
        self._sender: QuestionSender = sender or Sender(
            judge,
            replies,
            slots,
            tally=self.tally,
            format_fallback=format_fallback,
            limiter=limiter,
            budget=budget,
            pricing=pricing,
            on_retry=on_retry,
            sleep=pause,
            pause_s=pace.pause_s,
            was_answered=was_answered,
            before_step=before_step,
        )
        self._calls = SharedCalls(
            replies,
            self._sender,
            leases or NoLeases(),
            tally=self.tally,
            breaker=breaker,
            before_step=before_step,
            on_reply=on_reply,
            on_question=on_question,
        )

    @property
    def judge_traits(self) -> JudgeTraits:
        """What a metric may know of the judge."""
        return JudgeTraits(self._judge.takes_images, self._judge.context_window)

    def hold_answer_slot(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Hold a place while one answer is judged."""
        return self._answers

    def bind_to_item(self, item: ItemId | None, *, asked_after: int = 0) -> "BoundAsk":
        """Answer for one conversation; its calls are stored under that item.

        Args:
            item: The conversation of a run; None outside a run.
            asked_after: Newest call when what it lacks was asked for again; 0: never.
        """
        return BoundAsk(self, item, asked_after=asked_after)

    async def drain(self) -> None:
        """Send nothing more, and wait for the answers in flight."""
        await self._calls.drain()

    async def aclose(self) -> None:
        """Cancel questions that nobody waits for any more."""
        await self._calls.aclose()

    async def ask(
        self,
        question: Question[T],
        item: ItemId | None,
        window: int | None = None,
        *,
        asked_after: int = 0,
    ) -> T:
        """Answer a question from the store or from the judge.

        Args:
            question: The question.
            item: The conversation of a run it is asked for; None outside a run.
            window: Position of the window that asks; None: the conversation as a whole.
            asked_after: Replies of calls up to this number count as none: what they leave out was
                to be asked for again after them.

        Raises:
            JudgeError: No usable answer after retries and repairs.
        """
        self._before_step()
        request = self.make_request(question)
        try:
            return await self._ask_until_usable(question, request, item, window, asked_after)
        # No fault of this question: the breaker counts failures of questions alone.
        except STOPS_THE_RUN:
            raise
        except JudgeError as error:
            if self._breaker is not None:
                key = self._keys.get_key(request)
                self._breaker.record_question_error_or_stop(question.step, key, error)
            raise

    async def _ask_until_usable(
        self,
        question: Question[T],
        request: JudgeRequest,
        item: ItemId | None,
        window: int | None,
        asked_after: int,
    ) -> T:
        """Ask until an answer can be used.

        A cut answer is asked for again with a higher limit, another one with what is wrong with it.
        """
        first = request
        request, doublings, repairs, key = self._find_answered_or_next_request_form(
            question, request, asked_after
        )
        while True:
            may_double = doublings < self._doublings
            try:
                value = await self._calls.ask(
                    question, request, key, item, window, asked_after=asked_after, or_cut=may_double
                )
            except JudgeReplyTruncated as error:
                if self._answer_limit is not None:
                    raise JudgeReplyTruncated(
                        f"{error}, which was set to {self._answer_limit:,}; set max_tokens higher, "
                        "or leave it out",
                        raw=error.raw,
                    ) from error
                if not may_double:
                    raise JudgeReplyTruncated(
                        f"{error}, also when it was raised to {request.max_tokens:,}; choose a "
                        "model that keeps its answers short",
                        raw=error.raw,
                    ) from error
                doublings += 1
                request = replace(request, max_tokens=request.max_tokens * 2)
                key = self._keys.get_key(request)
            # Subclasses of JudgeReplyInvalid that no repair helps: before the clause that repairs.
            except (JudgeRefused, JudgeAnswersUsedUp):
                raise
            except JudgeReplyInvalid as error:
                if repairs >= REPAIRS:
                    raise
                repairs += 1
                request = make_repair_request(request, question.prompt, error, repairs)
                key = self._keys.get_key(request)
            else:
                self._pass_stored_reply_to_listener(first, request)
                return value

    def _pass_stored_reply_to_listener(self, first: JudgeRequest, last: JudgeRequest) -> None:
        """Report which reply a question got, in the last form it was asked in."""
        if self._on_answer is None:
            return
        stored = self._replies.find(self._keys.get_key(last))
        if stored is not None:
            self._on_answer(first, stored.text)

    def _find_answered_or_next_request_form(
        self, question: Question[Any], request: JudgeRequest, asked_after: int
    ) -> tuple[JudgeRequest, int, int, str]:
        """Find the form of a question that got a usable answer, or the next one to be asked.

        A process may have ended after an answer that could not be used; that one is not bought
        again, unless the question was asked for again since.

        Returns:
            The form, how often its limit was raised, how often it was repaired, and its key; the
            first form where all came to nothing.
        """
        form, doublings, repairs = request, 0, 0
        is_asked_again, answers = False, 0
        first_key = key = self._keys.get_key(request)
        while True:
            self._on_question(key, form)
            if self._replies.find(key) is not None:
                return form, doublings, repairs, key
            stored = self._replies.find_unusable(key)
            if stored is None:
                if is_asked_again:
                    break
                question.count.answers += answers
                return form, doublings, repairs, key
            is_asked_again = is_asked_again or 0 < stored.number <= asked_after
            # Answers of a batch that were no replies count towards the limit of answers too.
            answers += 1 + self._sender.count_unreadable_answers(key)
            try:
                value_from_reply(question, reply_from_stored(stored))
            # Truncated and refused replies are invalid ones by class: they go first.
            except JudgeReplyTruncated:
                doublings += 1
                form = replace(form, max_tokens=form.max_tokens * 2)
            except JudgeRefused:
                break
            except JudgeReplyInvalid as error:
                repairs += 1
                form = make_repair_request(form, question.prompt, error, repairs)
            else:
                break  # nobody has looked at it yet
            # That many are asked in one turn at the run: a new turn begins with the first form.
            if doublings > self._doublings or repairs > REPAIRS:
                break
            key = self._keys.get_key(form)
        return request, 0, 0, first_key

    def make_request(self, question: Question[Any]) -> JudgeRequest:
        """Put a question into the form a judge gets."""
        return JudgeRequest(
            step=question.step,
            task=question.task,
            system=question.system,
            prompt=question.prompt,
            schema=question.reply.schema,
            max_tokens=self._answer_limit or question.max_tokens,
            replicate=question.replicate,
            images=tuple(map(self._load_image, question.images)),
        )


@dataclass(frozen=True, slots=True)
class BoundAsk:
    """Answers the questions about one conversation. A `Respondent`."""

    asker: Asker
    item: ItemId | None
    asked_after: int = 0
    """Newest call when what the conversation lacks was asked for again; 0: never."""

    @property
    def judge_traits(self) -> JudgeTraits:
        """What a metric may know of the judge."""
        return self.asker.judge_traits

    def hold_answer_slot(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Hold a place while one answer is judged."""
        return self.asker.hold_answer_slot()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        """Ask; see `Asker.ask`."""
        return await self.asker.ask(question, self.item, window, asked_after=self.asked_after)


def make_repair_request(
    request: JudgeRequest, prompt: str, error: JudgeReplyInvalid, earlier: int
) -> JudgeRequest:
    """Say what was wrong with the last answer, after the whole question.

    However often a question is repaired, no two of its forms are equal: what is stored tells each
    answer from the next.

    Args:
        request: As it was put last.
        prompt: Of the question.
        error: What was wrong.
        earlier: How many answers there were, from 1.
    """
    which_answer = "An earlier answer" if earlier == 1 else f"The last of {earlier} earlier answers"
    return replace(
        request,
        prompt=(
            f"{prompt}\n\n{which_answer} could not be used: {error}. "
            "Answer again, in the form asked for and with nothing else."
        ),
    )
