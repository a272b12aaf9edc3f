"""Tables that are weighted, drawn by strata or grouped, against recomputing them unit by unit."""

import math
import random
from collections import Counter
from itertools import product
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import coefficients, detection, ratings
from faithtui.agreement.statistics.bootstrap import Resamples, estimate_by_bootstrap
from faithtui.agreement.statistics.coefficients import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    SCOTT_PI,
    linear_weights,
    make_specific_agreement_statistic,
    make_weighted_statistic,
)
from faithtui.agreement.statistics.figures import (
    Statistic,
    compute_leave_one_out,
    estimate_figure,
    estimate_figures,
)
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    compute_linearised_agreement_se,
    enumerate_agreement_bootstrap,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import (
    GroupedMatrix,
    Ints,
    MatrixStack,
    count_confusion_by_group,
    count_distinct_columns,
    count_weighted_confusion_by_group,
)
from faithtui.agreement.statistics.ratings import Ratings, estimate_rating_figure, group_ratings
from faithtui.domain.estimates import Estimate, EstimateMethod, EstimateStatus, Point
from faithtui.domain.withheld_reasons import WithheldReason

NAMES = ("yes", "no", "idk")
STATISTICS: dict[str, Statistic] = {
    "percent": PERCENT,
    "kappa": KAPPA,
    "pi": SCOTT_PI,
    "ac1": AC1,
    "linear": make_weighted_statistic(coefficients.cohen_kappa, linear_weights([0, 1, 2])),
    "specific": make_specific_agreement_statistic(1),
}
Reading = tuple[str, str, str, float]
readings_st = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from([1.0, 2.5, 10 / 3, 7.1]),
    ),
    max_size=40,
)


def summed(readings: list[Reading]) -> ConfusionMatrix[float]:
    cells: Counter[tuple[str, str]] = Counter()
    for _, reference, judge, weight in sorted(readings):
        cells[reference, judge] += weight  # type: ignore[assignment]  # sums of floats are meant
    return ConfusionMatrix(NAMES, tuple(tuple(float(cells[i, j]) for j in NAMES) for i in NAMES))


def same(found: Point, wanted: Point) -> bool:
    if isinstance(found, WithheldReason) or isinstance(wanted, WithheldReason):
        return found is wanted
    return found == pytest.approx(wanted, abs=1e-9)


