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
    PassRate,
    ProgressReport,
    UnitScoreReport,
)
from faithtui.domain.estimates import Estimate

DECIMALS = 6

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None
JsonFields = dict[str, Json]


def round_number(value: float | None) -> float | None:
    """Round; adding 0.0 turns -0.0 into 0.0."""
    return None if value is None else round(value, DECIMALS) + 0.0


def report_estimate_json(found: Estimate) -> JsonFields:
    """Write an estimate."""
    return {
        "value": round_number(found.value),
        "status": found.status.value,
        "reason": found.reason.value if found.reason else None,
        "ci_low": round_number(found.ci_low),
        "ci_high": round_number(found.ci_high),
        "level": found.level,
        "method": found.method.value if found.method else None,
        "se": round_number(found.se),
        "n": found.n,
        "clusters": found.clusters,
        "design_effect": None,
    }


def agreement_json(
    found: Agreement,
    classes: Sequence[ClassReport] = (),
    *,
    rows: str = "human",
    columns: str = "judge",
) -> JsonFields:
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
    marginals: JsonFields = {}
    if whole:
        marginals["marginals"] = {
            "reference": _shares_json(table.categories, reference, whole),
            "rated": _shares_json(table.categories, rated, whole),
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
            else [[round_number(cell) for cell in row] for row in found.weighted],
        },
        "percent": report_estimate_json(found.percent),
        "chance": round_number(found.chance),
        "cohen_kappa": report_estimate_json(found.cohen_kappa),
        "weighted_kappa": _optional_estimate_json(found.weighted_kappa),
        "scott_pi": report_estimate_json(found.scott_pi),
        "krippendorff_alpha": report_estimate_json(found.krippendorff_alpha),
        "gwet_ac1": report_estimate_json(found.gwet_ac1),
        "gwet_ac2": _optional_estimate_json(found.gwet_ac2),
        "specific_agreement": {each.label: report_estimate_json(each.f1) for each in classes},
        **marginals,
        "prevalence_index": round_number(found.prevalence_index),
        "bias_index": round_number(found.bias_index),
        "max_kappa": round_number(found.max_kappa),
        "marginal_test": None
        if test is None
        else {
            "name": test.name,
            "statistic": round_number(test.statistic),
            "df": test.df,
            "p": round_number(test.p),
        },
    }


def human_agreement_json(found: HumanReport | None) -> Json:
    """Write how far people agree with each other."""
    if found is None:
        return None
    return {
        "raters": found.raters,
        "units": found.units,
        "percent": report_estimate_json(found.percent),
        "krippendorff_alpha": report_estimate_json(found.krippendorff_alpha),
        "gwet_ac1": report_estimate_json(found.gwet_ac1),
        "fleiss_kappa": report_estimate_json(found.fleiss_kappa),
        "pairs": [
            {
                "a": each.first,
                "b": each.second,
                "agreement": agreement_json(each.agreement, rows="human_a", columns="human_b"),
            }
            for each in found.pairs
        ],
    }


def anchoring_json(found: AnchoringReport | None) -> Json:
    """Write blind against shown."""
    if found is None:
        return None
    return {
        "blind": agreement_json(found.blind),
        "shown": agreement_json(found.shown),
        "difference": report_estimate_json(found.difference),
    }


def detection_json(found: Detection) -> JsonFields:
    """Write how well unfaithful units are found."""
    return {
        "positive": list(found.positive),
        "tp": found.tp,
        "fp": found.fp,
        "fn": found.fn,
        "tn": found.tn,
        "prevalence": report_estimate_json(found.prevalence),
        "precision": report_estimate_json(found.precision),
        "recall": report_estimate_json(found.recall),
        "specificity": report_estimate_json(found.specificity),
        "npv": report_estimate_json(found.npv),
        "f1": report_estimate_json(found.f1),
        "balanced_accuracy": report_estimate_json(found.balanced_accuracy),
        "mcc": report_estimate_json(found.mcc),
    }


def rate_json(found: PassRate, quantity: str) -> JsonFields:
    """Write the shares that pass."""
    return {
        "quantity": quantity,
        "judge_raw": report_estimate_json(found.judge),
        "label_mean": report_estimate_json(found.labelled),
        "corrected_this_run": report_estimate_json(found.this_run),
        "corrected_future": report_estimate_json(found.future),
        "estimator": found.estimator.value,
        "bounds": _limits_json(found.bounds),
        "assumptions": list(found.assumptions),
    }


