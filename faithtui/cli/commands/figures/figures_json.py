"""The JSON of `faithtui figures`: every figure with its interval, its counts and its reason."""

from faithtui.agreement.imported_scores.annotator_figures import AnnotatorFigures
from faithtui.agreement.imported_scores.imported_figures import ScaleFigures
from faithtui.agreement.imported_scores.judge_figures import JudgeFigures, ScoreDetection
from faithtui.domain.estimates import Point
from faithtui.domain.json_values import value_json
from faithtui.domain.withheld_reasons import WithheldReason


def scale_figures_json(figures: ScaleFigures) -> dict[str, object]:
    """Turn the figures of a scale into plain values; shares are 0 to 1."""
    rated = figures.rated
    rule = rated.convention
    return {
        "scale": rule.scale,
        "unit": rated.kind.value,
        "compared": rule.has_shared_units,
        "levels": list(rule.levels),
        "passing": list(rule.passing),
        "units": len(rated.units),
        "groups": rated.group_count,
        "people": list(rated.annotators),
        "labels": dict(rated.counts),
        "left_out": dict(rated.left_out),
        "not_assigned": rated.not_assigned,
        "between_people": [_annotator_agreement_json(each) for each in figures.people],
        "judges": [_judge_figures_json(each) for each in figures.judges],
    }


def _annotator_agreement_json(people: AnnotatorFigures) -> dict[str, object]:
    return {
        "reading": people.view.reading.value,
        "categories": list(people.view.categories),
        "percent_agreement": value_json(people.percent),
        "alpha_nominal": value_json(people.alpha_nominal),
        "alpha_ordinal": value_json(people.alpha_ordinal),
        "gwet_ac1": value_json(people.ac1),
        "mean_pairwise_kappa": _value_or_reason_json(people.mean_kappa),
        "mean_pairwise_kappa_weighted_by_n": _value_or_reason_json(people.weighted_kappa),
        "pairs": [
            {"first": pair.first, "second": pair.second, "cohen_kappa": value_json(pair.kappa)}
            for pair in people.pairs
        ],
    }


def _judge_figures_json(judge: JudgeFigures) -> dict[str, object]:
    return {
        "judge": judge.judge,
        "n": judge.n,
        "groups": judge.groups,
        "without_score": judge.without_score,
        "compared_with_itself": judge.own_reference,
        "scores_are_labels": judge.is_label,
        "lowest": judge.lowest,
        "highest": judge.highest,
        "spearman": {
            each.view.reading.value: value_json(each.spearman) for each in judge.correlations
        },
        "detection": {each.pooling.value: _detection_json(each) for each in judge.detections},
    }


def _detection_json(detection: ScoreDetection) -> dict[str, object]:
    return {
        "people_pass": detection.passed,
        "people_fail": detection.failed,
        "auroc": value_json(detection.auroc),
        "balanced_accuracy_at_0.5": value_json(detection.balanced_accuracy),
        "best_threshold_same_labels": _value_or_reason_json(detection.best_threshold),
        "balanced_accuracy_best_same_labels": _value_or_reason_json(detection.best),
        "balanced_accuracy_cross_validated": value_json(detection.cross_validated),
    }


def _value_or_reason_json(point: Point) -> dict[str, object]:
    if isinstance(point, WithheldReason):
        return {"value": None, "reason": point.value}
    return {"value": point, "reason": None}
