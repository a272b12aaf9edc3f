"""Scores, shares and probabilities against scipy, scikit-learn and statsmodels.

Run with `pytest -m oracle` where the libraries are installed; skipped where they are not.
"""

import math
import random
from itertools import pairwise
from typing import Any

import pytest

from faithtui.agreement.sampling.stopping_rules import plan_label_count
from faithtui.agreement.statistics.calibration import (
    ErrorNorm,
    brier_score,
    brier_skill_score,
    calibration_error,
    equal_width_bins,
)
from faithtui.agreement.statistics.pass_rates import LabelledStratum, compute_stratified_rate
from faithtui.agreement.statistics.prediction_powered import ppi_mean, tune_lambda
from faithtui.agreement.statistics.ranks import delong_auroc_interval, kendall_tau_b
from faithtui.agreement.statistics.score_differences import (
    IccForm,
    icc,
    mean_difference,
    sd_difference,
)
from faithtui.agreement.statistics.score_thresholds import make_threshold_table
from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason

pytestmark = pytest.mark.oracle

SEEDS = range(40)


def same(mine: Point, theirs: float) -> bool:
    if isinstance(mine, WithheldReason):
        return math.isnan(theirs)
    return mine == pytest.approx(theirs, abs=1e-9)


def draw(seed: int) -> tuple[list[float], list[bool]]:
    """Tied scores and what they are to predict; small and lopsided samples included."""
    chance = random.Random(seed)
    size, levels = chance.choice([2, 5, 30, 300]), chance.choice([2, 6, 1000])
    scores = [chance.randint(0, levels) / levels for _ in range(size)]
    return scores, [chance.random() < 0.2 + 0.6 * score for score in scores]


