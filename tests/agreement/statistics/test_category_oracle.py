"""Statistics of categories against the libraries everybody uses.

Run with `pytest -m oracle` where the libraries are installed; skipped where they are not.
"""

import math
import random
import warnings
from collections import Counter
from typing import Any

import pytest

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import coefficients, paired_judges
from faithtui.agreement.statistics.coefficients import (
    MeasurementLevel,
    linear_weights,
    quadratic_weights,
)
from faithtui.agreement.statistics.matrices import count_weighted_confusion_by_group
from faithtui.agreement.statistics.paired_judges import chi_square_tail
from faithtui.agreement.statistics.ratings import Ratings, brennan_prediger, fleiss_kappa
from faithtui.agreement.statistics.ratings import krippendorff_alpha as alpha_of_ratings
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.golden_adapter import evaluate

pytestmark = pytest.mark.oracle

SEEDS = range(25)
SIZE = 4
NAMES = tuple("abcd")


def draw(seed: int) -> list[list[int]]:
    """Give a table, lopsided and with empty cells now and then."""
    chance = random.Random(seed)
    sparse = chance.choice([0.0, 0.4])
    return [
        [
            0 if chance.random() < sparse else chance.randint(0, 40 if i == j else 9)
            for j in range(SIZE)
        ]
        for i in range(SIZE)
    ]