def unit_scores_json(found: UnitScoreReport) -> JsonFields:
    """Write scores of windows or of conversations."""
    threshold: Json = None
    if found.threshold is not None:
        better = found.threshold
        suggested: Json = None
        if better.suggested is not None and better.at_suggested is not None:
            suggested = {
                "value": round_number(better.suggested),
                "rule": better.rule,
                "chosen_on": better.chosen_on,
                "detection": detection_json(better.at_suggested),
            }
        threshold = {
            "current": better.current,
            "at_current": detection_json(better.at_current),
            "suggested": suggested,
        }
    return {
        "level": found.unit.value,
        "n": found.n,
        "n_partially_labelled": found.partly,
        "n_vacuous": found.vacuous,
        "judge_mean": round_number(found.judge_mean),
        "human_mean": round_number(found.human_mean),
        "bias": report_estimate_json(found.bias),
        "mae": report_estimate_json(found.mae),
        "limits_of_agreement": _limits_json(found.limits),
        "spearman": report_estimate_json(found.spearman),
        "kendall_tau_b": report_estimate_json(found.kendall_tau_b),
        "icc_2_1": report_estimate_json(found.icc),
        "auroc": report_estimate_json(found.auroc),
        "threshold": threshold,
    }


def calibration_json(found: CalibrationReport | None) -> Json:
    """Write how far confidences can be believed."""
    if found is None:
        return None
    return {
        "source": found.source,
        "n": found.n,
        "brier": report_estimate_json(found.brier),
        "brier_skill": round_number(found.skill),
        "ece": round_number(found.ece),
        "ece_noise_floor": round_number(found.noise),
        "bins": [
            {
                "low": round_number(each.low),
                "high": round_number(each.high),
                "n": each.n,
                "mean_confidence": round_number(each.mean),
                "observed": round_number(each.observed),
                "ci_low": round_number(each.ci_low),
                "ci_high": round_number(each.ci_high),
            }
            for each in found.bins
        ],
    }


def breakdown_json(found: Breakdown) -> JsonFields:
    """Write agreement by part."""
    return {
        "by": found.by.value,
        "rows": [
            {
                "key": each.key,
                "n": each.n,
                "clusters": each.clusters,
                "percent": report_estimate_json(each.percent),
                "cohen_kappa": _optional_estimate_json(each.cohen_kappa),
                "recall": report_estimate_json(each.recall),
                "precision": report_estimate_json(each.precision),
            }
            for each in found.rows
        ],
        "suppressed": found.suppressed,
    }


def judge_comparison_json(found: ComparisonReport | None) -> Json:
    """Write two judges on the same units."""
    if found is None:
        return None
    return {
        "a": found.a,
        "b": found.b,
        "n_common": found.common,
        "clusters": found.clusters,
        "accuracy_a": report_estimate_json(found.accuracy_a),
        "accuracy_b": report_estimate_json(found.accuracy_b),
        "difference": report_estimate_json(found.difference),
        "b_only_correct": found.only_b,
        "a_only_correct": found.only_a,
        "signflip_p": round_number(found.signflip_p),
        "clustered_mcnemar_p": round_number(found.durkalski_p),
        "mcnemar_mid_p": round_number(found.mcnemar_p),
        "comparisons_made": found.comparisons,
        "holm_p": round_number(found.holm_p),
    }


def progress_json(found: ProgressReport) -> JsonFields:
    """Write how far labelling is."""
    return {
        "target": found.target,
        "target_half_width": round_number(found.target_half_width),
        "half_width": round_number(found.half_width),
        "labels_still_needed": found.needed,
        "stop": found.stop,
        "history": [
            {
                "labels": each.labels,
                "value": round_number(each.value),
                "ci_low": round_number(each.ci_low),
                "ci_high": round_number(each.ci_high),
            }
            for each in found.history
        ],
    }


def disagreement_json(each: Disagreement, *, include_text: bool) -> JsonFields:
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


def _optional_estimate_json(found: Estimate | None) -> Json:
    return None if found is None else report_estimate_json(found)


def _limits_json(found: tuple[float, float] | None) -> Json:
    return (
        None if found is None else {"low": round_number(found[0]), "high": round_number(found[1])}
    )


def _shares_json(names: Sequence[str], counts: Sequence[float], whole: float) -> JsonFields:
    return {name: round_number(count / whole) for name, count in zip(names, counts, strict=True)}
