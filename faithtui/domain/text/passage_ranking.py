"""Which passages a person should read for a claim, and which of their words to look at.

This ranks for reading and judges nothing: a high match says that a passage speaks of the same
things, not that it agrees. Where a sentence that speaks of the same things clashes with the claim,
that is said, in the words by which the embedded judge says `no`: both ask `alignment`.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Final

from faithtui.domain.claims.verdicts import Stance
from faithtui.domain.conversation import Span
from faithtui.domain.text.alignment import (
    AGREEING_SHARE,
    find_clash_in_matching_sentence,
    find_disputed_numbers,
    find_matching_stems,
    select_content_words,
)
from faithtui.domain.text.contradictions import Clash, ClashKind
from faithtui.domain.text.sentence_index import Lookup, SentenceIndex, score_sentences
from faithtui.domain.text.texts import TokenisedText, collect_stem_weights, index_texts
from faithtui.domain.text.tokens import DECISIVE, MarkKind, Word, tokenise_words


@dataclass(frozen=True, slots=True)
class NamedTruth:
    """A truth that the judge named for the claim, drawn from this passage."""

    text: TokenisedText
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
class WordMark:
    """A word to look at."""

    span: Span
    kind: MarkKind
    matched: bool = True
    """The claim has it too, and the passage does not give it as one of several only."""
    clashes: bool = False
    """It stands where the claim has another one, or a negation or its opposite."""


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
    marks: tuple[WordMark, ...]
    """By start, without overlaps."""
    differs: tuple[ClashKind, ...] = ()
    """In what sentences that speak of the same things clash with the claim; () where the passage
    has the claim word for word."""
    missing: tuple[Span, ...] = ()
    """Words of the claim that tell something and that the passage does not have, by start."""
    contested: tuple[Span, ...] = ()
    """Words of the claim that clash with its sentences, by start."""


QUOTE_MIN_SHARE = 0.3
"""A sentence that shares less of the claim's weight would only distract."""
CLASH_MIN_SHARE = 0.5
"""Sentences that share less do not speak of the same things."""
_MOST_CLASHES = 12
"""Sentences of one passage that are quoted because they differ: nobody reads more of them."""
_TEXTS_KEPT: Final = 64
"""Passages whose places of a claim's words are kept: a pane is drawn at every key."""
_CAPITAL_INSIDE: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GLUED_WORDS: Final = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*")
"""Words with a capital inside: names such as iPhone, and words that a web page put together."""
_INDEXES_KEPT: Final = 8
"""Sets of passages whose index is kept: the claims of a turn share theirs."""


def rank_passages(
    claim: TokenisedText, passages: Sequence[TokenisedText], named: Sequence[Sequence[NamedTruth]]
) -> tuple[RankedPassage, ...]:
    """Order passages for a claim: those the judge named first, then by shared words.

    A word weighs the more, the fewer sentences have it, and a sentence gains from the order of its
    words and from the sentences beside it, as for the embedded judge.

    Args:
        claim: The claim.
        passages: Texts it could rest on; may be empty.
        named: For each passage the truths the judge named for this claim; as long as `passages`.

    Returns:
        Every passage once, best first; equal ones in their given order.
    """
    aligned = _ClaimAlignment.from_claim(claim, _index_passages(tuple(passages)))
    ranked = []
    first = 0
    for position, (passage, truths) in enumerate(zip(passages, named, strict=True)):
        ranked.append(_score_passage_and_choose_quotes(aligned, passage, position, first, truths))
        first += len(passage.sentences)
    ranked.sort(
        key=lambda each: (
            all(quote.stance is None for quote in each[0].quotes),
            -each[1],
            -each[0].match,
            each[0].position,
        )
    )
    return tuple(found for found, _ in ranked)


def compute_weighted_word_overlap(claim: TokenisedText, other: TokenisedText) -> float:
    """Share of the claim's weight whose words the other text has too, in [0, 1]."""
    weights = collect_stem_weights(claim.words)
    total = sum(weights.values())
    if not total:
        return 0.0
    words = {word.stem: word for word in claim.words if word.stem in weights}
    found = {stem: other.index.look_up_word(word) for stem, word in words.items()}
    disputed = find_disputed_numbers(
        claim.words, tuple(words.values()), tuple(found.values()), other.index
    )
    missing = [stem for stem, (strength, _) in found.items() if not strength or stem in disputed]
    return 1 - sum(weights[stem] for stem in missing) / total


