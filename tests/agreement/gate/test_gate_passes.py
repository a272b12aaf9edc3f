"""The gate as a whole, over runs whose truth is known; benchmarks/gate_passes has more of them."""

from pathlib import Path

import numpy as np
import pytest

from faithtui.agreement.gate.threshold_checks import CheckOutcome, Criterion, Thresholds
from faithtui.store.store import Store
from tests.benchmarks.coverage import Setting
from tests.benchmarks.gate_passes import (
    FIGURES,
    GOOD_JUDGE,
    WAYS,
    GateSetting,
    ask_for_more,
    choose_usual,
    compute_truth,
    count_outcomes,
    draw_judged_run,
    gate_stored_run,
    hold,
    label_run,
)


def test_an_honest_good_judge_passes_what_is_usually_asked() -> None:
    """It finds .95 and passes .98; 150 labels of a simple sample."""
    found = count_outcomes(GOOD_JUDGE, 8, choose_usual)
    assert all(found[each][CheckOutcome.PASSED] >= 7 for each in FIGURES), found
    assert not any(found[each][CheckOutcome.UNDECIDED] for each in FIGURES)


@pytest.mark.parametrize("way", WAYS)
def test_a_judge_below_its_thresholds_hardly_ever_passes(way: str) -> None:
    found = count_outcomes(GateSetting(way, Setting("simple", 0.2, 100, 40)), 5)
    # By chance 1 in 40 of honest labels; those that were meant to fool the gate decide nothing.
    assert all(found[each][CheckOutcome.PASSED] <= (way == "honest") for each in FIGURES), found


@pytest.mark.parametrize(
    "run",
    [
        Setting("conversations", 0.1, 180, 40, "bad"),
        pytest.param(Setting("conversations", 0.1, 700, 40, "large"), marks=pytest.mark.thorough),
    ],
    ids=lambda run: run.kind,
)
def test_few_bad_conversations_that_were_not_drawn_do_not_pass_a_score(run: Setting) -> None:
    """Of 8 of 40 conversations, and of 23 of 40; 2 of 40 runs by chance.

    By leaving out one drawn conversation at a time 6 and 16 passed.
    """
    found = count_outcomes(GateSetting("honest", run), 40, ask_for_score)
    assert found[Criterion.SCORE][CheckOutcome.PASSED] <= 2


def ask_for_score(truth: dict[Criterion, float]) -> Thresholds:
    """Ask for a hair more than the true score alone."""
    return Thresholds(score=ask_for_more(truth).score)


@pytest.mark.parametrize("way", WAYS[1:3])
def test_what_is_simulated_is_what_the_program_does(way: str, tmp_path: Path) -> None:
    """The same run through a store, its log of labels and the gate as the command runs it."""
    setting = GateSetting(way, Setting("simple", 0.2, 60, 25))
    with Store.open(tmp_path / "gated.db") as store:
        stored = gate_stored_run(setting, 3, store)
    population = draw_judged_run(setting, np.random.default_rng([3, 25]))
    checks = hold(label_run(setting, population, 3), ask_for_more(compute_truth(population)))
    assert stored == checks
    assert {each.criterion for each in checks} == {Criterion.LABELS, *FIGURES}
