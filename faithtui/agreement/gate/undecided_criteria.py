"""Why a gate has no figure to decide by, and what would give one.

"Not enough labels" is true only where more labels help. A judge that never says no has a recall of
0 or none, and a kappa of 0 or none, however much is labelled.
"""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace

from faithtui.agreement.gate.threshold_checks import CheckOutcome, Criterion, CriterionCheck
from faithtui.agreement.report.figures.missing_figures import (
    explain_missing_kappa,
    explain_nothing_compared,
    find_only_label,
)
from faithtui.agreement.report.model import LevelReport
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate
from faithtui.domain.withheld_reasons import WithheldReason

_FIGURES = (Criterion.KAPPA, Criterion.RECALL, Criterion.SCORE)
_SAMPLE = "a sample by verdict (faithtui label {run} --sample stratified) has more of the rare ones"
_OTHER_JUDGE = "labels do not change that, another prompt or judge does"
_OF_CERTIFICATE = "on the certified run: {why}"
_UNINFORMATIVE = (
    "by the certified labels the judge may fail as many of the units that pass as of those that "
    "do not, so that its share says nothing of this run: label a sample of it (faithtui label "
    "{run} --sample simple)"
)

_ERRS_OTHERWISE = (
    "the judge fails fewer or more units of this run than its certified recall and specificity "
    "explain, whatever share passes, so that it does not err here as it did there: label a sample "
    "of this run (faithtui label {run} --sample simple)"
)


def explain_missing_figures(
    checks: Sequence[CriterionCheck],
    level: LevelReport,
    run: str,
    of_labels: Collection[Criterion],
) -> tuple[CriterionCheck, ...]:
    """Say of each criterion without a figure, or without its interval, why and what to do.

    Of a recall that is below, too, where the judge cannot have another.

    Args:
        checks: As thresholds and warnings have them.
        level: What they are about.
        run: Names the run in a command.
        of_labels: Criteria whose figures come from the labels of this run, not of a certificate.
    """
    return tuple(
        _replace_reason_of_missing_figure(each, level, run, is_own=each.criterion in of_labels)
        if each.outcome in (CheckOutcome.UNKNOWN, CheckOutcome.BELOW) and each.criterion in _FIGURES
        else each
        for each in checks
    )


def _replace_reason_of_missing_figure(
    check: CriterionCheck, level: LevelReport, run: str, *, is_own: bool
) -> CriterionCheck:
    found = check.estimate
    if found is None or found.reason is WithheldReason.DESIGN_NOT_RANDOM:
        return check
    if check.outcome is CheckOutcome.BELOW or found.reason is None:
        is_helpless = (
            is_own
            and check.criterion is Criterion.RECALL
            and not _has_flagged_or_unjudged_unit(level)
        )
        return _explain_recall_without_unfaithful(check, level, run) if is_helpless else check
    if not is_own:
        if found.reason is WithheldReason.UNINFORMATIVE_JUDGE:
            return replace(check, reason=_UNINFORMATIVE.format(run=run))
        if found.reason is WithheldReason.RATE_OUT_OF_RANGE:
            return replace(check, reason=_ERRS_OTHERWISE.format(run=run))
        return replace(check, reason=_OF_CERTIFICATE.format(why=check.reason))
    if found.reason is WithheldReason.NO_ITEMS:
        return replace(check, reason=explain_nothing_compared(level))
    # A figure that no label can change needs no interval.
    if check.criterion is Criterion.KAPPA and (
        found.reason is WithheldReason.NO_VARIATION or _find_constant_judge_verdict(level)
    ):
        return _explain_constant_kappa(check, level, run)
    if check.criterion is Criterion.RECALL and (
        found.reason is WithheldReason.NO_REFERENCE_POSITIVES
        or not _has_flagged_or_unjudged_unit(level)
    ):
        return _explain_recall_without_unfaithful(check, level, run)
    if found.value is not None:
        return replace(check, reason=_explain_no_interval(found, check.criterion, level))
    return check


