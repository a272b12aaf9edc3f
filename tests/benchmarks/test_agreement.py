"""How fast agreement is computed, and how often its intervals hold the truth."""

import random
from collections.abc import Callable
from itertools import product

from faithtui.domain.agreement import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    GroupedTable,
    Statistic,
    Table,
    cross_table,
    measure,
)
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.intervals import wilson
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.readings import ClaimReading
from faithtui.domain.report import agreement_report
from faithtui.domain.scores import ScoringRule
from tests.benchmarks.measuring import best_of, ms, seconds, table

RULE = ScoringRule(("yes", "idk"), 1.0)
STATISTICS = {"percent": PERCENT, "kappa": KAPPA, "alpha": ALPHA, "AC1": AC1}
DRAWS = 400
PEOPLE_SAY_NO, JUDGE_IS_RIGHT = (2.0, 4.0), (8.0, 2.0)
"""Parameters of the beta distributions from which each group draws its two shares."""


def claims(count: int, seed: int) -> list[ClaimReading]:
    """Draw claims in groups of eight."""
    choose = random.Random(seed)
    found = []
    for number in range(count):
        human = choose.choice(("yes", "no", "idk"))
        judge = human if choose.random() < 0.7 else choose.choice(("yes", "no", "idk"))
        found.append(
            ClaimReading(
                claim=ClaimId(number),
                conversation=ConversationId(number // 8),
                key=f"conversation {number // 8}",
                group=f"group {number // 8}",
                turn=1,
                text=f"claim {number}",
                judge=judge,
                human=human,
                reviewers=1,
                windows=1,
                steady=True,
                blind=True,
            )
        )
    return found


def test_the_report_against_sorting_as_many() -> None:
    rows, ratios = [], {}
    for count in (1_000, 10_000, 100_000):
        readings = claims(count, seed=count)

        def report(readings: list[ClaimReading] = readings) -> float:
            return seconds(lambda: agreement_report(readings, (), FAITHFULNESS, RULE))

        def sort(readings: list[ClaimReading] = readings) -> float:
            shuffled = [(each.text, each.group) for each in readings]
            random.Random(1).shuffle(shuffled)
            return seconds(shuffled.sort)

        found = best_of(3, sort=sort, report=report)
        ratios[count] = found["report"] / found["sort"]
        rows.append((f"{count:,}", ms(found["sort"]), ms(found["report"]), f"{ratios[count]:.1f}x"))
    table("agreement report", ("claims", "sort", "report", "to sort"), rows)
    assert ratios[100_000] < 2 * ratios[1_000], "the report must grow as sorting does"


def test_how_often_intervals_of_95_percent_hold_the_truth() -> None:
    truth = true_values()
    rows = []
    for groups in (10, 20, 40, 100):
        choose = random.Random(groups)
        hits = dict.fromkeys([*STATISTICS, "ungrouped"], 0)
        given = dict.fromkeys(STATISTICS, 0)
        for _ in range(DRAWS):
            drawn = draw(groups, choose)
            for name, statistic in STATISTICS.items():
                estimate = measure(statistic, drawn)
                if estimate.ci_low is not None and estimate.ci_high is not None:
                    given[name] += 1
                    hits[name] += estimate.ci_low <= truth[name] <= estimate.ci_high
            total = drawn.total
            low, high = wilson(total.agreed / total.n, total.n)
            hits["ungrouped"] += low <= truth["percent"] <= high
        covered = {name: hits[name] / given[name] for name in STATISTICS}
        rows.append(
            (
                str(groups),
                *(f"{covered[name]:.3f}" for name in STATISTICS),
                f"{hits['ungrouped'] / DRAWS:.3f}",
            )
        )
        assert all(given[name] > 0.95 * DRAWS for name in STATISTICS)
        assert all(share > 0.90 for share in covered.values())
    table(
        f"coverage of 95 % intervals, {DRAWS} draws of groups of 1 to 12 claims",
        ("groups", *STATISTICS, "percent, groups ignored"),
        rows,
    )


def draw(groups: int, choose: random.Random) -> GroupedTable:
    """Draw groups that differ in how much is unfaithful and in how good the judge is."""
    readings = []
    for group in range(groups):
        no, right = choose.betavariate(*PEOPLE_SAY_NO), choose.betavariate(*JUDGE_IS_RIGHT)
        for _ in range(choose.randint(1, 12)):
            human = choose.random() < no
            judge = human if choose.random() < right else not human
            readings.append((str(group), word(human), word(judge)))
    return cross_table(readings, ("yes", "no"))


def word(unfaithful: bool) -> str:
    return "no" if unfaithful else "yes"


def true_values() -> dict[str, float]:
    """Compute the figures of the whole population, in which the two shares are independent."""
    people, judge = mean(*PEOPLE_SAY_NO), mean(*JUDGE_IS_RIGHT)
    scale = 90_000_000
    cells = {
        (human, said): (people if human else 1 - people) * (judge if human == said else 1 - judge)
        for human, said in product((False, True), repeat=2)
    }
    population = Table(
        ("yes", "no"),
        tuple(
            tuple(round(scale * cells[human, said]) for said in (False, True))
            for human in (False, True)
        ),
    )
    return {name: value_of(statistic, population) for name, statistic in STATISTICS.items()}


def value_of(statistic: Statistic, of: Table) -> float:
    compute: Callable[[Table], object] = statistic.compute
    value = compute(of)
    assert isinstance(value, float)
    return value


def mean(alpha: float, beta: float) -> float:
    return alpha / (alpha + beta)
