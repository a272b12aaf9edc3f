"""Judges and versions over one claim set: figures of each run, and tests against the one before."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from faithtui.agreement.gate.certificate import split_window_size_from_options
from faithtui.agreement.report.figures.claims_and_answers import count_unverified_claims
from faithtui.agreement.report.figures.corrected_rates import (
    count_labelled_units_by_stratum,
    estimate_drawable_pass_rate,
)
from faithtui.agreement.report.model import AgreementReport, ComparisonReport
from faithtui.agreement.report.report import PreparedUnits, compute_report_of_prepared_units
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.report.trend_points import (
    Trend,
    TrendPoint,
    choose_trend_warnings,
    count_skipped_claims,
    estimate_accuracy_kappa_and_recall,
)
from faithtui.agreement.statistics.paired_judges import adjust_by_holm
from faithtui.agreement.statistics.pass_rates import (
    estimate_fair_claim_count,
    widen_interval_for_unknown_units,
)
from faithtui.domain.estimates import make_withheld_estimate
from faithtui.domain.ids import RunId
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.review.reports.agreement_report import (
    compare_run_judges,
    describe_judging,
    read_weighted_run_units,
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
            found.append((row, read_weighted_run_units(store, row, settings)))
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
        _make_point(store, claim_set, row, units, found[place - 1] if place else None)
        for place, (row, units) in enumerate(found)
    ]
    return Trend(_adjust_p_values(points))


def _choose_runs(store: Store, claim_set: ClaimSetRow, runs: Sequence[RunId]) -> list[RunRow]:
    if runs:
        return [store.runs.read_run(each) for each in sorted(set(runs))]
    inside = store.claim_sets.list_conversation_ids(claim_set.id)
    return [
        row
        for row in sorted(store.runs.list_runs(), key=lambda row: row.id)
        if row.state is RunState.DONE
        and row.archived_at is None
        and not inside.isdisjoint(store.run_contents.list_conversation_ids(row.id))
    ]


def _make_point(
    store: Store,
    claim_set: ClaimSetRow,
    row: RunRow,
    units: PreparedUnits,
    before: tuple[RunRow, PreparedUnits] | None,
) -> TrendPoint:
    whole = compute_report_of_prepared_units(units, judged=describe_judging(row), with_parts=False)
    report, as_drawn = whole.claims, _report_as_drawn(row, units) or whole
    design, comparable = (
        units.readings.design,
        units.compared.claims_weighted_for_comparison_with_other_judge,
    )
    if design.is_order_broken or (design.follows_draw and design.as_drawn is None):
        n, groups = report.agreement.n, report.agreement.clusters
        accuracy = kappa = recall = score = make_withheld_estimate(
            WithheldReason.DESIGN_NOT_RANDOM, n, groups
        )
    elif not design.follows_draw:
        known = estimate_fair_claim_count(
            count_labelled_units_by_stratum(units.compared, units.recoded_rule)[0]
        )
        # A report speaks of what the run judged, this of the set.
        score = widen_interval_for_unknown_units(
            report.rate.corrected_this_run, known, design.unjudged
        )
        accuracy, kappa, recall = report.percent_agreement, report.cohen_kappa, report.strict.recall
    else:
        accuracy, kappa, recall = estimate_accuracy_kappa_and_recall(comparable)
        score = estimate_drawable_pass_rate(comparable, units.recoded_rule)
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
        window_size=split_window_size_from_options(row.spec.options)[0],
        accuracy=accuracy,
        kappa=kappa,
        recall_no=recall,
        score=score,
        compared=report.agreement.n,
        unjudged=design.unjudged,
        beyond=design.beyond,
        accuracy_bounds=None
        if design.is_order_broken
        else _compute_accuracy_bounds_for_unjudged(store, claim_set, row, units, accuracy.value),
        change=None if before is None else _compare_with_run_before(store, before, row),
        unverified=count_unverified_claims(comparable),
        is_order_broken=design.is_order_broken,
        unlabelled_strata=(design.as_drawn or design).unlabelled_strata,
        judged_some_drawn=design.follows_draw
        and design.as_drawn is None
        and not design.is_order_broken,
        skipped=count_skipped_claims(as_drawn),
        not_a_claim=as_drawn.claims.coverage.not_a_claim_in_figures,
        warnings=choose_trend_warnings(as_drawn),
    )


def _report_as_drawn(row: RunRow, units: PreparedUnits) -> AgreementReport | None:
    """Report a run of the drawn claims alone by the design of the drawing; None: of other runs."""
    drawing = units.readings.design.as_drawn
    if drawing is None:
        return None
    readings, labels = replace(units.readings, design=drawing), find_metric(row.spec.metric).spec
    drawn = PreparedUnits(readings, labels.labels, row.spec.rule, units.compared.settings)
    return compute_report_of_prepared_units(drawn, judged=describe_judging(row), with_parts=False)


def _compare_with_run_before(
    store: Store, before: tuple[RunRow, PreparedUnits], row: RunRow
) -> ComparisonReport | None:
    """Compare a run with the one before; None where the set says nothing of their claims."""
    found = compare_run_judges(store, before[0], row, before[1])
    is_order_broken = found.weighed.readings.design.is_order_broken
    if not found.report.n_common or not found.has_weights or is_order_broken:
        return None
    return found.report


def _compute_accuracy_bounds_for_unjudged(
    store: Store,
    claim_set: ClaimSetRow,
    row: RunRow,
    units: PreparedUnits,
    accuracy: float | None,
) -> tuple[float, float] | None:
    """Bound accuracy by what the run did not judge of the labelled claims."""
    weights = store.claim_sets.compute_label_weights(claim_set.id, row.spec.rule)
    places, claims = units.compared.places_in_figures, units.compared.all
    weight = np.array([weights.get(claims.rows[place].claim, 0.0) for place in places.tolist()])
    judged, whole = float(weight.sum()), sum(weights.values())
    if not judged or judged >= whole * (1 - 1e-9):
        return None
    if accuracy is None:
        accuracy = (
            float(weight[claims.human_labels[places] == claims.judge_labels[places]].sum()) / judged
        )
    share = judged / whole
    return accuracy * share, accuracy * share + 1 - share


def _adjust_p_values(points: Sequence[TrendPoint]) -> tuple[TrendPoint, ...]:
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
