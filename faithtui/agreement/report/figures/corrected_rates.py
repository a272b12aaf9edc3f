"""The share that passes: by the judge, by labels, and corrected from labels by their design.

A corrected rate is withheld where the labelled units are neither all nor a random sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    DesignKind,
    LabelDesign,
)
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.annotator_error import (
    AnnotatorError,
    decide_passes_and_annotator_error,
    merge_rates_of_failing_and_passing_ties,
)
from faithtui.agreement.report.model import (
    Bounds,
    PassRate,
    RateEstimator,
)
from faithtui.agreement.statistics.figures import estimate_share_of_counts
from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.agreement.statistics.matrices import (
    Flags,
    Ints,
)
from faithtui.agreement.statistics.pass_rates import (
    GroupedStrata,
    LabelledStratum,
    compute_worst_case_bounds,
    estimate_fair_claim_count,
    estimate_future_rate,
    estimate_run_rate,
    estimate_run_rate_clustered,
    merge_unlabelled_strata,
    widen_interval_for_unknown_units,
)
from faithtui.agreement.statistics.posterior import (
    widen_clustered_run_rate,
    widen_future_rate,
    widen_run_rate,
)
from faithtui.domain.estimates import Estimate, make_withheld_estimate
from faithtui.domain.scores import ScoringRule
from faithtui.domain.withheld_reasons import WithheldReason


@dataclass(frozen=True, slots=True, eq=False)
class PassColumns:
    """Units of a run in columns."""

    groups: Ints
    """Number of each unit's group, from 0."""
    group_count: int
    strata: Ints
    """Place of each unit's stratum; of a sample by strata -1 is outside of its frame, else strata
    are the judge's labels and -1 is none."""
    judge: Ints
    """1: passes by the judge; 0: does not; -1: no label."""
    human: Ints
    """1: passes; 0: does not; -1: no human label that counts, or none that figures rest on."""
    is_unfair: Flags | None = None
    """Whether annotators label it `x` and figures rest on that; None: none are."""
    conversations: tuple[Ints, int] | None = None
    """Number of each unit's conversation, from 0, and how many there are; None: each is a group."""
    error: AnnotatorError | None = None
    """What is in doubt as annotators differ; None where no two labelled a unit."""
    population: Ints | None = None
    """Units that the drawn ones stand for where these are all that is here, by stratum and bundle,
    see `ComparedClaims.population_counts`; None: the units are all there are."""
    population_passes: Ints | None = None
    """Of these, units that pass and units that have a verdict of the judge, by bundle; shape (2,
    bundles)."""


def make_claim_pass_columns(rule: ScoringRule, compared: ComparedClaims) -> PassColumns:
    """Say of all claims what passes."""
    names, claims = compared.labels.names, compared.all
    passes = np.array([*(name in rule.passing for name in names), -1], np.int64)
    by_design = compared.design.kind is DesignKind.STRATIFIED
    human: Ints = passes[claims.human_labels]
    human = np.where(compared.may_be_in_figures, human, -1)
    human, error = decide_passes_and_annotator_error(compared, rule.passing, human)
    strata = compared.stratum_place_of_claims if by_design else claims.judge_labels
    counts = compared.population_counts
    population: Ints | None = None
    population_passes: Ints | None = None
    if compared.design.follows_draw and compared.design.strata:
        # What the judge says of the rest is not known, so that only the drawing has strata.
        drawn_from = [each.population for each in compared.design.strata]
        strata = compared.stratum_place_of_claims if by_design else np.zeros(len(claims), np.int64)
        unused = 0 if by_design else len(names) + 1 - len(drawn_from)
        population = np.array([*drawn_from, *[0] * unused], np.int64)[:, None]
    elif counts is not None:
        # By strata of the sample, else by verdict.
        population = counts.sum(axis=1) if by_design else counts[0]
        by_verdict = counts.sum(axis=0)[:-1]
        population_passes = np.stack(
            [
                by_verdict[[name in rule.passing for name in names]].sum(axis=0),
                by_verdict.sum(axis=0),
            ]
        )
    return PassColumns(
        groups=claims.group_numbers,
        group_count=claims.group_count,
        strata=strata,
        judge=np.where(claims.is_fair, passes[claims.judge_labels], -1),
        human=human,
        is_unfair=~claims.is_fair & compared.may_be_in_figures,
        conversations=(claims.conversation_numbers, claims.conversation_count),
        error=error,
        population=population,
        population_passes=population_passes,
    )


