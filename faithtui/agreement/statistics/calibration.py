"""Whether a judge that says 0.8 is right eight times in ten.

An expected calibration error is never 0, even of a perfectly calibrated judge: it is shown beside
the error that chance alone would give, and not at all where it cannot be told from that.
"""

import math
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter

from faithtui.agreement.statistics.intervals import wilson
from faithtui.agreement.statistics.score_differences import mean_estimate
from faithtui.domain.estimates import LEVEL, Estimate, Point, Reason

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

Weights = Sequence[float]
"""How many units each stands for, above 0; (): each for itself."""

_Alike = tuple[float, bool, float, int]
"""Probability, whether it came true, weight, and how many units there are of that: judges state few
probabilities, and of a hundred thousand units few differ."""


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
class Calibration:
    """How far stated probabilities can be believed."""

    n: int
    brier: Estimate
    """Mean squared error; by conversation."""
    skill: Point
    """1 - Brier / Brier of always stating the base rate; at most 1, and 0 when no better."""
    bins: tuple[Bin, ...]
    """Of about as many units each, whatever these weigh."""
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
    groups: Sequence[str],
    stated: Sequence[float],
    came: Sequence[bool],
    level: float = LEVEL,
    *,
    weights: Weights = (),
    draws: int = DRAWS,
    seed: int = SEED,
) -> Calibration:
    """Compare stated probabilities with what came true.

    Args:
        groups: Of each unit.
        stated: Probability of each unit.
        came: Whether it came true.
        weights: Of a sample: one over each unit's probability of being drawn.
        level: Confidence level in (0, 1).
        draws: Simulated judges behind the noise floor.
        seed: Of the simulation.
    """
    columns = (stated, came, weights) if weights else (stated, came)
    counts = sorted(Counter(zip(*columns, strict=True)).items())
    rows = [(row[0], row[1], row[2] if weights else 1.0, times) for row, times in counts]
    bins = _equal_mass_bins(rows, MOST_BINS, level)
    place_of = {row: place for place, (row, _) in enumerate(counts)}
    places = [*map(place_of.__getitem__, zip(*columns, strict=True))]
    squares = [((p - was) ** 2, weight) for p, was, weight, _ in rows]
    return Calibration(
        n=len(stated),
        brier=mean_estimate(groups, places, squares, level),
        skill=_skill(rows),
        bins=bins,
        error=calibration_error(bins) if bins else None,
        floor=_floor(rows, MOST_BINS, draws, seed, weighted=bool(weights)) if bins else None,
    )


def brier(units: Units, weights: Weights = ()) -> Point:
    """Compute the mean squared error of the probabilities, in [0, 1]; undefined without units.

    Source:
        Brier 1950, Monthly Weather Review 78:1-3, counting one of the two classes; his own score,
        which counts both, is twice that.
    """
    return _brier(_rows(units, weights))


def _brier(rows: Sequence[_Alike]) -> Point:
    if not rows:
        return Reason.NO_ITEMS
    squares = math.fsum(times * by * (p - came) ** 2 for p, came, by, times in rows)
    return squares / _weight(rows)


def brier_skill(units: Units, weights: Weights = ()) -> Point:
    """Compute by what part the score is better than that of always stating the base rate.

    Undefined when nothing or everything came true.
    """
    return _skill(_rows(units, weights))


def _skill(rows: Sequence[_Alike]) -> Point:
    score = _brier(rows)
    if isinstance(score, Reason):
        return score
    if len({came for _, came, *_ in rows}) < 2:
        return Reason.ONE_CLASS_ONLY
    base = _weight(row for row in rows if row[1]) / _weight(rows)
    return 1 - score / (base * (1 - base))


def equal_width_bins(units: Units, count: int, level: float = LEVEL) -> tuple[Bin, ...]:
    """Sort units into bins of equal width over [0, 1]; empty ones are left out.

    A bin includes its upper edge, and the first one also 0.
    """
    edges = [edge / count for edge in range(1, count)]
    placed: dict[int, list[_Alike]] = {}
    for row in _rows(units):
        placed.setdefault(bisect_left(edges, row[0]), []).append(row)
    bounds = [0.0, *edges, 1.0]
    return tuple(
        _bin(members, bounds[place], bounds[place + 1], level)
        for place, members in sorted(placed.items())
    )


