"""An agreement report as JSON, the source of truth for machines.

Equal input gives equal bytes. Numbers are rounded to six decimals; shares stay 0 to 1.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from faithtui.domain.estimates import Estimate
from faithtui.domain.report import (
    AgreementReport,
    Caution,
    Coverage,
    Design,
    Detection,
    Figure,
    Level,
    LevelReport,
    Severity,
)
from faithtui.interchange.report_header import ReportHeader

SCHEMA_VERSION = "1.0"
DECIMALS = 6

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None


def report_json(
    report: AgreementReport,
    header: ReportHeader,
    *,
    level: Level | None = None,
    include_text: bool = False,
) -> str:
    """Write a report as JSON.

    The format holds one level. `scores` compares whole answers in either case, and its
    `threshold` holds the answer level's detection, so a claim report loses the answers'
    coefficients only.

    Args:
        report: What to write.
        header: What it is about.
        level: Which level; None: the one the headline speaks of. In an answer report the unit is
            called `window`: every answer was judged by itself, as a window of one interaction.
        include_text: Put the texts of claims into the list of disagreements.

    Returns:
        ASCII text that ends with a line break. It validates against
        fixtures/agreement/report.schema.json. What is not computed is null, an empty list, or an
        estimate that is withheld.
    """
    which = report.primary if level is None else _level_of(report, level)
    document: Json = {
        "schema_version": SCHEMA_VERSION,
        "generated_at": _time(header.generated_at),
        "tool": {"name": "faithtui", "version": header.tool_version},
        "input_digest": header.input_digest,
        "scope": _scope(which, header),
        "settings": {
            "level": report.level,
            "interval": "cluster_jackknife_t",
            "cluster": "group",
            "seed": None,
            "resamples": None,
            "duplicate_rule": "first_window",
            "consensus_rule": "majority_else_adjudicate",
            "blind_only": False,
        },
        "coverage": _coverage(report, which, header),
        "design": _design(which),
        "agreement": {
            "judge_vs_consensus": _agreement(which),
            "judge_vs_rater": [],
            "between_humans": None,
            "blind_vs_shown": None,
        },
        "detection": {
            "strict": _detection(which.strict),
            "lenient": _detection(which.lenient or which.strict),
        },
        "rate": _rate(report, which),
        "scores": _scores(report),
        "calibration": None,
        "breakdowns": [],
        "comparison": None,
        "progress": {
            "target": "none",
            "target_half_width": None,
            "half_width": None,
            "labels_still_needed": None,
            "stop": False,
            "history": [],
        },
        "disagreements": [
            {
                "unit": f"turn {each.turn}" if each.claim is None else f"claim {each.claim}",
                "conversation": each.key,
                "judge": each.judge,
                "human": each.human,
                "text": each.text if include_text else None,
            }
            for each in which.disagreements
        ],
        "warnings": _warnings(report, which),
        "plots": [],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _level_of(report: AgreementReport, level: Level) -> LevelReport:
    return report.claims if level is Level.CLAIMS else report.answers


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _number(value: float | None) -> float | None:
    """Round; adding 0.0 turns -0.0 into 0.0."""
    return None if value is None else round(value, DECIMALS) + 0.0


def _scope(which: LevelReport, header: ReportHeader) -> Json:
    return {
        "runs": [
            {
                "id": str(header.run),
                "name": header.name,
                "metric": header.metric,
                "judge_model": header.judge,
                "prompt_digest": header.prompt_digest,
                "created_at": _time(header.created_at),
            }
        ],
        "unit": _UNITS[which.level],
        "categories": list(which.table.categories),
        "scale": "nominal",
        "unfaithful_strict": list(which.strict.positive),
        "unfaithful_lenient": list((which.lenient or which.strict).positive),
    }


def _coverage(report: AgreementReport, which: LevelReport, header: ReportHeader) -> Json:
    coverage: Coverage = which.coverage
    claims = which.level is Level.CLAIMS
    steady = report.consistency.share.value
    return {
        "conversations": coverage.conversations,
        "windows": header.windows,
        "vacuous_windows": header.vacuous_windows,
        "invalid_verdicts": coverage.missing_verdicts,
        "verdict_rows": coverage.rows,
        "units": coverage.total,
        "units_in_several_windows": report.consistency.repeated if claims else 0,
        "judge_self_disagreement": (_number(1 - steady) if claims and steady is not None else None),
        "reviewed": coverage.reviewed,
        "agreed": coverage.agreed,
        "overridden": coverage.overridden,
        "blind": coverage.blind,
        # Skipped, bulk-accepted and stale verdicts do not count, so those units are unreviewed.
        "skipped": 0,
        "unreviewed": coverage.unreviewed,
        "bulk_accepted": 0,
        "stale": 0,
        "labelled_by_two_or_more": coverage.several_reviewers,
        "by_verdict": {
            each.judge or "none": {"units": each.units, "reviewed": each.reviewed, "skipped": 0}
            for each in coverage.by_verdict
        },
        "raters": [],
    }


def _design(which: LevelReport) -> Json:
    return {
        "kind": which.design.value,
        "frame_units": which.coverage.total,
        "seed": None,
        "random_prefix": False,
        "valid_for_rate": which.design is Design.CENSUS,
        "reason": _DESIGN_REASONS[which.design],
        "strata": [],
    }


def _agreement(which: LevelReport) -> Json:
    table = which.table
    n = table.n
    rows, columns = table.rows, table.columns
    detection = which.strict
    shares: dict[str, Json] = {}
    if n:
        shares["marginals"] = {
            "reference": _shares(table.categories, rows, n),
            "rated": _shares(table.categories, columns, n),
        }
    return {
        "n": n,
        "clusters": which.coverage.compared_groups,
        "weighted_by_design": False,
        "confusion": {
            "rows": "human",
            "columns": "judge",
            "categories": list(table.categories),
            "counts": [list(row) for row in table.counts],
            "weighted": None,
        },
        "percent": _estimate(which.percent),
        "chance": _number(which.chance),
        "cohen_kappa": _estimate(which.cohen_kappa),
        "weighted_kappa": None,
        "krippendorff_alpha": _estimate(which.krippendorff_alpha),
        "gwet_ac1": _estimate(which.gwet_ac1),
        "gwet_ac2": None,
        "specific_agreement": {each.label: _estimate(each.f1) for each in which.classes},
        **shares,
        "prevalence_index": _number((detection.tp - detection.tn) / n) if n else None,
        "bias_index": _number((detection.fn - detection.fp) / n) if n else None,
        "max_kappa": None,
        "marginal_test": None,
    }


def _shares(names: Sequence[str], counts: Sequence[int], n: int) -> Json:
    return {name: _number(count / n) for name, count in zip(names, counts, strict=True)}


def _detection(found: Detection) -> Json:
    return {
        "positive": list(found.positive),
        "tp": found.tp,
        "fp": found.fp,
        "fn": found.fn,
        "tn": found.tn,
        "prevalence": _estimate(found.prevalence),
        "precision": _estimate(found.precision),
        "recall": _estimate(found.recall),
        "specificity": _estimate(found.specificity),
        "npv": _estimate(found.npv),
        "f1": _estimate(found.f1),
        "balanced_accuracy": _estimate(found.balanced_accuracy),
        "mcc": _estimate(found.mcc),
    }


def _rate(report: AgreementReport, which: LevelReport) -> Json:
    """Give the judge's rate, and people's where everything was labelled.

    With a census the corrected rate of this run is people's rate itself, and nothing of it is
    sampled: its interval has width 0.
    """
    human = which.human_rate
    this_run = _estimate(human)
    assumptions: list[str] = []
    if human.value is not None:
        this_run |= {
            "ci_low": _number(human.value),
            "ci_high": _number(human.value),
            "level": report.level,
            "method": "stratified_normal_fpc",
            "se": 0.0,
            "reason": None,
        }
        assumptions = [
            "every unit was labelled",
            "human labels are the truth",
            "groups are a random sample of future ones (future interval only)",
        ]
    return {
        "quantity": f"share of {which.level.value} labelled {' or '.join(report.passing)}",
        "judge_raw": _estimate(which.judge_rate),
        "label_mean": _estimate(human),
        "corrected_this_run": this_run,
        "corrected_future": _estimate(human),
        "estimator": "none" if human.value is None else "stratified",
        "bounds": None,
        "assumptions": assumptions,
    }


def _scores(report: AgreementReport) -> Json:
    scores = report.scores
    if not scores.answers:
        return []
    threshold: Json = None
    if report.bar is not None:
        threshold = {
            "current": report.bar,
            "at_current": _detection(report.answers.strict),
            "suggested": None,
        }
    return [
        {
            "level": _UNITS[Level.ANSWERS],
            "n": scores.spearman.n,
            "n_partially_labelled": 0,
            "n_vacuous": scores.vacuous,
            "judge_mean": _number(scores.judge_mean),
            "human_mean": _number(scores.human_mean),
            "spearman": _estimate(scores.spearman),
            "auroc": _estimate(scores.auroc),
            "threshold": threshold,
        }
    ]


def _warnings(report: AgreementReport, which: LevelReport) -> Json:
    shown = [each for each in report.warnings if each.level in (None, which.level)]
    if which.level is Level.ANSWERS:
        shown.append(
            Caution(
                "unit_is_answer",
                Severity.INFO,
                "Units are answers, each judged by itself as a window of one interaction; "
                "yes means that it passes.",
                about=(Figure.COVERAGE,),
            )
        )
    return [
        {
            "code": each.code,
            "severity": each.severity.value,
            "message": each.message,
            "about": [_POINTERS[figure] for figure in each.about],
        }
        for each in shown
    ]


def _estimate(estimate: Estimate) -> dict[str, Json]:
    return {
        "value": _number(estimate.value),
        "status": estimate.status.value,
        "reason": estimate.reason.value if estimate.reason else None,
        "ci_low": _number(estimate.ci_low),
        "ci_high": _number(estimate.ci_high),
        "level": estimate.level,
        "method": estimate.method.value if estimate.method else None,
        "se": _number(estimate.se),
        "n": estimate.n,
        "clusters": estimate.clusters,
        "design_effect": None,
    }


_UNITS = {Level.CLAIMS: "claim", Level.ANSWERS: "window"}

_DESIGN_REASONS = {
    Design.NONE: "nothing is labelled",
    Design.CONVENIENCE: "labelled units are not known to be a random sample",
    Design.CENSUS: None,
}

_POINTERS = {
    Figure.COVERAGE: "/coverage",
    Figure.AGREEMENT: "/agreement/judge_vs_consensus",
    Figure.PERCENT: "/agreement/judge_vs_consensus/percent",
    Figure.KAPPA: "/agreement/judge_vs_consensus/cohen_kappa",
    Figure.DETECTION: "/detection",
    Figure.RATE: "/rate",
    Figure.SCORES: "/scores",
}
