"""The hand-written statistics against the libraries everybody uses.

Run with `pytest -m oracle` where the libraries are installed; skipped where they are not.
"""

import math
import random
import warnings
from collections.abc import Sequence
from typing import Any

import pytest

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import detection
from faithtui.agreement.statistics.coefficients import (
    cohen_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from faithtui.agreement.statistics.intervals import t_quantile, wilson_interval
from faithtui.agreement.statistics.matrices import count_confusion_by_group
from faithtui.agreement.statistics.ranks import auroc, spearman
from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason

pytestmark = pytest.mark.oracle

LABELS = ("yes", "no", "idk")
SEEDS = range(40)


def draw(seed: int) -> tuple[list[str], list[str]]:
    """Labels of two raters who often agree; small and lopsided samples included."""
    chance = random.Random(seed)
    size = chance.choice([1, 2, 5, 20, 200])
    weights = [chance.random() ** 3 for _ in LABELS]
    first = chance.choices(LABELS, weights, k=size)
    second = [a if chance.random() < 0.6 else chance.choice(LABELS) for a in first]
    return first, second


def table_of(first: Sequence[str], second: Sequence[str]) -> ConfusionMatrix[float]:
    return count_confusion_by_group(
        [("g", a, b) for a, b in zip(first, second, strict=True)], LABELS
    ).unweighted_total


def agree(mine: Point, theirs: float) -> bool:
    """Compare; where the library has NaN, we have a reason."""
    if isinstance(mine, WithheldReason):
        return math.isnan(theirs)
    return mine == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_agreement_is_that_of_scikit_learn(seed: int) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    first, second = draw(seed)
    table = table_of(first, second)
    assert agree(percent_agreement(table), metrics.accuracy_score(first, second))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert agree(cohen_kappa(table), metrics.cohen_kappa_score(first, second))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("positive", [("no",), ("no", "idk")])
def test_detection_is_that_of_scikit_learn(seed: int, positive: tuple[str, ...]) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    first, second = draw(seed)
    binary = table_of(first, second).collapse_to_two_categories(positive)
    truth = [label in positive for label in first]
    said = [label in positive for label in second]
    nan = math.nan
    assert agree(
        detection.precision(binary), metrics.precision_score(truth, said, zero_division=nan)
    )
    assert agree(detection.recall(binary), metrics.recall_score(truth, said, zero_division=nan))
    assert agree(detection.f1(binary), metrics.f1_score(truth, said, zero_division=nan))
    mcc = detection.mcc(binary)
    if not isinstance(mcc, WithheldReason):
        assert mcc == pytest.approx(metrics.matthews_corrcoef(truth, said))
    balanced = detection.balanced_accuracy(binary)
    if not isinstance(balanced, WithheldReason):
        assert balanced == pytest.approx(metrics.balanced_accuracy_score(truth, said))


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_that_of_the_krippendorff_package(seed: int) -> None:
    package: Any = pytest.importorskip("krippendorff")
    first, second = draw(seed)
    mine = krippendorff_alpha(table_of(first, second))
    codes = [[LABELS.index(label) for label in rater] for rater in (first, second)]
    if isinstance(mine, WithheldReason):
        with pytest.raises(ValueError, match="one value"):
            package.alpha(codes, level_of_measurement="nominal")
        return
    theirs = package.alpha(codes, level_of_measurement="nominal")
    assert mine == pytest.approx(float(theirs), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_rankings_are_those_of_scipy_and_scikit_learn(seed: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    metrics: Any = pytest.importorskip("sklearn.metrics")
    chance = random.Random(seed)
    scores = [chance.randint(0, 6) / 6 for _ in range(50)]
    ratings = [min(3, max(0, round(score * 3 + chance.gauss(0, 1)))) for score in scores]
    positive = [rating >= 2 for rating in ratings]
    assert agree(
        spearman(list(zip(scores, ratings, strict=True))),
        float(stats.spearmanr(scores, ratings).statistic),
    )
    assert agree(
        auroc(list(zip(scores, positive, strict=True))), metrics.roc_auc_score(positive, scores)
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_of_student_t_are_those_of_scipy(level: float) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    for df in [*range(1, 60), 100, 1000, 100_000]:
        expected = float(stats.t.ppf((1 + level) / 2, df))
        assert t_quantile(level, df) == pytest.approx(expected, rel=2e-5 if df > 2 else 1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 7), (50, 100), (999, 1000)])
def test_wilson_intervals_are_those_of_scipy(k: int, n: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    theirs = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(k / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
