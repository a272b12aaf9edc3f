"""An agreement report as JSON, the source of truth for machines.

Equal input gives equal bytes. Numbers are rounded to six decimals; shares stay 0 to 1. The values
of the report are written field by field, by their names; `FORMS` says what differs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from faithtui.agreement.documents.figure_texts import label_dates_and_guidelines_text
from faithtui.agreement.documents.header import PlotFile, ReportHeader, format_utc_time
from faithtui.agreement.labelled_units import DesignKind, LabelDesign, StratumCounts
from faithtui.agreement.report.figures.rater_comparison import SelfAgreement
from faithtui.agreement.report.model import (
    Agreement,
    AgreementReport,
    Breakdown,
    CalibrationReport,
    ClassReport,
    ComparisonReport,
    ConfidenceSequences,
    Coverage,
    Disagreement,
    JudgeConsistency,
    LevelReport,
    PairReport,
    PassRate,
    ProgressReport,
    RaterReport,
    ScoreReport,
    Slice,
    ThresholdReport,
    UnitScoreReport,
    VerdictCount,
)
from faithtui.agreement.report.settings import (
    IntervalMethod,
    ReportLevel,
    ReportSettings,
    ReportWarning,
    Severity,
    WarningSubject,
)
from faithtui.domain.estimates import Estimate
from faithtui.domain.json_values import ESTIMATE_ORDER, Json, JsonFields, JsonForm, JsonWriter

REPORT_SCHEMA_VERSION = "1.2"
DECIMALS = 6


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
        include_text: Put the texts of claims, and scores of answers, into the list of
            disagreements.
        plots: Pictures that are written beside it.

    Returns:
        ASCII text that ends with a line break. It validates against
        fixtures/agreement/report.schema.json. What is not computed is null, an empty list, or an
        estimate that is withheld. The format has no field for reason codes, for self-agreement, and
        for what is weighted beside the agreement: sentences among the warnings, of severity info,
        say these.
    """
    document = report_to_json(report, header, level, include_text=include_text, plots=plots)
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def report_to_json(
    report: AgreementReport,
    header: ReportHeader,
    level: ReportLevel | None,
    *,
    include_text: bool,
    plots: Sequence[PlotFile] = (),
) -> JsonFields:
    """Convert a report to the JSON object that `report_json` writes."""
    which = report.primary_level_report if level is None else report.get_level(level)
    claims = which.level is ReportLevel.CLAIMS
    raters = report.raters if claims else ()
    hidden: JsonFields = {} if include_text else {"text": None}
    return {
        "schema_version": REPORT_SCHEMA_VERSION,
        "generated_at": format_utc_time(header.generated_at),
        "tool": {"name": "faithtui", "version": header.tool_version},
        "input_digest": header.input_digest,
        "scope": _scope_json(report, which, header),
        "settings": _WRITER.convert(report.settings),
        "coverage": _review_coverage_json(report, which, header),
        "design": _WRITER.convert_object(
            which.design, valid_for_rate=which.rate.corrected_this_run.value is not None
        ),
        "agreement": {
            "judge_vs_consensus": _WRITER.convert_object(
                which.agreement,
                specific_agreement={each.label: _WRITER.convert(each.f1) for each in which.classes},
            ),
            "judge_vs_rater": [
                {"rater": each.reviewer, "agreement": _WRITER.convert(each.agreement)}
                for each in raters
            ],
            "between_humans": _WRITER.convert(report.get_human_agreement_at_level(which.level)),
            "blind_vs_shown": _WRITER.convert(report.anchoring if claims else None),
        },
        "detection": {
            "strict": _WRITER.convert(which.strict),
            "lenient": _WRITER.convert(which.lenient or which.strict),
        },
        "rate": _WRITER.convert_object(
            which.rate,
            quantity=f"share of {which.level.value} labelled {' or '.join(report.passing)}",
        ),
        "scores": [
            *map(_WRITER.convert, report.unit_scores),
            *_answer_score_agreement_json(report),
        ],
        "calibration": _WRITER.convert(report.calibration if claims else None),
        "breakdowns": [
            _WRITER.convert(each)
            for each in report.breakdowns
            if claims and each.by is not Slice.CODE
        ],
        "probes": _WRITER.convert(report.probes),
        "comparison": _WRITER.convert(report.comparison if claims else None),
        "progress": _WRITER.convert(report.progress),
        "population": _WRITER.convert(report.population if claims else None),
        "evidence": _WRITER.convert(report.evidence),
        "extraction": _WRITER.convert(report.extraction),
        "disagreements": [_WRITER.convert_object(each, **hidden) for each in which.disagreements],
        "warnings": _WRITER.convert(_list_warnings_of_report_level(report, which, header)),
        "plots": _WRITER.convert(plots),
    }


