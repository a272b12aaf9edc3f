"""Whether the draw, or those who labelled, chose what is labelled of a sample."""

import pytest

from faithtui.agreement.labelled_units import LabelState
from faithtui.agreement.sampling.draw import CONVERSATIONS, SamplingDesign, Stratum
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    was_draw_followed,
)
from faithtui.domain.ids import ClaimId, ItemId, SampleId

POPULATIONS = {"yes": 180, "no": 60, "idk": 60}
FIRST, LAST = "first", "last"


def was_followed(drawn: dict[str, int], labelled: dict[str, tuple[str, int]]) -> bool:
    """Label the first or the last claims of each stratum."""
    claims: list[SampledClaim] = []
    states: dict[ClaimId, LabelState] = {}
    for stratum, size in drawn.items():
        there = [ClaimId(len(claims) + place) for place in range(size)]
        claims += [SampledClaim(each, ItemId(1), stratum) for each in there]
        end, count = labelled[stratum]
        served = there[:count] if end == FIRST else there[size - count :]
        states |= dict.fromkeys(served, LabelState.LABELLED)
    sample = LabelledSample(
        id=SampleId(1),
        name="main",
        seed=0,
        design=SamplingDesign.STRATIFIED,
        frame=sum(POPULATIONS.values()),
        stratified_by=("verdict",),
        strata=tuple(
            Stratum(name, population, drawn[name]) for name, population in POPULATIONS.items()
        ),
        claims=tuple(claims),
    )
    return was_draw_followed(sample, states)


@pytest.mark.parametrize(
    ("drawn", "labelled"),
    [
        # The heaviest stratum was chosen: the share was .833 [.773, .833], the truth .757.
        (
            {"yes": 120, "no": 60, "idk": 60},
            {"yes": (LAST, 30), "no": (FIRST, 60), "idk": (FIRST, 40)},
        ),
        # Few labels of light strata were, which stand for 120 of 300 claims.
        (
            {"yes": 20, "no": 60, "idk": 60},
            {"yes": (FIRST, 20), "no": (LAST, 10), "idk": (LAST, 5)},
        ),
        (
            {"yes": 20, "no": 60, "idk": 60},
            {"yes": (FIRST, 20), "no": (LAST, 15), "idk": (LAST, 15)},
        ),
    ],
)
def test_a_stratum_of_which_claims_were_chosen_is_not_hidden_by_the_others(
    drawn: dict[str, int], labelled: dict[str, tuple[str, int]]
) -> None:
    assert not was_followed(drawn, labelled)


@pytest.mark.parametrize("count", [1, 7, 20])
def test_labels_in_the_order_of_each_stratum_follow_the_draw(count: int) -> None:
    labelled = {"yes": (FIRST, count), "no": (FIRST, 3 * count), "idk": (FIRST, 0)}
    assert was_followed({"yes": 20, "no": 60, "idk": 60}, labelled)


def test_one_label_out_of_order_chooses_nothing() -> None:
    labelled = {"yes": (FIRST, 10), "no": (FIRST, 30), "idk": (LAST, 1)}
    assert was_followed({"yes": 20, "no": 60, "idk": 60}, labelled)


STATES = {"L": LabelState.LABELLED, "s": LabelState.SKIPPED, "v": LabelState.IN_VIEW}


def was_order_of_conversations_followed(conversations: list[str]) -> bool:
    """Ask about twelve drawn conversations of 100, given by the states of their claims."""
    assert len(conversations) == 12
    claims = [
        (SampledClaim(ClaimId(100 * number + place), ItemId(number), ""), state)
        for number, order in enumerate(conversations)
        for place, state in enumerate(order)
    ]
    sample = LabelledSample(
        id=SampleId(1),
        name="main",
        seed=0,
        design=SamplingDesign.CONVERSATIONS,
        frame=1_000,
        stratified_by=(),
        strata=(Stratum(CONVERSATIONS, 100, 12),),
        claims=tuple(each for each, _ in claims),
    )
    states = {each.claim: STATES.get(state, LabelState.UNREVIEWED) for each, state in claims}
    return was_draw_followed(sample, states)


@pytest.mark.parametrize(
    "conversations",
    [
        # Eight begun, in each of which one of ten claims was forgotten.
        ["LLLL-LLLLL"] * 8 + ["-" * 10] * 4,
        ["LLsLLLLL-L", "LLLLLLLLLL"] * 6,
        ["L"] * 6 + ["-" * 10] * 6,
    ],
)
def test_conversations_with_a_forgotten_claim_follow_the_draw(conversations: list[str]) -> None:
    assert was_order_of_conversations_followed(conversations)


