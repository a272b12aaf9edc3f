"""Whether a judge that says 0.8 is right eight times in ten.

An expected calibration error is never 0, even of a perfectly calibrated judge: it is shown beside
the error that chance alone would give, and not at all where it cannot be told from that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.agreement.statistics.matrices import Flags, Floats, Ints
from faithtui.agreement.statistics.score_differences import estimate_mean
from faithtui.domain.estimates import LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

MOST_BINS = 10
FEWEST_FOR_ECE = 200
"""Units below which the error is mostly noise."""

FLOOR_DRAWS = 1000
SEED = 1
"""Any will do; a fixed one gives the same floor for the same labels."""
_EXACT = 200
"""Units of a bin up to which chance is simulated one by one, above as a normal sum."""

ProbabilityOutcomes = Sequence[tuple[float, bool]]
"""(stated probability in [0, 1], whether it came true) of each unit."""

Weights = Sequence[float]
"""How many units each stands for, above 0; (): each for itself."""


class ErrorNorm(StrEnum):
    """How gaps of bins are put together."""

    L1 = "l1"
    """Weighted mean."""
    L2 = "l2"
    """Root of the weighted mean square."""
    MAX = "max"
    """The widest."""


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Units with similar probabilities; mean and share are weighted where units weigh apart."""

    low: float
    """The lowest probability in it; of an equal-width bin, its lower edge."""
    high: float
    n: int
    mean: float
    """Of the stated probabilities."""
    observed: float
    """Share that came true."""
    ci_low: float
    """Wilson limits of that share."""
    ci_high: float
    weight: float
    """How many units they stand for; `n` where each stands for itself."""


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The error that a perfectly calibrated judge with these probabilities would show."""

    mean: float
    high: float
    """95th percentile."""


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """How far stated probabilities can be believed."""

    n: int
    brier: Estimate
    """Mean squared error; by conversation."""
    skill: Point
    """1 - Brier / Brier of always stating the base rate; at most 1, and 0 when no better."""
    bins: tuple[CalibrationBin, ...]
    """Of about as many units each, whatever these weigh."""
    error: float | None
    """Expected calibration error over `bins`; None without units."""
    floor: NoiseFloor | None

    @property
    def is_error_hidden(self) -> bool:
        """Whether the error says nothing: too few units, or no more than chance would give."""
        return (
            self.error is None
            or self.floor is None
            or self.n < FEWEST_FOR_ECE
            or self.error <= self.floor.high
        )


@dataclass(frozen=True, slots=True, eq=False)
class _DistinctUnits:
    """Units with the same probability, outcome and weight, sorted by these."""

    stated: Floats
    came: Flags
    weights: Floats
    times: Ints

    @property
    def total_weights(self) -> Floats:
        """What the units of each kind stand for together."""
        return self.weights * self.times


def compute_calibration(
    groups: Ints,
    stated: Floats,
    came: Flags,
    level: float = LEVEL,
    *,
    weights: Floats | None = None,
    draws: int = FLOOR_DRAWS,
    seed: int = SEED,
) -> CalibrationResult:
    """Compare stated probabilities with what came true.

    Args:
        groups: Number of each unit's group, from 0, without gaps; shape (units,).
        stated: Probability of each unit, in [0, 1].
        came: Whether it came true.
        level: Confidence level in (0, 1).
        weights: Of a sample: one over each unit's probability of being drawn; None: each unit
            stands for itself.
        draws: Simulated judges behind the noise floor.
        seed: Of the simulation.
    """
    by = np.ones(len(stated)) if weights is None else weights
    # Sorted once: neither bins nor sums may depend on the order of the units.
    order = np.lexsort((by, came, stated))
    groups, stated, came, by = groups[order], stated[order], came[order], by[order]
    rows = _count_distinct_sorted_units(stated, came, by)
    shared = _assign_equal_mass_bins(rows, MOST_BINS)
    bins = _make_bins(rows, shared, level)
    return CalibrationResult(
        n=len(stated),
        brier=_clip_interval_of_brier_score(estimate_mean(groups, (stated - came) ** 2, by, level)),
        skill=_compute_brier_skill_score_of_rows(rows),
        bins=bins,
        error=calibration_error(bins) if bins else None,
        floor=_simulate_noise_floor_of_rows(rows, shared, draws, seed) if bins else None,
    )


def _clip_interval_of_brier_score(brier: Estimate) -> Estimate:
    """Cut an interval where no mean of squared errors of probabilities can be: [0, 1]."""
    if brier.ci_low is None or brier.ci_high is None:
        return brier
    return replace(brier, ci_low=max(0.0, brier.ci_low), ci_high=min(1.0, brier.ci_high))


def brier_score(units: ProbabilityOutcomes, weights: Weights = ()) -> Point:
    """Compute the mean squared error of the probabilities, in [0, 1]; undefined without units.

    Source:
        Brier 1950, Monthly Weather Review 78:1-3, counting one of the two classes; his own score,
        which counts both, is twice that.
    """
    return _compute_brier_score_of_rows(_sort_units_and_count_distinct(units, weights))


def _compute_brier_score_of_rows(rows: _DistinctUnits) -> Point:
    if not len(rows.times):
        return WithheldReason.NO_ITEMS
    return float(rows.total_weights @ (rows.stated - rows.came) ** 2) / math.fsum(
        rows.total_weights
    )


def brier_skill_score(units: ProbabilityOutcomes, weights: Weights = ()) -> Point:
    """Compute by what part the score is better than that of always stating the base rate.

    At most 1; undefined without units (`NO_ITEMS`), and when nothing or everything came true
    (`ONE_CLASS_ONLY`).
    """
    return _compute_brier_skill_score_of_rows(_sort_units_and_count_distinct(units, weights))


def _compute_brier_skill_score_of_rows(rows: _DistinctUnits) -> Point:
    score = _compute_brier_score_of_rows(rows)
    if isinstance(score, WithheldReason):
        return score
    if rows.came.all() or not rows.came.any():
        return WithheldReason.ONE_CLASS_ONLY
    base = math.fsum(rows.total_weights[rows.came]) / math.fsum(rows.total_weights)
    return 1 - score / (base * (1 - base))


def equal_width_bins(
    units: ProbabilityOutcomes, count: int, level: float = LEVEL, weights: Weights = ()
) -> tuple[CalibrationBin, ...]:
    """Sort units into bins of equal width over [0, 1]; empty ones are left out.

    A bin includes its upper edge, and the first one also 0.

    Args:
        units: Any order.
        count: Bins, at least 1.
        level: Confidence level of the limits, in (0, 1).
        weights: Of the units; () for 1 each.
    """
    rows = _sort_units_and_count_distinct(units, weights)
    edges = np.arange(1, count) / count
    places = np.searchsorted(edges, rows.stated)
    bounds = [0.0, *edges.tolist(), 1.0]
    return tuple(
        _make_bin(rows, places == place, bounds[place], bounds[place + 1], level)
        for place in np.unique(places).tolist()
    )


def equal_mass_bins(
    units: ProbabilityOutcomes,
    max_bins: int = MOST_BINS,
    level: float = LEVEL,
    weights: Weights = (),
) -> tuple[CalibrationBin, ...]:
    """Sort units into bins of about as many units each.

    Args:
        units: Any order. Equal probabilities stay together, so there may be fewer bins.
        max_bins: Bins at most; never more than the square root of the number of units.
        level: Confidence level of the limits, in (0, 1).
        weights: Of the units; they do not change which bin a unit is in.
    """
    rows = _sort_units_and_count_distinct(units, weights)
    return _make_bins(rows, _assign_equal_mass_bins(rows, max_bins), level)


def _make_bins(rows: _DistinctUnits, shared: Ints, level: float) -> tuple[CalibrationBin, ...]:
    found = []
    for place in np.unique(shared).tolist():
        members = shared == place
        inside = rows.stated[members]
        found.append(_make_bin(rows, members, float(inside[0]), float(inside[-1]), level))
    return tuple(found)


def calibration_error(bins: Sequence[CalibrationBin], norm: ErrorNorm = ErrorNorm.L1) -> float:
    """Compute the expected calibration error, in [0, 1].

    Args:
        bins: At least one.
        norm: How the gaps between mean probability and observed share are put together.

    Source:
        Naeini, Cooper & Hauskrecht 2015, AAAI, 2901-2907; the norms of torchmetrics,
        BinaryCalibrationError.
    """
    weights = np.array([each.weight for each in bins])
    gaps = np.array([abs(each.mean - each.observed) for each in bins])
    match norm:
        case ErrorNorm.L1:
            return float(weights @ gaps / weights.sum())
        case ErrorNorm.L2:
            return math.sqrt(weights @ gaps**2 / weights.sum())
        case ErrorNorm.MAX:
            return float(gaps.max())


def simulate_noise_floor(
    units: ProbabilityOutcomes,
    max_bins: int = MOST_BINS,
    *,
    weights: Weights = (),
    draws: int = FLOOR_DRAWS,
    seed: int = SEED,
) -> NoiseFloor:
    """Simulate the error over equal-mass bins when every probability is right.

    Args:
        units: At least one; only their probabilities matter.
        max_bins: Bins at most, as for `equal_mass_bins`.
        weights: Of the units.
        draws: How often everything is drawn anew.
        seed: The same seed gives the same floor.
    """
    rows = _sort_units_and_count_distinct(units, weights)
    return _simulate_noise_floor_of_rows(rows, _assign_equal_mass_bins(rows, max_bins), draws, seed)


def _simulate_noise_floor_of_rows(
    rows: _DistinctUnits, shared: Ints, draws: int, seed: int
) -> NoiseFloor:
    generator = np.random.Generator(np.random.PCG64(seed))
    totals = np.zeros(draws)
    for place in np.unique(shared).tolist():
        members = shared == place
        p, by, times = rows.stated[members], rows.weights[members], rows.times[members]
        expected = float(times * by @ p)
        if times.sum() <= _EXACT:
            each, weights = np.repeat(p, times), np.repeat(by, times)
            came = (generator.random((draws, len(each))) < each) @ weights
        else:
            sd = math.sqrt(float(times * by**2 @ (p * (1 - p))))
            came = generator.normal(expected, sd, draws)
            # Where each unit stands for itself, whole ones come true.
            came = np.clip(came if (by != 1).any() else np.round(came), 0, times @ by)
        totals += np.abs(came - expected)
    totals = np.sort(totals / rows.total_weights.sum())
    return NoiseFloor(float(totals.mean()), float(totals[math.ceil(0.95 * draws) - 1]))


def _sort_units_and_count_distinct(
    units: ProbabilityOutcomes, weights: Weights = ()
) -> _DistinctUnits:
    stated = np.array([p for p, _ in units], np.float64)
    came = np.array([was for _, was in units], np.bool_)
    by = np.array(weights, np.float64) if len(weights) else np.ones(len(units))
    order = np.lexsort((by, came, stated))
    return _count_distinct_sorted_units(stated[order], came[order], by[order])


def _count_distinct_sorted_units(stated: Floats, came: Flags, weights: Floats) -> _DistinctUnits:
    """Count sorted units that are alike: judges state few probabilities."""
    rows = stated, came, weights
    first = np.ones(len(stated), np.bool_)
    if len(stated):
        first[1:] = np.logical_or.reduce([row[1:] != row[:-1] for row in rows])
    starts = np.flatnonzero(first)
    times = np.diff(np.append(starts, len(stated)))
    return _DistinctUnits(rows[0][starts], rows[1][starts], rows[2][starts], times)


def _assign_equal_mass_bins(rows: _DistinctUnits, max_bins: int) -> Ints:
    """Say to which of the bins of equal mass each row goes; shape (rows,).

    Equal probabilities go where the middle one of them belongs.
    """
    n = int(rows.times.sum())
    count = min(max_bins, math.isqrt(n))
    _, which = np.unique(rows.stated, return_inverse=True)
    sizes = np.bincount(which, weights=rows.times).astype(np.int64)
    placed = np.cumsum(sizes) - sizes
    places = (2 * placed + sizes - 1) * count // max(1, 2 * n)
    return np.asarray(places[which])


def _make_bin(
    rows: _DistinctUnits, members: Flags, low: float, high: float, level: float
) -> CalibrationBin:
    mass, times = rows.total_weights[members], rows.times[members]
    weight = math.fsum(mass)
    observed = math.fsum(mass[rows.came[members]]) / weight
    mean = float(mass @ rows.stated[members]) / weight
    # As many equal units as would be as sure (Kish 1965, Survey Sampling, 11.7).
    sure = weight**2 / float(mass @ rows.weights[members])
    limits = wilson_interval(observed, sure, level)
    return CalibrationBin(low, high, int(times.sum()), mean, observed, *limits, weight=weight)
