"""Intervals of the rate and of recall that hold however often one looks.

Labels of a random sample come in the drawn order, and somebody looks after each and stops when it
suits. The intervals here hold the truth of this run at all of these looks together, with the
confidence that a usual interval has at one look that was fixed beforehand. They need nothing but
the drawn order: claims of one conversation may be as alike as they like.

A gambler bets on each next label of a cell (claims of a stratum that the judge flags, or passes),
against everybody who claims to know how many of its claims are unfaithful. Whoever is right about
that can lose by a factor of 20 at any moment of the game in one game of twenty at most. What is not
ruled out that way is the interval. The gambler's chances are those of a beta prior with the labels
so far; gains in the cells multiply, as their labels are drawn apart from each other.

Source:
    Waudby-Smith and Ramdas 2024, J R Stat Soc B 86:1-27, section 5 (betting without replacement);
    Waudby-Smith and Ramdas 2020, NeurIPS 33, section 2 (a beta-binomial prior as the bet);
    Spertus, Sridhar and Stark 2024, arXiv 2409.06680, for the product over strata.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from faithtui.agreement.statistics.matrices import Floats, Ints
from faithtui.domain.estimates import LEVEL
from faithtui.domain.labels.label_sets import NOT_A_CLAIM

_FLAGGED_PRIOR = (1.0, 1.0)
_PASSED_PRIOR = (0.5, 9.5)
"""Beta priors of the share of unfaithful claims: any share, and about one in twenty. Any prior
keeps the promise; of eight pairs that were tried these gave intervals a tenth narrower at few
errors, and as narrow at many."""

_UNKNOWN = ""
"""Counted in place of what is no label."""
Interval = tuple[float, float]
"""Lower and upper end, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class SequenceCell:
    """Claims of one stratum with one kind of verdict, labelled in the drawn order."""

    population: int
    """Claims of the run."""
    is_flagged: bool
    """The judge calls them unfaithful."""
    seen: int
    """The first ones of the drawn order: labelled, unfair or without a label."""
    unfaithful: int
    """Of those seen."""
    unfair: int = 0
    """Of those seen, labelled `x`."""
    unknown: int = 0
    """Of those seen, without a label that counts: skipped. The interval holds whatever they are."""


CellKey = tuple[str, bool]
"""Stratum of a claim, "" without any, and whether the judge flags it."""


def count_labels_by_stratum_and_flag(
    populations: Mapping[CellKey, int],
    served: Iterable[tuple[CellKey, str | None]],
    labels: Collection[str],
    bad: Collection[str],
) -> list[SequenceCell]:
    """Count what was said of each cell.

    Args:
        populations: Claims of the run.
        served: The first claims of the drawn order, each with its label; None: skipped.
        labels: Those of the metric; other words but `x` are unknown.
        bad: Labels that count as unfaithful.
    """
    seen: dict[CellKey, Counter[str]] = {key: Counter() for key in populations}
    for key, word in served:
        is_known = word in labels or word == NOT_A_CLAIM
        seen[key][str(word) if is_known else _UNKNOWN] += 1
    return [
        SequenceCell(
            population,
            key[1],
            seen[key].total(),
            sum(seen[key][name] for name in bad),
            seen[key][NOT_A_CLAIM],
            seen[key][_UNKNOWN],
        )
        for key, population in populations.items()
    ]


def bound_faithful_share(cells: Sequence[SequenceCell], level: float = LEVEL) -> Interval:
    """Bound the share of faithful claims among the fair ones of a run, at every look.

    Args:
        cells: All claims of the run, as far as they are labelled in the drawn order.
        level: Confidence level in (0, 1).

    Returns:
        Half of the chance to be wrong is spent on how many claims are unfaithful, and half on how
        many are faithful, as the rest may be unfair.
    """
    whole = sum(each.population for each in cells)
    unfaithful, faithful = (
        _bound_unfaithful_or_faithful_count(cells, is_unfaithful, (1 - level) / 2)
        for is_unfaithful in (True, False)
    )
    few, many = unfaithful[0], min(unfaithful[1], whole - faithful[0])
    fair = faithful[0] + many
    low = faithful[0] / fair if fair else 0.0
    fair = few + min(faithful[1], whole - few)
    return low, 1 - few / fair if fair else 1.0


def _bound_unfaithful_or_faithful_count(
    cells: Sequence[SequenceCell], is_unfaithful: bool, error: float
) -> tuple[int, int]:
    """Bound how many claims are unfaithful, or faithful; `error` is the chance to be wrong."""
    few = _Profile.from_draws(_list_draws_by_cell(cells, is_unfaithful, unknown=False))
    if not any(each.unknown for each in cells):
        return few.bound_hit_count(error)
    many = _Profile.from_draws(_list_draws_by_cell(cells, is_unfaithful, unknown=True))
    return few.bound_hit_count(error)[0], many.bound_hit_count(error)[1]


