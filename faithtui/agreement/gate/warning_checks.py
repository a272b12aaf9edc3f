"""What a report warns of keeps a gate from passing until it is dealt with or accepted.

A warning takes a pass away and gives none: what falls short stays short, since every one of these
faults flatters a judge or leaves open how good it is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from faithtui.agreement.gate.missing_labels import (
    DOUBTFUL,
    MISSING_WORDS,
    OVERRULED,
    MissingBounds,
    compute_bounds_over_doubtful_answers,
    compute_bounds_over_missing_labels,
)
from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    CriterionCheck,
    ThresholdBasis,
    Thresholds,
    check_figures_against_thresholds,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.report import PreparedUnits
from faithtui.agreement.report.settings import (
    ReportLevel,
    ReportWarning,
    Severity,
    WarningSubject,
)
from faithtui.domain.ids import ClaimId
from faithtui.domain.text.suggestions import format_known_names
from faithtui.errors import ConfigError

_AGREEMENT = (Criterion.KAPPA, Criterion.RECALL)
_FIGURES = (*_AGREEMENT, Criterion.SCORE)
_OF_LABELS = (*_FIGURES, Criterion.CHANGE)

ASKED_WARNINGS: Mapping[str, tuple[Criterion, ...]] = {
    "suspect_run": _OF_LABELS,
    "not_checked": _OF_LABELS,
    "unfinished_run": _OF_LABELS,
    "not_blind": _OF_LABELS,
    "hasty_labels": _OF_LABELS,
    "annotators_conflict": _OF_LABELS,
    "rater_outlier": _OF_LABELS,
    "ties": (*_AGREEMENT, Criterion.CHANGE),
    "few_conversations": (*_AGREEMENT, Criterion.CHANGE),
    "sample_of_other_run": _OF_LABELS,
    "unscored_answers": _AGREEMENT,
    "uninformative_judge": (Criterion.RECALL,),
    "not_a_claim": _OF_LABELS,
    "idk_excluded": _OF_LABELS,
    "shown_examples": _OF_LABELS,
    "drawn_after_labels": _OF_LABELS,
    "other_samples": _OF_LABELS,
    "drawing_unknown": _OF_LABELS,
    "labels_deleted": _OF_LABELS,
    "exposures_deleted": _OF_LABELS,
    "seen_in_other_run": _OF_LABELS,
    # What one of two runs did not judge is `unpaired_claims` for a change.
    "other_conversations": _FIGURES,
    "changed_labels": _OF_LABELS,
    "imported_labels": _OF_LABELS,
    "unverified_labels": _OF_LABELS,
    "population_open": _FIGURES,
}
"""Warnings of a report that must be dealt with or accepted, with the criteria that they touch."""

MANY_UNJUDGED = 0.01
"""Share of the claims of a run without a verdict of its judge, or of its conversations that failed,
from which on they are asked about: whoever gives none where it is hard looks good on the rest."""

OF_RUN = ("suspect_run", "not_checked", "unfinished_run")
"""Those that speak of the judge's run alone, labelled or not."""

CONVENIENCE_WARNING = "design_not_random"
"""Accepted by `--among-labelled` too."""

UNPAIRED_CLAIMS = "unpaired_claims"
"""Claims that only one of two compared runs has a verdict for."""

ACCEPTED_CODES = tuple(
    sorted({*ASKED_WARNINGS, *MISSING_WORDS, CONVENIENCE_WARNING, UNPAIRED_CLAIMS})
)
"""What can be accepted, each once."""


def validate_accepted_warning_codes(codes: Iterable[str]) -> tuple[str, ...]:
    """Check codes of warnings that shall be accepted.

    Returns:
        Each once, sorted.

    Raises:
        ConfigError: The gate asks about no such warning.
    """
    wanted = sorted(set(codes))
    for each in wanted:
        if each not in ACCEPTED_CODES:
            raise ConfigError(
                f"--accept {each}: the gate asks about no such warning; known: "
                f"{format_known_names(each, ACCEPTED_CODES)}"
            )
    return tuple(wanted)


def make_doubtful_checks_undecided(
    checks: Sequence[CriterionCheck],
    warnings: Iterable[ReportWarning],
    prepared: PreparedUnits,
    level: LevelReport,
    wanted: Thresholds,
    *,
    of_labels: Collection[Criterion] = _OF_LABELS,
    doubtful: Mapping[ClaimId, Collection[str]] | None = None,
) -> tuple[CriterionCheck, ...]:
    """Leave undecided what missing labels could change, or passes in spite of a warning.

    Args:
        checks: As thresholds have them.
        warnings: Of the report.
        prepared: What the report was computed from.
        level: The level of the checks.
        wanted: The thresholds, and what is accepted.
        of_labels: Criteria whose figures come from the labels of this run, not of a certificate.
        doubtful: Claims whose labels nobody can vouch for, with the codes of the warnings.
    """
    counted = 0
    passed = {each.criterion for each in checks if each.outcome is CheckOutcome.PASSED}
    figures = {each.criterion for each in checks}.intersection(of_labels, _FIGURES)
    if figures:
        bounds = (
            compute_bounds_over_missing_labels(
                prepared, level.unit, wanted.accepted, doubtful or {}
            )
            if level.level is ReportLevel.CLAIMS
            else compute_bounds_over_doubtful_answers(prepared, wanted.accepted, doubtful or {})
        )
        if bounds is not None:
            counted = bounds.counts.get("invalid_verdicts", 0)
            checks = [
                _make_undecided_if_missing_labels_matter(each, bounds, wanted, level.unit)
                if each.criterion in figures
                else each
                for each in checks
            ]
    asked = [
        each
        for each in warnings
        if _must_warning_be_accepted(each, level, wanted.accepted, counted)
    ]
    return tuple(
        _make_undecided_if_warned(each, asked, of_labels) if each.criterion in passed else each
        for each in checks
    )


