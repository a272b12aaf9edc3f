"""How often the interval of a change between two judges holds the truth, and worse ones pass.

The second judge differs from the first one on some claims; both are known for every claim, human
labels only for a sample drawn in the first one's run. `python -m tests.benchmarks.judge_changes`
from the repository root prints the table. The gate is asked for a hair less than the true drop, so
that every pass is a false one. With `--drawn` both judges judged the drawn claims alone, and the
truth is that of all claims all the same.
"""

import argparse
import multiprocessing
from dataclasses import dataclass
from itertools import product

import numpy as np

from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    ThresholdBasis,
    check_accuracy_drop,
)
from faithtui.agreement.labelled_units import RunUnits
from faithtui.agreement.report.compare import PairedUnit
from faithtui.agreement.report.report import OtherJudge, PreparedUnits, compare_with_second_judge
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.benchmarks import coverage
from tests.benchmarks.coverage import LABELS, RULE, Population, Setting
from tests.benchmarks.partial_runs import rest_on_drawn

HAIR = 1e-6
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """What is simulated."""

    run: Setting
    spoiled: float
    """Share of the claims that the first judge has right and the second one has wrong."""
    mended: float
    """Share of those that the first one has wrong and the second one has right."""
    drawn_alone: bool = False
    """Whether both judged nothing but what was drawn."""


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """One simulated comparison."""

    holds: bool | None
    """Whether the interval of the change of accuracy holds the truth; None: there is none."""
    kappa_holds: bool | None
    width: float
    """Of the interval of accuracy; NaN: there is none."""
    passes_worse: bool | None
    """Whether the gate let a drop by that is larger than was asked; None: nothing dropped."""
    passes_better: bool
    """Whether the gate passed when asked for .1 more than the true drop."""


def draw_second_judge(
    setting: ChangeSetting, population: Population, generator: np.random.Generator
) -> list[int]:
    """Draw what the second judge says of the same claims."""
    human, judge = np.array(population.human), np.array(population.judge)
    chance = generator.random((2, len(human)))
    changes = chance[0] < np.where(human == judge, setting.spoiled, setting.mended)
    # A wrong word is one of the two others.
    wrong = (human + 1 + (chance[1] < 0.5)) % 3
    found = np.where(changes, np.where(human == judge, wrong, human), judge)
    return [int(each) for each in found]


def compute_true_change(population: Population, second: list[int]) -> tuple[float, float]:
    """Compute the changes of accuracy and of kappa over all claims of the run."""
    found = []
    for judge in (population.judge, second):
        cells = np.zeros((3, 3))
        np.add.at(cells, (np.array(population.human), np.array(judge)), 1)
        truth = coverage.compute_truth(cells)
        found.append((truth["percent"], truth["kappa"]))
    (accuracy, kappa), (accuracy_now, kappa_now) = found
    return accuracy_now - accuracy, kappa_now - kappa


def compare_once(setting: ChangeSetting, seed: int) -> ChangeOutcome:
    """Draw two judges of one run, label a sample, compare them and hold the change to the gate."""
    generator = np.random.default_rng([seed, setting.run.groups])
    population = coverage.draw_population(setting.run, generator)
    second = draw_second_judge(setting, population, generator)
    change, kappa_change = compute_true_change(population, second)
    compared = coverage.label_run(population, setting.run, seed)
    if setting.drawn_alone:
        compared = rest_on_drawn(compared)
    claims = compared.all.rows
    prepared = PreparedUnits(RunUnits(tuple(claims), (), (), compared.design), FAITHFULNESS, RULE)
    units = tuple(
        PairedUnit(
            each.group, str(each.judge), LABELS[second[each.claim - 1]], each.human, each.claim
        )
        for each in claims
    )
    found = compare_with_second_judge(prepared, "first", OtherJudge("second", units))
    both = None if setting.drawn_alone else found.judges.percent.value
    differing = None if both is None else 1 - both
    outcomes = [
        check_accuracy_drop(
            found.difference, most, ThresholdBasis.LOWER, differing=differing
        ).outcome
        for most in (change + HAIR, change - 0.1)
    ]
    low, high = found.difference.ci_low, found.difference.ci_high
    return ChangeOutcome(
        _holds(low, high, change),
        _holds(found.kappa_difference.ci_low, found.kappa_difference.ci_high, kappa_change),
        float("nan") if low is None or high is None else high - low,
        None if change >= 0 else outcomes[0] is CheckOutcome.PASSED,
        outcomes[1] is CheckOutcome.PASSED,
    )


def _holds(low: float | None, high: float | None, truth: float) -> bool | None:
    if low is None or high is None:
        return None
    return low - ROUNDING <= truth <= high + ROUNDING


def count_rates(setting: ChangeSetting, replications: int) -> dict[str, float]:
    """Compare many times; shares of those comparisons that say anything of it."""
    found = [compare_once(setting, seed) for seed in range(replications)]
    columns: dict[str, list[bool | None]] = {
        "accuracy": [each.holds for each in found],
        "kappa": [each.kappa_holds for each in found],
        "false pass": [each.passes_worse for each in found],
        "pass .1": [each.passes_better for each in found],
    }
    rates = {
        name: float(np.mean([float(each) for each in values if each is not None] or [np.nan]))
        for name, values in columns.items()
    }
    return rates | {
        "shown": float(np.mean([each.holds is not None for each in found])),
        "width": float(np.median([each.width for each in found])),
    }


def _count(arguments: tuple[ChangeSetting, int]) -> dict[str, float]:
    return count_rates(*arguments)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--designs", nargs="+", default=("simple", "stratified", "conversations"))
    parser.add_argument("--errors", nargs="+", type=float, default=(0.1, 0.3))
    parser.add_argument("--sizes", nargs="+", type=int, default=(100, 300))
    parser.add_argument("--groups", nargs="+", type=int, default=(40, 100))
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    changes = ((0.02, 0.0), (0.05, 0.2), (0.1, 0.1), (0.2, 0.3))
    settings = [
        ChangeSetting(Setting(*run), *change, given.drawn)
        for *run, change in product(given.designs, given.errors, given.sizes, given.groups, changes)
    ]
    work = [(each, given.replications) for each in settings]
    names = ("accuracy", "kappa", "shown", "width", "false pass", "pass .1")
    print("design error n groups spoiled mended", *names, sep="\t")
    with multiprocessing.Pool(given.jobs) as pool:
        for setting, found in zip(settings, pool.imap(_count, work), strict=True):
            run = setting.run
            cells = [f"{found[name]:.3f}" for name in names]
            print(
                run.design, run.error, run.size, run.groups, setting.spoiled, setting.mended,
                *cells, sep="\t", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
