"""A number that says how sure it is, or why it is not there.

What must never happen here: NaN, or 0 in the place of "cannot be said".
"""

import math
from dataclasses import dataclass
from enum import StrEnum

LEVEL = 0.95
"""Confidence level of every interval, unless a caller asks for another."""

FEWEST_GROUPS = 5
"""Groups an interval takes: of fewer, the values without one group say nothing of their spread."""


class Reason(StrEnum):
    """Why a number, or its interval, is not there. Exported word for word."""

    NO_ITEMS = "no_items"
    """Nothing labelled."""
    NO_OVERLAP = "no_overlap"
    """No unit has two labels."""
    NO_VARIATION = "no_variation"
    """One category or one score only, 0/0; or no variation an interval could be made from."""
    ONE_CLASS_ONLY = "one_class_only"
    """One of two classes is missing where the formula needs both."""
    NO_PREDICTED_POSITIVES = "no_predicted_positives"
    """The judge flags nothing."""
    NO_REFERENCE_POSITIVES = "no_true_positives_in_reference"
    """Annotators flag nothing."""
    UNINFORMATIVE_JUDGE = "uninformative_judge"
    """Sensitivity + specificity = 1; beside a value with an interval: it may be."""
    RATE_OUT_OF_RANGE = "rate_out_of_range"
    """The judge flags less, or more, than any rate explains by its accuracy, so that it does not
    err as it did where its accuracy was measured."""
    DESIGN_NOT_RANDOM = "design_not_random"
    """The labelled units are no random sample."""
    NOT_FULLY_LABELLED = "not_fully_labelled"
    """Claims were drawn one by one."""
    TOO_FEW_CLUSTERS = "too_few_clusters"
    """Fewer groups than an interval can be made from, or one of them alone decides the figure; the
    point estimate stands alone."""

    @property
    def words(self) -> str:
        """The reason in a few plain words."""
        return _WORDS[self]


_WORDS = {
    Reason.NO_ITEMS: "nothing to count",
    Reason.NO_OVERLAP: "no unit has two labels",
    Reason.NO_VARIATION: "no variation",
    Reason.ONE_CLASS_ONLY: "one class only",
    Reason.NO_PREDICTED_POSITIVES: "the judge flags nothing",
    Reason.NO_REFERENCE_POSITIVES: "annotators flag nothing",
    Reason.UNINFORMATIVE_JUDGE: "the judge is uninformative",
    Reason.RATE_OUT_OF_RANGE: "the judge errs otherwise than where its accuracy was measured",
    Reason.DESIGN_NOT_RANDOM: "labels are not from a random sample",
    Reason.NOT_FULLY_LABELLED: "no whole conversations were drawn",
    Reason.TOO_FEW_CLUSTERS: "too few groups for an interval",
}


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
    LANG_REICZIGEL = "lang_reiczigel"
    FIELLER = "fieller"
    DELONG = "delong"
    BOUNDS = "exact_bounds"


Point = float | Reason
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
    reason: Reason | None = None
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


def make_undefined_estimate(reason: Reason, n: int = 0, clusters: int = 0) -> Estimate:
    """Make an estimate that has no value because the formula has none."""
    return Estimate(None, EstimateStatus.UNDEFINED, n, clusters, reason)


def make_withheld_estimate(reason: Reason, n: int = 0, clusters: int = 0) -> Estimate:
    """Make an estimate whose value the figures at hand do not allow."""
    return Estimate(None, EstimateStatus.WITHHELD, n, clusters, reason)