def _suggest_how_to_get_labels(level: LevelReport, run: str) -> str:
    """Say what gives more of what the labels lack."""
    many, groups = level.unit[1], level.coverage.group_word
    population = level.design.population
    if population is not None:
        # A sample of what was drawn stands for nothing. Claims are drawn also for answers, and a
        # draw that adds to another keeps its design and strata.
        return (
            "draw and label more claims of the population (faithtui sample "
            f"{shlex.quote(population.results)})"
        )
    if not level.coverage.unreviewed:
        return f"all {many} of this run are labelled, so that other {groups} have to be judged"
    return f"label more {many}; {_SAMPLE.format(run=run)}"


def _find_constant_judge_verdict(level: LevelReport) -> str | None:
    """Name the verdict of the judge on all units of the run; None: it gave several, or not all."""
    counts = level.coverage.by_verdict
    return find_only_label([each.units for each in counts], [each.judge or "" for each in counts])


def _has_flagged_or_unjudged_unit(level: LevelReport) -> bool:
    """Say whether the judge calls any unit of the run unfaithful, or gave one no verdict."""
    wanted = (*level.strict.positive, None)
    return any(each.units for each in level.coverage.by_verdict if each.judge in wanted)


def _explain_no_interval(found: Estimate, criterion: Criterion, level: LevelReport) -> str:
    """Say of how few groups a figure is, as its interval takes more."""
    assert found.reason is not None
    if found.reason is not WithheldReason.TOO_FEW_CLUSTERS:
        return f"no interval: {found.reason.words}"
    many, groups = level.unit[1], level.coverage.group_word
    if found.clusters >= FEWEST_GROUPS:
        return f"no interval: {found.reason.words}; label {many} of more {groups}"
    what = f"unfaithful {many}" if criterion is Criterion.RECALL else f"labelled {many}"
    where = f"{found.clusters} {groups if found.clusters != 1 else groups.removesuffix('s')}"
    return (
        f"no interval: the {found.n:,} {what} are of {where}, too few: "
        f"label {many} of more {groups}"
    )


def _explain_constant_kappa(check: CriterionCheck, level: LevelReport, run: str) -> CriterionCheck:
    """Say of a kappa without variation whose labels are all alike.

    Where the judge says the same of the whole run, kappa is 0, or has no value, whatever is
    labelled: below any threshold that asks for more.
    """
    many, always = level.unit[1], _find_constant_judge_verdict(level)
    human = find_only_label(level.table.reference_totals, level.table.categories)
    if always:
        outcome = CheckOutcome.UNDECIDED
        if human is None and check.threshold > 0:
            outcome = CheckOutcome.BELOW
        words = "is 0 whatever annotators say" if human is None else "is 0 or has no value"
        reason = f"the judge says {always} to all {many} in this run, so that kappa {words}"
        return replace(check, outcome=outcome, reason=f"{reason}: {_OTHER_JUDGE}")
    among = f"of the {level.table.n:,} compared {many}"
    way = _suggest_how_to_get_labels(level, run)
    return replace(check, reason=f"{explain_missing_kappa(level)} {among}: {way}")


def _explain_recall_without_unfaithful(
    check: CriterionCheck, level: LevelReport, run: str
) -> CriterionCheck:
    one, many = level.unit
    words = " or ".join(level.strict.positive)
    units = f"{level.table.n:,} labelled {many if level.table.n != 1 else one}"
    none = f"annotators call none of the {units} {words}"
    if _has_flagged_or_unjudged_unit(level):
        way = _suggest_how_to_get_labels(level, run)
        return replace(check, reason=f"{none}, so that there is none to find: {way}")
    counts = {each.judge: each.units for each in level.coverage.by_verdict}
    way = "--idk fail counts its idk as unfaithful" if counts.get("idk") else _OTHER_JUDGE
    never = f"the judge never says {words} in this run"
    if check.value is None:
        reason = f"{never}, and {none}: of any that there are it finds none; {way}"
        return replace(check, outcome=CheckOutcome.UNDECIDED, reason=reason)
    outcome = CheckOutcome.BELOW if check.threshold > 0 else CheckOutcome.UNDECIDED
    return replace(check, outcome=outcome, reason=f"{never}, so that it finds none; {way}")
