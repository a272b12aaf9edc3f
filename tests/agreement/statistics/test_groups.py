"""Tables that are weighted, drawn by strata or grouped, against recomputing them unit by unit."""

import math
import random
from collections import Counter
from itertools import product
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics import detection, ratings
from faithtui.agreement.statistics.bootstrap import (
    _NUMPY_FROM,
    bootstrap_measures,
    has_numpy,
    quantile,
    resampled,
)
from faithtui.agreement.statistics.category_weights import linear
from faithtui.agreement.statistics.clusters import exact_bootstrap, linearised_se
from faithtui.agreement.statistics.figures import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    SCOTT_PI,
    Statistic,
    measure,
    specific,
    weighted_kappa,
)
from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.agreement.statistics.jackknife import left_out, measure_ratings
from faithtui.agreement.statistics.ratings import Ratings, grouped_ratings
from faithtui.agreement.statistics.table_groups import (
    Grouped,
    GroupedTable,
    collapsed_groups,
    cross_table,
    grouped,
    weighted_cross_table,
)
from faithtui.agreement.statistics.tables import (
    Cells,
    StratifiedTable,
    Table,
    WeightedTable,
    empty_table,
)
from faithtui.domain.estimates import Method, Point, Reason, Status

NAMES = ("yes", "no", "idk")
STATISTICS: dict[str, Statistic] = {
    "percent": PERCENT,
    "kappa": KAPPA,
    "pi": SCOTT_PI,
    "ac1": AC1,
    "linear": weighted_kappa(linear([0, 1, 2])),
    "specific": specific(1),
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


def summed(readings: list[Reading]) -> Cells[float]:
    cells: Counter[tuple[str, str]] = Counter()
    for _, reference, judge, weight in sorted(readings):
        cells[reference, judge] += weight  # type: ignore[assignment]  # sums of floats are meant
    return Cells(NAMES, tuple(tuple(float(cells[i, j]) for j in NAMES) for i in NAMES))


def same(found: Point, wanted: Point) -> bool:
    if isinstance(found, Reason) or isinstance(wanted, Reason):
        return found is wanted
    return found == pytest.approx(wanted, abs=1e-9)


@given(readings_st)
def test_leaving_out_of_a_weighted_table_is_summing_the_others(readings: list[Reading]) -> None:
    table = weighted_cross_table(readings, NAMES)
    names = {group for group, *_ in readings}
    for statistic in STATISTICS.values():
        assert same(statistic.of(table.total), statistic.compute(summed(readings)))
        wanted = [
            (statistic.compute(summed([each for each in readings if each[0] != name])), 1)
            for name in names
        ]
        found = left_out(statistic.of, table)
        assert sum(times for _, times in found) == len(names)
        spread = [each for each, times in found for _ in range(times)]
        for value, _ in wanted:
            assert any(same(each, value) for each in spread)


@given(readings_st, st.randoms(use_true_random=False))
def test_order_of_weighted_readings_changes_nothing(
    readings: list[Reading], chance: random.Random
) -> None:
    shuffled = list(readings)
    chance.shuffle(shuffled)
    assert weighted_cross_table(readings, NAMES) == weighted_cross_table(shuffled, NAMES)


@given(readings_st)
def test_equal_weights_are_no_weights(readings: list[Reading]) -> None:
    plain = cross_table([each[:3] for each in readings], NAMES)
    weighted = weighted_cross_table([(*each[:3], 4.0) for each in readings], NAMES)
    for statistic in STATISTICS.values():
        mine, theirs = measure(statistic, plain), measure(statistic, weighted)
        assert (mine.status, mine.n, mine.clusters) == (theirs.status, theirs.n, theirs.clusters)
        assert mine.ci_low == pytest.approx(theirs.ci_low, abs=1e-9)
        assert mine.value == pytest.approx(theirs.value, abs=1e-9)


@given(readings_st)
def test_collapsing_groups_is_collapsing_their_sum(readings: list[Reading]) -> None:
    weighted = weighted_cross_table(readings, NAMES)
    table = Grouped(*collapsed_groups(weighted, ("no", "idk")))
    direct = weighted.total.collapsed(("no", "idk"))
    assert table.total.units == direct.units
    assert table.total.parts == pytest.approx(direct.parts)
    assert table.groups == weighted.groups
    plain = cross_table([each[:3] for each in readings], NAMES)
    assert table.total.units == plain.collapsed(("no", "idk")).total.counts


def test_a_cell_whose_last_unit_is_left_out_weighs_nothing() -> None:
    readings = [(str(i), "yes", "yes", 0.1) for i in range(30)] + [("last", "no", "yes", 0.7)]
    table = weighted_cross_table(readings, NAMES)
    last = next(kind for kind, _ in table.kinds if kind.units[1][0])
    assert KAPPA.of(table.total.without(last)) is Reason.NO_VARIATION


def strata(chance: random.Random, groups: int) -> list[StratifiedTable]:
    """Conversations whose claims were labelled by judge verdict."""
    found = []
    for _ in range(groups):
        labelled = [[[0] * 3 for _ in NAMES] for _ in NAMES]
        populations = [chance.randint(0, 6) for _ in NAMES]
        for judge, population in enumerate(populations):
            for _ in range(chance.randint(0, population)):
                labelled[judge][chance.choice([judge, judge, 0, 1, 2])][judge] += 1
        found.append(
            StratifiedTable(
                NAMES,
                tuple(populations),
                tuple(tuple(map(tuple, stratum)) for stratum in labelled),
            )
        )
    return found


def stratified(tables: list[StratifiedTable]) -> Grouped[StratifiedTable]:
    none = empty_table(NAMES).counts
    return Grouped(*grouped(StratifiedTable(NAMES, (0, 0, 0), (none,) * 3), tables))


@pytest.mark.parametrize("seed", range(10))
def test_leaving_out_of_strata_counts_populations_anew(seed: int) -> None:
    tables = strata(random.Random(seed), 12)
    groups = stratified(tables)
    for number in range(len(tables)):
        rest = stratified(tables[:number] + tables[number + 1 :]).total
        assert groups.total.without(tables[number]) == rest
    cells = groups.total.read()
    assert isinstance(cells, WeightedTable)
    assert cells.columns == pytest.approx(groups.total.populations)
    found = measure(KAPPA, groups)
    assert found.n == groups.total.raw.n
    assert found.method is Method.JACKKNIFE_ATANH
    recall = Grouped(*collapsed_groups(groups, ("no",)))
    assert measure(detection.RECALL, recall).n == recall.total.raw.rows[0]


def test_a_stratum_without_labels_leaves_the_table_unknown() -> None:
    none = empty_table(("a", "b")).counts
    table = StratifiedTable(("a", "b"), (2, 3), (((2, 0), (0, 0)), none))
    assert table.read() is Reason.NO_ITEMS
    assert KAPPA.of(table) is Reason.NO_ITEMS
    known = StratifiedTable(("a", "b"), (2, 0), (((2, 0), (0, 0)), none)).read()
    assert isinstance(known, WeightedTable)
    assert known.counts == ((2, 0), (0, 0))


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.lists(st.sampled_from(NAMES), max_size=4)),
        max_size=25,
    )
)
def test_leaving_out_ratings_is_counting_the_others(readings: list[tuple[str, list[str]]]) -> None:
    groups = grouped_ratings(readings, NAMES)
    for compute in (ratings.krippendorff_alpha, ratings.fleiss_kappa, ratings.gwet_ac1):
        found = [each for each, times in left_out(compute, groups) for _ in range(times)]
        wanted = [
            compute(grouped_ratings([each for each in readings if each[0] != name], NAMES).total)
            for name in {group for group, _ in readings}
        ]
        assert len(found) == len(wanted)
        assert all(any(same(each, value) for each in found) for value in wanted)
        measured = measure_ratings(compute, groups, Scale.ATANH)
        assert measured.n == sum(len(labels) > 1 for _, labels in readings)
        assert measured.status is not Status.OK or same(
            measured.value or 0.0, compute(groups.total)
        )


