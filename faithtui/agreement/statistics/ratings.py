"""Agreement of several raters, of whom each may have rated only some of the units.

Who said what does not enter, only how many said it, so units with the same counts are kept once
with their number: a million units have a few dozen patterns.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from faithtui.agreement.statistics import chance
from faithtui.agreement.statistics.alpha import MeasurementLevel, alpha_of
from faithtui.agreement.statistics.category_weights import Disagreement, disagreement
from faithtui.agreement.statistics.table_groups import Grouped, grouped
from faithtui.domain.estimates import Point, Reason

Pattern = tuple[int, ...]
"""How many ratings of a unit each category got, in declared order."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Units by what was said about them."""

    categories: tuple[str, ...]
    """Declared labels, used or not."""
    patterns: tuple[Pattern, ...]
    """Different patterns; the same for all groups of one whole."""
    times: tuple[int, ...]
    """Units with each pattern."""

    @classmethod
    def of(cls, categories: Sequence[str], units: Mapping[Pattern, int]) -> Self:
        """Make ratings of a count of patterns."""
        patterns = sorted(units)
        times = tuple(units[pattern] for pattern in patterns)
        return cls(tuple(categories), tuple(patterns), times)

    @property
    def items(self) -> list[tuple[Pattern, int]]:
        """Patterns that occur, and how often."""
        pairs = zip(self.patterns, self.times, strict=True)
        return [(pattern, times) for pattern, times in pairs if times]

    @property
    def rated(self) -> int:
        """Units with a rating."""
        return sum(times for pattern, times in self.items if any(pattern))

    @property
    def pairable(self) -> int:
        """Units with two ratings or more."""
        return sum(times for pattern, times in self.items if sum(pattern) > 1)

    @property
    def parts(self) -> tuple[int, ...]:
        """Units with each pattern."""
        return self.times

    def rebuilt(self, parts: Sequence[float]) -> Self:
        """Make ratings with the same patterns."""
        return type(self)(self.categories, self.patterns, tuple(int(part) for part in parts))

    def without(self, part: Self) -> Self:
        """Leave out the units of a part."""
        return self.rebuilt([a - b for a, b in zip(self.times, part.times, strict=True)])

    def against_rest(self, category: int) -> "Ratings":
        """Put all categories but one together."""
        found: Counter[Pattern] = Counter()
        for pattern, times in self.items:
            found[pattern[category], sum(pattern) - pattern[category]] += times
        return Ratings.of((self.categories[category], "rest"), found)


RatingFigure = Callable[[Ratings], Point]


def grouped_ratings(
    readings: Iterable[tuple[str, Sequence[str]]], categories: Sequence[str]
) -> Grouped[Ratings]:
    """Count the ratings of units that come in groups.

    Args:
        readings: (group, labels given to the unit by its raters) of each unit, in any order;
            labels are in `categories`.
        categories: Declared labels.
    """
    position = {name: i for i, name in enumerate(categories)}
    by_group: dict[str, Counter[Pattern]] = {}
    for group, labels in readings:
        counts = [0] * len(position)
        for label in labels:
            counts[position[label]] += 1
        by_group.setdefault(group, Counter())[tuple(counts)] += 1
    patterns = tuple(sorted({pattern for found in by_group.values() for pattern in found}))
    names = tuple(categories)
    groups = (
        Ratings(names, patterns, tuple(found[pattern] for pattern in patterns))
        for found in by_group.values()
    )
    return Grouped(*grouped(Ratings(names, patterns, (0,) * len(patterns)), groups))


def percent_agreement(ratings: Ratings, weights: Disagreement | None = None) -> Point:
    """Compute the mean over units of the share of agreeing pairs of raters, in [0, 1].

    Units with fewer than two ratings say nothing about it.

    Source:
        Fleiss 1971, Psychological Bulletin 76:378-382, equation 3.
    """
    found = _disagreement(ratings, weights)
    return found if isinstance(found, Reason) else 1 - found


def fleiss_kappa(ratings: Ratings, weights: Disagreement | None = None) -> Point:
    """Compute Fleiss' kappa, at most 1: chance from the shares of all raters together.

    Undefined when only one category was ever used (0/0).

    Source:
        Fleiss 1971, Psychological Bulletin 76:378-382; with gaps and weights as in Gwet, Handbook
        of Inter-Rater Reliability (4th ed.): agreement over units with two or more ratings, shares
        averaged over all units with a rating. Two raters without gaps give Scott's pi.
    """
    shares = category_shares(ratings)
    return _above(ratings, chance.crossed(shares, shares, weights), weights)


