"""Drawing a sample again, to tell whether it is the one that its seed and design give.

Not for samples of a population, whose results are elsewhere, and for repeats, which were drawn of
what somebody had labelled by then. A sample that lost claims because conversations were deleted is
not what its seed draws of what is left; nor is one that was drawn before its run judged more.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile
from math import isclose

from faithtui.agreement.sampling.draw import (
    ClaimDraw,
    SampleDraw,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    make_sample_draw,
)


def is_draw_of_frame(
    sample: SampleDraw, frame: SamplingFrame, design: SamplingDesign, seed: int, share: float
) -> bool:
    """Say whether a sample is what a frame gives for its design, its seed and its counts.

    Claims are compared stratum by stratum: what was drawn later comes after all that was there, so
    that strata take turns in another order.

    Args:
        sample: What it says that was drawn of what.
        frame: What it was drawn from, with the strata of then.
        design: How.
        seed: Of its random numbers.
        share: Share of its claims that show the judge.
    """
    sizes = {each.name: each.drawn for each in sample.strata}
    if sample.frame != len(frame) or sum(sizes.values()) > len(sample.claims):
        return False  # before anything is drawn: counts may be anything
    plan = SamplePlan(design, seed, sum(sizes.values()), sizes, shown_share=share)
    again = make_sample_draw(frame, plan)
    if Counter(sample.strata) != Counter(again.strata):
        return False
    ours, theirs = _group_by_stratum(sample.claims), _group_by_stratum(again.claims)
    return ours.keys() == theirs.keys() and all(
        _has_same_claims(ours[name], theirs[name])
        and _shows_same_claims(ours[name], theirs[name], seed, share)
        for name in ours
    )


def _group_by_stratum(claims: Iterable[ClaimDraw]) -> dict[str, list[ClaimDraw]]:
    found: dict[str, list[ClaimDraw]] = defaultdict(list)
    for each in claims:
        found[each.stratum].append(each)
    return found


def _has_same_claims(ours: Sequence[ClaimDraw], theirs: Sequence[ClaimDraw]) -> bool:
    return len(ours) == len(theirs) and all(
        one.unit.claim == other.unit.claim and isclose(one.probability, other.probability)
        for one, other in zip(ours, theirs, strict=True)
    )


def _shows_same_claims(
    ours: Sequence[ClaimDraw], theirs: Sequence[ClaimDraw], seed: int, share: float
) -> bool:
    """Say whether the judge is shown where the seed says: who chooses it hides labels from figures.

    Earlier versions tossed a coin for each claim; what was drawn more since is as it is now.
    """
    earlier = takewhile(lambda each: each.shown == _toss_earlier_coin(each, seed, share), ours)
    first = sum(1 for _ in earlier)
    return all(
        one.shown == other.shown for one, other in zip(ours[first:], theirs[first:], strict=True)
    )


def _toss_earlier_coin(drawn: ClaimDraw, seed: int, share: float) -> bool:
    digest = hashlib.sha256(f"{seed}:shown:{drawn.unit.claim}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64 < share
