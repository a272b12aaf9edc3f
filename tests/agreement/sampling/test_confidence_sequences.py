"""Intervals that hold at every look: against enumeration, and by simulation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import comb, exp, inf, lgamma, log

import pytest

from faithtui.agreement.sampling.confidence_sequences import (
    SequenceCell,
    bound_faithful_share,
    bound_recall,
)
from tests.benchmarks.coverage import Setting
from tests.benchmarks.sequences import label_path

FLAGGED = SequenceCell(9, True, 5, 3)
PASSED = SequenceCell(14, False, 6, 1)


def log_gain(cell: SequenceCell, unfaithful: int, count: int) -> float:
    """Compute a gain from the definition: beta-binomial chance of labels over the true one."""
    faithful = cell.seen - unfaithful
    if not unfaithful <= count <= cell.population - faithful:
        return inf
    a, b = (1.0, 1.0) if cell.is_flagged else (0.5, 9.5)
    bets = (
        lgamma(a + unfaithful)
        + lgamma(b + faithful)
        - lgamma(a + b + cell.seen)
        + lgamma(a + b)
        - lgamma(a)
        - lgamma(b)
    )
    # One order of the labels: the hypergeometric chance over the number of orders.
    chance = (
        comb(count, unfaithful)
        * comb(cell.population - count, faithful)
        / comb(cell.population, cell.seen)
        / comb(cell.seen, unfaithful)
    )
    return bets - log(chance)


def list_kept(cells: tuple[SequenceCell, ...], error: float) -> Iterator[tuple[int, ...]]:
    """List what is not ruled out, for each way to label the skipped claims."""
    for hidden in product(*(range(each.unknown + 1) for each in cells)):
        found = [each.unfaithful + more for each, more in zip(cells, hidden, strict=True)]
        for counts in product(*(range(each.population + 1) for each in cells)):
            gain = sum(
                log_gain(cell, unfaithful, count)
                for cell, unfaithful, count in zip(cells, found, counts, strict=True)
            )
            if gain < -log(error):
                yield counts


@pytest.mark.parametrize("unknown", [0, 2])
def test_ends_are_those_of_all_counts_that_are_not_ruled_out(unknown: int) -> None:
    cells = (
        SequenceCell(9, True, 5 + unknown, 3, unknown=unknown),
        SequenceCell(14, False, 6 + unknown, 1, unknown=unknown),
    )
    kept = list(list_kept(cells, 0.05))
    recalls = [flagged / (flagged + passed) for flagged, passed in kept if flagged + passed]
    assert bound_recall(cells) == pytest.approx((min(recalls), max(recalls)))
    totals = [sum(each) for each in list_kept(cells, 0.025)]
    whole = sum(each.population for each in cells)
    ends = (1 - max(totals) / whole, 1 - min(totals) / whole)
    assert bound_faithful_share(cells) == pytest.approx(ends)


def test_bets_are_at_best_fair_whatever_the_number_of_unfaithful_claims() -> None:
    """The expected gain after any number of labels is at most 1, which it begins with."""
    for cell, seen, count in product((FLAGGED, PASSED), (1, 3, 6), (0, 2, 7)):
        expected = sum(
            comb(count, bad)
            * comb(cell.population - count, seen - bad)
            / comb(cell.population, seen)
            * exp(log_gain(replace(cell, seen=seen, unfaithful=bad), bad, count))
            for bad in range(max(0, seen - cell.population + count), min(seen, count) + 1)
        )
        # Below 1 where the bets allow for labels of a kind of which there are not so many.
        enough = seen <= min(count, cell.population - count)
        assert expected == pytest.approx(1) if enough else expected < 1


def test_nothing_labelled_rules_nothing_out_and_all_labelled_leaves_one_value() -> None:
    nothing = [SequenceCell(9, True, 0, 0), SequenceCell(14, False, 0, 0)]
    assert bound_faithful_share(nothing) == (0, 1)
    assert bound_recall(nothing) == (0, 1)
    everything = [SequenceCell(9, True, 9, 6), SequenceCell(14, False, 14, 2)]
    assert bound_faithful_share(everything) == pytest.approx((1 - 8 / 23, 1 - 8 / 23))
    assert bound_recall(everything) == pytest.approx((6 / 8, 6 / 8))


def test_a_judge_that_flags_nothing_has_no_recall() -> None:
    assert bound_recall([SequenceCell(40, False, 20, 5)]) == (0, 0)


def test_unfair_claims_leave_the_rate_to_the_others() -> None:
    half_unfair = [SequenceCell(40, True, 40, 10, unfair=20)]
    assert bound_faithful_share(half_unfair) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("design", ["simple", "stratified", "skips"])
def test_looks_after_every_label_seldom_miss_the_truth(design: str) -> None:
    """With claims that are alike in ten conversations; `python -m tests.benchmarks.sequences` has
    more."""
    paths = [label_path(Setting(design, 0.1, 60, 10), seed) for seed in range(20)]
    assert sum(each.missed_rate for each in paths) <= 1
    assert sum(each.missed_recall for each in paths) <= 1
    if design == "simple":
        # What the usual interval would come to, looked at as often.
        assert sum(each.missed_usual for each in paths) > 1
