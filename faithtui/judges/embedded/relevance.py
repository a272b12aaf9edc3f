"""Whether a statement of a document serves a message, from shared words alone.

What counts is how many of the message's content words the statement holds, and a little which of
the others the sentence before holds: a sentence often goes on about what was just named.
Each message is looked at by itself, so a statement serves the same ones whichever others are asked
about with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from faithtui.domain.text.sentence_index import SentenceIndex
from faithtui.domain.text.tokens import Word, tokenise_words

SERVES_MIN_SCORE: Final = 0.15
"""Least score with which a statement serves a message.

Source: docs/judges/offline.md, "Relevance": chosen on the conversations of MTRAG (TACL 2025).
"""
_PREVIOUS_WEIGHT: Final = 0.25
"""Part of the score for which the words of the sentence before count as well.

Source: as `SERVES_MIN_SCORE`. A larger part finds more, and calls more relevant that merely stands
near.
"""
_NAMED_WORDS: Final = 6
"""Shared words a reason names."""


@dataclass(frozen=True, slots=True)
class MessageRelation:
    """What one statement of a document shares with the messages."""

    serves: tuple[int, ...]
    """Positions of the messages it serves, ascending."""
    reason: str


@dataclass(frozen=True, slots=True)
class _MessageMatch:
    """One message beside one document."""

    words: tuple[Word, ...]
    """Its content words, each once."""
    strengths: tuple[float, ...]
    """For each word, how well the document has it, in {0, 0.7, 1}."""
    held: dict[int, frozenset[int]]
    """For each sentence that holds any of the words, their positions."""

    def score_sentence(self, unit: int) -> float:
        """How much of the words a sentence, and a little the one before, holds; in [0, 1]."""
        own = self.held.get(unit, frozenset())
        both = own | self.held.get(unit - 1, frozenset())
        return (1 - _PREVIOUS_WEIGHT) * self._compute_matched_word_share(
            own
        ) + _PREVIOUS_WEIGHT * self._compute_matched_word_share(both)

    def _compute_matched_word_share(self, positions: frozenset[int]) -> float:
        if not positions:
            return 0.0
        # In order, so that rounding is the same on every machine.
        return sum(self.strengths[each] for each in sorted(positions)) / len(self.words)


class MessageMatcher:
    """The messages of a question beside the document it is about."""

    def __init__(self, messages: Sequence[str], document: SentenceIndex) -> None:
        """Look the words of all messages up.

        Args:
            messages: In order; one without content words is served by nothing.
            document: The document's sentences, indexed.
        """
        self._wanted = [_match_message(message, document) for message in messages]

    def find_messages_sentence_serves(self, unit: int) -> MessageRelation:
        """Say which messages the sentence with this number serves."""
        if not self._wanted:
            return MessageRelation((), "There is no message to compare it with.")
        scores = [wanted.score_sentence(unit) for wanted in self._wanted]
        # Of equal ones the first, but one that could be compared before one that could not.
        best = max(
            range(len(scores)),
            key=lambda position: (scores[position], bool(self._wanted[position].words)),
        )
        serves = tuple(
            position for position, score in enumerate(scores) if score >= SERVES_MIN_SCORE
        )
        return MessageRelation(
            serves, _make_reason(self._wanted[best], unit, is_served=bool(serves))
        )


def _match_message(message: str, document: SentenceIndex) -> _MessageMatch:
    by_stem: dict[str, Word] = {}
    for word in tokenise_words(message):
        if word.is_content:
            by_stem.setdefault(word.stem, word)
    words = tuple(by_stem.values())
    lookups = [document.look_up_word(word) for word in words]
    held: dict[int, set[int]] = {}
    for position, (_, units) in enumerate(lookups):
        for unit in units:
            held.setdefault(unit, set()).add(position)
    return _MessageMatch(
        words,
        tuple(strength for strength, _ in lookups),
        {unit: frozenset(positions) for unit, positions in held.items()},
    )


def _make_reason(wanted: _MessageMatch, unit: int, *, is_served: bool) -> str:
    """One sentence about the message that comes closest."""
    count = len(wanted.words)
    if not count:
        return "The message holds no word to compare."
    shared = [wanted.words[position].text for position in sorted(wanted.held.get(unit, ()))]
    more = len(shared) - _NAMED_WORDS
    names = ", ".join(shared[:_NAMED_WORDS]) + (f" and {more} more" if more > 0 else "")
    named = f" ({names})" if shared else ""
    noun = "word" if count == 1 else "words"
    if not is_served:
        return f"It holds {len(shared)} of {count} content {noun} of the closest message{named}."
    if shared:
        return f"It holds {len(shared)} of {count} content {noun} of a message{named}."
    return f"The sentence before holds content words of a message; it holds 0 of {count}."
