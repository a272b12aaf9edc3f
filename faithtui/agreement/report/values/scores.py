"""What a report says of the judge's scores and confidences."""

from dataclasses import dataclass

from faithtui.agreement.labelled_units import ScoredUnit
from faithtui.agreement.report.values.levels import Detection
from faithtui.domain.estimates import Estimate


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The judge's score of each answer against what people said of the answer as a whole."""

    answers: int
    """Answers people rated or labelled."""
    vacuous: int
    """Of those left out: no claims."""
    unscored: int
    """Of those left out: no score."""
    spearman: Estimate
    """Judge's score against people's mean rating."""
    auroc: Estimate
    """Probability that an answer people pass scores above one they fail; ties count half."""
    judge_mean: float | None
    """Mean judge's score of the answers in `spearman`, in [0, 1]."""
    human_mean: float | None
    """Mean rating of the same answers, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Whether the judge says the same about a claim in every window that holds it."""

    repeated: int
    """Claims in several windows."""
    steady: int
    """Of those, the ones with one label throughout."""
    share: Estimate
    """steady / repeated. It caps the agreement the judge can reach."""


@dataclass(frozen=True, slots=True)
class ThresholdReport:
    """Passing from a score on: at the threshold in force, and at a better one."""

    current: float
    at_current: Detection
    """Positive is failing."""
    suggested: float | None
    """None where none can be chosen."""
    rule: str
    """What makes it the best: `youden`."""
    chosen_on: str
    """`cross_validated`, or `same_labels`, which flatters."""
    at_suggested: Detection | None
    """Counted on what `chosen_on` says."""
    curve: tuple[tuple[float, float, float], ...]
    """(threshold, recall, specificity) on these labels, rising."""


@dataclass(frozen=True, slots=True)
class UnitScoreReport:
    """The judge's score of windows or conversations against the same formula on people's labels."""

    unit: ScoredUnit
    n: int
    """Units with a score of both, and something judged in them."""
    partly: int
    """Left out: not every claim has a verdict of people, though some have."""
    vacuous: int
    """Left out: nothing was judged in them, so they have no score, or one that a rule fixes."""
    judge_mean: float | None
    human_mean: float | None
    bias: Estimate
    """Mean of judge minus human, in [-1, 1]."""
    mae: Estimate
    """Mean absolute difference."""
    limits: tuple[float, float] | None
    """Bias plus and minus 1.96 standard deviations of the difference."""
    spearman: Estimate
    kendall_tau_b: Estimate
    icc: Estimate
    """ICC(2,1): absolute agreement of single scores."""
    auroc: Estimate
    """The judge's score against whether people's passes; undefined without a threshold."""
    corrected: Estimate
    """Mean score to expect if people labelled everything: PPI++ from the units with both scores
    and the judge's scores of the others. Withheld unless whole units were drawn at random."""
    threshold: ThresholdReport | None
    """None without a threshold, or with fewer than ten units."""
    unscored: int = 0
    """Left out: the judge's labels or people's make no score."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Units whose confidence lies close together."""

    low: float
    high: float
    n: int
    mean: float
    """Mean confidence."""
    observed: float
    """Share that people support."""
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """Whether the judge's confidence that a claim is supported is what it says."""

    source: str
    """Where the confidence comes from: `stated`, `token_probability` or `vote_share`."""
    n: int
    weighted: bool
    """Units stand for others, as in the figures of the report; `n` is of the units alone."""
    brier: Estimate
    skill: float | None
    """1 minus Brier over the Brier of always saying the base rate."""
    ece: float | None
    """Expected calibration error; None below 200 units, or when noise would show as much."""
    noise: float | None
    """Mean expected calibration error of a perfectly calibrated judge with these confidences."""
    few: bool
    """Too few units for the error to be told from noise."""
    bins: tuple[ReliabilityBin, ...]
