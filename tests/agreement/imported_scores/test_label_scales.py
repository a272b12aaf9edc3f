import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.imported_scores.label_scales import (
    Pooling,
    ScaleReading,
    has_shared_units,
    make_scale_convention,
)
from faithtui.agreement.rating_scales import RATING_SCALES, RatingScale, translate_to_verdict

MTRAG = "mtrag-faithfulness-1-4"
FAITHBENCH = "faithbench-response"


NAMES = [scale.name for scale in RATING_SCALES]


@pytest.mark.parametrize("scale", RATING_SCALES, ids=lambda scale: scale.name)
def test_levels_are_the_labels_that_have_a_verdict(scale: RatingScale) -> None:
    assert set(make_scale_convention(scale.name).levels) == set(scale.verdicts)


@pytest.mark.parametrize("name", NAMES)
def test_levels_that_pass_are_the_best_ones(name: str) -> None:
    rule = make_scale_convention(name)
    assert rule.passing
    assert rule.levels[-len(rule.passing) :] == rule.passing


@pytest.mark.parametrize("scale", RATING_SCALES, ids=lambda scale: scale.name)
def test_no_level_is_rated_below_a_worse_one(scale: RatingScale) -> None:
    known = [scale.ratings[level] for level in make_scale_convention(scale.name).levels]
    assert known == sorted(known)


def test_a_view_that_tells_apart_what_another_does_is_left_out() -> None:
    def readings(scale: str) -> list[ScaleReading]:
        return [view.reading for view in make_scale_convention(scale).views]

    assert readings(MTRAG) == [ScaleReading.LABELS, ScaleReading.TWO_WAY]
    assert readings(FAITHBENCH) == [
        ScaleReading.LABELS,
        ScaleReading.VERDICTS,
        ScaleReading.TWO_WAY,
    ]
    assert readings("expertqa-support") == [ScaleReading.LABELS, ScaleReading.TWO_WAY]
    assert readings("q2-consistent-0-1") == [ScaleReading.LABELS]


def test_questionable_is_idk_and_fails() -> None:
    _, verdicts, two_way = make_scale_convention(FAITHBENCH).views
    assert verdicts.get_category_of_scale_level("Questionable") == "idk"
    assert two_way.get_category_of_scale_level("Questionable") == "fail"
    assert two_way.get_category_of_scale_level("Benign") == "pass"


@pytest.mark.parametrize(
    ("labels", "majority", "worst", "mean"),
    [
        ("3", True, True, True),
        ("344", True, True, True),
        ("23", False, False, False),  # a tie, and a mean of just 2.5
        ("24", False, False, True),
        ("133", True, False, False),  # mean 2.33
        ("134", True, False, True),
        ("224", False, False, True),  # mean 2.67
        ("112", False, False, False),
    ],
)
def test_labels_of_several_people_pass_by_majority_by_the_worst_and_by_their_mean(
    labels: str, majority: bool, worst: bool, mean: bool
) -> None:
    rule = make_scale_convention(MTRAG)
    found = {pooling: rule.do_people_pass_unit(tuple(labels), pooling) for pooling in Pooling}
    assert found == {Pooling.MAJORITY: majority, Pooling.WORST: worst, Pooling.MEAN: mean}


@given(st.sampled_from(NAMES), st.data())
def test_who_passes_the_worst_passes_by_any_rule_and_a_single_label_by_all_alike(
    name: str, data: st.DataObject
) -> None:
    rule = make_scale_convention(name)
    levels = tuple(data.draw(st.lists(st.sampled_from(rule.levels), min_size=1, max_size=6)))
    if rule.do_people_pass_unit(levels, Pooling.WORST):
        assert all(rule.do_people_pass_unit(levels, pooling) for pooling in Pooling)
    single = {rule.do_people_pass_unit(levels[:1], pooling) for pooling in Pooling}
    assert single == {translate_to_verdict(name, levels[0]) == "yes"}


@given(st.sampled_from(NAMES), st.data())
def test_equal_means_are_equal_numbers_in_any_order(name: str, data: st.DataObject) -> None:
    levels = data.draw(
        st.lists(st.sampled_from(make_scale_convention(name).levels), min_size=1, max_size=7)
    )
    shuffled = data.draw(st.permutations(levels))
    for view in make_scale_convention(name).views:
        assert view.average_category_positions(tuple(levels)) == view.average_category_positions(
            tuple(shuffled)
        )
        assert view.average_category_positions(
            tuple(levels * 3)
        ) == view.average_category_positions(tuple(levels))


def test_a_scale_that_is_not_listed_is_read_word_by_word() -> None:
    rule = make_scale_convention("own-scale")
    assert [
        rule.find_scale_level_of_label(word) for word in ("Yes", "borderline", "no", "maybe")
    ] == [
        "yes",
        "idk",
        "no",
        None,
    ]
    assert (rule.levels, rule.passing) == (("no", "idk", "yes"), ("yes",))


def test_only_freely_marked_pieces_are_not_comparable() -> None:
    assert [name for name in NAMES if not has_shared_units(name)] == ["faithbench-span"]
