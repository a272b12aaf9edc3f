"""Intervals that hold at every look, from an annotator's own labels in one queue."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.domain.ids import ClaimId, SampleId
from faithtui.domain.labels.label_sets import Polarity
from faithtui.metrics.registry import find_metric
from faithtui.store.samples.sampling_frames import name_verdict_stratum
from faithtui.store.store import Store

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ConfidenceSequences
    from faithtui.agreement.sampling.confidence_sequences import CellKey, SequenceCell


FEWEST_LEFT_WHILE_BLIND = 20
"""Claims of a run without a label below which a blind queue says nothing of the run."""


@dataclass(frozen=True, slots=True)
class QueueFrame:
    """What a queue was drawn from, which labels do not change."""

    sample: SampleId
    populations: Mapping[tuple[str, str], int]
    """Claims of the run by stratum and by the stratum of the judge's verdict."""
    verdict_strata: Mapping[ClaimId, str]
    """The stratum of the judge's verdict of each drawn claim."""
    judged_claim_count: int
    """Claims of the run at that time, to see that it went on."""


def read_queue_frame(store: Store, sample: SampleId, reviewer: str) -> QueueFrame | None:
    """Read what `compute_confidence_sequences` needs of a run beside the labels.

    Reads every verdict of the run: meant for a thread.

    Returns:
        None for own repeats, for whole conversations, where the run judged something since the
        queue was drawn, and where only drawn claims are here.

    Raises:
        StoreError: There is no such sample, or a verdict is not what was written.
    """
    store.refuse_corrupted_rows_unless_checked_before()
    row = store.samples.read_sample(sample, reviewer)
    if row.kind is SampleKind.REPEAT or row.design is SamplingDesign.CONVERSATIONS:
        return None
    if row.population is not None:
        return None  # the store has no more of it than what was drawn
    frame = store.samples.read_frame(row.run, row.stratified_by)
    if len(frame) != row.frame:
        return None
    is_split = row.stratified_by != ("verdict",)
    verdicts = store.samples.read_frame(row.run, ("verdict",)) if is_split else frame
    drawn = {each.claim for each in store.samples.list_claims_in_served_order(sample, reviewer)}
    return QueueFrame(
        sample,
        frame.count_claims_by_both_strata(verdicts),
        verdicts.map_claims_to_strata(drawn),
        store.runs.read_run(row.run).claims,
    )


def compute_confidence_sequences(
    store: Store, frame: QueueFrame, reviewer: str, *, works_blind: bool = False
) -> "ConfidenceSequences | None":
    """Bound the rate and the recall of a run by an annotator's labels in a queue.

    Args:
        store: Where everything is.
        frame: Of the queue.
        reviewer: Whose labels.
        works_blind: The annotator does not see the judge, though the queue would show it.

    While a queue is answered blind and has claims without a label, the labels before its first
    skipped claim count alone, and of a blind queue nothing is said where few claims of the run have
    no label, as they may be drawn later: what
    changes with a skipped claim, or how many unfaithful ones are left, would reveal the judge's
    verdict on them.

    Returns:
        None before the first label, and where the run went on since the frame was read.

    Raises:
        StoreError: There is no such sample, or a label is not what was written.
    """
    sample = frame.sample
    row = store.samples.read_sample(sample, reviewer)
    run = store.runs.read_run(row.run)
    if run.claims != frame.judged_claim_count:
        return None
    # Claims that show the judge are in no figure.
    entries = [
        each
        for each in store.samples.list_claims_in_served_order(sample, reviewer)
        if not each.shown and each.claim in frame.verdict_strata
    ]
    is_hiding = (row.blind or works_blind) and row.remaining > 0
    served = list(
        takewhile(lambda each: each.answered or (each.skipped and not is_hiding), entries)
    )
    labels = sum(each.answered for each in served)
    left = sum(frame.populations.values()) - row.answered
    is_blind = row.blind or works_blind
    if not labels or (is_blind and 0 < left < FEWEST_LEFT_WHILE_BLIND):
        return None
    # Loads numpy, which an app that draws queues has no use for.
    from faithtui.agreement.report.model import ConfidenceSequences
    from faithtui.agreement.sampling.confidence_sequences import (
        bound_faithful_share,
        bound_recall,
        count_labels_by_stratum_and_flag,
    )

    verdict_of = frame.verdict_strata
    rule = (spec := run.spec).rule
    label_by_claim = {
        each.event.claim: rule.translate_word_to_label(each.event.verdict or "")
        for each in store.samples.read_human_and_judge_labels(sample, reviewer)
    }
    known = find_metric(spec.metric).spec.labels

    def make_cells(bad: Collection[str]) -> "list[SequenceCell]":
        flags = {name_verdict_stratum(name): name in bad for name in known.names}
        counts: Counter[CellKey] = Counter()
        for (stratum, verdict), count in frame.populations.items():
            if verdict in flags:
                counts[stratum, flags[verdict]] += count
        answers = (
            ((each.stratum, flags[verdict_of[each.claim]]), label_by_claim.get(each.claim))
            for each in served
            if verdict_of[each.claim] in flags
        )
        return count_labels_by_stratum_and_flag(counts, answers, known.names, bad)

    failing = [name for name in known.names if name not in rule.passing]
    strict = [each.name for each in known.labels if each.polarity is Polarity.BAD]
    return ConfidenceSequences(
        labels,
        sum(each.answered for each in entries) - labels,
        bound_faithful_share(make_cells(failing)),
        bound_recall(make_cells(strict)),
        tuple(strict),
    )


def read_confidence_sequences(
    store: Store, sample: SampleId, reviewer: str, *, works_blind: bool = False
) -> "ConfidenceSequences | None":
    """Read a queue's frame and bound the rate and the recall by it.

    Returns:
        None where `read_queue_frame` or `compute_confidence_sequences` gives None.
    """
    frame = read_queue_frame(store, sample, reviewer)
    if frame is None:
        return None
    return compute_confidence_sequences(store, frame, reviewer, works_blind=works_blind)
