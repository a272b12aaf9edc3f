"""Whether a judge is good enough: figures held against thresholds, each with a reason.

A threshold is reached when the lower end of the interval reaches it: what the labels show, not what
they suggest. What has no value or no interval has not passed, and is told apart from what falls
short.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from faithtui.agreement.confusion_matrix import FEW_ITEMS
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.settings import FEW_MINORITY, ReportLevel
from faithtui.domain.estimates import Estimate, EstimateStatus, make_withheld_estimate
from faithtui.domain.withheld_reasons import WithheldReason

_ROUNDING = 1e-12
"""Differences below this are rounding: 0.7 of ten is 0.7."""


class CheckOutcome(StrEnum):
    """What came of a check, and of all of them. Exported word for word."""

    PASSED = "passed"
    BELOW = "below"
    """The figure falls short, or has not been shown to reach its threshold."""
    UNDECIDED = "undecided"
    """There is a figure, and its interval is not one to decide by."""
    UNKNOWN = "not enough labels"
    """The labels there are allow no such figure."""
    STALE = "stale"
    """What was certified is not what is here, or nothing here can be relied on."""


NO_SAMPLE = "no random sample"
"""What readers see for `UNKNOWN` where the labelled units are no random sample."""

EXIT_CODES = {
    CheckOutcome.PASSED: 0,
    CheckOutcome.BELOW: 1,
    CheckOutcome.UNDECIDED: 2,
    CheckOutcome.UNKNOWN: 2,
    CheckOutcome.STALE: 3,
}
"""Of the command. The last of several in this order wins."""


class ThresholdBasis(StrEnum):
    """Which number has to reach a threshold. Exported word for word."""

    LOWER = "lower"
    """The lower end of the interval."""
    POINT = "point"
    """The value itself."""


class Criterion(StrEnum):
    """What can be asked for. Exported word for word."""

    LABELS = "labels"
    KAPPA = "cohen_kappa"
    RECALL = "recall_no"
    SCORE = "corrected_score"
    AGE = "age_days"
    CHANGE = "accuracy_change"


CRITERION_TITLES = {
    Criterion.LABELS: "labels",
    Criterion.KAPPA: "Cohen's kappa",
    Criterion.RECALL: "recall of no",
    Criterion.SCORE: "corrected score",
    Criterion.AGE: "age in days",
    Criterion.CHANGE: "change of accuracy",
}


CLOCKS_DIFFER = 1.0
"""Days by which the clocks of two machines may differ."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What is asked for; None: not asked."""

    kappa: float | None = None
    """In [-1, 1]."""
    recall_no: float | None = None
    """In [0, 1]."""
    score: float | None = None
    """In [0, 1]."""
    labels: int = FEW_ITEMS
    """Units that annotators and judge both labelled, at least."""
    age_days: float | None = None
    """At most."""
    basis: ThresholdBasis = ThresholdBasis.LOWER
    among_labelled: bool = False
    """Kappa and recall count although nobody drew the labelled units at random."""
    accepted: tuple[str, ...] = ()
    """Codes of the report's warnings that are accepted, sorted; see `warning_checks`."""
    max_drop: float | None = None
    """By how much accuracy may be lower than that of an earlier run, in [0, 1]."""

    @property
    def asks_for_judge_figure(self) -> bool:
        """Whether anything is asked of the judge, and not of labels or time alone."""
        asked = (self.kappa, self.recall_no, self.score, self.max_drop)
        return any(each is not None for each in asked)


@dataclass(frozen=True, slots=True)
class GateFigures:
    """The figures of a run that a gate looks at."""

    level: ReportLevel
    design: DesignKind
    labels: int
    """Units in the figures."""
    groups: int
    """Groups of these."""
    kappa: Estimate
    recall_no: Estimate
    """Share of what annotators call unfaithful that the judge calls so too, strict."""
    score: Estimate
    """Share that passes by human labels, of this run: the corrected rate."""


