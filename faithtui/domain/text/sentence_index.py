"""A context as an index of its sentences: which hold a word, and which hold most of a claim.

Most contexts are asked about once, so reading one must be cheap: of a sentence only the stems are
read, and its words with their offsets only when somebody looks at it closely.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from faithtui.domain.conversation import Span
from faithtui.domain.text.languages import detect_language
from faithtui.domain.text.near_spellings import find_near_spellings, group_by_first_letter
from faithtui.domain.text.sentences import split_sentences
from faithtui.domain.text.tokens import Word, get_stem_prefix, stem, tokenise_stems, tokenise_words
from faithtui.domain.text.word_lists import CURRENCIES

_PREFIX_WEIGHT: Final = 0.7
"""A word whose stem has at least six letters counts so much when only its first five are found."""
MOST_EVIDENCE: Final = 3
"""Sentences quoted for one claim, at most."""
_LEAST_GAIN: Final = 0.1
"""Share of the claim's weight a further evidence sentence must add."""
_ORDER_WEIGHT: Final = 2.0
"""Weight of word order against the summed rarity of the matched words."""
_NEIGHBOUR_WEIGHT: Final = 0.4
"""Weight of the words a sentence lacks and one beside it holds: what is told goes on.

Source: docs/judges/offline.md, "Evidence": on WiCE 0.3 to 0.5 do equally well, 0 and 0.6 worse.
"""
_MOST_COMPARED: Final = 12
"""Sentences whose word order and neighbours are looked at: those with most matched weight."""
_CURRENCY_STEMS: Final = {sign: stem(name) for sign, name in CURRENCIES.items()}
"""A sentence with "$5" holds "dollars" too."""
_LANGUAGE_UNITS: Final = 30
"""Sentences that are looked at for the language of a context."""

Lookup = tuple[float, Sequence[int]]
"""How well a word is found, in {0, 0.7, 1}, and the units it is found in, ascending."""


@dataclass(slots=True)
class TokenisedSentence:
    """One sentence of a passage, read once for every context it is part of."""

    passage: str
    span: Span
    """Where it stands in the passage."""
    stems: tuple[str, ...]
    """Stems of its words, in order."""
    numbers: tuple[Word, ...]
    """Its numbers, in order."""
    _words: tuple[Word, ...] | None = None

    @property
    def words(self) -> tuple[Word, ...]:
        """Its words, with offsets within the passage."""
        if self._words is None:
            self._words = tuple(tokenise_words(self.passage, self.span.start, self.span.end))
        return self._words


class IndexedSentence(NamedTuple):
    """One sentence of a context."""

    source: int
    """Position of its passage among those given."""
    sentence: TokenisedSentence

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
    def stems(self) -> tuple[str, ...]:
        """Stems of its words, in order."""
        return self.sentence.stems


def tokenise_sentence(text: str, span: Span) -> TokenisedSentence:
    """Read the sentence `span` of `text`."""
    stems = tokenise_stems(text, span.start, span.end)
    if stems is not None:
        return TokenisedSentence(text, span, stems, ())
    words = tuple(tokenise_words(text, span.start, span.end))
    return TokenisedSentence(
        passage=text,
        span=span,
        stems=tuple([word.stem for word in words]),
        numbers=tuple([word for word in words if word.number is not None]),
        _words=words,
    )


