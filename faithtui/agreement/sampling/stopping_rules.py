"""How many labels are enough: what a size will give, how many are still to come, when to stop.

Only the width of an interval decides when to stop: to stop as soon as a limit passes a target would
claim success too often.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist, median

from faithtui.agreement.sampling.draw import Stratum
from faithtui.domain.estimates import LEVEL
from faithtui.domain.labels.label_events import HASTY_S

Z_95 = NormalDist().inv_cdf(0.975)
"""Half-widths in standard errors, of a two-sided 95 % interval."""

KAPPA_TARGET = 0.10
"""Half-width of kappa at which a sample is large enough."""

SPOT_CHECK_SIZE = 20
"""Claims of a spot-check: five minutes at fifteen seconds each."""

USUAL_PACE_S = 15.0
"""Seconds a claim, while nothing is known of an annotator."""

LABELS_OF_PACE, FEWEST_OF_PACE = 20, 5
"""The newest labels of which a pace is taken, and how many it takes at least."""

_FEW, _OFTEN = 0.25, 0.10
"""A spot-check passes when annotators surely differ from the judge on less than `_FEW` of the
claims, and fails when they surely do on more than `_OFTEN`."""


def measure_pace(seconds: Sequence[float]) -> float | None:
    """Measure how long a claim takes an annotator.

    Labels that came too fast for anybody to have read the claim tell nothing of those to come, and
    of a few labels one long look would be the figure.

    Args:
        seconds: What each label took, the newest last.

    Returns:
        Median seconds of the newest `LABELS_OF_PACE` that took `HASTY_S` or more; None below
        `FEWEST_OF_PACE` of them.
    """
    read = [each for each in seconds if each >= HASTY_S][-LABELS_OF_PACE:]
    return median(read) if len(read) >= FEWEST_OF_PACE else None


def predict_half_width(n: float, share: float) -> float:
    """Foresee half the width of a 95 % interval of a share.

    Args:
        n: Labels, above 0, each on its own; claims of one conversation count for less.
        share: The share expected, in [0, 1].

    Returns:
        A width in (0, 0.5].

    Source:
        Wilson 1927.
    """
    spread = math.sqrt(share * (1 - share) / n + Z_95**2 / (4 * n**2))
    return Z_95 * spread / (1 + Z_95**2 / n)


def plan_label_count(
    width: float, share: float = 0.5, *, design_effect: float = 1.0, level: float = LEVEL
) -> int:
    """Plan how many labels a half-width takes.

    Args:
        width: The half-width wanted, above 0.
        share: The share expected; 0.5 is the worst.
        design_effect: By how much claims of one conversation, which resemble each other, widen the
            variance; 1: not at all.
        level: Confidence level in (0, 1).

    Source:
        Cochran 1977, 4.4: n = z² p (1 - p) / h²; Kish 1965, 8.2, for the design effect.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    return math.ceil(design_effect * z**2 * share * (1 - share) / width**2)


def compute_effective_sample_size(strata: Sequence[Stratum]) -> float:
    """Say how many labels of a simple random sample would tell as much about the whole.

    Args:
        strata: What is drawn of what.

    Returns:
        0 when a stratum that has claims gives none, so that nothing is known of it.

    Source:
        Cochran 1977, 5.6, with the same share in each stratum and no finite population correction:
        1 / n = sum of W² / n of the strata, W being a stratum's part of the whole.
    """
    whole = sum(each.population for each in strata)
    inverse = 0.0
    for each in strata:
        if each.population and not each.drawn:
            return 0.0
        if each.drawn:
            inverse += (each.population / whole) ** 2 / each.drawn
    return 1 / inverse if inverse else 0.0


