"""Two runs on the same claims, against people: what another judge or prompt changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.agreement.labelled_units import PairedClaim
from faithtui.agreement.report.compare import PairedUnit, compare_judges
from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.agreement.statistics.coefficients import KAPPA
from faithtui.agreement.statistics.figures import estimate_figure
from faithtui.agreement.statistics.matrices import count_matrix
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.domain.label_sets import NOT_A_CLAIM, Polarity
from faithtui.domain.splits import Split
from faithtui.engine.review.examples import read_stored_examples
from faithtui.engine.review.splits import (
    SplitOpening,
    read_split_conversations,
    record_test_opening,
)
from faithtui.errors import ConfigError
from faithtui.metrics.registry import find_metric
from faithtui.store.records import RunRow
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class ExclusionCounts:
    """Claims that both runs judged and the figures leave out, each counted once."""

    shown: int
    """Their conversation, or one of its group, is among the examples that one of the judges saw."""
    without_verdict: int
    """One of the judges said nothing."""
    unlabelled: int
    """No verdict of people that counts."""
    unfair: int
    """People say nobody should be judged on it."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What changed from run A to run B."""

    a: RunRow
    b: RunRow
    split: Split | None
    """The part of the conversations; None: all."""
    report: ComparisonReport
    """On claims that both judges gave a verdict and people labelled."""
    kappa_a: Estimate
    """Of judge A with people."""
    kappa_b: Estimate
    left_out: ExclusionCounts
    only_a: int
    """Claims that run B did not judge."""
    only_b: int
    in_view: int
    """Compared claims that were labelled with a judge's word in view: they lean to that judge."""
    opening: SplitOpening | None
    """The look at the test part that this is."""


def compare_runs(
    store: Store, first: RunId, second: RunId, who: str, split: Split | None = None
) -> RunComparison:
    """Compare two runs of one metric on the claims that both judged.

    Without `split`, figures that rest on test conversations too are a look at the test part.

    Args:
        store: Where they are.
        first: Run A, such as the one with the old prompt.
        second: Run B.
        who: Who looks; kept when the test part is looked at.
        split: Only conversations of this part; None: all.

    Raises:
        ConfigError: It is one run, there is nothing to compare, labels are of a sample whose claims
            weigh differently, or a split is wanted and there is none.
        StoreError: There is no such run, or their metrics have other labels.
    """
    if first == second:
        raise ConfigError(f"both are run {first}; name two runs, such as one before and one after")
    a, b = store.runs.row(first), store.runs.row(second)
    within = None if split is None else read_split_conversations(store, split)
    paired = store.reviews.read_paired_units(first, second)
    labels = find_metric(a.spec.metric).spec.labels
    both = [each for each in paired.claims if within is None or each.conversation in within]
    seen = {
        each.group for row in (a, b) for each in read_stored_examples(store, row.spec.example_set)
    }
    unseen = [each for each in both if each.group not in seen]
    units = [
        PairedUnit(each.group, each.first, each.second, each.human)
        for each in unseen
        if each.first is not None and each.second is not None
    ]
    compared = [each for each in unseen if _is_comparable(each, labels.names)]
    if not compared:
        where = "" if split is None else f" in the {split} split"
        raise ConfigError(
            f"runs {first} and {second} have no claim{where} that both gave a verdict and "
            f"annotators labelled: {len(both)} judged by both, {len(both) - len(unseen)} "
            "of them of conversations that examples came from. Runs that are compared judge the "
            "same claims"
        )
    if any(each.human is None for each in unseen):
        _refuse_stratified_labels(store, first, second, compared)
    figures = FigureContext(
        labels.names,
        tuple(each.name for each in labels.labels if each.polarity is Polarity.BAD),
        ReportSettings(),
    )
    (report,) = compare_judges([(_format_run(a), _format_run(b), units)], figures)
    return RunComparison(
        a=a,
        b=b,
        split=split,
        report=report,
        kappa_a=_compute_kappa(
            figures, [(each.group, each.human, each.first) for each in compared]
        ),
        kappa_b=_compute_kappa(
            figures, [(each.group, each.human, each.second) for each in compared]
        ),
        left_out=_count_exclusions(both, unseen, labels.names),
        only_a=paired.only_first,
        only_b=paired.only_second,
        in_view=sum(each.blind is False for each in compared),
        opening=record_test_opening(
            store, _find_shown_split(store, split, compared), "compare", (first, second), who
        ),
    )


def _refuse_stratified_labels(
    store: Store, first: RunId, second: RunId, compared: Sequence[PairedClaim]
) -> None:
    """Refuse labels of a sample by strata, which stand for different numbers of claims.

    Counted alike here they would give the judge's rarer verdicts too much to say, so that the
    better judge may look like the worse one.

    Raises:
        ConfigError: Some compared claims were drawn so.
    """
    claims = {each.claim for each in compared}
    for row in store.samples.rows(""):
        if row.design is not SamplingDesign.STRATIFIED or row.kind is not SampleKind.SAMPLE:
            continue
        if claims.isdisjoint(each.claim for each in store.samples.entries(row.id, "")):
            continue
        other = second if row.run == first else first
        raise ConfigError(
            f"labels are of the sample by strata «{row.name}» of run {row.run}, of which each "
            "stands for another number of claims, and here all would count alike; faithtui report "
            f"{row.run} --compare {other} --sample {row.id} weighs them"
        )


def _is_comparable(claim: PairedClaim, labels: Sequence[str]) -> bool:
    return claim.first is not None and claim.second is not None and claim.human in labels


def _count_exclusions(
    both: Sequence[PairedClaim], unseen: Sequence[PairedClaim], labels: Sequence[str]
) -> ExclusionCounts:
    judged = [each for each in unseen if each.first is not None and each.second is not None]
    unfair = sum(each.human == NOT_A_CLAIM for each in judged)
    labelled = sum(each.human in labels for each in judged)
    return ExclusionCounts(
        shown=len(both) - len(unseen),
        without_verdict=len(unseen) - len(judged),
        unlabelled=len(judged) - labelled - unfair,
        unfair=unfair,
    )


def _compute_kappa(
    context: FigureContext, rows: Sequence[tuple[str, str | None, str | None]]
) -> Estimate:
    """Measure kappa of one judge with people, on claims where both are there."""
    units = [(group, human, judge) for group, human, judge in rows if human and judge]
    return estimate_figure(KAPPA, count_matrix(units, context.categories), context.settings.level)


def _find_shown_split(
    store: Store, split: Split | None, compared: Sequence[PairedClaim]
) -> Split | None:
    """Say which part figures show: the test part also when it is among all conversations."""
    if split is not None:
        return split
    of = store.splits.map_conversations_to_splits()
    within = any(of.get(each.conversation) is Split.TEST for each in compared)
    return Split.TEST if within else None


def _format_run(row: RunRow) -> str:
    return f"run {row.id} ({row.spec.judge_title})"
