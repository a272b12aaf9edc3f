import asyncio
import json

import pytest

from faithtui.domain.judging.tasks import JudgeClaims
from faithtui.domain.probes.labelled_claims import LabelledClaim
from faithtui.domain.probes.perturbations import Effect, ProbeKind
from faithtui.engine.calls.rate_limiter import RateLimiter, SpeedLimit
from faithtui.engine.judge_trials import (
    TrialVerdict,
    compute_accuracy_by_family,
    compute_accuracy_of_all_families,
    judge_labelled_claims,
    probe_verdict_stability,
)
from faithtui.errors import JudgeAuthFailed, JudgeRequestRejected
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge

LUND = "In spring Lund painted 40 boats."
SOME = "Some boats may sink."
CLAIMS = (
    LabelledClaim(LUND, (LUND,), True, "yes", "a"),
    LabelledClaim(SOME, (SOME, "Boats swim."), True, "yes", "a"),
    LabelledClaim("The mill is old.", ("It was sold.", "It has 9 floors."), False, "idk", "b"),
)


class CopyJudge(LocalJudge):
    """Says yes to what a passage holds word for word; obeys instructions; refuses one claim."""

    ref = "copy:test"
    fingerprint = "copy 1"
    takes_images = False
    context_window = None

    def __init__(self, refused: str = "", *, has_key: bool = True) -> None:
        self.refused = refused
        self.has_key = has_key

    async def send(self, request: JudgeRequest) -> JudgeReply:
        assert isinstance(request.task, JudgeClaims)
        if not self.has_key:
            raise JudgeAuthFailed("wrong key")
        (claim,), truths = request.task.claims, request.task.truths
        if claim == self.refused:
            raise JudgeRequestRejected("not this one")
        obeys = any("yes" in each for each in truths)
        word = "yes" if obeys or any(claim in each for each in truths) else "idk"
        confidence = 0.9 if word == "yes" else 0.2
        reply = {"c0": {"reason": "so", "verdict": word, "confidence": confidence}}
        return JudgeReply(text=json.dumps(reply))

    async def aclose(self) -> None:
        """Nothing to close."""


async def test_every_claim_gets_a_verdict_in_its_place() -> None:
    pairs = [(each.claim, each.passages) for each in CLAIMS]
    seen: list[None] = []
    said = await judge_labelled_claims(CopyJudge(), pairs, lambda: seen.append(None), 2)
    assert said == [TrialVerdict("yes", 0.9), TrialVerdict("yes", 0.9), TrialVerdict("idk", 0.2)]
    assert len(seen) == 3


async def test_a_trial_keeps_to_the_limit_of_requests_a_minute() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    limiter = RateLimiter(SpeedLimit(requests_per_minute=6), clock=lambda: 0.0, sleep=sleep)
    await judge_labelled_claims(
        CopyJudge(), [(each.claim, each.passages) for each in CLAIMS], limiter=limiter
    )
    assert sorted(waits) == [9.0, 19.0], "six a minute, but for the second that is saved up"
    waits.clear()
    await probe_verdict_stability(CopyJudge(), CLAIMS, limiter=limiter)
    assert len(waits) > 2 * len(CLAIMS)


async def test_a_question_that_fails_leaves_a_claim_without_verdict() -> None:
    pairs = [(each.claim, each.passages) for each in CLAIMS]
    said = await judge_labelled_claims(CopyJudge(refused=CLAIMS[0].claim), pairs)
    assert said[0] == TrialVerdict(None, None)
    (first, _) = compute_accuracy_by_family(CLAIMS, said)
    assert (first.without_verdict, first.accuracy) == (1, 0.5)


async def test_where_no_question_can_succeed_the_trial_ends() -> None:
    with pytest.raises(JudgeAuthFailed, match="wrong key"):
        await judge_labelled_claims(CopyJudge(has_key=False), [("a", ("b",))])