def _scope_json(report: AgreementReport, which: LevelReport, header: ReportHeader) -> JsonFields:
    return {
        "runs": [
            {
                "id": str(header.run),
                "name": header.sources_and_options_line,
                "metric": header.metric,
                "judge_model": header.judge,
                **(
                    {"judge_parameters": header.judge_parameters} if header.judge_parameters else {}
                ),
                "prompt_digest": header.prompt_digest,
                "created_at": format_utc_time(header.created_at),
            }
        ],
        "unit": _UNITS[which.level],
        "categories": list(which.table.categories),
        "scale": "ordinal" if report.settings.ordinal else "nominal",
        "unfaithful_strict": list(which.strict.positive),
        "unfaithful_lenient": list((which.lenient or which.strict).positive),
    }


def _review_coverage_json(
    report: AgreementReport, which: LevelReport, header: ReportHeader
) -> JsonFields:
    claims = which.level is ReportLevel.CLAIMS
    steady = report.consistency.share.value
    return _WRITER.convert_object(
        which.coverage,
        windows=header.windows,
        vacuous_windows=header.vacuous_windows,
        units_in_several_windows=report.consistency.repeated if claims else 0,
        judge_self_disagreement=_WRITER.convert(1 - steady)
        if claims and steady is not None
        else None,
        raters=_WRITER.convert(report.raters if claims else ()),
    )


def _answer_score_agreement_json(report: AgreementReport) -> list[JsonFields]:
    """Write answers against annotators' ratings: each answer is a window of one interaction."""
    if not report.scores.answers:
        return []
    threshold: Json = None
    if report.threshold is not None:
        threshold = {
            "current": report.threshold,
            "at_current": _WRITER.convert(report.answers.strict),
            "suggested": None,
        }
    return [
        _WRITER.convert_object(
            report.scores,
            level=_UNITS[ReportLevel.ANSWERS],
            n=report.scores.spearman.n,
            n_partially_labelled=0,
            threshold=threshold,
        )
    ]


def _list_warnings_of_report_level(
    report: AgreementReport, which: LevelReport, header: ReportHeader
) -> list[ReportWarning]:
    shown = [each for each in report.warnings if each.level in (None, which.level)]
    if which.level is ReportLevel.CLAIMS:
        shown += _make_warnings_for_facts_without_field(report)
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
    if which.level in header.provenance:
        facts = label_dates_and_guidelines_text(header.provenance[which.level])
        shown.append(
            ReportWarning(
                "label_dates",
                Severity.INFO,
                f"{which.unit[1].capitalize()}: {facts}",
                about=(WarningSubject.COVERAGE,),
            )
        )
    return shown


def _make_warnings_for_facts_without_field(report: AgreementReport) -> Iterator[ReportWarning]:
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
        same = "not known" if each.same.value is None else f"{_WRITER.convert(each.same.value)}"
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
    if report.comparison is not None and report.comparison.n_left_out:
        message = (
            f"{report.comparison.n_left_out} of the claims that the figures of A rest on have no "
            "label of B: the comparison is of the others alone."
        )
        yield ReportWarning(
            "compared_in_part", Severity.INFO, message, about=(WarningSubject.COMPARISON,)
        )
    if report.claims.agreement.weighted is not None:
        message = "The shares of detection are weighted by the sample; tp, fp, fn and tn are not."
        yield ReportWarning("weighted", Severity.INFO, message, about=(WarningSubject.DETECTION,))


def _make_confusion_and_label_share_fields(found: Agreement) -> JsonFields:
    """Write the table, and both sides' shares of each label."""
    cells: Sequence[Sequence[float]] = found.weighted or found.table.counts
    whole = sum(map(sum, cells))
    more: JsonFields = {
        "n": found.n,
        "weighted_by_design": found.weighted is not None,
        "confusion": _confusion_json(found, "human", "judge"),
        "specific_agreement": {},
    }
    if whole:
        columns = tuple(zip(*cells, strict=True))
        more["marginals"] = {
            side: {
                name: _WRITER.convert(sum(counts) / whole)
                for name, counts in zip(found.table.categories, lines, strict=True)
            }
            for side, lines in (("reference", cells), ("rated", columns))
        }
    return more


