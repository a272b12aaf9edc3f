"""Intervals must hold where few labels stand for many units, and where some units are no claims."""

import math
from dataclasses import replace

import numpy as np
import pytest

from faithtui.agreement.statistics.coefficients import ALPHA, KAPPA, PERCENT
from faithtui.agreement.statistics.detection import NPV, PREVALENCE, RECALL, SPECIFICITY
from faithtui.agreement.statistics.figures import estimate_figures
from faithtui.agreement.statistics.matrices import GroupedMatrix, Ints, UnitFrame
from faithtui.agreement.statistics.pass_rates import (
    GroupedStrata,
    LabelledStratum,
    compute_stratified_rate,
    compute_worst_case_bounds,
    estimate_future_rate,
    estimate_run_rate,
    estimate_run_rate_clustered,
    make_grouped_strata,
)
from faithtui.agreement.statistics.posterior import (
    draw_confusion_matrices,
    estimate_figures_by_posterior,
    widen_clustered_run_rate,
    widen_future_rate,
    widen_run_rate,
)
from faithtui.domain.estimates import Estimate, EstimateMethod
from faithtui.domain.withheld_reasons import WithheldReason
from tests.benchmarks.coverage import DESIGNS, Setting, count_misses_of_draws, simulate

LABELS = ("yes", "no")
NO = 1


def stratified(
    misses: int, *, unfair: int = 0, groups: int = 40, passed: int = 760, flagged: int = 40
) -> GroupedMatrix:
    """A sample by verdict: 40 of the passed units are labelled, and all of the flagged ones."""
    counts = np.zeros((2, 2, 2, groups), np.int64)
    for place in range(40):
        counts[0, int(place < misses), 0, place % groups] += 1
    for place in range(flagged - unfair):
        counts[1, 1, 1, place % groups] += 1
    not_fair = np.zeros((2, 2, groups), np.int64)
    for place in range(unfair):
        not_fair[1, 1, place % groups] += 1
    verdicts = np.zeros((2, 2, groups), np.int64)
    verdicts[0, 0] = passed // groups
    verdicts[1, 1] = flagged // groups
    return GroupedMatrix.from_groups(
        LABELS,
        counts,
        populations=verdicts.sum(axis=1),
        unfair=not_fair.sum(axis=1),
        frame=UnitFrame(counts, not_fair, verdicts),
    )


def test_no_miss_among_few_labels_is_no_certainty_about_many_units() -> None:
    whole = stratified(misses=0).collapse_to_two_categories(("no",))
    before = estimate_figures({"recall": RECALL}, whole)["recall"]
    found = estimate_figures_by_posterior({"recall": RECALL}, whole)["recall"]
    assert (found.value, found.ci_high) == (1, 1)
    # Three misses of 100 passed units would hide among 40 labels in three of ten samples, and
    # there are 760: recall may well be 40 of 40 + 23.
    assert found.ci_low is not None
    assert found.ci_low < 40 / (40 + 23)
    # Counting the groups of what was found is what promised too much.
    assert before.method is EstimateMethod.WILSON
    assert before.ci_low is not None
    assert before.ci_low > 0.9


def test_the_wider_interval_is_taken_and_holds_the_other() -> None:
    whole = stratified(misses=3)
    statistics = {"percent": PERCENT, "kappa": KAPPA}
    jackknife = estimate_figures(statistics, whole)
    found = estimate_figures_by_posterior(statistics, whole)
    for name, each in found.items():
        other = jackknife[name]
        assert each.value == other.value
        assert each.ci_low is not None
        assert each.ci_high is not None
        assert other.ci_low is not None
        assert other.ci_high is not None
        assert each.ci_low <= other.ci_low <= other.ci_high <= each.ci_high


