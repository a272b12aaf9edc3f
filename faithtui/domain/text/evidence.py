"""Which passages a person should read for a claim, and which of their words to look at.

This ranks for reading and judges nothing: a high match says that a passage speaks of the same
things, not that it agrees. Where a sentence speaks of the same things and has another number, name,
date, a negation or a condition, that is said, because there a claim and its source most often part.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithtui.domain.conversation import Span
from faithtui.domain.text.word_matching import (
    DECISIVE,
    MarkKind,
    ReadText,
    Word,
    spelt_alike,
    weights_of,
)
from faithtui.domain.verdicts import Stance


@dataclass(frozen=True, slots=True)
class NamedTruth:
    """A truth that the judge named for the claim, drawn from this passage."""

    text: ReadText
    stance: Stance
    span: Span | None
    """Where it stands in the passage, None when it is not a literal piece of it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a passage to read."""

    span: Span
    stance: Stance | None
    """What the judge took it for; None when words alone chose it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word to look at."""

    span: Span
    kind: MarkKind
    matched: bool = True
    """The claim has it too."""


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with what to read in it."""

    position: int
    """Index of the passage in the sequence that was ranked."""
    match: float
    """Share of the claim's weight found in the passage's best sentence, in [0, 1]. Words that few
    sentences have weigh more."""
    best: Span | None
    """That sentence; None when no sentence shares a word with the claim."""
    quotes: tuple[Quote, ...]
    """By start, without overlaps."""
    marks: tuple[Mark, ...]
    """By start, without overlaps."""
    differs: tuple[MarkKind, ...] = ()
    """Kinds of words in which a sentence that speaks of the same things parts from the claim."""


QUOTE_FROM = 0.3
"""A sentence that shares less of the claim's weight would only distract."""
CLASH_FROM = 0.5
"""Sentences that share less do not speak of the same things."""
_NEIGHBOUR = 0.1
"""How much of its neighbours' match a sentence gets: what belongs together stands together."""
_MISSPELT = 0.8
"""What a word counts that was found misspelt."""
_MOST_CLASHES = 12
"""Sentences of one passage that are quoted because they differ: nobody reads more of them."""
_ABSOLUTE_WORDS = "alway always never all every any each must entire entirely"
_ABSOLUTE = frozenset(_ABSOLUTE_WORDS.split())
"""Words that a condition in the passage contradicts."""


def rank_passages(
    claim: ReadText, passages: Sequence[ReadText], named: Sequence[Sequence[NamedTruth]]
) -> tuple[RankedPassage, ...]:
    """Order passages for a claim: those the judge named first, then by shared words.

    A word weighs the more, the fewer sentences have it (inverse document frequency), numbers,
    names and dates weigh more than other words, and a sentence gains a little from the sentences
    beside it.

    Args:
        claim: The claim.
        passages: Texts it could rest on; may be empty.
        named: For each passage the truths the judge named for this claim; as long as `passages`.

    Returns:
        Every passage once, best first; equal ones in their given order.

    Source:
        The weights are those of BM25 (Robertson and Zaragoza 2009, equation 3.3) without its term
        frequency and length, which find the right sentence of WiCE less often.
    """
    weights = _rare_weights(claim, passages)
    ranked = []
    for position, (passage, truths) in enumerate(zip(passages, named, strict=True)):
        shares = weights.shares(passage)
        subject = weights.total / weights.subject if weights.subject > 0 else 0.0
        found = _rank(claim, passage, position, truths, shares, subject)
        ranked.append((found, _blended(shares)))
    ranked.sort(
        key=lambda each: (
            all(quote.stance is None for quote in each[0].quotes),
            -max(each[1], default=0.0),
            each[0].position,
        )
    )
    return tuple(found for found, _ in ranked)


def overlap(claim: ReadText, other: ReadText) -> float:
    """Share of the claim's weight whose words the other text has too, in [0, 1]."""
    weights = weights_of(claim.words)
    total = sum(weights.values())
    if not total:
        return 0.0
    missing = weights.keys() - other.vocabulary
    return 1 - sum(weights[stem] for stem in missing) / total


def place_of(piece: ReadText, passage: ReadText, span: Span | None = None) -> int | None:
    """Find the sentence of a passage that a truth was drawn from.

    Args:
        piece: The truth.
        passage: The passage.
        span: Where it stands literally, where that is known.

    Returns:
        Index of the sentence; None when no sentence shares a telling word with it.
    """
    if span is not None:
        for index, sentence in enumerate(passage.sentences):
            if sentence.start < span.end and span.start < sentence.end:
                return index
        return None
    shares = _rare_weights(piece, [passage]).shares(passage)
    best = max(range(len(shares)), key=lambda index: shares[index], default=None)
    return best if best is not None and shares[best] > 0 else None


