"""Judges and versions over one claim set: figures of each run, and tests against the one before."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from faithtui.agreement.gate.certificate import split_metric_options
from faithtui.agreement.labelled_units import LabelState
from faithtui.agreement.report.claim_and_answer_figures import count_labelled_strata, report_claims
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.report.report import PreparedUnits, compare_prepared
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.report.trend import Trend, TrendPoint, estimate_weighted
from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.agreement.statistics.paired_judges import adjust_by_holm
from faithtui.agreement.statistics.posterior import widen_run_rate
from faithtui.agreement.statistics.rates import (
    LabelledStratum,
    estimate_fair_units,
    estimate_run_rate,
    widen_to_unknown_units,
)
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.domain.label_sets import NOT_A_CLAIM
from faithtui.engine.review.reports.agreement_report import (
    make_other_judge,
    prepare_run_units,
    read_comparable_claims,
)
from faithtui.errors import ConfigError, NoSharedClaims
from faithtui.metrics.registry import find_metric
from faithtui.store.records import RunRow, RunState
from faithtui.store.samples.claim_sets import ClaimSetRow
from faithtui.store.store import Store


def compute_trend(store: Store, claim_set: ClaimSetRow, runs: Sequence[RunId] = ()) -> Trend:
    """Put the runs over a claim set in the order in which they were made.

    Args:
        store: Where they are.
        claim_set: The set.
        runs: Only these; () means all finished ones that are not archived, whose metric has the
            labels of the set, and that judged claims of it.

    Raises:
        ConfigError: There is no such run, or one that is named has other labels.
        StoreError: A run that is named is not there, or judged no claim of the set.
    """
    settings = ReportSettings(claim_set=claim_set.id)
    labels = set(find_metric(claim_set.metric).spec.labels.names)
    found: list[tuple[RunRow, PreparedUnits]] = []
    for row in _choose_runs(store, claim_set, runs):
        if set(find_metric(row.spec.metric).spec.labels.names) != labels:
            if runs:
                raise ConfigError(
                    f"run {row.id} is of {row.spec.metric}, whose labels are not those of the "
                    f"claim set {claim_set.title}; leave it out"
                )
            continue
        try:
            found.append((row, prepare_run_units(store, row, settings)))
        except NoSharedClaims:
            # That it judged no claim of the set is known once its own were matched to it.
            if runs:
                raise
    if not found:
        raise ConfigError(
            f"no finished run judged claims of {claim_set.title}: faithtui run --claims "
            f"set:{claim_set.name}"
        )
    points = [
        _make_point(store, claim_set, settings, row, units, found[place - 1] if place else None)
        for place, (row, units) in enumerate(found)
    ]
    return Trend(_adjust_for_several(points))


def _choose_runs(store: Store, claim_set: ClaimSetRow, runs: Sequence[RunId]) -> list[RunRow]:
    if runs:
        return [store.runs.row(each) for each in sorted(set(runs))]
    inside = store.claim_sets.list_conversations(claim_set.id)
    return [
        row
        for row in sorted(store.runs.rows(), key=lambda row: row.id)
        if row.state is RunState.DONE
        and row.archived_at is None
        and not inside.isdisjoint(store.runs.list_conversations(row.id))
    ]


def _make_point(
    store: Store,
    claim_set: ClaimSetRow,
    settings: ReportSettings,
    row: RunRow,
    units: PreparedUnits,
    before: tuple[RunRow, PreparedUnits] | None,
) -> TrendPoint:
    report = report_claims(units.compared, units.recoded_rule)
    design, change, is_alike = units.readings.design, None, False
    if before is not None:
        change = _compare_runs(store, settings, before, (row, units))
        weights = store.claim_sets.weigh_labels(claim_set.id, row.spec.rule)
        both = design.follows_draw and before[1].readings.design.follows_draw
        is_alike = both and len(set(weights.values())) > 1
    weighted = _weigh_drawn(store, claim_set, row, units)
    if weighted is None:
        known = estimate_fair_units(count_labelled_strata(units.compared, units.recoded_rule))
        # A report speaks of what the run judged, this of the set.
        score = widen_to_unknown_units(report.rate.corrected_this_run, known, design.unjudged)
        accuracy, kappa, recall = report.percent, report.cohen_kappa, report.strict.recall
    else:
        accuracy, kappa, recall = weighted
        score = _estimate_set_score(claim_set, units)
    return TrendPoint(
        run=row.id,
        made_at=row.created_at,
        metric=row.spec.metric,
        judge=row.spec.judge_title,
        served_models=store.calls.list_served_models(row.id),
        judge_fingerprint=row.spec.judge_fingerprint,
        judge_parameters=row.spec.profile.describe(),
        prompts=row.spec.prompt_digest,
        claims_from=row.spec.claims_from,
        window_size=split_metric_options(row.spec.options)[0],
        accuracy=accuracy,
        kappa=kappa,
        recall_no=recall,
        score=score,
        compared=report.agreement.n,
        unjudged=design.unjudged,
        beyond=design.beyond,
        accuracy_bounds=_bound_accuracy(store, claim_set, row, units, report.percent.value),
        change=change if change is not None and change.n_common else None,
        counts_alike=design.follows_draw and weighted is None,
        change_counts_alike=is_alike,
    )


def _compare_runs(
    store: Store,
    settings: ReportSettings,
    before: tuple[RunRow, PreparedUnits],
    now: tuple[RunRow, PreparedUnits],
) -> ComparisonReport:
    """Compare a run with the one before, with the weights of the first that has them."""
    (earlier, its_units), (row, units) = before, now
    if its_units.readings.design.follows_draw and not units.readings.design.follows_draw:
        paired = read_comparable_claims(store, row, earlier, settings, None)
        return compare_prepared(
            units, row.spec.judge_title, make_other_judge(earlier, paired.claims)
        ).swap_judges()
    paired = read_comparable_claims(store, earlier, row, settings, None)
    return compare_prepared(
        its_units, earlier.spec.judge_title, make_other_judge(row, paired.claims)
    )


def _weigh_drawn(
    store: Store, claim_set: ClaimSetRow, row: RunRow, units: PreparedUnits
) -> tuple[Estimate, Estimate, Estimate] | None:
    """Weigh the figures of a run that judged all labelled claims because they were drawn.

    What it says of the other claims is not known, and what it says of these stands for them.

    Returns:
        Accuracy, kappa and recall; None where the run judged other claims too, or not all of
        these, and where whole conversations were drawn, whose claims weigh the same.
    """
    compared = units.compared
    if not units.readings.design.follows_draw:
        return None
    if claim_set.design is SamplingDesign.CONVERSATIONS:
        return None
    weights = store.claim_sets.weigh_labels(claim_set.id, row.spec.rule)
    if not weights.keys() <= {compared.all.rows[place].claim for place in compared.places.tolist()}:
        return None
    return estimate_weighted(compared, weights)


def _estimate_set_score(claim_set: ClaimSetRow, units: PreparedUnits) -> Estimate:
    """Estimate the share of the set that passes, from its labels alone."""
    passing = units.recoded_rule.passing
    said = [
        each
        for each in units.compared.all.rows
        if each.position is not None and not each.audit and each.state is LabelState.LABELLED
    ]
    names = units.compared.labels.names
    strata = []
    for stratum in claim_set.strata:
        words = [each.human for each in said if each.stratum in (stratum.name, None)]
        strata.append(
            LabelledStratum(
                stratum.population,
                sum(word in names for word in words),
                sum(word in passing for word in words),
                words.count(NOT_A_CLAIM),
            )
        )
    groups = len({each.group for each in said})
    return widen_run_rate(estimate_run_rate(strata, clusters=groups), strata)


def _bound_accuracy(
    store: Store,
    claim_set: ClaimSetRow,
    row: RunRow,
    units: PreparedUnits,
    accuracy: float | None,
) -> tuple[float, float] | None:
    """Bound accuracy by what the run did not judge of the labelled claims."""
    weights = store.claim_sets.weigh_labels(claim_set.id, row.spec.rule)
    places, claims = units.compared.places, units.compared.all
    weight = np.array([weights.get(claims.rows[place].claim, 0.0) for place in places.tolist()])
    judged, whole = float(weight.sum()), sum(weights.values())
    if accuracy is None or not judged or judged >= whole * (1 - 1e-9):
        return None
    if units.readings.design.follows_draw:
        # The figure counts claims alike; bounds are of the set, whose claims do not.
        accuracy = float(weight[claims.human[places] == claims.judge[places]].sum()) / judged
    share = judged / whole
    return accuracy * share, accuracy * share + 1 - share


def _adjust_for_several(points: Sequence[TrendPoint]) -> tuple[TrendPoint, ...]:
    """Adjust the p values of all changes for being several."""
    known = [each.change.signflip_p for each in points if each.change is not None]
    adjusted = iter(adjust_by_holm([each for each in known if each is not None]))
    return tuple(
        each
        if each.change is None
        else replace(
            each,
            change=replace(
                each.change,
                comparisons_made=len(known),
                holm_p=None if each.change.signflip_p is None else next(adjusted),
            ),
        )
        for each in points
    )