def test_ratings_remember_only_counts() -> None:
    found = Ratings.of(("a", "b"), {(2, 1): 3, (0, 0): 2, (1, 0): 1})
    assert (found.rated, found.pairable) == (4, 3)
    assert found.against_rest(1).items == [((0, 0), 2), ((0, 1), 1), ((1, 2), 3)]


CLUSTERS = (((5, 1), (0, 2)), ((3, 0), (2, 1)), ((6, 0), (1, 0)), ((2, 2), (0, 4)))


def of_clusters(clusters: tuple[tuple[tuple[int, int], tuple[int, int]], ...]) -> Grouped[Table]:
    names = ("yes", "no")
    return Grouped(*grouped(empty_table(names), (Table(names, each) for each in clusters)))


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
    found = exact_bootstrap(of_clusters(clusters))
    assert found == pytest.approx((mean, se), abs=1e-12)


def test_the_exact_bootstrap_of_many_conversations_is_near_the_linearised_error() -> None:
    groups = of_clusters(CLUSTERS * 6)
    exact, linearised = exact_bootstrap(groups), linearised_se(groups)
    assert isinstance(exact, tuple)
    assert exact[1] == pytest.approx(linearised, rel=0.05)


@pytest.mark.parametrize("with_numpy", [False, True])
def test_resampling_comes_near_the_exact_bootstrap(with_numpy: bool) -> None:
    if with_numpy:
        pytest.importorskip("numpy")
    for clusters in (CLUSTERS, CLUSTERS * 5):
        groups = of_clusters(clusters)
        exact = exact_bootstrap(groups)
        assert isinstance(exact, tuple)
        drawn = resampled(groups, resamples=2_000, seed=5, with_numpy=with_numpy)
        tables = [groups.total.rebuilt(parts) for parts in drawn]
        shares = [table.agreed / table.n for table in tables]
        assert len(shares) == 2_000
        mean = math.fsum(shares) / len(shares)
        se = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
        assert (mean, se) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("with_numpy", [False, True])