def differences(claim: ReadText, sentence: Sequence[Word]) -> tuple[MarkKind, ...]:
    """Say in which decisive words a sentence parts from a claim that speaks of the same things.

    Numbers, dates and names differ when each side has one that the other lacks; negations when one
    side has an odd number of them and the other has not; conditions when the claim allows of no
    exception and the sentence makes one.
    """
    return _Decisive.of(claim).differs(sentence)


@dataclass(frozen=True, slots=True)
class _Decisive:
    """What a claim is held against in every sentence, taken out of it once."""

    stems: frozenset[str]
    by_kind: Mapping[MarkKind, frozenset[str]]
    """Stems of numbers, dates and names."""
    is_negated: bool
    has_condition: bool
    is_absolute: bool

    @classmethod
    def of(cls, claim: ReadText) -> "_Decisive":
        """Take it out of a claim."""
        words = claim.words
        kinds: tuple[MarkKind, ...] = ("number", "date", "name")
        return cls(
            frozenset(word.stem for word in words),
            {kind: frozenset(word.stem for word in words if word.kind == kind) for kind in kinds},
            _is_negated(words),
            any(word.kind == "condition" for word in words),
            any(word.stem in _ABSOLUTE for word in words),
        )

    def differs(self, sentence: Sequence[Word]) -> tuple[MarkKind, ...]:
        """See `differences`."""
        found: list[MarkKind] = []
        there = {word.stem for word in sentence}
        for kind, ours in self.by_kind.items():
            # The same word may be of another kind there, such as a name that opens the sentence.
            if ours <= there:
                continue
            if any(word.kind == kind and word.stem not in self.stems for word in sentence):
                found.append(kind)
        if self.is_negated != _is_negated(sentence):
            found.append("negation")
        forbids = self.is_absolute and not self.has_condition
        if forbids and any(word.kind == "condition" for word in sentence):
            found.append("condition")
        return tuple(found)


def _is_negated(words: Sequence[Word]) -> bool:
    return sum(word.kind == "negation" for word in words) % 2 == 1


def excerpt(passage: ReadText, needed: Sequence[Span], budget: int) -> tuple[Span, ...]:
    """Choose the part of a passage that shows some stretches of it.

    Args:
        passage: The passage.
        needed: What must be in it; () starts at the beginning.
        budget: About how many characters; what is needed is never dropped for it.

    Returns:
        Whole sentences as merged stretches, by start. () for a blank text.
    """
    spans = passage.sentences
    if not spans:
        return ()
    chosen = {
        index
        for index, span in enumerate(spans)
        if any(span.start < each.end and each.start < span.end for each in needed)
    } or {0}
    length = sum(spans[index].end - spans[index].start for index in chosen)
    grown = True
    while grown and length < budget:
        grown = False
        edges = {index + step for index in chosen for step in (-1, 1)} - chosen
        for index in sorted(edges):
            if 0 <= index < len(spans):
                size = spans[index].end - spans[index].start
                if length + size <= budget:
                    chosen.add(index)
                    length += size
                    grown = True
    merged: list[Span] = []
    previous = -2
    for index in sorted(chosen):
        if index == previous + 1:
            merged[-1] = Span(merged[-1].start, spans[index].end)
        else:
            merged.append(spans[index])
        previous = index
    return tuple(merged)


@dataclass(frozen=True, slots=True)
class _Weights:
    """What each word of a claim weighs among the passages it is compared with."""

    of: Mapping[str, float]
    alike: Mapping[str, frozenset[str]]
    """Words of the passages taken for a word of the claim that none of them has."""
    total: float
    subject: float
    """The total without numbers, names and dates that no passage has. A sentence that has all the
    rest speaks of the same things, and says something else of them."""

    def shares(self, passage: ReadText) -> list[float]:
        """Give the share of the claim's weight that each sentence has, in [0, 1]."""
        if not self.total:
            return [0.0] * len(passage.sentences)
        exact = self.of.keys()
        found = []
        for stems in passage.stems:
            # Exact sums: what comes out must not depend on the order of a set.
            weight = math.fsum(self.of[stem] for stem in exact & stems)
            for stem, near in self.alike.items():
                if not near.isdisjoint(stems):
                    weight += _MISSPELT * self.of[stem]
            found.append(min(1.0, weight / self.total))
        return found


