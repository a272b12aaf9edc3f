"""Whether the draw, or those who labelled, chose what is labelled of a sample by strata."""

import pytest

from faithtui.agreement.labelled_units import LabelState
from faithtui.agreement.sampling.designs import LabelledSample, SampledClaim, was_draw_followed
from faithtui.agreement.sampling.draw import SamplingDesign, Stratum
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
