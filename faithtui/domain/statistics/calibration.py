"""Whether a judge that says 0.8 is right eight times in ten.

An expected calibration error is never 0, even of a perfectly calibrated judge: it is shown beside
the error that chance alone would give, and not at all where it cannot be told from that.
"""

import math
import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason
from faithtui.domain.intervals import wilson
from faithtui.domain.statistics.differences import bias_estimate

MOST_BINS = 10
FEWEST_FOR_ECE = 200
"""Units below which the error is mostly noise."""

DRAWS = 1000
SEED = 1
"""Any will do; a fixed one gives the same floor for the same labels."""
_EXACT = 200
"""Units of a bin up to which chance is simulated one by one, above as a normal sum."""

Units = Sequence[tuple[float, bool]]
"""(stated probability in [0, 1], whether it came true) of each unit."""


class Norm(StrEnum):
    """How gaps of bins are put together."""

    L1 = "l1"
    """Weighted mean."""
    L2 = "l2"
    """Root of the weighted mean square."""
    MAX = "max"
    """The widest."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Units with similar probabilities."""

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


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The error that a perfectly calibrated judge with these probabilities would show."""

    mean: float
    high: float
    """95th percentile."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far stated probabilities can be believed."""

    n: int
    brier: Estimate
    """Mean squared error; by conversation."""
    skill: Point
    """1 - Brier / Brier of always stating the base rate; at most 1, and 0 when no better."""
    bins: tuple[Bin, ...]
    """Of about as many units each."""
    error: float | None
    """Expected calibration error over `bins`; None without units."""
    floor: NoiseFloor | None

    @property
    def error_hidden(self) -> bool:
        """Whether the error says nothing: too few units, or no more than chance would give."""
        return (
            self.error is None
            or self.floor is None
            or self.n < FEWEST_FOR_ECE
            or self.error <= self.floor.high
        )


def calibration(
    readings: Sequence[tuple[str, float, bool]],
    level: float = LEVEL,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Calibration:
    """Compare stated probabilities with what came true.

    Args:
        readings: (conversation, probability, whether it came true) of each unit.
        level: Confidence level in (0, 1).
        draws: Simulated judges behind the noise floor.
        seed: Of the simulation.
    """
    units = [(p, came) for _, p, came in readings]
    bins = equal_mass_bins(units, level=level)
    squares = ((group, (p - came) ** 2, 0.0) for group, p, came in readings)
    return Calibration(
        n=len(units),
        brier=bias_estimate(squares, level),
        skill=brier_skill(units),
        bins=bins,
        error=calibration_error(bins) if bins else None,
        floor=noise_floor(units, draws=draws, seed=seed) if bins else None,
    )


def brier(units: Units) -> Point:
    """Compute the mean squared error of the probabilities, in [0, 1]; undefined without units.

    Source:
        Brier 1950, Monthly Weather Review 78:1-3, counting one of the two classes; his own score,
        which counts both, is twice that.
    """
    return (
        math.fsum((p - came) ** 2 for p, came in units) / len(units) if units else Reason.NO_ITEMS
    )


def brier_skill(units: Units) -> Point:
    """Compute by what part the score is better than that of always stating the base rate.

    Undefined when nothing or everything came true.
    """
    score = brier(units)
    if isinstance(score, Reason):
        return score
    base = sum(came for _, came in units) / len(units)
    return 1 - score / (base * (1 - base)) if 0 < base < 1 else Reason.ONE_CLASS_ONLY


def equal_width_bins(units: Units, count: int, level: float = LEVEL) -> tuple[Bin, ...]:
    """Sort units into bins of equal width over [0, 1]; empty ones are left out.

    A bin includes its upper edge, and the first one also 0.
    """
    edges = [edge / count for edge in range(1, count)]
    placed: dict[int, list[tuple[float, bool]]] = {}
    for unit in units:
        placed.setdefault(bisect_left(edges, unit[0]), []).append(unit)
    bounds = [0.0, *edges, 1.0]
    return tuple(
        _bin(members, bounds[place], bounds[place + 1], level)
        for place, members in sorted(placed.items())
    )


def equal_mass_bins(units: Units, most: int = MOST_BINS, level: float = LEVEL) -> tuple[Bin, ...]:
    """Sort units into bins of about as many units each.

    Args:
        units: Any order. Equal probabilities stay together, so there may be fewer bins.
        most: Bins at most; never more than the square root of the number of units.
        level: Confidence level of the limits, in (0, 1).
    """
    return tuple(
        _bin(members, members[0][0], members[-1][0], level) for members in _equal_mass(units, most)
    )


def calibration_error(bins: Sequence[Bin], norm: Norm = Norm.L1) -> float:
    """Compute the expected calibration error, in [0, 1].

    Args:
        bins: At least one.
        norm: How the gaps between mean probability and observed share are put together.

    Source:
        Naeini, Cooper & Hauskrecht 2015, AAAI, 2901-2907; the norms of torchmetrics,
        BinaryCalibrationError.
    """
    n = sum(each.n for each in bins)
    gaps = [(each.n / n, abs(each.mean - each.observed)) for each in bins]
    match norm:
        case Norm.L1:
            return math.fsum(weight * gap for weight, gap in gaps)
        case Norm.L2:
            return math.sqrt(math.fsum(weight * gap * gap for weight, gap in gaps))
        case Norm.MAX:
            return max(gap for _, gap in gaps)


def noise_floor(
    units: Units, most: int = MOST_BINS, *, draws: int = DRAWS, seed: int = SEED
) -> NoiseFloor:
    """Simulate the error over equal-mass bins when every probability is right.

    Args:
        units: At least one; only their probabilities matter.
        most: Bins at most, as for `equal_mass_bins`.
        draws: How often everything is drawn anew.
        seed: The same seed gives the same floor.
    """
    chance = random.Random(seed)
    n = len(units)
    totals = [0.0] * draws
    for members in _equal_mass(units, most):
        stated = [p for p, _ in members]
        expected = math.fsum(stated)
        sd = math.sqrt(math.fsum(p * (1 - p) for p in stated))
        for draw in range(draws):
            if len(stated) <= _EXACT:
                came: float = sum(chance.random() < p for p in stated)
            else:
                came = min(max(round(chance.gauss(expected, sd)), 0), len(stated))
            totals[draw] += abs(came - expected) / n
    totals.sort()
    return NoiseFloor(math.fsum(totals) / draws, totals[math.ceil(0.95 * draws) - 1])


def _equal_mass(units: Units, most: int) -> list[list[tuple[float, bool]]]:
    """Share the sorted units out; equal probabilities go where the middle one of them belongs."""
    n = len(units)
    count = min(most, math.isqrt(n))
    bins: dict[int, list[tuple[float, bool]]] = {}
    placed = 0
    for _, same in groupby(sorted(units), key=lambda unit: unit[0]):
        members = list(same)
        place = (2 * placed + len(members) - 1) * count // (2 * n)
        bins.setdefault(place, []).extend(members)
        placed += len(members)
    return list(bins.values())


def _bin(members: Units, low: float, high: float, level: float) -> Bin:
    n = len(members)
    observed = sum(came for _, came in members) / n
    mean = math.fsum(p for p, _ in members) / n
    return Bin(low, high, n, mean, observed, *wilson(observed, n, level))
