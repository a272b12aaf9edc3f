"""Agreement of several raters, of whom each may have rated only some of the units.

Who said what does not enter, only how many said it, so units with the same counts are kept once
with their number: a million units have a few dozen patterns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Concatenate, Generic, ParamSpec

import numpy as np

from faithtui.agreement.statistics import coefficients
from faithtui.agreement.statistics.coefficients import DisagreementWeights, MeasurementLevel
from faithtui.agreement.statistics.figures import divide_or_nan
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import (
    Floats,
    Ints,
    count_distinct_columns,
    number_distinct_keys_by_occurrence,
)
from faithtui.domain.estimates import LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

OptionsP = ParamSpec("OptionsP")

Pattern = tuple[int, ...]
"""How many ratings of a unit each category got, in declared order."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Units by what was said about them."""

    categories: tuple[str, ...]
    """Declared labels, used or not; q of them."""
    patterns: Ints
    """Different patterns; shape (patterns, q)."""
    times: Ints
    """Units with each pattern; shape (patterns, …), the rest of it being that of the figures."""

    @classmethod
    def from_counts(cls, categories: Sequence[str], units: Mapping[Pattern, int]) -> "Ratings":
        """Make ratings of a count of patterns."""
        patterns = sorted(units)
        return cls(
            tuple(categories),
            np.array(patterns, np.int64).reshape(len(patterns), len(categories)),
            np.array([units[pattern] for pattern in patterns], np.int64),
        )

    @property
    def rating_counts_per_pattern(self) -> Ints:
        """Ratings of a unit with each pattern."""
        return np.asarray(self.patterns.sum(axis=1))

    @property
    def rated_count(self) -> Ints:
        """Units with a rating; shape (…)."""
        return np.asarray(self.times[self.rating_counts_per_pattern > 0].sum(axis=0))

    @property
    def pairable_count(self) -> Ints:
        """Units with two ratings or more; shape (…)."""
        return np.asarray(self.times[self.rating_counts_per_pattern > 1].sum(axis=0))

    @property
    def pattern_counts(self) -> list[tuple[Pattern, int]]:
        """Patterns that occur, and how often; of ratings that are not a stack."""
        pairs = zip(self.patterns.tolist(), self.times.tolist(), strict=True)
        return [(tuple(pattern), times) for pattern, times in pairs if times]

    def collapse_others(self, category: int) -> "Ratings":
        """Put all categories but one together."""
        own = self.patterns[:, category]
        rest = self.patterns.sum(axis=1) - own
        return Ratings((self.categories[category], "rest"), np.stack([own, rest], 1), self.times)


