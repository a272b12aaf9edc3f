"""What a report says of a population: how much there is, and the share that passes by part."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from faithtui.agreement.population import Population
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.corrected_rates import count_labelled_units_by_stratum
from faithtui.agreement.report.model import Bounds, PopulationReport, RateSlice
from faithtui.agreement.report.slices import FEWEST_UNITS
from faithtui.agreement.statistics.pass_rates import estimate_run_rate
from faithtui.agreement.statistics.posterior import widen_run_rate
from faithtui.domain.estimates import Estimate
from faithtui.domain.scores import ScoringRule


def compute_population_report(
    compared: ComparedClaims, rule: ScoringRule, corrected: Estimate
) -> PopulationReport | None:
    """Say what the figures are about, where only drawn claims are in the store.

    Args:
        compared: What the figures of the report are about.
        rule: The run's rule, in the words of `compared`.
        corrected: The share that passes, as the report gives it.

    Returns:
        None where the run is what labelled claims were drawn from.
    """
    population = compared.design.population
    if population is None:
        return None
    slices, few = _estimate_pass_rate_by_stratum_value(compared, rule, population)
    bounds = None
    if population.failed_conversation_count and corrected.value is not None:
        low = corrected.value if corrected.ci_low is None else corrected.ci_low
        high = corrected.value if corrected.ci_high is None else corrected.ci_high
        bounds = Bounds(
            population.bound_share_if_failed_judged(low)[0],
            population.bound_share_if_failed_judged(high)[1],
        )
    return PopulationReport(
        results=population.results,
        conversations=population.conversation_count,
        judged=population.judged,
        claims=population.claim_count,
        states=population.states,
        failed_share=population.failed_share,
        open_shards=population.open_shards,
        mean_scores=population.scores,
        bounds=bounds,
        slices=slices,
        few=few,
    )


def _estimate_pass_rate_by_stratum_value(
    compared: ComparedClaims, rule: ScoringRule, population: Population
) -> tuple[tuple[RateSlice, ...], int]:
    """Estimate the share that passes by each value of what strata are made of.

    Strata lie in one part each, so that a part is a population of fewer strata.

    Returns:
        Parts with labels enough, and how many have fewer.
    """
    if not population.stratified_by or not compared.design.strata:
        return (), 0
    labels = compared.labels.names
    strata, in_groups = count_labelled_units_by_stratum(compared, rule)
    cells = population.count_claims_by_stratum_and_label(labels).sum(axis=2)
    level = compared.settings.level
    found, few = [], 0
    for place, key in enumerate(population.stratified_by):
        for value in sorted({each.values[place] for each in population.strata}):
            inside = [n for n, each in enumerate(population.strata) if each.values[place] == value]
            part = [strata[n] for n in inside]
            if sum(each.labelled for each in part) < FEWEST_UNITS:
                few += 1
                continue
            corrected = widen_run_rate(estimate_run_rate(part, level=level), part, level)
            corrected = replace(corrected, clusters=int(in_groups[inside].any(axis=0).sum()))
            by_label = cells[inside].sum(axis=0)[:-1]
            found.append(
                RateSlice(
                    key.removeprefix("metadata."),
                    value,
                    sum(each.population for each in part),
                    _compute_passing_share(by_label, labels, rule.passing),
                    corrected,
                )
            )
    return tuple(found), few


def _compute_passing_share(
    by_label: np.ndarray, labels: Collection[str], passing: Collection[str]
) -> float | None:
    total = int(by_label.sum())
    is_passing = [name in passing for name in labels]
    return float(by_label[is_passing].sum() / total) if total else None