def test_labels_of_single_units_have_the_posterior_of_jeffreys() -> None:
    counts = np.zeros((1, 2, 2, 200), np.int64)
    counts[0, 0, 0, :190] = 1
    counts[0, 1, 0, 190:] = 1
    whole = GroupedMatrix.from_groups(LABELS, counts)
    shares = PREVALENCE.compute(draw_confusion_matrices(whole.collapse_to_two_categories(("no",))))[
        0
    ]
    # Beta(10.5, 190.5), whose variance is made a third larger, and a little by Student's t.
    mean = 10.5 / 201
    deviation = (mean * (1 - mean) / 202) ** 0.5
    assert shares.mean() == pytest.approx(mean, abs=4 * deviation / 1000**0.5)
    assert 1.05 < shares.std() / deviation < 1.3


def test_many_units_of_one_group_say_less_than_as_many_of_many() -> None:
    def widest(groups: int) -> float:
        found = estimate_figures_by_posterior(
            {"npv": NPV}, stratified(misses=0, groups=groups).collapse_to_two_categories(("no",))
        )["npv"]
        assert found.ci_low is not None
        return 1 - found.ci_low

    assert widest(40) < widest(10) < widest(5)


def test_equal_labels_give_equal_intervals_whatever_the_order_of_groups() -> None:
    order = np.random.default_rng(5).permutation(40)

    def shuffled(counts: Ints) -> Ints:
        return counts[..., order]

    whole = stratified(misses=2)
    assert whole.frame is not None
    frame = UnitFrame(
        *map(shuffled, (whole.frame.labelled, whole.frame.unfair, whole.frame.verdicts))
    )
    other = GroupedMatrix.from_groups(
        LABELS,
        frame.labelled,
        populations=frame.verdicts.sum(axis=1),
        unfair=frame.unfair.sum(axis=1),
        frame=frame,
    )
    statistics = {"percent": PERCENT, "kappa": KAPPA}
    first = estimate_figures_by_posterior(statistics, whole)
    assert estimate_figures_by_posterior(statistics, other) == first
    assert estimate_figures_by_posterior(statistics, stratified(misses=2)) == first


def test_fewer_than_five_groups_have_no_interval() -> None:
    found = estimate_figures_by_posterior({"kappa": KAPPA}, stratified(misses=2, groups=4))
    assert found["kappa"].ci_low is None


def test_unfair_claims_are_no_faithful_ones_and_no_missing_labels() -> None:
    """Sixty percent of the flagged claims are `x`: 16 of 40 are left, beside 38 misses of 760."""
    found = estimate_figures(
        {"recall": RECALL}, stratified(2, unfair=24).collapse_to_two_categories(("no",))
    )
    # Weighed as if the 24 had no label yet, recall was 40 / (40 + 38).
    assert found["recall"].value == pytest.approx(16 / (16 + 38))
    strata = [LabelledStratum(760, 40, 38), LabelledStratum(40, 16, 0, unfair=24)]
    assert compute_stratified_rate(strata) == pytest.approx(722 / (760 + 16))
    assert compute_worst_case_bounds(strata) == pytest.approx((38 / 776, 758 / 776))
    run = estimate_run_rate(strata)
    assert run.ci_low is not None
    assert run.ci_high is not None
    assert run.ci_low < 722 / 776 < run.ci_high
    census = [LabelledStratum(38, 30, 27, unfair=8)]
    found_census = estimate_run_rate(census)
    assert (found_census.ci_low, found_census.ci_high) == pytest.approx((0.9, 0.9))


def test_a_forecast_is_never_surer_than_what_is_known_of_the_run() -> None:
    # Every group is alike, so that leaving one out changes nothing.
    rows = [(LabelledStratum(20, 1, 1), LabelledStratum(2, 1, 0)) for _ in range(20)]
    groups = make_grouped_strata(rows)
    run = estimate_run_rate(groups.totals_by_stratum)
    alone = estimate_future_rate(groups)
    found = widen_future_rate(alone, run, groups)
    assert found.value == alone.value
    assert None not in (found.ci_low, found.ci_high, run.ci_low, run.ci_high)
    assert found.ci_low <= run.ci_low  # type: ignore[operator]  # said a line before
    assert found.ci_high >= run.ci_high  # type: ignore[operator]


