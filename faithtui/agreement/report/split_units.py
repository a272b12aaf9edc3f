"""Readings of one part of the conversations, with what their labels allow to be said of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    RunUnits,
    StratumCounts,
)
from faithtui.agreement.sampling.label_designs import find_label_design
from faithtui.domain.split_rule import Split, SplitRule


def select_split_units(readings: RunUnits, rule: SplitRule, split: Split) -> RunUnits:
    """Keep what is of conversations in one part; groups are in one part as a whole.

    The labels were chosen for the run. What is drawn at random from the run is drawn at random
    from a part of it, which groups alone decide; so a simple sample stays one, and so does one by
    strata where the stratum of every claim is known. Whole conversations that were drawn, strata
    that are not known, and parts of a population that is not in the store count as labels that
    nobody drew.
    """

    def is_within(group: str) -> bool:
        return rule.get_split_of_group(group) is split

    claims = tuple(each for each in readings.claims if is_within(each.group))
    return replace(
        readings,
        claims=claims,
        answers=tuple(each for each in readings.answers if is_within(each.group)),
        scores=tuple(each for each in readings.scores if is_within(each.group)),
        design=_restrict_design_to_split(claims, readings.design),
        unrated=tuple(each for each in readings.unrated if is_within(each.group)),
    )


def _restrict_design_to_split(claims: Sequence[ClaimUnit], whole: LabelDesign) -> LabelDesign:
    undrawn = find_label_design(claims, None, rated=whole.rated)
    if whole.population is not None:
        # How much of it is of this part was not counted; what is drawn of it is no census.
        is_labelled = undrawn.kind is not DesignKind.NONE
        return replace(undrawn, kind=DesignKind.CONVENIENCE) if is_labelled else undrawn
    match whole.kind:
        case DesignKind.SIMPLE:
            (stratum,) = whole.strata
            strata = tuple(_count_claims_by_stratum([(each, stratum.name) for each in claims]))
        case DesignKind.STRATIFIED if all(each.stratum is not None for each in claims):
            strata = tuple(_count_claims_by_stratum([(each, str(each.stratum)) for each in claims]))
        case _:
            return undrawn
    if undrawn.kind in (DesignKind.NONE, DesignKind.CENSUS):
        return undrawn
    return replace(
        whole,
        frame_units=len(claims),
        strata=strata,
        outside=sum(each.position is None and each.state is LabelState.LABELLED for each in claims),
        in_view=sum(
            each.position is not None and not each.audit and each.state is LabelState.IN_VIEW
            for each in claims
        ),
        conversations=undrawn.conversations,
    )


def _count_claims_by_stratum(claims: Sequence[tuple[ClaimUnit, str]]) -> Iterator[StratumCounts]:
    """Count claims, each with the name of its stratum."""
    populations = Counter(name for _, name in claims)
    drawn = Counter((name, each.state) for each, name in claims if each.position is not None)
    for name, population in sorted(populations.items()):
        yield StratumCounts(
            name,
            population,
            drawn=sum(drawn[name, state] for state in LabelState),
            labelled=drawn[name, LabelState.LABELLED],
            skipped=drawn[name, LabelState.SKIPPED],
        )