def spread_out(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", times: Ints) -> list[float]:
    """Give a value for each group, sorted, those that have none last."""
    return sorted(np.repeat(values, times).tolist(), key=lambda each: (math.isnan(each), each))


def as_number(point: Point) -> float:
    return math.nan if isinstance(point, WithheldReason) else point


def assert_same_values(found: list[float], wanted: list[Point]) -> None:
    expected = sorted(map(as_number, wanted), key=lambda each: (math.isnan(each), each))
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def as_units(of: GroupedMatrix) -> tuple[object, ...]:
    """What is in it, to compare."""
    populations = None if of.populations is None else of.populations.tolist()
    return of.categories, of.counts.tolist(), of.times.tolist(), of.weights, populations


@given(readings_st)
def test_leaving_out_of_a_weighted_table_is_summing_the_others(readings: list[Reading]) -> None:
    table = count_weighted_confusion_by_group(readings, NAMES)
    names = {group for group, *_ in readings}
    for statistic in STATISTICS.values():
        assert same(
            statistic.compute.compute_over_groups(table), statistic.compute(summed(readings))
        )
        wanted = [
            statistic.compute(summed([each for each in readings if each[0] != name]))
            for name in names
        ]
        values, times = compute_leave_one_out(statistic.compute, table)
        assert times.sum() == len(names)
        assert_same_values(spread_out(values, times), wanted)


@given(readings_st, st.randoms(use_true_random=False))
def test_order_of_weighted_readings_changes_nothing(
    readings: list[Reading], chance: random.Random
) -> None:
    shuffled = list(readings)
    chance.shuffle(shuffled)
    one, other = (count_weighted_confusion_by_group(each, NAMES) for each in (readings, shuffled))
    assert as_units(one) == as_units(other)


@given(readings_st)
def test_equal_weights_are_no_weights(readings: list[Reading]) -> None:
    plain = count_confusion_by_group([each[:3] for each in readings], NAMES)
    weighted = count_weighted_confusion_by_group([(*each[:3], 4.0) for each in readings], NAMES)
    for statistic in STATISTICS.values():
        mine, theirs = estimate_figure(statistic, plain), estimate_figure(statistic, weighted)
        assert (mine.status, mine.n, mine.clusters) == (theirs.status, theirs.n, theirs.clusters)
        assert mine.ci_low == pytest.approx(theirs.ci_low, abs=1e-9)
        assert mine.value == pytest.approx(theirs.value, abs=1e-9)


@given(readings_st)
def test_collapsing_groups_is_collapsing_their_sum(readings: list[Reading]) -> None:
    weighted = count_weighted_confusion_by_group(readings, NAMES)
    table = weighted.collapse_to_two_categories(("no", "idk"))
    assert table.group_count == weighted.group_count
    assert table.unweighted_total == weighted.unweighted_total.collapse_to_two_categories(
        ("no", "idk")
    )
    whole = weighted.weighted_total
    assert isinstance(whole, ConfusionMatrix)
    direct = whole.collapse_to_two_categories(("no", "idk"))
    assert np.allclose(table.weighted_total_stack.cells, direct.counts)
    plain = count_confusion_by_group([each[:3] for each in readings], NAMES)
    assert (
        table.unweighted_total == plain.collapse_to_two_categories(("no", "idk")).unweighted_total
    )


def test_a_cell_whose_last_unit_is_left_out_weighs_nothing() -> None:
    readings = [(str(i), "yes", "yes", 0.1) for i in range(30)] + [("last", "no", "yes", 0.7)]
    table = count_weighted_confusion_by_group(readings, NAMES)
    values, _ = compute_leave_one_out(KAPPA.compute, table)
    last = int(np.flatnonzero(table.unweighted_by_group.cells[1, 0])[0])
    assert math.isnan(values[last])


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), max_size=30))
def test_groups_that_are_alike_are_counted_once(groups: list[list[int]]) -> None:
    kinds, times = count_distinct_columns(np.array(groups, np.int64).reshape(-1, 2).T)
    wanted = Counter(tuple(each) for each in groups if any(each))
    found = dict(zip(map(tuple, kinds.T.tolist()), times.tolist(), strict=True))
    assert found == wanted
    assert list(found) == sorted(found)


def strata(chance: random.Random, groups: int) -> tuple[Ints, Ints]:
    """Conversations whose claims were labelled by judge verdict: populations, labelled."""
    populations = np.zeros((3, groups), np.int64)
    labelled = np.zeros((3, 3, 3, groups), np.int64)
    for group in range(groups):
        for judge in range(3):
            populations[judge, group] = chance.randint(int(judge == 0), 6)
            for _ in range(chance.randint(0, int(populations[judge, group]))):
                labelled[judge, chance.choice([judge, judge, 0, 1, 2]), judge, group] += 1
    return populations, labelled


def stratified(chance: random.Random, groups: int) -> GroupedMatrix:
    populations, labelled = strata(chance, groups)
    return GroupedMatrix.from_groups(NAMES, labelled, populations=populations)


@pytest.mark.parametrize("seed", range(10))
def test_leaving_out_of_strata_counts_populations_anew(seed: int) -> None:
    populations, labelled = strata(random.Random(seed), 12)
    groups = GroupedMatrix.from_groups(NAMES, labelled, populations=populations)
    wanted: list[Point] = []
    for out in range(12):
        kept = np.arange(12) != out
        rest = GroupedMatrix.from_groups(
            NAMES, labelled[..., kept], populations=populations[:, kept]
        )
        wanted.append(KAPPA.compute.compute_over_groups(rest))
    assert_same_values(spread_out(*compute_leave_one_out(KAPPA.compute, groups)), wanted)
    cells = groups.weighted_total
    assert isinstance(cells, ConfusionMatrix)
    assert cells.judge_totals == pytest.approx(populations.sum(axis=1))
    found = estimate_figure(KAPPA, groups)
    assert found.n == groups.unweighted_total.n
    assert found.method is EstimateMethod.JACKKNIFE_ATANH
    recall = groups.collapse_to_two_categories(("no",))
    assert (
        estimate_figure(detection.RECALL, recall).n == recall.unweighted_total.reference_totals[0]
    )