@dataclass(frozen=True, slots=True)
class CriterionCheck:
    """One criterion and what came of it."""

    criterion: Criterion
    threshold: float
    outcome: CheckOutcome
    value: float | None
    """Labels, days or the figure's value."""
    estimate: Estimate | None = None
    """The figure with its interval; None for labels and age."""
    reason: str = ""
    """Why it has not passed, where the numbers do not say it; or what it passes in spite of."""
    reasons: tuple[str, ...] = ()
    """What `reason` joins, each with its way out; (): it is one."""

    @property
    def is_design_refused(self) -> bool:
        """Whether there is no figure because of how units were chosen, not of how many."""
        return (
            self.outcome is CheckOutcome.UNKNOWN
            and self.estimate is not None
            and self.estimate.reason is WithheldReason.DESIGN_NOT_RANDOM
        )

    @property
    def outcome_words(self) -> str:
        """What came of it, for readers."""
        return NO_SAMPLE if self.is_design_refused else self.outcome.value


def describe_outcome(outcome: CheckOutcome, checks: Iterable[CriterionCheck]) -> str:
    """Say what came of all checks, for readers: few labels only where that is a cause."""
    lacking = [each for each in checks if each.outcome is CheckOutcome.UNKNOWN]
    if outcome is CheckOutcome.UNKNOWN and all(each.is_design_refused for each in lacking):
        return NO_SAMPLE
    return outcome.value


def select_figures_gate_may_rely_on(
    report: LevelReport, *, among_labelled: bool = False
) -> GateFigures:
    """Take from a report what a gate may rely on.

    Kappa and recall are withheld where the labelled units are no random sample: annotators look
    first where they expect trouble, which bends both. What annotators only corrected is never
    enough, nor is what a run judged of a sample because it was drawn: it has lost the weights of
    the drawing.

    Args:
        report: Of the level that is asked about.
        among_labelled: Accept units that nobody drew at random.
    """
    kind = report.design.kind
    refused = (
        kind is DesignKind.OVERRIDE_ONLY
        or report.design.follows_draw
        or (kind is DesignKind.CONVENIENCE and not among_labelled)
    )
    kappa, recall = _get_kappa_with_interval_if_perfect(report), report.strict.recall
    if refused:
        kappa, recall = (
            make_withheld_estimate(WithheldReason.DESIGN_NOT_RANDOM, each.n, each.clusters)
            for each in (kappa, recall)
        )
    return GateFigures(
        level=report.level,
        design=kind,
        labels=report.agreement.n,
        groups=report.agreement.clusters,
        kappa=kappa,
        recall_no=recall,
        score=report.rate.corrected_this_run,
    )


def _get_kappa_with_interval_if_perfect(report: LevelReport) -> Estimate:
    """Give kappa, with an interval also where judge and annotators never differ.

    A kappa of 1 has no variation between groups, so the report withholds it, and a perfect judge
    could never pass. Its lower end is taken from that of percent agreement with chance held fixed:
    kappa = (agreement - chance) / (1 - chance).
    """
    kappa, percent, chance = report.cohen_kappa, report.percent_agreement, report.chance_agreement
    if (
        kappa.reason is not WithheldReason.NO_VARIATION
        or kappa.status is not EstimateStatus.WITHHELD
        or percent.value != 1
        or percent.ci_low is None
        or chance is None
        or chance >= 1
    ):
        return kappa
    return Estimate(
        1.0,
        EstimateStatus.OK,
        kappa.n,
        kappa.clusters,
        ci_low=max(-1.0, (percent.ci_low - chance) / (1 - chance)),
        ci_high=1.0,
        level=percent.level,
        method=percent.method,
    )