def estimate_drawable_pass_rate(compared: ComparedClaims, rule: ScoringRule) -> Estimate:
    """Estimate the share that passes of all that could be drawn, from labels alone.

    Args:
        compared: Claims with the weights of the drawing, of a run that judged no others: see
            `ComparedClaims.claims_weighted_for_comparison_with_other_judge`.
        rule: Which labels pass.
    """
    return estimate_pass_rate(
        make_claim_pass_columns(rule, compared),
        # Further claims of the run are none of those that could be drawn.
        replace(compared.design, beyond=0),
        compared.labels.names,
        compared.settings.level,
    ).corrected_this_run


def count_labelled_units_by_stratum(
    compared: ComparedClaims, rule: ScoringRule
) -> tuple[tuple[LabelledStratum, ...], npt.NDArray[np.bool_]]:
    """Count what is labelled of each stratum of the sample, in the order of its design.

    Returns:
        The strata, and whether a group has a labelled unit of each, shape (strata, groups).
    """
    units = make_claim_pass_columns(rule, compared)
    counts = _count_units_labels_and_passes(units, compared.design, compared.labels.names)
    return _sum_strata_over_groups(counts), counts[1] > 0


def estimate_pass_rate(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share of units that pass, half of each tie between annotators.

    Units of the run that could not be drawn, as a judge has that words its claims itself, may all
    pass or all fail: what it words otherwise need not be like the rest.

    Args:
        units: All of the run that could be drawn.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    found = _estimate_pass_rate_of_drawable_units(units, design, labels, level)
    if not design.beyond or found.corrected_this_run.value is None:
        return found
    known = estimate_fair_claim_count(
        _count_passes_by_stratum(units, design, labels).totals_by_stratum
    )
    this_run, future = (
        widen_interval_for_unknown_units(each, known, design.beyond)
        for each in (found.corrected_this_run, found.corrected_future)
    )
    return replace(
        found,
        corrected_this_run=this_run,
        corrected_future=future,
        assumptions=(*found.assumptions, "what could not be drawn may all pass, or all fail"),
    )


def _estimate_pass_rate_of_drawable_units(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share that passes of the units that could be drawn, see `estimate_pass_rate`."""
    error = units.error
    if error is None or design.kind not in (*RANDOM_DESIGNS, DesignKind.CENSUS):
        return _estimate_pass_rate_of_labels_as_given(units, design, labels, level)
    failing, passing = (
        _estimate_pass_rate_of_labels_as_given(
            _set_ties_to_pass_or_fail(units, error.is_tied, side), design, labels, level
        )
        for side in (error.worst, error.best)
    )
    is_known = (units.human >= 0) | error.is_tied
    is_agreed = (units.human >= 0) & ~error.is_single
    doubt = 0.0
    for wrong, some in (
        (error.error, error.is_single),
        (error.both_wrong_rate_if_agreed, is_agreed),
    ):
        share = replace(units, human=np.where(is_known, some, -1))
        found = _estimate_pass_rate_of_labels_as_given(
            share, design, labels, level
        ).corrected_this_run
        doubt += wrong * (found.value or 0.0)
    return replace(
        passing,
        label_mean=merge_rates_of_failing_and_passing_ties(
            failing.label_mean, passing.label_mean, 0.0
        ),
        corrected_this_run=merge_rates_of_failing_and_passing_ties(
            failing.corrected_this_run, passing.corrected_this_run, doubt
        ),
        corrected_future=merge_rates_of_failing_and_passing_ties(
            failing.corrected_future, passing.corrected_future, doubt
        ),
        assumptions=tuple(
            "annotators err as often as they differ on units that several labelled"
            if each == _TRUE_LABELS
            else each
            for each in passing.assumptions
        ),
    )


def _set_ties_to_pass_or_fail(units: PassColumns, is_tied: Flags, side: Ints) -> PassColumns:
    """Take tied units for what they may be; -1 is `x`."""
    is_unfair = np.zeros(len(units.human), np.bool_) if units.is_unfair is None else units.is_unfair
    return replace(
        units,
        human=np.where(is_tied, side, units.human),
        is_unfair=is_unfair | (is_tied & (side < 0)),
    )


def _estimate_pass_rate_of_labels_as_given(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share of units that pass, of labels that are taken as they are.

    Args:
        units: All of the run.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    kind = design.kind
    strata = _count_passes_by_stratum(units, design, labels)
    judge = _estimate_judge_pass_rate(units, design, level)
    labelled = _widen_to_wilson(_estimate_known_pass_share(units, units.human, level), level)
    if kind in (DesignKind.NONE, DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        none = make_withheld_estimate(
            WithheldReason.DESIGN_NOT_RANDOM, labelled.n, labelled.clusters
        )
        total = strata.totals_by_stratum
        # Where nothing is left unlabelled they would be the rate that is withheld.
        nothing = all(each.reviewed_count == each.population for each in total)
        nothing = nothing or kind is DesignKind.NONE
        bounds = None if nothing else compute_worst_case_bounds(total)
        return PassRate(
            judge,
            labelled,
            _replace_by_undefined_if_unlabelled(labelled, none),
            _replace_by_undefined_if_unlabelled(labelled, none),
            RateEstimator.NONE if bounds is None else RateEstimator.BOUNDS,
            None if bounds is None else Bounds(*bounds),
            (),
        )
    if kind is not DesignKind.STRATIFIED:
        strata = merge_unlabelled_strata(strata)
    if kind is DesignKind.CLUSTER:
        # Conversations were drawn, of which a group may have several.
        conversations = merge_unlabelled_strata(
            _count_passes_by_stratum(_regroup_by_conversation(units), design, labels)
        )
        drawn_from = None if units.population is None else design.conversations
        this_run = widen_clustered_run_rate(
            estimate_run_rate_clustered(conversations, level, drawn_from=drawn_from),
            conversations,
            level,
            drawn_from=drawn_from,
        )
    else:
        total = strata.totals_by_stratum
        this_run = widen_run_rate(
            estimate_run_rate(total, clusters=labelled.clusters, level=level), total, level
        )
    future = widen_future_rate(estimate_future_rate(strata, level), this_run, strata, level)
    if design.population is not None:
        # Bundles of the population are no groups that labels are of.
        future = replace(future, clusters=labelled.clusters)
    post = kind in (DesignKind.SIMPLE, DesignKind.CLUSTER)
    return PassRate(
        judge,
        _widen_to_forecast(labelled, future) if post else labelled,
        this_run,
        future,
        RateEstimator.POST_STRATIFIED if post else RateEstimator.STRATIFIED,
        None,
        (*_ASSUMPTIONS[kind], *_COMMON_ASSUMPTIONS),
    )


_ASSUMPTIONS = {
    DesignKind.CENSUS: ("every unit was labelled",),
    DesignKind.SIMPLE: ("units were drawn at random, and labelled in the drawn order",),
    DesignKind.STRATIFIED: (
        "units were drawn at random within each stratum, and labelled in the drawn order",
    ),
    DesignKind.CLUSTER: ("whole conversations were drawn at random",),
}
_TRUE_LABELS = "human labels are the truth"
_COMMON_ASSUMPTIONS = (
    "what was skipped is like what was labelled",
    _TRUE_LABELS,
    "groups are a random sample of future ones (future interval only)",
)


def _replace_by_undefined_if_unlabelled(labelled: Estimate, otherwise: Estimate) -> Estimate:
    """Say that nothing is labelled, where that is why."""
    return otherwise if labelled.n else labelled


def _estimate_known_pass_share(units: PassColumns, passes: Ints, level: float) -> Estimate:
    """Estimate the share that passes among the units of which it is known."""
    inside = passes >= 0
    groups = units.groups[inside]
    sizes = np.bincount(groups, minlength=units.group_count)
    hits = np.bincount(groups[passes[inside] == 1], minlength=units.group_count)
    return estimate_share_of_counts(hits, sizes, level)


def _widen_to_wilson(found: Estimate, level: float) -> Estimate:
    """Widen the interval of a share to Wilson's of as many units.

    Groups that happen to be alike make the jackknife's narrower than that of units drawn one by
    one: 22 of 27 had [.719, .883].

    Source:
        Wilson 1927, J Am Stat Assoc 22:209-212.
    """
    if found.value is None or found.ci_low is None or found.ci_high is None:
        return found
    low, high = wilson_interval(found.value, found.n, level)
    return replace(found, ci_low=min(found.ci_low, low), ci_high=max(found.ci_high, high))


def _widen_to_forecast(found: Estimate, future: Estimate) -> Estimate:
    """Widen the interval of the share among labelled units of a sample without strata of its own.

    It says the same of units to come as the forecast. Without this it held the share to expect in
    0.927 of 300 simulated samples of 11 conversations, and in 0.933 of samples of 300 claims.
    """
    if found.ci_low is None or found.ci_high is None:
        return found
    if future.ci_low is None or future.ci_high is None:
        return found
    return replace(
        found,
        ci_low=min(found.ci_low, future.ci_low),
        ci_high=max(found.ci_high, future.ci_high),
    )


def _estimate_judge_pass_rate(units: PassColumns, design: LabelDesign, level: float) -> Estimate:
    """Estimate the share that passes by the judge; of a population, of all of it."""
    if units.population_passes is None or design.population is None:
        return _estimate_known_pass_share(units, units.judge, level)
    hits, sizes = units.population_passes
    found = estimate_share_of_counts(hits, sizes, level)
    population = design.population
    groups = population.judged if population.groups is None else population.groups
    return replace(found, clusters=groups)


def _regroup_by_conversation(units: PassColumns) -> PassColumns:
    if units.conversations is None:
        return units
    groups, count = units.conversations
    return replace(units, groups=groups, group_count=count)


def _count_passes_by_stratum(
    units: PassColumns, design: LabelDesign, labels: Sequence[str]
) -> GroupedStrata:
    """Count units, labels and passes by group and stratum, see `_count_units_labels_and_passes`."""
    return GroupedStrata.from_counts(_count_units_labels_and_passes(units, design, labels))


def _sum_strata_over_groups(counts: Ints) -> tuple[LabelledStratum, ...]:
    """Put the groups of `_count_units_labels_and_passes` together, stratum by stratum."""
    return tuple(LabelledStratum(*each) for each in counts.sum(axis=2).T.tolist())


def _count_units_labels_and_passes(
    units: PassColumns, design: LabelDesign, labels: Sequence[str]
) -> Ints:
    """Count units, labels and passes by group and stratum.

    Strata are those of the sample; where it had none, the judge's verdicts, none being the last.

    Returns:
        Population, labelled, faithful and unfair; shape (4, strata, groups).
    """
    by_design = design.kind is DesignKind.STRATIFIED
    size = len(design.strata) if by_design else len(labels) + 1
    strata, human = units.strata, units.human
    if not by_design:
        strata = np.where(strata < 0, size - 1, strata)
    is_known = human >= 0
    inside = strata >= 0
    pairs = strata * np.int64(units.group_count) + units.groups
    is_unfair = np.zeros(len(human), np.bool_) if units.is_unfair is None else units.is_unfair
    counts = [
        np.bincount(pairs[some], minlength=size * units.group_count)
        for some in (
            inside,
            inside & is_known,
            inside & is_known & (human == 1),
            inside & is_unfair,
        )
    ]
    found = np.array(counts).reshape(4, size, units.group_count)
    if units.population is not None:
        # Drawn units are among those of the bundles already.
        found[0] = 0
        rest = np.zeros((4, *units.population.shape), np.int64)
        rest[0] = units.population
        found = np.concatenate([found, rest], axis=2)
    return found
