import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.intervals import wilson_interval
from faithtui.agreement.statistics.pass_rates import (
    LabelledStratum,
    compute_stratified_rate,
    compute_stratified_se,
    compute_unweighted_rate,
    compute_worst_case_bounds,
    estimate_future_rate,
    estimate_run_rate,
    estimate_run_rate_clustered,
    make_grouped_strata,
    merge_unlabelled_strata,
)
from faithtui.domain.estimates import EstimateMethod, EstimateStatus
from faithtui.domain.withheld_reasons import WithheldReason

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"

Conversation = tuple[LabelledStratum, ...]


@st.composite
def stratum(draw: st.DrawFn) -> LabelledStratum:
    population = draw(st.integers(0, 40))
    labelled = draw(st.integers(0, population))
    return LabelledStratum(population, labelled, draw(st.integers(0, labelled)))


strata = st.lists(stratum(), min_size=1, max_size=4)
conversations = st.lists(st.tuples(stratum(), stratum()), max_size=12)


def census(share: list[tuple[int, int]]) -> list[LabelledStratum]:
    return [LabelledStratum(n, n, k) for n, k in share]


counted = st.integers(0, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(st.lists(counted, min_size=1, max_size=4))
def test_a_census_gives_the_plain_share_with_no_width(shares: list[tuple[int, int]]) -> None:
    everything = census(shares)
    found = estimate_run_rate(everything)
    n = sum(n for n, _ in shares)
    if not n:
        assert found.reason is WithheldReason.NO_ITEMS
        return
    plain = sum(k for _, k in shares) / n
    assert found.value == pytest.approx(plain)
    assert (found.ci_low, found.ci_high, found.se) == pytest.approx((plain, plain, 0))
    assert compute_stratified_se(everything) == 0
    assert compute_worst_case_bounds(everything) == pytest.approx((plain, plain))
    assert compute_unweighted_rate(everything) == pytest.approx(plain)


@given(strata, st.randoms())
def test_the_order_of_strata_does_not_matter(parts: list[LabelledStratum], chance: Any) -> None:
    shuffled = list(parts)
    chance.shuffle(shuffled)
    value, other = compute_stratified_rate(parts), compute_stratified_rate(shuffled)
    if isinstance(value, WithheldReason):
        assert other is value
    else:
        assert other == pytest.approx(value)


@given(strata)
def test_nothing_leaves_the_worst_case_bounds(parts: list[LabelledStratum]) -> None:
    found, bounds = estimate_run_rate(parts), compute_worst_case_bounds(parts)
    if bounds is None or found.ci_low is None or found.ci_high is None:
        assert found.reason is WithheldReason.NO_ITEMS
        return
    low, high = bounds
    assert found.value is not None
    assert low - 1e-9 <= found.ci_low <= found.value <= found.ci_high <= high + 1e-9
    assert found.method is EstimateMethod.STRATIFIED


def test_a_stratum_without_labels_leaves_nothing_to_say() -> None:
    parts = [LabelledStratum(90, 10, 9), LabelledStratum(10, 0, 0)]
    assert compute_stratified_rate(parts) is WithheldReason.NO_ITEMS
    assert estimate_run_rate(parts).status is EstimateStatus.UNDEFINED
    assert compute_worst_case_bounds(parts) == pytest.approx((0.09, 0.99))


def test_reviewed_flags_alone_bound_the_rate() -> None:
    # All 20 `no` reviewed, 6 of them overturned; no `yes` reviewed.
    parts = [LabelledStratum(80, 0, 0), LabelledStratum(20, 20, 6)]
    assert compute_worst_case_bounds(parts) == pytest.approx((0.06, 0.86))
    assert compute_worst_case_bounds([]) is None


def test_equal_labels_do_not_claim_certainty() -> None:
    parts = [LabelledStratum(1000, 30, 30), LabelledStratum(100, 30, 0)]
    assert compute_stratified_se(parts) == 0
    found = estimate_run_rate(parts)
    assert found.se is not None
    assert found.se > 0.02


def test_one_label_tells_no_spread_but_one_claim_does() -> None:
    assert compute_stratified_se([LabelledStratum(9, 1, 1), LabelledStratum(9, 3, 1)]) is None
    only = [LabelledStratum(1, 1, 1), LabelledStratum(9, 3, 1)]
    assert compute_stratified_se(only) is not None
    assert compute_stratified_se(only, finite_population=False) is None


def test_the_textbook_standard_error() -> None:
    case = next(
        case
        for case in json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
        if case["statistic"] == "stratified_proportion"
    )
    parts = [
        LabelledStratum(each["population"], each["labelled"], each["faithful"])
        for each in case["input"]["strata"]
    ]
    assert compute_stratified_rate(parts) == pytest.approx(case["expected"]["value"])
    assert compute_stratified_se(parts) == pytest.approx(case["expected"]["se"])
    wider = compute_stratified_se(parts, finite_population=False)
    assert wider is not None
    assert wider > case["expected"]["se"]


@pytest.mark.parametrize(
    "counts", [(3, 4, 1, 0), (5, 2, 3, 0), (5, 3, -1, 0), (5, 3, 1, 3), (5, 3, 1, -1)]
)
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="more than there are"):
        LabelledStratum(*counts)


def total(rows: list[Conversation]) -> list[LabelledStratum]:
    return [
        LabelledStratum(
            sum(row[i].population for row in rows),
            sum(row[i].labelled for row in rows),
            sum(row[i].faithful for row in rows),
        )
        for i in range(2)
    ]