def test_a_stratum_without_labels_leaves_the_table_unknown() -> None:
    labelled = np.zeros((2, 2, 2, 1), np.int64)
    labelled[0, 0, 0] = 2
    unknown = GroupedMatrix.from_groups("ab", labelled, populations=np.array([[2], [3]]))
    assert unknown.weighted_total is WithheldReason.NO_ITEMS
    assert KAPPA.compute.compute_over_groups(unknown) is WithheldReason.NO_ITEMS
    known = GroupedMatrix.from_groups("ab", labelled, populations=np.array([[2], [0]]))
    cells = known.weighted_total
    assert isinstance(cells, ConfusionMatrix)
    assert cells.counts == ((2, 0), (0, 0))


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.lists(st.sampled_from(NAMES), max_size=4)),
        max_size=25,
    )
)
def test_leaving_out_ratings_is_counting_the_others(readings: list[tuple[str, list[str]]]) -> None:
    groups = group_ratings(readings, NAMES)
    for figure in (
        ratings.krippendorff_alpha.bind(),
        ratings.fleiss_kappa.bind(),
        ratings.gwet_ac1.bind(),
    ):
        names = {
            group
            for group, said in readings
            if any(len(each) for g, each in readings if g == group)
        }
        found = spread_out(figure.compute(groups.without_each_group), groups.times)
        wanted = [
            figure(group_ratings([each for each in readings if each[0] != name], NAMES).total)
            for name in names
        ]
        silent = len({group for group, _ in readings}) - len(names)
        wanted += [figure(groups.total)] * silent
        assert_same_values(found, wanted)
        measured = estimate_rating_figure(figure, groups, IntervalScale.ATANH)
        assert measured.n == sum(len(labels) > 1 for _, labels in readings)
        assert measured.status is not EstimateStatus.OK or same(
            measured.value or 0.0, figure(groups.total)
        )


def test_ratings_remember_only_counts() -> None:
    found = Ratings.from_counts(("a", "b"), {(2, 1): 3, (0, 0): 2, (1, 0): 1})
    assert (int(found.rated_count), int(found.pairable_count)) == (4, 3)
    assert found.collapse_others(1).pattern_counts == [((0, 0), 2), ((0, 1), 1), ((1, 2), 3)]


CLUSTERS = (((5, 1), (0, 2)), ((3, 0), (2, 1)), ((6, 0), (1, 0)), ((2, 2), (0, 4)))


def of_clusters(
    clusters: tuple[tuple[tuple[int, int], tuple[int, int]], ...],
) -> GroupedMatrix:
    return GroupedMatrix.from_groups(("yes", "no"), np.moveaxis(np.array(clusters), 0, -1)[None])


@pytest.mark.parametrize("clusters", [CLUSTERS, CLUSTERS[:1], (*CLUSTERS, CLUSTERS[0])])
def test_the_exact_bootstrap_is_that_of_all_resamples(
    clusters: tuple[tuple[tuple[int, int], tuple[int, int]], ...],
) -> None:
    shares = []
    for drawn in product(clusters, repeat=len(clusters)):
        agreed = sum(a + d for (a, _), (_, d) in drawn)
        shares.append(agreed / sum(a + b + c + d for (a, b), (c, d) in drawn))
    mean = math.fsum(shares) / len(shares)
    se = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
    found = enumerate_agreement_bootstrap(of_clusters(clusters))
    assert found == pytest.approx((mean, se), abs=1e-12)


