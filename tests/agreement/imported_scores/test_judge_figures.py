import pytest

from faithtui.agreement.imported_scores.judge_figures import (
    JudgeFigures,
    ScoreDetection,
    compute_judge_figures,
)
from faithtui.agreement.imported_scores.label_scales import Pooling, make_scale_convention
from faithtui.agreement.imported_scores.rated_units import RatedUnit
from faithtui.domain.withheld_reasons import WithheldReason

MTRAG = "mtrag-faithfulness-1-4"


RULE = make_scale_convention(MTRAG)


def judged(*rows: tuple[str, float | None]) -> JudgeFigures:
    """Compare scores with the labels of up to three people; a group of its own for each."""
    units = [
        RatedUnit(
            f"g{i}",
            dict(zip("abc", labels, strict=False)),
            {} if score is None else {"j": score},
            frozenset(),
        )
        for i, (labels, score) in enumerate(rows)
    ]
    return compute_judge_figures(units, "j", RULE)


def under(figures: JudgeFigures, pooling: Pooling) -> ScoreDetection:
    return next(each for each in figures.detections if each.pooling is pooling)


CONTINUOUS = (
    ("44", 0.9),
    ("34", 0.8),
    ("33", 0.4),
    ("44", 0.7),
    ("11", 0.6),
    ("12", 0.2),
    ("22", 0.3),
    ("11", 0.1),
)


def test_figures_by_hand() -> None:
    found = judged(*CONTINUOUS)
    majority = under(found, Pooling.MAJORITY)
    assert (majority.passed, majority.failed) == (4, 4)
    assert majority.auroc.value == pytest.approx(15 / 16)  # only 0.4 against 0.6 is the wrong way
    assert majority.balanced_accuracy.value == pytest.approx((3 / 4 + 3 / 4) / 2)
    assert majority.best_threshold == 0.4
    assert majority.best == pytest.approx((4 / 4 + 3 / 4) / 2)
    assert not found.is_label
    assert (found.lowest, found.highest) == (0.1, 0.9)


def test_a_score_of_one_half_passes() -> None:
    found = judged(("4", 0.5), ("1", 0.49))
    assert under(found, Pooling.MAJORITY).balanced_accuracy.value == 1.0


def test_scores_that_are_labels_are_read_as_they_are_and_nothing_is_chosen() -> None:
    found = judged(("44", 1.0), ("11", 0.0), ("44", 0.0), ("22", 0.0), ("33", 1.0), ("12", 1.0))
    detection = under(found, Pooling.MAJORITY)
    assert found.is_label
    assert detection.balanced_accuracy.value == pytest.approx(2 / 3)
    assert detection.auroc.value == pytest.approx(2 / 3)
    assert detection.best is WithheldReason.NO_VARIATION
    assert detection.cross_validated.reason is WithheldReason.NO_VARIATION


def test_thresholds_are_tried_on_groups_that_had_no_say() -> None:
    detection = under(judged(*CONTINUOUS), Pooling.MAJORITY)
    assert isinstance(detection.best, float)
    assert detection.cross_validated.value is not None
    assert detection.cross_validated.value <= detection.best


def test_with_too_few_groups_nothing_is_cross_validated() -> None:
    detection = under(judged(("4", 0.9), ("1", 0.1)), Pooling.MAJORITY)
    assert detection.best == 1.0
    assert detection.cross_validated.reason is WithheldReason.TOO_FEW_CLUSTERS


def test_poolings_differ_where_people_do() -> None:
    found = judged(("334", 0.9), ("134", 0.2), ("112", 0.1))
    failed = {each.pooling: each.failed for each in found.detections}
    assert failed == {Pooling.MAJORITY: 1, Pooling.WORST: 2, Pooling.MEAN: 1}


def test_units_without_a_score_are_left_out_and_counted() -> None:
    found = judged(("4", 0.9), ("1", None), ("2", 0.3))
    assert (found.n, found.groups, found.without_score, found.own_reference) == (2, 2, 1, 0)


def test_a_score_of_itself_is_counted_apart() -> None:
    own = RatedUnit("g", {"a": "4"}, {}, frozenset({"j"}))
    found = compute_judge_figures([own], "j", RULE)
    assert (found.n, found.without_score, found.own_reference) == (0, 0, 1)
    assert found.detections[0].auroc.reason is WithheldReason.NO_ITEMS
    assert not found.is_label


def test_when_people_pass_everything_there_is_nothing_to_tell_apart() -> None:
    detection = under(judged(("4", 0.9), ("3", 0.1)), Pooling.WORST)
    assert detection.auroc.reason is WithheldReason.ONE_CLASS_ONLY
    assert detection.best is WithheldReason.ONE_CLASS_ONLY


def test_spearman_takes_the_mean_of_the_labels_and_of_the_verdicts() -> None:
    found = judged(("14", 0.1), ("33", 0.2), ("34", 0.3), ("44", 0.4))
    labels, share = found.correlations
    assert labels.spearman.value == pytest.approx(1.0)  # means 2.5, 3, 3.5, 4
    assert share.spearman.value == pytest.approx(0.7745966692414834)  # shares 1/2, 1, 1, 1