def _confusion_json(found: Agreement, rows: str, columns: str) -> JsonFields:
    """Write the table with whom its rows and its columns stand for."""
    table = _WRITER.convert_object(found.table, weighted=_WRITER.convert(found.weighted))
    return {"rows": rows, "columns": columns, **table}


def _make_human_pair_fields(pair: PairReport) -> JsonFields:
    """Say that neither side of the table is the judge."""
    table = _confusion_json(pair.agreement, "human_a", "human_b")
    return {"agreement": _WRITER.convert_object(pair.agreement, confusion=table)}


def _make_settings_fields(asked: ReportSettings) -> JsonFields:
    bootstrap = asked.interval is IntervalMethod.BOOTSTRAP
    return {
        "level": asked.level,
        "interval": "cluster_bootstrap_percentile" if bootstrap else "cluster_jackknife_t",
        "cluster": "group",
        "seed": asked.seed if bootstrap else None,
        "resamples": asked.resamples if bootstrap else None,
        "duplicate_rule": _DUPLICATES[asked.duplicates],
        "consensus_rule": "majority_else_adjudicate",
    }


def _make_coverage_by_verdict_fields(found: Coverage) -> JsonFields:
    by_verdict = {each.judge or "none": _WRITER.convert(each) for each in found.by_verdict}
    return {"reviewed": found.reviewed, "by_verdict": by_verdict}


def _make_inclusion_probability_field(found: StratumCounts) -> JsonFields:
    share = found.drawn / found.population if found.population else None
    return {"inclusion_probability": _WRITER.convert(share)}


def _make_override_rate_field(found: RaterReport) -> JsonFields:
    n = found.agreement.n
    return {"override_rate": _WRITER.convert(found.overrides / n if n else None)}


def _make_disagreement_unit_field(disagreement: Disagreement) -> JsonFields:
    return {
        "unit": f"turn {disagreement.turn}"
        if disagreement.claim is None
        else f"claim {disagreement.claim}",
        **(
            {}
            if disagreement.answer_text is None
            else {"answer_text": _WRITER.convert(disagreement.answer_text)}
        ),
    }


def _make_metadata_key_field(found: Breakdown) -> JsonFields:
    return {"key": found.metadata_key} if found.by is Slice.METADATA else {}


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

_NO_KEY = "the format has no key for it"