def test_the_exact_bootstrap_of_many_conversations_is_near_the_linearised_error() -> None:
    groups = of_clusters(CLUSTERS * 6)
    exact, linearised = (
        enumerate_agreement_bootstrap(groups),
        compute_linearised_agreement_se(groups),
    )
    assert isinstance(exact, tuple)
    assert exact[1] == pytest.approx(linearised, rel=0.05)


def shares_of(drawn: Resamples) -> list[float]:
    stack = drawn.make_matrices()
    return (stack.agreed / stack.n).tolist()  # type: ignore[no-any-return]  # numpy's own


def test_resampling_comes_near_the_exact_bootstrap() -> None:
    for clusters in (CLUSTERS, CLUSTERS * 5):
        groups = of_clusters(clusters)
        exact = enumerate_agreement_bootstrap(groups)
        assert isinstance(exact, tuple)
        shares = shares_of(Resamples(groups, 2_000, 5))
        assert len(shares) == 2_000
        mean = math.fsum(shares) / len(shares)
        se = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
        assert (mean, se) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize(("often", "rare"), [(90, 10), (500, 500), (20, 980), (9, 3)])
def test_each_kind_comes_as_often_as_the_binomial_says(often: int, rare: int) -> None:
    counts = np.zeros((1, 2, 2, 2), np.int64)
    counts[0, 0, 0, 0] = counts[0, 1, 1, 1] = 1
    groups = GroupedMatrix.from_groups("ab", counts, times=np.array([often, rare]))
    count, draws = often + rare, 1_000
    found = Resamples(groups, draws, 1).make_matrices()
    assert set(found.n.tolist()) == {count}
    seen = found.cells[1, 1]
    spread = math.sqrt(often * rare / count)
    assert abs(seen.mean() - rare) < 4 * spread / math.sqrt(draws)
    assert math.sqrt(((seen - rare) ** 2).mean()) == pytest.approx(spread, rel=0.1)


def grouped_units(kind: str, chance: random.Random) -> GroupedMatrix:
    readings = [
        (str(chance.randrange(60)), human, human if chance.random() < 0.7 else chance.choice(NAMES))
        for human in chance.choices(NAMES, [8, 2, 1], k=500)
    ]
    match kind:
        case "counted":
            return count_confusion_by_group(readings, NAMES)
        case "weighted":
            return count_weighted_confusion_by_group(
                [(*each, 1.5 + len(each[0])) for each in readings], NAMES
            )
        case _:
            return stratified(chance, 60)