@given(conversations)
def test_both_questions_have_the_same_point_estimate(rows: list[Conversation]) -> None:
    point = compute_stratified_rate(total(rows))
    for found in (
        estimate_future_rate(make_grouped_strata(rows)),
        estimate_run_rate_clustered(make_grouped_strata(rows)),
    ):
        if isinstance(point, WithheldReason):
            assert found.reason is point
        else:
            assert found.value == pytest.approx(point)


@given(conversations, st.randoms())
def test_the_order_of_conversations_does_not_matter(rows: list[Conversation], chance: Any) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert estimate_future_rate(make_grouped_strata(rows)) == estimate_future_rate(
        make_grouped_strata(shuffled)
    )


def some_conversations(drawn: int, of: int) -> list[Conversation]:
    """Conversations of eight and four claims; the first ones labelled wholly."""
    return [
        (
            LabelledStratum(8, 8 if i < drawn else 0, (8 - i % 3) if i < drawn else 0),
            LabelledStratum(4, 4 if i < drawn else 0, i % 4 if i < drawn else 0),
        )
        for i in range(of)
    ]


def test_drawn_conversations_say_more_of_the_run_the_more_of_it_they_are() -> None:
    widths = []
    for of in (400, 40, 24, 20):
        found = estimate_run_rate_clustered(make_grouped_strata(some_conversations(20, of)))
        assert found.clusters == 20
        assert found.ci_low is not None
        assert found.ci_high is not None
        widths.append(found.ci_high - found.ci_low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0)


def test_the_future_is_less_sure_than_the_run() -> None:
    rows = some_conversations(20, 20)
    run, future = estimate_run_rate(total(rows)), estimate_future_rate(make_grouped_strata(rows))
    assert run.se == 0
    assert future.se is not None
    assert future.se > 0
    assert future.method is EstimateMethod.JACKKNIFE_LOGIT


def test_all_faithful_gets_the_conservative_interval_over_conversations() -> None:
    rows = [(LabelledStratum(5, 2, 2), LabelledStratum(0, 0, 0))] * 12
    found = estimate_future_rate(make_grouped_strata(rows))
    assert (found.value, found.method) == (1.0, EstimateMethod.WILSON)
    assert (found.ci_low, found.ci_high) == wilson_interval(1.0, 12)


def test_conversations_without_claims_do_not_count() -> None:
    rows = some_conversations(8, 8)
    empty = (LabelledStratum(0, 0, 0), LabelledStratum(0, 0, 0))
    assert estimate_future_rate(make_grouped_strata([*rows, empty, empty])) == estimate_future_rate(
        make_grouped_strata(rows)
    )
    assert estimate_future_rate(make_grouped_strata([empty])).reason is WithheldReason.NO_ITEMS


def test_one_conversation_may_hold_all_labels_of_a_verdict() -> None:
    rows = some_conversations(8, 8)
    lone = [(first, LabelledStratum(4, 0, 0)) for first, _ in rows[1:]]
    found = estimate_future_rate(make_grouped_strata([rows[0], *lone]))
    assert found.has_interval
    assert found.method is EstimateMethod.JACKKNIFE_LOGIT


def test_a_missed_verdict_joins_the_smallest_labelled_one() -> None:
    rows = [
        (LabelledStratum(90, 9, 9), LabelledStratum(3, 0, 0), LabelledStratum(10, 2, 1)),
        (LabelledStratum(80, 8, 7), LabelledStratum(1, 0, 0), LabelledStratum(12, 3, 0)),
    ]
    merged = merge_unlabelled_strata(make_grouped_strata(rows))
    assert merged.counts[0].T.tolist() == [[80, 0, 13], [90, 0, 13]]
    assert not isinstance(compute_stratified_rate(merged.totals_by_stratum), WithheldReason)
    assert merge_unlabelled_strata(merged) is merged
    nothing = make_grouped_strata([(LabelledStratum(3, 0, 0),)])
    assert merge_unlabelled_strata(nothing) is nothing


def test_no_labels_have_no_mean() -> None:
    assert compute_unweighted_rate([LabelledStratum(4, 0, 0)]) is WithheldReason.NO_ITEMS
    assert compute_stratified_rate([]) is WithheldReason.NO_ITEMS
    assert compute_unweighted_rate([LabelledStratum(4, 4, 1)]) == 0.25


def test_the_interval_of_drawn_conversations_is_a_jackknife_with_a_third_more_variance() -> None:
    """Worked on its own: 10 of 30 conversations are labelled, each left out with its labels."""
    passed = [9, 8, 9, 6, 7, 9, 5, 8, 9, 7]
    labels = [[LabelledStratum(9, 9, each)] for each in passed]
    found = estimate_run_rate_clustered(
        make_grouped_strata([*labels, *[[LabelledStratum(9, 0, 0)]] * 20])
    )
    value = sum(passed) / 90
    without = np.array([(sum(passed) - each) / 81 for each in passed])
    # Only the part that was not drawn is unknown.
    moved = value + math.sqrt(4 / 3 * (1 - 10 / 30)) * (without - value)
    logits = np.log(moved / (1 - moved))
    se = math.sqrt(9 / 10 * ((logits - logits.mean()) ** 2).sum())
    centre, half = math.log(value / (1 - value)), 2.262157 * se
    ends = [1 / (1 + math.exp(-each)) for each in (centre - half, centre + half)]
    assert (found.ci_low, found.ci_high) == pytest.approx(ends, abs=1e-6)
