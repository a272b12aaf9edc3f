"""The sentences on top of a report, and how counts are put into words."""

from collections.abc import Sequence

from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.figures.missing_figures import explain_missing_kappa
from faithtui.agreement.report.model import (
    AgreementReport,
    Coverage,
    Detection,
    LevelReport,
)
from faithtui.agreement.report.settings import ReportLevel, Severity
from faithtui.domain.estimates import Estimate

_FEW = 10
"""Units below which a number of 100 would promise more than is known, so that all are counted."""

_LEFT_OUT = {
    "tied": "with as many annotators for as against",
    "not_a_claim": "labelled x",
    "idk_excluded": "called idk",
    "other_words": "with a word not in the label set",
    "no_verdict": "without a verdict",
    "vacuous": "without claims",
    "unscored": "without a score",
}
"""Why labelled units are not compared, by the name of the count."""


def count_left_out_by_reason(coverage: Coverage) -> dict[str, int]:
    """Say why labelled units are not compared with the judge, and how many for each reason."""
    counts = {words: getattr(coverage, name) for name, words in _LEFT_OUT.items()}
    return {words: count for words, count in counts.items() if count}


def format_headline(report: LevelReport, passing: Sequence[str], judge: str = "") -> str:
    """Say in plain sentences how far the judge can be trusted at a level.

    Args:
        report: Of the level.
        passing: Labels that pass by the run's rule; units with another one are unfaithful here.
        judge: Name of the judge.

    Returns:
        What the judge misses and what it flags wrongly, then the corrected share where a sample
        allows one, then kappa.
    """
    errors = _describe_errors(report, passing, judge or "the judge")
    if errors.startswith("the judge "):
        errors = f"T{errors[1:]}"
    rates = _describe_judge_and_corrected_rates(report, "It" if errors else judge)
    return f"{errors}{rates}{_describe_agreement(report)}"