@pytest.mark.parametrize("kind", ["counted", "weighted", "stratified"])
def test_bootstrap_intervals_are_repeatable_and_near_the_jackknife(kind: str) -> None:
    groups = grouped_units(kind, random.Random(3))
    told: list[int] = []
    found, again, other = (
        estimate_by_bootstrap(
            STATISTICS, groups, resamples=Resamples(groups, 400, seed, on_progress=told.append)
        )
        for seed in (7, 7, 8)
    )
    assert found == again != other
    assert told[-1] == 400
    assert told[: len(told) // 3] == sorted(told[: len(told) // 3])
    for name, each in found.items():
        jackknife = estimate_figure(STATISTICS[name], groups)
        assert each.method is EstimateMethod.BOOTSTRAP
        assert (each.value, each.n, each.clusters) == (
            jackknife.value,
            jackknife.n,
            jackknife.clusters,
        )
        assert each.ci_low == pytest.approx(jackknife.ci_low, abs=0.06)
        assert each.ci_high == pytest.approx(jackknife.ci_high, abs=0.06)
        assert each.se == pytest.approx(jackknife.se, rel=0.3)


@pytest.mark.parametrize("kind", ["counted", "stratified"])
def test_figures_of_two_classes_are_read_off_the_resamples_of_all_labels(kind: str) -> None:
    groups = grouped_units(kind, random.Random(5))
    recall, drawn = detection.RECALL, Resamples(groups, 300, 2)
    found = estimate_by_bootstrap({"recall": recall}, groups, ("no", "idk"), resamples=drawn)
    stack = drawn.make_matrices()
    values = []
    for place in range(300):
        cells = tuple(map(tuple, stack.cells[..., place].tolist()))
        value = recall.compute_of_single_matrix(
            ConfusionMatrix(NAMES, cells).collapse_to_two_categories(("no", "idk"))
        )
        assert not isinstance(value, WithheldReason)
        values.append(value)
    each = found["recall"]
    low, high = np.quantile(values, [0.025, 0.975])
    assert (each.ci_low, each.ci_high) == pytest.approx((low, high))
    assert each.se == pytest.approx(stdev(values))
    assert each.value == recall.compute.compute_over_groups(
        groups.collapse_to_two_categories(("no", "idk"))
    )


def by_bootstrap(statistics: dict[str, Statistic], groups: GroupedMatrix) -> dict[str, Estimate]:
    return estimate_by_bootstrap(statistics, groups, resamples=Resamples(groups, 300, 0))


def test_where_the_jackknife_gives_no_interval_resampling_gives_none() -> None:
    few = count_confusion_by_group([(str(i), "yes", "yes" if i else "no") for i in range(4)], NAMES)
    assert by_bootstrap({"a": PERCENT}, few) == {"a": estimate_figure(PERCENT, few)}
    alike = count_confusion_by_group([(str(i), "yes", "yes") for i in range(9)], NAMES)
    both = {"a": PERCENT, "k": KAPPA}
    assert by_bootstrap(both, alike) == estimate_figures(both, alike)


def test_a_figure_most_resamples_leave_undefined_has_no_interval() -> None:
    """Two of thirty conversations hold what people call bad: many resamples hold none."""
    readings = [(str(i), "yes", "yes" if i % 3 else "no") for i in range(28)]
    readings += [(name, "no", judge) for name in "ab" for judge in ("no", "no", "yes")]
    readings += [("a", "no", "no")] * 3
    table = count_confusion_by_group(readings, ("no", "yes"))
    named = {"recall": Statistic(detection.recall, lambda each: each.n, IntervalScale.LOGIT)}
    assert estimate_figure(named["recall"], table).has_interval
    found = by_bootstrap(named, table)["recall"]
    assert (found.value, found.has_interval) == (7 / 9, False)
    assert found.reason is WithheldReason.TOO_FEW_CLUSTERS


def test_fewer_groups_may_be_asked_for() -> None:
    values = [0.4, 0.6]
    assert not make_estimate_with_jackknife_interval(
        0.5, values, 1, IntervalScale.LOGIT, n=4
    ).has_interval
    assert make_estimate_with_jackknife_interval(
        0.5, values, 1, IntervalScale.LOGIT, n=4, fewest=2
    ).has_interval


def test_alpha_of_weights_is_that_of_the_population() -> None:
    readings = [("a", "yes", "yes", 3.0), ("a", "no", "no", 2.0), ("b", "yes", "no", 1.0)]
    unrolled = [each[:3] for each in readings for _ in range(int(each[3]))]
    found = ALPHA.compute.compute_over_groups(count_weighted_confusion_by_group(readings, NAMES))
    assert same(
        found,
        ALPHA.compute_of_single_matrix(count_confusion_by_group(unrolled, NAMES).unweighted_total),
    )


@given(st.lists(st.lists(st.integers(0, 9), min_size=9, max_size=9), min_size=1, max_size=8))
def test_a_stack_of_matrices_has_the_figures_of_each(tables: list[list[int]]) -> None:
    cells = np.array(tables, np.int64).reshape(-1, 3, 3)
    for name, statistic in STATISTICS.items():
        found = statistic.compute(MatrixStack(np.moveaxis(cells, 0, -1))).tolist()
        for value, each in zip(found, cells, strict=True):
            matrix = ConfusionMatrix(NAMES, tuple(map(tuple, each.tolist())))
            alone = as_number(statistic.compute_of_single_matrix(matrix))
            assert value == pytest.approx(alone, abs=1e-12, nan_ok=True), name
