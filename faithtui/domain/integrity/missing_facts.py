"""Facts of a passage that no truth covers: what truth extraction lost, so that no judge saw it.

Lexical: a fact counts as lost when its decisive words (numbers, names, dates, negations) or the
words of a condition are in no truth that speaks of the same sentence, and a whole sentence when no
truth speaks of it at all.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from faithtui.domain.conversation import Span
from faithtui.domain.text.texts import TokenisedText, collect_stem_weights, tokenise_text
from faithtui.domain.text.tokens import MarkKind, Word

MENTION_MIN_SHARE = 0.3
"""Share of a sentence's weight from which a truth speaks of it."""
_COVERED_FROM = 0.5
"""Share of a condition's words that has to be in truths that have a condition themselves."""
_WORDS_OF_A_FACT = 4
"""A sentence with fewer telling words is a heading or a menu entry more often than a fact."""
_CLAUSE_END = re.compile(r"[,;:—–()]|\.(?=\s|$)")


@dataclass(frozen=True, slots=True)
class MissingFact:
    """A stretch of a passage that no truth covers."""

    span: Span
    """The words that were lost: a condition up to its end, a sentence, or the sentence around
    single words."""
    sentence: int
    """Index of the sentence."""
    kinds: tuple[MarkKind, ...]
    """What was dropped; () for a sentence of which no truth speaks."""
    words: tuple[Span, ...] = ()
    """The decisive words that were dropped."""


class TruthIndex:
    """Truths, indexed once for all passages that are compared with them, and only where needed."""

    def __init__(
        self, texts: Iterable[str], read: Callable[[str], TokenisedText] = tokenise_text
    ) -> None:
        """Take truths in; their words are read when a passage says something that none repeats.

        Args:
            texts: Of the truths.
            read: Cuts one of them into words.
        """
        self._texts = tuple(texts)
        self._read = read
        self.texts = frozenset(map(str.strip, self._texts))
        """A sentence among them lost nothing."""

    @cached_property
    def tokenised_truths(self) -> Sequence[TokenisedText]:
        """The truths, cut into words."""
        return tuple(map(self._read, self._texts))

    @cached_property
    def truths_by_stem(self) -> Mapping[str, Sequence[int]]:
        """For each stem, the truths that have it."""
        truths_by_stem: dict[str, list[int]] = {}
        for number, each in enumerate(self.tokenised_truths):
            for stem in each.index.holders:
                truths_by_stem.setdefault(stem, []).append(number)
        return truths_by_stem

    def has_negation(self, among: AbstractSet[int]) -> bool:
        """Whether one of some truths has a negation."""
        return any("negation" in self._get_word_kinds_of_truth(each) for each in among)

    def list_conditional_or_negated_truths(self, among: AbstractSet[int]) -> AbstractSet[int]:
        """Give those of some truths that have a condition or a negation."""
        marks = frozenset(("condition", "negation"))
        return {each for each in among if not marks.isdisjoint(self._get_word_kinds_of_truth(each))}

    def has_stem(self, stem: str, among: AbstractSet[int]) -> bool:
        """Whether one of some truths has a word."""
        return not among.isdisjoint(self.truths_by_stem.get(stem, ()))

    def has_word(self, word: Word, among: AbstractSet[int]) -> bool:
        """Whether one of some truths has a word, or its number written in another way."""
        return any(self.has_stem(key, among) for key in word.stem_and_aliases)

    def _get_word_kinds_of_truth(self, truth: int) -> frozenset[MarkKind]:
        return frozenset(word.kind for word in self.tokenised_truths[truth].words)


def find_missing_facts(passage: TokenisedText, drawn: TruthIndex) -> tuple[MissingFact, ...]:
    """List what a passage says and no truth does.

    Args:
        passage: The passage.
        drawn: Everything the judge drew in the conversation: what another passage says as well
            was not lost.

    Returns:
        In reading order, at most one per sentence. () without truths: then nothing was drawn at
        all, which is another matter.
    """
    # Judges that take sentences as they stand lose none; reading words is most of a check.
    if not drawn.texts or passage.sentence_texts <= drawn.texts:
        return ()
    found = []
    for index, sentence in enumerate(passage.sentences):
        if sentence.slice_text(passage.text) in drawn.texts:
            continue
        fact = _find_missing_fact(passage, index, drawn)
        if fact is not None:
            found.append(fact)
    return tuple(found)


def _find_missing_fact(passage: TokenisedText, index: int, drawn: TruthIndex) -> MissingFact | None:
    words = passage.get_sentence_words(index)
    weights = collect_stem_weights(words)
    if not weights:
        return None
    total = sum(weights.values())
    shared: dict[int, int] = {}
    keys = {word.stem: word.stem_and_aliases for word in words}
    for stem, weight in weights.items():
        for number in {each for key in keys[stem] for each in drawn.truths_by_stem.get(key, ())}:
            shared[number] = shared.get(number, 0) + weight
    speaking = {each for each, weight in shared.items() if weight >= MENTION_MIN_SHARE * total}
    if not speaking:
        if len(weights) < _WORDS_OF_A_FACT:
            return None
        return MissingFact(passage.sentences[index], index, ())
    condition = _find_condition_words(passage, index, words)
    if condition is not None and not _is_condition_covered(condition, speaking, drawn):
        span = Span(condition[0].start, condition[-1].end)
        return MissingFact(span, index, ("condition",), (condition[0].span,))
    negated = drawn.has_negation(speaking) if any(w.kind == "negation" for w in words) else False
    dropped = [
        word
        for word in words
        if (word.kind in ("number", "name", "date") and not drawn.has_word(word, speaking))
        or (word.kind == "negation" and not negated)
    ]
    if not dropped:
        return None
    kinds = tuple(dict.fromkeys(word.kind for word in dropped))
    return MissingFact(passage.sentences[index], index, kinds, tuple(word.span for word in dropped))


def _find_condition_words(
    passage: TokenisedText, index: int, words: Sequence[Word]
) -> list[Word] | None:
    """Find the words of a condition: from its first word to the end of the clause."""
    sentence = passage.sentences[index]
    for number, word in enumerate(words):
        if word.kind != "condition":
            continue
        ends = _CLAUSE_END.search(passage.text, word.end, sentence.end)
        end = ends.start() if ends else sentence.end
        clause = [each for each in words[number:] if each.end <= end]
        if collect_stem_weights(clause):
            return clause
    return None


def _is_condition_covered(
    condition: Sequence[Word], speaking: AbstractSet[int], drawn: TruthIndex
) -> bool:
    """Say whether truths with a condition or a negation have most words of this one."""
    weights = collect_stem_weights(condition)
    touching = {number for stem in weights for number in drawn.truths_by_stem.get(stem, ())}
    conditional = drawn.list_conditional_or_negated_truths(speaking | touching)
    kept = sum(weight for stem, weight in weights.items() if drawn.has_stem(stem, conditional))
    return kept >= _COVERED_FROM * sum(weights.values())