@pytest.mark.parametrize("seed", SEEDS)
def test_kendall_is_that_of_scipy(seed: int) -> None:
    stats: Any = pytest.importorskip("scipy.stats")
    scores, _ = draw(seed)
    others, _ = draw(seed)
    random.Random(seed + 1).shuffle(others)
    others = [max(a, b) for a, b in zip(scores, others, strict=True)]
    assert same(
        kendall_tau_b(list(zip(scores, others, strict=True))),
        float(stats.kendalltau(scores, others).statistic),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_area_and_thresholds_are_those_of_scikit_learn(seed: int) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    scores, positive = draw(seed)
    levels: dict[float, tuple[int, int]] = {}
    for score, flag in zip(scores, positive, strict=True):
        low, high = levels.get(score, (0, 0))
        levels[score] = (low + (not flag), high + flag)
    found = delong_auroc_interval(levels)
    if isinstance(found, WithheldReason):
        assert len(set(positive)) == 1
        return
    assert found.value == pytest.approx(metrics.roc_auc_score(positive, scores))
    # What is low is flagged, so the curve is that of the turned scores and of the other class.
    fpr, tpr, cuts = metrics.roc_curve(
        [not flag for flag in positive], [-score for score in scores], drop_intermediate=False
    )
    rates = {-cut: (fp, tp) for fp, tp, cut in zip(fpr, tpr, cuts, strict=True)}
    rows = make_threshold_table(zip(scores, (not flag for flag in positive), strict=True))
    for below, row in pairwise(rows):
        specificity, recall = row.specificity, row.recall
        assert not isinstance(specificity, WithheldReason)
        assert not isinstance(recall, WithheldReason)
        assert (1 - specificity, recall) == pytest.approx(
            next(rate for cut, rate in rates.items() if round(cut, 9) == below.threshold)
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_is_that_of_scikit_learn(seed: int) -> None:
    metrics: Any = pytest.importorskip("sklearn.metrics")
    curves: Any = pytest.importorskip("sklearn.calibration")
    numpy: Any = pytest.importorskip("numpy")
    stated, came = draw(seed)
    units = list(zip(stated, came, strict=True))
    score = metrics.brier_score_loss(came, stated)
    assert brier_score(units) == pytest.approx(score)
    if len(set(came)) == 2:
        base = sum(came) / len(came)
        constant = metrics.brier_score_loss(came, [base] * len(came))
        assert brier_skill_score(units) == pytest.approx(1 - score / constant, abs=1e-9)
    observed, mean = curves.calibration_curve(came, stated, n_bins=10)
    bins = equal_width_bins(units, 10)
    # Edges of both belong to other bins when 0.3 is not three tenths; so only inner points.
    if not any(round(10 * p, 6) == round(10 * p) for p in stated):
        assert [each.mean for each in bins] == pytest.approx(list(mean))
        assert [each.observed for each in bins] == pytest.approx(list(observed))
        weights = numpy.array([each.n for each in bins]) / len(units)
        gaps = numpy.abs(numpy.array(mean) - numpy.array(observed))
        assert calibration_error(bins) == pytest.approx(float((weights * gaps).sum()))
        assert calibration_error(bins, ErrorNorm.L2) == pytest.approx(
            float(numpy.sqrt((weights * gaps**2).sum()))
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_differences_are_those_of_numpy(seed: int) -> None:
    numpy: Any = pytest.importorskip("numpy")
    chance = random.Random(seed)
    pairs = [(chance.random(), chance.random()) for _ in range(chance.randint(2, 50))]
    differences = numpy.array([a - b for a, b in pairs])
    assert mean_difference(pairs) == pytest.approx(float(differences.mean()))
    assert sd_difference(pairs) == pytest.approx(float(differences.std(ddof=1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_squares_are_those_of_statsmodels(seed: int) -> None:
    formula: Any = pytest.importorskip("statsmodels.formula.api")
    models: Any = pytest.importorskip("statsmodels.api")
    pandas: Any = pytest.importorskip("pandas")
    chance = random.Random(seed)
    n, k = chance.randint(3, 9), chance.randint(2, 4)
    units = [[chance.gauss(i % 3, 1) + j / 2 for j in range(k)] for i in range(n)]
    frame = pandas.DataFrame(
        [(f"u{i}", f"r{j}", value) for i, unit in enumerate(units) for j, value in enumerate(unit)],
        columns=["unit", "rater", "value"],
    )
    table = models.stats.anova_lm(formula.ols("value ~ C(unit) + C(rater)", frame).fit())
    bms, jms, ems = (float(each) for each in table["mean_sq"])
    wms = (jms * (k - 1) + ems * (n - 1) * (k - 1)) / (n * (k - 1))
    expected = {
        IccForm.ONE_WAY: (bms - wms) / (bms + (k - 1) * wms),
        IccForm.ABSOLUTE: (bms - ems) / (bms + (k - 1) * ems + k * (jms - ems) / n),
        IccForm.CONSISTENCY: (bms - ems) / (bms + (k - 1) * ems),
        IccForm.ONE_WAY_MEAN: (bms - wms) / bms,
        IccForm.ABSOLUTE_MEAN: (bms - ems) / (bms + (jms - ems) / n),
        IccForm.CONSISTENCY_MEAN: (bms - ems) / bms,
    }
    for form, value in expected.items():
        assert icc(units, form) == pytest.approx(value)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stratified_rate_is_the_weighted_mean_of_statsmodels(seed: int) -> None:
    weighted: Any = pytest.importorskip("statsmodels.stats.weightstats")
    chance = random.Random(seed)
    strata = []
    values: list[int] = []
    weights: list[float] = []
    for _ in range(chance.randint(1, 4)):
        population = chance.randint(2, 60)
        labelled = chance.randint(1, population)
        faithful = chance.randint(0, labelled)
        strata.append(LabelledStratum(population, labelled, faithful))
        values += [1] * faithful + [0] * (labelled - faithful)
        weights += [population / labelled] * labelled
    assert compute_stratified_rate(strata) == pytest.approx(
        float(weighted.DescrStatsW(values, weights).mean)
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("width", [0.02, 0.05, 0.1])
def test_sample_sizes_are_those_of_statsmodels(p: float, width: float) -> None:
    proportion: Any = pytest.importorskip("statsmodels.stats.proportion")
    plain = float(proportion.samplesize_confint_proportion(p, width))
    assert plan_label_count(width, p) == math.ceil(plain)
    assert plan_label_count(width, p, design_effect=1.7) == math.ceil(1.7 * plain)
    narrower = float(proportion.samplesize_confint_proportion(p, width, alpha=0.1))
    assert plan_label_count(width, p, level=0.9) == math.ceil(narrower)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prediction_powered_mean_is_that_of_numpy(seed: int) -> None:
    numpy: Any = pytest.importorskip("numpy")
    chance = numpy.random.default_rng(seed)
    n, others = int(chance.integers(3, 40)), int(chance.integers(3, 200))
    truth = chance.random(n + others)
    judge = truth * 0.7 + chance.random(n + others) * 0.3
    human, known, rest = truth[:n], judge[:n], judge[n:]
    best = numpy.cov(human, known, ddof=0)[0, 1] / ((1 + n / others) * judge.var(ddof=1))
    trust = float(numpy.clip(best, 0, 1))
    labelled = [(float(h), float(j), 1) for h, j in zip(human, known, strict=True)]
    unlabelled = [(float(j), 1) for j in rest]
    assert tune_lambda(labelled, unlabelled) == pytest.approx(trust)
    found = ppi_mean(labelled, unlabelled)
    assert not isinstance(found, WithheldReason)
    left = human - trust * known
    assert found.value == pytest.approx(float(trust * rest.mean() + left.mean()))
    assert found.se == pytest.approx(
        float(numpy.sqrt(trust**2 * rest.var() / others + left.var() / n))
    )
