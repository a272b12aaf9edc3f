"""How the labelled claims of a run were chosen, and so what they allow to be said of the rest.

Pure. What is labelled counts, whoever labelled it: a sample is judged by its claims alone.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    StratumCounts,
)
from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import CONVERSATIONS, FrameUnit, SamplingDesign, Stratum
from faithtui.domain.ids import ClaimId, ClaimSetId, ItemId, RunId, SampleId

_KINDS = {
    SamplingDesign.SIMPLE: DesignKind.SIMPLE,
    SamplingDesign.STRATIFIED: DesignKind.STRATIFIED,
    SamplingDesign.CONVERSATIONS: DesignKind.CLUSTER,
}

_FOLLOWS_DRAW: Final = 3.5
"""Standard deviations between how many drawn claims a run judged and how many it would have, had it
not looked at the draw, from which on it did. By luck alone: one run in 2,000."""

_LABELLED_TO_PASSED_OVER: Final = 4
"""Labelled claims to one that was passed over, from which on nobody is taken to have chosen. Two
are enough for the first one, as somebody who forgot a claim has chosen none."""

_CHOSEN_OF_STRATUM: Final = 4
"""Labels of a stratum that may be out of its order, or claims of it that may be skipped, whatever
else was done with it."""


@dataclass(frozen=True, slots=True)
class SampledClaim:
    """A claim of a sample."""

    claim: ClaimId
    item: ItemId
    """The conversation of the run that it is in."""
    stratum: str
    shown: bool = False
    """Drawn to be served with the judge's verdict in view."""


@dataclass(frozen=True, slots=True)
class LabelledSample:
    """A sample that labels may rest on."""

    id: SampleId | None
    """None: it is that of a claim set."""
    name: str
    seed: int
    design: SamplingDesign
    frame: int
    """Claims it was drawn from."""
    stratified_by: tuple[str, ...]
    """What strata were made of; () where there were none."""
    strata: tuple[Stratum, ...]
    """With `CONVERSATIONS` one, which counts conversations."""
    claims: tuple[SampledClaim, ...]
    """In the drawn order."""
    drawn_in: RunId | None = None
    """The run it was drawn from; None: the one whose labels are looked at, or none."""
    claim_set: ClaimSetId | None = None
    """The version of a claim set that it is."""
    unjudged: int = 0
    """Of the claims it was drawn from, those that the run at hand did not judge."""
    beyond: int = 0
    """Claims that the run at hand judged, and that it was not drawn from."""
    follows_draw: bool = False
    """The run at hand judged claims because they were drawn, or passed them over: what it judged of
    the sample does not stand for what it judged."""
    drawing: tuple[Stratum, ...] = ()
    """With `follows_draw`, where the run judged all that was drawn: the strata of the drawing. They
    say what a labelled claim stands for, whoever judges it."""
    population: Population | None = None
    """What it was drawn from where only drawn conversations are in the store."""

    def map_claims_to_strata_and_positions(self) -> dict[ClaimId, tuple[str, int]]:
        """Say of which stratum each claim is, and where it stands in the drawn order, from 0."""
        return {each.claim: (each.stratum, place) for place, each in enumerate(self.claims)}


def restrict_sample_to_run(
    sample: LabelledSample, frame: Iterable[FrameUnit], judged: Collection[ClaimId]
) -> LabelledSample:
    """Take the part of a sample that another run judged.

    What is drawn at random from a frame is drawn at random from each part of it that does not
    depend on the draw, with the strata of the drawing. Of a part that does, as where only drawn
    claims were judged, nothing is known: `follows_draw`.

    Args:
        sample: As it was drawn.
        frame: What it was drawn from.
        judged: Claims of the other run.
    """
    everything = list(frame)
    inside = [each for each in everything if each.claim in judged]
    claims = tuple(each for each in sample.claims if each.claim in judged)
    by_conversation = sample.design is SamplingDesign.CONVERSATIONS
    populations = _count_units_by_stratum(inside, by_conversation=by_conversation)
    drawn = _count_units_by_stratum(claims, by_conversation=by_conversation)
    follows_draw = _was_judged_because_drawn(
        _count_units_by_stratum(everything, by_conversation=by_conversation),
        _count_units_by_stratum(sample.claims, by_conversation=by_conversation),
        populations,
        sum(drawn.values()),
    )
    return replace(
        sample,
        drawing=sample.strata if follows_draw and len(claims) == len(sample.claims) else (),
        frame=len(inside),
        strata=tuple(
            Stratum(each.name, populations[each.name], drawn[each.name])
            for each in sample.strata
            if populations[each.name]
        ),
        claims=claims,
        unjudged=sample.frame - len(inside),
        beyond=len(judged) - len(inside),
        follows_draw=follows_draw,
    )