def _rare_weights(claim: ReadText, passages: Sequence[ReadText]) -> _Weights:
    plain = weights_of(claim.words)
    counts = dict.fromkeys(plain, 0)
    wanted = counts.keys()
    for passage in passages:
        for stems in passage.stems:
            for stem in wanted & stems:
                counts[stem] += 1
    nowhere = [stem for stem, count in counts.items() if not count]
    there = frozenset().union(*(passage.vocabulary for passage in passages)) if nowhere else ()
    alike = spelt_alike(nowhere, there)
    sentences = sum(len(passage.sentences) for passage in passages)
    # A word that is nowhere weighs like the rarest one: more, and it would drown all the others.
    counts |= dict.fromkeys(nowhere, 1)
    weights = {
        stem: math.log(1 + (sentences - counts[stem] + 0.5) / (counts[stem] + 0.5))
        * math.sqrt(plain[stem])
        for stem in plain
    }
    decisive = {word.stem for word in claim.words if word.kind in DECISIVE}
    clashing = [stem for stem in nowhere if stem in decisive and stem not in alike]
    total = math.fsum(weights.values())
    return _Weights(weights, alike, total, total - math.fsum(weights[stem] for stem in clashing))


def _blended(shares: Sequence[float]) -> list[float]:
    """Let sentences gain from their neighbours."""
    padded = [0.0, *shares, 0.0]
    return [
        share + _NEIGHBOUR * (padded[index] + padded[index + 2])
        for index, share in enumerate(shares)
    ]


def _rank(
    claim: ReadText,
    passage: ReadText,
    position: int,
    truths: Sequence[NamedTruth],
    shares: Sequence[float],
    subject: float,
) -> RankedPassage:
    """Choose what to read of a passage; `subject` turns a share of all into one of the subject."""
    blended = _blended(shares)
    best = max(range(len(shares)), key=lambda index: blended[index], default=None)
    if best is not None and not shares[best]:
        best = None
    match = 0.0 if best is None else shares[best]
    quotes: list[Quote] = []
    for truth in truths:
        span = truth.span
        if span is None:
            index = place_of(truth.text, passage)
            span = None if index is None else passage.sentences[index]
        if span is not None and span.end <= len(passage.text):
            _add_quote(quotes, Quote(span, truth.stance))
    if not quotes and best is not None and match * subject >= QUOTE_FROM:
        quotes.append(Quote(passage.sentences[best], None))
    differs: dict[MarkKind, None] = {}
    decisive = _Decisive.of(claim)
    clashing = []
    for index, share in enumerate(shares):
        if share * subject >= CLASH_FROM:
            found = decisive.differs(passage.words_in(index))
            if found:
                clashing.append(index)
                differs |= dict.fromkeys(found)
    clashing.sort(key=lambda index: (-shares[index], index))
    for index in sorted(clashing[:_MOST_CLASHES]):
        _add_quote(quotes, Quote(passage.sentences[index], None))
    quotes.sort(key=lambda quote: quote.span.start)
    read = [quote.span for quote in quotes]
    if not read and best is not None:
        read.append(passage.sentences[best])
    return RankedPassage(
        position,
        match,
        None if best is None else passage.sentences[best],
        tuple(quotes),
        _marks(claim, passage, read),
        tuple(differs),
    )


def _add_quote(quotes: list[Quote], quote: Quote) -> None:
    """Keep quotes apart: where two touch, the one that contradicts stays, else the first."""
    touching = [
        other
        for other in quotes
        if other.span.start < quote.span.end and quote.span.start < other.span.end
    ]
    if touching and not (
        quote.stance == "contradicts" and all(each.stance != "contradicts" for each in touching)
    ):
        return
    for other in touching:
        quotes.remove(other)
    quotes.append(quote)


def _marks(claim: ReadText, passage: ReadText, read: Sequence[Span]) -> tuple[Mark, ...]:
    """Mark what decides in the stretches to read, and the claim's numbers and names anywhere."""
    said = {word.stem for word in claim.words if word.weight or word.kind in DECISIVE}
    marks = []
    stretches = iter(sorted(read, key=lambda span: span.start))
    current = next(stretches, None)
    for word in passage.words:
        while current is not None and current.end <= word.span.start:
            current = next(stretches, None)
        inside = (
            current is not None
            and current.start <= word.span.start
            and word.span.end <= current.end
        )
        shared = word.stem in said
        decisive = word.kind in DECISIVE
        if (inside and (shared or decisive)) or (
            shared and word.kind in ("number", "name", "date")
        ):
            marks.append(Mark(word.span, word.kind, shared))
    return tuple(marks)