def explain_doubtful_figures(
    found: GateFigures,
    this_run: Estimate,
    forecast: Estimate,
    run: str,
    *,
    lower_end: bool = True,
) -> dict[Criterion, str]:
    """Name the figures that must not decide, each with why and a way out.

    In a sample by strata the judge's misses lie in thinly drawn strata, where each weighs many
    labels: the value of recall alone, which is 1 where none was drawn, says little. And a forecast
    cannot be surer than what it is made from: where its interval is the narrower one, the labels
    happen to differ too little to tell how much conversations do.

    Args:
        found: The figures.
        this_run: The corrected score of the run that annotators labelled.
        forecast: The score to expect beyond it.
        run: Names the run that annotators labelled in a command, such as `3`.
        lower_end: The lower end of an interval computed from the labels at hand decides; not so
            with `--point`, and where a certificate has the figures.
    """
    known: dict[Criterion, str] = {}
    if found.design is DesignKind.STRATIFIED and not lower_end:
        known[Criterion.RECALL] = (
            "in a stratified sample one FN weighs many labels, so that only the lower end of the "
            "interval of the labelled run itself decides on recall: leave out --point and "
            f"--certificate, or label a simple sample (faithtui label {run} --sample simple) and "
            "name it with --sample"
        )
    expected, known_run = _compute_interval_width(forecast), _compute_interval_width(this_run)
    if expected is not None and known_run is not None and expected < known_run - _ROUNDING:
        known[Criterion.SCORE] = (
            f"the forecast for other conversations, {_format_interval(forecast)}, is "
            "narrower than the "
            f"interval of the labelled run itself, {_format_interval(this_run)}, which "
            "cannot be: label more "
            "claims, of more conversations"
        )
    return known


def _compute_interval_width(found: Estimate) -> float | None:
    if found.ci_low is None or found.ci_high is None:
        return None
    return found.ci_high - found.ci_low


def _format_interval(found: Estimate) -> str:
    return f"[{found.ci_low:.3f}, {found.ci_high:.3f}]"


def check_figures_against_thresholds(
    found: GateFigures,
    wanted: Thresholds,
    age_days: float | None,
    doubted: Mapping[Criterion, str] | None = None,
) -> tuple[CriterionCheck, ...]:
    """Hold figures against thresholds; what was not asked for is left out, but for labels.

    Args:
        found: The figures.
        wanted: The thresholds.
        age_days: Days since the older of the judge's verdicts and the newest label; None: no label.
        doubted: Figures that decide nothing, each with the reason, see `explain_doubtful_figures`.
    """
    results = [_check_label_count(found, wanted)]
    figures = (
        (Criterion.KAPPA, found.kappa, wanted.kappa),
        (Criterion.RECALL, found.recall_no, wanted.recall_no),
        (Criterion.SCORE, found.score, wanted.score),
    )
    why = doubted or {}
    results += [
        _check_figure_against_threshold(
            criterion, estimate, threshold, wanted.basis, why.get(criterion, "")
        )
        for criterion, estimate, threshold in figures
        if threshold is not None
    ]
    if wanted.age_days is not None:
        results.append(_check_label_age(age_days, wanted.age_days))
    return tuple(results)


def _check_label_count(found: GateFigures, wanted: Thresholds) -> CriterionCheck:
    enough = found.labels >= wanted.labels
    outcome = CheckOutcome.PASSED if enough else CheckOutcome.UNKNOWN
    missing = wanted.labels - found.labels
    reason = "" if enough else f"{missing:,} more {'is' if missing == 1 else 'are'} needed"
    return CriterionCheck(Criterion.LABELS, wanted.labels, outcome, found.labels, reason=reason)


def _check_label_age(age_days: float | None, most: float) -> CriterionCheck:
    if age_days is None:
        return CriterionCheck(
            Criterion.AGE, most, CheckOutcome.UNKNOWN, None, reason="nothing is labelled"
        )
    outcome = CheckOutcome.PASSED if -CLOCKS_DIFFER <= age_days <= most else CheckOutcome.STALE
    reason = ""
    if outcome is CheckOutcome.STALE:
        reason = (
            "too old"
            if age_days > most
            else "run and labels are dated after now: one of the clocks is wrong"
        )
    return CriterionCheck(Criterion.AGE, most, outcome, age_days, reason=reason)