def _count_units_by_stratum(
    units: Iterable[FrameUnit | SampledClaim], *, by_conversation: bool
) -> Counter[str]:
    """Count what can be drawn, or was, by stratum: claims, or conversations."""
    if by_conversation:
        return Counter({CONVERSATIONS: len({each.item for each in units})})
    return Counter(each.stratum for each in units)


def _was_judged_because_drawn(
    populations: Mapping[str, int], drawn: Mapping[str, int], judged: Mapping[str, int], seen: int
) -> bool:
    """Say whether a run judged more, or fewer, of the drawn than the others let expect.

    Args:
        populations: By stratum, what could be drawn.
        drawn: What was.
        judged: What the run judged, drawn or not.
        seen: How much of what was drawn it judged, of all strata.
    """
    expected = variance = 0.0
    for name, size in populations.items():
        if size < 2:
            expected += drawn.get(name, 0) * judged.get(name, 0)
            continue
        share, number = judged.get(name, 0) / size, drawn.get(name, 0)
        expected += number * share
        variance += number * share * (1 - share) * (size - number) / (size - 1)
    # Half a unit, as counts are whole: few labels must not be taken for a choice.
    return abs(seen - expected) - 0.5 > _FOLLOWS_DRAW * math.sqrt(variance)


def find_label_design(
    claims: Sequence[ClaimUnit],
    sample: LabelledSample | None,
    *,
    rated: bool = False,
) -> LabelDesign:
    """Say how the labelled claims of a run were chosen.

    Args:
        claims: All claims of the run.
        sample: The sample to rest on, unless every claim is labelled; None: none is to be had.
        rated: They are whole answers, and ratings came with the data, see `LabelDesign.rated`.
    """
    labelled = [each for each in claims if each.state is LabelState.LABELLED]
    kind = _choose_design_kind(claims, labelled, sample, rated=rated)
    conversations = _count_conversations(claims, sample)
    if sample is None:
        return LabelDesign(kind, len(claims), conversations=conversations, rated=rated)
    by_hand = LabelDesign(
        DesignKind.CONVENIENCE,
        len(claims),
        name=sample.name,
        conversations=conversations,
        rated=rated,
        drawn_in=sample.drawn_in,
        claim_set=sample.claim_set,
        unjudged=sample.unjudged,
        beyond=sample.beyond,
    )
    states = {each.claim: each.state for each in claims}
    if sample.follows_draw and labelled:
        by_hand = replace(by_hand, follows_draw=True)
        if not sample.drawing:
            return by_hand
        whole = replace(sample, frame=sample.frame + sample.unjudged, strata=sample.drawing)
        found = _make_design_of_sample(_KINDS[sample.design], claims, whole, rated=False)
        if was_draw_followed(whole, states):
            return replace(by_hand, as_drawn=replace(found, follows_draw=True))
        return replace(by_hand, passed_over=_count_passed_over_or_skipped(found))
    if kind is DesignKind.CENSUS:
        return LabelDesign(
            kind,
            len(claims),
            name=sample.name if sample.claim_set is not None else "",
            conversations=conversations,
            rated=rated,
            claim_set=sample.claim_set,
            unjudged=sample.unjudged,
            beyond=sample.beyond,
        )
    found = _make_design_of_sample(kind, claims, sample, rated=rated)
    if not labelled or was_draw_followed(sample, states):
        return found
    return replace(by_hand, passed_over=_count_passed_over_or_skipped(found))


def _count_passed_over_or_skipped(design: LabelDesign) -> int:
    return design.passed_over + sum(each.skipped for each in design.strata)