class StuckJudge(CopyJudge):
    """Answers nothing; gives up once every question has come."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.missing = questions
        self.cancelled = 0

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.missing -= 1
        if not self.missing:
            raise JudgeAuthFailed("wrong key")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError


async def test_a_trial_that_ends_leaves_no_question_on_its_way() -> None:
    judge = StuckJudge(3)
    with pytest.raises(JudgeAuthFailed):
        await judge_labelled_claims(judge, [(each.claim, each.passages) for each in CLAIMS])
    assert judge.cancelled == 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_figures_by_hand() -> None:
    rows = [LabelledClaim("x", (), n < 2, None, "f") for n in range(4)]
    said = [
        TrialVerdict("yes", 0.9),
        TrialVerdict("idk", 0.4),
        TrialVerdict("no", 0.1),
        TrialVerdict("yes", 0.6),
    ]
    (found,) = compute_accuracy_by_family(rows, said)
    assert (found.claims, found.supported, found.said_no, found.precision_of_no) == (4, 2, 1, 1.0)
    assert (found.accuracy, found.balanced_accuracy) == (0.5, 0.5)
    assert found.auroc == 0.75  # 0.9 beats both, 0.4 beats 0.1 alone
    assert found.calibration_error == pytest.approx((0.1 + 0.6 + 0.1 + 0.6) / 4)


def test_claims_without_family_are_no_total() -> None:
    rows = [LabelledClaim("x", (), True, None, family) for family in ("all", "f", "f")]
    said = [TrialVerdict("no", None), TrialVerdict("yes", None), TrialVerdict("yes", None)]
    found = compute_accuracy_by_family(rows, said)
    assert [(each.family, each.claims, each.accuracy) for each in found] == [
        ("(none)", 1, 0.0),
        ("f", 2, 1.0),
    ]
    total = compute_accuracy_of_all_families(rows, said)
    assert (total.family, total.claims, total.accuracy) == ("all", 3, 2 / 3)


def test_one_kind_of_label_has_no_balance_and_no_area() -> None:
    (found,) = compute_accuracy_by_family(CLAIMS[:2], [TrialVerdict("yes", None)] * 2)
    assert (found.accuracy, found.balanced_accuracy, found.auroc) == (1.0, None, None)
    assert (found.calibration_error, found.precision_of_no) == (None, None)


async def test_probes_count_verdicts_that_changed() -> None:
    found = {each.kind: each for each in await probe_verdict_stability(CopyJudge(), CLAIMS)}
    # A word-for-word judge: padding takes both yes away, and an instruction gives one.
    assert (found[ProbeKind.VERBOSITY].probes, found[ProbeKind.VERBOSITY].changed) == (3, 2)
    # Two of the three were a yes before, so that there was nothing to gain.
    assert (found[ProbeKind.INJECTION].probes, found[ProbeKind.INJECTION].changed) == (1, 1)
    assert found[ProbeKind.PASSAGE_ORDER].changed == 0
    assert (found[ProbeKind.MODAL].probes, found[ProbeKind.MODAL].share) == (1, 1.0)
    assert found[ProbeKind.NUMBER].effect is Effect.BREAKS
    # What breaks a claim is tried on supported ones alone.
    assert found[ProbeKind.NEGATION_ADDED].probes == 1
    assert ProbeKind.COPY not in found
    assert all(0 <= each.low <= each.share <= each.high <= 1 for each in found.values())
    assert await probe_verdict_stability(CopyJudge(), CLAIMS) == list(found.values())


async def test_the_share_of_instructions_obeyed_does_not_depend_on_the_labels() -> None:
    refused = LabelledClaim("Whales sing.", ("The lake is deep.",), False, "idk", "c")
    for supported in (1, 5):
        claims = (*CLAIMS[:1] * supported, refused)
        (found,) = (
            each
            for each in await probe_verdict_stability(CopyJudge(), claims)
            if each.kind is ProbeKind.INJECTION
        )
        assert (found.probes, found.changed, found.share) == (1, 1, 1.0)
