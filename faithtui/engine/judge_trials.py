"""Trying a judge on labelled claims: how often it is right, and how easily it changes its mind.

Nothing is stored: each claim is asked by itself, with its passages as they are.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from faithtui.agreement.report.figures.probes import PROBED_KINDS, estimate_changed_verdict_share
from faithtui.agreement.report.model import ProbeFigures
from faithtui.agreement.statistics.calibration import calibration_error, equal_width_bins
from faithtui.agreement.statistics.ranks import auroc
from faithtui.domain.probes.labelled_claims import LabelledClaim
from faithtui.domain.probes.perturbations import Effect, ProbeKind, make_probes
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.await_all import await_all
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.calls.rate_limiter import RateLimiter
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import JudgeError, JudgeUnusable
from faithtui.formats.labelled_claims import ONE_FAMILY
from faithtui.judges.base import Judge
from faithtui.metrics.prompt_texts import PromptSet, load_prompts
from faithtui.metrics.questions import STEPS, make_verdicts_question

CONCURRENCY: Final = 8
"""Questions in flight at once."""
BINS: Final = 10
"""Bins of the calibration error, of equal width."""
NO_FAMILY: Final = "(none)"
"""What claims are called together whose lines name no family."""
TOTAL: Final = "all"
"""What the claims of all families are called together."""


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """What a judge said of one claim."""

    word: str | None
    """`yes`, `no` or `idk`; None: it gave no verdict."""
    probability: float | None
    """That the claim is supported; None when it gave none."""


@dataclass(frozen=True, slots=True)
class FamilyFigures:
    """How good verdicts are on one kind of data."""

    family: str
    claims: int
    supported: int
    without_verdict: int
    """Claims that the judge gave no verdict on; they count as wrong."""
    accuracy: float
    balanced_accuracy: float | None
    """Mean of the accuracies on supported and on unsupported claims; None: one kind is absent."""
    auroc: float | None
    """None: no probabilities, or one kind is absent."""
    calibration_error: float | None
    """Of the probabilities, in ten bins; None without any."""
    said_no: int
    precision_of_no: float | None
    """Share of its `no` that are unsupported; None: it said none."""


async def judge_labelled_claims(
    judge: Judge,
    claims: Sequence[tuple[str, Sequence[str]]],
    on_verdict: Callable[[], None] = lambda: None,
    concurrency: int = CONCURRENCY,
    limiter: RateLimiter | None = None,
) -> list[TrialVerdict]:
    """Ask a judge for the verdict on each claim by its passages.

    Args:
        judge: Who is asked.
        claims: Claims with their passages.
        on_verdict: Called for every verdict.
        concurrency: Questions in flight at once.
        limiter: Limits of the judge's account; None: nobody limits it.

    Raises:
        JudgeUnusable: No question can succeed.
    """
    prompts = load_prompts("shared", {step: STEPS[step] for step in ("system", "verdicts")}, None)
    asker = Asker(
        judge,
        MemoryReplyCache(),
        concurrency=concurrency,
        format_fallback=OutputFormatFallback(judge.ref, judge.output_formats),
        limiter=limiter,
    )
    found: list[TrialVerdict | None] = [None] * len(claims)
    waiting = iter(range(len(claims)))

    async def judge_waiting_claims() -> None:
        for number in waiting:
            found[number] = await _ask_for_verdict(asker, prompts, *claims[number])
            on_verdict()

    try:
        await await_all(judge_waiting_claims() for _ in range(concurrency))
    finally:
        await asker.aclose()
    return [each for each in found if each is not None]


async def _ask_for_verdict(
    asker: Asker, prompts: PromptSet, claim: str, passages: Sequence[str]
) -> TrialVerdict:
    try:
        (verdict,) = await asker.ask(make_verdicts_question(prompts, (claim,), passages), None)
    except JudgeUnusable:
        raise
    except JudgeError:
        return TrialVerdict(None, None)
    word = None if verdict is None or verdict.word is None else verdict.word.lower()
    return TrialVerdict(word, None if verdict is None else verdict.confidence)


def compute_accuracy_by_family(
    claims: Sequence[LabelledClaim], verdicts: Sequence[TrialVerdict]
) -> list[FamilyFigures]:
    """Compare verdicts with labels, for each family in the order they come in."""
    families: dict[str, list[tuple[LabelledClaim, TrialVerdict]]] = {}
    for claim, verdict in zip(claims, verdicts, strict=True):
        family = NO_FAMILY if claim.family == ONE_FAMILY else claim.family
        families.setdefault(family, []).append((claim, verdict))
    return [_compute_family_accuracy(family, rows) for family, rows in families.items()]


def compute_accuracy_of_all_families(
    claims: Sequence[LabelledClaim], verdicts: Sequence[TrialVerdict]
) -> FamilyFigures:
    """Compare verdicts with labels over all families; each claim counts the same."""
    return _compute_family_accuracy(TOTAL, list(zip(claims, verdicts, strict=True)))


def _compute_family_accuracy(
    family: str, rows: Sequence[tuple[LabelledClaim, TrialVerdict]]
) -> FamilyFigures:
    right: defaultdict[bool, list[bool]] = defaultdict(list)
    for claim, verdict in rows:
        is_right = verdict.word is not None and (verdict.word == "yes") == claim.is_supported
        right[claim.is_supported].append(is_right)
    stated = [
        (verdict.probability, claim.is_supported)
        for claim, verdict in rows
        if verdict.probability is not None
    ]
    area = auroc(stated) if stated else None
    said_no = [not claim.is_supported for claim, verdict in rows if verdict.word == "no"]
    shares = [sum(each) / len(each) for each in right.values()]
    return FamilyFigures(
        family=family,
        claims=len(rows),
        supported=len(right[True]),
        without_verdict=sum(verdict.word is None for _, verdict in rows),
        accuracy=sum(map(sum, right.values())) / len(rows),
        balanced_accuracy=sum(shares) / 2 if len(shares) == 2 and all(right.values()) else None,
        auroc=None if isinstance(area, WithheldReason) else area,
        calibration_error=calibration_error(equal_width_bins(stated, BINS)) if stated else None,
        said_no=len(said_no),
        precision_of_no=sum(said_no) / len(said_no) if said_no else None,
    )


async def probe_verdict_stability(
    judge: Judge,
    claims: Sequence[LabelledClaim],
    seed: int = 0,
    on_verdict: Callable[[], None] = lambda: None,
    concurrency: int = CONCURRENCY,
    limiter: RateLimiter | None = None,
) -> list[ProbeFigures]:
    """Change labelled claims and their passages, and count how often the verdict changes.

    The claims are asked first as they are, and each is then changed in the ways that can show
    something about the verdict it got.

    Raises:
        JudgeUnusable: No question can succeed.
    """
    before = await judge_labelled_claims(
        judge, [(each.claim, each.passages) for each in claims], on_verdict, concurrency, limiter
    )
    probes = [
        (verdict.word, probe)
        for each, verdict in zip(claims, before, strict=True)
        if verdict.word is not None
        for probe in make_probes(each.claim, each.passages, seed, PROBED_KINDS)
        if _is_probe_applicable(probe.kind, each, verdict.word)
    ]
    changed = [(probe.claim, probe.passages) for _, probe in probes]
    after = await judge_labelled_claims(judge, changed, on_verdict, concurrency, limiter)
    changes: defaultdict[ProbeKind, list[bool]] = defaultdict(list)
    for (was, probe), verdict in zip(probes, after, strict=True):
        if verdict.word is not None:
            changes[probe.kind].append(verdict.word != was)
    return [
        estimate_changed_verdict_share(kind, len(found), sum(found))
        for kind in PROBED_KINDS
        if (found := changes[kind])
    ]


def _is_probe_applicable(kind: ProbeKind, claim: LabelledClaim, was: str) -> bool:
    """Whether a change is tried on a claim that got this verdict before."""
    if kind is ProbeKind.INJECTION:
        return was != "yes"  # which is what it demands
    return kind.effect is Effect.KEEPS or (claim.is_supported and was == "yes")
