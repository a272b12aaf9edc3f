"""The sentence on top of a report, and how counts are put into words."""

from faithtui.agreement.report.model import LevelReport
from faithtui.domain.estimates import Estimate


def write_headline(report: LevelReport, judge: str = "") -> str:
    """Say in a sentence or two how far the judge can be trusted at a level."""
    return f"{_describe_rates(report, judge)}{_describe_agreement(report)}"


def _describe_rates(report: LevelReport, judge: str) -> str:
    """Say the judge's rate and the corrected ones; "" where there are none."""
    rate, many = report.rate, report.unit[1]
    if rate.corrected_this_run.value is None or rate.judge_raw.value is None:
        return ""
    said = f"{judge or 'The judge'} passes {rate.judge_raw.value:.1%} of the {many}"
    labelled = format_quantity(rate.corrected_this_run.n, "human label", "human labels")
    future = (
        f"; {_format_share(rate.corrected_future)} expected of new conversations"
        if rate.corrected_future.has_interval
        else ""
    )
    corrected = f"{_format_share(rate.corrected_this_run)} in this run{future}"
    return f"{said}; corrected with {labelled}: {corrected}. "


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
            f"Annotators labelled {format_quantity(coverage.reviewed, one, many)}, "
            "and none can be compared with the judge."
        )
    inside, table = report.agreement, report.table
    if not inside.n:
        labelled = format_quantity(coverage.compared, f"labelled {one}", f"labelled {many}")
        return f"None of the {labelled} is of the sample."
    where = f"{format_quantity(inside.n, one, many)} from {format_group_count(report)}"
    kappa = report.cohen_kappa
    if kappa.value is None:
        why = kappa.reason.words if kappa.reason else ""
        return (
            f"On {where} judge and human label are the same for {table.agreed_count:,}; "
            f"Cohen's kappa is {kappa.status} ({why})."
        )
    return (
        f"On {where} judge and human labels agree with Cohen's kappa {_format_interval(kappa)}; "
        f"they gave the same label to {table.agreed_count:,} of {inside.n:,}."
    )


def _format_interval(estimate: Estimate) -> str:
    if estimate.ci_low is None or estimate.ci_high is None or estimate.level is None:
        if estimate.reason is None:
            return f"{estimate.value:.2f} (its interval is still to come)"
        return f"{estimate.value:.2f} (no interval: {estimate.reason.words})"
    return (
        f"{estimate.value:.2f} [{estimate.ci_low:.2f}, {estimate.ci_high:.2f}] "
        f"({estimate.level:.0%} interval)"
    )


def format_group_count(report: LevelReport) -> str:
    """Say from how many groups the compared units come."""
    word = report.coverage.group_word
    return format_quantity(report.agreement.clusters, word.removesuffix("s"), word)


def format_quantity(n: float, one: str, many: str) -> str:
    """Say how many there are of what."""
    return f"{n:,} {one if n == 1 else many}"
