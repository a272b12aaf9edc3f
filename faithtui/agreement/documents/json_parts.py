"""The parts of a report as JSON: estimates, agreement, people, rate, scores, comparisons.

Field by field as fixtures/agreement/report.schema.json has it.
"""

from collections.abc import Mapping, Sequence

from faithtui.agreement.report.model import (
    Agreement,
    AnchoringReport,
    Breakdown,
    CalibrationReport,
    ClassReport,
    ComparisonReport,
    Detection,
    Disagreement,
    HumanReport,
    ProgressReport,
    Rate,
    UnitScoreReport,
)
from faithtui.domain.estimates import Estimate

DECIMALS = 6

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None
Fields = dict[str, Json]


def number(value: float | None) -> float | None:
    """Round; adding 0.0 turns -0.0 into 0.0."""
    return None if value is None else round(value, DECIMALS) + 0.0


def estimate(found: Estimate) -> Fields:
    """Write an estimate."""
    return {
        "value": number(found.value),
        "status": found.status.value,
        "reason": found.reason.value if found.reason else None,
        "ci_low": number(found.ci_low),
        "ci_high": number(found.ci_high),
        "level": found.level,
        "method": found.method.value if found.method else None,
        "se": number(found.se),
        "n": found.n,
        "clusters": found.clusters,
        "design_effect": None,
    }


def agreement(
    found: Agreement,
    classes: Sequence[ClassReport] = (),
    *,
    rows: str = "human",
    columns: str = "judge",
) -> Fields:
    """Write how far two sides agree.

    Args:
        found: The figures.
        classes: Per label; its F1 is the specific agreement.
        rows: Whom the rows of the table stand for.
        columns: Whom the columns stand for.
    """
    table = found.table
    cells: Sequence[Sequence[float]] = table.counts if found.weighted is None else found.weighted
    reference = [sum(row) for row in cells]
    rated = [sum(column) for column in zip(*cells, strict=True)]
    whole = sum(reference)
    marginals: Fields = {}
    if whole:
        marginals["marginals"] = {
            "reference": _shares(table.categories, reference, whole),
            "rated": _shares(table.categories, rated, whole),
        }
    test = found.margins
    return {
        "n": table.n,
        "clusters": found.clusters,
        "weighted_by_design": found.weighted is not None,
        "confusion": {
            "rows": rows,
            "columns": columns,
            "categories": list(table.categories),
            "counts": [list(row) for row in table.counts],
            "weighted": None
            if found.weighted is None
            else [[number(cell) for cell in row] for row in found.weighted],
        },
        "percent": estimate(found.percent),
        "chance": number(found.chance),
        "cohen_kappa": estimate(found.cohen_kappa),
        "weighted_kappa": _optional(found.weighted_kappa),
        "scott_pi": estimate(found.scott_pi),
        "krippendorff_alpha": estimate(found.krippendorff_alpha),
        "gwet_ac1": estimate(found.gwet_ac1),
        "gwet_ac2": _optional(found.gwet_ac2),
        "specific_agreement": {each.label: estimate(each.f1) for each in classes},
        **marginals,
        "prevalence_index": number(found.prevalence_index),
        "bias_index": number(found.bias_index),
        "max_kappa": number(found.max_kappa),
        "marginal_test": None
        if test is None
        else {
            "name": test.name,
            "statistic": number(test.statistic),
            "df": test.df,
            "p": number(test.p),
        },
    }


def humans(found: HumanReport | None) -> Json:
    """Write how far people agree with each other."""
    if found is None:
        return None
    return {
        "raters": found.raters,
        "units": found.units,
        "percent": estimate(found.percent),
        "krippendorff_alpha": estimate(found.krippendorff_alpha),
        "gwet_ac1": estimate(found.gwet_ac1),
        "fleiss_kappa": estimate(found.fleiss_kappa),
        "pairs": [
            {
                "a": each.first,
                "b": each.second,
                "agreement": agreement(each.agreement, rows="human_a", columns="human_b"),
            }
            for each in found.pairs
        ],
    }


def anchoring(found: AnchoringReport | None) -> Json:
    """Write blind against shown."""
    if found is None:
        return None
    return {
        "blind": agreement(found.blind),
        "shown": agreement(found.shown),
        "difference": estimate(found.difference),
    }


def detection(found: Detection) -> Fields:
    """Write how well unfaithful units are found."""
    return {
        "positive": list(found.positive),
        "tp": found.tp,
        "fp": found.fp,
        "fn": found.fn,
        "tn": found.tn,
        "prevalence": estimate(found.prevalence),
        "precision": estimate(found.precision),
        "recall": estimate(found.recall),
        "specificity": estimate(found.specificity),
        "npv": estimate(found.npv),
        "f1": estimate(found.f1),
        "balanced_accuracy": estimate(found.balanced_accuracy),
        "mcc": estimate(found.mcc),
    }