def _check_figure_against_threshold(
    criterion: Criterion, found: Estimate, threshold: float, basis: ThresholdBasis, doubt: str
) -> CriterionCheck:
    check = CriterionCheck(criterion, threshold, CheckOutcome.UNKNOWN, found.value, found)
    if found.value is None:
        return replace(check, reason=found.reason.words if found.reason else "")
    if found.reason is WithheldReason.UNINFORMATIVE_JUDGE:
        # Its interval says what is possible, and a judge that guesses decides nothing.
        return replace(check, reason=found.reason.words)
    if doubt:
        return replace(check, outcome=CheckOutcome.UNDECIDED, reason=doubt)
    if basis is ThresholdBasis.LOWER and found.ci_low is None:
        why = f": {found.reason.words}" if found.reason else ""
        return replace(check, reason=f"no interval{why}")
    if basis is ThresholdBasis.POINT and criterion is Criterion.RECALL and found.n < FEW_MINORITY:
        # Without an interval nothing else keeps two lucky hits from passing.
        return replace(
            check, reason=f"annotators found {found.n} unfaithful; {FEW_MINORITY} are needed"
        )
    low = (
        found.ci_low if basis is ThresholdBasis.LOWER and found.ci_low is not None else found.value
    )
    if low >= threshold - _ROUNDING:
        return replace(check, outcome=CheckOutcome.PASSED)
    reason = _explain_below(found, threshold, basis)
    return replace(check, outcome=CheckOutcome.BELOW, reason=reason)


def _explain_below(found: Estimate, threshold: float, basis: ThresholdBasis) -> str:
    """Say how far a figure is from its threshold, so that one sees whether labels may help."""
    if found.value is not None and found.value >= threshold - _ROUNDING:
        return "the value reaches it, the lower end of its interval does not"
    if basis is ThresholdBasis.POINT or found.ci_high is None:
        return "the value is below it"
    if found.ci_high < threshold - _ROUNDING:
        return "all of the interval is below it"
    return "the value is below it, the upper end of its interval is not"


def check_accuracy_drop(
    difference: Estimate,
    threshold: float,
    basis: ThresholdBasis,
    *,
    differing: float | None,
    doubt: str = "",
) -> CriterionCheck:
    """Hold the change of accuracy against the largest drop that is accepted.

    Accuracy cannot change by more than the share of claims on which the two runs differ, labelled
    or not; so the lower end is never below that.

    Args:
        difference: Accuracy now minus accuracy before, on the same labelled claims.
        threshold: At least, in [-1, 0].
        basis: What has to reach it.
        differing: Share of the claims of both runs on which they differ; None: there is none.
        doubt: Why the labels allow no such figure; "": they do.
    """
    check = CriterionCheck(
        Criterion.CHANGE, threshold, CheckOutcome.UNKNOWN, difference.value, difference
    )
    ends = [] if differing is None else [-differing]
    if differing is not None and -differing >= threshold - _ROUNDING:
        return replace(
            check,
            outcome=CheckOutcome.PASSED,
            reason=f"the runs differ on {differing:.1%} of the claims, so it is no larger",
        )
    if difference.value is None or doubt:
        return replace(
            check, reason=doubt or (difference.reason.words if difference.reason else "")
        )
    if basis is ThresholdBasis.POINT:
        ends = [difference.value]
    elif difference.ci_low is None:
        why = f": {difference.reason.words}" if difference.reason else ""
        return replace(check, reason=f"no interval{why}")
    else:
        ends.append(difference.ci_low)
    if max(ends) >= threshold - _ROUNDING:
        return replace(check, outcome=CheckOutcome.PASSED)
    reason = _explain_below(difference, threshold, basis)
    return replace(check, outcome=CheckOutcome.BELOW, reason=reason)


def choose_worst_outcome(outcomes: Iterable[CheckOutcome]) -> CheckOutcome:
    """Combine outcomes: stale before unknown before undecided before below before passed."""
    return max(outcomes, key=[*EXIT_CODES].index, default=CheckOutcome.PASSED)
