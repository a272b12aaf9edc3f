"""Drawing claims for annotators to look at, so that their labels stand for the rest.

A draw is a seeded permutation of each stratum, so it can be repeated, and a longer draw with the
same seed begins with the shorter one: a sample may be extended, and stopping early is harmless as
long as it was served in the drawn order. Probabilities of inclusion are kept with every claim.

Source: Cochran, Sampling Techniques (1977), chapters 2, 5 and 9.
"""

import random
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import overload

from faithtui.domain.ids import ClaimId, ItemId


class SamplingDesign(StrEnum):
    """How a sample is drawn."""

    SIMPLE = "simple"
    """Every claim has the same chance."""
    STRATIFIED = "stratified"
    """A number of claims from each stratum, drawn at random inside it."""
    CONVERSATIONS = "conversations"
    """Whole conversations at random, with all their claims."""


class SampleKind(StrEnum):
    """What a sample is for."""

    SAMPLE = "sample"
    SPOT_CHECK = "spot-check"
    """A small fixed session with a decision at its end."""
    REPEAT = "repeat"
    """One's own labelled claims once more, to measure self-agreement."""


@dataclass(frozen=True, slots=True)
class FrameUnit:
    """A claim that can be drawn."""

    item: ItemId
    claim: ClaimId
    stratum: str = ""
    """Of what the strata are made of; "" where there are none."""


class SamplingFrame(Sequence[FrameUnit]):
    """All claims that can be drawn, each once, in the order of the run and of the text.

    Numbers in arrays, 20 bytes a claim: a run may have millions.

    Args:
        units: Conversation of the run, claim and stratum of each claim.
    """

    __slots__ = ("_claims", "_codes", "_items", "_names")

    def __init__(self, units: Iterable[tuple[ItemId, ClaimId, str]] = ()) -> None:
        self._items, self._claims, self._codes = array("q"), array("q"), array("I")
        codes: dict[str, int] = {}
        for item, claim, stratum in units:
            self._items.append(item)
            self._claims.append(claim)
            self._codes.append(codes.setdefault(stratum, len(codes)))
        self._names = tuple(codes)

    @classmethod
    def from_columns(
        cls, parts: Iterable[tuple[Sequence[ItemId], Sequence[ClaimId], Sequence[str]]]
    ) -> "SamplingFrame":
        """Make a frame of conversations, claims and strata, many at a time.

        Several times as fast as one by one, which counts where there are a million.
        """
        frame = cls()
        codes: dict[str, int] = {}
        for items, claims, strata in parts:
            for name in dict.fromkeys(strata):
                codes.setdefault(name, len(codes))
            frame._items.extend(items)
            frame._claims.extend(claims)
            frame._codes.extend(map(codes.__getitem__, strata))
        frame._names = tuple(codes)
        return frame

    @classmethod
    def from_units(cls, units: Sequence[FrameUnit]) -> "SamplingFrame":
        """Make a frame of units; of a frame, itself."""
        if isinstance(units, SamplingFrame):
            return units
        return cls((each.item, each.claim, each.stratum) for each in units)

    def __len__(self) -> int:
        """Count the claims."""
        return len(self._claims)

    @overload
    def __getitem__(self, index: int) -> FrameUnit: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[FrameUnit, ...]: ...

    def __getitem__(self, index: int | slice) -> FrameUnit | tuple[FrameUnit, ...]:
        """Give a claim, or several."""
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        return FrameUnit(
            ItemId(self._items[index]),
            ClaimId(self._claims[index]),
            self._names[self._codes[index]],
        )

    @property
    def claim_counts_by_stratum(self) -> dict[str, int]:
        """Claims of each stratum, by name."""
        counts = [0] * len(self._names)
        for code in self._codes:
            counts[code] += 1
        return dict(sorted(zip(self._names, counts, strict=True)))

    @property
    def conversation_count(self) -> int:
        """Conversations that have claims."""
        return len(set(self._items))

    def count_claims_by_conversation_and_stratum(self) -> Counter[tuple[ItemId, str]]:
        """Count the claims of each conversation and stratum."""
        counts = Counter(zip(self._items, self._codes, strict=True))
        return Counter(
            {(ItemId(item), self._names[code]): count for (item, code), count in counts.items()}
        )

    def count_claims_by_both_strata(self, other: "SamplingFrame") -> Counter[tuple[str, str]]:
        """Count claims by their stratum here and in a frame of the same claims in this order."""
        counts = Counter(zip(self._codes, other._codes, strict=True))
        return Counter(
            {(self._names[own], other._names[its]): count for (own, its), count in counts.items()}
        )

    def map_claims_to_strata(self, claims: Collection[ClaimId]) -> dict[ClaimId, str]:
        """Say of which stratum some claims are."""
        return {
            ClaimId(claim): self._names[code]
            for claim, code in zip(self._claims, self._codes, strict=True)
            if claim in claims
        }

    def group_positions_by_stratum(self) -> "dict[str, array[int]]":
        """Say where the claims of each stratum stand."""
        found = [array("I") for _ in self._names]
        for place, code in enumerate(self._codes):
            found[code].append(place)
        return dict(sorted(zip(self._names, found, strict=True)))

    def group_positions_by_conversation(self) -> "dict[ItemId, array[int]]":
        """Say where the claims of each conversation stand."""
        found: dict[ItemId, array[int]] = {}
        for place, number in enumerate(self._items):
            found.setdefault(ItemId(number), array("I")).append(place)
        return found


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How many to draw, from where, and in which order."""

    design: SamplingDesign
    seed: int
    size: int = 0
    """Claims, or conversations with `CONVERSATIONS`; more than there are means all. With strata:
    shared out by `sizes`, else equally."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Claims per stratum; strata that are not named get none. {}: `size` in equal parts."""
    shown_share: float = 0.0
    """Share of claims that are served with the judge's verdict in view, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """What was drawn of what."""

    name: str
    population: int
    drawn: int

    @property
    def draw_probability(self) -> float:
        """Chance of a claim of it to be drawn, in [0, 1]; 0 where there is none."""
        return self.drawn / self.population if self.population else 0.0


@dataclass(frozen=True, slots=True)
class ClaimDraw:
    """A claim of a sample."""

    unit: FrameUnit
    stratum: str
    probability: float
    """In (0, 1]."""
    shown: bool
    """Served with the judge's verdict in view."""


