"""Plans: worked by hand, against enumeration, and against the intervals of simulated samples."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.sampling.label_plan import (
    PlanStratum,
    PlanTarget,
    compute_expected_blind_counts,
    count_claims_to_draw,
    limit_labels_per_stratum,
    list_missed_half_widths,
    plan_fewest_labels_for_target,
    plan_labels_for_budget,
    predict_half_widths,
    predict_recall,
)
from tests.benchmarks.coverage import RULE, Setting, draw_population, label_run

FLAGGED = PlanStratum("judge no", 100, True, 0.5)
PASSED = PlanStratum("judge yes", 900, False, 0.1)
STRATA = (FLAGGED, PASSED)
Z = 1.959964


def test_widths_are_those_of_the_formulas_by_hand() -> None:
    found = predict_half_widths(STRATA, {"judge no": 50, "judge yes": 100})
    flagged = 100**2 * 0.5 * 0.5 / 50
    share = 11 / 102
    passed = 900**2 * share * (1 - share) / 100
    normal = Z * math.sqrt(flagged * 50 / 100 + passed * 800 / 900)
    # Draws of what is not labelled lie above 0.1, and the interval reaches as far to that side.
    drawn = 50 * 0.5 * 0.5 * 102 / 53 + 800 * share * (1 - share) * 902 / 103
    wider = Z * math.sqrt(drawn) + 800 * (share - 0.1)
    assert found.rate == pytest.approx((normal + wider) / 2 / 1000, abs=1e-6)
    # 50 of 140 unfaithful claims are flagged.
    recall = 50 / 140
    spread = ((1 - recall) ** 2 * flagged + recall**2 * passed) / 140**2
    assert found.recall == pytest.approx(Z * math.sqrt(spread), abs=1e-6)


def test_a_design_effect_widens_by_its_root() -> None:
    sizes = {"judge no": 50, "judge yes": 100}
    strata = (FLAGGED, replace(PASSED, share=0.5))
    plain, wider = (predict_half_widths(strata, sizes, design_effect=each) for each in (1, 4))
    assert plain.rate is not None
    assert wider.rate == pytest.approx(2 * plain.rate)


def test_recall_is_not_about_claims_without_a_verdict() -> None:
    """A third stratum, and as many claims among others, change what recall is to be expected."""
    silent = PlanStratum("judge without a verdict", 500, False, 0.2, without_verdict=500)
    sizes = {"judge no": 50, "judge yes": 100, "judge without a verdict": 40}
    alone = predict_half_widths(STRATA, sizes)
    beside = predict_half_widths((*STRATA, silent), sizes)
    assert beside.recall == alone.recall
    assert beside.rate != alone.rate
    # A label of the mixture is one of a claim with a verdict in nine of ten cases.
    mixed = replace(PASSED, population=1000, without_verdict=100)
    found = predict_half_widths((FLAGGED, mixed), {"judge no": 50, "judge yes": 1000})
    plain = predict_half_widths((FLAGGED, PASSED), {"judge no": 50, "judge yes": 900})
    assert found.recall == pytest.approx(plain.recall, rel=0.01)
    target = PlanTarget(recall=0.1)
    planned = plan_fewest_labels_for_target((*STRATA, silent), target, fewest=1).sizes
    assert planned["judge without a verdict"] == 1


def test_labels_are_shared_by_claims_times_standard_deviation() -> None:
    strata = (PlanStratum("judge no", 1000, True, 0.5), PlanStratum("judge yes", 9000, False, 0.1))
    found = plan_fewest_labels_for_target(strata, PlanTarget(rate=0.03))
    # Neyman: 1000 · 0.5 to 9000 · 0.3.
    assert found.sizes["judge yes"] / found.sizes["judge no"] == pytest.approx(5.4, rel=0.03)


@pytest.mark.parametrize(
    "target", [PlanTarget(0.05), PlanTarget(None, 0.15), PlanTarget(0.05, 0.2)]
)
def test_no_smaller_allocation_reaches_the_target(target: PlanTarget) -> None:
    strata = (PlanStratum("a", 40, True, 0.5), PlanStratum("b", 160, False, 0.1))
    found = plan_fewest_labels_for_target(strata, target, fewest=1)
    assert found.rate is not None
    assert found.recall is not None
    assert target.rate is None or found.rate <= target.rate
    assert target.recall is None or found.recall <= target.recall
    least = min(
        a + b
        for a, b in product(range(1, 41), range(1, 161))
        for each in (predict_half_widths(strata, {"a": a, "b": b}),)
        if (target.rate is None or (each.rate or 1) <= target.rate)
        and (target.recall is None or (each.recall or 1) <= target.recall)
    )
    # The expected share of few labels is moved towards one half, which Neyman does not know.
    assert found.label_count <= least + 2


def test_a_stratum_gives_what_it_has_and_the_fewest_at_least() -> None:
    strata = (PlanStratum("small", 4, True, 0.5), PlanStratum("sure", 50, False, 0.0), PASSED)
    found = plan_labels_for_budget(strata, 100)
    assert found.sizes["small"] == 4
    assert found.sizes["sure"] == 10
    assert found.label_count == 100


@pytest.mark.parametrize("size", [1, 2, 7, 30, 999, 1000, 5000])
def test_a_budget_is_spent_and_never_more(size: int) -> None:
    found = plan_labels_for_budget(STRATA, size)
    assert found.label_count == min(size, 1000)
    assert all(found.sizes[each.name] <= each.population for each in STRATA)


def test_labels_that_cannot_count_leave_a_stratum_open() -> None:
    """With a fifth served with the judge in view, 80 and 720 labels can count."""
    strata = limit_labels_per_stratum(STRATA, 0.2)
    everything = plan_fewest_labels_for_target(strata, PlanTarget(rate=1e-9))
    assert everything.sizes == {"judge no": 80, "judge yes": 720}
    assert everything == predict_half_widths(STRATA, {"judge no": 80, "judge yes": 720})
    assert everything.rate is not None
    assert everything.rate > 0.005
    assert [name for name, _, _ in list_missed_half_widths(everything, PlanTarget(1e-9))] == [
        "the share that passes"
    ]
    assert plan_labels_for_budget(strata, 5000).label_count == 800
    drawn = count_claims_to_draw(everything.sizes, strata, 0.2)
    assert drawn == {"judge no": 100, "judge yes": 900}
    # A single claim counts as one, or nothing could be foreseen of such a run.
    assert (
        limit_labels_per_stratum([PlanStratum("turns 6-", 1, None, 0.5)], 0.2)[
            0
        ].most_countable_labels
        == 1
    )


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 1 / 3, 0.5])
def test_claims_that_are_drawn_for_labels_give_these(share: float) -> None:
    strata = limit_labels_per_stratum([PlanStratum("judge no", 400, True, 0.5)], share)
    for size in range(1, strata[0].most_countable_labels + 1):
        drawn = count_claims_to_draw({"judge no": size}, strata, share)
        assert compute_expected_blind_counts(drawn, share) == {"judge no": size}


def test_the_fewest_of_each_stratum_are_in_every_plan() -> None:
    wide = plan_fewest_labels_for_target(STRATA, PlanTarget(recall=0.5))
    assert wide.sizes == {"judge no": 10, "judge yes": 10}
    whole = plan_fewest_labels_for_target(STRATA, PlanTarget(rate=0.5), fewest=10_000)
    assert whole.sizes == {"judge no": 100, "judge yes": 900}
    # As far as they go: a small stratum gives what it has, the other more than half.
    assert plan_labels_for_budget(STRATA, 500, fewest=10_000).sizes == {
        "judge no": 100,
        "judge yes": 400,
    }


def test_all_claims_leave_no_rate_open_and_a_stratum_without_labels_every_rate() -> None:
    everything = plan_fewest_labels_for_target(STRATA, PlanTarget(rate=1e-9))
    assert (everything.label_count, everything.rate) == (1000, 0)
    assert plan_labels_for_budget(STRATA, 1).rate is None
    # A recall that all claims do not give takes all claims.
    assert plan_fewest_labels_for_target(STRATA, PlanTarget(recall=0.01)).label_count == 1000


def test_recall_is_not_foreseen_where_strata_mix_verdicts_or_nothing_is_unfaithful() -> None:
    mixed = (PlanStratum("turns 1-2", 100, None, 0.2), PlanStratum("turns 3-5", 50, None, 0.2))
    found = plan_fewest_labels_for_target(mixed, PlanTarget(rate=0.1, recall=0.1))
    assert found.recall is None
    assert found.rate is not None
    assert found.rate <= 0.1
    clean = (PlanStratum("judge yes", 100, False, 0.0),)
    assert plan_labels_for_budget(clean, 20).recall is None


def test_a_budget_serves_recall_too() -> None:
    """Near the best for each: neither variance is more than half above its smallest."""
    rate = plan_fewest_labels_for_target(STRATA, PlanTarget(rate=0.04))
    shared = plan_labels_for_budget(STRATA, rate.label_count)
    assert rate.rate is not None
    assert shared.rate is not None
    assert shared.rate < rate.rate * 1.22


@pytest.mark.thorough
@pytest.mark.parametrize(("design", "error"), [("stratified", 0.1), ("unfair", 0.3)])
def test_reports_of_such_samples_have_the_foreseen_width(design: str, error: float) -> None:
    """The mean over 20 simulated runs that are sampled, labelled and reported by the program.

    In the second 60 % of the flagged claims are called `x`, which tells nothing of the others.
    """
    setting = Setting(design, error, 100, 40)
    pairs = []
    for seed in range(20):
        population = draw_population(setting, np.random.default_rng([seed, 40]))
        compared = label_run(population, setting, seed)
        human, judge = np.array(population.human), np.array(population.judge)
        fair = np.array(population.is_fair)
        strata = tuple(
            PlanStratum(
                each.name,
                each.population,
                each.name == "no",
                float((human[(judge == place) & fair] == 2).mean()),
                unfair_share=1 - float(fair[judge == place].mean()),
            )
            for place, name in enumerate(("yes", "idk", "no"))
            for each in compared.design.strata
            if each.name == name
        )
        sizes = {each.name: each.drawn for each in compared.design.strata}
        report = compute_claim_level_report(compared, RULE)
        found = report.rate.corrected_this_run
        assert found.ci_low is not None
        assert found.ci_high is not None
        pairs.append(
            ((found.ci_high - found.ci_low) / 2, predict_half_widths(strata, sizes).rate or 0)
        )
    measured, foreseen = np.mean(pairs, axis=0)
    # A little less than foreseen where an end of the interval is an end of what is possible.
    assert measured == pytest.approx(foreseen, rel=0.1)


def test_claims_that_are_no_fair_claims_are_in_no_figure() -> None:
    """Half of the flagged ones: 25 unfaithful ones are found of 115, and no more 50 of 140."""
    half = replace(FLAGGED, unfair_share=0.5)
    assert predict_recall((half, PASSED)) == pytest.approx(25 / 115)
    assert predict_recall(STRATA) == pytest.approx(50 / 140)
    found = predict_half_widths((half, PASSED), {"judge no": 50, "judge yes": 100})
    mean = 115 / 950
    parts = []
    for size, n, failing, passing in ((100, 50, 0.25, 0.25), (900, 100, 0.1, 0.9)):
        bad, good = (failing * n + 1) / (n + 3), (passing * n + 1) / (n + 3)
        centre = bad * (1 - mean) - good * mean
        spread = bad * (1 - mean) ** 2 + good * mean**2 - centre**2
        parts.append(size**2 * spread / n * (1 - n / size))
    normal = Z * math.sqrt(sum(parts)) / 950
    # 25 of 50 labels are of fair claims, and 25 of 50 unlabelled claims are such.
    share = 11 / 102
    drawn = 25 * 0.5 * 0.5 * 52 / 28 + 800 * share * (1 - share) * 902 / 103
    drawn += 50 * 0.5 * 0.5 * 102 / 53 * (0.5 - mean) ** 2
    wider = (Z * math.sqrt(drawn) + 800 * (share - 0.1)) / 950
    assert found.rate == pytest.approx((normal + max(normal, wider)) / 2, abs=1e-6)
    # A label of the flagged ones is one of an unfaithful claim in a quarter of the cases.
    spreads = [100**2 * (13.5 / 52) * (38.5 / 52) / 50, 900**2 * share * (1 - share) / 100]
    recall = 25 / 115
    assert found.recall == pytest.approx(
        Z * math.sqrt((1 - recall) ** 2 * spreads[0] + recall**2 * spreads[1]) / 115, abs=1e-6
    )
