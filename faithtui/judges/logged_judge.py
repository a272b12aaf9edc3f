"""A judge whose questions and answers go into a log of their own, for who asked for that."""

import logging

from faithtui.errors import JudgeError, JudgeReplyInvalid
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, Rung

_log = logging.getLogger("faithtui.prompts")


class LoggedJudge:
    """A judge, listened to where its questions leave: what a redaction took out is not heard."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def ref(self) -> str:
        """As the judge's."""
        return self._judge.ref

    @property
    def fingerprint(self) -> str:
        """As the judge's: listening changes no answer."""
        return self._judge.fingerprint

    @property
    def takes_images(self) -> bool:
        """As the judge."""
        return self._judge.takes_images

    @property
    def context_window(self) -> int | None:
        """As the judge's."""
        return self._judge.context_window

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """As the judge's."""
        return self._judge.rungs

    @property
    def account(self) -> str:
        """As the judge's."""
        return self._judge.account

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once, and write down what was asked and what came. See `Judge.send`."""
        _log.info("%s asked `%s`: %s\n%s", self.ref, request.step, request.system, request.prompt)
        try:
            reply = await self._judge.send(request)
        except JudgeError as error:
            said = f": {error.raw}" if isinstance(error, JudgeReplyInvalid) else ""
            _log.info("%s failed `%s`: %s%s", self.ref, request.step, type(error).__name__, said)
            raise
        _log.info("%s answered `%s` (%s): %s", self.ref, request.step, reply.stop, reply.text)
        return reply

    async def aclose(self) -> None:
        """Close the judge. Safe to call twice."""
        await self._judge.aclose()
