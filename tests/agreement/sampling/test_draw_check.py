import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.sampling import draw_check
from faithtui.agreement.sampling.draw import (
    SampleDraw,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    enlarge_plan,
    make_sample_draw,
)
from faithtui.agreement.sampling.draw_check import is_draw_of_frame
from faithtui.domain.ids import ClaimId, ItemId

SHARE = 0.4


def make_frame(first: int = 1) -> SamplingFrame:
    return SamplingFrame(
        (ItemId(number // 3), ClaimId(first + number), "abc"[number % 3]) for number in range(30)
    )


def toss_earlier_coins(drawn: SampleDraw, seed: int) -> SampleDraw:
    """Show the judge as versions did before blocks of five."""

    def toss(claim: ClaimId) -> bool:
        digest = hashlib.sha256(f"{seed}:shown:{claim}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64 < SHARE

    claims = tuple(replace(each, shown=toss(each.unit.claim)) for each in drawn.claims)
    return replace(drawn, claims=claims)


@given(st.sampled_from(SamplingDesign), st.integers(0, 99), st.integers(1, 9), st.integers(0, 9))
def test_a_draw_is_told_from_another_one_however_often_it_was_extended(
    design: SamplingDesign, seed: int, size: int, more: int
) -> None:
    frame = make_frame()
    plan = SamplePlan(design, seed, size, shown_share=SHARE)
    first = make_sample_draw(frame, plan)
    longer = make_sample_draw(frame, enlarge_plan(plan, first.strata, more))
    known = {each.unit.claim for each in first.claims}
    chances = {each.name: each.draw_probability for each in longer.strata}
    for begun in (first, toss_earlier_coins(first, seed)):
        fresh = [each for each in longer.claims if each.unit.claim not in known]
        served = (*begun.claims, *fresh)
        stored = replace(
            longer,
            claims=tuple(replace(each, probability=chances[each.stratum]) for each in served),
        )
        for sample in (begun, stored):
            assert is_draw_of_frame(sample, frame, design, seed, SHARE)
            assert not is_draw_of_frame(sample, make_frame(2), design, seed, SHARE)
            last = sample.claims[-1]
            likelier = replace(last, probability=last.probability / 2)
            for claims in (sample.claims[:-1], (*sample.claims[:-1], likelier)):
                changed = replace(sample, claims=claims)
                assert not is_draw_of_frame(changed, frame, design, seed, SHARE)


def test_which_claims_show_the_judge_is_not_chosen() -> None:
    frame, plan = make_frame(), SamplePlan(SamplingDesign.SIMPLE, 5, 20, shown_share=SHARE)
    drawn = make_sample_draw(frame, plan)
    for start in range(15):
        shown = {each.unit.claim for each in drawn.claims[start : start + 5]}
        claims = tuple(replace(each, shown=each.unit.claim in shown) for each in drawn.claims)
        assert not is_draw_of_frame(
            replace(drawn, claims=claims), frame, plan.design, plan.seed, SHARE
        )


def test_counts_that_no_claims_stand_for_are_refused_before_anything_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame, plan = make_frame(), SamplePlan(SamplingDesign.SIMPLE, 5, 20)
    drawn = make_sample_draw(frame, plan)
    twice = replace(drawn, strata=drawn.strata * 2)
    assert not is_draw_of_frame(twice, frame, plan.design, plan.seed, 0.0)
    monkeypatch.setattr(draw_check, "make_sample_draw", lambda frame, plan: pytest.fail("drawn"))
    many = replace(drawn, strata=(replace(drawn.strata[0], drawn=10**6),))
    for sample in (many, replace(drawn, frame=10**6)):
        assert not is_draw_of_frame(sample, frame, plan.design, plan.seed, 0.0)
