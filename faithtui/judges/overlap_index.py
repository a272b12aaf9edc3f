"""A context as an index of its sentences: which hold a word, and which hold most of a claim."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from faithtui.judges.clashes import common_length
from faithtui.judges.sentences import Span
from faithtui.judges.words import Word, read_words

_PREFIX_WEIGHT: Final = 0.7
"""A word of at least six letters counts so much when only its first five are found."""
MOST_EVIDENCE: Final = 3
"""Sentences quoted for one claim, at most."""
_LEAST_GAIN: Final = 0.1
"""Share of the claim's weight a further evidence sentence must add."""
_ORDER_WEIGHT: Final = 2.0
"""Weight of word order against the summed rarity of the matched words."""
_COMPARED: Final = 8
"""Sentences whose word order is looked at: those with most matched weight."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """One sentence of a passage with its words, read once for every context it is part of."""

    passage: str
    span: Span
    """Where it stands in the passage."""
    words: tuple[Word, ...]
    """Its words, with offsets within the passage."""
    stems: frozenset[str]
    prefixes: frozenset[str]
    bigrams: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence of a context."""

    source: int
    """Position of its passage among those given."""
    sentence: ReadSentence

    @property
    def passage(self) -> str:
        """The text it stands in."""
        return self.sentence.passage

    @property
    def span(self) -> Span:
        """Where it stands in that text."""
        return self.sentence.span

    @property
    def words(self) -> tuple[Word, ...]:
        """Its words, with offsets within the passage."""
        return self.sentence.words

    @property
    def stems(self) -> frozenset[str]:
        """Stems of its words."""
        return self.sentence.stems


def read_sentence(text: str, span: Span) -> ReadSentence:
    """Read the sentence `span` of `text`."""
    words = tuple(
        word._replace(start=word.start + span.start, end=word.end + span.start)
        if span.start
        else word
        for word in read_words(span.of(text))
    )
    return ReadSentence(
        passage=text,
        span=span,
        words=words,
        stems=frozenset(word.stem for word in words),
        prefixes=frozenset({word.prefix for word in words} - {""}),
        bigrams=tuple(pairwise([word.stem for word in words])),
    )


@dataclass(slots=True)
class Context:
    """Sentences of a context, indexed by their words: filled with `add`, then asked at will."""

    units: list[Unit] = field(default_factory=list)
    holders: dict[str, list[int]] = field(default_factory=dict)
    """Stem to the units that hold it, ascending."""
    prefix_holders: dict[str, list[int]] = field(default_factory=dict)
    """First five letters to the units that hold a word of at least six that begins so."""
    bigrams: set[tuple[str, str]] = field(default_factory=set)
    """Neighbouring stems within a sentence."""
    numbers: list[Word] = field(default_factory=list)
    """One word per different number."""

    def add(self, source: int, sentence: ReadSentence) -> None:
        """Take in one sentence of passage number `source`."""
        number = len(self.units)
        self.units.append(Unit(source, sentence))
        for word in sentence.words:
            if word.number is not None and word.stem not in self.holders:
                self.numbers.append(word)
        for each in sentence.stems:
            self.holders.setdefault(each, []).append(number)
        for prefix in sentence.prefixes:
            self.prefix_holders.setdefault(prefix, []).append(number)
        self.bigrams.update(sentence.bigrams)

    def find(self, word: Word) -> tuple[float, Sequence[int]]:
        """How well a word is found, in {0, 0.7, 1}, and the units it is found in, ascending."""
        if (units := self.holders.get(word.stem)) is not None:
            return 1.0, units
        if (units := self.prefix_holders.get(word.prefix)) is not None:
            return _PREFIX_WEIGHT, units
        return 0.0, ()

    def rarity(self, units: Sequence[int]) -> float:
        """Weight of a word by how few sentences hold it: log(1 + sentences / holders)."""
        return (
            math.log1p(len(self.units) / len(units)) if units else math.log1p(len(self.units) + 1)
        )


def choose_evidence(
    words: Sequence[Word],
    content: Sequence[Word],
    lookups: Sequence[tuple[float, Sequence[int]]],
    context: Context,
) -> tuple[int, ...]:
    """The sentence that holds most of the claim, then up to two that hold what is left of it.

    Args:
        words: All words of the claim, for word order.
        content: Those that were looked up.
        lookups: What `Context.find` said of each of `content`.
        context: Where they were looked up.

    Returns:
        Numbers of at most three units, the best first; () when no word was found.
    """
    weights = [context.rarity(units) for _, units in lookups]
    scores: defaultdict[int, float] = defaultdict(float)
    for (strength, units), weight in zip(lookups, weights, strict=True):
        for number in units:
            scores[number] += strength * weight
    if not scores:
        return ()
    candidates = sorted(scores, key=lambda number: (-scores[number], number))[:_COMPARED]
    ordered = {
        number: scores[number]
        + _ORDER_WEIGHT * common_length(words, context.units[number].words) / len(words)
        for number in candidates
    }
    chosen = [min(ordered, key=lambda number: (-ordered[number], number))]
    left = {
        position
        for position, (_, units) in enumerate(lookups)
        if units and not _holds(units, chosen[0])
    }
    total = sum(weights)
    while left and len(chosen) < MOST_EVIDENCE:
        gains: defaultdict[int, float] = defaultdict(float)
        for position in left:
            for number in lookups[position][1]:
                gains[number] += lookups[position][0] * weights[position]
        following = min(gains, key=lambda number: (-gains[number], -scores[number], number))
        if gains[following] < _LEAST_GAIN * total:
            break
        chosen.append(following)
        left = {position for position in left if not _holds(lookups[position][1], following)}
    return tuple(chosen)


def _holds(units: Sequence[int], number: int) -> bool:
    """Whether an ascending list holds a number."""
    place = bisect_left(units, number)
    return place < len(units) and units[place] == number