def test_groups_that_all_say_the_same_are_few_all_the_same() -> None:
    """Only flagged units are labelled: nothing is known of the others, and no width may be 0."""
    counts = np.zeros((1, 2, 2, 20), np.int64)
    counts[0, 1, 1] = 1
    counts[0, 0, 1, :10] = 1
    whole = GroupedMatrix.from_groups(LABELS, counts).collapse_to_two_categories(("no",))
    statistics = {"recall": RECALL, "specificity": SPECIFICITY}
    for name, found in estimate_figures_by_posterior(statistics, whole).items():
        before = estimate_figures(statistics, whole)[name]
        assert (found.ci_low, found.ci_high) == (before.ci_low, before.ci_high)
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.ci_high - found.ci_low > 0.1


def test_parts_without_an_interval_get_none_from_draws() -> None:
    counts = np.zeros((1, 2, 2, 30), np.int64)
    counts[0, 0, 0] = 3
    counts[0, 1, 0, 0] = 1
    whole = GroupedMatrix.from_groups(LABELS, counts).collapse_to_two_categories(("no",))
    assert estimate_figures_by_posterior({"recall": RECALL}, whole)["recall"].ci_low is None


def test_many_strata_share_the_labels_given_beforehand() -> None:
    """900 units in 30 strata, 90 labels without a difference: once .76 was the lower end."""
    counts = np.zeros((30, 2, 2, 90), np.int64)
    for place in range(90):
        counts[place % 30, 0, 0, place] = 1
    verdicts = np.zeros((30, 2, 90), np.int64)
    for stratum in range(30):
        verdicts[stratum, 0, stratum::30] = 10
    none = np.zeros((30, 2, 90), np.int64)
    whole = GroupedMatrix.from_groups(
        LABELS,
        counts,
        populations=verdicts.sum(axis=1),
        unfair=none.sum(axis=1),
        frame=UnitFrame(counts, none, verdicts),
    )
    found = estimate_figures_by_posterior({"percent": PERCENT}, whole)["percent"]
    assert found.ci_low is not None
    assert found.ci_low > 0.92


def test_a_stratum_with_labels_of_one_group_leaves_a_figure_without_interval() -> None:
    counts = np.zeros((2, 2, 2, 40), np.int64)
    counts[0, 0, 0, :20] = 1
    counts[0, 1, 0, 20:22] = 1
    counts[1, 1, 1, 5] = 1
    verdicts = np.zeros((2, 2, 40), np.int64)
    verdicts[0, 0], verdicts[1, 1] = 19, 2
    none = np.zeros((2, 2, 40), np.int64)
    whole = GroupedMatrix.from_groups(
        LABELS,
        counts,
        populations=verdicts.sum(axis=1),
        unfair=none.sum(axis=1),
        frame=UnitFrame(counts, none, verdicts),
    )
    assert estimate_figures_by_posterior({"kappa": KAPPA}, whole)["kappa"].ci_low is None


def test_alpha_of_few_units_stays_in_its_range() -> None:
    counts = np.zeros((1, 2, 2, 5), np.int64)
    for place, (human, judge) in enumerate([(0, 0), (0, 1), (1, 0), (0, 0), (1, 0)]):
        counts[0, human, judge, place] = 1
    whole = GroupedMatrix.from_groups(LABELS, counts)
    for level in (0.95, 0.99):
        found = estimate_figures_by_posterior({"alpha": ALPHA}, whole, level)["alpha"]
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert -1 <= found.ci_low < found.ci_high <= 1


