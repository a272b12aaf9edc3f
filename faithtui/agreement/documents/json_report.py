"""An agreement report as JSON, the source of truth for machines.

Equal input gives equal bytes. Numbers are rounded to six decimals; shares stay 0 to 1.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from faithtui.agreement.documents import json_parts as parts
from faithtui.agreement.documents.header import PlotFile, ReportHeader
from faithtui.agreement.documents.json_parts import Json, JsonFields, round_number
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.model import AgreementReport, LevelReport, Slice
from faithtui.agreement.report.settings import (
    IntervalMethod,
    ReportLevel,
    ReportWarning,
    Severity,
    WarningSubject,
)

REPORT_SCHEMA_VERSION = "1.0"


def report_json(
    report: AgreementReport,
    header: ReportHeader,
    *,
    level: ReportLevel | None = None,
    include_text: bool = False,
    plots: Sequence[PlotFile] = (),
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
        plots: Pictures that are written beside it.

    Returns:
        ASCII text that ends with a line break. It validates against
        fixtures/agreement/report.schema.json. What is not computed is null, an empty list, or an
        estimate that is withheld. The format has no field for reason codes, for how steady people
        are, and for what is weighted beside the agreement: sentences among the warnings, of
        severity info, say these.
    """
    which = report.primary_level if level is None else _get_level_report(report, level)
    claims = which.level is ReportLevel.CLAIMS
    document: Json = {
        "schema_version": REPORT_SCHEMA_VERSION,
        "generated_at": _time_text(header.generated_at),
        "tool": {"name": "faithtui", "version": header.tool_version},
        "input_digest": header.input_digest,
        "scope": _scope_json(report, which, header),
        "settings": _settings_json(report),
        "coverage": _coverage_json(report, which, header),
        "design": _design_json(which),
        "agreement": {
            "judge_vs_consensus": parts.agreement_json(which.agreement, which.classes),
            "judge_vs_rater": [
                {"rater": each.reviewer, "agreement": parts.agreement_json(each.agreement)}
                for each in report.raters
                if claims
            ],
            "between_humans": parts.human_agreement_json(report.humans) if claims else None,
            "blind_vs_shown": parts.anchoring_json(report.anchoring) if claims else None,
        },
        "detection": {
            "strict": parts.detection_json(which.strict),
            "lenient": parts.detection_json(which.lenient or which.strict),
        },
        "rate": parts.rate_json(
            which.rate, f"share of {which.level.value} labelled {' or '.join(report.passing)}"
        ),
        "scores": [*map(parts.unit_scores_json, report.unit_scores), *_answer_scores_json(report)],
        "calibration": parts.calibration_json(report.calibration) if claims else None,
        "breakdowns": [
            parts.breakdown_json(each)
            for each in report.breakdowns
            if claims and each.by is not Slice.CODE
        ],
        "comparison": parts.judge_comparison_json(report.comparison) if claims else None,
        "progress": parts.progress_json(report.progress),
        "disagreements": [
            parts.disagreement_json(each, include_text=include_text) for each in which.disagreements
        ],
        "warnings": _warnings_json(report, which),
        "plots": [{"id": each.id, "file": each.file, "alt": each.alt} for each in plots],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _get_level_report(report: AgreementReport, level: ReportLevel) -> LevelReport:
    return report.claims if level is ReportLevel.CLAIMS else report.answers


def _time_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _settings_json(report: AgreementReport) -> JsonFields:
    asked = report.settings
    bootstrap = asked.interval is IntervalMethod.BOOTSTRAP
    return {
        "level": asked.level,
        "interval": "cluster_bootstrap_percentile" if bootstrap else "cluster_jackknife_t",
        "cluster": "group",
        "seed": asked.seed if bootstrap else None,
        "resamples": asked.resamples if bootstrap else None,
        "duplicate_rule": _DUPLICATES[asked.duplicates],
        "consensus_rule": "majority_else_adjudicate",
        "blind_only": asked.blind_only,
    }


def _scope_json(report: AgreementReport, which: LevelReport, header: ReportHeader) -> JsonFields:
    return {
        "runs": [
            {
                "id": str(header.run),
                "name": header.name,
                "metric": header.metric,
                "judge_model": header.judge,
                "prompt_digest": header.prompt_digest,
                "created_at": _time_text(header.created_at),
            }
        ],
        "unit": _UNITS[which.level],
        "categories": list(which.table.categories),
        "scale": "ordinal" if report.settings.ordinal else "nominal",
        "unfaithful_strict": list(which.strict.positive),
        "unfaithful_lenient": list((which.lenient or which.strict).positive),
    }


def _coverage_json(report: AgreementReport, which: LevelReport, header: ReportHeader) -> JsonFields:
    coverage = which.coverage
    claims = which.level is ReportLevel.CLAIMS
    steady = report.consistency.share.value
    return {
        "conversations": coverage.conversations,
        "windows": header.windows,
        "vacuous_windows": header.vacuous_windows,
        "invalid_verdicts": coverage.missing_verdicts,
        "verdict_rows": coverage.rows,
        "units": coverage.total,
        "units_in_several_windows": report.consistency.repeated if claims else 0,
        "judge_self_disagreement": round_number(1 - steady)
        if claims and steady is not None
        else None,
        "reviewed": coverage.reviewed,
        "agreed": coverage.agreed,
        "overridden": coverage.overridden,
        "blind": coverage.blind,
        "skipped": coverage.skipped,
        "unreviewed": coverage.unreviewed,
        "bulk_accepted": coverage.bulk,
        "stale": coverage.stale,
        "labelled_by_two_or_more": coverage.several_reviewers,
        "by_verdict": {
            each.judge or "none": {
                "units": each.units,
                "reviewed": each.reviewed,
                "skipped": each.skipped,
            }
            for each in coverage.by_verdict
        },
        "raters": [
            {
                "id": each.reviewer,
                "labels": each.labels,
                "blind": each.blind,
                "override_rate": round_number(each.overrides / each.agreement.n)
                if each.agreement.n
                else None,
                "median_seconds": round_number(each.median_s),
            }
            for each in report.raters
            if claims
        ],
    }


def _design_json(which: LevelReport) -> JsonFields:
    design = which.design
    return {
        "kind": design.kind.value,
        "frame_units": design.frame,
        "seed": design.seed,
        "random_prefix": design.random_prefix,
        "valid_for_rate": which.rate.this_run.value is not None,
        "reason": _DESIGN_REASONS.get(design.kind),
        "strata": [
            {
                "name": each.name,
                "population": each.population,
                "drawn": each.drawn,
                "labelled": each.labelled,
                "skipped": each.skipped,
                "inclusion_probability": round_number(each.drawn / each.population)
                if each.population
                else None,
            }
            for each in design.strata
        ],
    }


def _answer_scores_json(report: AgreementReport) -> list[JsonFields]:
    """Write answers against people's ratings: each answer is a window of one interaction."""
    scores = report.scores
    if not scores.answers:
        return []
    threshold: Json = None
    if report.threshold is not None:
        threshold = {
            "current": report.threshold,
            "at_current": parts.detection_json(report.answers.strict),
            "suggested": None,
        }
    return [
        {
            "level": _UNITS[ReportLevel.ANSWERS],
            "n": scores.spearman.n,
            "n_partially_labelled": 0,
            "n_vacuous": scores.vacuous,
            "judge_mean": round_number(scores.judge_mean),
            "human_mean": round_number(scores.human_mean),
            "spearman": parts.report_estimate_json(scores.spearman),
            "auroc": parts.report_estimate_json(scores.auroc),
            "threshold": threshold,
        }
    ]


def _warnings_json(report: AgreementReport, which: LevelReport) -> Json:
    shown = [each for each in report.warnings if each.level in (None, which.level)]
    if which.level is ReportLevel.CLAIMS:
        shown += _make_extra_warnings(report)
    if which.level is ReportLevel.ANSWERS:
        shown.append(
            ReportWarning(
                "unit_is_answer",
                Severity.INFO,
                "Units are answers, each judged by itself as a window of one interaction; "
                "yes means that it passes.",
                about=(WarningSubject.COVERAGE,),
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


def _make_extra_warnings(report: AgreementReport) -> Iterator[ReportWarning]:
    """Put into sentences what the format has no field for."""
    many = report.claims.unit[1]
    codes = next((each for each in report.breakdowns if each.by is Slice.CODE), None)
    if codes is not None and codes.rows:
        named = ", ".join(f"{row.key} {row.n}" for row in codes.rows)
        message = f"Reason codes that annotators gave most often, with the {many} of each: {named}."
        yield ReportWarning(
            "reason_codes", Severity.INFO, message, about=(WarningSubject.COVERAGE,)
        )
    for each in report.repeats:
        same = "not known" if each.same.value is None else f"{round_number(each.same.value)}"
        message = (
            f"{each.reviewer} judged {each.n} {many} again; the share with the same verdict is "
            f"{same}, each counted once."
        )
        yield ReportWarning("own_repeats", Severity.INFO, message, about=(WarningSubject.HUMANS,))
    if report.calibration is not None and report.calibration.weighted:
        message = "Calibration is weighted by the sample; its counts are not."
        yield ReportWarning("weighted", Severity.INFO, message, about=(WarningSubject.CALIBRATION,))
    if report.comparison is not None and report.comparison.weighted:
        message = "The comparison is weighted by the sample; its counts are not."
        yield ReportWarning("weighted", Severity.INFO, message, about=(WarningSubject.COMPARISON,))
    if report.claims.agreement.weighted is not None:
        message = "The shares of detection are weighted by the sample; tp, fp, fn and tn are not."
        yield ReportWarning("weighted", Severity.INFO, message, about=(WarningSubject.DETECTION,))


_UNITS = {ReportLevel.CLAIMS: "claim", ReportLevel.ANSWERS: "window"}

_DUPLICATES = {
    "first_window": "first_window",
    "majority": "majority_then_severity",
    "worst": "worst",
    "latest": "latest_window",
}

_DESIGN_REASONS = {
    DesignKind.NONE: "nothing is labelled",
    DesignKind.CONVENIENCE: "labelled units are not known to be a random sample",
    DesignKind.OVERRIDE_ONLY: "only units on which annotators differ from the judge are labelled",
}

_POINTERS = {
    WarningSubject.COVERAGE: "/coverage",
    WarningSubject.AGREEMENT: "/agreement/judge_vs_consensus",
    WarningSubject.PERCENT: "/agreement/judge_vs_consensus/percent",
    WarningSubject.KAPPA: "/agreement/judge_vs_consensus/cohen_kappa",
    WarningSubject.DETECTION: "/detection",
    WarningSubject.RATE: "/rate",
    WarningSubject.SCORES: "/scores",
    WarningSubject.CALIBRATION: "/calibration",
    WarningSubject.DESIGN: "/design",
    WarningSubject.HUMANS: "/agreement/between_humans",
    WarningSubject.ANCHORING: "/agreement/blind_vs_shown",
    WarningSubject.COMPARISON: "/comparison",
}