def estimate_labels_needed(n: int, width: float, target: float) -> int:
    """Estimate how many more labels bring an interval down to a width.

    Half-widths shrink with the square root of the number of labels.

    Args:
        n: Labels so far, at least 1.
        width: Half the width of the interval now.
        target: The half-width wanted, above 0.

    Returns:
        0 only when it is there already. May be more than there are units without a label.

    Source:
        Cochran 1977, 4.4: n grows with the inverse square of the half-width.
    """
    return max(0, math.ceil(n * (width / target) ** 2 - 1e-9) - n)


class SpotCheckDecision(StrEnum):
    """What a spot-check comes to."""

    PASS = "pass"
    UNCLEAR = "unclear"
    FAIL = "fail"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """The end of a spot-check."""

    decision: SpotCheckDecision
    compared: int
    differ: int
    low: float
    """One-sided 95 % limits of the share of overrides, in [0, 1]."""
    high: float

    @property
    def decision_text(self) -> str:
        """The decision in plain sentences."""
        seen = f"You differ from the judge on {self.differ} of {self.compared} claims. "
        match self.decision:
            case SpotCheckDecision.UNFINISHED:
                return seen + "Too few are compared to decide anything: go on, or leave it."
            case SpotCheckDecision.PASS:
                return (
                    seen + f"At most {self.high:.0%} of all claims would differ (95 % sure). "
                    "Nothing alarming: the judge can be used, and a sample says how good it is."
                )
            case SpotCheckDecision.FAIL:
                return (
                    seen + f"At least {self.low:.0%} of all claims would differ (95 % sure). "
                    "Do not rely on this judge before you know why: look at the ones that differ."
                )
            case SpotCheckDecision.UNCLEAR:
                return (
                    seen + f"Between {self.low:.0%} and {self.high:.0%} of all claims would differ "
                    "(each limit 95 % sure). That settles nothing: draw a sample."
                )


def decide_spot_check(compared: int, differ: int, size: int) -> SpotCheck:
    """Decide what a spot-check came to.

    Args:
        compared: Claims with a human label and a verdict.
        differ: How many of them differ.
        size: Claims that were to be looked at.

    Returns:
        `UNFINISHED` while fewer than nine in ten are compared. With 20 claims: pass up to 1
        difference, fail from 5.

    Source:
        Clopper and Pearson 1934, exact limits of a binomial share.
    """
    low, high = compute_exact_binomial_limits(differ, compared)
    if not compared or 10 * compared < 9 * size:
        decision = SpotCheckDecision.UNFINISHED
    elif high < _FEW:
        decision = SpotCheckDecision.PASS
    elif low > _OFTEN:
        decision = SpotCheckDecision.FAIL
    else:
        decision = SpotCheckDecision.UNCLEAR
    return SpotCheck(decision, compared, differ, low, high)


def compute_exact_binomial_limits(hits: int, n: int, tail: float = 0.05) -> tuple[float, float]:
    """Give the exact one-sided limits of a share.

    Args:
        hits: Successes, 0 to n.
        n: Trials; 0 gives (0, 1).
        tail: Probability left out on each side, in (0, 0.5).

    Returns:
        Lower and upper limit, in [0, 1].

    Source:
        Clopper and Pearson 1934; found by bisection to 1e-9.
    """
    if n == 0:
        return 0.0, 1.0
    lower = 0.0 if hits == 0 else _invert_binomial_tail(hits - 1, n, 1 - tail)
    upper = 1.0 if hits == n else _invert_binomial_tail(hits, n, tail)
    return lower, upper


def _invert_binomial_tail(most: int, n: int, level: float) -> float:
    """Find the share at which the chance of at most so many hits falls to a level."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _compute_binomial_cdf(most, n, middle) > level else (low, middle)
        )
    return (low + high) / 2


def _compute_binomial_cdf(most: int, n: int, share: float) -> float:
    """Give the chance of at most so many hits; in logarithms, as n may be large."""
    return math.fsum(
        math.exp(
            math.lgamma(n + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(n - hits + 1)
            + hits * math.log(share)
            + (n - hits) * math.log1p(-share)
        )
        for hits in range(most + 1)
    )
