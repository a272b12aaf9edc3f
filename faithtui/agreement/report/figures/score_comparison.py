"""Scores and confidences of the judge, held against human labels."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    DesignKind,
    LabelDesign,
    ScoredUnit,
    UnitScores,
    decide_answer_by_majority,
)
from faithtui.agreement.report.claim_columns import ClaimColumns, ComparedClaims
from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.model import (
    Bounds,
    CalibrationReport,
    Detection,
    JudgeConsistency,
    ReliabilityBin,
    ScoreReport,
    SuggestedThreshold,
    ThresholdReport,
    UnitScoreReport,
)
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.statistics.calibration import FEWEST_FOR_ECE, compute_calibration
from faithtui.agreement.statistics.figures import estimate_share_of_counts
from faithtui.agreement.statistics.matrices import count_confusion_by_group
from faithtui.agreement.statistics.prediction_powered import ppi_mean_by_conversation
from faithtui.agreement.statistics.ranks import (
    estimate_auroc,
    estimate_kendall,
    estimate_spearman,
)
from faithtui.agreement.statistics.score_differences import (
    IccForm,
    estimate_bias,
    estimate_mae,
    icc,
    limits_of_agreement,
)
from faithtui.agreement.statistics.score_thresholds import (
    ThresholdGoal,
    choose_score_threshold,
    make_threshold_table,
)
from faithtui.domain.estimates import (
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_undefined_estimate,
    make_withheld_estimate,
)
from faithtui.domain.labels.label_sets import Polarity
from faithtui.domain.scores import TOLERANCE, ScoreState, ScoringRule
from faithtui.domain.withheld_reasons import WithheldReason

FEWEST_FOR_THRESHOLD = 10
"""Units with both scores below which no threshold is looked at."""
_ONE_MORE = "\0"
"""Group of the conversation that is added for the ends of an interval; none is called so."""
MOST_CURVE_POINTS = 200
"""Points of a threshold curve."""
_WORDS = ("fails", "passes")


def compare_judge_scores_with_human_scores(
    scores: Sequence[UnitScores],
    rule: ScoringRule,
    design: LabelDesign,
    settings: ReportSettings,
) -> tuple[UnitScoreReport, ...]:
    """Compare scores of windows and of conversations; kinds without any unit are left out."""
    found = []
    for unit in ScoredUnit:
        own = [each for each in scores if each.unit is unit]
        if own:
            found.append(_compare_scores_of_unit_kind(unit, own, rule, design, settings))
    return tuple(found)


def _compare_scores_of_unit_kind(
    unit: ScoredUnit,
    scores: Sequence[UnitScores],
    rule: ScoringRule,
    design: LabelDesign,
    settings: ReportSettings,
) -> UnitScoreReport:
    level = settings.level
    judged = [each for each in scores if each.claims]
    both = [
        (each.group, each.judge, each.human)
        for each in judged
        if each.judge is not None and each.human is not None
    ]
    bar = rule.effective_threshold
    passing = [
        (group, judge, bar is not None and human >= bar - TOLERANCE) for group, judge, human in both
    ]
    pairs = [(judge, human) for _, judge, human in both]
    limits = limits_of_agreement(pairs)
    coefficient = icc([list(pair) for pair in pairs], IccForm.ABSOLUTE)
    no_bar = make_undefined_estimate(WithheldReason.NO_ITEMS, len(both))
    return UnitScoreReport(
        level=unit,
        n=len(both),
        n_partially_labelled=sum(0 < each.labelled < each.claims for each in judged),
        n_vacuous=len(scores) - len(judged),
        judge_mean=_average_or_none(judge for judge, _ in pairs),
        human_mean=_average_or_none(human for _, human in pairs),
        bias=estimate_bias(both, level),
        mae=estimate_mae(both, level),
        limits_of_agreement=None if isinstance(limits, WithheldReason) else Bounds(*limits),
        spearman=estimate_spearman(both, level),
        kendall_tau_b=estimate_kendall(both, level),
        icc_2_1=_make_estimate_without_interval(
            coefficient, len(both), len({group for group, _, _ in both})
        ),
        auroc=no_bar if bar is None else estimate_auroc(passing, level),
        corrected=_estimate_corrected_mean_score(judged, design, level),
        threshold=None
        if bar is None or len(both) < FEWEST_FOR_THRESHOLD
        else _evaluate_score_threshold(passing, bar, settings),
        unscored=sum(
            each.judge is None or (each.labelled == each.claims and each.human is None)
            for each in judged
            if not 0 < each.labelled < each.claims
        ),
    )


def _make_estimate_without_interval(
    value: float | WithheldReason, n: int, clusters: int
) -> Estimate:
    """Make an estimate without an interval."""
    if isinstance(value, WithheldReason):
        return make_undefined_estimate(value, n, clusters)
    return Estimate(value, EstimateStatus.OK, n, clusters)


def _estimate_corrected_mean_score(
    judged: Sequence[UnitScores], design: LabelDesign, level: float
) -> Estimate:
    """Correct the mean score where whole units were chosen at random.

    Whoever leaves out a claim, by skipping it or by a tie, chooses whose score is known; so the
    interval reaches from where all that have no label fail to where they pass, and the value lies
    in the middle. For the lower end one conversation more is taken to score 0, for the upper end 1:
    most scores are near 1, and a sample that holds none of the few low ones varies too little.
    """
    scored = [(each.group, each.human_bounds, each.judge) for each in judged]
    known = [
        (group, bounds, judge)
        for group, bounds, judge in scored
        if bounds is not None and judge is not None
    ]
    others = [
        (group, judge) for group, bounds, judge in scored if bounds is None and judge is not None
    ]
    clusters = len({group for group, *_ in known})
    if design.kind not in (DesignKind.CENSUS, DesignKind.CLUSTER):
        is_sample = design.kind in (DesignKind.SIMPLE, DesignKind.STRATIFIED)
        reason = (
            WithheldReason.NOT_FULLY_LABELLED if is_sample else WithheldReason.DESIGN_NOT_RANDOM
        )
        return make_withheld_estimate(reason, len(known), clusters)

    def estimate_mean(
        choose: Callable[[tuple[float, float]], float], one_more: float | None = None
    ) -> Estimate:
        rows = [(group, choose(bounds), judge) for group, bounds, judge in known]
        if one_more is not None:
            units = round(len(known) / clusters)
            rows += [(_ONE_MORE, one_more, fmean(judge for *_, judge in known))] * units
        return ppi_mean_by_conversation(rows, others, level=level)

    found = estimate_mean(fmean)
    if found.value is None or found.reason is WithheldReason.TOO_FEW_CLUSTERS:
        return found
    estimates = (
        found,
        estimate_mean(min),
        estimate_mean(min, 0.0),
        estimate_mean(max),
        estimate_mean(max, 1.0),
    )
    ends = [
        end
        for each in estimates
        for end in (each.value, each.ci_low, each.ci_high)
        if end is not None
    ]
    # Scores are shares; an interval made for numbers of any size may leave their range.
    value = min(max(found.value, 0.0), 1.0)
    return replace(
        found,
        reason=None,
        value=value,
        ci_low=min(value, max(0.0, min(ends))),
        ci_high=max(value, min(1.0, max(ends))),
        level=level,
        method=EstimateMethod.PPI,
    )


def _evaluate_score_threshold(
    passing: Sequence[tuple[str, float, bool]], bar: float, settings: ReportSettings
) -> ThresholdReport:
    """Look at the threshold in force, and for a better one; positive is failing."""
    failing = [(group, score, not passes) for group, score, passes in passing]
    rows = make_threshold_table((score, bad) for _, score, bad in failing)
    choice = choose_score_threshold(failing, ThresholdGoal())
    chosen = not isinstance(choice, WithheldReason)
    step = max(1, len(rows) // MOST_CURVE_POINTS)
    return ThresholdReport(
        current=bar,
        at_current=_compute_detection(
            ((group, bad, score < bar - TOLERANCE) for group, score, bad in failing), settings
        ),
        suggested=None
        if isinstance(choice, WithheldReason)
        else SuggestedThreshold(
            choice.threshold,
            ThresholdGoal().rule.value,
            choice.chosen_on.value,
            FigureContext(("positive", "negative"), ("positive",), settings).compute_detection(
                choice.table, ("positive",)
            ),
        ),
        curve=tuple(
            (row.threshold, row.recall, row.specificity)
            for row in rows[::step]
            if chosen and isinstance(row.recall, float) and isinstance(row.specificity, float)
        ),
    )


def _compute_detection(
    flags: Iterable[tuple[str, bool, bool]], settings: ReportSettings
) -> Detection:
    """Count (group, fails by human labels, fails by the judge)."""
    context = FigureContext(_WORDS, _WORDS[:1], settings)
    rows = ((group, _WORDS[not bad], _WORDS[not flagged]) for group, bad, flagged in flags)
    return context.compute_detection(count_confusion_by_group(rows, _WORDS), _WORDS[:1])


def compute_calibration_report(compared: ComparedClaims, source: str) -> CalibrationReport | None:
    """Hold the judge's confidence that a claim is supported against human labels.

    In a sample by strata units weigh as in all other figures.

    Args:
        compared: What the figures of the report are about.
        source: Where the confidence comes from.

    Returns:
        None where nothing with a confidence is labelled.
    """
    settings, labels = compared.settings, compared.labels.labels
    stated = compared.all.confidences[compared.places_in_figures]
    weights = compared.figure_context.weigh_units(compared.compared_label_columns)
    known = ~np.isnan(stated) & (weights > 0)
    if not known.any():
        return None
    is_good = np.array([each.polarity is Polarity.GOOD for each in labels], np.bool_)
    places = compared.places_in_figures[known]
    _, groups = np.unique(compared.all.group_numbers[places], return_inverse=True)
    is_weighted = compared.weighted_frame is not None
    found = compute_calibration(
        groups,
        stated[known],
        is_good[compared.all.human_labels[places]],
        settings.level,
        weights=weights[known] if is_weighted else None,
        seed=settings.seed,
    )
    return CalibrationReport(
        source=source,
        n=found.n,
        weighted=is_weighted,
        brier=found.brier,
        brier_skill=None if isinstance(found.skill, WithheldReason) else found.skill,
        ece=None if found.is_error_hidden else found.error,
        ece_noise_floor=None if found.floor is None else found.floor.mean,
        few=found.n < FEWEST_FOR_ECE,
        bins=tuple(
            ReliabilityBin(
                each.low, each.high, each.n, each.mean, each.observed, each.ci_low, each.ci_high
            )
            for each in found.bins
        ),
    )


def count_claims_consistent_across_windows(claims: ClaimColumns, level: float) -> JudgeConsistency:
    """Count claims in several windows, and those with one label in all of them."""
    several = claims.window_counts.flag_values(lambda number: number > 1)
    steady = several & claims.is_same_in_all_windows if several.any() else several
    units, hits = (
        np.bincount(claims.group_numbers[each], minlength=claims.group_count)
        for each in (several, steady)
    )
    return JudgeConsistency(
        repeated=int(several.sum()),
        steady=int(steady.sum()),
        share=estimate_share_of_counts(hits, units, level),
    )


def compare_answer_scores_with_ratings(
    answers: Sequence[AnswerUnit], rule: ScoringRule, level: float
) -> ScoreReport:
    """Compare the judge's scores of answers with the human labels of whole answers."""
    labelled_or_rated = [
        answer for answer in answers if answer.human is not None or answer.rating is not None
    ]
    judged = [answer for answer in labelled_or_rated if answer.claims]
    # Rounded so that means of the same ratings in another order tie.
    scored = [
        (answer, round(answer.score.value, 9))
        for answer in judged
        if answer.score.state is ScoreState.SCORED and answer.score.value is not None
    ]
    rated = [
        (answer.group, score, round(answer.rating, 9))
        for answer, score in scored
        if answer.rating is not None
    ]
    return ScoreReport(
        answers=len(labelled_or_rated),
        n_vacuous=len(labelled_or_rated) - len(judged),
        unscored=len(judged) - len(scored),
        spearman=estimate_spearman(rated, level),
        auroc=estimate_auroc(
            [
                (answer.group, score, passes)
                for answer, score in scored
                if (passes := decide_answer_by_majority(answer, rule.passing, rule.labels))
                is not None
            ],
            level,
        ),
        judge_mean=_average_or_none(score for _, score, _ in rated),
        human_mean=_average_or_none(rating for _, _, rating in rated),
    )


def _average_or_none(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else None
