"""A sample of another run that this one judged a part of; `benchmarks/partial_runs` has more."""

import numpy as np
import pytest

from faithtui.agreement.gate.threshold_checks import select_figures_gate_may_rely_on
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.report.model import LevelReport
from faithtui.domain.withheld_reasons import WithheldReason
from tests.benchmarks import coverage
from tests.benchmarks.coverage import RULE, Setting
from tests.benchmarks.partial_runs import (
    choose_part,
    rest_on_part,
    simulate,
    simulate_weighted,
)


def report_part(setting: Setting, part: str) -> LevelReport:
    generator = np.random.default_rng(4)
    population = coverage.draw_population(setting, generator)
    compared = coverage.label_run(population, setting, 4)
    drawn = {place for place, each in enumerate(compared.all.rows) if each.position is not None}
    judged = choose_part(part, population, drawn, generator)
    return compute_claim_level_report(rest_on_part(compared, judged), RULE)


@pytest.mark.thorough
@pytest.mark.parametrize("part", ["half of the conversations", "own words"])
def test_intervals_hold_the_truth_of_a_part_that_does_not_follow_the_draw(part: str) -> None:
    found = simulate(Setting("stratified", 0.1, 200, 40), part, 12)
    shown = sum(each.part.shown for each in found.values())
    held = sum(each.part.holds_run for each in found.values())
    assert shown > 150
    assert held >= 0.95 * shown


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["simple", "stratified", "conversations"])
def test_the_share_that_passes_is_that_of_claims_in_other_words_too(design: str) -> None:
    """Half of the unfaithful are worded otherwise: of the others alone the share would be wrong."""
    found = simulate(Setting(design, 0.1, 300, 100), "own words", 12)
    rate = found["rate, this run"]
    assert rate.part.shown == 12
    assert rate.part.holds_run == rate.whole == 12
    setting = Setting(design, 0.1, 300, 100)
    population = coverage.draw_population(setting, np.random.default_rng(1))
    compared = coverage.label_run(population, setting, 1)
    judged = choose_part("own words", population, set(), np.random.default_rng(1))
    alone, among_own = (
        compute_claim_level_report(
            rest_on_part(compared, judged, words_the_rest_otherwise=each), RULE
        ).rate
        for each in (False, True)
    )
    share = len(judged) / len(population.groups)
    for narrow, wide in (
        (alone.corrected_this_run, among_own.corrected_this_run),
        (alone.corrected_future, among_own.corrected_future),
    ):
        assert wide.value == narrow.value
        assert (wide.ci_low, wide.ci_high) == pytest.approx(
            (share * (narrow.ci_low or 0), 1 - share * (1 - (narrow.ci_high or 0)))
        )
    assert "what could not be drawn may all pass, or all fail" in among_own.assumptions


def test_claims_called_unfair_leave_fewer_to_outweigh_those_in_other_words() -> None:
    setting = Setting("unfair", 0.3, 300, 100)
    population = coverage.draw_population(setting, np.random.default_rng(1))
    compared = coverage.label_run(population, setting, 1)
    judged = choose_part("own words", population, set(), np.random.default_rng(1))
    alone, among_own = (
        compute_claim_level_report(
            rest_on_part(compared, judged, words_the_rest_otherwise=each), RULE
        ).rate.corrected_this_run
        for each in (False, True)
    )
    share = len(judged) / len(population.groups)
    assert among_own.ci_low is not None
    assert alone.ci_low is not None
    assert among_own.ci_low < 0.99 * share * alone.ci_low


@pytest.mark.parametrize("design", ["simple", "stratified", "conversations"])
def test_a_run_that_judged_what_was_drawn_stands_for_nothing_else(design: str) -> None:
    setting = Setting(design, 0.1, 200, 40)
    found = report_part(setting, "claims drawn")
    assert (found.design.kind, found.design.follows_draw) == (DesignKind.CONVENIENCE, True)
    assert found.rate.corrected_this_run.reason is WithheldReason.DESIGN_NOT_RANDOM
    # Nor does it decide a gate, accepted or not.
    figures = select_figures_gate_may_rely_on(found, among_labelled=True)
    assert figures.kappa.reason is figures.recall_no.reason is WithheldReason.DESIGN_NOT_RANDOM
    other = report_part(setting, "half of the conversations")
    assert other.design.kind is not DesignKind.CONVENIENCE
    assert not other.design.follows_draw


def test_weights_hold_the_truth_of_claims_that_a_run_did_not_judge() -> None:
    found = simulate_weighted(Setting("stratified", 0.1, 200, 40), 12)
    assert [*found] == ["percent", "kappa", "recall"]
    assert sum(each.shown for each in found.values()) == 36
    assert sum(each.holds_run for each in found.values()) >= 34