@pytest.mark.parametrize(
    "conversations",
    [
        ["-LL-LL-LLL"] * 12,
        ["-" * 10, "L" * 10] * 6,
        # One claim of each five, which may be every one that the judge gets wrong.
        ["LL-LL"] * 12,
        ["L" * 10, "L-LL-LLL-L", "L-LL-LLL-L", "L-LL-LLL-L"] * 3,
    ],
)
def test_chosen_claims_of_conversations_do_not(conversations: list[str]) -> None:
    assert not was_order_of_conversations_followed(conversations)


def was_order_followed(strata: dict[str, tuple[int, str]]) -> bool:
    """Ask about strata given by population and by the states of their claims in the drawn order.

    `v` is labelled with the verdict in view, where such labels do not count.
    """
    claims = [
        (SampledClaim(ClaimId(1_000 * number + place), ItemId(1), name), state)
        for number, (name, (_, order)) in enumerate(strata.items())
        for place, state in enumerate(order)
    ]
    by_strata = len(strata) > 1
    sample = LabelledSample(
        id=SampleId(1),
        name="main",
        seed=0,
        design=SamplingDesign.STRATIFIED if by_strata else SamplingDesign.SIMPLE,
        frame=sum(population for population, _ in strata.values()),
        stratified_by=("verdict",) if by_strata else (),
        strata=tuple(
            Stratum(name, population, len(order)) for name, (population, order) in strata.items()
        ),
        claims=tuple(each for each, _ in claims),
    )
    states = {each.claim: STATES.get(state, LabelState.UNREVIEWED) for each, state in claims}
    return was_draw_followed(sample, states)


@pytest.mark.parametrize(
    "strata",
    [
        # Labelled before the draw, and not one for it: the share was 1.000 [.867, 1], the truth .6.
        {"": (300, "-L" * 45 + "L" * 10)},
        # Unfaithful claims are skipped or left: 1.000 [.847, 1] for .6.
        {"": (300, ("L-s" * 30)[:-3] + "Ls-")},
        # A heavy stratum is chosen: .642 [.567, .703] for .45.
        {"yes": (150, "-" * 39 + "L" * 20 + "-"), "no": (150, "L" * 60)},
        # So it is where the others are skipped: .720 [.560, .720] for .54.
        {
            "yes": (180, "sssssssL" * 10),
            "no": (60, "L" * 60),
            "idk": (60, "L" * 60),
        },
        # Who skips what does not confirm the judge: precision 1.000 [.722, 1] for .333.
        {"yes": (270, "L" * 60), "no": (30, "ssL" * 10)},
        # A light stratum decides precision and recall: 1.000 [.554, 1] for .333.
        {"yes": (270, "L" * 60), "no": (30, "--L" * 5 + "-" * 15)},
        # Labels in view do not count, and do not excuse who skips what is blind.
        {"": (300, "v" * 30 + "s" * 20 + "LLL")},
        {"yes": (150, "v" * 60 + "Lsssss" * 10), "no": (150, "L" * 60)},
        {"yes": (150, "v" * 20 + "Lssssssss" + "-" * 30), "no": (150, "L" * 60)},
    ],
)
def test_labels_that_were_chosen_are_no_sample(strata: dict[str, tuple[int, str]]) -> None:
    assert not was_order_followed(strata)


@pytest.mark.parametrize(
    "strata",
    [
        {"": (300, "-LL")},
        {"": (300, "LLLL-LLLL-" * 5 + "-" * 50)},
        {"": (300, "L" * 40 + "-L" * 20 + "-" * 20)},
        {"": (300, "LLsLLLLs" * 10)},
        {"yes": (270, "L" * 60), "no": (30, "LLL-L-L" + "-" * 23)},
        {"yes": (270, "L" * 20 + "-" * 40), "no": (30, "-----LL" + "-" * 23)},
        {"": (300, "v" * 10 + "LLsss" + "-" * 80)},
        {"yes": (150, "v" * 20 + "LLsss"), "no": (150, "L" * 60)},
        {"yes": (150, "sssLL" + "-" * 30), "no": (150, "L" * 60)},
        # Of twelve small strata one or two have several gaps by chance alone.
        {**{f"s{each}": (90, "LLLLLLLL") for each in range(11)}, "s11": (90, "-sLs-LLL")},
        {"yes": (240, "v" * 19 + "Lsss" + "L" * 20), "no": (60, "vvvLvvss" + "v" * 20)},
    ],
)
def test_who_forgets_a_few_or_has_labelled_some_before_follows_the_draw(
    strata: dict[str, tuple[int, str]],
) -> None:
    assert was_order_followed(strata)
