"""The gate on change: a run is not worse than an earlier one by more than so much."""

from collections import Counter
from dataclasses import replace

from faithtui.agreement.gate.missing_labels import (
    DOUBTFUL,
    NO_CLAIM,
    OVERRULED,
    list_claims_missing_from_figures,
)
from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    CriterionCheck,
    Thresholds,
    check_accuracy_drop,
)
from faithtui.agreement.gate.warning_checks import (
    UNPAIRED_CLAIMS,
    format_missing_claim_counts,
    make_doubtful_checks_undecided,
)
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.report import PreparedUnits, compute_report_of_prepared_units
from faithtui.agreement.report.settings import ReportSettings
from faithtui.domain.ids import RunId
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.review.gate.chosen_labels import LabelSelection, find_label_selection
from faithtui.engine.review.reports.agreement_report import (
    JudgeChange,
    compare_run_judges,
    read_weighted_run_units,
)
from faithtui.errors import ConfigError
from faithtui.store.records import RunRow
from faithtui.store.store import Store

_UNDRAWN = (DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY)


def check_accuracy_against_earlier_run(
    store: Store,
    row: RunRow,
    against: RunId | None,
    most: float,
    settings: ReportSettings,
    wanted: Thresholds,
) -> CriterionCheck:
    """Hold the accuracy of a run against that of an earlier one, on the claims of both.

    Args:
        store: Where they are.
        row: The run.
        against: The earlier one; None: it is not in this store.
        most: By how much accuracy may be lower, in [0, 1].
        settings: How labels count.
        wanted: What has to reach the threshold, and what is accepted.

    Returns:
        Undecided where it would pass while claims are left out that are not accepted (they may be
        those on which the run is worse), or in spite of a warning of the labels, which are those
        of the earlier run.

    Raises:
        ConfigError: It is the same run, or `most` cannot be.
        StoreError: There is no such run, or their metrics have other labels.
    """
    if not 0 <= most <= 1:
        raise ConfigError(f"--max-drop is {most}; expected 0 to 1")
    if against is None:
        return CriterionCheck(
            Criterion.CHANGE,
            0.0 - most,
            CheckOutcome.UNKNOWN,
            None,
            reason="the certified run is not in this store: name a run with --against",
        )
    if against == row.id:
        raise ConfigError(
            f"run {row.id} is the run that it would be compared with; name an earlier one with "
            "--against"
        )
    before = store.runs.read_run(against)
    prepared = read_weighted_run_units(store, before, settings)
    change = compare_run_judges(store, before, row, prepared)
    found, paired, prepared = change.report, change.claims, change.weighed
    compared = prepared.compared.claims_weighted_for_comparison_with_other_judge
    known = prepared.labels.names
    first, second = (
        [prepared.recode_single_label(label) in known for label in column]
        for column in (
            [each.first for each in paired.claims],
            [each.second for each in paired.claims],
        )
    )
    # Accuracy is over fair claims, of which nobody knows how many differ.
    all_fair = bool(compared.all.is_fair.all())
    undrawn = compared.design.kind in _UNDRAWN and not wanted.among_labelled
    agreed = found.judges.percent.value
    if _was_judged_because_drawn(store, row, change, settings):
        # What was judged because it was drawn says nothing of how often they differ elsewhere.
        agreed = None
    doubt = WithheldReason.DESIGN_NOT_RANDOM.words if undrawn else ""
    if found.difference.reason is WithheldReason.NO_ITEMS:
        doubt = "no labelled claim has a verdict of both runs"
    check = check_accuracy_drop(
        found.difference,
        0.0 - most,
        wanted.basis,
        differing=1 - agreed if agreed is not None and all_fair else None,
        doubt=doubt,
    )
    # A run that differs too little to be worse passes by that reason, whatever the labels.
    weighed = before if change.is_of_first else row
    selection = find_label_selection(store, weighed, prepared.readings)
    needed = () if check.reason else list_claims_missing_from_figures(compared, selection.doubtful)
    # No drop hides where both say the same of a claim that is called unfair, or is disputed.
    differing = {each.claim for each in paired.claims if each.first != each.second}
    rows = compared.all.rows
    missing = Counter(
        code
        for place, code in needed
        if code not in (NO_CLAIM, OVERRULED, *DOUBTFUL) or rows[place].claim in differing
    )
    missing[UNPAIRED_CLAIMS] = (
        paired.only_first
        + paired.only_second
        + sum(here != there for here, there in zip(first, second, strict=True))
    )
    left_out = {code: n for code, n in sorted(missing.items()) if n and code not in wanted.accepted}
    if check.outcome is not CheckOutcome.PASSED:
        return check
    if not left_out:
        # A run that differs too little to be worse rests on no label.
        return (
            check
            if check.reason
            else _make_change_check_undecided_if_warned(check, prepared, wanted, selection)
        )
    why = format_missing_claim_counts(left_out, ("claim", "claims"))
    return replace(check, outcome=CheckOutcome.UNDECIDED, reason=why)


def _was_judged_because_drawn(
    store: Store, row: RunRow, change: JudgeChange, settings: ReportSettings
) -> bool:
    """Say whether one of two runs judged claims because they were drawn, or passed them over."""
    if change.weighed.readings.design.follows_draw or not change.is_of_first:
        return True
    if not change.claims.only_first:
        return False
    return read_weighted_run_units(store, row, settings).readings.design.follows_draw


def _make_change_check_undecided_if_warned(
    check: CriterionCheck,
    prepared: PreparedUnits,
    wanted: Thresholds,
    selection: LabelSelection,
) -> CriterionCheck:
    """Ask about the warnings of the report whose labels a change rests on."""
    report = compute_report_of_prepared_units(prepared)
    warnings = (*report.warnings, *selection.warnings)
    (asked,) = make_doubtful_checks_undecided((check,), warnings, prepared, report.claims, wanted)
    return asked
