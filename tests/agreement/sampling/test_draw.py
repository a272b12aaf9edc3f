import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import mean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.agreement.sampling.draw import (
    FrameUnit,
    SampleDraw,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    allocate_sample_to_strata,
    enlarge_plan,
    iterate_whether_judge_is_shown,
    make_sample_draw,
    preview_draws_per_stratum,
)
from faithtui.domain.ids import ClaimId, ItemId

POPULATIONS = st.dictionaries(
    st.sampled_from(["judge no", "judge yes", "judge idk", "turns 6+", ""]),
    st.integers(0, 30),
    min_size=1,
)
DESIGNS = st.sampled_from(list(SamplingDesign))
SEEDS = st.integers(0, 2**31)


@st.composite
def frames(draw_: st.DrawFn) -> SamplingFrame:
    """Claims of some conversations, each of any stratum; the claims of one stand together."""
    sizes = draw_(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    claims = iter(range(1, 1000))
    return SamplingFrame(
        (ItemId(item), ClaimId(next(claims)), draw_(st.sampled_from("abc")))
        for item, size in enumerate(sizes)
        for _ in range(size)
    )


def names(drawn: SampleDraw) -> list[ClaimId]:
    return [each.unit.claim for each in drawn.claims]


def of_strata(**sizes: int) -> SamplingFrame:
    """A frame with so many claims of each stratum, each in a conversation of its own."""
    strata = [name for name, size in sizes.items() for _ in range(size)]
    return SamplingFrame((ItemId(n), ClaimId(n), name) for n, name in enumerate(strata))


@given(frames())
def test_a_frame_is_the_units_it_was_made_of(frame: SamplingFrame) -> None:
    units = [frame[place] for place in range(len(frame))]
    assert list(frame) == units
    assert list(frame[1:3]) == units[1:3]
    assert frame[-1] == units[-1]
    assert list(SamplingFrame.from_units(units)) == units
    assert SamplingFrame.from_units(frame) is frame
    assert frame.claim_counts_by_stratum == Counter(each.stratum for each in units)
    assert frame.conversation_count == len({each.item for each in units})


@given(frames(), DESIGNS, SEEDS, st.integers(0, 100), st.floats(0, 1))
def test_each_claim_is_drawn_at_most_once_and_sizes_are_right(
    frame: SamplingFrame, design: SamplingDesign, seed: int, size: int, share: float
) -> None:
    plan = SamplePlan(design, seed, size, shown_share=share)
    drawn = make_sample_draw(frame, plan)
    assert len(set(names(drawn))) == len(drawn.claims)
    assert {each.unit for each in drawn.claims} <= set(frame)
    assert drawn.frame == len(frame)
    assert drawn.strata == preview_draws_per_stratum(frame, plan)
    probability = {each.name: each.draw_probability for each in drawn.strata}
    assert all(0 < each.probability == probability[each.stratum] <= 1 for each in drawn.claims)
    if design is SamplingDesign.CONVERSATIONS:
        items = {each.unit.item for each in drawn.claims}
        assert len(items) == min(size, frame.conversation_count)
        assert len(drawn.claims) == sum(each.item in items for each in frame)
    else:
        assert len(drawn.claims) == min(size, len(frame))
        counts = Counter(each.stratum for each in drawn.claims)
        assert all(counts[each.name] == each.drawn for each in drawn.strata)


@given(frames(), DESIGNS, SEEDS, st.integers(1, 40))
def test_the_same_seed_draws_the_same_order(
    frame: SamplingFrame, design: SamplingDesign, seed: int, size: int
) -> None:
    plan = SamplePlan(design, seed, size, shown_share=0.3)
    assert make_sample_draw(frame, plan) == make_sample_draw(list(frame), plan)


@given(frames(), DESIGNS, SEEDS, st.integers(1, 30), st.integers(1, 30))
def test_a_longer_draw_continues_the_shorter_one_inside_each_stratum(
    frame: SamplingFrame, design: SamplingDesign, seed: int, size: int, more: int
) -> None:
    plan = SamplePlan(design, seed, size, shown_share=0.5)
    short = make_sample_draw(frame, plan)
    long = make_sample_draw(frame, enlarge_plan(plan, short.strata, more))
    for stratum in short.strata:
        first = [each.unit for each in short.claims if each.stratum == stratum.name]
        assert [e.unit for e in long.claims if e.stratum == stratum.name][: len(first)] == first
    shown = {each.unit.claim: each.shown for each in long.claims}
    assert all(shown[each.unit.claim] == each.shown for each in short.claims)
    whole = sum(each.population for each in short.strata)
    before = sum(each.drawn for each in short.strata)
    assert sum(each.drawn for each in long.strata) == min(before + more, whole)
    if design is SamplingDesign.SIMPLE:
        assert names(long)[: len(short.claims)] == names(short)


def test_whole_conversations_are_served_one_after_the_other_in_the_order_of_the_text() -> None:
    frame = SamplingFrame((ItemId(n // 4), ClaimId(n), "") for n in range(40))
    drawn = names(make_sample_draw(frame, SamplePlan(SamplingDesign.CONVERSATIONS, 5, 3)))
    parts = [drawn[start : start + 4] for start in range(0, 12, 4)]
    assert all(part == list(range(part[0], part[0] + 4)) for part in parts)
    assert all(part[0] % 4 == 0 for part in parts)


def test_another_seed_draws_other_claims() -> None:
    frame = of_strata(a=200)
    drawn = {
        tuple(names(make_sample_draw(frame, SamplePlan(SamplingDesign.SIMPLE, seed, 20))))
        for seed in range(50)
    }
    assert len(drawn) == 50


@pytest.mark.parametrize("design", list(SamplingDesign))
def test_nothing_is_drawn_of_nothing(design: SamplingDesign) -> None:
    assert make_sample_draw(SamplingFrame(), SamplePlan(design, 1, 10)).claims == ()
    assert make_sample_draw(of_strata(a=3), SamplePlan(design, 1, -5)).claims == ()


def test_strata_take_turns_so_that_an_early_stop_leaves_some_of_each() -> None:
    frame = of_strata(no=50, yes=50)
    first = [
        Counter(
            each.stratum
            for each in make_sample_draw(
                frame, SamplePlan(SamplingDesign.STRATIFIED, seed, 40)
            ).claims[:20]
        )["no"]
        for seed in range(200)
    ]
    assert 9.5 < mean(first) < 10.5
    assert min(first) >= 3


@given(POPULATIONS, st.integers(0, 200))
def test_equal_parts_are_as_equal_as_the_strata_allow(
    populations: dict[str, int], size: int
) -> None:
    given_ = allocate_sample_to_strata(populations, SamplePlan(SamplingDesign.STRATIFIED, 0, size))
    assert sum(given_.values()) == min(size, sum(populations.values()))
    roomy = [given_[name] for name, count in populations.items() if given_[name] < count]
    assert all(given_[name] <= count for name, count in populations.items())
    # Who could give more gives as much as anybody.
    assert not roomy or max(given_.values()) - min(roomy) <= 1


@given(POPULATIONS, st.integers(0, 100), st.integers(0, 50))
def test_a_larger_sample_takes_no_less_from_any_stratum(
    populations: dict[str, int], size: int, more: int
) -> None:
    small = allocate_sample_to_strata(populations, SamplePlan(SamplingDesign.STRATIFIED, 0, size))
    large = allocate_sample_to_strata(
        populations, SamplePlan(SamplingDesign.STRATIFIED, 0, size + more)
    )
    assert all(large[name] >= small[name] for name in populations)


def test_sizes_that_are_named_are_taken_as_far_as_there_are_claims() -> None:
    plan = SamplePlan(SamplingDesign.STRATIFIED, 0, 5, {"no": 10, "yes": -1, "none such": 3})
    assert allocate_sample_to_strata({"no": 4, "yes": 9, "idk": 2}, plan) == {
        "no": 4,
        "yes": 0,
        "idk": 0,
    }


def frequencies(frame: SamplingFrame, plans: Sequence[SamplePlan]) -> Counter[ClaimId]:
    return Counter(name for plan in plans for name in names(make_sample_draw(frame, plan)))


def close(count: int, times: int, probability: float) -> bool:
    """Whether a count is within 4.5 standard errors: one in 150,000 is not, by chance."""
    return bool(
        abs(count - times * probability) <= 4.5 * (times * probability * (1 - probability)) ** 0.5
    )


DRAWS = 2000


@pytest.mark.parametrize("design", [SamplingDesign.SIMPLE, SamplingDesign.STRATIFIED])
def test_every_claim_is_drawn_as_often_as_its_probability_says(design: SamplingDesign) -> None:
    frame = of_strata(no=12, idk=5, yes=40)
    plans = [SamplePlan(design, seed, 15, shown_share=0.2) for seed in range(DRAWS)]
    counts = frequencies(frame, plans)
    probability = {
        each.unit.stratum: each.probability for each in make_sample_draw(frame, plans[0]).claims
    }
    assert all(close(counts[each.claim], DRAWS, probability[each.stratum]) for each in frame)


def test_every_conversation_is_drawn_as_often_as_its_probability_says() -> None:
    frame = SamplingFrame((ItemId(n % 10), ClaimId(n), "") for n in range(55))
    counts = frequencies(
        frame, [SamplePlan(SamplingDesign.CONVERSATIONS, seed, 3) for seed in range(DRAWS)]
    )
    assert all(close(counts[each.claim], DRAWS, 0.3) for each in frame)


def test_two_claims_are_drawn_together_as_often_as_in_a_simple_random_sample() -> None:
    frame = of_strata(a=10)
    pairs = Counter(
        frozenset((one, other))
        for seed in range(DRAWS)
        for drawn in [names(make_sample_draw(frame, SamplePlan(SamplingDesign.SIMPLE, seed, 4)))]
        for one in drawn
        for other in drawn
        if one < other
    )
    assert len(pairs) == 45
    assert all(close(count, DRAWS, 4 / 10 * 3 / 9) for count in pairs.values())


def test_every_claim_comes_first_as_often_as_any_other() -> None:
    frame = of_strata(a=20)
    first = Counter(
        names(make_sample_draw(frame, SamplePlan(SamplingDesign.SIMPLE, seed, 5)))[0]
        for seed in range(DRAWS)
    )
    assert all(close(first[each.claim], DRAWS, 1 / 20) for each in frame)


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_the_share_shown_is_the_one_asked_for_whatever_the_stratum(share: float) -> None:
    frame = of_strata(no=500, yes=500)
    drawn = make_sample_draw(
        frame, SamplePlan(SamplingDesign.STRATIFIED, 11, 1000, shown_share=share)
    ).claims
    for name in ("no", "yes"):
        shown = sum(each.shown for each in drawn if each.stratum == name)
        assert close(shown, 500, share)


@given(DESIGNS, SEEDS, st.integers(1, 60), st.sampled_from([0.0, 0.2, 0.33, 0.5, 1.0]))
def test_the_share_shown_holds_in_a_stratum_at_any_length(
    design: SamplingDesign, seed: int, size: int, share: float
) -> None:
    drawn = make_sample_draw(
        of_strata(a=30, b=30), SamplePlan(design, seed, size, shown_share=share)
    ).claims
    for name in {each.stratum for each in drawn}:
        shown = [each.shown for each in drawn if each.stratum == name]
        for length in range(5, len(shown) + 1, 5):
            assert abs(sum(shown[:length]) - share * length) < 1
        rest = len(shown) % 5
        assert abs(sum(shown) - share * (len(shown) - rest)) < 1 + rest


def test_each_claim_is_shown_as_often_as_the_share_says() -> None:
    for share in (0.2, 0.33):
        counts = [0] * 8
        for seed in range(DRAWS):
            for place, shown in zip(
                range(8), iterate_whether_judge_is_shown(seed, "", share), strict=False
            ):
                counts[place] += shown
        assert all(close(each, DRAWS, share) for each in counts)


def test_who_is_shown_changes_with_the_seed() -> None:
    frame = of_strata(a=12)
    shown = {
        frozenset(each.unit.claim for each in make_sample_draw(frame, plan).claims if each.shown)
        for plan in (
            SamplePlan(SamplingDesign.SIMPLE, seed, 12, shown_share=0.5) for seed in range(20)
        )
    }
    assert len(shown) > 15


def test_weights_undo_what_labelling_all_flagged_claims_does_to_the_figures() -> None:
    """All that the judge flags and a fifth of the rest: plain figures are far off, weighted not."""
    chance = random.Random(4)
    unfaithful = {ClaimId(n): chance.random() < 0.15 for n in range(1000)}
    flags = {n: chance.random() < (0.70 if bad else 0.05) for n, bad in unfaithful.items()}
    frame = SamplingFrame((ItemId(n), n, "no" if flag else "yes") for n, flag in flags.items())
    populations = frame.claim_counts_by_stratum
    sizes = {"no": populations["no"], "yes": populations["yes"] // 5}
    recall = sum(flags[n] for n, bad in unfaithful.items() if bad) / sum(unfaithful.values())
    prevalence = sum(unfaithful.values()) / 1000
    figures: dict[str, list[float]] = defaultdict(list)
    for seed in range(400):
        drawn = make_sample_draw(
            frame, SamplePlan(SamplingDesign.STRATIFIED, seed, sizes=sizes)
        ).claims
        for name, weigh in (("plain", False), ("weighted", True)):
            weights = {each.unit.claim: 1 / each.probability if weigh else 1.0 for each in drawn}
            bad = sum(weight for n, weight in weights.items() if unfaithful[n])
            caught = sum(weight for n, weight in weights.items() if unfaithful[n] and flags[n])
            figures[f"{name} recall"].append(caught / bad)
            figures[f"{name} prevalence"].append(bad / sum(weights.values()))

    def off(name: str, truth: float) -> float:
        """How many standard errors of the mean a figure is off, over the repetitions."""
        found = figures[name]
        return float(abs(mean(found) - truth) / (stdev(found) / len(found) ** 0.5))

    # A total is unbiased; a ratio has a bias of the order 1/n, much below one draw's own error.
    assert off("weighted prevalence", prevalence) < 2
    assert abs(mean(figures["weighted recall"]) - recall) < 0.02
    assert abs(mean(figures["weighted recall"]) - recall) < 0.25 * stdev(figures["weighted recall"])
    assert mean(figures["plain recall"]) > recall + 0.15
    assert mean(figures["plain prevalence"]) > 2 * prevalence


@settings(max_examples=20)
@given(st.integers(2, 40), st.integers(1, 40), SEEDS)
def test_units_need_not_come_as_a_frame(count: int, size: int, seed: int) -> None:
    units = [FrameUnit(ItemId(n // 3), ClaimId(n)) for n in range(count)]
    assert len(
        make_sample_draw(units, SamplePlan(SamplingDesign.SIMPLE, seed, size)).claims
    ) == min(size, count)
