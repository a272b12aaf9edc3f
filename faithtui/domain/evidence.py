"""Which passages a person should read for a claim, and which of their words to look at.

This ranks for reading and judges nothing: a high match says that a passage speaks of the same
things, not that it agrees. Numbers, names and negations are marked wherever they could decide,
because that is where a claim and its source most often part.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from faithtui.domain.assessment import Stance
from faithtui.domain.conversation import Span

MarkKind = Literal["word", "number", "name", "negation"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text."""

    span: Span
    stem: str
    """What is compared: folded, without common endings."""
    kind: MarkKind
    weight: int
    """0 for words that say nothing about the subject, 2 for numbers and names, else 1."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text cut into words and sentences once, so that many claims can be compared with it."""

    text: str
    words: tuple[Word, ...]
    sentences: tuple[Span, ...]
    """In order, without the white space between them; () for a blank text."""


@dataclass(frozen=True, slots=True)
class NamedTruth:
    """A truth that the judge named for the claim, drawn from this passage."""

    text: str
    stance: Stance
    span: Span | None
    """Where it stands in the passage, None when it is not a literal piece of it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a passage to read."""

    span: Span
    stance: Stance | None
    """What the judge took it for; None when word overlap alone chose it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word to look at."""

    span: Span
    kind: MarkKind


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with what to read in it."""

    position: int
    """Index of the passage in the sequence that was ranked."""
    match: float
    """Share of the claim's weight found in the passage's best sentence, in [0, 1]."""
    best: Span | None
    """That sentence; None when no sentence shares a word with the claim."""
    quotes: tuple[Quote, ...]
    """By start, without overlaps."""
    marks: tuple[Mark, ...]
    """By start, without overlaps."""


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(
    rf"\d+(?:[.,:/]\d+)*%?|[{_CJK}]|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*", re.UNICODE
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_ENDINGS = ("'s", "’s", "ing", "edly", "ed", "ies", "es", "ly", "s")
_NEGATION_WORDS = """
no not never none nor neither nobody nothing nowhere cannot without unless except excluding unable
lacks lack nicht kein keine keinen nie ohne pas jamais sans sin nunca ni non
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_STOP_WORDS = """
a an the and or but if of in on at to for from by with as is are was were be been being am it its
this that these those there here he she they them his her their you your we our i me my do does did
done has have had having will would can could may might shall should must so than then also which
who whom whose what when where how why into over under about between such very just only more most
some any all each both other own same too up down out off der die das ein eine und oder ist sind le
la les un une des et est de du el los las y es en que
"""
_STOP = frozenset(_STOP_WORDS.split())
_QUOTE_FROM = 0.34
"""A sentence that shares less than a third of the claim's weight would only distract."""


def read_text(text: str) -> ReadText:
    """Cut a text into words and sentences."""
    sentences: list[Span] = []
    start = 0
    for end_match in _SENTENCE_END.finditer(text):
        _add_sentence(sentences, text, start, end_match.start())
        start = end_match.end()
    _add_sentence(sentences, text, start, len(text))
    starts = {span.start for span in sentences}
    return ReadText(
        text,
        tuple(_word(found, found.start() in starts) for found in _WORD.finditer(text)),
        tuple(sentences),
    )


def rank_passages(
    claim: ReadText, passages: Sequence[ReadText], named: Sequence[Sequence[NamedTruth]]
) -> tuple[RankedPassage, ...]:
    """Order passages for a claim: those the judge named first, then by shared words.

    Args:
        claim: The claim.
        passages: Texts it could rest on; may be empty.
        named: For each passage the truths the judge named for this claim; as long as `passages`.

    Returns:
        Every passage once, best first; equal ones in their given order.
    """
    ranked = [
        _rank(claim, passage, position, truths)
        for position, (passage, truths) in enumerate(zip(passages, named, strict=True))
    ]
    return tuple(
        sorted(
            ranked,
            key=lambda each: (
                all(quote.stance is None for quote in each.quotes),
                -each.match,
                each.position,
            ),
        )
    )


def overlap(claim: ReadText, other: ReadText) -> float:
    """Share of the claim's weight whose words the other text has too, in [0, 1]."""
    return _share(_weights(claim), other.words)


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


def _add_sentence(sentences: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    if start < end:
        sentences.append(Span(start, end))


def _word(found: "re.Match[str]", opens_sentence: bool) -> Word:
    text = found.group()
    span = Span(found.start(), found.end())
    folded = text.casefold().replace("’", "'")
    if text[0].isdigit():
        return Word(span, folded.strip(".,:/"), "number", 2)
    if folded in _NEGATIONS or folded.endswith("n't"):
        return Word(span, folded, "negation", 1)
    if folded in _STOP:
        return Word(span, folded, "word", 0)
    is_name = text[0].isupper() and (not opens_sentence or text[1:2].isupper())
    return Word(span, _stem(folded), "name" if is_name else "word", 2 if is_name else 1)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _weights(claim: ReadText) -> dict[str, int]:
    weights: dict[str, int] = {}
    for word in claim.words:
        if word.weight and word.kind != "negation":
            weights[word.stem] = max(word.weight, weights.get(word.stem, 0))
    return weights


def _share(weights: dict[str, int], words: Iterable[Word]) -> float:
    total = sum(weights.values())
    if not total:
        return 0.0
    there = {word.stem for word in words}
    return sum(weight for stem, weight in weights.items() if stem in there) / total


def _within(words: Sequence[Word], span: Span) -> list[Word]:
    return [word for word in words if span.start <= word.span.start and word.span.end <= span.end]


def _best_sentence(claim: ReadText, passage: ReadText) -> tuple[float, Span | None]:
    weights = _weights(claim)
    best, chosen = 0.0, None
    position = 0
    for span in passage.sentences:
        words = []
        while position < len(passage.words) and passage.words[position].span.start < span.end:
            words.append(passage.words[position])
            position += 1
        share = _share(weights, words)
        if share > best:
            best, chosen = share, span
    return best, chosen


def _rank(
    claim: ReadText, passage: ReadText, position: int, truths: Sequence[NamedTruth]
) -> RankedPassage:
    match, sentence = _best_sentence(claim, passage)
    quotes: list[Quote] = []
    for truth in truths:
        span = truth.span or _best_sentence(read_text(truth.text), passage)[1]
        if span is not None and span.end <= len(passage.text):
            _add_quote(quotes, Quote(span, truth.stance))
    if not quotes and sentence is not None and match >= _QUOTE_FROM:
        quotes.append(Quote(sentence, None))
    quotes.sort(key=lambda quote: quote.span.start)
    read = [quote.span for quote in quotes] or ([sentence] if sentence is not None else [])
    return RankedPassage(position, match, sentence, tuple(quotes), _marks(claim, passage, read))


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
    said = {word.stem for word in claim.words if word.weight}
    close = {word.span for span in read for word in _within(passage.words, span)}
    marks = []
    for word in passage.words:
        inside = word.span in close
        shared = word.stem in said
        decisive = word.kind in ("number", "negation")
        if (inside and (shared or decisive)) or (shared and word.kind in ("number", "name")):
            marks.append(Mark(word.span, word.kind))
    return tuple(marks)
