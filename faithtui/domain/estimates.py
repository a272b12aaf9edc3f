"""A number that says how sure it is, or why it is not there (`withheld_reasons`).

What must never happen here: NaN, or 0 in the place of "cannot be said".
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.withheld_reasons import WithheldReason

LEVEL = 0.95
"""Confidence level of every interval, unless a caller asks for another."""

FEWEST_GROUPS = 5
"""Groups an interval takes: of fewer, the values without one group say nothing of their spread."""
FEWEST_DRAWN_GROUPS = 2
"""Labelled groups it takes where units were drawn from `FEWEST_GROUPS` and more: what so few leave
open is drawn then."""


class EstimateStatus(StrEnum):
    """Whether an estimate has a value."""

    OK = "ok"
    UNDEFINED = "undefined"
    """0/0."""
    WITHHELD = "withheld"
    """There are figures, and they do not allow this number."""


class EstimateMethod(StrEnum):
    """How an interval was made. Exported word for word."""

    JACKKNIFE_LOGIT = "cluster_jackknife_t_logit"
    JACKKNIFE_ATANH = "cluster_jackknife_t_atanh"
    JACKKNIFE = "cluster_jackknife_t"
    BOOTSTRAP = "cluster_bootstrap_percentile"
    """Of conversations drawn with replacement, where that was asked for; else of the Bayesian
    bootstrap, or the wider of that and the jackknife."""
    WILSON = "wilson"
    STRATIFIED = "stratified_normal_fpc"
    PPI = "ppi_normal"
    FIELLER = "fieller"
    """Of a certificate's score: the wider of Fieller's and that of Lang and Reiczigel."""
    DELONG = "delong"
    BOUNDS = "exact_bounds"


Point = float | WithheldReason
"""A statistic's value, or the reason why it has none."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its interval and the counts behind it."""

    value: float | None
    """On its natural scale (a share is 0 to 1); None exactly when `status` is not OK."""
    status: EstimateStatus
    n: int
    """Units that entered: the denominator of a share, all compared units of a coefficient."""
    clusters: int
    """Groups (conversations, passages) those units belong to."""
    reason: WithheldReason | None = None
    """Why there is no value; with a value, why there is no interval, or why nothing is decided by
    it; else None."""
    ci_low: float | None = None
    ci_high: float | None = None
    level: float | None = None
    """Confidence level in (0, 1); None without an interval."""
    method: EstimateMethod | None = None
    """None without an interval."""
    se: float | None = None
    """Jackknife standard error on the natural scale; None when it cannot be had."""

    def __post_init__(self) -> None:
        """Keep value, status, reason and interval in step."""
        if (self.value is None) == (self.status is EstimateStatus.OK):
            raise ValueError(f"a value of {self.value} cannot be {self.status}")
        if self.status is not EstimateStatus.OK and self.reason is None:
            raise ValueError("an estimate without a value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.value} is no estimate; give a reason instead")
        interval = (self.ci_low, self.ci_high, self.level, self.method)
        if any(part is None for part in interval) and any(part is not None for part in interval):
            raise ValueError("an interval has both ends, a level and a method, or none of them")

    @property
    def has_interval(self) -> bool:
        """Whether both ends are there."""
        return self.ci_low is not None


def make_undefined_estimate(reason: WithheldReason, n: int = 0, clusters: int = 0) -> Estimate:
    """Make an estimate that has no value because the formula has none."""
    return Estimate(None, EstimateStatus.UNDEFINED, n, clusters, reason)


def make_withheld_estimate(reason: WithheldReason, n: int = 0, clusters: int = 0) -> Estimate:
    """Make an estimate whose value the figures at hand do not allow."""
    return Estimate(None, EstimateStatus.WITHHELD, n, clusters, reason)