def was_draw_followed(
    sample: LabelledSample,
    states: Mapping[ClaimId, LabelState],
) -> bool:
    """Say whether the draw, and not those who labelled, chose most of what is labelled.

    What is labelled before the first gap is a random sample, whatever was labelled before the draw.
    Somebody chose the rest if it is more than half as much, and if more than a quarter of what is
    labelled was passed over before it: a few gaps, or one label out of order, are no choice. In a
    sample by strata each claim counts as often as a labelled one of its stratum stands for others,
    as it does in the figures, and each stratum is asked by itself too, where more than four labels
    are out of its order. In a sample of conversations an eighth of the claims may be passed over,
    and the same is asked of conversations; one of whose claims few are passed over is whole. More
    may be skipped than labelled only while it is few beside all answers, those in view among them;
    four may be in a stratum. Of a stratum without a label nothing is asked:
    `LabelDesign.unlabelled_strata` withholds the figures there.

    Args:
        sample: What was drawn. What is shown with the judge's verdict is left out.
        states: How its claims stand; those that are not there are still to do.
    """
    drawn = [
        (each, states.get(each.claim, LabelState.UNREVIEWED))
        for each in sample.claims
        if not each.shown
    ]
    answered = Counter(
        each.stratum for each, state in drawn if state in (LabelState.LABELLED, LabelState.IN_VIEW)
    )
    """What has a label, also one that does not count."""
    # It was served, and nobody passed it over.
    drawn = [(each, state) for each, state in drawn if state is not LabelState.IN_VIEW]
    labelled = Counter(each.stratum for each, state in drawn if state is LabelState.LABELLED)
    skipped = Counter(each.stratum for each, state in drawn if state is LabelState.SKIPPED)
    shares = _compute_stratum_weights(sample, answered)
    if _are_many_skipped(
        _sum_weighted(skipped, shares),
        _sum_weighted(labelled, shares),
        _sum_weighted(answered, shares),
    ):
        return False
    weights = _compute_stratum_weights(sample, labelled)
    before, after = _count_labelled_around_gap(drawn, sample.design)
    passed_over = _count_unlabelled_before_served_claims(drawn)
    if sample.design is SamplingDesign.STRATIFIED and any(
        (
            skipped[name] > _CHOSEN_OF_STRATUM
            and _are_many_skipped(skipped[name], count, answered[name])
        )
        or (
            after[name] > _CHOSEN_OF_STRATUM
            and not _are_few(passed_over[name], count)
            and 2 * after[name] > before[name]
        )
        for name, count in labelled.items()
    ):
        return False
    are_few_passed_over = _are_few(
        _sum_weighted(passed_over, weights), _sum_weighted(labelled, weights)
    )
    if sample.design is SamplingDesign.CONVERSATIONS:
        # Some claims of each conversation are as much a choice as one conversation of many. One of
        # each that nobody labels can be every claim that the judge gets wrong.
        are_few_passed_over = _are_few(2 * passed_over.total(), labelled.total())
        whole = _list_conversation_states(drawn, with_few_gaps=True)
        finished = len(whole) - whole.count(LabelState.UNREVIEWED)
        unfinished = _count_unfinished_before_begun_conversations(drawn, whole)
        are_few_passed_over = are_few_passed_over and _are_few(unfinished, finished)
    return are_few_passed_over or 2 * _sum_weighted(after, weights) <= _sum_weighted(
        before, weights
    )


def list_served_claims(
    sample: LabelledSample, states: Mapping[ClaimId, LabelState]
) -> frozenset[ClaimId]:
    """List the claims of the drawn conversations that annotators have come to.

    They are the longest start of the drawn order in which few conversations are unfinished, and the
    next conversation where something of it is labelled: a random sample of conversations, whatever
    is labelled behind them.

    Args:
        sample: Conversations that were drawn.
        states: How their claims stand; those that are not there are still to do.
    """
    drawn: list[tuple[SampledClaim, LabelState]] = []
    for each in sample.claims:
        state = states.get(each.claim, LabelState.UNREVIEWED)
        # It was served, and whoever labelled it has come to it.
        drawn.append((each, LabelState.SKIPPED if state is LabelState.IN_VIEW else state))
    progress = _list_conversation_states(drawn, with_few_gaps=True)
    end = unfinished = 0
    for place, state in enumerate(progress, start=1):
        if state is LabelState.UNREVIEWED:
            unfinished += 1
        elif _are_few(unfinished, place - unfinished):
            end = place
    order = list(dict.fromkeys(each.item for each, _ in drawn))
    begun = {each.item for each, state in drawn if state is LabelState.LABELLED}
    served = {*order[:end], *begun.intersection(order[end : end + 1])}
    return frozenset(each.claim for each, _ in drawn if each.item in served)


def _are_few(passed_over: Fraction | int, labelled: Fraction | int) -> bool:
    return passed_over * _LABELLED_TO_PASSED_OVER <= labelled + 2


def _are_many_skipped(
    skipped: Fraction | int, labelled: Fraction | int, answered: Fraction | int
) -> bool:
    return skipped > labelled and not _are_few(skipped, answered)