@dataclass(frozen=True, slots=True)
class SampleDraw:
    """A sample."""

    claims: tuple[ClaimDraw, ...]
    """In the order in which they are served."""
    strata: tuple[Stratum, ...]
    """With `CONVERSATIONS` one, which counts conversations."""
    frame: int
    """Claims it was drawn from."""


CONVERSATIONS = "conversations"
"""Name of the one stratum of a sample of whole conversations."""


def allocate_sample_to_strata(populations: Mapping[str, int], plan: SamplePlan) -> dict[str, int]:
    """Share a sample out among strata.

    Args:
        populations: Claims of each stratum.
        plan: `sizes` where given, else `size` in equal parts; what a small stratum cannot give
            goes to the others.

    Returns:
        How many to draw from each stratum, never more than there are.
    """
    if plan.sizes:
        return {
            name: min(max(0, plan.sizes.get(name, 0)), count) for name, count in populations.items()
        }
    left, given = min(plan.size, sum(populations.values())), dict.fromkeys(populations, 0)
    while left > 0:
        roomy = sorted(name for name, count in populations.items() if given[name] < count)
        part = max(1, left // len(roomy))
        for name in roomy[:left]:
            more = min(part, populations[name] - given[name], left)
            given[name] += more
            left -= more
    return given


def preview_draws_per_stratum(frame: SamplingFrame, plan: SamplePlan) -> tuple[Stratum, ...]:
    """Say what a plan would draw of which stratum of `make_sample_draw`, without drawing."""
    match plan.design:
        case SamplingDesign.SIMPLE:
            return (Stratum("", len(frame), max(0, min(plan.size, len(frame)))),)
        case SamplingDesign.STRATIFIED:
            populations = frame.claim_counts_by_stratum
            sizes = allocate_sample_to_strata(populations, plan)
            return tuple(Stratum(name, populations[name], sizes[name]) for name in populations)
        case SamplingDesign.CONVERSATIONS:
            population = frame.conversation_count
            return (Stratum(CONVERSATIONS, population, max(0, min(plan.size, population))),)


def enlarge_plan(plan: SamplePlan, strata: Sequence[Stratum], more: int) -> SamplePlan:
    """Plan to draw more of a sample that was drawn.

    Args:
        plan: Its design, seed and share shown; its sizes are not read.
        strata: What was drawn of what.
        more: Claims, or conversations; shared out equally among strata that have any left.

    Returns:
        A plan whose draw contains the sample, as long as the frame is the same.
    """
    if plan.design is not SamplingDesign.STRATIFIED:
        size = sum(each.drawn for each in strata) + more
        return SamplePlan(plan.design, plan.seed, size, shown_share=plan.shown_share)
    rest = {each.name: each.population - each.drawn for each in strata}
    added = allocate_sample_to_strata(rest, SamplePlan(plan.design, plan.seed, more))
    sizes = {each.name: each.drawn + added[each.name] for each in strata}
    return SamplePlan(plan.design, plan.seed, sizes=sizes, shown_share=plan.shown_share)


def make_sample_draw(units: Sequence[FrameUnit], plan: SamplePlan) -> SampleDraw:
    """Draw a sample.

    Args:
        units: All claims that can be drawn, each once, as a `SamplingFrame` or not; the order is
            that of the text.
        plan: What to draw.

    Returns:
        The claims in the order to serve them. The same frame, design and seed give the same order,
        and a larger size continues it inside each stratum.
    """
    frame = SamplingFrame.from_units(units)
    strata = preview_draws_per_stratum(frame, plan)
    match plan.design:
        case SamplingDesign.CONVERSATIONS:
            by_item = frame.group_positions_by_conversation()
            items = list(by_item)
            chosen = _draw_random_positions(len(items), strata[0].drawn, plan.seed, CONVERSATIONS)
            order = [(strata[0], place) for number in chosen for place in by_item[items[number]]]
        case SamplingDesign.SIMPLE:
            order = list(_draw_strata_interleaved({"": range(len(frame))}, strata, plan.seed))
        case SamplingDesign.STRATIFIED:
            order = list(
                _draw_strata_interleaved(frame.group_positions_by_stratum(), strata, plan.seed)
            )
    shown = {
        each.name: iterate_whether_judge_is_shown(plan.seed, each.name, plan.shown_share)
        for each in strata
    }
    return SampleDraw(
        tuple(
            ClaimDraw(frame[place], each.name, each.draw_probability, next(shown[each.name]))
            for each, place in order
        ),
        strata,
        len(frame),
    )


def _draw_strata_interleaved(
    places: Mapping[str, Sequence[int]], strata: Sequence[Stratum], seed: int
) -> Iterator[tuple[Stratum, int]]:
    """Draw from each stratum.

    Strata take turns at random, so that an early stop leaves some of each.
    """
    turns = [number for number, each in enumerate(strata) for _ in range(each.drawn)]
    random.Random(f"{seed}:order").shuffle(turns)
    chosen = [
        iter(_draw_random_positions(each.population, each.drawn, seed, each.name))
        for each in strata
    ]
    for number in turns:
        yield strata[number], places[strata[number].name][next(chosen[number])]


def _draw_random_positions(count: int, wanted: int, seed: int, name: str) -> list[int]:
    """Give the first numbers of a random order of 0 to `count` - 1, without making all of it.

    Source:
        Knuth, The Art of Computer Programming 2 (1997), 3.4.2, algorithm P, begun at the front
        and with only the places kept that were exchanged.
    """
    chance = random.Random(f"{seed}:{name}")
    exchanged: dict[int, int] = {}
    chosen: list[int] = []
    for place in range(wanted):
        other = chance.randrange(place, count)
        chosen.append(exchanged.get(other, other))
        exchanged[other] = exchanged.get(place, place)
    return chosen


def iterate_whether_judge_is_shown(seed: int | None, stratum: str, share: float) -> Iterator[bool]:
    """Choose, claim by claim of a stratum in drawn order, which ones show the judge.

    Claims go in blocks of five, shuffled inside: one of each five at a share of 0.2. A share whose
    fifth is no whole number begins at a random remainder, so that each claim has the same chance.
    The same seed and stratum give the same choice, and a longer draw continues it.
    """
    chance = random.Random(f"{seed}:shown:{stratum}")
    due = chance.random()
    while True:
        due += _SHOWN_BLOCK * share
        count = int(due)
        due -= count
        block = [place < count for place in range(_SHOWN_BLOCK)]
        chance.shuffle(block)
        yield from block


_SHOWN_BLOCK = 5
"""Claims of a block: the usual share, 0.2, is one of them."""
