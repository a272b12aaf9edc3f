"""Where questions are put that go into batches: answered from what came back, or collected.

It stands in the place of a `Sender`, so that a conversation is driven over the same code as when it
is asked question by question. Whoever puts a question whose answer is not there learns so: the
conversation is taken up again when the answer has come.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from faithtui import errors
from faithtui.domain.ids import RunId
from faithtui.engine.calls.answers_per_question import (
    check_answers_left,
    is_error_from_answer,
    was_asked_before,
)
from faithtui.engine.calls.budget import Expense
from faithtui.engine.calls.call_costs import Pricing, estimate_tokens_in, estimate_worst_cost
from faithtui.engine.calls.metric_driver import AnswerOutstanding
from faithtui.engine.calls.reply_cache import QuestionContext, reply_from_stored
from faithtui.engine.calls.send import CallCounts
from faithtui.engine.runs.run_writer import RunWriter
from faithtui.errors import (
    JudgeError,
    JudgeMustWait,
    JudgeReplyInvalid,
    JudgeRequestRejected,
    JudgeUnavailable,
    JudgeUnusable,
)
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.store.calls.batch_records import BatchQuestion, LastBatchRequest, RequestState

T = TypeVar("T")

TRIES: Final = 3
"""How often a question goes into a batch before a passing failure counts as lasting."""


@dataclass(frozen=True, slots=True)
class CollectedQuestion:
    """A question that is to go into a batch."""

    question: BatchQuestion
    request: JudgeRequest
    size: int
    """Bytes it takes there."""

    @property
    def worst_cost(self) -> Expense:
        """What it may cost at most."""
        return Expense(self.question.nusd_worst, self.question.tokens_worst)


@dataclass(slots=True)
class QuestionBuffer:
    """Questions that were collected, each once, in the order they came up."""

    questions: dict[str, CollectedQuestion] = field(default_factory=dict)
    """By key."""
    size: int = 0
    """Bytes they take together."""
    is_closed: bool = False
    """Nothing more is taken; it is only counted."""
    left_out_keys: set[str] = field(default_factory=set)
    """Keys of those that were not taken."""

    def add(self, wanted: CollectedQuestion) -> None:
        """Take a question, unless it is there or nothing more is taken."""
        if self.is_closed:
            self.left_out_keys.add(wanted.question.key)
        elif wanted.question.key not in self.questions:
            self.questions[wanted.question.key] = wanted
            self.size += wanted.size

    def remove_questions_of_one_batch(self, most: int, most_bytes: int) -> list[CollectedQuestion]:
        """Take out as many as a batch holds, the first ones first; at least one if there is any."""
        taken: list[CollectedQuestion] = []
        room = most_bytes
        for key in list(self.questions):
            wanted = self.questions[key]
            if taken and (len(taken) >= most or wanted.size > room):
                break
            taken.append(self.questions.pop(key))
            room -= wanted.size
        self.size -= sum(each.size for each in taken)
        return taken

    def discard_and_close(self, also: Sequence[CollectedQuestion] = ()) -> None:
        """Take nothing more, and let go of what is there.

        Args:
            also: What was taken out and is let go of too.
        """
        self.is_closed = True
        self.left_out_keys.update(self.questions, (each.question.key for each in also))
        self.questions.clear()
        self.size = 0


class QuestionCollector:
    """Answers the questions of one run as far as answers are there.

    Attributes:
        buffer: Questions to be asked.
        elsewhere: Batches of other runs that will answer questions of this one.
    """

    def __init__(
        self,
        writer: RunWriter,
        run: RunId,
        tally: CallCounts,
        *,
        size_of: Callable[[JudgeRequest], int],
        most_bytes: int,
        pricing: Pricing,
    ) -> None:
        """Prepare.

        Args:
            writer: Writes to the store of the run.
            run: The run.
            tally: Counts which answers were to something that was asked before.
            size_of: Says how many bytes a question takes in a batch; raises JudgeRequestRejected.
            most_bytes: How many a batch may have.
            pricing: What questions may cost in a batch.
        """
        self.buffer = QuestionBuffer()
        self.other_batches: set[str] = set()
        self._writer = writer
        self._batches = writer.store.batches
        self._calls = writer.store.calls
        self._run = run
        self._tally = tally
        self._size_of = size_of
        self._most_bytes = most_bytes
        self._pricing = pricing

    def stop_and_list_in_flight(self) -> frozenset[asyncio.Task[Any]]:
        """Nothing is ever in flight from here."""
        return frozenset()

    async def answer_question(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Answer a question from the batches it was in, or collect it.

        Raises:
            JudgeReplyInvalid: It was answered, and the answer cannot be used.
            JudgeError: It failed in a way that will not pass.
            AnswerOutstanding: It is in a batch, or was collected.
        """
        last = self._batches.find_last_request_of_question(self._run, asked.key)
        tries = 1
        if last is not None:
            asked.count.answers += _count_answered_failures(last)
            match last.state:
                case RequestState.WAITING:
                    if last.run != self._run:
                        self.other_batches.add(last.batch)
                    raise AnswerOutstanding
                case RequestState.ANSWERED | RequestState.UNUSABLE:
                    try:
                        return await self._parse_and_mark_reply_usable(asked, last, understand)
                    except JudgeReplyInvalid:
                        # What another run got wrong is its own to repair.
                        if last.run == self._run:
                            raise
                case _:
                    tries = compute_next_try_number(last)
        self._add_question_to_buffer(asked, request, tries)
        raise AnswerOutstanding

    def count_unreadable_answers(self, key: str) -> int:
        """Count answers to a question in batches of the run that were no replies."""
        last = self._batches.find_last_request_of_question(self._run, key)
        return 0 if last is None else _count_answered_failures(last)

    async def _parse_and_mark_reply_usable(
        self, asked: QuestionContext, last: LastBatchRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Understand a reply, and only then let it be found by others.

        Raises:
            JudgeReplyInvalid: It cannot be used.
        """
        asked.count.answers += 1
        asked.count.is_earlier = False
        self._count_reply_if_asked_before(asked, last)
        stored = self._calls.find_batch_reply(last.batch, asked.key)
        assert stored is not None, "a question is answered in the transaction that keeps the reply"
        try:
            value = understand(reply_from_stored(stored))
        except JudgeReplyInvalid as error:
            asked.count.problem, asked.count.raw = str(error), error.raw
            if last.state is RequestState.ANSWERED and last.run == self._run:
                await self._writer.write(self._batches.mark_reply_unusable, last.batch, last.number)
            raise
        await self._writer.write(self._batches.mark_reply_usable, last.batch, asked.key)
        return value

    def _count_reply_if_asked_before(self, asked: QuestionContext, last: LastBatchRequest) -> None:
        # Only here it is known which answers came before, and only those that were read in this
        # process are in the count of calls. An answer is looked at each time the run is driven.
        unparsed = self._tally.unparsed_batch_replies
        if (last.batch, last.number) in unparsed:
            unparsed.remove((last.batch, last.number))
            self._tally.calls_again += was_asked_before(asked.step, asked.count)

    def _add_question_to_buffer(
        self, asked: QuestionContext, request: JudgeRequest, tries: int
    ) -> None:
        check_answers_left(asked.step, asked.count)
        size = self._size_of(request)
        if size > self._most_bytes:
            raise JudgeRequestRejected(
                f"the question takes {size:,} bytes and a batch holds {self._most_bytes:,}; cut"
                " the conversation's documents or its window smaller"
            )
        worst = estimate_worst_cost(self._pricing, request)
        question = BatchQuestion(
            key=asked.key,
            step=asked.step,
            item=asked.item,
            window=asked.window,
            tries=tries,
            replicate=asked.replicate,
            is_plain=request.schema is None,
            tokens_likely=estimate_tokens_in(request),
            tokens_worst=worst.tokens,
            nusd_worst=worst.nusd,
        )
        self.buffer.add(CollectedQuestion(question, request, size))


def format_error_reason(error: JudgeError) -> str:
    """Say why a question failed, so that `compute_next_try_number` can read it."""
    status = "" if error.status is None else f" {error.status}"
    return f"{type(error).__name__}{status}: {error}"


def compute_next_try_number(last: LastBatchRequest) -> int:
    """Say which try of a question the next one is.

    Args:
        last: The one that failed.

    Raises:
        JudgeError: There is none: it failed in a way that will not pass, or too often.
    """
    error = _parse_error_reason(last.reason or "")
    if isinstance(error, JudgeUnusable):
        return last.tries  # the run was stopped for it; the question is not to blame
    is_lasting = isinstance(error, JudgeRequestRejected | JudgeReplyInvalid)
    if is_lasting or last.tries >= TRIES:
        raise error
    return last.tries + 1


def _count_answered_failures(last: LastBatchRequest) -> int:
    """Count the failures that were answers, and may have been billed."""
    return sum(is_error_from_answer(_parse_error_reason(why)) for why in last.failures)


def _parse_error_reason(reason: str) -> JudgeError:
    """Undo `format_error_reason`."""
    name, _, sentence = reason.partition(": ")
    name, _, number = name.partition(" ")
    status = int(number) if number.isdecimal() else None
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, JudgeError):
        return JudgeUnavailable(reason)
    if issubclass(kind, JudgeReplyInvalid):
        return kind(sentence, raw="")
    if issubclass(kind, JudgeMustWait):
        return kind(sentence, retry_after_s=0.0, status=status)
    return kind(sentence, status=status)