class RatingFigure(Generic[OptionsP]):
    """A figure of ratings: a number, or the reason why there is none.

    That is `NO_ITEMS` without a rating, `NO_OVERLAP` where no unit has two, else `NO_VARIATION`.

    Args:
        compute: The formula; of a stack of ratings an array of its shape, NaN where undefined.
    """

    def __init__(self, compute: Callable[Concatenate[Ratings, OptionsP], Floats]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __call__(
        self, ratings: Ratings, *options: OptionsP.args, **named: OptionsP.kwargs
    ) -> Point:
        """Compute it."""
        value = float(self.compute(ratings, *options, **named))
        if value == value:  # not NaN
            return value
        if ratings.pairable_count:
            return WithheldReason.NO_VARIATION
        return WithheldReason.NO_OVERLAP if ratings.rated_count else WithheldReason.NO_ITEMS

    def bind(self, *options: OptionsP.args, **named: OptionsP.kwargs) -> "RatingFigure[[]]":
        """Fix the options."""
        compute = self.compute
        return RatingFigure(lambda ratings: compute(ratings, *options, **named))


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRatings:
    """Ratings that know which units belong together; groups that are alike are kept once."""

    total: Ratings
    by_group: Ints
    """Units of the different groups with each pattern; shape (patterns, different groups)."""
    times: Ints
    """How many groups there are of each."""

    @property
    def without_each_group(self) -> Ratings:
        """All units without those of each different group."""
        total = self.total
        return Ratings(total.categories, total.patterns, total.times[:, None] - self.by_group)


def group_ratings(
    units: Iterable[tuple[str, Sequence[str]]], categories: Sequence[str]
) -> GroupedRatings:
    """Count the ratings of units that come in groups.

    Args:
        units: (group, labels given to the unit by its raters) of each, in any order; labels are in
            `categories`.
        categories: Declared labels.
    """
    rows = list(units)
    position = {name: i for i, name in enumerate(categories)}
    label_counts = np.zeros((len(rows), len(position)), np.int64)
    for place, (_, labels) in enumerate(rows):
        for label in labels:
            label_counts[place, position[label]] += 1
    groups, names = number_distinct_keys_by_occurrence([group for group, _ in rows])
    patterns, which = np.unique(label_counts, axis=0, return_inverse=True)
    counts = np.bincount(which.ravel() * len(names) + groups, minlength=len(patterns) * len(names))
    by_group, times = count_distinct_columns(counts.reshape(len(patterns), len(names)))
    total = Ratings(tuple(categories), patterns, np.asarray(by_group @ times))
    return GroupedRatings(total, by_group, times)


def estimate_rating_figure(
    figure: RatingFigure[[]], groups: GroupedRatings, scale: IntervalScale, level: float = LEVEL
) -> Estimate:
    """Estimate a figure of several raters, leaving out one group at a time.

    Args:
        figure: Which one.
        groups: Those without a unit that has two ratings are neither counted nor left out.
        scale: What kind of figure it is.
        level: Confidence level in (0, 1).

    Returns:
        `n` counts units with two ratings or more.
    """
    total = groups.total
    own = Ratings(total.categories, total.patterns, groups.by_group)
    enters = own.pairable_count > 0
    return make_estimate_with_jackknife_interval(
        figure(total),
        figure.compute(groups.without_each_group)[enters],
        groups.times[enters],
        scale,
        n=int(total.pairable_count),
        level=level,
    )


@RatingFigure
def percent_agreement(ratings: Ratings, weights: DisagreementWeights | None = None) -> Floats:
    """Compute the mean over units of the share of agreeing pairs of raters, in [0, 1].

    Units with fewer than two ratings say nothing about it.

    Source:
        Fleiss 1971, Psychological Bulletin 76:378-382, equation 3.
    """
    return 1 - _average_disagreement(ratings, weights)


@RatingFigure
def fleiss_kappa(ratings: Ratings, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Fleiss' kappa, at most 1: chance from the shares of all raters together.

    Undefined when only one category was ever used (0/0).

    Source:
        Fleiss 1971, Psychological Bulletin 76:378-382; with gaps and weights as in Gwet, Handbook
        of Inter-Rater Reliability (4th ed.): agreement over units with two or more ratings, shares
        averaged over all units with a rating. Two raters without gaps give Scott's pi.
    """
    shares = average_category_shares(ratings)
    expected = coefficients.expect_independent_disagreement(shares, shares, weights)
    return coefficients.compute_chance_corrected_agreement(
        _average_disagreement(ratings, weights), expected
    )


@RatingFigure
def brennan_prediger(ratings: Ratings, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Brennan and Prediger's coefficient, also known as Randolph's free-marginal kappa.

    Undefined when fewer than two categories are declared.

    Source:
        Brennan & Prediger 1981, Educational and Psychological Measurement 41:687-699; Randolph
        2005, Free-marginal multirater kappa.
    """
    expected = coefficients.expect_uniform_disagreement(len(ratings.categories), weights)
    return coefficients.compute_chance_corrected_agreement(
        _average_disagreement(ratings, weights), expected
    )


@RatingFigure
def gwet_ac1(ratings: Ratings, weights: DisagreementWeights | None = None) -> Floats:
    """Compute Gwet's AC1, with weights AC2, over the declared categories, at most 1.

    Undefined when fewer than two categories are declared. A category nobody used still counts.

    Source:
        Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48; gaps as in
        `fleiss_kappa`.
    """
    observed = _average_disagreement(ratings, weights)
    if len(ratings.categories) < 2:
        return np.full_like(observed, np.nan)
    expected = coefficients.expect_gwet_disagreement(average_category_shares(ratings), weights)
    return coefficients.compute_chance_corrected_agreement(observed, expected)


@RatingFigure
def krippendorff_alpha(
    ratings: Ratings,
    level: MeasurementLevel = MeasurementLevel.NOMINAL,
    scores: Sequence[float] = (),
) -> Floats:
    """Compute Krippendorff's alpha, at most 1; units with fewer than two ratings are dropped.

    Args:
        ratings: Units.
        level: What distances between categories mean.
        scores: One number per category for interval and ratio, not negative for ratio.

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    several = ratings.rating_counts_per_pattern > 1
    patterns = ratings.patterns[several].T
    # Pairs of values of a unit in both orders, those of a value with itself left out.
    pairs = patterns[:, None] * (patterns - np.eye(len(patterns), dtype=np.int64)[..., None])
    by_pattern = pairs / (ratings.rating_counts_per_pattern[several] - 1)
    found = np.tensordot(by_pattern, ratings.times[several], axes=1)
    return coefficients.compute_alpha_from_coincidences(found, level, scores)


def average_category_shares(ratings: Ratings) -> Floats:
    """Compute each category's share of a unit's ratings, averaged over units with a rating.

    Returns:
        Shape (q, …), in [0, 1]; NaN when nothing is rated.
    """
    some = ratings.rating_counts_per_pattern > 0
    shares = ratings.patterns[some].T / ratings.rating_counts_per_pattern[some]
    return divide_or_nan(np.tensordot(shares, ratings.times[some], axes=1), ratings.rated_count)


def compute_pair_disagreement(patterns: Ints, weights: DisagreementWeights | None) -> Floats:
    """Compute the share of disagreeing pairs among the ratings of a unit.

    Args:
        patterns: Of two ratings or more; shape (patterns, q).
        weights: How much categories differ.

    Returns:
        In [0, 1]; shape (patterns,).
    """
    sizes = patterns.sum(axis=1)
    pairs = sizes * (sizes - 1)
    if weights is None:
        return np.asarray(1 - (patterns * (patterns - 1)).sum(axis=1) / pairs)
    return np.asarray(np.einsum("pi,ij,pj->p", patterns, weights, patterns) / pairs)


def _average_disagreement(ratings: Ratings, weights: DisagreementWeights | None) -> Floats:
    several = ratings.rating_counts_per_pattern > 1
    apart = compute_pair_disagreement(ratings.patterns[several], weights)
    return divide_or_nan(
        np.tensordot(apart, ratings.times[several], axes=1), ratings.pairable_count
    )
