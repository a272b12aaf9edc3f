"""How fast agreement is computed, and how often its intervals hold the truth."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import pytest

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.labelled_units import ClaimUnit, LabelState, Opinion, RunUnits
from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.digest import hash_units
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.report import (
    PreparedUnits,
    agreement_report,
    compute_report_of_prepared_units,
    update_claim_figures_without_intervals,
)
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.agreement.statistics.coefficients import AC1, ALPHA, KAPPA, PERCENT
from faithtui.agreement.statistics.figures import Statistic, estimate_figure
from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.agreement.statistics.matrices import GroupedMatrix, count_confusion_by_group
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule
from faithtui.engine.runs.gc_pause import pause_gc
from tests.agreement.building import readings
from tests.benchmarks.measuring import ROOT, best_of, ms, ratio, seconds, table

RULE = ScoringRule(("yes", "idk"), 1.0)
STATISTICS = {"percent": PERCENT, "kappa": KAPPA, "alpha": ALPHA, "AC1": AC1}
DRAWS = 400
PEOPLE_SAY_NO, JUDGE_IS_RIGHT = (2.0, 4.0), (8.0, 2.0)
"""Parameters of the beta distributions from which each group draws its two shares."""
SIZES = (1_000, 100_000, 1_000_000)
WORDS = ("yes", "no", "idk")
SURE = {"yes": 0.9, "idk": 0.5, "no": 0.2}
"""What the judge states of each word."""
BOOTSTRAP = ReportSettings(interval=IntervalMethod.BOOTSTRAP)
LOOPS = 5
"""Rounds of the loop that a bootstrap by library calls is reckoned from."""
AT_ONCE = 10
"""Pairs of a group."""


def claims(count: int, seed: int) -> list[ClaimUnit]:
    """Draw claims in groups of ten, each labelled by one person, with the judge's confidence."""
    return [
        ClaimUnit(
            claim=ClaimId(number),
            conversation=ConversationId(number // AT_ONCE),
            key=f"conversation {number // AT_ONCE}",
            group=group,
            turn=1 + 2 * (number % 4),
            text=f"claim {number}",
            judge=judge,
            human=human,
            reviewers=1,
            windows=1,
            steady=True,
            blind=True,
            state=LabelState.LABELLED,
            opinions=(Opinion("ann", human, Action.BLIND, True, 4.0, None, number),),
            confidence=SURE[judge],
        )
        for number, (group, human, judge) in enumerate(pairs(count, seed))
    ]


def pairs(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Draw (group, people's label, judge's label)."""
    choose = random.Random(seed)
    found = []
    for number in range(count):
        human = choose.choice(("yes", "yes", "yes", "no", "idk"))
        judge = human if choose.random() < 0.7 else choose.choice(WORDS)
        found.append((f"group {number // AT_ONCE}", human, judge))
    return found


def figures_of(counted: GroupedMatrix, settings: ReportSettings) -> None:
    """Compute what a report says of a level: five coefficients, nine by label, 16 of detection.

    Nothing is known from another round.
    """
    counted = GroupedMatrix(counted.categories, counted.counts, counted.times)
    context = FigureContext(WORDS, ("no",), settings)
    context.compute_agreement(counted, main=True)
    context.compute_per_label_figures(counted)
    context.compute_detection(counted, ("no",), main=True)
    context.compute_detection(counted, ("no", "idk"), main=True)


def test_figures_of_judged_pairs_against_a_library_loop() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rows = []
    for count in SIZES:
        drawn = pairs(count, seed=count)
        place = {word: number for number, word in enumerate(WORDS)}
        human = np.array([place[each[1]] for each in drawn])
        judge = np.array([place[each[2]] for each in drawn])
        counted = count_confusion_by_group(drawn, WORDS)

        def library(human: object = human, judge: object = judge) -> float:
            return seconds(lambda: _library(sklearn, human, judge))

        def counting(drawn: list[tuple[str, str, str]] = drawn) -> float:
            return seconds(lambda: count_confusion_by_group(drawn, WORDS))

        def plain(counted: GroupedMatrix = counted) -> float:
            return seconds(lambda: figures_of(counted, ReportSettings()))

        def resampled(counted: GroupedMatrix = counted) -> float:
            return seconds(lambda: figures_of(counted, BOOTSTRAP))

        found = best_of(2, library=library, counting=counting, plain=plain, resampled=resampled)
        loop = BOOTSTRAP.resamples * min(library() for _ in range(LOOPS))
        rows.append(
            (
                f"{count:,}",
                str(len(counted.times)),
                ms(found["library"]),
                ms(found["counting"]),
                ms(found["plain"]),
                ratio(found["counting"] + found["plain"], found["library"]),
                f"{loop:.0f} s",
                ms(found["resampled"]),
                ratio(found["resampled"], loop),
            )
        )
        # The loop has no conversations and draws nothing: it only computes the same figures.
        assert found["resampled"] < loop / 4
    table(
        "figures of judged pairs; the library has point estimates alone, without conversations",
        (
            *("pairs", "kinds", "sklearn", "counting", "jackknife", "both, to sklearn"),
            *("2,000 x sklearn", "2,000 resamples", "to the loop"),
        ),
        rows,
    )


def _library(sklearn: object, human: object, judge: object) -> None:
    """Compute kappa, precision, recall and F of each label, and Matthews' correlation."""
    for name in ("cohen_kappa_score", "precision_recall_fscore_support", "matthews_corrcoef"):
        options = {"zero_division": 0} if name.startswith("precision") else {}
        getattr(sklearn, name)(human, judge, **options)


def test_memory_of_a_million_counted_pairs() -> None:
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from tests.benchmarks.test_agreement import BOOTSTRAP, WORDS, figures_of, streamed
from faithtui.agreement.statistics.matrices import count_confusion_by_group

def most():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1000

before = most()
figures_of(count_confusion_by_group(streamed(1_000_000), WORDS), BOOTSTRAP)
print(before, most())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    before, most = map(float, done.stdout.split())
    rows = [(f"{before:.0f} MB", f"{most:.0f} MB")]
    table("a million pairs, counted and resampled 2,000 times", ("before", "most"), rows)
    assert most < 300


def streamed(count: int) -> Iterator[tuple[str, str, str]]:
    """Draw pairs one by one."""
    choose = random.Random(count)
    for number in range(count):
        human = choose.choice(WORDS)
        judge = human if choose.random() < 0.7 else choose.choice(WORDS)
        yield f"group {number // AT_ONCE}", human, judge


def test_point_estimates_after_one_label() -> None:
    rows = []
    for count in (1_000, 100_000):
        made = claims(count, seed=count)
        prepared = PreparedUnits(readings(made), FAITHFULNESS, RULE)
        report = compute_report_of_prepared_units(prepared)
        before = [made[count // 2]]
        after = [each._replace(human="no" if each.human == "yes" else "yes") for each in before]

        def one(
            prepared: PreparedUnits = prepared,
            report: AgreementReport = report,
            before: Sequence[ClaimUnit] = before,
            after: Sequence[ClaimUnit] = after,
        ) -> float:
            return seconds(
                lambda: update_claim_figures_without_intervals(prepared, report, before, after)
            )

        def anew(prepared: PreparedUnits = prepared) -> float:
            return seconds(lambda: compute_report_of_prepared_units(prepared))

        found = best_of(5, one=one, anew=anew)
        rows.append(
            (f"{count:,}", ms(found["one"]), ms(found["anew"]), ratio(found["one"], found["anew"]))
        )
    table(
        "all point estimates of a level after one label",
        ("claims", "one label", "the report anew", "to that"),
        rows,
    )
    # At the larger size: the smaller one is computed anew in no time.
    assert found["one"] < found["anew"] / 20


def test_the_report_against_a_library_loop_and_sorting_as_many() -> None:
    """A library has point estimates alone; intervals take a call without each conversation."""
    sklearn = pytest.importorskip("sklearn.metrics")
    rows, ratios = [], {}
    for count in (1_000, 10_000, 100_000):
        made = claims(count, seed=count)
        read = readings(made)
        place = {word: number for number, word in enumerate(WORDS)}
        human = np.array([place[str(each.human)] for each in made])
        judge = np.array([place[str(each.judge)] for each in made])

        def report(read: RunUnits = read) -> float:
            with pause_gc():  # as the app does
                return seconds(lambda: agreement_report(read, FAITHFULNESS, RULE))

        def resampled(read: RunUnits = read) -> float:
            with pause_gc():
                return seconds(lambda: agreement_report(read, FAITHFULNESS, RULE, BOOTSTRAP))

        def digest(made: list[ClaimUnit] = made) -> float:
            return seconds(lambda: hash_units(made, ()))

        def library(human: object = human, judge: object = judge) -> float:
            return seconds(lambda: _library(sklearn, human, judge))

        def sort(made: list[ClaimUnit] = made) -> float:
            shuffled = [(each.text, each.group) for each in made]
            random.Random(1).shuffle(shuffled)
            return seconds(shuffled.sort)

        found = best_of(
            3, sort=sort, library=library, report=report, resampled=resampled, digest=digest
        )
        loop = found["library"] * count / AT_ONCE
        ratios[count] = found["report"] / found["sort"]
        rows.append(
            (
                f"{count:,}",
                ms(found["sort"]),
                ms(found["library"]),
                f"{loop:.1f} s",
                ms(found["report"]),
                f"1/{loop / found['report']:.0f}",
                ms(found["resampled"]),
                ms(found["digest"]),
            )
        )
        assert found["report"] < loop
    table(
        "whole report: breakdowns, people, progress, warnings",
        (
            *("claims", "sort", "sklearn", "without each conversation"),
            *("report", "to that", "with 2,000 resamples", "digest of the input"),
        ),
        rows,
    )
    assert ratios[100_000] < 2 * ratios[1_000], "the report must grow as sorting does"


def test_time_and_memory_of_a_million_readings() -> None:
    """In a process of its own, so that nothing else is in its memory."""
    program = f"""
import gc
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from tests.benchmarks.measuring import seconds
from tests.benchmarks.test_agreement import BOOTSTRAP, RULE, claims
from tests.agreement.building import readings
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.agreement.report.report import PreparedUnits, agreement_report
from faithtui.agreement.report.report import compute_report_of_prepared_units
from faithtui.agreement.report.digest import hash_units
from faithtui.agreement.report.report import update_claim_figures_without_intervals

def most():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1000

gc.disable()
read = readings(claims(1_000_000, seed=1))
before = most()
plain = seconds(lambda: agreement_report(read, FAITHFULNESS, RULE))
after = most()
drawn = seconds(lambda: agreement_report(read, FAITHFULNESS, RULE, BOOTSTRAP))
print(before, after, most(), plain, drawn)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    before, after, most, plain, drawn = map(float, done.stdout.split())
    rows = [
        (
            *(ms(plain), ms(drawn)),
            *(f"{each:.0f} MB" for each in (before, after - before, most - before)),
        )
    ]
    table(
        "report of a million claims",
        ("report", "with 2,000 resamples", "readings", "report on top", "resamples on top"),
        rows,
    )
    assert most - before < 300


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
                estimate = estimate_figure(statistic, drawn)
                if estimate.ci_low is not None and estimate.ci_high is not None:
                    given[name] += 1
                    hits[name] += estimate.ci_low <= truth[name] <= estimate.ci_high
            total = drawn.unweighted_total
            low, high = wilson_interval(total.agreed_count / total.n, total.n)
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


def draw(groups: int, choose: random.Random) -> GroupedMatrix:
    """Draw groups that differ in how much is unfaithful and in how good the judge is."""
    readings = []
    for group in range(groups):
        no, right = choose.betavariate(*PEOPLE_SAY_NO), choose.betavariate(*JUDGE_IS_RIGHT)
        for _ in range(choose.randint(1, 12)):
            human = choose.random() < no
            judge = human if choose.random() < right else not human
            readings.append((str(group), word(human), word(judge)))
    return count_confusion_by_group(readings, ("yes", "no"))


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
    population = ConfusionMatrix(
        ("yes", "no"),
        tuple(
            tuple(round(scale * cells[human, said]) for said in (False, True))
            for human in (False, True)
        ),
    )
    return {name: value_of(statistic, population) for name, statistic in STATISTICS.items()}


def value_of(statistic: Statistic, of: ConfusionMatrix[int]) -> float:
    compute: Callable[[ConfusionMatrix[int]], object] = statistic.compute
    value = compute(of)
    assert isinstance(value, float)
    return value


def mean(alpha: float, beta: float) -> float:
    return alpha / (alpha + beta)
