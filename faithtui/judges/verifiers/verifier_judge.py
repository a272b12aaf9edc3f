"""A verifier as a judge: the embedded judge's sentences and evidence, somebody else's verdicts."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from faithtui.errors import FaithtuiError, JudgeTimeout, JudgeUnavailable
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, make_reply_of_local_judge
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.embedded.weights import HEURISTIC_VERSION
from faithtui.judges.redaction import Redact, redact_text
from faithtui.judges.verifiers.verifier_protocol import Likelihoods, Verifier, verify_pairs

if TYPE_CHECKING:
    from faithtui.domain.text.sentence_index import SentenceIndex
    from faithtui.judges.embedded.embedded_replies import OfflineAnswers
    from faithtui.judges.embedded.overlap import OverlapVerdict

_BESIDE: Final = 1
"""Sentences before and behind each evidence sentence that a verifier is shown too."""


class VerifierJudge(LocalJudge):
    """Answers every question as the embedded judge does, but for the verdicts.

    Args:
        ref: What the user calls it.
        verifier: Gives the verdicts.
        clock: Seconds on any steady clock, for the latency of a reply.
        before_step: Called before each step of a computation, which it may hold up.
        identity: What tells its verdicts from those of all others; None: its fingerprint does.
        timeout_s: Seconds one question may take; None: as many as it needs.
        deadline: Keeps the time.
        redact: Applied to each claim and its evidence before the verifier gets them; None: it gets
            them as they are.
    """

    def __init__(
        self,
        ref: str,
        verifier: Verifier,
        clock: Callable[[], float] = time.perf_counter,
        before_step: Callable[[], None] = lambda: None,
        identity: str | None = None,
        timeout_s: float | None = None,
        deadline: Deadline = time_out_after,
        redact: Redact | None = None,
    ) -> None:
        self._ref = ref
        self._verifier = verifier
        self._clock = clock
        self._before_step = before_step
        self._identity = verifier.fingerprint if identity is None else identity
        self._timeout_s = timeout_s
        self._deadline = deadline
        self._redact = redact
        self._answers: OfflineAnswers | None = None

    @property
    def ref(self) -> str:
        """As it was opened."""
        return self._ref

    @property
    def fingerprint(self) -> str:
        """The verifier's, and what chooses its evidence."""
        return (
            f"verifier/1 {self._identity};evidence={HEURISTIC_VERSION}"
            f";sentencex={version('sentencex')}"
        )

    @property
    def takes_images(self) -> bool:
        """False: it reads text."""
        return False

    @property
    def context_window(self) -> int | None:
        """Not known: evidence that is too long is cut."""
        return None

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Compute the answer to `request.task`; the prompt is not read. See `Judge.send`."""
        began = self._clock()
        if self._answers is None:
            from faithtui.judges.embedded.embedded_replies import OfflineAnswers

            self._answers = OfflineAnswers(before_step=self._before_step, judge=self._judge_claims)
        reply = await self._answers.answer(request.task)
        return make_reply_of_local_judge(request, reply, self._clock() - began)

    async def aclose(self) -> None:
        """Forget what was read, and let the verifier close what it opened. Safe to call twice."""
        if self._answers is not None:
            self._answers.clear_caches()
        close: Callable[[], Awaitable[None]] | None = getattr(self._verifier, "aclose", None)
        if close is not None:
            await close()

    async def _judge_claims(
        self, claims: Sequence[str], context: "SentenceIndex"
    ) -> list["OverlapVerdict"]:
        from faithtui.judges.embedded.overlap import VerdictWord, judge_claim

        found = [judge_claim(claim, context) for claim in claims]
        pairs = [
            (claim, collect_evidence_text(each, context))
            for claim, each in zip(claims, found, strict=True)
        ]
        asked = [number for number, (_, evidence) in enumerate(pairs) if evidence]
        verified = await self._verify_redacted_pairs([pairs[number] for number in asked])
        for number, likelihoods in zip(asked, verified, strict=True):
            best = max(VerdictWord, key=lambda word: getattr(likelihoods, word.value))
            found[number] = replace(
                found[number],
                answer=best,
                probability=likelihoods.yes,
                clash=None,
                reason=_format_likelihoods_as_reason(likelihoods, len(found[number].evidence)),
            )
        for number in set(range(len(pairs))).difference(asked):
            found[number] = replace(
                found[number],
                answer=VerdictWord.IDK,
                probability=0.0,
                reason="No sentence of the context has a word of the claim.",
            )
        return found

    async def _verify_redacted_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Likelihoods]:
        if not pairs:
            return []
        if self._redact is not None:
            pairs = [
                (redact_text(self._redact, claim), redact_text(self._redact, evidence))
                for claim, evidence in pairs
            ]
        try:
            if self._timeout_s is None:
                return await asyncio.to_thread(verify_pairs, self._verifier, pairs)
            # The thread cannot be ended; it is no longer waited for.
            async with self._deadline(self._timeout_s) as deadline:
                return await asyncio.to_thread(verify_pairs, self._verifier, pairs)
        except FaithtuiError:
            raise
        # It is another package's code, or a model's; a run goes on without this answer.
        except Exception as error:
            timed = self._timeout_s is not None and isinstance(error, TimeoutError)
            if timed and deadline.expired():
                raise JudgeTimeout(
                    f"the judge {self._ref} gave no answer within {self._timeout_s:g} s"
                ) from error
            message = " ".join(str(error).split())[:300]
            raise JudgeUnavailable(
                f"the judge {self._ref} failed: {type(error).__name__}: {message}"
            ) from error


def collect_evidence_text(found: "OverlapVerdict", context: "SentenceIndex") -> str:
    """The evidence sentences of a claim with those beside them, in the order of the context."""
    places = {(each.source, each.span.start) for each in found.evidence}
    numbers = [
        number
        for number, unit in enumerate(context.units)
        if (unit.source, unit.span.start) in places
    ]
    shown: set[int] = set()
    for number in numbers:
        for other in range(number - _BESIDE, number + _BESIDE + 1):
            if 0 <= other < len(context.units):
                unit = context.units[other]
                if unit.source == context.units[number].source:
                    shown.add(other)
    return "\n".join(
        context.units[each].span.slice_text(context.units[each].passage) for each in sorted(shown)
    )


def _format_likelihoods_as_reason(likelihoods: Likelihoods, sentences: int) -> str:
    noun = "sentence" if sentences == 1 else "sentences"
    return (
        f"P(yes) {likelihoods.yes:.2f}, P(no) {likelihoods.no:.2f}, P(idk) {likelihoods.idk:.2f}, "
        f"by {sentences} evidence {noun} and those beside them."
    )
