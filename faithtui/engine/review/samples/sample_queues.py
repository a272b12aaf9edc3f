"""Drawing queues, and saying how far one has come: the same for the app and the command line."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from faithtui.agreement.sampling.draw import (
    SampleKind,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    Stratum,
    make_sample_draw,
)
from faithtui.agreement.sampling.stopping_rules import (
    KAPPA_TARGET,
    SPOT_CHECK_SIZE,
    USUAL_PACE_S,
    SpotCheck,
    SpotCheckDecision,
    compute_effective_sample_size,
    decide_spot_check,
    estimate_labels_needed,
    plan_label_count,
)
from faithtui.domain.ids import ClaimId, RunId, SampleId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule
from faithtui.engine.review.samples.queue_intervals import read_confidence_sequences
from faithtui.metrics.registry import find_metric
from faithtui.store.samples.sample_records import SampleEntry, SampleLabel, SampleRow
from faithtui.store.store import Store

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ConfidenceSequences

MEASURED_FROM = 10
"""Labels from which the width of an interval says more than the plan."""

FEWEST_OF_STRATUM = 5
"""Claims that are drawn of a stratum, or all it has, for a queue that goes on to measure kappa."""
STRATA_TELLING_JUDGE = frozenset({"verdict", "disagreement", "flip"})
"""What strata are made of that shows the judge's verdict."""

REPEATS = 20
"""Own labelled claims that are asked again by default."""


USUAL_SIZE = 100
"""Claims of a sample by default: agreement to about ±0.10 in the worst case."""
USUAL_CONVERSATIONS = 10
"""Conversations of a sample of whole ones by default."""


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What is to be drawn."""

    name: str
    """"": after its design, with a number where the run has one called so."""
    kind: SampleKind = SampleKind.SAMPLE
    design: SamplingDesign = SamplingDesign.SIMPLE
    stratified_by: tuple[str, ...] = ()
    """Of `sampling_frames.STRATA`; only read with `STRATIFIED`."""
    size: int = 0
    """Claims, or conversations."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Claims per stratum; {}: `size` in equal parts."""
    seed: int = 0
    blind: bool = True
    shown_share: float = 0.0
    """Share of the claims of a blind sample that show the judge, in [0, 1]."""

    @property
    def plan(self) -> SamplePlan:
        """What is drawn, as the domain wants it."""
        share = self.shown_share if self.blind else 0.0
        return SamplePlan(self.design, self.seed, self.size, self.sizes, share)

    @property
    def strata_variables(self) -> tuple[str, ...]:
        """What strata are made of: nothing, unless they are drawn from."""
        return self.stratified_by if self.design is SamplingDesign.STRATIFIED else ()


def make_sample_name(design: SamplingDesign, stratified_by: Sequence[str]) -> str:
    """Name a sample after how it is drawn."""
    match design:
        case SamplingDesign.SIMPLE:
            return "simple random"
        case SamplingDesign.STRATIFIED:
            return f"by {', '.join(stratified_by)}"
        case SamplingDesign.CONVERSATIONS:
            return "whole conversations"


def _find_unused_name(store: Store, run: RunId, reviewer: str, request: SampleRequest) -> str:
    """Name a sample after its design, apart from the others of its run."""
    wanted = make_sample_name(request.design, request.strata_variables)
    taken = {row.name for row in store.samples.list_samples(reviewer, run)}
    numbered = (f"{wanted} {number}" for number in count(2))
    return wanted if wanted not in taken else next(n for n in numbered if n not in taken)


def find_unused_seed(rows: Sequence[SampleRow]) -> int:
    """Give a seed that none of these samples has."""
    return max((row.seed for row in rows), default=0) + 1


def make_spot_check_request(seed: int) -> SampleRequest:
    """Ask for a spot-check: a small simple random sample, wholly blind."""
    return SampleRequest("spot-check", SampleKind.SPOT_CHECK, size=SPOT_CHECK_SIZE, seed=seed)


def make_repeat_labels_request(seed: int, size: int = REPEATS) -> SampleRequest:
    """Ask for some of one's own labelled claims once more, blind."""
    return SampleRequest("self-agreement", SampleKind.REPEAT, size=size, seed=seed)


def read_sampling_frame(
    store: Store, run: RunId, reviewer: str, request: SampleRequest
) -> SamplingFrame:
    """Read what a request is drawn from. Seconds for a million claims: meant for a thread.

    Raises:
        StoreError: There is no such stratum.
    """
    if request.kind is SampleKind.REPEAT:
        return store.samples.read_frame_for_blind_repeats(run, reviewer)
    return store.samples.read_frame(run, request.strata_variables)


