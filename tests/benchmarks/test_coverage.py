"""How often the 95 % intervals hold the truth, at 20 to 100 conversations.

Conversations have about nine claims and differ in how much is unfaithful and in how good the judge
is; one claim in ten is unfaithful. In the whole population agreement is 0.886, kappa 0.48 and the
recall of unfaithful claims 0.684. For the corrected rate people label two in five claims that the
judge passes and four in five that it flags.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from statistics import mean

import numpy as np
import pytest

from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.agreement.statistics.figures import compute_leave_one_out, estimate_figure
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_jackknife_interval,
    wilson_interval,
)
from faithtui.agreement.statistics.matrices import GroupedMatrix, count_confusion_by_group
from faithtui.agreement.statistics.pass_rates import (
    LabelledStratum,
    estimate_future_rate,
    make_grouped_strata,
)
from faithtui.domain.estimates import Estimate, EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason
from tests.benchmarks.measuring import table

DRAWS = 5000
CONVERSATIONS = (20, 40, 100)
FEWEST_CLAIMS, MOST_CLAIMS = 4, 14
UNFAITHFUL, RECALLED, PASSED = 0.1, 0.684, 0.9085
"""In the population: share of unfaithful claims, of those that the judge flags, and of the faithful
ones that it passes."""
ALIKE = 11.0
"""Sum of the parameters of the beta distributions that each conversation draws its shares from:
the correlation of two claims of a conversation is 1 / (1 + 11)."""
LABELLED = {False: 0.4, True: 0.8}
"""Chance of a claim to be labelled, by whether the judge flags it."""
LABELS = ("no", "yes")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A run that might have been."""

    compared: GroupedMatrix
    conversations: list[tuple[LabelledStratum, ...]]
    """Of each the claims that the judge passes, then those that it flags."""


def draw(groups: int, chance: random.Random) -> Drawn:
    """Draw a run."""
    readings: list[tuple[str, str, str]] = []
    conversations: list[tuple[LabelledStratum, ...]] = []
    for group in range(groups):
        unfaithful, recalled, passed = (
            chance.betavariate(share * ALIKE, (1 - share) * ALIKE)
            for share in (UNFAITHFUL, RECALLED, PASSED)
        )
        cells = {False: [0, 0, 0], True: [0, 0, 0]}
        for _ in range(chance.randint(FEWEST_CLAIMS, MOST_CLAIMS)):
            bad = chance.random() < unfaithful
            flagged = chance.random() < (recalled if bad else 1 - passed)
            readings.append((str(group), LABELS[not bad], LABELS[not flagged]))
            labelled = chance.random() < LABELLED[flagged]
            cell = cells[flagged]
            cell[0] += 1
            cell[1] += labelled
            cell[2] += labelled and not bad
        conversations.append(tuple(LabelledStratum(*cell) for cell in cells.values()))
    return Drawn(count_confusion_by_group(readings, LABELS), conversations)


def true_values() -> dict[str, float]:
    """Give the figures of the population, in which the three shares are independent."""
    agreement = UNFAITHFUL * RECALLED + (1 - UNFAITHFUL) * PASSED
    flagged = UNFAITHFUL * RECALLED + (1 - UNFAITHFUL) * (1 - PASSED)
    by_chance = UNFAITHFUL * flagged + (1 - UNFAITHFUL) * (1 - flagged)
    return {
        "agreement": agreement,
        "kappa": (agreement - by_chance) / (1 - by_chance),
        "recall": RECALLED,
        "corrected rate": 1 - UNFAITHFUL,
    }


def estimates(drawn: Drawn) -> Iterator[tuple[str, Estimate]]:
    """Estimate each figure of a run."""
    yield "agreement", estimate_figure(PERCENT, drawn.compared)
    yield "kappa", estimate_figure(KAPPA, drawn.compared)
    yield "recall", estimate_figure(RECALL, drawn.compared.collapse_to_two_categories(("no",)))
    yield "corrected rate", estimate_future_rate(make_grouped_strata(drawn.conversations))


