"""Texts cut into sentences and words once, so that many others can be compared with them.

Words are read when somebody looks at their sentence, and what sentences hold is indexed when
somebody looks for words in all of them.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from faithtui.domain.conversation import Span
from faithtui.domain.text.contradictions import is_name
from faithtui.domain.text.sentence_index import (
    SentenceIndex,
    TokenisedSentence,
    tokenise_sentence,
)
from faithtui.domain.text.sentences import split_sentences
from faithtui.domain.text.tokens import Word, stem

_NAME = re.compile(r"(?<=[^\W\d_][,;] )[^\W\d_a-z][^\W\d_]+|(?<=[^\W\d_] )[^\W\d_a-z][^\W\d_]+")
"""A capitalised word inside a sentence: a letter stands before it, perhaps with a comma."""


_ENDED = re.compile(r"(?<=\w\w)[.!?…]+[\"'”’)\]]*$|[•*#|>]\s*$|(?<=\s)-\s+$")
"""What stands before a word that opens a sentence within what looks like one."""
_ENDED_WITHIN = 8
"""Characters before a word that are looked at for that."""


class TokenisedText:
    """A text, its sentences and words. Compared by identity."""

    def __init__(self, text: str) -> None:
        """Take a text in; it is read when somebody asks for its sentences or words."""
        self.text = text
        self._plain: dict[int, TokenisedSentence] = {}
        self._words: dict[int, tuple[Word, ...]] = {}

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """In order, without list markers; () for a text without letters and digits."""
        return tuple(split_sentences(self.text))

    @cached_property
    def sentence_texts(self) -> frozenset[str]:
        """The sentences, letter for letter."""
        return frozenset(each.slice_text(self.text) for each in self.sentences)

    @cached_property
    def index(self) -> SentenceIndex:
        """What each sentence holds: its units are the sentences."""
        index = SentenceIndex()
        for number in range(len(self.sentences)):
            index.add_sentence(0, self._tokenise_sentence(number))
        return index

    def get_sentence_words(self, sentence: int) -> tuple[Word, ...]:
        """Give the words of a sentence, its names known as such."""
        words = self._words.get(sentence)
        if words is None:
            plain = words = self._tokenise_sentence(sentence).words
            names = [
                place
                for place, word in enumerate(plain)
                if word.is_capital and word.kind == "word" and self._is_name(plain, place)
            ]
            if names:
                known = list(plain)
                for place in names:
                    known[place] = plain[place]._replace(kind="name")
                words = tuple(known)
            self._words[sentence] = words
        return words

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words, in order."""
        return tuple(
            word
            for number in range(len(self.sentences))
            for word in self.get_sentence_words(number)
        )

    def get_word_text(self, word: Word) -> str:
        """Give a word as it stands in the text."""
        return self.text[word.start : word.end]

    def _tokenise_sentence(self, sentence: int) -> TokenisedSentence:
        found = self._plain.get(sentence)
        if found is None:
            found = self._plain[sentence] = tokenise_sentence(self.text, self.sentences[sentence])
        return found

    @cached_property
    def _capitalised_stems(self) -> frozenset[str]:
        """Stems of the words that have a capital somewhere inside a sentence."""
        return frozenset(stem(each.casefold()) for each in _NAME.findall(self.text))

    def _is_name(self, words: Sequence[Word], place: int) -> bool:
        word = words[place]
        if not word.is_content:
            return False
        # Texts of web pages often lack the blank between two sentences, or two entries of a list.
        near = max(words[place - 1].end - 2 if place else 0, word.start - _ENDED_WITHIN, 0)
        if place and not _ENDED.search(self.text, near, word.start):
            return is_name(words, place)
        if word.stem in self._capitalised_stems or self.text[word.end : word.end + 1].isdigit():
            return True
        return place == 0 and is_name(words, 0)


def tokenise_text(text: str) -> TokenisedText:
    """Read a text, as far as somebody asks for it."""
    return TokenisedText(text)


def index_texts(texts: Sequence[TokenisedText]) -> SentenceIndex:
    """Index several texts as one context: unit by unit, each with the position of its text."""
    context = SentenceIndex()
    for source, each in enumerate(texts):
        context.add_sentences_of_other_index(source, each.index)
    return context


def collect_stem_weights(words: Sequence[Word]) -> dict[str, int]:
    """Weigh the words that say something about the subject: stem to weight, in order."""
    weights: dict[str, int] = {}
    for word in words:
        if word.weight and word.kind != "negation":
            weights[word.stem] = max(word.weight, weights.get(word.stem, 0))
    return weights