def draw_and_save_run_sample(
    store: Store,
    run: RunId,
    reviewer: str,
    request: SampleRequest,
    frame: SamplingFrame | None = None,
) -> SampleRow:
    """Draw a sample and store it as a queue. Meant for a thread.

    Args:
        store: Where.
        run: The run.
        reviewer: Who draws it.
        request: What to draw.
        frame: What `read_sampling_frame` gave for the request; None reads it.

    Raises:
        StoreError: Nothing can be drawn.
    """
    frame = read_sampling_frame(store, run, reviewer, request) if frame is None else frame
    plan = request.plan
    return store.samples.save_draw_as_sample(
        run,
        reviewer,
        make_sample_draw(frame, plan),
        plan,
        name=request.name or _find_unused_name(store, run, reviewer, request),
        kind=request.kind,
        stratified_by=request.strata_variables,
        blind=request.blind,
    )


def estimate_seconds_per_claim(rows: Sequence[SampleRow]) -> float:
    """Give an annotator's pace in seconds a claim: of the newest sample with one, or usual."""
    return next((row.pace_s for row in rows if row.pace_s is not None), USUAL_PACE_S)


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """How far an annotator has come with a sample, and how far it is to go."""

    row: SampleRow
    compared: int
    """Claims with the annotator's label and a verdict, without those drawn to be shown
    with the judge's, which count in no figure."""
    differ: int
    """How many of these have different ones."""
    needed: int | None
    """Labels still to come for `KAPPA_TARGET`, also where fewer claims are left; 0 only where it is
    reached. None for samples with another purpose, of whole conversations before their labels give
    an interval, where a stratum of the run gives no claim, and where kappa of all claims of the run
    has no interval."""
    planned: bool
    """`needed` is what the plan says: too little is labelled to measure it."""
    left: int = 0
    """Claims of what was drawn from whose label may still count; 0 for samples with another
    purpose."""
    until_measured: int = 0
    """Labels that count still to come before `needed` is measured; those shown count for none."""

    @property
    def is_enough_left(self) -> bool:
        """Whether the claims without a label may be enough.

        A plan is for a pass rate, which is known where all claims of the run are labelled; kappa is
        estimated still.
        """
        return self.needed is None or self.planned or self.needed <= self.left

    @property
    def is_finished(self) -> bool:
        """Whether every claim has its verdict."""
        return not self.row.remaining


def read_queue_progress(store: Store, sample: SampleId, reviewer: str) -> QueueProgress:
    """Read how far an annotator has come with a sample. Meant for a thread.

    How many labels are needed follows from the interval of kappa over the annotator's own labels in
    this sample, each weighing the claims of its stratum: an estimate, not a result.

    Raises:
        StoreError: There is no such sample.
    """
    row = store.samples.read_sample(sample, reviewer)
    spec = store.runs.read_run(row.run).spec
    labels = store.samples.read_human_and_judge_labels(sample, reviewer)
    entries = store.samples.list_claims_in_served_order(sample, reviewer)
    answered = [each for each in entries if each.answered and not each.shown]
    # Of other designs every claim weighs the same.
    is_weighted = row.design is SamplingDesign.STRATIFIED
    weights = _weigh_claims_by_stratum(answered, row.strata) if is_weighted else {}
    counted = _list_weighted_human_and_judge_labels(
        [each for each in labels if not each.shown], spec.rule, weights
    )
    differ = sum(human != judge for _, human, judge, _ in counted)
    if row.kind is not SampleKind.SAMPLE:
        return QueueProgress(row, len(counted), differ, None, planned=False)
    shown = sum(each.shown for each in entries)
    left, needed = max(0, row.frame - shown - len(answered)), None
    is_partial = _lacks_labels_of_stratum(row, entries)
    if len(counted) >= MEASURED_FROM and not is_partial:
        needed = _estimate_labels_needed(counted, find_metric(spec.metric).spec.labels.names)
    # The plan is of claims drawn one by one: how far conversations differ is not known yet.
    planned = needed is None and row.design is not SamplingDesign.CONVERSATIONS
    if planned and left:  # without any left the rate is known, kappa is not to be had
        needed = _plan_labels_needed(row.strata, len(counted))
    if is_partial and not needed:
        needed = None  # Enough by number, but a report gives no rate without a label of a stratum.
    until_measured = 0 if is_partial else max(0, MEASURED_FROM - len(counted))
    return QueueProgress(row, len(counted), differ, needed, planned, left, until_measured)


LabelPair = tuple[str, str, str, float]
"""Group, the annotator's label and the judge's, in the words of the metric, and how many claims
this one stands for."""


