"""Claims that a judge worded itself: which of a labelled set they are."""

import json
from pathlib import Path

import pytest

from faithtui.domain.claims import claim_matcher
from faithtui.domain.claims.claim_matcher import (
    MIN_SHARED,
    ClaimWording,
    compute_wording_similarity,
    match_claims,
)

PAIRS = json.loads(
    (Path(__file__).parents[3] / "fixtures" / "claim_pairs" / "pairs.json").read_text("utf-8")
)
"""Pairs of claims of one answer, labelled by hand: wordings of the same claim, and other claims."""


def counted(threshold: float, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Count the pairs that a threshold takes for the same claim."""
    monkeypatch.setattr(claim_matcher, "MIN_SHARED", threshold)
    same, different = (
        sum(compute_wording_similarity(*pair) >= threshold for pair in PAIRS[name])
        for name in ("same", "different")
    )
    return same, different


def test_the_threshold_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of docs/claim-sets.md."""
    assert (len(PAIRS["same"]), len(PAIRS["different"])) == (38, 40)
    found = {each: counted(each, monkeypatch) for each in (0.5, 0.6, 0.7, MIN_SHARED, 0.8, 0.85)}
    assert found == {
        0.5: (38, 12),
        0.6: (38, 10),
        0.7: (37, 6),
        MIN_SHARED: (36, 6),
        0.8: (34, 5),
        0.85: (26, 0),
    }


def test_the_same_claim_is_itself_whatever_else_is_alike() -> None:
    own = [ClaimWording(1, "a", "The bridge is long."), ClaimWording(7, "a", "The bridge is long!")]
    wanted = [ClaimWording(7, "a", "The bridge is long!"), ClaimWording(9, "a", "Long bridge.")]
    assert match_claims(own, wanted) == {7: 7, 1: 9}


def test_claims_are_matched_one_to_one_the_most_alike_first() -> None:
    own = [
        ClaimWording(1, "a", "The plan includes unlimited messages."),
        ClaimWording(2, "a", "Unlimited calls are included in the plan."),
        ClaimWording(3, "a", "The plan includes unlimited calls, too."),
    ]
    wanted = [
        ClaimWording(11, "a", "The plan includes unlimited calls."),
        ClaimWording(12, "a", "Unlimited messages are included in the plan."),
    ]
    found = match_claims(own, wanted)
    assert found[1] == 12
    assert [each for each in found if found[each] == 11] in ([2], [3])
    assert len(found) == 2


@pytest.mark.parametrize(
    ("own", "wanted"),
    [
        ("The bridge was built in 1923.", "The bridge was built in 1932."),
        ("The museum is open on Mondays.", "The museum is not open on Mondays."),
        ("Anna Berg won the race in Oslo.", "Karl Lund won the race in Oslo."),
        ("The drug is approved for adults.", "The drug is approved for adults in Canada."),
        ("", ""),
    ],
)
def test_claims_that_clash_or_say_more_are_others(own: str, wanted: str) -> None:
    assert match_claims([ClaimWording(1, "a", own)], [ClaimWording(2, "a", wanted)]) == {}


def test_claims_of_other_answers_are_others() -> None:
    text = "The bridge was built in 1923."
    assert match_claims([ClaimWording(1, "a", text)], [ClaimWording(2, "b", text)]) == {}
