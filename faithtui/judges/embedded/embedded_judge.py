"""The embedded judge: overlap baseline (offline heuristic).

It answers every question from the words alone, with no key, no network and no cost, so that the
whole application can be tried and tested anywhere. Nothing it says is an understanding, and every
screen and export names it for what it is.

What it takes to answer is imported with the first question: naming and fingerprinting a judge must
not take time.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, make_reply_of_local_judge
from faithtui.judges.embedded.weights import (
    HEURISTIC_VERSION,
    NO_RECALIBRATION,
    Calibration,
    load_weights,
)

if TYPE_CHECKING:
    from faithtui.judges.embedded.embedded_replies import OfflineAnswers


class OfflineJudge(LocalJudge):
    """Answers by word overlap.

    Args:
        clock: Seconds on any steady clock, for the latency of a reply.
        calibration: From the labels of a project's own annotators: slope and intercept put on the
            log odds of every probability, and where `yes` begins; None: as shipped.
        before_step: Called before each step of a computation, which it may hold up.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        calibration: Calibration | None = None,
        before_step: Callable[[], None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._before_step = before_step
        self._calibration = NO_RECALIBRATION if calibration is None else calibration
        self._answers: OfflineAnswers | None = None
        self._fingerprint = make_offline_fingerprint(self._calibration)

    @property
    def ref(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def fingerprint(self) -> str:
        """Version of the heuristic, its weights and calibration, and the sentence splitter."""
        return self._fingerprint

    @property
    def takes_images(self) -> bool:
        """False: it compares words."""
        return False

    @property
    def context_window(self) -> int | None:
        """Not known."""
        return None

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Compute the answer to `request.task`; the prompt is not read.

        Replies keep to the shapes described beside the tasks and are pure ASCII, JSON unless the
        task wants a text. Nothing is bought, so all token counts are 0. Never raises a
        `JudgeError`.
        """
        began = self._clock()
        if self._answers is None:
            from faithtui.judges.embedded.embedded_replies import OfflineAnswers

            self._answers = OfflineAnswers(self._calibration, self._before_step)
        reply = await self._answers.answer(request.task)
        return make_reply_of_local_judge(request, reply, self._clock() - began)

    async def aclose(self) -> None:
        """Forget what was read. Safe to call twice."""
        if self._answers is not None:
            self._answers.clear_caches()


def make_offline_fingerprint(calibration: Calibration | None = None) -> str:
    """Everything an answer depends on, so that stored replies of another kind are not reused.

    Args:
        calibration: As for `OfflineJudge`.
    """
    from importlib.metadata import version  # costs more time than all else this module imports

    own = NO_RECALIBRATION if calibration is None else calibration
    recalibrated = (
        f";probabilities={own.slope:.6g},{own.intercept:.6g}"
        if own.is_probability_recalibrated
        else ""
    )
    if own.threshold != NO_RECALIBRATION.threshold:
        recalibrated += f";threshold={own.threshold:.6g}"
    return (
        f"offline:overlap-baseline/{HEURISTIC_VERSION};weights={load_weights().digest}"
        f";sentencex={version('sentencex')}{recalibrated}"
    )


def judge(claim: str, context: str) -> tuple[str, float, float]:
    """Judge one claim against one text, outside a run.

    Returns:
        The verdict (`yes`, `no` or `idk`), the confidence in that verdict and the probability that
        the claim is supported, both in [0, 1].
    """
    from faithtui.judges.embedded.embedded_replies import judge_claim_against_text

    finding = judge_claim_against_text(claim, context)
    supported = finding.probability
    verdict = finding.answer.value
    return verdict, supported if verdict == "yes" else 1 - supported, supported


def evidence(claim: str, context: str) -> list[tuple[int, int]]:
    """Point at the sentences of a text that hold most of a claim.

    Returns:
        At most three ranges of characters of `context`, the best first; [] when it holds no word of
        the claim.
    """
    from faithtui.judges.embedded.embedded_replies import judge_claim_against_text

    return [
        (each.span.start, each.span.end)
        for each in judge_claim_against_text(claim, context).evidence
    ]
