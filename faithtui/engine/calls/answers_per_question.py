"""How many answers one question may cost, whatever comes back: each of them may be billed.

Retries, repairs, ways of asking for JSON, higher token limits and asking again for missing verdicts
all draw on one count per question. What is refused without an answer (429, no connection) costs
nothing, follows the rules of `send`, and is not counted here.
"""

from typing import Final

from faithtui.errors import JudgeAnswersUsedUp, JudgeError
from faithtui.metrics.base import AGAIN_SUFFIX, AnswerCount

MOST_ANSWERS: Final = 8
"""An answer that was cut needs two, one that has to be asked for in another form three, and
verdicts that were left out two more: questions that a judge can answer at all stay below."""

REPAIRS: Final = 2
"""How often a reply that cannot be used is asked for again."""


def check_answers_left(step: str, count: AnswerCount) -> None:
    """Refuse to ask once a question was answered as often as it may be.

    Args:
        step: The question, for the message.
        count: Its answers so far.

    Raises:
        JudgeAnswersUsedUp: No further answer may be bought.
    """
    if are_answers_left(count):
        return
    problem = count.problem or "each left something out"
    raise JudgeAnswersUsedUp(
        f"`{step}` was answered {count.answers} times, the most that a question may cost, and no "
        f"answer could be used; the last one: {problem}. Choose another model",
        raw=count.raw,
    )


def are_answers_left(count: AnswerCount) -> bool:
    """Whether a further answer may be bought."""
    return count.answers < MOST_ANSWERS


def was_asked_before(step: str, count: AnswerCount) -> bool:
    """Whether the answer that just came was to something that was asked before.

    Args:
        step: The question.
        count: Its answers, the one that came among them.
    """
    return count.answers > 1 or step.endswith(AGAIN_SUFFIX)


def is_error_from_answer(error: JudgeError) -> bool:
    """Whether a failure is an answer that arrived, such as a page in place of JSON."""
    return error.status is not None and 200 <= error.status < 300