def _must_warning_be_accepted(
    warning: ReportWarning, level: LevelReport, accepted: Collection[str], counted: int
) -> bool:
    """Say whether a warning has to be accepted.

    Args:
        warning: The warning.
        level: What the checks are about.
        accepted: Codes that are.
        counted: Labelled claims without a verdict, which are counted for and against the judge.
    """
    if (
        warning.code in accepted
        or warning.severity is Severity.INFO
        or warning.level not in (None, level.level)
    ):
        return False
    if warning.code in ASKED_WARNINGS and warning.code != "ties":
        return True
    if warning.code in MISSING_WORDS and level.level is ReportLevel.CLAIMS:
        # What is missing among labelled claims is counted for and against the judge. A claim that
        # it gave no verdict on is in no figure, labelled or not.
        unjudged = level.coverage.missing_verdicts - counted
        many = unjudged > max(1, MANY_UNJUDGED * level.coverage.units)
        return warning.code == "invalid_verdicts" and many
    return warning.code in ASKED_WARNINGS


def _touches_criterion(warning: ReportWarning, criterion: Criterion) -> bool:
    """Say whether a warning is asked of a criterion.

    Of a score, that conversations are few where the warning is about the share too.
    """
    if criterion in ASKED_WARNINGS.get(warning.code, _AGREEMENT):
        return True
    is_of_share = warning.code == "few_conversations" and WarningSubject.RATE in warning.about
    return criterion is Criterion.SCORE and is_of_share


def _make_undecided_if_warned(
    check: CriterionCheck, warnings: Iterable[ReportWarning], of_labels: Collection[Criterion]
) -> CriterionCheck:
    """Leave undecided what passes in spite of warnings.

    What missing labels leave undecided names the warnings too, so that all are dealt with at once.
    """
    why = [
        f"{each.message} To accept it: --accept {each.code}"
        for each in warnings
        if _touches_criterion(each, check.criterion)
        and (check.criterion in of_labels or each.code in OF_RUN)
    ]
    if not why:
        return check
    if check.reason:
        why.insert(0, check.reason)
    return replace(check, outcome=CheckOutcome.UNDECIDED, reason="; ".join(why), reasons=tuple(why))


def _make_undecided_if_missing_labels_matter(
    check: CriterionCheck, bounds: MissingBounds, wanted: Thresholds, unit: tuple[str, str]
) -> CriterionCheck:
    """Decide only what is the same whatever the missing labels would be."""
    if check.outcome not in _BY_FIGURE:
        return check
    is_score = check.criterion is Criterion.SCORE
    ends = (bounds.failing, bounds.passing) if is_score else (bounds.against, bounds.agreeing)
    worst, best = (_check_criterion_of_report(each, check.criterion, wanted) for each in ends)
    one, other = ("as failing", "as passing") if is_score else ("against the judge", "for it")
    lowest = f"counted {one} {_describe_checked_value(worst, wanted)}"
    if worst.outcome is check.outcome is best.outcome:
        if check.outcome is not CheckOutcome.PASSED:
            return check
        return replace(
            check, reason=f"{format_missing_claim_counts(bounds.counts, unit, _SAY)}; {lowest}"
        )
    why = (
        f"{format_missing_claim_counts(bounds.counts, unit, _SAY_OPTION)}; {lowest}, "
        f"{other} {_describe_checked_value(best, wanted)}"
    )
    return replace(check, outcome=CheckOutcome.UNDECIDED, reason=why)


_UNPAIRED_WORDS = (
    "has a verdict of one of the two runs alone",
    "have a verdict of one of the two runs alone",
)
_SAY, _SAY_OPTION = "{what}", "{what} (--accept {code} {way})"
_BY_FIGURE = (CheckOutcome.PASSED, CheckOutcome.BELOW)
"""Outcomes that a figure decided."""


def _check_criterion_of_report(
    report: LevelReport, criterion: Criterion, wanted: Thresholds
) -> CriterionCheck:
    figures = select_figures_gate_may_rely_on(report, among_labelled=wanted.among_labelled)
    (found,) = (
        each
        for each in check_figures_against_thresholds(figures, wanted, None)
        if each.criterion is criterion
    )
    return found


def format_missing_claim_counts(
    counts: Mapping[str, int], unit: tuple[str, str], pattern: str = _SAY_OPTION
) -> str:
    """Say how many claims are missing and why, each kind as the pattern has it.

    Args:
        counts: How many, by the code of the warning or `UNPAIRED_CLAIMS`.
        unit: What a claim is called, one and many.
        pattern: With the fields `what`, `code` and `way`.
    """
    words = {**MISSING_WORDS, UNPAIRED_CLAIMS: _UNPAIRED_WORDS}
    return ", ".join(
        pattern.format(
            what=f"{count:,} {unit[count != 1]} {words[code][count != 1]}",
            code=code,
            way=_describe_acceptance(code, count),
        )
        for code, count in counts.items()
    )


def _describe_acceptance(code: str, count: int) -> str:
    """Say what `--accept` does about claims that are missing, or whose labels are doubtful."""
    them = "it" if count == 1 else "them"
    if code == OVERRULED:
        return "counts what most say"
    return f"counts {them} as labelled" if code in DOUBTFUL else f"leaves {them} out"


def _describe_checked_value(check: CriterionCheck, wanted: Thresholds) -> str:
    """Give the number that is held against the threshold."""
    found = check.estimate
    if found is None or found.value is None:
        return "the figure has no value"
    if wanted.basis is ThresholdBasis.LOWER and found.ci_low is not None:
        return f"the lower end is {found.ci_low:.3f}"
    return f"the value is {found.value:.3f}"
