"""Readings of one part of the conversations."""

from dataclasses import replace

import pytest

from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    RunUnits,
    ScoredUnit,
    StratumCounts,
    UnitScores,
    UnratedAnswer,
)
from faithtui.agreement.report.split_units import select_split_units
from faithtui.domain.ids import ClaimId, ConversationId, SampleId
from faithtui.domain.split_rule import SPLITS, Split, SplitRule

RULE = SplitRule(0, 60, 20, 20)


def claim(number: int, *, label: bool, drawn: bool, stratum: str | None = None) -> ClaimUnit:
    return ClaimUnit(
        claim=ClaimId(number),
        conversation=ConversationId(number // 2),
        key=f"chat {number // 2}",
        group=f"group {number // 4}",
        turn=1,
        text=f"Claim {number}.",
        judge="yes",
        human="yes" if label else None,
        reviewers=int(label),
        windows=1,
        steady=True,
        state=LabelState.LABELLED if label else LabelState.UNREVIEWED,
        stratum=stratum,
        position=number if drawn else None,
    )


def readings(
    kind: DesignKind, *, every: int = 3, strata: tuple[str, ...] = (), labelled: bool = True
) -> RunUnits:
    """A run of 80 claims, of which every so manieth was drawn and labelled."""
    claims = tuple(
        claim(
            number,
            label=labelled and not number % every,
            drawn=not number % every,
            stratum=strata[number % len(strata)] if strata else None,
        )
        for number in range(80)
    )
    design = LabelDesign(
        kind,
        80,
        strata=tuple(StratumCounts(name, 40, 20, 20, 0) for name in strata or ("",)),
        sample=SampleId(1),
        random_prefix=True,
        conversations=40,
    )
    scores = tuple(
        UnitScores(ScoredUnit.CONVERSATION, f"chat {n}", f"group {n // 2}", None, 1.0, 1.0, 2, 2)
        for n in range(40)
    )
    return RunUnits(claims, (), scores, design)


def test_every_reading_is_in_one_part() -> None:
    whole = readings(DesignKind.SIMPLE)
    parts = [select_split_units(whole, RULE, split) for split in SPLITS]
    assert sorted(each.claim for part in parts for each in part.claims) == list(range(80))
    assert sum(len(part.scores) for part in parts) == 40
    for part, split in zip(parts, SPLITS, strict=True):
        groups = [each.group for each in part.claims] + [each.group for each in part.scores]
        assert {RULE.get_split_of_group(group) for group in groups} == {split}


def test_a_simple_sample_of_the_run_is_one_of_each_part() -> None:
    whole = readings(DesignKind.SIMPLE)
    extra = whole.claims[1]._replace(human="yes", state=LabelState.LABELLED)
    whole = replace(whole, claims=(whole.claims[0], extra, *whole.claims[2:]))
    parts = [select_split_units(whole, RULE, split) for split in SPLITS]
    for part in parts:
        design, claims = part.design, part.claims
        assert (design.kind, design.sample) == (DesignKind.SIMPLE, 1)
        assert (design.frame_units, design.random_prefix) == (len(claims), True)
        assert design.conversations == len({each.conversation for each in claims})
        drawn = sum(each.position is not None for each in claims)
        assert design.strata == (StratumCounts("", len(claims), drawn, drawn, 0),)
    assert sum(part.design.outside for part in parts) == 1


def test_strata_are_counted_anew_where_every_claim_has_one() -> None:
    part = select_split_units(readings(DesignKind.STRATIFIED, strata=("a", "b")), RULE, Split.DEV)
    assert part.design.kind is DesignKind.STRATIFIED
    for stratum in part.design.strata:
        of_it = [each for each in part.claims if each.stratum == stratum.name]
        labelled = sum(each.state is LabelState.LABELLED for each in of_it)
        assert (stratum.population, stratum.labelled) == (len(of_it), labelled)


@pytest.mark.parametrize(
    ("kind", "strata"), [(DesignKind.STRATIFIED, ()), (DesignKind.CLUSTER, ("",))]
)
def test_a_sample_that_says_too_little_of_a_part_counts_as_none(
    kind: DesignKind, strata: tuple[str, ...]
) -> None:
    part = select_split_units(readings(kind, strata=strata), RULE, Split.TRAIN)
    assert (part.design.kind, part.design.sample) == (DesignKind.CONVENIENCE, None)


def test_a_part_may_be_labelled_whole_or_not_at_all() -> None:
    all_of_it = select_split_units(readings(DesignKind.SIMPLE, every=1), RULE, Split.DEV)
    assert (all_of_it.design.kind, all_of_it.design.strata) == (DesignKind.CENSUS, ())
    nothing = select_split_units(readings(DesignKind.SIMPLE, labelled=False), RULE, Split.DEV)
    assert nothing.design.kind is DesignKind.NONE


def test_answers_without_a_rating_go_with_their_group() -> None:
    unrated = tuple(
        UnratedAnswer(ConversationId(n), f"group {n // 2}", passes=True) for n in range(40)
    )
    whole = replace(readings(DesignKind.CONVENIENCE), unrated=unrated)
    parts = [select_split_units(whole, RULE, split).unrated for split in SPLITS]
    assert sorted(each for part in parts for each in part) == sorted(unrated)
    assert all(parts)


def test_ratings_that_came_with_the_data_are_a_census_of_no_part() -> None:
    whole = readings(DesignKind.CONVENIENCE, every=1)
    rated = replace(whole, design=replace(whole.design, rated=True))
    for found, kind in ((whole, DesignKind.CENSUS), (rated, DesignKind.CONVENIENCE)):
        assert select_split_units(found, RULE, Split.DEV).design.kind is kind