FORMS: Mapping[type, JsonForm] = {
    Estimate: JsonForm(
        # The level as it was asked for, not rounded.
        more=lambda found: {"level": found.level, "design_effect": None},
        order=ESTIMATE_ORDER,
    ),
    Agreement: JsonForm(
        left_out={"table": "in `confusion`", "weighted": "in `confusion`"},
        more=_make_confusion_and_label_share_fields,
        order=(
            *("n", "clusters", "weighted_by_design", "confusion", "percent", "chance"),
            *("cohen_kappa", "weighted_kappa", "scott_pi", "krippendorff_alpha"),
            *("gwet_ac1", "gwet_ac2", "specific_agreement", "marginals"),
        ),
    ),
    PairReport: JsonForm(more=_make_human_pair_fields),
    PassRate: JsonForm(order=("quantity",)),
    ThresholdReport: JsonForm(
        left_out={"curve": "drawn in the report's pictures"},
        more=lambda found: {"current": found.current},
    ),
    UnitScoreReport: JsonForm(left_out={"corrected": _NO_KEY, "unscored": _NO_KEY}),
    ScoreReport: JsonForm(
        left_out={"answers": "`n` are those with a score", "unscored": _NO_KEY},
        order=("level", "n", "n_partially_labelled"),
    ),
    CalibrationReport: JsonForm(
        left_out={"weighted": "a warning says it", "few": "a warning says it"}
    ),
    Breakdown: JsonForm(
        left_out={"better": _NO_KEY, "metadata_key": "in `key`, where parts are of metadata"},
        more=_make_metadata_key_field,
        order=("by", "key"),
    ),
    ComparisonReport: JsonForm(
        left_out={
            "weighted": "a warning says it",
            "n_left_out": "a warning says it",
            **dict.fromkeys(("judges", "kappa_a", "kappa_b", "kappa_difference"), _NO_KEY),
        }
    ),
    Disagreement: JsonForm(
        left_out={
            "claim": "in `unit`",
            "conversation": "a number of this store; `key` is the conversation's own id",
            "turn": "in `unit`",
            "answer_text": "beside `unit`, where it was asked for",
        },
        renamed={"key": "conversation"},
        more=_make_disagreement_unit_field,
        order=("unit", "conversation", "judge", "human", "raters", "blind", "text", "answer_text"),
    ),
    Coverage: JsonForm(
        left_out=dict.fromkeys(
            (
                *("groups", "compared", "compared_groups", "not_a_claim", "other_words"),
                *("no_verdict", "vacuous", "unscored", "shown", "outside"),
                *("audit", "tied", "tied_in_figures", "several_in_figures", "idk_excluded"),
                *("idk_excluded_in_figures", "not_a_claim_in_figures", "unverified"),
            ),
            _NO_KEY,
        ),
        renamed={"missing_verdicts": "invalid_verdicts"},
        more=_make_coverage_by_verdict_fields,
        order=(
            *("conversations", "windows", "vacuous_windows", "invalid_verdicts", "verdict_rows"),
            *("units", "units_in_several_windows", "judge_self_disagreement", "reviewed", "agreed"),
            *("overridden", "blind", "skipped", "unreviewed", "bulk_accepted", "stale"),
            *("labelled_by_two_or_more", "by_verdict", "raters"),
        ),
    ),
    VerdictCount: JsonForm(left_out={"judge": "the key of the object"}),
    RaterReport: JsonForm(
        left_out={
            "overrides": "in `override_rate`",
            "agreement": "in `judge_vs_rater`",
            "hasty": "in the warning `hasty_labels`",
        },
        renamed={"reviewer": "id"},
        more=_make_override_rate_field,
        order=("id", "labels", "blind", "override_rate"),
    ),
    LabelDesign: JsonForm(
        left_out=dict.fromkeys(
            (
                *("sample", "name", "outside", "conversations", "drawn_conversations", "rated"),
                *("drawn_in", "claim_set", "unjudged", "beyond", "follows_draw", "passed_over"),
                "in_view",
            ),
            _NO_KEY,
        )
        | {
            "population": "counts; `population` of the report says what they come to",
            "as_drawn": "for comparisons with other judges",
        },
        more=lambda design: {"reason": _DESIGN_REASONS.get(design.kind)},
        order=("kind", "frame_units", "seed", "random_prefix", "valid_for_rate", "reason"),
    ),
    StratumCounts: JsonForm(more=_make_inclusion_probability_field),
    ReportSettings: JsonForm(
        left_out={
            "idk": _NO_KEY,
            "ordinal": "in `scale` of the scope",
            "sample": _NO_KEY,
            "claim_set": _NO_KEY,
            "target": "in the progress",
            "metadata_keys": "in the breakdowns",
        },
        renamed={"duplicates": "duplicate_rule"},
        more=_make_settings_fields,
        order=(
            *("level", "interval", "cluster", "seed", "resamples"),
            *("duplicate_rule", "consensus_rule"),
        ),
    ),
    ReportWarning: JsonForm(left_out={"level": "a file has the warnings of its level"}),
    ProgressReport: JsonForm(left_out={"sequences": _NO_KEY}),
    ConfidenceSequences: JsonForm(
        left_out=dict.fromkeys(("labels", "later", "rate", "recall"), _NO_KEY)
    ),
    # These are taken apart by `report_json`, which leaves out:
    AgreementReport: JsonForm(
        left_out={
            "headline": "a sentence made of the figures",
            "answer_humans": "`between_humans` of a file about answers",
        }
    ),
    LevelReport: JsonForm(
        left_out={"unit": "the metric's own words", "unjudged": _NO_KEY, "weights": _NO_KEY}
    ),
    ClassReport: JsonForm(
        left_out={
            **dict.fromkeys(("human", "judge", "both"), "sums of the table in `confusion`"),
            "precision": _NO_KEY,
            "recall": _NO_KEY,
        }
    ),
    JudgeConsistency: JsonForm(left_out={"steady": "in `judge_self_disagreement`"}),
    SelfAgreement: JsonForm(left_out={"kappa": _NO_KEY, "gap_s": _NO_KEY}),
}
"""What differs from writing every field of a value class by its name."""

_WRITER = JsonWriter(FORMS, DECIMALS)
