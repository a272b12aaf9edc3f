"""What a reply says: its text, parsed and checked as its question wants it."""

from typing import Any, TypeVar

from faithtui.errors import JudgeRefused, JudgeReplyInvalid, JudgeReplyTruncated
from faithtui.judges.base import JudgeReply, OutputFormat, StopReason
from faithtui.judges.reply_parser import parse_reply
from faithtui.metrics.base import Question, ReplyMismatch

T = TypeVar("T")


def value_from_reply(question: Question[T], reply: JudgeReply) -> T:
    """Turn a reply into the question's value.

    Raises:
        JudgeReplyInvalid: Cut short, refused, no JSON, or of the wrong shape.
    """
    if reply.stop is StopReason.LENGTH:
        raise JudgeReplyTruncated(
            f"the answer to `{question.step}` ran into the limit of tokens", raw=reply.text
        )
    if reply.stop in (StopReason.REFUSAL, StopReason.FILTER):
        raise JudgeRefused(f"the judge refused to answer `{question.step}`", raw=reply.text)
    try:
        return question.reply.read(_parse_reply_text(question, reply), reply.structured)
    except ReplyMismatch as error:
        raise JudgeReplyInvalid(
            f"the answer to `{question.step}` has the wrong shape: {error}", raw=reply.text
        ) from error


def _parse_reply_text(question: Question[Any], reply: JudgeReply) -> object:
    """Parse a reply as its question wants it.

    Raises:
        Mismatch: It is a tool call without input, as of a judge that does not really know tools.
        JudgeReplyInvalid: It is no JSON.
    """
    if question.reply.schema is None:
        return reply.text
    if question.reply.parse is not None:
        return question.reply.parse(reply.text)
    value = parse_reply(reply.text)
    if value == {} and reply.output_format is OutputFormat.TOOL:
        raise ReplyMismatch("the tool was called without any input")
    return value
