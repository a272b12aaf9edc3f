"""Metrics driven by a plain loop: no event loop, no task, no judge but a function."""

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from faithtui.domain.claims.verdicts import Assessment, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.errors import JudgeReplyInvalid
from faithtui.judges.base import JudgeRequest
from faithtui.metrics.base import AskOne, JudgeTraits, Metric, Question, Questions, ReplyMismatch
from tests.parity.run_cases import OracleJudge

T = TypeVar("T")

Answer = Callable[[AskOne], Any]
"""Gives the parsed reply to a question, or raises a JudgeError."""


def drive(questions: Questions[T], answer: Answer) -> T:
    """Answer every question, one branch after the other."""
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
            if isinstance(request, AskOne):
                reply = answer(request)
            else:
                reply = [drive(branch, answer) for branch in request.branches]
        except Exception as raised:
            error = raised


def judge(
    metric: Metric[Any], conversation: Conversation, answer: Answer
) -> tuple[tuple[Assessment, ...], Conclusion]:
    """Take a metric through a conversation."""
    findings = drive(metric.gather(conversation, JudgeTraits()), answer)
    assessments = tuple(metric.assess(findings, each) for each in metric.windows(conversation))
    return assessments, drive(metric.conclude(assessments), answer)


def know(oracle: Mapping[str, Any], asked: list[Question[Any]]) -> Answer:
    """Answer from facts, and keep the questions."""
    knowing = OracleJudge(oracle)

    def answer(request: AskOne) -> Any:
        question = request.question
        asked.append(question)
        sent = JudgeRequest(question.step, question.task, question.system, question.prompt, {}, 1)
        reply = _finish(knowing.send(sent))
        try:
            said = reply.text if question.reply.schema is None else json.loads(reply.text)
            return question.reply.read(said, reply.structured)
        except ReplyMismatch as error:
            raise JudgeReplyInvalid(str(error), raw=reply.text) from error

    return answer


def _finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        outcome: T = end.value
        return outcome
    raise AssertionError("it waits for something")
