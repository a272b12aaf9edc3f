"""Planning a sample from a run's verdicts and labels so far."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from faithtui.agreement.labelled_units import DesignKind, LabelState, UnitSettings, is_tied
from faithtui.agreement.sampling.draw import SamplingFrame
from faithtui.agreement.sampling.label_plan import LabelPlan, PlanStratum, find_sides_of_judge
from faithtui.domain.estimates import FEWEST_GROUPS, LEVEL
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.scores import ScoringRule
from faithtui.domain.text.suggestions import format_known_names
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import ConfigError
from faithtui.metrics.registry import find_metric
from faithtui.store.samples.sampling_frames import name_verdict_stratum
from faithtui.store.store import Store

ASSUMED_FLAGGED, ASSUMED_UNSURE, ASSUMED_PASSED = 0.5, 0.2, 0.05
"""Shares of unfaithful claims while no label tells: of those that the judge flags, of those that it
passes without calling them supported or gives no verdict on, and of the others."""
_ASSUMED_LABELS = 2
"""Labels that the assumed share counts as beside those that there are."""
_MOST_UNFAIR = 0.95
"""Share of unfair claims in a stratum that is planned with at most."""
_TELLING_DESIGNS = (DesignKind.CENSUS, DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.CLUSTER)


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """What a plan for a run starts from."""

    frame: SamplingFrame
    """All claims of the run by the strata that are wanted."""
    strata: tuple[PlanStratum, ...]
    """By name; () while nothing is judged."""
    failing: tuple[str, ...]
    """Labels that count as unfaithful: those that fail under the rule of the run."""
    is_broad: bool
    """Some of these do not contradict, as `idk`: reports count them as unfaithful with `--idk live`
    alone."""
    measured_recall: float | None = None
    """Recall of these as a report has it, of the labels so far; None while they give none."""

    @property
    def conversation_count(self) -> int:
        """How many conversations hold the claims."""
        return len({item for item, _ in self.frame.count_claims_by_conversation_and_stratum()})

    @property
    def has_too_few_conversations(self) -> bool:
        """Whether nothing beyond the share that passes in this run has an interval, ever.

        However many are labelled, fewer than five are never worth five of equal size, which takes
        as few (docs/decisions/0061).
        """
        return 0 < self.conversation_count < FEWEST_GROUPS


def read_plan_strata(
    store: Store,
    run: RunId,
    stratified_by: Sequence[str],
    shares: Mapping[str, float] | None = None,
) -> PlanBasis:
    """Read the strata of a run, and what is to be expected of each.

    Seconds for a million claims: meant for a thread.

    Args:
        store: Where everything is.
        run: The run.
        stratified_by: What strata are made of, see `STRATA`.
        shares: Expected shares of unfaithful claims, by name of a stratum; the others are of the
            labels of the run's sample, each weighted as in reports, as if two more had the share
            that is assumed.

    Raises:
        ConfigError: There is no stratum of that name.
        StoreError: There is no such run, or strata cannot be made of that.
    """
    given = dict(shares or {})
    spec = store.runs.read_run(run).spec
    labels = find_metric(spec.metric).spec.labels
    frame = store.samples.read_frame(run, stratified_by)
    names = frame.claim_counts_by_stratum
    unknown = [name for name in given if name not in names]
    if unknown:
        known = format_known_names(unknown[0], names)
        raise ConfigError(f"there is no stratum `{unknown[0]}`; known: {known}")
    labels_by_stratum, measured = _count_labels_by_stratum(store, run, frame, labels, spec.rule)
    by_verdict = (
        frame
        if tuple(stratified_by) == ("verdict",)
        else store.samples.read_frame(run, ("verdict",))
    )
    failing = tuple(name for name in labels.names if name not in spec.rule.passing)
    verdicts = frame.count_claims_by_both_strata(by_verdict)
    strata = []
    for name, population in names.items():
        counts = {verdict: count for (own, verdict), count in verdicts.items() if own == name}
        assumed, is_flagged = assume_unfaithful_share(counts, labels, failing)
        missing = counts.get(name_verdict_stratum(None), 0)
        found = labels_by_stratum.get(name, _StratumLabels())
        share, n = found.estimate_share(assumed), found.count
        if name in given:
            share, n = given[name], 0
        strata.append(
            PlanStratum(
                name,
                population,
                is_flagged,
                share,
                n,
                without_verdict=missing,
                unfair_share=found.unfair_share,
            )
        )
    contradicting = {each.name for each in labels.labels if each.polarity is Polarity.BAD}
    return PlanBasis(
        frame,
        tuple(strata),
        failing,
        is_broad=not contradicting.issuperset(failing),
        measured_recall=measured,
    )


@dataclass(slots=True)
class _StratumLabels:
    """Labels of a stratum, as figures count and weigh them."""

    count: int = 0
    """That say faithful or unfaithful."""
    fair: float = 0.0
    """Claims that these stand for."""
    unfaithful: float = 0.0
    """Claims that those which say unfaithful stand for."""
    unfair: float = 0.0
    """Claims that labels `x` stand for."""

    @property
    def unfair_share(self) -> float:
        """Share of unfair claims; below 1, as nothing can be planned where no claim is fair."""
        whole = self.fair + self.unfair
        return min(self.unfair / whole, _MOST_UNFAIR) if whole else 0.0

    def estimate_share(self, assumed: float) -> float:
        """Mix the share of unfaithful claims with what is assumed while no label tells."""
        seen = self.count * self.unfaithful / self.fair if self.fair else 0.0
        return (seen + assumed * _ASSUMED_LABELS) / (self.count + _ASSUMED_LABELS)


def _count_labels_by_stratum(
    store: Store, run: RunId, frame: SamplingFrame, labels: LabelSet, rule: ScoringRule
) -> tuple[dict[str, _StratumLabels], float | None]:
    """Count the labels of the run's random sample, or of all its claims, as reports count them.

    Returns:
        By stratum; and recall of what fails, as a report has it.
    """
    if not store.runs.read_run(run).labelled:
        return {}, None
    units = store.labelled_units.read_report_units(run, UnitSettings(), labels.severity_by_label)
    if units.design.kind not in _TELLING_DESIGNS:
        return {}, None
    # Loads numpy, which a run without labels has no use for.
    from faithtui.agreement.report.claim_columns import ComparedClaims
    from faithtui.agreement.report.settings import ReportSettings
    from faithtui.agreement.statistics.detection import recall

    compared = ComparedClaims(units.claims, labels, units.design, ReportSettings())
    weights = compared.weights_by_stratum
    is_census = units.design.kind is DesignKind.CENSUS
    unit_by_claim = {
        each.claim: each
        for each in units.claims
        if each.state is LabelState.LABELLED
        and not each.audit
        and (each.human in labels.names or each.human == NOT_A_CLAIM)
        and not is_tied(each.opinions, labels.names)
        and (is_census or each.position is not None)
    }
    found: defaultdict[str, _StratumLabels] = defaultdict(_StratumLabels)
    for claim, name in frame.map_claims_to_strata(unit_by_claim).items():
        human, weight = (
            unit_by_claim[claim].human,
            weights.get(unit_by_claim[claim].stratum or "", 1.0),
        )
        if human == NOT_A_CLAIM:
            found[name].unfair += weight
            continue
        found[name].count += 1
        found[name].fair += weight
        found[name].unfaithful += weight * (human not in rule.passing)
    failing = tuple(each for each in labels.names if each not in rule.passing)
    cells = compared.whole_matrix.weighted_total
    if isinstance(cells, WithheldReason):
        return dict(found), None
    measured = recall(cells.collapse_to_two_categories(failing))
    return dict(found), None if isinstance(measured, WithheldReason) else measured


def assume_unfaithful_share(
    counts: Mapping[str, int], labels: LabelSet, failing: Sequence[str]
) -> tuple[float, bool | None]:
    """Say what share of unfaithful claims to assume, and whether the judge flags them all.

    Claims without a verdict are left out of the second: recall is not about them.
    """
    known = {name_verdict_stratum(each.name): each for each in labels.labels}
    share = 0.0
    flags = set()
    for verdict, count in counts.items():
        label = known.get(verdict)
        is_flagged = label is not None and label.name in failing
        if label is not None:
            flags.add(is_flagged)
        is_good = label is not None and label.polarity is Polarity.GOOD
        passed = ASSUMED_PASSED if is_good else ASSUMED_UNSURE
        share += count * (ASSUMED_FLAGGED if is_flagged else passed)
    return share / sum(counts.values()), None if len(flags) > 1 else True in flags


@dataclass(frozen=True, slots=True)
class PlanForecast:
    """Half widths of a plan beside those of this run at one look."""

    future_rate: float | None
    """Of future conversations, at best: those that differ in more than their verdicts widen it.
    None below five conversations, as in a report, or where a stratum gives no label."""
    rate_at_every_look: float
    """No less than that of one look, which is wider than a sequence of few claims."""
    recall_at_every_look: float | None
    """None where strata mix verdicts, or the judge flags all claims or none."""


def forecast_plan(basis: PlanBasis, plan: LabelPlan, level: float = LEVEL) -> PlanForecast:
    """Foresee what a plan gives, with as many unfaithful claims in each stratum as are expected.

    Args:
        basis: What the plan starts from.
        plan: Labels.
        level: Confidence level in (0, 1).
    """
    # Loads numpy, which a plan has no other use for.
    from faithtui.agreement.sampling.confidence_sequences import (
        SequenceCell,
        bound_faithful_share,
        bound_recall,
    )

    cells = []
    for each in basis.strata:
        # No interval of this kind is of claims without a verdict.
        n = round(plan.sizes.get(each.name, 0) * each.judged_share)
        flagged = each.is_flagged is True
        judged = each.population - each.without_verdict
        if judged:
            cells.append(SequenceCell(judged, flagged, n, round(n * each.share)))
    has_recall = find_sides_of_judge(basis.strata) == {True, False}
    at_every_look = _compute_half_width(bound_faithful_share(cells, level))
    return PlanForecast(
        _predict_half_width_of_new_run(basis, plan, level),
        max(at_every_look, plan.rate or 0.0),
        _compute_half_width(bound_recall(cells, level)) if has_recall else None,
    )


def _compute_half_width(ends: tuple[float, float]) -> float:
    return (ends[1] - ends[0]) / 2


def _predict_half_width_of_new_run(basis: PlanBasis, plan: LabelPlan, level: float) -> float | None:
    """Add what conversations differ by, as far as their verdicts tell."""
    shares = {each.name: each.share for each in basis.strata}
    whole = sum(each.population for each in basis.strata)
    found = basis.frame.count_claims_by_conversation_and_stratum()
    counts = {key: count for key, count in found.items() if key[1] in shares}
    residuals = dict.fromkeys((item for item, _ in counts), 0.0)
    if plan.rate is None or len(residuals) < FEWEST_GROUPS:
        return None
    mean = sum(each.population * each.share for each in basis.strata) / whole
    by_chance = 0.0
    for (item, stratum), count in counts.items():
        share = shares[stratum]
        residuals[item] += count * (share - mean)
        by_chance += count * share * (1 - share)
    between = sum(each**2 for each in residuals.values())
    between *= len(residuals) / (len(residuals) - 1)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return min(0.5, math.hypot(plan.rate, z * math.sqrt(between + by_chance) / whole))