def test_drawn_intervals_are_wide_enough() -> None:
    """Of 1,200 drawn intervals 7 miss what is to be expected, and 18 may. With ends at 5 and 95 %
    of the draws 28 do, at 10 and 90 % 95, and at 15 and 85 %, where they are half as wide, 185.

    They are looked at by themselves: in a report the interval of the jackknife, which is taken
    where it is wider, hides most of what is wrong with them.
    """
    settings = (
        Setting("simple", 0.3, 100, 40),
        Setting("simple", 0.3, 100, 10),
        Setting("stratified", 0.3, 100, 40),
        Setting("stratified", 0.1, 60, 100),
        Setting("half", 0.3, 100, 100),
        Setting("unfair", 0.3, 100, 40),
    )
    missed = shown = 0
    for setting in settings:
        for name, found in count_misses_of_draws(setting, 25).items():
            assert found[0] <= 2, (setting, name)
            missed, shown = missed + found[0], shown + found[1]
    assert shown == 1200
    assert missed <= 0.015 * shown


@pytest.mark.thorough
@pytest.mark.parametrize(
    "setting",
    [
        Setting("stratified", 0.1, 100, 40),
        Setting("half", 0.1, 100, 100),
        Setting("unfair", 0.3, 100, 40),
        Setting("simple", 0.02, 100, 40),
    ],
    ids=lambda setting: f"{setting.design}-{setting.error}",
)
def test_intervals_hold_the_truth_of_the_run(setting: Setting) -> None:
    """Of 20 seeded runs at most three may be missed; docs/agreement.md has the whole table.

    Before, recall of a sample by strata was missed by half of them.
    """
    for name, found in simulate(setting, 20).items():
        assert found.holds_run >= found.shown - 3, name
        if setting.error >= 0.1 and name != "certified rate":
            assert found.shown == 20, name


@pytest.mark.thorough  # 600 runs are drawn and reported for 95 % and its own error to be told
@pytest.mark.parametrize("size", [20, 60])
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_few_labels_hold_the_truth(design: str, size: int) -> None:
    """Every figure that is shown in half of 60 seeded runs, in 95 % of them but for three errors.

    The truth is that of the run, but for what is expected of the future; docs/agreement.md has
    200 runs of every setting.
    """
    for name, found in simulate(Setting(design, 0.05, size, 40), 60).items():
        held = found.holds_future if name == "rate, future" else found.holds_run
        if 2 * found.shown >= 60:
            allowed = 0.05 * found.shown + 3 * math.sqrt(0.05 * 0.95 * found.shown)
            assert found.shown - held <= allowed, name


@pytest.mark.parametrize(
    ("error", "size", "groups"),
    [
        (0.1, 50, 40),
        pytest.param(0.1, 100, 40, marks=pytest.mark.thorough),
        pytest.param(0.3, 100, 40, marks=pytest.mark.thorough),
        pytest.param(0.3, 100, 10, marks=pytest.mark.thorough),
    ],
)
def test_two_to_four_drawn_conversations_have_intervals_that_hold(
    error: float, size: int, groups: int
) -> None:
    """They were withheld. Of 40 seeded runs; docs/agreement.md has 600 of each setting."""
    for name, found in simulate(Setting("conversations", error, size, groups), 40).items():
        assert found.shown >= (40 if name in ALWAYS_DEFINED else 25), name
        assert min(found.holds_run, found.holds_future) >= found.shown - 2, name


def test_five_groups_of_which_two_have_nearly_all_units_are_too_few() -> None:
    """The specificity to expect was below the lower end in 21 to 38 % of such samples."""
    sizes = {"alike": [180] * 5, "not alike": [440, 440, 7, 7, 6]}
    for name, units in sizes.items():
        counts = np.zeros((1, 2, 2, 5), np.int64)
        counts[0, :, :, :2] = np.array([[20, 2], [1, 5]])[:, :, None]
        verdicts = np.array([units, [10] * 5])[None]
        whole = GroupedMatrix.from_groups(
            LABELS, counts, frame=UnitFrame(counts, np.zeros_like(verdicts), verdicts)
        )
        found = estimate_figures_by_posterior({"kappa": KAPPA}, whole)["kappa"]
        assert found.has_interval is (name == "alike"), name
        strata = [[LabelledStratum(each, 0, 0)] for each in units]
        strata[:2] = [[LabelledStratum(each[0].population, 20, 18)] for each in strata[:2]]
        groups = make_grouped_strata(strata)
        run = estimate_run_rate(groups.totals_by_stratum)
        future = widen_future_rate(estimate_future_rate(groups), run, groups)
        assert future.has_interval is (name == "alike"), name