def rate(found: Rate, quantity: str) -> Fields:
    """Write the shares that pass."""
    return {
        "quantity": quantity,
        "judge_raw": estimate(found.judge),
        "label_mean": estimate(found.labelled),
        "corrected_this_run": estimate(found.this_run),
        "corrected_future": estimate(found.future),
        "estimator": found.estimator.value,
        "bounds": _limits(found.bounds),
        "assumptions": list(found.assumptions),
    }


def unit_scores(found: UnitScoreReport) -> Fields:
    """Write scores of windows or of conversations."""
    threshold: Json = None
    if found.threshold is not None:
        better = found.threshold
        suggested: Json = None
        if better.suggested is not None and better.at_suggested is not None:
            suggested = {
                "value": number(better.suggested),
                "rule": better.rule,
                "chosen_on": better.chosen_on,
                "detection": detection(better.at_suggested),
            }
        threshold = {
            "current": better.current,
            "at_current": detection(better.at_current),
            "suggested": suggested,
        }
    return {
        "level": found.unit.value,
        "n": found.n,
        "n_partially_labelled": found.partly,
        "n_vacuous": found.vacuous,
        "judge_mean": number(found.judge_mean),
        "human_mean": number(found.human_mean),
        "bias": estimate(found.bias),
        "mae": estimate(found.mae),
        "limits_of_agreement": _limits(found.limits),
        "spearman": estimate(found.spearman),
        "kendall_tau_b": estimate(found.kendall_tau_b),
        "icc_2_1": estimate(found.icc),
        "auroc": estimate(found.auroc),
        "threshold": threshold,
    }


def calibration(found: CalibrationReport | None) -> Json:
    """Write how far confidences can be believed."""
    if found is None:
        return None
    return {
        "source": found.source,
        "n": found.n,
        "brier": estimate(found.brier),
        "brier_skill": number(found.skill),
        "ece": number(found.ece),
        "ece_noise_floor": number(found.noise),
        "bins": [
            {
                "low": number(each.low),
                "high": number(each.high),
                "n": each.n,
                "mean_confidence": number(each.mean),
                "observed": number(each.observed),
                "ci_low": number(each.ci_low),
                "ci_high": number(each.ci_high),
            }
            for each in found.bins
        ],
    }


def breakdown(found: Breakdown) -> Fields:
    """Write agreement by part."""
    return {
        "by": found.by.value,
        "rows": [
            {
                "key": each.key,
                "n": each.n,
                "clusters": each.clusters,
                "percent": estimate(each.percent),
                "cohen_kappa": _optional(each.cohen_kappa),
                "recall": estimate(each.recall),
                "precision": estimate(each.precision),
            }
            for each in found.rows
        ],
        "suppressed": found.suppressed,
    }


def comparison(found: ComparisonReport | None) -> Json:
    """Write two judges on the same units."""
    if found is None:
        return None
    return {
        "a": found.a,
        "b": found.b,
        "n_common": found.common,
        "clusters": found.clusters,
        "accuracy_a": estimate(found.accuracy_a),
        "accuracy_b": estimate(found.accuracy_b),
        "difference": estimate(found.difference),
        "b_only_correct": found.only_b,
        "a_only_correct": found.only_a,
        "signflip_p": number(found.signflip_p),
        "clustered_mcnemar_p": number(found.durkalski_p),
        "mcnemar_mid_p": number(found.mcnemar_p),
        "comparisons_made": found.comparisons,
        "holm_p": number(found.holm_p),
    }


def progress(found: ProgressReport) -> Fields:
    """Write how far labelling is."""
    return {
        "target": found.target,
        "target_half_width": number(found.target_half_width),
        "half_width": number(found.half_width),
        "labels_still_needed": found.needed,
        "stop": found.stop,
        "history": [
            {
                "labels": each.labels,
                "value": number(each.value),
                "ci_low": number(each.ci_low),
                "ci_high": number(each.ci_high),
            }
            for each in found.history
        ],
    }


def disagreement(each: Disagreement, *, include_text: bool) -> Fields:
    """Write a unit on which judge and people differ."""
    return {
        "unit": f"turn {each.turn}" if each.claim is None else f"claim {each.claim}",
        "conversation": each.key,
        "judge": each.judge,
        "human": each.human,
        "raters": list(each.raters),
        "blind": each.blind,
        "text": each.text if include_text else None,
    }


def _optional(found: Estimate | None) -> Json:
    return None if found is None else estimate(found)


def _limits(found: tuple[float, float] | None) -> Json:
    return None if found is None else {"low": number(found[0]), "high": number(found[1])}


def _shares(names: Sequence[str], counts: Sequence[float], whole: float) -> Fields:
    return {name: number(count / whole) for name, count in zip(names, counts, strict=True)}
