"""A sample of another run that this one judged a part of; `benchmarks/partial_runs` has more."""

import numpy as np
import pytest

from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.levels import report_claims
from faithtui.agreement.report.model import LevelReport
from faithtui.domain.estimates import Reason
from tests.benchmarks import coverage
from tests.benchmarks.coverage import RULE, Setting
from tests.benchmarks.partial_runs import choose_part, rest_on_part, simulate


def report_part(setting: Setting, part: str) -> LevelReport:
    generator = np.random.default_rng(4)
    population = coverage.draw_population(setting, generator)
    compared = coverage.label_run(population, setting, 4)
    drawn = {place for place, each in enumerate(compared.all.rows) if each.position is not None}
    judged = choose_part(part, population, drawn, generator)
    return report_claims(rest_on_part(compared, judged), RULE)


@pytest.mark.parametrize("part", ["half of the conversations", "own words"])
def test_intervals_hold_the_truth_of_a_part_that_does_not_follow_the_draw(part: str) -> None:
    found = simulate(Setting("stratified", 0.1, 200, 40), part, 12)
    shown = sum(each.part.shown for each in found.values())
    held = sum(each.part.holds_run for each in found.values())
    assert shown > 150
    assert held >= 0.95 * shown


@pytest.mark.parametrize("design", ["simple", "stratified", "conversations"])
def test_a_run_that_judged_what_was_drawn_stands_for_nothing_else(design: str) -> None:
    setting = Setting(design, 0.1, 200, 40)
    found = report_part(setting, "claims drawn")
    assert (found.design.kind, found.design.follows_draw) == (DesignKind.CONVENIENCE, True)
    assert found.rate.corrected_this_run.reason is Reason.DESIGN_NOT_RANDOM
    other = report_part(setting, "half of the conversations")
    assert other.design.kind is not DesignKind.CONVENIENCE
    assert not other.design.follows_draw
