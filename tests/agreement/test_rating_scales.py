import pytest

from faithtui.agreement.rating_scales import (
    RATING_SCALES,
    RatingScale,
    translate_to_rating,
    translate_to_verdict,
)
from faithtui.domain.labels.label_sets import FAITHFULNESS


@pytest.mark.parametrize("scale", RATING_SCALES, ids=lambda scale: scale.name)
def test_every_label_of_a_scale_has_a_verdict_and_a_rating_in_range(scale: RatingScale) -> None:
    assert set(scale.verdicts) == set(scale.ratings)
    assert set(scale.verdicts.values()) <= set(FAITHFULNESS.names)
    assert all(0 <= rating <= 1 for rating in scale.ratings.values())


def test_scales_have_different_names() -> None:
    assert len({scale.name for scale in RATING_SCALES}) == len(RATING_SCALES)


@pytest.mark.parametrize(
    ("scale", "label", "verdict", "rating"),
    [
        ("mtrag-faithfulness-1-4", "1", "no", 0.0),
        ("mtrag-faithfulness-1-4", "2", "no", 1 / 3),
        ("mtrag-faithfulness-1-4", "3", "yes", 2 / 3),
        ("mtrag-faithfulness-1-4", "4", "yes", 1.0),
        ("faithbench-span", "Questionable", "idk", 0.5),
        ("faithbench-response", "Consistent", "yes", 1.0),
        ("expertqa-support", "Partial", "idk", 0.5),
        ("begin-3", "Not fully attributable", "no", 0.0),
        ("fdaudit-begin", "entailment,hallucination", "no", 0.0),
        ("q2-consistent-0-1", "1", "yes", 1.0),
    ],
)
def test_labels_mean_what_the_table_says(
    scale: str, label: str, verdict: str, rating: float
) -> None:
    assert translate_to_verdict(scale, label) == verdict
    assert translate_to_rating(scale, label) == rating


def test_labels_of_an_export_keep_their_meaning() -> None:
    assert [translate_to_verdict("faithtui", each) for each in ("yes", "1", "0", "x", "?")] == [
        "yes",
        "yes",
        "no",
        "x",
        None,
    ]
    assert [translate_to_rating("faithtui", each) for each in ("1", "0", "x")] == [1.0, 0.0, None]
    assert translate_to_verdict("another", "x") is None


def test_a_label_that_a_scale_leaves_out_has_neither() -> None:
    assert translate_to_verdict("faithbench-span", "Consistent") is None
    assert translate_to_rating("faithbench-span", "Consistent") is None
    assert translate_to_verdict("q2-consistent-0-1", "yes") is None


@pytest.mark.parametrize(
    ("label", "verdict", "rating"),
    [
        ("Yes", "yes", 1.0),
        ("no", "no", 0.0),
        ("borderline", "idk", 0.5),
        ("4", None, None),
        ("1", None, None),
        (" 1 ", None, None),
        ("True", "yes", 1.0),
        ("false", "no", 0.0),
        ("supported", "yes", 1.0),
        ("Unsupported", "no", 0.0),
    ],
)
def test_an_unknown_scale_is_read_word_by_word(
    label: str, verdict: str | None, rating: float | None
) -> None:
    assert translate_to_verdict("house-rules", label) == verdict
    assert translate_to_rating("house-rules", label) == rating