def equal_mass_bins(
    units: Units, most: int = MOST_BINS, level: float = LEVEL, weights: Weights = ()
) -> tuple[Bin, ...]:
    """Sort units into bins of about as many units each.

    Args:
        units: Any order. Equal probabilities stay together, so there may be fewer bins.
        most: Bins at most; never more than the square root of the number of units.
        level: Confidence level of the limits, in (0, 1).
        weights: Of the units; they do not change which bin a unit is in.
    """
    return _equal_mass_bins(_rows(units, weights), most, level)


def _equal_mass_bins(rows: Sequence[_Alike], most: int, level: float) -> tuple[Bin, ...]:
    return tuple(
        _bin(members, members[0][0], members[-1][0], level) for members in _equal_mass(rows, most)
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
    whole = math.fsum(each.weight for each in bins)
    gaps = [(each.weight / whole, abs(each.mean - each.observed)) for each in bins]
    match norm:
        case Norm.L1:
            return math.fsum(weight * gap for weight, gap in gaps)
        case Norm.L2:
            return math.sqrt(math.fsum(weight * gap * gap for weight, gap in gaps))
        case Norm.MAX:
            return max(gap for _, gap in gaps)


def noise_floor(
    units: Units,
    most: int = MOST_BINS,
    *,
    weights: Weights = (),
    draws: int = DRAWS,
    seed: int = SEED,
) -> NoiseFloor:
    """Simulate the error over equal-mass bins when every probability is right.

    Args:
        units: At least one; only their probabilities matter.
        most: Bins at most, as for `equal_mass_bins`.
        weights: Of the units.
        draws: How often everything is drawn anew.
        seed: The same seed gives the same floor.
    """
    return _floor(_rows(units, weights), most, draws, seed, weighted=bool(weights))


def _floor(
    rows: Sequence[_Alike], most: int, draws: int, seed: int, *, weighted: bool
) -> NoiseFloor:
    chance = random.Random(seed)
    whole = _weight(rows)
    totals = [0.0] * draws
    for members in _equal_mass(rows, most):
        expected = math.fsum(times * by * p for p, _, by, times in members)
        sd = math.sqrt(math.fsum(times * by * by * p * (1 - p) for p, _, by, times in members))
        most_of_it = _weight(members)
        one_by_one: list[tuple[float, float]] = []
        if _size(members) <= _EXACT:
            one_by_one = [(p, by) for p, _, by, times in members for _ in range(times)]
        for draw in range(draws):
            if one_by_one:
                came = sum(by for p, by in one_by_one if chance.random() < p)
            else:
                came = chance.gauss(expected, sd)
                came = min(max(came if weighted else round(came), 0), most_of_it)
            totals[draw] += abs(came - expected) / whole
    totals.sort()
    return NoiseFloor(math.fsum(totals) / draws, totals[math.ceil(0.95 * draws) - 1])


def _rows(units: Units, weights: Weights = ()) -> list[_Alike]:
    """Count units that are alike, sorted."""
    by = weights or [1.0] * len(units)
    weighed = Counter((p, came, weight) for (p, came), weight in zip(units, by, strict=True))
    return sorted((*row, times) for row, times in weighed.items())


def _weight(rows: Iterable[_Alike]) -> float:
    return math.fsum(times * weight for *_, weight, times in rows)


def _size(rows: Iterable[_Alike]) -> int:
    return sum(times for *_, times in rows)


def _equal_mass(rows: Sequence[_Alike], most: int) -> list[list[_Alike]]:
    """Share sorted rows out; equal probabilities go where the middle one of them belongs."""
    n = _size(rows)
    count = min(most, math.isqrt(n))
    bins: dict[int, list[_Alike]] = {}
    placed = 0
    for _, same in groupby(rows, key=itemgetter(0)):
        members = list(same)
        size = _size(members)
        place = (2 * placed + size - 1) * count // (2 * n)
        bins.setdefault(place, []).extend(members)
        placed += size
    return list(bins.values())


def _bin(members: Sequence[_Alike], low: float, high: float, level: float) -> Bin:
    weight = _weight(members)
    observed = _weight(row for row in members if row[1]) / weight
    mean = math.fsum(times * by * p for p, _, by, times in members) / weight
    # As many equal units as would be as sure (Kish 1965, Survey Sampling, 11.7).
    sure = weight**2 / math.fsum(times * by * by for *_, by, times in members)
    limits = wilson(observed, sure, level)
    return Bin(low, high, _size(members), mean, observed, *limits, weight=weight)