def find_source_sentence(
    piece: TokenisedText, passage: TokenisedText, span: Span | None = None
) -> int | None:
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
    shares = _ClaimAlignment.from_claim(piece, passage.index).shares
    return min(shares, key=lambda index: (-shares[index], index), default=None)


def choose_excerpt_with_needed_spans(
    passage: TokenisedText,
    needed: Sequence[Span],
    budget: int,
    claim: TokenisedText | None = None,
) -> tuple[Span, ...]:
    """Choose the part of a passage that shows some stretches of it.

    Args:
        passage: The passage.
        needed: What must be in it; () starts with the words of the claim, or at the beginning.
        budget: About how many characters; what is needed is never dropped for it.
        claim: As many of its words as possible are to be in it; None: of no claim.

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
    }
    if claim is not None:
        _add_informative_sentences(passage, claim, chosen, budget)
    chosen = chosen or {0}
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


def _add_informative_sentences(
    passage: TokenisedText, claim: TokenisedText, chosen: set[int], budget: int
) -> None:
    """Add the sentences that have words of a claim which the chosen ones lack, rare ones first.

    A word that begins like one of the claim counts: blanks are often lost in pages of the web.
    """
    spans = passage.sentences
    words = {each.text for each in select_content_words(claim.words) if len(each.text) > 2}
    held: dict[int, set[str]] = {}
    starts = [span.start for span in spans]
    for at, word in _find_words_by_prefix(passage.text, frozenset(words)):
        index = bisect_right(starts, at) - 1
        if index >= 0 and at < spans[index].end:
            held.setdefault(index, set()).add(word)
    sentences_with = Counter(chain.from_iterable(held.values()))
    seen = set().union(*(held.get(index, set()) for index in chosen))
    length = sum(spans[index].end - spans[index].start for index in chosen)
    while True:
        fitting = [
            index
            for index in held.keys() - chosen
            if held[index] - seen
            and (not chosen or length + spans[index].end - spans[index].start <= budget)
        ]
        if not fitting:
            return

        def weigh_words_not_yet_seen(index: int, seen: set[str] = seen) -> tuple[float, int]:
            return sum(1 / sentences_with[each] for each in held[index] - seen), -index

        best = max(fitting, key=weigh_words_not_yet_seen)
        chosen.add(best)
        seen = seen | held[best]
        length += spans[best].end - spans[best].start


@lru_cache(maxsize=_TEXTS_KEPT)
def _find_words_by_prefix(text: str, words: frozenset[str]) -> tuple[tuple[int, str], ...]:
    """Find where words of a text begin like some words."""
    if not words:
        return ()
    longest_first = sorted(words, key=lambda each: (-len(each), each))
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})"
    found = re.finditer(pattern, text, re.IGNORECASE)
    return tuple((each.start(), each[0].lower()) for each in found)


@lru_cache(maxsize=_INDEXES_KEPT)
def _index_passages(passages: tuple[TokenisedText, ...]) -> SentenceIndex:
    return passages[0].index if len(passages) == 1 else index_texts(passages)


@dataclass(frozen=True, slots=True)
class _ClaimAlignment:
    """A claim of any length held against all sentences of some passages."""

    text: str
    words: tuple[Word, ...]
    content: tuple[Word, ...]
    """Its words that say something of the subject, each once."""
    lookups: tuple[Lookup, ...]
    context: SentenceIndex
    disputed: frozenset[str]
    clashes: Mapping[int, Clash]
    """Sentences that speak of the same things as a sentence of the claim, and clash with it."""
    shares: Mapping[int, float]
    """For each sentence that has any of its words, how much of their weight, in (0, 1]."""
    numbers: Sequence[int]
    """Those sentences, ascending."""
    worths: Mapping[int, float]
    """For the best of them, what orders sentences: order of words and neighbours count too."""
    subject: float
    """What turns a share of all into one without numbers, names and dates that no passage has. A
    sentence that has all the rest speaks of the same things, and says something else of them."""

    @classmethod
    def from_claim(cls, claim: TokenisedText, context: SentenceIndex) -> "_ClaimAlignment":
        """Look the words of a claim up."""
        weights = collect_stem_weights(claim.words)
        by_stem = {word.stem: word for word in reversed(claim.words) if word.stem in weights}
        content = tuple(by_stem[stem] for stem in weights)
        lookups = tuple(context.look_up_word(word) for word in content)
        rarities = [context.compute_word_rarity(units) for _, units in lookups]
        scores = score_sentences([word.stem for word in claim.words], lookups, context)
        total = sum(rarities)
        clashing = sum(
            rarity
            for word, (_, units), rarity in zip(content, lookups, rarities, strict=True)
            if word.kind in DECISIVE and not units
        )
        return cls(
            claim.text,
            claim.words,
            content,
            lookups,
            context,
            find_disputed_numbers(claim.words, content, lookups, context),
            _find_clashing_sentences(claim, dict(zip(weights, lookups, strict=True)), context),
            {number: min(1.0, score / total) for number, score in scores.held.items()},
            sorted(scores.held),
            {
                number: worth
                for number, (worth, _) in scores.compute_rank_score_and_word_order(
                    scores.held
                ).items()
            },
            total / (total - clashing) if total > clashing else 0.0,
        )

    def list_missing_words(self, passage: str, first: int, past: int) -> tuple[Span, ...]:
        """List the words that a passage does not have: its sentences go from `first` to `past`."""
        spans = []
        glued: frozenset[str] | None = None
        for word, (_, units) in zip(self.content, self.lookups, strict=True):
            place = bisect_left(units, first)
            if place == len(units) or units[place] >= past:
                glued = _list_glued_stems(passage) if glued is None else glued
                if word.stem not in glued:
                    spans.append(word.span)
        return tuple(sorted(spans, key=lambda span: span.start))


@lru_cache(_TEXTS_KEPT)
def _list_glued_stems(text: str) -> frozenset[str]:
    """List the words that a text has without the blank between them: both of `sleepBetter`."""
    parts = " ".join(_CAPITAL_INSIDE.sub(" ", glued[0]) for glued in _GLUED_WORDS.finditer(text))
    return frozenset(word.stem for word in tokenise_words(parts))


def _list_clashing_words(clashes: Iterable[Clash]) -> tuple[Span, ...]:
    """List the words of the claim that clash with a sentence."""
    words = {
        word.span
        for clash in clashes
        for word in (clash.claimed, *clash.rest_of_name)
        if word is not None
    }
    return tuple(sorted(words, key=lambda span: span.start))


def _is_claim_verbatim_in_passage(claim: str, passage: str) -> bool:
    """Whether a passage has a claim word for word, capitals, blanks and its full stop aside."""
    words = " ".join(claim.casefold().split()).rstrip(" .!?;:")
    return " " in words and words in " ".join(passage.casefold().split())


def _find_clashing_sentences(
    claim: TokenisedText, known: Mapping[str, Lookup], context: SentenceIndex
) -> dict[int, Clash]:
    """Find the sentences that clash with any sentence of a claim; `known` is what was looked up."""
    clashes: dict[int, Clash] = {}
    for unit in claim.index.units:
        content = select_content_words(unit.words)
        lookups = [known.get(word.stem) or context.look_up_word(word) for word in content]
        names = sum(word.is_capital for word in content)
        least = AGREEING_SHARE * (len(content) - max(1, names))
        counts = Counter(chain.from_iterable(units for _, units in lookups))
        for number, count in counts.items():
            if count >= least and number not in clashes:
                clash = find_clash_in_matching_sentence(
                    unit.words, content, lookups, number, context
                )
                if clash is not None:
                    clashes[number] = clash
    return clashes


def _score_passage_and_choose_quotes(
    aligned: _ClaimAlignment,
    passage: TokenisedText,
    position: int,
    first: int,
    truths: Sequence[NamedTruth],
) -> tuple[RankedPassage, float]:
    """Choose what to read of a passage, whose sentences are units from `first` on."""
    numbers = aligned.numbers
    past = first + len(passage.sentences)
    here = [n - first for n in numbers[bisect_left(numbers, first) : bisect_left(numbers, past)]]
    best = min(
        here,
        key=lambda n: (-aligned.worths.get(first + n, 0.0), -aligned.shares[first + n], n),
        default=None,
    )
    match = 0.0 if best is None else aligned.shares[first + best]
    worth = 0.0 if best is None else aligned.worths.get(first + best, 0.0)
    quotes: list[Quote] = []
    for truth in truths:
        span = truth.span
        if span is None:
            index = find_source_sentence(truth.text, passage)
            span = None if index is None else passage.sentences[index]
        if span is not None and span.end <= len(passage.text):
            _add_nonoverlapping_quote(quotes, Quote(span, truth.stance))
    if not quotes and best is not None and match * aligned.subject >= QUOTE_MIN_SHARE:
        quotes.append(Quote(passage.sentences[best], None))
    clashes = {n: aligned.clashes[first + n] for n in here if first + n in aligned.clashes}
    if clashes and _is_claim_verbatim_in_passage(aligned.text, passage.text):
        # Whatever other words stand around them, these are the claim's own.
        clashes = {}
    worst = sorted(clashes, key=lambda n: (-aligned.shares[first + n], n))[:_MOST_CLASHES]
    for index in sorted(worst):
        _add_nonoverlapping_quote(quotes, Quote(passage.sentences[index], None))
    quotes.sort(key=lambda quote: quote.span.start)
    read = [quote.span for quote in quotes]
    if not read and best is not None:
        read.append(passage.sentences[best])
    at = (clash.found or clash.negated_word for clash in clashes.values())
    differing = {word.start for word in at if word is not None}
    ranked = RankedPassage(
        position,
        match,
        None if best is None else passage.sentences[best],
        tuple(quotes),
        _find_words_to_highlight(aligned, passage, read, differing),
        tuple(dict.fromkeys(clashes[n].kind for n in sorted(clashes))),
        aligned.list_missing_words(passage.text, first, past),
        _list_clashing_words(clashes.values()),
    )
    return ranked, worth


def _add_nonoverlapping_quote(quotes: list[Quote], quote: Quote) -> None:
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


def _find_words_to_highlight(
    aligned: _ClaimAlignment,
    passage: TokenisedText,
    read: Sequence[Span],
    differing: Collection[int],
) -> tuple[WordMark, ...]:
    """Mark what decides in the stretches to read, and the claim's numbers and names anywhere."""
    here = passage.index.holders
    matching_keys = find_matching_stems(aligned.content, aligned.lookups, aligned.context)
    matching_keys |= {
        key
        for word in aligned.words
        if word.weight or word.kind in DECISIVE
        for key in word.stem_and_aliases
    }
    anywhere = {
        key
        for word in aligned.words
        if word.kind in ("number", "name", "date")
        for key in word.stem_and_aliases
    }
    marks: list[WordMark] = []
    inside = _find_touched_sentences(passage, read)
    for number in sorted(inside | {n for stem in anywhere for n in here.get(stem, ())}):
        sentence = passage.sentences[number]
        stretches = [each for each in read if each.start < sentence.end] if number in inside else ()
        is_whole = any(
            each.start <= sentence.start and sentence.end <= each.end for each in stretches
        )
        for word in passage.get_sentence_words(number):
            kind, differs = word.kind, word.start in differing
            shared = word.has_key_in(matching_keys)
            if not (shared or differs or kind in DECISIVE):
                continue
            is_read = is_whole or any(
                each.start <= word.start and word.end <= each.end for each in stretches
            )
            if not is_read and (not shared or kind not in ("number", "name", "date")):
                continue
            matched = shared and word.stem not in aligned.disputed
            _add_or_extend_highlight(marks, WordMark(word.span, kind, matched, differs))
    return tuple(marks)


def _find_touched_sentences(passage: TokenisedText, read: Sequence[Span]) -> set[int]:
    """Number the sentences that touch any of some stretches."""
    found: set[int] = set()
    for span in read:
        first = bisect_right(passage.sentences, span.start, key=lambda sentence: sentence.end)
        past = bisect_left(passage.sentences, span.end, key=lambda sentence: sentence.start)
        found.update(range(first, past))
    return found


def _add_or_extend_highlight(marks: list[WordMark], mark: WordMark) -> None:
    """Keep marks apart: pairs of characters overlap where a script has no blanks."""
    last = marks[-1] if marks else None
    if last is None or last.span.end <= mark.span.start:
        marks.append(mark)
    elif mark.span.end > last.span.end:
        marks[-1] = replace(last, span=Span(last.span.start, mark.span.end))