def bound_recall(cells: Sequence[SequenceCell], level: float = LEVEL) -> Interval:
    """Bound the share of the unfaithful claims of a run that the judge flags, at every look.

    Args:
        cells: All claims of the run, as far as they are labelled in the drawn order. Unfair claims
            count as faithful, which changes nothing here.
        level: Confidence level in (0, 1).

    Returns:
        (0, 1) while nothing is ruled out.
    """
    budget = -log(1 - level)
    flagged = [each for each in cells if each.is_flagged]
    passed = [each for each in cells if not each.is_flagged]
    # The most that recall can be: many unfaithful among the flagged, few among the passed.
    most, least = (
        (
            _Profile.from_draws(_list_draws_by_cell(flagged, True, unknown=up)),
            _Profile.from_draws(_list_draws_by_cell(passed, True, unknown=not up)),
        )
        for up in (True, False)
    )
    highest = _pair_smallest_with_largest_counts(most[0], most[1], budget)
    lowest = _pair_smallest_with_largest_counts(least[1], least[0], budget)
    return 1 - _find_largest_recall(lowest), _find_largest_recall(highest)


def _find_largest_recall(pairs: tuple[Ints, Ints]) -> float:
    many, few = pairs
    whole = many + few
    if not len(whole) or not whole.all():
        return 1.0
    return float((many / whole).max())


class _Draws(NamedTuple):
    """Claims drawn one by one, of which some are of a kind."""

    population: int
    seen: int
    hits: int
    """Of those seen."""
    prior: tuple[float, float]
    """Of the share of hits."""


def _list_draws_by_cell(
    cells: Sequence[SequenceCell], is_unfaithful: bool, *, unknown: bool
) -> list[_Draws]:
    """Say what was drawn of each cell.

    Args:
        cells: Cells.
        is_unfaithful: Hits are unfaithful claims; False: faithful ones.
        unknown: Claims without a label are hits.
    """
    found = []
    for each in cells:
        hits = each.unfaithful
        prior = _FLAGGED_PRIOR if each.is_flagged else _PASSED_PRIOR
        if not is_unfaithful:
            hits = each.seen - each.unfaithful - each.unfair - each.unknown
            prior = prior[::-1]
        hits += each.unknown if unknown else 0
        found.append(_Draws(each.population, each.seen, hits, prior))
    return found


@dataclass(frozen=True, slots=True)
class _Profile:
    """What has been won from those who claim that so many claims are hits."""

    first: int
    """The smallest number that is possible."""
    gains: Floats
    """Logarithm of the gain from each number from `first` on; falls, then rises (convex)."""

    @classmethod
    def from_draws(cls, draws: Sequence[_Draws]) -> "_Profile":
        """Compute the smallest gain over all ways to share a number among cells.

        Gains are convex in each cell, so the steps of the smallest sum are the steps of all cells
        in order.
        """
        if not draws:
            return cls(0, np.zeros(1))
        logs = _list_log_factorials(max(each.population for each in draws))
        gains = [_compute_log_betting_gains(each, logs) for each in draws]
        steps = np.concatenate([np.diff(each) for each in gains])
        # Merges the ordered steps of the cells.
        steps.sort(kind="stable")
        start = sum(float(each[0]) for each in gains)
        return cls(
            sum(each.hits for each in draws), start + np.concatenate(([0.0], np.cumsum(steps)))
        )

    def bound_hit_count(self, error: float) -> tuple[int, int]:
        """Bound the number of hits; `error` is the chance to be wrong."""
        left = np.flatnonzero(self.gains < -log(error))
        return self.first + int(left[0]), self.first + int(left[-1])


def _pair_smallest_with_largest_counts(
    many: _Profile, few: _Profile, budget: float
) -> tuple[Ints, Ints]:
    """Give for each small number of the one the largest of the other that is not ruled out."""
    lowest, least = int(many.gains.argmin()), int(few.gains.argmin())
    rising = many.gains[lowest:]
    left = budget - few.gains[: least + 1]
    reach = np.searchsorted(rising, left) - 1
    possible = np.flatnonzero(reach >= 0)
    return many.first + lowest + reach[possible], few.first + possible


def _compute_log_betting_gains(draws: _Draws, logs: Floats) -> Floats:
    """Compute the logarithm of what is won from each number of hits in a cell.

    The gain is the chance that the bets gave these labels, over the chance by that number.

    Returns:
        One for each number that is possible, from the hits seen on.
    """
    population, seen, hits, (a, b) = draws
    misses, rest = seen - hits, population - seen
    numbers = np.arange(hits, hits + rest + 1)
    others = population - numbers
    by_number = (
        (logs[numbers] - logs[numbers - hits])
        + (logs[others] - logs[others - misses])
        - (logs[population] - logs[rest])
    )
    by_bets = _log_beta(a + hits, b + misses) - _log_beta(a, b)
    return np.asarray(by_bets - by_number)


def _list_log_factorials(most: int) -> Floats:
    """List log 0!, log 1!, … log `most`!."""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