def test_how_often_intervals_by_conversation_hold_the_truth() -> None:
    truth = true_values()
    assert truth["agreement"] == pytest.approx(0.886, abs=5e-4)
    assert truth["kappa"] == pytest.approx(0.48, abs=5e-3)
    rows: list[tuple[str, ...]] = []
    covered: dict[tuple[str, int], float] = {}
    for groups in CONVERSATIONS:
        chance = random.Random(groups)
        given, hits = dict.fromkeys(truth, 0), dict.fromkeys([*truth, "single claims"], 0)
        for _ in range(DRAWS):
            drawn = draw(groups, chance)
            for name, found in estimates(drawn):
                if found.ci_low is not None and found.ci_high is not None:
                    given[name] += 1
                    hits[name] += found.ci_low <= truth[name] <= found.ci_high
            total = drawn.compared.unweighted_total
            low, high = wilson_interval(total.agreed_count / total.n, total.n)
            hits["single claims"] += low <= truth["agreement"] <= high
        for name, count in given.items():
            assert count > 0.95 * DRAWS, f"{name} mostly needs an interval"
            covered[name, groups] = hits[name] / count
        rows.append(
            (
                str(groups),
                *(f"{covered[name, groups]:.3f}" for name in truth),
                f"{hits['single claims'] / DRAWS:.3f}",
            )
        )
    table(
        f"coverage of 95 % intervals, {DRAWS} runs of conversations of about nine claims",
        ("conversations", *truth, "agreement, claims on their own"),
        rows,
    )
    for (name, groups), share in covered.items():
        assert share >= 0.93, f"{name} at {groups} conversations"
        # Of 20 conversations about ten have an unfaithful claim at all; only they tell of recall,
        # and so few make the interval too wide rather than too narrow.
        most = 0.99 if (name, groups) == ("recall", 20) else 0.97
        assert share <= most, f"{name} at {groups} conversations"


ONE_GROUP_DRAWS = 1500
RARE = ((0.05, 0.0), (0.1, 0.0), (0.0, 0.01), (0.03, 0.002))
"""Shares of conversations in which the judge errs in two of five claims, and of single errors in
all others."""


def test_kappa_that_one_conversation_keeps_from_one_has_an_interval_that_holds_it() -> None:
    """Such a conversation is infinitely far away on the atanh scale."""
    rows = []
    for groups in (10, 20, 40):
        for (bad, single), unfaithful in product(RARE, (0.3, 0.1)):
            chance = random.Random(groups)
            whole = KAPPA.compute_of_single_matrix(
                nearly_right(20_000, bad, single, unfaithful, chance).unweighted_total
            )
            assert not isinstance(whole, WithheldReason)
            given = hits = 0
            widths, before = [], []
            for _ in range(ONE_GROUP_DRAWS):
                drawn = nearly_right(groups, bad, single, unfaithful, chance)
                found = estimate_figure(KAPPA, drawn)
                if found.method is EstimateMethod.WILSON and found.value is not None:
                    assert found.ci_low is not None
                    assert found.ci_high is not None
                    given += 1
                    hits += found.ci_low <= whole <= found.ci_high
                    widths.append(found.ci_high - found.ci_low)
                    values, times = compute_leave_one_out(KAPPA.compute, drawn)
                    known = ~np.isnan(values)
                    low, high = make_jackknife_interval(
                        found.value, values[known], times[known], IntervalScale.ATANH
                    )
                    before.append(high - low)
            if given > 100:
                rows.append(
                    (
                        str(groups),
                        f"{bad:.2f}, {single:.3f}, {unfaithful:.1f}",
                        str(given),
                        f"{hits / given:.3f}",
                        f"{mean(widths):.2f}",
                        f"{mean(before):.2f}",
                    )
                )
                assert hits / given > 0.89
    table(
        f"kappa with all disagreement in one conversation, of {ONE_GROUP_DRAWS} draws each",
        ("conversations", "errors", "draws", "holds it", "width", "width on the atanh scale"),
        rows,
    )


def nearly_right(
    groups: int, bad: float, single: float, unfaithful: float, chance: random.Random
) -> GroupedMatrix:
    """Draw conversations of nine claims, in few of which the judge errs."""
    readings = []
    for group in range(groups):
        wrong = 0.4 if chance.random() < bad else single
        for _ in range(9):
            human = chance.random() < unfaithful
            judge = human if chance.random() >= wrong else not human
            readings.append((str(group), LABELS[not human], LABELS[not judge]))
    return count_confusion_by_group(readings, LABELS)
