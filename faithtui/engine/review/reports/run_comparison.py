"""Two runs on the same claims, against annotators: what another judge or prompt changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.agreement.labelled_units import RANDOM_DESIGNS, LabelDesign, PairedClaim
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.report.settings import ReportSettings
from faithtui.domain.ids import ClaimId, ClaimSetId, RunId, SampleId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.split_rule import Split
from faithtui.engine.review.reports.agreement_report import (
    ComparableClaims,
    compare_run_judges,
    read_comparable_claims,
    read_weighted_run_units,
)
from faithtui.engine.review.samples.store_split import SplitOpening, record_test_opening
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
    """No human label that counts."""
    unfair: int
    """Labelled `x`: not a fair claim."""
    outside: int
    """Labelled, and not of the sample that the figures rest on."""
    audit: int
    """Drawn to be labelled with a judge's verdict in view, to measure what that does."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What changed from run A to run B."""

    a: RunRow
    b: RunRow
    split: Split | None
    """The part of the conversations; None: all."""
    report: ComparisonReport
    """On claims that both judges gave a verdict and annotators labelled."""
    design: LabelDesign
    """How the labelled claims were chosen."""
    weighed: RunId
    """The run with whose weights they count."""
    left_out: ExclusionCounts
    only_a: int
    """Claims that run B did not judge."""
    only_b: int
    beyond_a: int
    """Claims of run A that match none of the claim set that is held against both."""
    beyond_b: int
    in_view: int
    """Compared claims labelled with a judge's verdict in view: they lean to that judge."""
    unverified: int
    """Compared claims that rest on labels of a bundle without a digest."""
    opening: SplitOpening | None
    """The look at the test part that this is."""

    @property
    def weighting_sentence(self) -> str:
        """What the figures rest on, in a sentence; "" without a sample."""
        if not self.design.name:
            return ""
        run = self.weighed if self.design.drawn_in is None else self.design.drawn_in
        whose = (
            f"by the claim set «{self.design.name}»"
            if self.design.claim_set is not None
            else f"by the sample «{self.design.name}» of run {run}"
        )
        if self.design.is_order_broken:
            return (
                f"{whose}: all claims count alike, as labels do not follow the order in which "
                "claims were drawn; nothing is said of the rest"
            )
        if self.design.kind not in RANDOM_DESIGNS and self.design.follows_draw:
            return (
                f"{whose}: all claims count alike, as both runs judged claims because they were "
                "drawn, or passed them over, and not all that were drawn; nothing is said of the "
                "rest"
            )
        counts = (
            "each claim counts for as many as it stands for"
            if self.report.weighted
            else "all claims count alike"
        )
        names = ", ".join(f"«{each}»" for each in self.design.unlabelled_strata)
        unknown = f"; no label counts of {names}, of which nothing is known" if names else ""
        return f"{whose}: {counts}{unknown}"


def compare_runs(
    store: Store,
    first: RunId,
    second: RunId,
    who: str,
    split: Split | None = None,
    sample: SampleId | None = None,
    claim_set: ClaimSetId | None = None,
) -> RunComparison:
    """Compare two runs of one metric on the claims that both judged.

    The figures are those of `report A --compare B`: one weighting everywhere.

    Without `split`, figures that rest on test conversations too are a look at the test part.

    Args:
        store: Where they are.
        first: Run A, such as the one with the old prompt.
        second: Run B.
        who: Who looks; kept when the test part is looked at.
        split: Only conversations of this part; None: all.
        sample: The sample to rest on; None: the one that a report on run A rests on.
        claim_set: The claim set to rest on; claims of both runs are matched to it.

    Raises:
        ConfigError: It is one run, there is nothing to compare, or a split is wanted and there is
            none.
        StoreError: There is no such run or sample, their metrics have other labels, or a label or
            verdict is not what was written.
    """
    if first == second:
        raise ConfigError(f"both are run {first}; name two runs, such as one before and one after")
    store.refuse_corrupted_rows_unless_checked_before()
    a, b = store.runs.read_run(first), store.runs.read_run(second)
    settings = ReportSettings(sample=sample, claim_set=claim_set)
    prepared = read_weighted_run_units(store, a, settings, split)
    paired = read_comparable_claims(store, a, b, settings, split)
    labels = find_metric(a.spec.metric).spec.labels.names
    compared = [each for each in paired.claims if _have_verdicts_and_label(each, labels)]
    if not compared:
        where = "" if split is None else f" in the {split} split"
        raise ConfigError(
            f"runs {first} and {second} have no claim{where} that both gave a verdict and "
            f"annotators labelled: {len(paired.claims) + paired.shown} judged by both, "
            f"{paired.shown} of them of conversations that examples came from. Runs that are "
            f"compared judge the same claims: faithtui run --claims run:{first}"
        )
    change = compare_run_judges(store, a, b, prepared, split)
    readings = change.weighed.readings
    design = change.weighed.compared.claims_weighted_for_comparison_with_other_judge.design
    outside: frozenset[ClaimId] = frozenset()
    audit: frozenset[ClaimId] = frozenset()
    if design.kind in RANDOM_DESIGNS:
        drawn = {each.claim: each.audit for each in readings.claims if each.position is not None}
        outside = frozenset(each.claim for each in compared) - drawn.keys()
        audit = frozenset(each.claim for each in compared if drawn.get(each.claim))
    counted = [each for each in compared if each.claim not in outside | audit]
    unverified = {
        each.claim
        for each in readings.claims
        if any(opinion.unverified for opinion in each.opinions)
    }
    return RunComparison(
        a=a,
        b=b,
        split=split,
        report=change.report,
        design=design,
        weighed=a.id if change.is_of_first else b.id,
        left_out=_count_exclusions(paired, labels, len(outside), len(audit)),
        only_a=paired.only_first,
        only_b=paired.only_second,
        beyond_a=paired.beyond_first,
        beyond_b=paired.beyond_second,
        in_view=sum(each.blind is False for each in counted),
        unverified=sum(each.claim in unverified for each in counted),
        opening=record_test_opening(
            store,
            _find_split_figures_reveal(store, split, compared),
            "compare",
            (first, second),
            who,
        ),
    )


def _have_verdicts_and_label(claim: PairedClaim, labels: Sequence[str]) -> bool:
    return claim.first is not None and claim.second is not None and claim.human in labels


def _count_exclusions(
    paired: ComparableClaims, labels: Sequence[str], outside: int, audit: int
) -> ExclusionCounts:
    judged = [each for each in paired.claims if each.first is not None and each.second is not None]
    unfair = sum(each.human == NOT_A_CLAIM for each in judged)
    labelled = sum(each.human in labels for each in judged)
    return ExclusionCounts(
        shown=paired.shown,
        without_verdict=len(paired.claims) - len(judged),
        unlabelled=len(judged) - labelled - unfair,
        unfair=unfair,
        outside=outside,
        audit=audit,
    )


def _find_split_figures_reveal(
    store: Store, split: Split | None, compared: Sequence[PairedClaim]
) -> Split | None:
    """Say which part figures show: the test part also when it is among all conversations."""
    if split is not None:
        return split
    of = store.splits.map_conversations_to_splits()
    within = any(of.get(each.conversation) is Split.TEST for each in compared)
    return Split.TEST if within else None