def _compute_stratum_weights(
    sample: LabelledSample, labelled: Mapping[str, int]
) -> Mapping[str, Fraction]:
    """Compute how many claims a labelled one stands for; {} where each stands for as many."""
    if sample.design is not SamplingDesign.STRATIFIED:
        return {}
    return {
        each.name: Fraction(each.population, labelled[each.name])
        for each in sample.strata
        if labelled.get(each.name)
    }


def _sum_weighted(counts: Mapping[str, int], weights: Mapping[str, Fraction]) -> Fraction:
    """Sum counts by stratum, each as often as a labelled claim of it stands for others."""
    return Fraction(sum(count * weights.get(name, 1) for name, count in counts.items()))


def _count_labelled_around_gap(
    drawn: Sequence[tuple[SampledClaim, LabelState]], design: SamplingDesign
) -> tuple[Counter[str], Counter[str]]:
    """Count by stratum what is labelled before its first gap, and after it.

    A gap is a claim, or a conversation, of which something is neither labelled nor skipped.
    """
    states: dict[tuple[str, ItemId | ClaimId], set[LabelState]] = {}
    for each, state in drawn:
        unit = each.item if design is SamplingDesign.CONVERSATIONS else each.claim
        states.setdefault((each.stratum, unit), set()).add(state)
    with_gap = set[str]()
    before, after = Counter[str](), Counter[str]()
    for (stratum, _), found in states.items():
        if stratum in with_gap:
            after[stratum] += LabelState.LABELLED in found
        elif found - {LabelState.LABELLED, LabelState.SKIPPED}:
            with_gap.add(stratum)
        else:
            before[stratum] += LabelState.LABELLED in found
    return before, after


def _list_drawn_claims_with_states(
    claims: Sequence[ClaimUnit], sample: LabelledSample
) -> list[tuple[SampledClaim, LabelState]]:
    known = {each.claim: each.state for each in claims}
    return [(each, known.get(each.claim, LabelState.UNREVIEWED)) for each in sample.claims]


def _count_conversations(claims: Sequence[ClaimUnit], sample: LabelledSample | None) -> int:
    if sample is not None and sample.population is not None:
        return sample.population.judged
    return len({each.conversation for each in claims})


def _make_design_of_sample(
    kind: DesignKind, claims: Sequence[ClaimUnit], sample: LabelledSample, *, rated: bool
) -> LabelDesign:
    drawn = _list_drawn_claims_with_states(claims, sample)
    is_of_conversations = sample.design is SamplingDesign.CONVERSATIONS
    inside = {each.claim for each in sample.claims}
    # What is shown with the judge's verdict is in no figure: nobody has to have labelled it.
    blind = [(each, state) for each, state in drawn if not each.shown]
    # What is labelled in view was served, and nobody passed it over.
    asked = [(each, state) for each, state in blind if state is not LabelState.IN_VIEW]
    passed_over = (
        _count_unfinished_before_begun_conversations(asked, _list_conversation_states(asked))
        if is_of_conversations
        else _count_unlabelled_before_served_claims(asked).total()
    )
    is_broken = _has_served_after_unfinished(asked) if is_of_conversations else passed_over > 0
    return LabelDesign(
        kind,
        sample.frame,
        strata=_count_labels_by_stratum(sample, drawn),
        sample=sample.id,
        name=sample.name,
        seed=sample.seed,
        random_prefix=not is_broken,
        passed_over=passed_over,
        in_view=len(blind) - len(asked),
        outside=sum(
            each.state is LabelState.LABELLED and each.claim not in inside for each in claims
        ),
        conversations=sample.strata[0].population
        if is_of_conversations
        else _count_conversations(claims, sample),
        drawn_conversations=_count_labelled_conversations(asked) if is_of_conversations else 0,
        rated=rated,
        drawn_in=sample.drawn_in,
        claim_set=sample.claim_set,
        unjudged=sample.unjudged,
        beyond=sample.beyond,
        population=sample.population,
    )


def _choose_design_kind(
    claims: Sequence[ClaimUnit],
    labelled: Sequence[ClaimUnit],
    sample: LabelledSample | None,
    *,
    rated: bool,
) -> DesignKind:
    if not labelled:
        return DesignKind.NONE
    of_population = sample is not None and sample.population is not None
    is_whole = len(labelled) == len(claims) and not of_population
    if is_whole and not rated and not is_census_with_unblinded_claims(len(claims), sample):
        return DesignKind.CENSUS
    if sample is not None:
        return _KINDS[sample.design]
    if all(each.human != each.judge for each in labelled):
        return DesignKind.OVERRIDE_ONLY
    return DesignKind.CONVENIENCE