def table_of(matrix: list[list[int]]) -> ConfusionMatrix[float]:
    return ConfusionMatrix(NAMES, tuple(map(tuple, matrix)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_and_its_errors_are_those_of_statsmodels(seed: int, weights: str | None) -> None:
    inter_rater: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    numpy: Any = pytest.importorskip("numpy")
    matrix = draw(seed)
    theirs = inter_rater.cohens_kappa(numpy.array(matrix), wt=weights)
    case = {"kind": "confusion", "categories": list(NAMES), "matrix": matrix}
    mine = evaluate("weighted_kappa", case, {"weights": weights})
    assert mine["value"] == pytest.approx(theirs.kappa)
    assert mine["se"] == pytest.approx(theirs.std_kappa)
    assert mine["se_null"] == pytest.approx(theirs.std_kappa0)
    assert mine["ci_low"] == pytest.approx(theirs.kappa_low)
    if weights is None:
        assert coefficients.maximum_kappa(table_of(matrix)) == pytest.approx(theirs.kappa_max)


@pytest.mark.parametrize("seed", SEEDS)
def test_weighted_tables_are_those_of_scikit_learn(seed: int) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    chance = random.Random(seed)
    weights = [chance.uniform(0.5, 20) for _ in range(120)]
    first = chance.choices(NAMES, [9, 4, 2, 1], k=120)
    second = [each if chance.random() < 0.7 else chance.choice(NAMES) for each in first]
    readings = list(zip(map(str, range(120)), first, second, weights, strict=True))
    table = count_weighted_confusion_by_group(readings, NAMES).weighted_total
    assert isinstance(table, ConfusionMatrix)
    options = {"labels": list(NAMES), "sample_weight": weights}
    for name, mine in {
        None: None,
        "linear": linear_weights(range(4)),
        "quadratic": quadratic_weights(range(4)),
    }.items():
        theirs = metrics.cohen_kappa_score(first, second, weights=name, **options)
        assert coefficients.cohen_kappa(table, mine) == pytest.approx(theirs)
    assert coefficients.percent_agreement(table) == pytest.approx(
        metrics.accuracy_score(first, second, sample_weight=weights)
    )
    assert coefficients.macro_f1(table) == pytest.approx(
        metrics.f1_score(first, second, average="macro", **options)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_tests_of_margins_are_those_of_statsmodels(seed: int) -> None:
    contingency: Any = pytest.importorskip("statsmodels.stats.contingency_tables")
    numpy: Any = pytest.importorskip("numpy")
    chance = random.Random(seed)
    matrix = [[chance.randint(1, 30) for _ in range(SIZE)] for _ in range(SIZE)]
    theirs = contingency.SquareTable(numpy.array(matrix), shift_zeros=False)
    for mine, other in (
        (paired_judges.bowker_test(table_of(matrix)), theirs.symmetry()),
        (paired_judges.stuart_maxwell_test(table_of(matrix)), theirs.homogeneity()),
    ):
        assert isinstance(mine, paired_judges.ChiSquare)
        assert (mine.statistic, mine.p) == pytest.approx((other.statistic, other.pvalue))
        assert mine.df == other.df
    b, c = matrix[0][1], matrix[1][0]
    two = [[5, b], [c, 7]]
    for corrected in (False, True):
        found = paired_judges.mcnemar_test(b, c, corrected=corrected)
        other = contingency.mcnemar(two, exact=False, correction=corrected)
        assert isinstance(found, paired_judges.ChiSquare)
        if b != c or not corrected:  # the library corrects a difference of 0 by 1
            assert (found.statistic, found.p) == pytest.approx((other.statistic, other.pvalue))
    assert paired_judges.mcnemar_exact_p(b, c) == pytest.approx(
        contingency.mcnemar(two, exact=True).pvalue
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_holm_is_that_of_statsmodels(seed: int) -> None:
    multitest: Any = pytest.importorskip("statsmodels.stats.multitest")
    chance = random.Random(seed)
    values = [chance.random() ** 3 for _ in range(chance.randint(1, 9))]
    assert paired_judges.adjust_by_holm(values) == pytest.approx(
        list(multitest.multipletests(values, method="holm")[1])
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_and_randolph_are_those_of_statsmodels(seed: int) -> None:
    inter_rater: Any = pytest.importorskip("statsmodels.stats.inter_rater")
    numpy: Any = pytest.importorskip("numpy")
    chance = random.Random(seed)
    raters = chance.randint(2, 6)
    units = [
        [row.count(k) for k in range(3)]
        for row in ([chance.choice([0, 0, 1, 2]) for _ in range(raters)] for _ in range(20))
    ]
    mine = Ratings.from_counts(NAMES[:3], Counter(map(tuple, units)))
    table = numpy.array(units)
    assert fleiss_kappa(mine) == pytest.approx(inter_rater.fleiss_kappa(table))
    assert brennan_prediger(mine) == pytest.approx(inter_rater.fleiss_kappa(table, "randolph"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", list(MeasurementLevel))
def test_alpha_with_gaps_is_that_of_the_krippendorff_package(
    seed: int, level: MeasurementLevel
) -> None:
    package: Any = pytest.importorskip("krippendorff")
    numpy: Any = pytest.importorskip("numpy")
    chance = random.Random(seed)
    raters = chance.randint(2, 5)
    rows = [
        [chance.choice([1, 1, 2, 3, 5, None]) for _ in range(raters)]
        for _ in range(chance.choice([2, 10, 40]))
    ]
    values = [1, 2, 3, 5]
    units = Ratings.from_counts(
        tuple(map(str, values)), Counter(tuple(row.count(v) for v in values) for row in rows)
    )
    mine = alpha_of_ratings(units, level, values)
    data = numpy.array([[math.nan if v is None else v for v in row] for row in rows]).T
    if isinstance(mine, WithheldReason):
        with pytest.raises(ValueError, match=r"one value|at least"):
            package.alpha(data, level_of_measurement=str(level), value_domain=values)
        return
    theirs = package.alpha(data, level_of_measurement=str(level), value_domain=values)
    assert mine == pytest.approx(float(theirs), abs=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 10, 31])
def test_tails_of_chi_square_are_those_of_scipy(df: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    for statistic in (0.0, 1e-6, 0.3, 1.0, 4.7, 20.0, 90.0):
        assert chi_square_tail(statistic, df) == pytest.approx(
            float(stats.chi2.sf(statistic, df)), rel=1e-9
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_mid_p_is_that_of_scipy(seed: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    chance = random.Random(seed)
    b, c = chance.randint(0, 300), chance.randint(1, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tail = float(stats.binomtest(b, b + c).pvalue)
        wanted = tail - float(stats.binom.pmf(b, b + c, 0.5))
    assert paired_judges.mcnemar_mid_p(b, c) == pytest.approx(wanted)
