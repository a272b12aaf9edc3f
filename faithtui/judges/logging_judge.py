"""A judge whose questions and answers go into a log of their own, for who asked for that."""

import logging

from faithtui.errors import JudgeError, JudgeReplyInvalid
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.judge_wrapper import JudgeWrapper

_log = logging.getLogger("faithtui.prompts")


def log_question(ref: str, request: JudgeRequest) -> None:
    """Write down a question, as it is sent."""
    _log.info("%s asked `%s`: %s\n%s", ref, request.step, request.system, request.prompt)


def log_answer(ref: str, step: str, answer: JudgeReply | JudgeError) -> None:
    """Write down what came of a question."""
    if isinstance(answer, JudgeError):
        raw_text = f": {answer.raw}" if isinstance(answer, JudgeReplyInvalid) else ""
        _log.info("%s failed `%s`: %s%s", ref, step, type(answer).__name__, raw_text)
    else:
        _log.info("%s answered `%s` (%s): %s", ref, step, answer.stop, answer.text)


class LoggingJudge(JudgeWrapper):
    """A judge, listened to where its questions leave: what a redaction took out is not heard."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once, and write down what was asked and what came. See `Judge.send`."""
        log_question(self.ref, request)
        try:
            reply = await self._judge.send(request)
        except JudgeError as error:
            log_answer(self.ref, request.step, error)
            raise
        log_answer(self.ref, request.step, reply)
        return reply
