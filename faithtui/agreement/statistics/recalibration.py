"""Moving a judge's probabilities to the human labels, without much trust in few labels.

A judge may rank claims well and yet say 0.8 where six in ten are supported: the level follows the
share of supported claims in the data it was fitted on. Two numbers on the log odds mend that. The
ranking stays as it is, and so do verdicts: `verdict_threshold` chooses where these begin. Nothing
is ever changed without somebody asking for it.

Every run reads the values here, so numpy is loaded only to measure what a recalibration does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from faithtui.agreement.statistics.labelled_probabilities import LabelledProbability, assign_folds
from faithtui.domain.log_odds import logistic

if TYPE_CHECKING:
    from faithtui.agreement.statistics.calibration import CalibrationBin

SLOPE_SPREAD: Final = 0.3
"""Standard deviation of the prior of the slope, around 1."""
INTERCEPT_SPREAD: Final = 2.0
"""Standard deviation of the prior of the intercept, around 0."""
LEAST_SLOPE: Final = 0.05
"""A slope of 0 or less would turn the judge's order round; labels alone may not do that."""
_BINS: Final = 10
_EDGE: Final = 1e-4
"""Probabilities are kept this far from 0 and 1: they are stored with four digits."""
_MOST_STEPS: Final = 100
_SHORTEST: Final = 1e-6
"""Part of a step below which no better point is looked for."""


@dataclass(frozen=True, slots=True)
class Recalibration:
    """Slope and intercept on the log odds."""

    slope: float
    intercept: float

    def apply(self, chance: float) -> float:
        """Move a probability; the result is in (0, 1), in the same order as before."""
        return logistic(self.slope * log_odds(chance) + self.intercept)

    def undo(self, chance: float) -> float:
        """Give the probability that `apply` moved to this one."""
        return logistic((log_odds(chance) - self.intercept) / self.slope)


@dataclass(frozen=True, slots=True)
class RecalibrationEffect:
    """What a recalibration does to the labelled claims it rests on."""

    fitted: Recalibration
    """From all labels."""
    labels: int
    groups: int
    error_before: float
    """Expected calibration error, over ten bins of equal width, in [0, 1]."""
    error_after: float
    """The same where every claim is moved by numbers fitted without its fold: an honest guess."""
    bins_before: tuple["CalibrationBin", ...]
    bins_after: tuple["CalibrationBin", ...]

    @property
    def helps(self) -> bool:
        """Whether the error is smaller afterwards."""
        return self.error_after < self.error_before


def fit_recalibration(
    labelled: Sequence[LabelledProbability], *, intercept_spread: float = INTERCEPT_SPREAD
) -> Recalibration:
    """Find the most probable slope and intercept given the labels and the priors.

    Without labels they are 1 and 0. The slope is at least `LEAST_SLOPE`.

    Args:
        labelled: Each counts by its weight.
        intercept_spread: Standard deviation of the prior of the intercept, around 0.

    Source:
        Platt, "Probabilistic outputs for support vector machines", 1999, with normal priors
        (docs/judges/offline.md, "Recalibration"). Newton's method; the loss is strictly convex.
    """
    points = [(log_odds(each.chance), each.is_supported, each.weight) for each in labelled]
    slope, intercept = 1.0, 0.0
    now = _negative_log_posterior(points, slope, intercept, intercept_spread)
    for _ in range(_MOST_STEPS):
        pull_slope = -(slope - 1) / SLOPE_SPREAD**2
        pull_intercept = -intercept / intercept_spread**2
        bend_slope, bend_both, bend_intercept = SLOPE_SPREAD**-2, 0.0, intercept_spread**-2
        for odds, is_supported, weight in points:
            chance = logistic(slope * odds + intercept)
            pull_slope += weight * (is_supported - chance) * odds
            pull_intercept += weight * (is_supported - chance)
            bend = weight * chance * (1 - chance)
            bend_slope += bend * odds * odds
            bend_both += bend * odds
            bend_intercept += bend
        if slope == LEAST_SLOPE and pull_slope <= 0:
            step = (0.0, pull_intercept / bend_intercept)  # it is held there
        else:
            area = bend_slope * bend_intercept - bend_both**2
            step = (
                (bend_intercept * pull_slope - bend_both * pull_intercept) / area,
                (bend_slope * pull_intercept - bend_both * pull_slope) / area,
            )
        # A full step can overshoot, so it is halved until it leads to something better.
        length = 1.0
        while True:
            tried = (max(slope + length * step[0], LEAST_SLOPE), intercept + length * step[1])
            after = _negative_log_posterior(points, *tried, intercept_spread)
            if after < now or length < _SHORTEST:
                break
            length /= 2
        if after >= now:
            break
        (slope, intercept), now = tried, after
    return Recalibration(slope, intercept)


def evaluate_recalibration(labelled: Sequence[LabelledProbability]) -> RecalibrationEffect:
    """Fit, and say what it does: before and after, cross-validated over whole conversations.

    Args:
        labelled: At least one. With a single conversation its claims are shared out instead.
    """
    from faithtui.agreement.statistics.calibration import calibration_error, equal_width_bins

    fitted = fit_recalibration(labelled)
    before = [(each.chance, each.is_supported) for each in labelled]
    after = _recalibrate_each_claim_without_its_fold(labelled)
    weights = [each.weight for each in labelled]
    bins_before = equal_width_bins(before, _BINS, weights=weights)
    bins_after = equal_width_bins(after, _BINS, weights=weights)
    return RecalibrationEffect(
        fitted=fitted,
        labels=len(labelled),
        groups=len({each.group for each in labelled}),
        error_before=calibration_error(bins_before),
        error_after=calibration_error(bins_after),
        bins_before=bins_before,
        bins_after=bins_after,
    )


def log_odds(chance: float) -> float:
    """Log odds of a probability, which is first taken from 0 and 1 a little."""
    inside = min(max(chance, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _negative_log_posterior(
    points: Sequence[tuple[float, bool, float]],
    slope: float,
    intercept: float,
    intercept_spread: float,
) -> float:
    """Negative log of the posterior, up to a constant."""
    prior = ((slope - 1) / SLOPE_SPREAD) ** 2 / 2 + (intercept / intercept_spread) ** 2 / 2
    return prior + math.fsum(
        weight
        * _softplus(-(slope * odds + intercept) if is_supported else slope * odds + intercept)
        for odds, is_supported, weight in points
    )


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def _recalibrate_each_claim_without_its_fold(
    labelled: Sequence[LabelledProbability],
) -> list[tuple[float, bool]]:
    """Each claim moved by numbers that were fitted without its fold."""
    folds = assign_folds(labelled)
    fitted = {
        fold: fit_recalibration(
            [each for each, own in zip(labelled, folds, strict=True) if own != fold]
        )
        for fold in set(folds)
    }
    return [
        (fitted[fold].apply(each.chance), each.is_supported)
        for each, fold in zip(labelled, folds, strict=True)
    ]