def brennan_prediger(ratings: Ratings, weights: Disagreement | None = None) -> Point:
    """Compute Brennan and Prediger's coefficient, also known as Randolph's free-marginal kappa.

    Undefined when fewer than two categories are declared.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699; Randolph
        2005, Free-marginal multirater kappa.
    """
    return _above(ratings, chance.uniform(len(ratings.categories), weights), weights)


def gwet_ac1(ratings: Ratings, weights: Disagreement | None = None) -> Point:
    """Compute Gwet's AC1, with weights AC2, over the declared categories, at most 1.

    Undefined when fewer than two categories are declared. A category nobody used still counts.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48; gaps as in
        `fleiss_kappa`.
    """
    several = len(ratings.categories) > 1
    expected = chance.gwet(category_shares(ratings), weights) if several else 0.0
    return _above(ratings, expected, weights)


def krippendorff_alpha(
    ratings: Ratings,
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Point:
    """Compute Krippendorff's alpha, at most 1; units with fewer than two ratings are dropped.

    Args:
        ratings: Units.
        level: What distances between categories mean.
        scores: One number per category for interval and ratio, not negative for ratio.

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    if not ratings.pairable:
        return _nothing(ratings)
    return alpha_of(coincidences(ratings), level, scores)


def coincidences(ratings: Ratings) -> list[list[float]]:
    """Count how often two values stand in the same unit, see `alpha.alpha_of`."""
    size = range(len(ratings.categories))
    # Summed in whole numbers for each number of ratings, and divided once.
    by_size: dict[int, list[list[int]]] = {}
    for pattern, times in ratings.items:
        raters = sum(pattern)
        if raters > 1:
            pairs = by_size.setdefault(raters, [[0] * len(size) for _ in size])
            for k in size:
                if pattern[k]:
                    for j in size:
                        pairs[k][j] += times * pattern[k] * (pattern[j] - (k == j))
    return [
        [sum(pairs[k][j] / (raters - 1) for raters, pairs in sorted(by_size.items())) for j in size]
        for k in size
    ]


def category_shares(ratings: Ratings) -> list[float]:
    """Compute each category's share of a unit's ratings, averaged over units with a rating.

    Returns:
        One number in [0, 1] per category; all 0 when nothing is rated.
    """
    by_size: dict[int, list[int]] = {}
    for pattern, times in ratings.items:
        raters = sum(pattern)
        sums = by_size.setdefault(raters, [0] * len(pattern))
        for k, count in enumerate(pattern):
            sums[k] += times * count
    rated = ratings.rated
    return [
        sum(sums[k] / raters for raters, sums in sorted(by_size.items()) if raters) / (rated or 1)
        for k in range(len(ratings.categories))
    ]


def unit_disagreement(pattern: Pattern, weights: Disagreement | None) -> float:
    """Compute the share of disagreeing pairs among the ratings of a unit with two or more."""
    raters = sum(pattern)
    if weights is None:
        agreeing = sum(count * (count - 1) for count in pattern)
        return 1 - agreeing / (raters * (raters - 1))
    size = range(len(pattern))
    apart = math.fsum(
        pattern[k] * pattern[j] * disagreement(k, j, weights) for k in size for j in size
    )
    return apart / (raters * (raters - 1))


def _above(ratings: Ratings, expected: float, weights: Disagreement | None) -> Point:
    observed = _disagreement(ratings, weights)
    return observed if isinstance(observed, Reason) else chance.above_chance(observed, expected)


def _disagreement(ratings: Ratings, weights: Disagreement | None) -> Point:
    pairable = ratings.pairable
    if not pairable:
        return _nothing(ratings)
    found = (
        times * unit_disagreement(pattern, weights)
        for pattern, times in ratings.items
        if sum(pattern) > 1
    )
    return math.fsum(found) / pairable


def _nothing(ratings: Ratings) -> Reason:
    return Reason.NO_OVERLAP if ratings.rated else Reason.NO_ITEMS
