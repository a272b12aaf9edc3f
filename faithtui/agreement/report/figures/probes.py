"""Figures of what small changes to claims do to a judge's verdicts."""

from typing import Final

from faithtui.agreement.report.model import ProbeFigures
from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.domain.probes.perturbations import ProbeKind

PROBED_KINDS: Final = tuple(kind for kind in ProbeKind if kind is not ProbeKind.COPY)
"""A copy of a claim asks the same question again."""


def estimate_changed_verdict_share(kind: ProbeKind, probes: int, changed: int) -> ProbeFigures:
    """Give the share of verdicts that changed, with its interval.

    Args:
        kind: What was changed.
        probes: Changed claims with a verdict; at least one.
        changed: Those on which the verdict changed.
    """
    share = changed / probes
    low, high = wilson_interval(share, probes)
    return ProbeFigures(kind, kind.effect, probes, changed, share, low, high)
