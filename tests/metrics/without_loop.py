"""Metrics driven by a plain loop: no event loop, no task, no judge but a function."""

from collections.abc import Callable
from typing import Any, TypeVar

from faithtui.domain.claims.verdicts import Assessment, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.metrics.base import AskOne, JudgeTraits, Metric, Questions

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