ALWAYS_DEFINED = ("percent", "AC1", "alpha", "prevalence", "rate, this run", "rate, future")


def test_many_strata_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand strata of five thousand kinds of groups would take gigabytes at once."""
    chance = np.random.default_rng(3)
    counts = chance.poisson(1.0, (30, 2, 2, 40))
    verdicts = counts.sum(axis=1) + chance.poisson(2.0, (30, 2, 40))
    unfair = np.zeros_like(verdicts)

    def estimate() -> Estimate:
        whole = GroupedMatrix.from_groups(
            LABELS,
            counts,
            populations=verdicts.sum(axis=1),
            unfair=unfair.sum(axis=1),
            frame=UnitFrame(counts, unfair, verdicts),
        )
        return estimate_figures_by_posterior({"kappa": KAPPA}, whole)["kappa"]

    at_once = estimate()
    for name in ("posterior", "matrices"):
        monkeypatch.setattr(f"faithtui.agreement.statistics.{name}._NUMBERS", 500)
    in_parts = estimate()
    assert in_parts.value == at_once.value
    assert in_parts.ci_low == pytest.approx(at_once.ci_low, abs=1e-9)
    assert in_parts.ci_high == pytest.approx(at_once.ci_high, abs=1e-9)


@pytest.mark.thorough
def test_rare_errors_in_ten_groups_leave_a_high_recall_possible() -> None:
    """Labels given beforehand add misses that nobody saw: 6 of 54 recalls ended below the truth."""
    found = simulate(Setting("simple", 0.02, 300, 10), 60)
    for name in ("recall", "F1"):
        assert found[name].shown > 50
        assert found[name].holds_future >= found[name].shown - 2


def test_the_lower_end_of_a_runs_rate_is_not_above_the_truth_too_often() -> None:
    """Of a thinly labelled stratum a lucky sample has a high rate and a small variance."""
    chance = np.random.default_rng(5)
    above = {"normal": 0, "shown": 0}
    for _ in range(600):
        # 620 claims that the judge passes, 70 of them unfaithful, and 280 that it fails.
        misses, right = chance.hypergeometric(70, 550, 100), chance.hypergeometric(80, 200, 100)
        strata = (
            LabelledStratum(620, 100, 100 - int(misses)),
            LabelledStratum(280, 100, int(right)),
        )
        normal = estimate_run_rate(strata)
        shown = widen_run_rate(normal, strata)
        for name, each in (("normal", normal), ("shown", shown)):
            assert each.ci_low is not None
            above[name] += each.ci_low > (550 + 80) / 900
    assert above["normal"] / 600 > 0.03
    assert above["shown"] / 600 <= 0.025


def test_a_census_leaves_nothing_to_draw() -> None:
    strata = (LabelledStratum(40, 40, 30), LabelledStratum(10, 8, 2, 2))
    assert widen_run_rate(estimate_run_rate(strata), strata) == estimate_run_rate(strata)


def test_unfair_claims_leave_open_how_many_are_fair() -> None:
    fair = (LabelledStratum(400, 40, 30),)
    unfair = (LabelledStratum(400, 40, 30, 20),)
    for strata in (fair, unfair):
        found = widen_run_rate(estimate_run_rate(strata), strata)
        assert found.value == pytest.approx(0.75)
        assert found.ci_low is not None
        assert 0.55 < found.ci_low < 0.65


@pytest.mark.parametrize(("labelled", "unlabelled"), [(1, 29), (3, 1)])
def test_a_future_rate_of_too_few_groups_has_no_interval(labelled: int, unlabelled: int) -> None:
    """One labelled group tells nothing of others, and of four groups in all draws tell too much."""
    drawn = [[LabelledStratum(9, 9, 7 - 3 * place)] for place in range(labelled)]
    groups = make_grouped_strata([*drawn, *[[LabelledStratum(9, 0, 0)]] * unlabelled])
    run = estimate_run_rate(groups.totals_by_stratum)
    assert run.ci_low is not None
    alone = estimate_future_rate(groups)
    found = widen_future_rate(alone, run, groups)
    assert found.value == alone.value
    assert (found.ci_low, found.reason) == (None, WithheldReason.TOO_FEW_CLUSTERS)


@pytest.mark.parametrize("drawn", [3, 8])
def test_drawn_conversations_say_no_more_of_this_run_than_a_forecast_as_far_as_they_are_a_part(
    drawn: int,
) -> None:
    """By 4/3 of the part of 10 that was not drawn, and no more than claims without a label."""
    labels = [[LabelledStratum(9, 9, 9 - 3 * (place % 3))] for place in range(drawn)]
    groups = make_grouped_strata([*labels, *[[LabelledStratum(9, 0, 0)]] * (10 - drawn)])
    alone = estimate_run_rate_clustered(groups)
    future = widen_future_rate(estimate_future_rate(groups), alone, groups)
    run = widen_clustered_run_rate(alone, groups)
    assert alone.value is not None
    assert None not in (alone.ci_low, future.ci_low, run.ci_low)
    assert run.value == alone.value
    part = min(1, math.sqrt(4 / 3 * (1 - drawn / 10)))
    forecast, jackknife = np.array(
        [(each.ci_low or 0, each.ci_high or 0) for each in (future, alone)]
    )
    low, high = alone.value + part * (forecast - alone.value)
    fewest, most = compute_worst_case_bounds(groups.totals_by_stratum) or (0, 1)
    assert run.ci_low == pytest.approx(max(fewest, min(jackknife[0], low)))
    assert run.ci_high == pytest.approx(min(most, max(jackknife[1], high)))


def test_one_bad_conversation_of_many_widens_what_leaving_out_one_says() -> None:
    """Nine drawn ones hardly differ; one of the other ten may be bad."""
    labels = [[LabelledStratum(30, 30, 29 - place % 2)] for place in range(9)]
    groups = make_grouped_strata([*labels, *[[LabelledStratum(30, 0, 0)]] * 10])
    alone = estimate_run_rate_clustered(groups)
    run = widen_clustered_run_rate(alone, groups)
    assert (run.ci_low or 0) < (alone.ci_low or 0) - 0.02


def test_a_large_conversation_that_was_not_drawn_may_pass_or_fail_whole() -> None:
    """It has 60 of 150 claims, and the drawn ones nine each."""
    labels = [[LabelledStratum(9, 9, 8 - place % 2)] for place in range(6)]
    unlabelled = [[LabelledStratum(9, 0, 0)]] * 4
    alike = make_grouped_strata([*labels, *unlabelled])
    run = widen_clustered_run_rate(estimate_run_rate_clustered(alike), alike)
    large = make_grouped_strata([*labels, *unlabelled, [LabelledStratum(60, 0, 0)]])
    found = widen_clustered_run_rate(estimate_run_rate_clustered(large), large)
    assert (run.ci_low or 0) > 0.7
    assert (found.ci_low or 0) == pytest.approx((run.ci_low or 0) * 90 / 150, abs=0.08)
    assert 0.94 >= (found.ci_high or 0) > 0.9, "nine labelled ones of 150 are unfaithful"


def test_a_large_conversation_is_not_like_another_large_one_that_was_drawn() -> None:
    """Each has 60 of 480 claims, and forty others nine."""
    others = [[LabelledStratum(9, 9, 9 - place % 2)] for place in range(20)]
    drawn = [*others, [LabelledStratum(60, 60, 58)], *[[LabelledStratum(9, 0, 0)]] * 20]
    without, both = (
        make_grouped_strata([*drawn, *[[LabelledStratum(60, 0, 0)]] * many]) for many in (0, 1)
    )
    first, second = (
        widen_clustered_run_rate(estimate_run_rate_clustered(each), each)
        for each in (without, both)
    )
    assert (second.ci_low or 0) < (first.ci_low or 0) - 0.08


def test_all_conversations_leave_nothing_open() -> None:
    groups = make_grouped_strata([[LabelledStratum(9, 9, 9 - place)] for place in range(6)])
    run = widen_clustered_run_rate(estimate_run_rate_clustered(groups), groups)
    assert run.ci_low == run.ci_high == run.value


def test_drawn_conversations_without_a_forecast_have_no_interval() -> None:
    """Of four conversations three: in all they say too much of how conversations differ."""
    labels = [[LabelledStratum(9, 9, 9 - 3 * place)] for place in range(3)]
    groups = make_grouped_strata([*labels, [LabelledStratum(9, 0, 0)]])
    alone = estimate_run_rate_clustered(groups)
    assert alone.has_interval
    assert widen_clustered_run_rate(alone, groups).reason is WithheldReason.TOO_FEW_CLUSTERS


def test_a_future_rate_has_no_interval_where_this_run_has_none() -> None:
    """Whole conversations: the drawn ones are too few for this run, and for those to come."""
    for drawn, reason in ((1, WithheldReason.TOO_FEW_CLUSTERS), (6, WithheldReason.NO_VARIATION)):
        labels = [[LabelledStratum(9, 9, 9 - place)] for place in range(drawn)]
        groups = make_grouped_strata([*labels, *[[LabelledStratum(9, 0, 0)]] * (30 - drawn)])
        run = estimate_run_rate_clustered(groups)
        if drawn > 4:
            run = Estimate(run.value, run.status, run.n, run.clusters, reason)
        assert run.ci_low is None
        alone = estimate_future_rate(groups)
        if drawn > 1:
            assert alone.ci_low is not None, "the jackknife counts the groups without labels"
        found = widen_future_rate(alone, run, groups)
        assert (found.value, found.ci_low, found.reason) == (alone.value, None, reason)


def make_labelled_groups() -> GroupedStrata:
    rows = [
        (LabelledStratum(20, 2, 2 - place % 2), LabelledStratum(2, 1, 0)) for place in range(20)
    ]
    return make_grouped_strata(rows)


@pytest.mark.parametrize("source", ["this run", "jackknife"])
@pytest.mark.parametrize("ends", [(0.01, None), (None, 0.99)])
def test_a_forecast_reaches_as_far_as_each_interval_that_it_is_made_from(
    source: str, ends: tuple[float | None, float | None]
) -> None:
    """To the digit, and to each side by itself."""
    groups = make_labelled_groups()
    run, alone = estimate_run_rate(groups.totals_by_stratum), estimate_future_rate(groups)
    plain = widen_future_rate(alone, run, groups)
    assert plain.ci_low is not None
    assert plain.ci_high is not None
    assert 0.01 < plain.ci_low < plain.ci_high < 0.99

    def move_end(found: Estimate) -> Estimate:
        low, high = ends
        return replace(
            found,
            ci_low=found.ci_low if low is None else low,
            ci_high=found.ci_high if high is None else high,
        )

    if source == "this run":
        run = move_end(run)
    else:
        alone = move_end(alone)
    assert widen_future_rate(alone, run, groups) == move_end(plain)


def test_a_run_rate_reaches_as_far_as_its_draws_and_no_less_than_before() -> None:
    strata = make_labelled_groups().totals_by_stratum
    run = estimate_run_rate(strata)
    assert run.value is not None
    point = replace(run, ci_low=run.value, ci_high=run.value)
    drawn = widen_run_rate(point, strata)
    assert drawn.ci_low is not None
    assert drawn.ci_high is not None
    assert drawn.ci_low < run.value - 0.05
    assert drawn.ci_high > run.value + 0.05
    for low, high in ((0.01, run.value), (run.value, 0.99)):
        found = widen_run_rate(replace(run, ci_low=low, ci_high=high), strata)
        assert found.ci_low == min(low, drawn.ci_low)
        assert found.ci_high == max(high, drawn.ci_high)