@dataclass(slots=True)
class SentenceIndex:
    """Sentences of a context by their words: filled with `add_sentence`, then asked at will."""

    units: list[IndexedSentence] = field(default_factory=list)
    holders: dict[str, list[int]] = field(default_factory=dict)
    """Stem to the units that hold it, ascending."""
    numbers: list[Word] = field(default_factory=list)
    """One word per different number."""
    _bigrams: set[tuple[str, str]] | None = None
    _prefixes: dict[str, list[str]] | None = None
    """First five letters to the stems of at least six that begin so; made when first asked for."""
    _spellable: Mapping[str, Sequence[str]] | None = None
    """Stems that others may be misspelt forms of; made when first asked for."""
    _language: tuple[str | None] | None = None
    """What `find_language` says, once it was asked."""

    def add_sentence(self, source: int, sentence: TokenisedSentence) -> None:
        """Take in one sentence of passage number `source`."""
        number = len(self.units)
        self.units.append(IndexedSentence(source, sentence))
        holders = self.holders
        stems = set(sentence.stems)
        for word in sentence.numbers:
            if word.stem not in holders or not holders.keys() >= set(word.aliases):
                self.numbers.append(word)
            if word.aliases:
                stems.update(word.aliases)
            if word.unit in _CURRENCY_STEMS:
                stems.add(_CURRENCY_STEMS[word.unit])
        get = holders.get
        for each in stems:
            if (units := get(each)) is None:
                holders[each] = [number]
            else:
                units.append(number)
        self._bigrams = self._prefixes = self._spellable = self._language = None

    def add_sentences_of_other_index(self, source: int, other: "SentenceIndex") -> None:
        """Take in all sentences of a context as those of passage number `source`."""
        before = len(self.units)
        self.units += (IndexedSentence(source, unit.sentence) for unit in other.units)
        self.numbers += (
            word
            for word in other.numbers
            if not all(key in self.holders for key in word.stem_and_aliases)
        )
        for each, numbers in other.holders.items():
            self.holders.setdefault(each, []).extend([before + number for number in numbers])
        self._bigrams = self._prefixes = self._spellable = self._language = None

    @property
    def bigrams(self) -> AbstractSet[tuple[str, str]]:
        """Neighbouring stems within a sentence."""
        if self._bigrams is None:
            self._bigrams = set().union(*(pairwise(unit.sentence.stems) for unit in self.units))
        return self._bigrams

    def look_up_word(self, word: Word) -> Lookup:
        """How well a word is found, in {0, 0.7, 1}, and the units it is found in, ascending."""
        if word.aliases:
            return self._look_up_number(word)
        if (units := self.holders.get(word.stem)) is not None:
            return 1.0, units
        alike = self.find_similar_stems(word)
        if not alike:
            return 0.0, ()
        if len(alike) == 1:
            return _PREFIX_WEIGHT, self.holders[alike[0]]
        return _PREFIX_WEIGHT, sorted({unit for each in alike for unit in self.holders[each]})

    def _look_up_number(self, word: Word) -> Lookup:
        """The same of a number, or the unit behind one, by whatever it may be written as."""
        holding = [self.holders[key] for key in word.stem_and_aliases if key in self.holders]
        if not holding:
            return 0.0, ()
        if len(holding) == 1:
            return 1.0, holding[0]
        return 1.0, sorted({unit for units in holding for unit in units})

    def has_word(self, word: Word) -> bool:
        """Whether a word is there, letter for letter or as another way to write a number."""
        return any(key in self.holders for key in word.stem_and_aliases)

    def find_similar_stems(self, word: Word) -> Sequence[str]:
        """Stems that may be a word which is nowhere: they begin so, or are nearly spelt so."""
        prefix = word.stem_prefix
        if prefix and (alike := self._list_stems_with_prefix(prefix)):
            return alike
        return self._list_misspelt_stems(word.stem)

    def has_stem_or_misspelling(self, word: str) -> bool:
        """Whether a stem is there, letter for letter or misspelt."""
        return word in self.holders or bool(self._list_misspelt_stems(word))

    def _list_misspelt_stems(self, word: str) -> Sequence[str]:
        if self._spellable is None:
            self._spellable = group_by_first_letter(self.holders)
        return find_near_spellings(word, self._spellable)

    def compute_word_rarity(self, units: Sequence[int]) -> float:
        """Weight of a word by how few sentences hold it: log(1 + sentences / holders)."""
        return (
            math.log1p(len(self.units) / len(units)) if units else math.log1p(len(self.units) + 1)
        )

    def find_language(self) -> str | None:
        """The language of its first sentences, as `detect_language` names it."""
        if self._language is None:
            opening = " ".join(
                [unit.span.slice_text(unit.passage) for unit in self.units[:_LANGUAGE_UNITS]]
            )
            self._language = (detect_language(opening),)
        return self._language[0]

    def _list_stems_with_prefix(self, prefix: str) -> Sequence[str]:
        if self._prefixes is None:
            prefixes: dict[str, list[str]] = {}
            for each in self.holders:
                if found := get_stem_prefix(each):
                    prefixes.setdefault(found, []).append(each)
            self._prefixes = prefixes
        return self._prefixes.get(prefix, ())