def is_census_with_unblinded_claims(claims: int, sample: LabelledSample | None) -> bool:
    """Say whether every claim was drawn, and some to be labelled with the judge in view.

    Such labels are in no figure, so that the others are a sample and no census.

    Args:
        claims: How many the run has.
        sample: The sample to rest on.
    """
    if sample is None or len(sample.claims) < claims:
        return False
    return any(each.shown for each in sample.claims)


def _count_labels_by_stratum(
    sample: LabelledSample, drawn: Sequence[tuple[SampledClaim, LabelState]]
) -> tuple[StratumCounts, ...]:
    counts: Counter[tuple[str, LabelState]] = Counter()
    for each, state in drawn:
        counts[each.stratum, state] += 1
    populations = {each.name: each.population for each in sample.strata}
    if sample.design is SamplingDesign.CONVERSATIONS:
        populations = {CONVERSATIONS: sample.frame}
    return tuple(
        StratumCounts(
            name,
            population,
            drawn=sum(counts[name, state] for state in LabelState),
            labelled=counts[name, LabelState.LABELLED],
            skipped=counts[name, LabelState.SKIPPED],
        )
        for name, population in populations.items()
    )


def _list_conversation_states(
    drawn: Sequence[tuple[SampledClaim, LabelState]], *, with_few_gaps: bool = False
) -> list[LabelState]:
    """Say how far annotators are with each conversation, in the drawn order.

    Args:
        drawn: Claims, conversation by conversation.
        with_few_gaps: Take one for finished of whose claims few were forgotten.

    Returns:
        `LABELLED` when all its claims are, `SKIPPED` when the others are skipped, and
        `UNREVIEWED` when anything is left to do.
    """
    found: dict[ItemId, Counter[LabelState]] = {}
    for each, state in drawn:
        found.setdefault(each.item, Counter())[state] += 1
    return [
        LabelState.UNREVIEWED
        if (gaps := states.total() - states[LabelState.LABELLED] - states[LabelState.SKIPPED])
        and not (with_few_gaps and _are_few(gaps, states[LabelState.LABELLED]))
        else LabelState.SKIPPED
        if LabelState.SKIPPED in states
        else LabelState.LABELLED
        for states in found.values()
    ]


def _count_labelled_conversations(drawn: Sequence[tuple[SampledClaim, LabelState]]) -> int:
    """Count the conversations with a label of whose claims at most a few are still to do."""
    states = _list_conversation_states(drawn, with_few_gaps=True)
    items = dict.fromkeys(each.item for each, _ in drawn)
    labelled = {each.item for each, state in drawn if state is LabelState.LABELLED}
    return sum(
        item in labelled and state is not LabelState.UNREVIEWED
        for item, state in zip(items, states, strict=True)
    )


def _has_served_after_unfinished(drawn: Sequence[tuple[SampledClaim, LabelState]]) -> bool:
    """Say whether anything is served after a conversation of which something is still to do."""
    waiting: ItemId | None = None
    for each, state in drawn:
        if state not in (LabelState.LABELLED, LabelState.SKIPPED):
            waiting = waiting or each.item
        elif waiting not in (None, each.item):
            return True
    return False


def _count_unlabelled_before_served_claims(
    drawn: Sequence[tuple[SampledClaim, LabelState]],
) -> Counter[str]:
    """Count by stratum what is still to do before something that is labelled or skipped."""
    waiting: Counter[str] = Counter()
    passed_over: Counter[str] = Counter()
    for each, state in drawn:
        if state in (LabelState.LABELLED, LabelState.SKIPPED):
            passed_over[each.stratum] = waiting[each.stratum]
        else:
            waiting[each.stratum] += 1
    return passed_over


def _count_unfinished_before_begun_conversations(
    drawn: Sequence[tuple[SampledClaim, LabelState]], states: Sequence[LabelState]
) -> int:
    """Count what is not finished before the last conversation of which something is labelled.

    Args:
        drawn: Claims, conversation by conversation.
        states: Of the conversations, in the same order.
    """
    begun = {each.item for each, state in drawn if state is LabelState.LABELLED}
    order = list(dict.fromkeys(each.item for each, _ in drawn))
    last = max((place for place, item in enumerate(order) if item in begun), default=0)
    return sum(state is LabelState.UNREVIEWED for state in states[:last])
