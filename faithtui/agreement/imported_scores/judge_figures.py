"""How far scores of automatic judges that came with the data agree with human labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.imported_scores.annotator_figures import restore_withheld_value
from faithtui.agreement.imported_scores.label_scales import Pooling, ScaleConvention, ScaleView
from faithtui.agreement.imported_scores.rated_units import RatedUnit
from faithtui.agreement.statistics.detection import BALANCED_ACCURACY
from faithtui.agreement.statistics.figures import estimate_figure
from faithtui.agreement.statistics.matrices import count_confusion_by_group
from faithtui.agreement.statistics.ranks import auroc, estimate_auroc, estimate_spearman, spearman
from faithtui.agreement.statistics.score_thresholds import (
    ChosenOn,
    ThresholdGoal,
    choose_score_threshold,
    make_threshold_table,
    name_positive_if_unfaithful,
)
from faithtui.domain.estimates import LEVEL, Estimate, Point, make_undefined_estimate
from faithtui.domain.withheld_reasons import WithheldReason

PASSING_SCORE = 0.5
"""A score passes from here on; scores that are labels are 0 or 1, so they are read as they are."""

_FLAGGED = ("positive", "negative")


@dataclass(frozen=True, slots=True)
class ScoreCorrelation:
    """A judge's scores against the mean of human labels under one reading."""

    view: ScaleView
    spearman: Estimate


@dataclass(frozen=True, slots=True)
class ScoreDetection:
    """A judge's scores against what annotators pass and fail."""

    pooling: Pooling
    passed: int
    """Units that annotators pass."""
    failed: int
    auroc: Estimate
    """Probability that a unit annotators pass scores above one they fail; ties count half."""
    balanced_accuracy: Estimate
    """Mean of recall and specificity when scores from 0.5 on pass."""
    best_threshold: Point
    """The threshold with the highest balanced accuracy on these labels; scores below it fail.
    `NO_VARIATION` for scores that are labels: there is nothing to choose."""
    best: Point
    """Balanced accuracy there, on the labels it was chosen on: too good to be true."""
    cross_validated: Estimate
    """Balanced accuracy of thresholds chosen in this way on other groups."""


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """All that can be said of one judge's scores."""

    judge: str
    n: int
    """Units with a label and a score."""
    groups: int
    without_score: int
    """Units with a label that the judge did not score."""
    own_reference: int
    """Units left out because the score compares the answer with itself."""
    is_label: bool
    """Whether all its scores are 0 or 1."""
    lowest: float | None
    highest: float | None
    correlations: tuple[ScoreCorrelation, ...]
    detections: tuple[ScoreDetection, ...]


def compute_judge_figures(
    units: Sequence[RatedUnit], judge: str, rule: ScaleConvention, level: float = LEVEL
) -> JudgeFigures:
    """Compare a judge's scores with human labels.

    Args:
        units: Units with human labels.
        judge: Whose scores; higher is better.
        rule: Convention of the labels' scale.
        level: Confidence level in (0, 1) of the intervals, which leave out whole groups.
    """
    scored = [unit for unit in units if judge in unit.scores]
    scores = {unit.scores[judge] for unit in scored}
    own = sum(judge in unit.own_reference for unit in units)
    is_label = bool(scores) and scores <= {0.0, 1.0}
    return JudgeFigures(
        judge=judge,
        n=len(scored),
        groups=len({unit.group for unit in scored}),
        without_score=len(units) - len(scored) - own,
        own_reference=own,
        is_label=is_label,
        lowest=min(scores, default=None),
        highest=max(scores, default=None),
        correlations=tuple(_compute_correlation(scored, judge, view, level) for view in rule.views),
        detections=tuple(
            _compute_detection(scored, judge, rule, pooling, level, is_label=is_label)
            for pooling in Pooling
        ),
    )


def _compute_correlation(
    units: Sequence[RatedUnit], judge: str, view: ScaleView, level: float
) -> ScoreCorrelation:
    readings = [
        (
            unit.group,
            unit.scores[judge],
            view.average_category_positions(tuple(unit.levels.values())),
        )
        for unit in units
    ]
    value = spearman([(score, mean) for _, score, mean in readings])
    return ScoreCorrelation(view, restore_withheld_value(estimate_spearman(readings, level), value))


def _compute_detection(
    units: Sequence[RatedUnit],
    judge: str,
    rule: ScaleConvention,
    pooling: Pooling,
    level: float,
    *,
    is_label: bool,
) -> ScoreDetection:
    readings = [
        (
            unit.group,
            unit.scores[judge],
            rule.do_people_pass_unit(tuple(unit.levels.values()), pooling),
        )
        for unit in units
    ]
    passed = sum(passes for _, _, passes in readings)
    at_half = count_confusion_by_group(
        (
            (
                group,
                name_positive_if_unfaithful(not passes),
                name_positive_if_unfaithful(score < PASSING_SCORE),
            )
            for group, score, passes in readings
        ),
        _FLAGGED,
    )
    area = auroc([(score, passes) for _, score, passes in readings])
    best_threshold: Point = WithheldReason.NO_VARIATION
    best: Point = WithheldReason.NO_VARIATION
    validated = make_undefined_estimate(WithheldReason.NO_VARIATION, len(readings))
    if not is_label:
        best_threshold, best, validated = _evaluate_best_threshold(readings, level)
    return ScoreDetection(
        pooling=pooling,
        passed=passed,
        failed=len(readings) - passed,
        auroc=restore_withheld_value(estimate_auroc(readings, level), area),
        balanced_accuracy=estimate_figure(BALANCED_ACCURACY, at_half, level),
        best_threshold=best_threshold,
        best=best,
        cross_validated=validated,
    )


def _evaluate_best_threshold(
    readings: Sequence[tuple[str, float, bool]], level: float
) -> tuple[Point, Point, Estimate]:
    """Choose a threshold: itself, its balanced accuracy on the same labels and on other groups."""
    unfaithful = [(group, score, not passes) for group, score, passes in readings]
    choice = choose_score_threshold(unfaithful, ThresholdGoal())
    if isinstance(choice, WithheldReason):
        return choice, choice, make_undefined_estimate(choice, len(readings))
    rows = make_threshold_table((score, bad) for _, score, bad in unfaithful)
    row = next(row for row in rows if row.threshold == choice.threshold)
    same = BALANCED_ACCURACY.compute(
        ConfusionMatrix(_FLAGGED, ((row.tp, row.fn), (row.fp, row.tn)))
    )
    if choice.chosen_on is ChosenOn.SAME_LABELS:
        validated = make_undefined_estimate(
            WithheldReason.TOO_FEW_CLUSTERS, len(readings), choice.table.group_count
        )
    else:
        validated = estimate_figure(BALANCED_ACCURACY, choice.table, level)
    return choice.threshold, same, validated