def index_passages(passages: Iterable[str]) -> SentenceIndex:
    """Read passages and index all their sentences."""
    context = SentenceIndex()
    for source, passage in enumerate(passages):
        for span in split_sentences(passage):
            context.add_sentence(source, tokenise_sentence(passage, span))
    return context


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """How much of a claim each sentence of a context holds."""

    held: Mapping[int, float]
    """For each unit that holds any of its words, their weight: the rarer, the more."""
    rarities: Sequence[float]
    """For each of its words, how few units hold it."""
    strengths: Sequence[float]
    """For each of them, its rarity times how well it is found."""
    _bits: Mapping[int, int]
    """For each of those units the positions of the words, as bits."""
    _stems: Sequence[str]
    """All words of the claim, for word order."""
    _context: SentenceIndex

    def compute_rank_score_and_word_order(
        self, numbers: Iterable[int]
    ) -> dict[int, tuple[float, float]]:
        """What orders units, and the share of the claim's words they hold in the claim's order.

        Weight, word order, and what a unit beside one holds that it lacks. Of more than a dozen
        units only those with most weight.
        """
        candidates = list(numbers)
        if len(candidates) > _MOST_COMPARED:
            held = self.held
            candidates.sort(key=lambda number: (-held[number], number))
            del candidates[_MOST_COMPARED:]
        places, count = map_stems_to_position_bits(self._stems), len(self._stems)
        units = self._context.units
        worths = {}
        for number in candidates:
            order = compute_lcs_length(places, count, units[number].stems) / count
            beside = self._weigh_neighbours(number)
            worth = self.held[number] + _NEIGHBOUR_WEIGHT * beside + _ORDER_WEIGHT * order
            worths[number] = worth, order
        return worths

    def _weigh_neighbours(self, number: int) -> float:
        beside = 0
        units = self._context.units
        for other in (number - 1, number + 1):
            if other in self._bits and units[other].source == units[number].source:
                beside |= self._bits[other]
        beside &= ~self._bits[number]
        if not beside:
            return 0.0
        return sum(
            [strength for position, strength in enumerate(self.strengths) if beside >> position & 1]
        )


def score_sentences(
    stems: Sequence[str], lookups: Sequence[Lookup], context: SentenceIndex
) -> SentenceScores:
    """Weigh the sentences of a context by the words of a claim they hold.

    Args:
        stems: All words of the claim, for word order.
        lookups: What `Context.look_up_word` said of each of its content words.
        context: Where they were looked up.
    """
    rarities = [context.compute_word_rarity(units) for _, units in lookups]
    strengths = [strength * rarity for (strength, _), rarity in zip(lookups, rarities, strict=True)]
    held: defaultdict[int, float] = defaultdict(float)
    bits: defaultdict[int, int] = defaultdict(int)
    for position, ((_, units), strength) in enumerate(zip(lookups, strengths, strict=True)):
        bit = 1 << position
        for number in units:
            held[number] += strength
            bits[number] |= bit
    return SentenceScores(held, rarities, strengths, bits, stems, context)


def choose_evidence_sentences(
    stems: Sequence[str], lookups: Sequence[Lookup], context: SentenceIndex
) -> tuple[tuple[int, ...], float]:
    """The sentence that holds most of the claim, then up to two that hold what is left of it.

    Args:
        stems: All words of the claim, for word order.
        lookups: What `Context.look_up_word` said of each of its content words.
        context: Where they were looked up.

    Returns:
        Numbers of at most three units, the best first, () when no word was found; and the share of
        the claim's words, in [0, 1], that the best unit holds in the claim's order.
    """
    scores = score_sentences(stems, lookups, context)
    if not scores.held:
        return (), 0.0
    worths = scores.compute_rank_score_and_word_order(scores.held)
    first = min(worths, key=lambda number: (-worths[number][0], number))
    chosen = [first]
    left = {
        position
        for position, (_, units) in enumerate(lookups)
        if units and not is_in_ascending_list(units, first)
    }
    total = sum(scores.rarities)
    while left and len(chosen) < MOST_EVIDENCE:
        gains: defaultdict[int, float] = defaultdict(float)
        for position in left:
            for number in lookups[position][1]:
                gains[number] += scores.strengths[position]
        following = min(gains, key=lambda number: (-gains[number], -scores.held[number], number))
        if gains[following] < _LEAST_GAIN * total:
            break
        chosen.append(following)
        left = {
            position
            for position in left
            if not is_in_ascending_list(lookups[position][1], following)
        }
    return tuple(chosen), worths[first][1]


def is_in_ascending_list(units: Sequence[int], number: int) -> bool:
    """Whether an ascending list holds a number."""
    place = bisect_left(units, number)
    return place < len(units) and units[place] == number


def map_stems_to_position_bits(stems: Sequence[str]) -> dict[str, int]:
    """Stem to the positions it stands at, as bits."""
    places: dict[str, int] = {}
    for position, each in enumerate(stems):
        places[each] = places.get(each, 0) | 1 << position
    return places


def compute_lcs_length(places: Mapping[str, int], count: int, sentence: Iterable[str]) -> int:
    """Length, in words, of the longest common subsequence of a claim's stems and a sentence's.

    Args:
        places: What `map_stems_to_position_bits` says of the claim.
        count: How many words the claim has.
        sentence: Stems of the sentence.

    Source:
        Bit-parallel algorithm: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    everything = (1 << count) - 1
    row = everything
    for place in filter(None, map(places.get, sentence)):
        matching = row & place
        row = (row + matching) | (row - matching)  # what is carried out of it matches nothing
    return count - (row & everything).bit_count()
