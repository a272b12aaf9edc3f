"""Driving a metric: putting the questions it yields and sending it the replies.

One driver for runs, batches, previews, single measurements and questions asked again: they differ
in who answers. Where the answer to a question is not there yet, as in a run by batches, its branch
is given up and the others go on as far as they come; it costs nothing to begin again, since every
answer is found where it was stored.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, TypeVar

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.engine.calls.await_all import await_all
from faithtui.metrics.base import AskOne, JudgeTraits, Metric, Question, Questions, Request

T = TypeVar("T")

_OUTSTANDING: Final = object()
"""The outcome of a branch that waits for an answer."""


class AnswerOutstanding(Exception):
    """The answer to a question is not there yet, and nobody here will bring it."""


class Respondent(Protocol):
    """Who answers the questions of a metric."""

    @property
    def judge_traits(self) -> JudgeTraits:
        """What a metric may know of the judge behind it."""

    def hold_answer_slot(self) -> AbstractAsyncContextManager[object]:
        """Hold a place while one answer is judged; waits while `QuestionPace.answers` others do."""

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        """Answer a question.

        Args:
            question: The question.
            window: Position of the window that asks; None: the conversation as a whole.

        Raises:
            JudgeError: No usable answer after everything that could be tried.
            AnswerOutstanding: The answer is not there yet.
        """


async def assess_conversation(
    metric: Metric[Any],
    conversation: Conversation,
    respondent: Respondent,
    claims: Sequence[Claim] | None = None,
) -> tuple[tuple[Assessment, ...], Conclusion]:
    """Take a metric through a conversation.

    Args:
        metric: The metric.
        conversation: What it is about.
        respondent: Who answers its questions.
        claims: Judge these instead of extracting any; None extracts.

    Raises:
        FaithtuiError: As `Metric.gather` and `Metric.conclude`.
    """
    gathering = metric.gather(conversation, respondent.judge_traits, claims)
    findings = await drive_questions(gathering, respondent)
    windows = metric.windows(conversation)
    assessments = tuple(metric.assess(findings, window) for window in windows)
    return assessments, await drive_questions(metric.conclude(assessments), respondent)


async def drive_questions(questions: Questions[T], respondent: Respondent) -> T:
    """Put the questions of a metric until they come to their outcome.

    Args:
        questions: What `Metric.gather` and `Metric.conclude` give.
        respondent: Who answers.

    Raises:
        AnswerOutstanding: They cannot come to an outcome before further answers are there. All
            that could be asked until then was asked.
        Exception: What the metric raised.
    """
    reply: Any = None
    error: Exception | None = None
    while True:
        try:
            request = questions.send(reply) if error is None else questions.throw(error)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        reply = error = None
        try:
            reply = await _answer_request(request, respondent)
        except AnswerOutstanding:
            questions.close()
            raise
        except Exception as raised:
            # Which errors it can go on after is the metric's to say; the others come out of it.
            error = raised


async def _answer_request(request: Request, respondent: Respondent) -> Any:
    if isinstance(request, AskOne):
        return await respondent(request.question, request.window)

    async def drive_branch(branch: Questions[Any]) -> Any:
        if not request.per_answer:
            return await drive_questions(branch, respondent)
        async with respondent.hold_answer_slot():
            return await drive_questions(branch, respondent)

    async def drive_beside_others(branch: Questions[Any]) -> Any:
        try:
            return await drive_branch(branch)
        except AnswerOutstanding:
            return _OUTSTANDING

    drive = drive_beside_others if request.at_once else drive_branch
    outcomes = await await_all(map(drive, request.branches), at_once=request.at_once)
    if any(each is _OUTSTANDING for each in outcomes):
        raise AnswerOutstanding
    return outcomes
