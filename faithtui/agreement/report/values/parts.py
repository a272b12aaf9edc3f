"""What a report says of parts, of another judge, and of how far labelling is."""

from dataclasses import dataclass
from enum import StrEnum

from faithtui.agreement.report.values.levels import Agreement
from faithtui.domain.estimates import Estimate


class Slice(StrEnum):
    """By what agreement is broken down. Exported word for word."""

    CONVERSATION = "conversation"
    TURN = "turn_position"
    METRIC = "metric"
    MODEL = "judge_model"
    VERDICT = "verdict"
    RATER = "rater"
    WINDOWS = "window_count"
    CODE = "reason_code"


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One part."""

    key: str
    n: int
    clusters: int
    percent: Estimate
    cohen_kappa: Estimate | None
    """None where the judge says the same throughout, so that there is nothing beyond chance."""
    recall: Estimate
    """Of what people call unfaithful, strict."""
    precision: Estimate


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Agreement by part, worst first."""

    by: Slice
    rows: tuple[SliceRow, ...]
    suppressed: int
    """Parts with fewer units than a figure needs; not shown."""
    better: int = 0
    """Parts that agree at least as well as all in `rows`, where there are too many to list."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Two judges on the same units, each held against people."""

    a: str
    b: str
    common: int
    """Units both judged and people labelled; of a sample only those in it."""
    clusters: int
    weighted: bool
    """Units stand for others, as in the figures of the report; counts are of the units alone."""
    judges: Agreement
    """Judge A against judge B on all units both judged; people do not enter."""
    accuracy_a: Estimate
    accuracy_b: Estimate
    difference: Estimate
    """Accuracy of B minus that of A, in [-1, 1]."""
    kappa_difference: Estimate
    """Kappa of B with people minus that of A, in [-2, 2]."""
    only_a: int
    """Only A agrees with people."""
    only_b: int
    signflip_p: float | None
    """Signs of whole groups flipped; None without a difference."""
    durkalski_p: float | None
    """McNemar for grouped pairs."""
    mcnemar_p: float | None
    """Mid-p, as if units were independent; None where they weigh differently, as it is of
    counts."""
    comparisons: int
    """How many comparisons were made together."""
    holm_p: float | None
    """`signflip_p`, adjusted for them."""


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """The watched figure after so many labels."""

    labels: int
    value: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """How far labelling is from an interval as narrow as wanted."""

    target: str
    """The watched figure: `cohen_kappa`, or `percent` where kappa is not to be had."""
    target_half_width: float
    half_width: float | None
    """Now; None without an interval."""
    needed: int | None
    """Labels still to give; None when it cannot be said."""
    stop: bool
    """Narrow enough, and enough groups and unfaithful units for the interval to be trusted."""
    history: tuple[ProgressPoint, ...]