def _lacks_labels_of_stratum(row: SampleRow, entries: Sequence[SampleEntry]) -> bool:
    """Say whether kappa of the labels is, or may be, that of a part of the run.

    Of strata that tell the judge's verdict by how the sample was drawn, while claims are open: when
    the last stratum gets a label would tell what the judge says of them.
    """
    if row.design is not SamplingDesign.STRATIFIED:
        return False
    counting = [each for each in entries if not each.shown]
    if row.remaining and not STRATA_TELLING_JUDGE.isdisjoint(row.stratified_by):
        drawn = Counter(each.stratum for each in counting)
        return any(
            drawn[each.name] < min(FEWEST_OF_STRATUM, each.population) for each in row.strata
        )
    labelled = {each.stratum for each in counting if each.answered}
    return any(each.population and each.name not in labelled for each in row.strata)


def _weigh_claims_by_stratum(
    answered: Sequence[SampleEntry], strata: Sequence[Stratum]
) -> Mapping[ClaimId, float]:
    """Say how many claims each labelled claim of a sample by strata stands for."""
    counts = Counter(each.stratum for each in answered)
    populations = {each.name: each.population for each in strata}
    return {each.claim: populations[each.stratum] / counts[each.stratum] for each in answered}


def _list_weighted_human_and_judge_labels(
    readings: Sequence[SampleLabel], rule: ScoringRule, weights: Mapping[ClaimId, float]
) -> list[LabelPair]:
    """List the claims that can be compared: neither without a verdict nor unfair."""
    found = []
    for each in readings:
        human = rule.translate_word_to_label(each.event.verdict or "")
        if human is not None and human != NOT_A_CLAIM and each.judge is not None:
            found.append((each.group, human, each.judge, weights.get(each.event.claim, 1.0)))
    return found


def _plan_labels_needed(strata: Sequence[Stratum], labelled: int) -> int | None:
    """Plan the labels still needed for a rate; None where a stratum that has claims gives none.

    A sample by strata takes more than a simple one, as far as its parts are not those of the run.
    """
    effective = compute_effective_sample_size(strata)
    if not effective:
        return None
    design_effect = sum(each.drawn for each in strata) / effective
    return max(0, plan_label_count(KAPPA_TARGET, design_effect=design_effect) - labelled)


def _estimate_labels_needed(pairs: Sequence[LabelPair], labels: Sequence[str]) -> int | None:
    """Estimate labels still needed from kappa's interval; None where it has none."""
    known = [each for each in pairs if each[1] in labels and each[2] in labels]
    # Loads numpy, which a queue without a plan for kappa has no use for.
    from faithtui.agreement.statistics.coefficients import KAPPA
    from faithtui.agreement.statistics.matrices import count_weighted_confusion_by_group
    from faithtui.agreement.statistics.posterior import estimate_figures_by_posterior

    kappa = estimate_figures_by_posterior(
        {"kappa": KAPPA}, count_weighted_confusion_by_group(known, labels)
    )["kappa"]
    if kappa.ci_low is None or kappa.ci_high is None:
        return None
    half = (kappa.ci_high - kappa.ci_low) / 2
    return estimate_labels_needed(len(known), half, KAPPA_TARGET)


@dataclass(frozen=True, slots=True)
class QueueOutcome:
    """What came of a queue."""

    progress: QueueProgress
    actions: Mapping[str, int]
    """How many claims were labelled knowing the judge's verdict (`shown`) and not (`blind`)."""
    check: SpotCheck | None
    """The decision of a spot-check; None of other samples."""
    sequences: "ConfidenceSequences | None" = None
    """What holds at every look; None where there is no such thing."""


def read_outcome_and_close_finished_spot_check(
    store: Store, sample: SampleId, reviewer: str, *, works_blind: bool = False
) -> QueueOutcome:
    """Say what came of a sample; a spot-check that is through is closed with its decision.

    Meant for a thread.

    Args:
        store: Where everything is.
        sample: The sample.
        reviewer: Whose labels.
        works_blind: The annotator does not see the judge, though the queue would show it.

    Raises:
        StoreError: There is no such sample.
    """
    progress = read_queue_progress(store, sample, reviewer)
    row = progress.row
    knew = Counter(
        each.event.saw_judge for each in store.samples.read_human_and_judge_labels(sample, reviewer)
    )
    check = None
    if row.kind is SampleKind.SPOT_CHECK:
        check = decide_spot_check(progress.compared, progress.differ, row.size)
        decided = check.decision is not SpotCheckDecision.UNFINISHED
        if decided and progress.is_finished and row.decision != check.decision.value:
            store.samples.close_sample(sample, check.decision.value)
    return QueueOutcome(
        progress,
        {"blind": knew[False], "shown": knew[True]},
        check,
        read_confidence_sequences(store, sample, reviewer, works_blind=works_blind),
    )