@pytest.mark.parametrize(("often", "rare"), [(90, 10), (500, 500), (20, 980), (9, 3)])
def test_each_kind_comes_as_often_as_the_binomial_says(
    often: int, rare: int, with_numpy: bool
) -> None:
    if with_numpy:
        pytest.importorskip("numpy")
    names, count, draws = ("a", "b"), often + rare, 1_000
    kinds = [Table(names, ((1, 0), (0, 0)))] * often + [Table(names, ((0, 0), (0, 1)))] * rare
    groups = Grouped(*grouped(empty_table(names), kinds))
    drawn = resampled(groups, resamples=draws, seed=1, with_numpy=with_numpy)
    found = [groups.total.rebuilt(parts) for parts in drawn]
    assert len(found) == draws
    assert {table.n for table in found} == {count}
    seen = [table.counts[1][1] for table in found]
    spread = math.sqrt(often * rare / count)
    assert abs(sum(seen) / draws - rare) < 4 * spread / math.sqrt(draws)
    assert math.sqrt(sum((each - rare) ** 2 for each in seen) / draws) == pytest.approx(
        spread, rel=0.1
    )


@pytest.mark.parametrize("with_numpy", [False, True])
@pytest.mark.parametrize("kind", ["counted", "weighted", "stratified"])
def test_bootstrap_intervals_are_repeatable_and_near_the_jackknife(
    with_numpy: bool, kind: str
) -> None:
    if with_numpy:
        pytest.importorskip("numpy")
    chance = random.Random(3)
    readings = [
        (str(chance.randrange(60)), human, human if chance.random() < 0.7 else "no", 1.0)
        for human in chance.choices(NAMES, [8, 2, 1], k=500)
    ]
    groups: GroupedTable | Grouped[WeightedTable] | Grouped[StratifiedTable]
    if kind == "counted":
        groups = cross_table([each[:3] for each in readings], NAMES)
    elif kind == "weighted":
        groups = weighted_cross_table([(*each[:3], 1.5 + len(each[0])) for each in readings], NAMES)
    else:
        groups = stratified(strata(chance, 60))
    told: list[int] = []
    found, again, other = (
        bootstrap_measures(
            STATISTICS,
            groups,  # type: ignore[misc]  # one call for three kinds of table
            resamples=400,
            seed=seed,
            with_numpy=with_numpy,
            on_progress=told.append,
        )
        for seed in (7, 7, 8)
    )
    assert found == again != other
    assert told == [100, 200, 300, 400] * 3
    for name, each in found.items():
        jackknife = measure(STATISTICS[name], groups)  # type: ignore[misc]  # as above
        assert each.method is Method.BOOTSTRAP
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
    chance = random.Random(5)
    readings = [(str(i % 40), i, chance.choices(NAMES, [6, 2, 1])[0]) for i in range(400)]
    groups: GroupedTable | Grouped[StratifiedTable] = cross_table(
        [
            (group, said, NAMES[(NAMES.index(said) + (i % 4 == 0)) % 3])
            for group, i, said in readings
        ],
        NAMES,
    )
    if kind == "stratified":
        groups = stratified(strata(chance, 40))
    recall = detection.RECALL
    found = bootstrap_measures(
        {"recall": recall},
        groups,  # type: ignore[misc]  # one call for two kinds of table
        ("no", "idk"),
        resamples=300,
        seed=2,
        with_numpy=False,
    )["recall"]
    values = []
    for parts in resampled(groups, resamples=300, seed=2, with_numpy=False):  # type: ignore[misc]
        value = recall.of(groups.total.rebuilt(parts).collapsed(("no", "idk")))
        assert not isinstance(value, Reason)
        values.append(value)
    assert found.ci_low == pytest.approx(quantile(sorted(values), 0.025))
    assert found.ci_high == pytest.approx(quantile(sorted(values), 0.975))
    assert found.se == pytest.approx(stdev(values))
    assert found.value == recall.of(groups.total.collapsed(("no", "idk")))