def describe_judge_as_annotator(report: AgreementReport, level: ReportLevel) -> str:
    """Say whether the judge may stand in for an annotator: only if it is shown to agree as well.

    That is shown where the lower limit of its kappa with the label of most annotators is at
    least the upper limit of the annotators' alpha among themselves, on labels that were drawn at
    random or are all there are, and no warning of the level forbids to rely on them.

    Returns:
        A sentence; "" without a label to compare, and without intervals, as right after a label.
    """
    found, humans = report.get_level(level), report.get_human_agreement_at_level(level)
    if not found.agreement.n or found.percent_agreement.ci_low is None:
        return ""
    kappa = found.cohen_kappa
    not_yet = "The judge may not replace an annotator yet: "
    is_of_corrections = found.design.kind is DesignKind.OVERRIDE_ONLY
    if kappa.ci_low is not None and kappa.ci_low <= 0 and not is_of_corrections:
        return f"{not_yet}it may agree no better than chance: kappa {_format_interval(kappa)}."
    if found.design.kind in (DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        return f"{not_yet}the labels are no random sample."
    if humans is None or humans.krippendorff_alpha.value is None:
        return f"{not_yet}how well annotators agree with each other is not known."
    alpha = humans.krippendorff_alpha
    if alpha.ci_low is None or alpha.ci_high is None or alpha.ci_low <= 0:
        return f"{not_yet}annotators are not shown to agree with each other."
    if kappa.value is None or kappa.ci_low is None:
        return f"{not_yet}its kappa with annotators is not known."
    if kappa.ci_low < alpha.ci_high:
        return (
            f"{not_yet}its kappa may be as low as {kappa.ci_low:.2f}, and the alpha of annotators "
            f"with each other as high as {alpha.ci_high:.2f}."
        )
    if any(
        each.severity is Severity.BLOCKING and each.level in (None, level)
        for each in report.warnings
    ):
        return f"{not_yet}see the warnings."
    return (
        "The judge agrees with the majority of annotators at least as well as they do with each "
        f"other (alpha {alpha.value:.2f})."
    )


def _format_interval(estimate: Estimate) -> str:
    """Write a figure with its interval."""
    return f"{estimate.value:.2f} [{estimate.ci_low:.2f}, {estimate.ci_high:.2f}]"


def _describe_errors(report: LevelReport, passing: Sequence[str], judge: str) -> str:
    """Say how many unfaithful units the judge misses and how many faithful ones it flags."""
    if not report.agreement.n:
        return ""
    if report.design.kind is DesignKind.OVERRIDE_ONLY:
        return f"The labels are corrections of {judge} alone: how often it is wrong is not known. "
    found, (one, many) = choose_unfaithful_detection(report, passing), report.unit
    named = describe_unfaithful_labels(report, passing)
    labelled = "" if report.design.kind is DesignKind.CENSUS else " labelled"
    unfaithful = found.tp + found.fn
    if not unfaithful:
        return f"No{labelled} {one} is unfaithful{named}, so what {judge} misses is not known. "
    faithful = found.fp + found.tn
    rates = found.recall.value, found.specificity.value
    if unfaithful < _FEW or 0 < faithful < _FEW or None in rates[: 2 if faithful else 1]:
        # One of them counted and the other of 100 could not be compared. A sample whose weights
        # are not known has counts alone.
        few = format_number_with_noun(unfaithful, f"unfaithful {one}", f"unfaithful {many}")
        few += named
        ones = format_number_with_noun(faithful, "faithful one", "faithful ones")
        flagged = f" and flags {found.fp:,} of {ones}" if faithful else ""
        return f"{judge} misses {found.fn:,} of {few}{' with a label' * bool(labelled)}{flagged}. "
    among = f"Among the labelled {many}, " if report.design.kind is DesignKind.CONVENIENCE else ""
    if report.design.is_biased_by_ignored_strata:
        among = f"Among the labelled {many}, counted alike though drawn by strata, "
    missed = (
        f"{judge} misses {_format_errors_per_hundred(found.recall, f'unfaithful {many}{named}')}"
    )
    if faithful:
        missed += f" and flags {_format_errors_per_hundred(found.specificity, 'faithful ones')}"
    return f"{among}{missed}. "


def choose_unfaithful_detection(report: LevelReport, passing: Sequence[str]) -> Detection:
    """Choose the figures in which unfaithful is what does not pass.

    Args:
        report: Of the level.
        passing: Labels that pass by the run's rule.
    """
    lenient = report.lenient
    if lenient is not None and set(lenient.positive).isdisjoint(passing):
        return lenient
    return report.strict


def describe_unfaithful_labels(report: LevelReport, passing: Sequence[str]) -> str:
    """Say which labels count as unfaithful, ` (no or idk)`; "" where the bad ones alone do."""
    chosen = choose_unfaithful_detection(report, passing)
    if chosen.positive == report.strict.positive:
        return ""
    return f" ({' or '.join(chosen.positive)})"


def _format_errors_per_hundred(right: Estimate, units: str) -> str:
    """Say of how many of 100 units the judge is wrong, from the share on which it is right."""
    assert right.value is not None
    wrong = f"{100 * (1 - right.value):.0f} of 100 {units}"
    if right.ci_low is None or right.ci_high is None:
        return wrong
    return f"{wrong} [{100 * (1 - right.ci_high):.0f}, {100 * (1 - right.ci_low):.0f}]"


def _describe_judge_and_corrected_rates(report: LevelReport, judge: str) -> str:
    """Say the judge's rate and the corrected ones; "" where there are none."""
    rate, many = report.rate, report.unit[1]
    if rate.corrected_this_run.value is None or rate.judge_raw.value is None:
        return ""
    population = report.design.population
    of_what = f"the {many}" if population is None else _describe_population(report)
    judge_rate = f"{judge or 'The judge'} passes {rate.judge_raw.value:.1%} of {of_what}"
    labelled = format_number_with_noun(rate.corrected_this_run.n, "human label", "human labels")
    future = (
        f"; {_format_share(rate.corrected_future)} expected of new conversations"
        if rate.corrected_future.has_interval
        else ""
    )
    where = report.design.run_or_population_words
    corrected = f"{_format_share(rate.corrected_this_run)} in {where}{future}"
    return f"{judge_rate}; corrected with {labelled}: {corrected}. "


def _describe_population(report: LevelReport) -> str:
    population, (one, many) = report.design.population, report.unit
    assert population is not None
    units = format_number_with_noun(population.claim_count, one, many)
    return (
        f"{units} in {format_number_with_noun(population.judged, 'conversation', 'conversations')}"
    )


def _format_share(found: Estimate) -> str:
    if found.ci_low is None or found.ci_high is None or found.ci_low == found.ci_high:
        return f"{found.value:.1%}"
    return f"{found.value:.1%} [{found.ci_low:.1%}, {found.ci_high:.1%}]"


def _describe_agreement(report: LevelReport) -> str:
    one, many = report.unit
    coverage = report.coverage
    if not coverage.reviewed:
        return "No human labels yet: whether the judge can be trusted is not known."
    if not coverage.compared:
        return (
            f"Annotators labelled {format_number_with_noun(coverage.reviewed, one, many)}, "
            "and none can be compared with the judge."
        )
    inside, table = report.agreement, report.table
    if not inside.n:
        labelled = format_number_with_noun(coverage.compared, f"labelled {one}", f"labelled {many}")
        return f"None of the {labelled} is of the sample."
    where = f"{format_number_with_noun(inside.n, one, many)} from {format_group_count(report)}"
    kappa = report.cohen_kappa
    same = f"On {where} judge and human label are the same for {table.agreed_count:,}"
    if report.design.kind is DesignKind.OVERRIDE_ONLY:
        return f"{same}."
    if kappa.value is None:
        return f"{same}; Cohen's kappa is {kappa.status} ({explain_missing_kappa(report)})."
    return (
        f"On {where} judge and human labels agree with Cohen's kappa "
        f"{_format_value_with_interval(kappa)}; "
        f"they gave the same label to {table.agreed_count:,} of {inside.n:,}."
    )


def _format_value_with_interval(estimate: Estimate) -> str:
    if estimate.ci_low is None or estimate.ci_high is None or estimate.level is None:
        if estimate.reason is None:
            return f"{estimate.value:.2f} (its interval is still to come)"
        return f"{estimate.value:.2f} (no interval: {estimate.reason.words})"
    return f"{_format_interval(estimate)} ({estimate.level:.0%} interval)"


def format_group_count(report: LevelReport) -> str:
    """Say from how many groups the compared units come."""
    word = report.coverage.group_word
    return format_number_with_noun(report.agreement.clusters, word.removesuffix("s"), word)


def format_number_with_noun(n: float, one: str, many: str) -> str:
    """Say how many there are of what."""
    return f"{n:,} {one if n == 1 else many}"
