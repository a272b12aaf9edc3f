import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.ranks import auroc, estimate_auroc, estimate_spearman, spearman
from faithtui.domain.estimates import EstimateMethod, EstimateStatus
from faithtui.domain.withheld_reasons import WithheldReason

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"


def golden(statistic: str) -> list[Any]:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["statistic"] == statistic]


def scores_of(given_input: dict[str, Any]) -> list[tuple[float, bool]]:
    if given_input["kind"] == "scores":
        return [
            (score, bool(y))
            for score, y in zip(given_input["score"], given_input["y"], strict=True)
        ]
    return [
        (level, positive)
        for positive, counts in ((False, "negatives"), (True, "positives"))
        for level, count in zip(given_input["levels"], given_input[counts], strict=True)
        for _ in range(count)
    ]


@pytest.mark.parametrize("case", golden("spearman"))
def test_spearman_has_its_published_value(case: dict[str, Any]) -> None:
    found = spearman(list(zip(case["input"]["a"], case["input"]["b"], strict=True)))
    if case["expected"]["value"] is None:
        assert found is WithheldReason(case["expected"]["reason"])
    else:
        assert found == pytest.approx(case["expected"]["value"], abs=case["tolerance"])


@pytest.mark.parametrize("case", golden("auroc"))
def test_auroc_has_its_published_value(case: dict[str, Any]) -> None:
    found = auroc(scores_of(case["input"]))
    assert found == pytest.approx(case["expected"]["value"], abs=case["tolerance"])


def test_nothing_to_rank_says_why() -> None:
    assert spearman([]) is WithheldReason.NO_ITEMS
    assert spearman([(1, 1)]) is WithheldReason.NO_VARIATION
    assert auroc([]) is WithheldReason.NO_ITEMS
    assert auroc([(0.5, True), (0.7, True)]) is WithheldReason.ONE_CLASS_ONLY


scored = st.lists(st.tuples(st.sampled_from([0, 0.25, 0.5, 1]), st.booleans()), max_size=30)


@given(scored)
def test_auroc_counts_pairs_and_half_the_ties(scores: list[tuple[float, bool]]) -> None:
    pairs = [
        (positive, negative)
        for (positive, is_positive), (negative, is_negative) in product(scores, scores)
        if is_positive and not is_negative
    ]
    found = auroc(scores)
    if pairs:
        won = sum(1 if a > b else 0.5 if a == b else 0 for a, b in pairs)
        assert found == pytest.approx(won / len(pairs))
    else:
        assert isinstance(found, WithheldReason)


@given(scored)
def test_auroc_of_the_opposite_question_is_the_rest(scores: list[tuple[float, bool]]) -> None:
    found = auroc(scores)
    flipped = auroc([(score, not positive) for score, positive in scores])
    if isinstance(found, WithheldReason) or isinstance(flipped, WithheldReason):
        assert found is flipped
    else:
        assert found + flipped == pytest.approx(1)


ranked = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30)


@given(ranked)
def test_spearman_is_symmetric_and_blind_to_the_scale(pairs: list[tuple[int, int]]) -> None:
    found = spearman(pairs)
    swapped = spearman([(y, x) for x, y in pairs])
    cubed = spearman([(x**3 - 7, y) for x, y in pairs])
    turned = spearman([(-x, y) for x, y in pairs])
    if isinstance(found, WithheldReason):
        assert {found} == {swapped, cubed, turned}
    else:
        assert -1 <= found <= 1
        assert not isinstance(turned, WithheldReason)
        assert (swapped, cubed, -turned) == pytest.approx((found, found, found))


grouped_st = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.integers(0, 3), st.integers(0, 3)), max_size=40
)


@given(grouped_st)
def test_the_spearman_estimate_leaves_out_whole_groups(
    readings: list[tuple[str, float, float]],
) -> None:
    found = estimate_spearman(readings)
    groups = {group for group, _, _ in readings}
    assert (found.n, found.clusters) == (len(readings), len(groups))
    point = spearman([(x, y) for _, x, y in readings])
    if isinstance(point, WithheldReason):
        assert found.reason is point
        return
    if found.has_interval:
        values = [spearman([(x, y) for g, x, y in readings if g != out]) for out in groups]
        assert not any(isinstance(value, WithheldReason) for value in values)
        numbers = [value for value in values if not isinstance(value, WithheldReason)]
        mean = sum(numbers) / len(numbers)
        spread = sum((value - mean) ** 2 for value in numbers)
        factor = (len(numbers) - 1) / len(numbers)
        assert found.se == pytest.approx((factor * spread) ** 0.5, abs=1e-12)
        assert found.method is EstimateMethod.JACKKNIFE_ATANH


@given(grouped_st)
def test_the_auroc_estimate_holds_its_value(readings: list[tuple[str, float, float]]) -> None:
    found = estimate_auroc([(group, score, rating > 1) for group, score, rating in readings])
    if found.status is EstimateStatus.OK and found.ci_low is not None:
        assert found.value is not None
        assert found.ci_high is not None
        assert 0 <= found.ci_low <= found.value <= found.ci_high <= 1
    else:
        assert found.reason is not None


def test_a_perfect_ranking_gets_a_wilson_interval_over_groups() -> None:
    readings = [(f"g{i % 6}", i % 2 + i / 100, i % 2 == 1) for i in range(24)]
    readings += [(f"g{i % 6}", (i + 1) % 2 + i / 100, i % 2 == 0) for i in range(24)]
    found = estimate_auroc(readings)
    assert (found.value, found.method, found.clusters) == (1.0, EstimateMethod.WILSON, 6)


def test_a_perfect_correlation_is_withheld() -> None:
    found = estimate_spearman([(str(i), i / 9, i / 3) for i in range(9)])
    assert (found.status, found.reason) == (EstimateStatus.WITHHELD, WithheldReason.NO_VARIATION)