def test_where_the_jackknife_gives_no_interval_resampling_gives_none() -> None:
    few = cross_table([(str(i), "yes", "yes" if i else "no") for i in range(4)], NAMES)
    assert bootstrap_measures({"a": PERCENT}, few) == {"a": measure(PERCENT, few)}
    alike = cross_table([(str(i), "yes", "yes") for i in range(9)], NAMES)
    assert bootstrap_measures({"a": PERCENT, "k": KAPPA}, alike, resamples=50) == {
        "a": measure(PERCENT, alike),
        "k": measure(KAPPA, alike),
    }


def test_a_figure_most_resamples_leave_undefined_has_no_interval() -> None:
    """Two of thirty conversations hold what people call bad: many resamples hold none."""
    readings = [(str(i), "yes", "yes" if i % 3 else "no") for i in range(28)]
    readings += [(name, "no", judge) for name in "ab" for judge in ("no", "no", "yes")]
    readings += [("a", "no", "no")] * 3
    table = cross_table(readings, ("no", "yes"))
    named = {"recall": Statistic(detection.recall, lambda each: each.n, Scale.LOGIT)}
    assert measure(named["recall"], table).has_interval
    found = bootstrap_measures(named, table, resamples=300, with_numpy=False)["recall"]
    assert (found.value, found.has_interval) == (7 / 9, False)
    assert found.reason is Reason.TOO_FEW_CLUSTERS


@pytest.mark.parametrize("groups", [_NUMPY_FROM - 1, _NUMPY_FROM])
def test_numpy_is_used_where_it_is_installed_and_pays(groups: int) -> None:
    table = cross_table([(str(i), "yes", "yes" if i % 3 else "no") for i in range(groups)], NAMES)
    wanted = {
        with_numpy: bootstrap_measures({"a": PERCENT}, table, resamples=40, with_numpy=with_numpy)
        for with_numpy in ({True, False} if has_numpy() else {False})
    }
    found = bootstrap_measures({"a": PERCENT}, table, resamples=40)
    assert found == wanted[has_numpy() and groups >= _NUMPY_FROM]


def test_no_groups_have_no_bootstrap() -> None:
    empty = cross_table([], NAMES)
    assert bootstrap_measures({"kappa": KAPPA}, empty)["kappa"].reason is Reason.NO_ITEMS


def test_quantiles_lie_between_neighbours() -> None:
    assert [quantile([1, 2, 4], share) for share in (0, 0.25, 0.5, 0.75, 1)] == [1, 1.5, 2, 3, 4]
    assert quantile([3], 0.975) == 3


def test_fewer_groups_may_be_asked_for() -> None:
    values: list[tuple[Point, int]] = [(0.4, 1), (0.6, 1)]
    assert not estimate(0.5, values, Scale.LOGIT, n=4).has_interval
    assert estimate(0.5, values, Scale.LOGIT, n=4, fewest=2).has_interval


def test_alpha_of_weights_is_that_of_the_population() -> None:
    readings = [("a", "yes", "yes", 3.0), ("a", "no", "no", 2.0), ("b", "yes", "no", 1.0)]
    unrolled = [each[:3] for each in readings for _ in range(int(each[3]))]
    found = ALPHA.of(weighted_cross_table(readings, NAMES).total)
    assert same(found, ALPHA.of(cross_table(unrolled, NAMES).total))
