"""What goes wrong while a judge is asked, in plain words: for the app and for the command line."""

from collections.abc import Mapping
from typing import Final

ERRORS: Final[Mapping[str, str]] = {
    "JudgeError": "the judge gave no usable answer",
    "JudgeUnusable": "no question can be answered now",
    "JudgeAuthFailed": "the key is missing, wrong or not allowed to",
    "JudgeQuotaExceeded": "the account has nothing left to spend",
    "JudgeMustWait": "the provider wants a longer wait than a run can hold",
    "JudgeUnreachable": "nothing answers at the judge's address",
    "JudgeSpeaksNoJson": "the judge cannot be made to answer in JSON",
    "JudgeKeepsFailing": "the judge keeps failing in the same way",
    "BudgetReached": "the budget does not hold another question",
    "JudgeRateLimited": "asked faster than the provider takes",
    "JudgeTimeout": "no whole answer in time",
    "JudgeUnavailable": "the judge's server failed, or the connection was cut",
    "JudgeRequestRejected": "the provider rejects this question",
    "JudgeUnsupported": "the provider does not know this form of asking",
    "JudgeReplyInvalid": "the answer could not be used",
    "JudgeReplyTruncated": "the answer was cut off at the limit of tokens",
    "JudgeAnswersUsedUp": "no answer could be used, and no more are asked for",
    "JudgeRefused": "the judge refused, or a content filter did",
    "MetricError": "the metric does not apply here",
    "ImagesNotSupported": "there are images, and the judge takes none",
    "MissingParameters": "the conversation lacks what the metric needs",
    "ContextWindowTooSmall": "too long for the judge to read at once",
    "NotFaithful": "not faithful, which was asked to be an error",
    "PeerFails": "the peer fails here itself",
}
"""What went wrong, by class of the error."""

LASTING: Final = frozenset(
    {
        "ContextWindowTooSmall",
        "ImagesNotSupported",
        "MetricError",
        "MissingParameters",
        "NotFaithful",
        "PeerFails",
    }
)
"""What fails again however often the same metric asks the same judge about a conversation."""

OUTPUT_FORMAT_WORDS: Final[Mapping[str, str]] = {
    "schema": "a schema",
    "tool": "a tool call",
    "json": "JSON mode",
    "text": "plain text",
}
"""How JSON is asked for."""


MOST_SAID: Final = 120
"""Characters of a provider's words that an event carries: its first sentence, mostly."""


def format_attempt_failure(error: str, status: int | None, message: str) -> str:
    """Say what went wrong with an attempt: what was answered, else why there was no answer.

    Args:
        error: The name of the error's class.
        status: HTTP status of the answer; None: there was none.
        message: The provider's words, or why it did not answer; "" when nobody said anything.

    Returns:
        Such as `HTTP 500: upstream connect error`.
    """
    if status is None:
        return message or describe_error(error)
    if message:
        return f"HTTP {status}{' ' if message.startswith('with') else ': '}{message}"
    return f"HTTP {status}: {describe_error(error)}"


def is_failure_permanent(reason: str) -> bool:
    """Say whether a conversation that failed for this reason would fail again."""
    return reason.partition(":")[0] in LASTING


def format_failure_reason(reason: str) -> str:
    """Give the sentence in which a conversation failed, without the name of the error's class."""
    name, _, rest = reason.partition(":")
    return rest.strip() or ERRORS[name] if name in ERRORS else reason


def describe_error(error: str) -> str:
    """Put an error into words; what nobody has words for stays what it is.

    Args:
        error: The name of its class, or a sentence that begins with it.
    """
    name, colon, rest = error.partition(":")
    words = ERRORS.get(name)
    if words is None:
        return error
    return f"{words}{colon}{rest}" if rest.strip() else words
