"""One seed, one result: in this process or another, whatever was imported or drawn before."""

import subprocess
import sys

import pytest

from faithtui.agreement.statistics.bootstrap import Resamples, estimate_by_bootstrap
from faithtui.agreement.statistics.calibration import simulate_noise_floor
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.matrices import GroupedMatrix, count_confusion_by_group
from faithtui.agreement.statistics.paired_judges import sign_flip_test

NAMES = ("yes", "no")
PROGRAM = """
from tests.agreement.statistics.test_seeds import results
print(results())
"""


def groups_of(groups: int, size: int) -> GroupedMatrix:
    """Make groups of which few are alike, or many."""
    rows = [
        (str(group), NAMES[(group * 7 + unit) % 5 == 0], NAMES[(group * 3 + unit) % 4 == 0])
        for group in range(groups)
        for unit in range(1 + group % size)
    ]
    return count_confusion_by_group(rows, NAMES)


def results() -> list[float | None]:
    """Draw everything that is drawn: few and many groups that are alike, a floor, sign flips."""
    found: list[float | None] = []
    for groups in (groups_of(30, 9), groups_of(4_000, 3)):
        drawn = Resamples(groups, 300, 7)
        by_name = estimate_by_bootstrap(
            {"kappa": KAPPA, "percent": PERCENT}, groups, resamples=drawn
        )
        for each in by_name.values():
            found += [each.ci_low, each.ci_high, each.se]
    floor = simulate_noise_floor([(i / 700, True) for i in range(700)], draws=50, seed=3)
    flipped = sign_flip_test([(i % 13) / 7 - 0.8 for i in range(60)], seed=5, draws=400)
    return [*found, floor.mean, floor.high, getattr(flipped, "p", None)]


def test_equal_seeds_give_equal_results() -> None:
    assert results() == results()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "before",
    [
        "",
        "import random, numpy\nrandom.seed(1)\nnumpy.random.seed(2)\nnumpy.random.rand(5)",
        "import faithtui.agreement.report.report",
        "import faithtui.agreement.statistics.ranks, faithtui.agreement.statistics.calibration",
    ],
)
def test_what_was_imported_or_drawn_before_does_not_matter(before: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", before + PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(results())


def test_a_seed_gives_the_digits_that_it_always_gave() -> None:
    """They may only change with a new generator, which the changelog has to tell."""
    groups = groups_of(30, 9)
    found = estimate_by_bootstrap(
        {"kappa": KAPPA, "percent": PERCENT}, groups, resamples=Resamples(groups, 300, 7)
    )
    ends = [(found[name].ci_low, found[name].ci_high) for name in ("kappa", "percent")]
    assert ends[0] == pytest.approx((-0.1471349646230186, 0.17868662716624104))
    assert ends[1] == pytest.approx((0.5946252333955722, 0.7121630236794171))
